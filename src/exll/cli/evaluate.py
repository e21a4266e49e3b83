"""``exll evaluate``: how often a model is right on labelled data that it has not seen."""

from typing import Any

import typer

from exll.cli.common import (
    BackboneOption,
    CacheOption,
    DataArgument,
    EveryOption,
    InferenceChoice,
    InferenceOption,
    JsonOption,
    LabelOption,
    ModelArgument,
    ThreadsOption,
    feature_cache,
    open_model,
    progress_bar,
    show_skipped,
)

CLASSES_SHOWN = 5


def evaluate(
    model: ModelArgument,
    data: DataArgument,
    inference: InferenceOption = InferenceChoice.fused,
    label: LabelOption = None,
    every: EveryOption = 1,
    json: JsonOption = False,
    backbone: BackboneOption = None,
    threads: ThreadsOption = None,
    cache: CacheOption = True,
) -> None:
    """Count right answers on labelled data; "either right" bounds what fusing local and global could reach."""
    from json import dumps

    import numpy as np

    from exll.errors import StreamError
    from exll.streams.stream import open_stream
    from exll.teaching import vectors_of, why_unusable

    learner = open_model(model, backbone, threads)
    stream = open_stream(data, label=label, every=every)
    vectors, truths, skipped = [], [], []
    with progress_bar(json) as progress:
        task = progress.add_task("looking", total=len(stream.examples))
        for example, extracted in zip(
            stream.examples, vectors_of(learner, stream, 0, feature_cache(cache)), strict=True
        ):
            error = why_unusable(example, extracted)
            if error is not None:
                skipped.append([example.ref, str(error)])
            else:
                vectors.append(extracted.vector)
                truths.append(example.label)
            progress.advance(task)
    if not vectors:
        show_skipped(len(skipped), skipped)
        raise StreamError(f"none of the {len(stream.examples):,} examples of {data} could be read.")
    result = _count(learner.classifier, np.array(vectors), np.array(truths), inference.value)
    result |= {"skipped": len(skipped), "skipped_files": skipped}
    if json:
        typer.echo(dumps(result, indent=2))
        return
    show_skipped(len(skipped), skipped)
    _print(result)


def _count(classifier: Any, vectors: Any, truths: Any, inference: str) -> dict[str, Any]:
    right = {name: classifier.predict(vectors, name).astype(str) == truths for name in ("global", "local", "fused")}
    chosen = right[inference]
    known = set(classifier.classes_.astype(str).tolist())
    classes = sorted(set(truths.tolist()))
    return {
        "inference": inference,
        "accuracy": float(chosen.mean()),
        "right": int(chosen.sum()),
        "examples": len(truths),
        "either_right": float((right["global"] | right["local"]).mean()),
        "unknown": _unknown(classifier, vectors),
        "per_class": {k: float(chosen[truths == k].mean()) for k in classes},
        "never_taught": [k for k in classes if k not in known],
    }


def _unknown(classifier: Any, vectors: Any) -> int | None:
    if not classifier.learner_.inference().says_unknown:
        return None
    return int((classifier.novelty(vectors) > classifier.novelty_threshold()).sum())


def _print(result: dict[str, Any]) -> None:
    of_all = f"{result['right']:,} of {result['examples']:,}"
    typer.echo(f"{result['accuracy']:.1%} right ({of_all}, {result['inference']} inference)")
    typer.echo(f"{result['either_right']:.1%} either right (local or global)")
    if result["unknown"] is not None:
        typer.echo(f"{result['unknown']:,} it would call unknown")
    if result["never_taught"]:
        typer.echo(f"never taught, so always wrong: {', '.join(result['never_taught'])}")
    hardest = sorted(result["per_class"].items(), key=lambda item: item[1])[:CLASSES_SHOWN]
    if len(result["per_class"]) > 1:
        typer.echo("hardest: " + ", ".join(f"{label} {share:.0%}" for label, share in hardest))
