"""``exll predict``: what new images show."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import (
    FALSE_ALARMS,
    STANDARD_INPUT,
    BackboneOption,
    BoxOption,
    CacheOption,
    FalseAlarmsOption,
    InferenceChoice,
    InferenceOption,
    JsonOption,
    ModelArgument,
    ThreadsOption,
    feature_cache,
    image_from_standard_input,
    open_image_learner,
    parse_box_option,
    progress_bar,
)

if TYPE_CHECKING:
    from exll.estimator import ExLLClassifier
    from exll.features.extract import Extracted
    from exll.features.regions import PixelBox
    from exll.prediction import Prediction
    from exll.vision import ImageLearner

COLUMNS = ("path", "label", "probability", "runner_up", "known", "level", "novelty")


def predict(
    model: ModelArgument,
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="IMAGES...",
            help="Image files, or folders of images; - reads an image from standard input.",
            show_default=False,
        ),
    ],
    inference: InferenceOption = InferenceChoice.fused,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Show the N most probable classes of each image.")] = 1,
    false_alarms: FalseAlarmsOption = FALSE_ALARMS,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print as CSV: path,label,probability,runner_up,known,level,novelty,error.")
    ] = False,
    json: JsonOption = False,
    box: BoxOption = None,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
    cache: CacheOption = True,
) -> None:
    """Say what images show.

    The answer is a class with its confidence and the second choice. It begins with "maybe" where the image is
    unlike those that were taught, and it is "unknown" where it resembles nothing that was taught. The exit code is 1 if
    an image could not be read.
    """
    region = parse_box_option(box)
    learner = open_image_learner(model, backbone, threads, "ask it in Python, or with exll evaluate.")
    files = _files(images)
    extracted = _extracted(learner, files, region, cache, quiet=json)
    answers = _answers(learner.classifier, files, extracted, inference.value, false_alarms, top)
    if json:
        _print_json(answers)
    elif csv:
        _print_csv(answers, top)
    else:
        for answer in answers:
            typer.echo(_sentence(answer), err="error" in answer)
    if any("error" in answer for answer in answers):
        raise typer.Exit(1)


def _files(images: list[Path]) -> list[Path]:
    from exll.errors import StreamError
    from exll.streams.folder import is_image_name

    files: list[Path] = []
    for path in images:
        inside = (
            sorted(p for p in path.rglob("*") if is_image_name(p.name) and not p.is_dir()) if path.is_dir() else [path]
        )
        files += inside
    if not files:
        raise StreamError(f"there are no images in {', '.join(map(str, images))}.")
    return files


def _extracted(
    learner: "ImageLearner", files: list[Path], box: "PixelBox | None", cache: bool, quiet: bool
) -> "list[Extracted]":
    from exll.features.extract import extract

    on_disk = extract(((path, box) for path in files if path != STANDARD_INPUT), learner.backbone, feature_cache(cache))

    def each() -> "Iterator[Extracted]":
        for path in files:
            yield _from_standard_input(learner, box) if path == STANDARD_INPUT else next(on_disk)

    with progress_bar(quiet) as progress:
        task = progress.add_task("looking", total=len(files))
        found = []
        for one in each():
            found.append(one)
            progress.advance(task)
    return found


def _from_standard_input(learner: "ImageLearner", box: "PixelBox | None") -> "Extracted":
    from exll.errors import ImageError
    from exll.features.extract import Extracted

    try:
        return Extracted(learner.vectors([image_from_standard_input()], [box])[0])
    except ImageError as error:
        return Extracted(None, ImageError(f"standard input: {error}"))


def _answers(
    classifier: "ExLLClassifier",
    files: list[Path],
    extracted: "list[Extracted]",
    inference: Any,
    false_alarms: float,
    top: int,
) -> list[dict[str, Any]]:
    """All readable images are asked about in one call: one by one, many images take twice as long."""
    import numpy as np

    vectors = [one.vector for one in extracted if one.vector is not None]
    predictions: Iterator[Prediction] = iter(())
    likeliest: Iterator[list[dict[str, Any]]] = iter(())
    if vectors:
        asked = np.array(vectors)
        found = classifier.answers(asked, inference, false_alarms=false_alarms)
        predictions = iter(found)
        if top > 1:
            shares = classifier.predict_proba(asked, inference)
            likeliest = (
                _likeliest(one, classifier.classes_.tolist(), row, top) for one, row in zip(found, shares, strict=True)
            )
    answers: list[dict[str, Any]] = []
    for path, one in zip(files, extracted, strict=True):
        if one.vector is None:
            answers.append({"path": str(path), "error": str(one.error)})
            continue
        prediction = next(predictions)
        answer = {"path": str(path), **{name: getattr(prediction, name) for name in COLUMNS[1:]}}
        answers.append(answer | ({"top": next(likeliest)} if top > 1 else {}))
    return answers


def _likeliest(prediction: "Prediction", classes: list[Any], shares: Any, top: int) -> list[dict[str, Any]]:
    """The answer, the runner-up, then the others by their probability."""
    by_probability = sorted(
        zip(classes, shares.tolist(), strict=True),
        key=lambda pair: (pair[0] != prediction.label, pair[0] != prediction.runner_up, -pair[1]),
    )
    return [{"label": label, "probability": min(1.0, share)} for label, share in by_probability[:top]]


def _sentence(answer: dict[str, Any]) -> str:
    from exll.explain.wording import confidence, in_brackets

    if "error" in answer:
        return str(answer["error"])
    named = answer.get("top", [])
    if answer["level"] == "unknown":
        nearest = ", ".join(str(one["label"]) for one in named) or answer["label"]
        return f"{answer['path']}: unknown (nearest {'are' if len(named) > 1 else 'is'} {nearest})"
    said = f"{answer['label']} {in_brackets(answer['probability'], answer['runner_up'])}"
    if len(named) > 1:
        said = ", ".join(f"{one['label']} ({confidence(one['probability'])})" for one in named)
    if answer["level"] == "unusual":
        said = f"maybe {said}: it is unlike the photos that were taught"
    return f"{answer['path']}: {said}"


def _print_json(answers: list[dict[str, Any]]) -> None:
    from json import dumps

    typer.echo(dumps(answers, indent=2))


def _print_csv(answers: list[dict[str, Any]], top: int) -> None:
    """The second and further classes of ``--top`` are the columns label_2, probability_2 and so on."""
    import csv
    import sys

    more = [f"{name}_{place}" for place in range(2, top + 1) for name in ("label", "probability")]
    writer = csv.DictWriter(sys.stdout, [*COLUMNS, *more, "error"])
    writer.writeheader()
    for answer in answers:
        others = answer.pop("top", [])[1:]
        for place, other in enumerate(others, start=2):
            answer |= {f"{name}_{place}": value for name, value in other.items()}
        writer.writerow(answer)
