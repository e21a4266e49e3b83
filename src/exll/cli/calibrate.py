"""``exll calibrate``: adjust the confidence of a model to the place where it is used."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import (
    DATA_HELP,
    BackboneOption,
    CacheOption,
    EveryOption,
    JsonOption,
    LabelOption,
    ModelArgument,
    ThreadsOption,
    open_model,
    show_skipped,
    warn_of_splits,
)

if TYPE_CHECKING:
    from exll.estimator import ExLLClassifier

SHOWN = {
    "right": "right",
    "confidence": "mean confidence",
    "unusual": "called unusual",
    "unknown": "called unknown",
}


def calibrate(
    model: ModelArgument,
    photos: Annotated[
        str | None, typer.Argument(metavar="PHOTOS", help=f"Labelled photos. {DATA_HELP}", show_default=False)
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Remove all calibration from the model.")] = False,
    label: LabelOption = None,
    every: EveryOption = 1,
    json: JsonOption = False,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
    cache: CacheOption = True,
) -> None:
    """Adjust the confidence to the place where the model is used.

    Takes about a hundred labelled photos from there. They set the confidence, and what is called unusual or unknown.
    They are not taught, and the class in an answer stays the same. The model is saved in place and keeps the
    calibration when it learns more. Photos that were taught before, and those of classes that the model does not know,
    are left out.
    """
    if forget == (photos is not None):
        raise typer.BadParameter("name either PHOTOS to calibrate with, or --forget.", param_hint="PHOTOS")
    learner = open_model(model, backbone, threads)
    if photos is None:
        count = learner.classifier.calibration_count_
        learner.classifier.forget_calibration()
        learner.save(model)
        typer.echo(f"{model}: forgot the calibration with {count:,} examples; its answers are as they were before.")
        return
    from json import dumps

    import numpy as np

    from exll.cli.labelled import labelled_vectors
    from exll.errors import StreamError
    from exll.streams.stream import open_stream
    from exll.teaching import untaught

    classifier = learner.classifier
    classifier.learner_.calibrate(np.empty((0, classifier.learner_.width)), [])  # a preset that cannot says so now
    whole = open_stream(photos, label=label, every=every)
    warn_of_splits(whole)
    stream = untaught(learner, whole)
    if not stream.examples:
        raise StreamError(f"all examples of {whole.source} were taught to {model}; calibrate it with others.")
    found = labelled_vectors(learner, stream, cache, quiet=json)
    classes = set(classifier.classes_.tolist())
    unknown = sorted({str(truth) for truth in found.labels if truth not in classes})
    used = [row for row, truth in enumerate(found.labels) if truth in classes]
    if not used:
        raise StreamError(f"{model} knows no class of {whole.source}: {', '.join(unknown)}. Teach these classes first.")
    X, truths = np.array([found.vectors[row] for row in used]), [found.labels[row] for row in used]
    before = _measured(classifier, X, truths)
    classifier.calibrate(X, truths)
    after = _measured(classifier, X, truths)
    learner.save(model)
    result = {
        "examples": len(used),
        "calibration_examples": classifier.calibration_count_,
        "taught_before": len(whole.examples) - len(stream.examples),
        "unknown_classes": unknown,
        "skipped": len(found.skipped),
        "before": before,
        "after": after,
    }
    if json:
        typer.echo(dumps(result, indent=2))
        return
    show_skipped(len(found.skipped), found.skipped)
    _report(result)


def _measured(classifier: "ExLLClassifier", X: Any, truths: list[Any]) -> dict[str, float]:
    answers = classifier.answers(X)

    def share(values: Any) -> float:
        return float(sum(values)) / len(answers)

    return {
        "right": share(answer.label == truth for answer, truth in zip(answers, truths, strict=True)),
        "confidence": share(answer.probability for answer in answers),
        "unusual": share(answer.level == "unusual" for answer in answers),
        "unknown": share(answer.level == "unknown" for answer in answers),
    }


def _report(result: dict[str, Any]) -> None:
    from exll.explain.notebook import one_line
    from exll.explain.wording import counted, percent
    from exll.learner.glocal.calibration import LEAST

    if result["taught_before"]:
        typer.echo(f"left out {counted(result['taught_before'], 'example')} that the model was taught")
    if result["unknown_classes"]:
        typer.echo(one_line(f"left out, because the model does not know them: {', '.join(result['unknown_classes'])}"))
    total = result["calibration_examples"]
    in_all = "" if total == result["examples"] else f" ({total:,} in all)"
    typer.echo(f"calibrated with {counted(result['examples'], 'example')}{in_all}; nothing was taught")
    if total < LEAST:
        typer.echo(f"fewer than {LEAST} change nothing yet: calibrate with more")
    typer.echo(f"{'on these examples':18}{'before':>12}{'after':>12}")
    for name, words in SHOWN.items():
        typer.echo(f"{words:18}{percent(result['before'][name]):>12}{percent(result['after'][name]):>12}")
