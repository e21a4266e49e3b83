"""Labelled data as vectors, for commands that judge a model by it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exll.cli.common import feature_cache, progress_bar, show_skipped

if TYPE_CHECKING:
    from exll.streams.stream import Stream
    from exll.teaching import Model


@dataclass
class Labelled:
    """What could be read, one entry per example, and the examples that could not, each with the reason."""

    vectors: list[Any] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    skipped: list[list[str]] = field(default_factory=list)


def labelled_vectors(learner: "Model", stream: "Stream", cache: bool, quiet: bool) -> Labelled:
    from exll.errors import StreamError
    from exll.teaching import vectors_of, why_unusable

    known = {str(label): label for label in learner.classifier.classes_.tolist()}  # those of data are always strings
    found = Labelled()
    with progress_bar(quiet) as progress:
        task = progress.add_task("looking", total=len(stream.examples))
        for example, extracted in zip(
            stream.examples, vectors_of(learner, stream, 0, feature_cache(cache)), strict=True
        ):
            error = why_unusable(example, extracted)
            if error is not None:
                found.skipped.append([example.ref, str(error)])
            else:
                found.vectors.append(extracted.vector)
                found.labels.append(known.get(example.label, example.label))
                found.names.append(example.ref)
            progress.advance(task)
    if not found.vectors:
        show_skipped(len(found.skipped), found.skipped)
        raise StreamError(f"none of the {len(stream.examples):,} examples of {stream.source} could be read.")
    return found
