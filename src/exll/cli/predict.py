"""``exll predict``: what new images are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import (
    BackboneOption,
    BoxOption,
    CacheOption,
    InferenceChoice,
    InferenceOption,
    JsonOption,
    ModelArgument,
    ThreadsOption,
    feature_cache,
    open_image_learner,
    parse_box_option,
    progress_bar,
)

if TYPE_CHECKING:
    from exll.features.regions import PixelBox
    from exll.vision import ImageLearner


def predict(
    model: ModelArgument,
    images: Annotated[
        list[Path], typer.Argument(metavar="IMAGES...", help="Image files, or folders of them.", show_default=False)
    ],
    inference: InferenceOption = InferenceChoice.fused,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print as CSV: path,label,probability,runner_up,known,error.")
    ] = False,
    json: JsonOption = False,
    box: BoxOption = None,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
    cache: CacheOption = True,
) -> None:
    """Say what images are: label, probability and runner-up, or that nothing known is near. Exits with 1 if any could
    not be read."""
    region = parse_box_option(box)
    learner = open_image_learner(model, backbone, threads, "ask it in Python, or with exll evaluate.")
    answers = _answers(learner, _files(images), region, inference.value, cache, quiet=json)
    if json:
        _print_json(answers)
    elif csv:
        _print_csv(answers)
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


def _answers(
    learner: "ImageLearner", files: list[Path], box: "PixelBox | None", inference: Any, cache: bool, quiet: bool
) -> list[dict[str, Any]]:
    from exll.features.extract import extract

    answers: list[dict[str, Any]] = []
    with progress_bar(quiet) as progress:
        task = progress.add_task("looking", total=len(files))
        regions = ((path, box) for path in files)
        for path, extracted in zip(files, extract(regions, learner.backbone, feature_cache(cache)), strict=True):
            if extracted.vector is None:
                answers.append({"path": str(path), "error": str(extracted.error)})
            else:
                prediction = learner.predict_vectors(extracted.vector[None], inference)[0]
                answers.append(
                    {
                        "path": str(path),
                        "label": prediction.label,
                        "probability": prediction.probability,
                        "runner_up": prediction.runner_up,
                        "known": prediction.known,
                    }
                )
            progress.advance(task)
    return answers


def _sentence(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return str(answer["error"])
    if not answer["known"]:
        return f"{answer['path']}: unknown (nearest is {answer['label']})"
    runner_up = "" if answer["runner_up"] is None else f", else {answer['runner_up']}"
    return f"{answer['path']}: {answer['label']} ({answer['probability']:.1%}{runner_up})"


def _print_json(answers: list[dict[str, Any]]) -> None:
    from json import dumps

    typer.echo(dumps(answers, indent=2))


def _print_csv(answers: list[dict[str, Any]]) -> None:
    import csv
    import sys

    writer = csv.DictWriter(sys.stdout, ["path", "label", "probability", "runner_up", "known", "error"])
    writer.writeheader()
    writer.writerows(answers)
