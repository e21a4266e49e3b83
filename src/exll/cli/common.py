"""What several commands share: arguments, progress, and how a model is opened."""

import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

    from exll.estimator import ExLLClassifier
    from exll.explain.thumbnails import Thumbnails
    from exll.features.cache import FeatureCache
    from exll.features.regions import PixelBox
    from exll.streams.stream import Stream
    from exll.teaching import Model
    from exll.types import Label
    from exll.vision import ImageLearner

SKIPPED_SHOWN = 10
STANDARD_INPUT = Path("-")
FALSE_ALARMS = 0.06  # as in exll.learner.glocal.judgement, which takes a while to load


class InferenceChoice(enum.StrEnum):
    fused = "fused"
    local = "local"
    global_ = "global"


def check_false_alarms(share: float) -> float:
    if not 0 < share < 1:
        raise typer.BadParameter(f"must be a share between 0 and 1; got {share:g}.")
    return share


def check_preset(name: str | None) -> str | None:
    """Whether there is such a preset, of ours or of an installed package; for the option ``--preset``."""
    if name is None:
        return None

    from exll.errors import InputError
    from exll.learner.preset import find_preset, preset_names

    try:
        found = find_preset(name)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    if found is None:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, preset_names()))}.")
    return name


ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file (.exll).", show_default=False)]
DATA_HELP = (
    "A folder with one sub-folder per class; a CSV (path,label, and x0,y0,x1,y1 for boxes, and group); .npz features; "
    "or, with --label, a video, images, or a folder of images."
)
DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=DATA_HELP,
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
InferenceOption = Annotated[
    InferenceChoice,
    typer.Option(
        help="Which inference answers: by prototypes (local), by classes (global), or by both (fused). Only fused "
        'answers "maybe" or "unknown".'
    ),
]
FalseAlarmsOption = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        callback=check_false_alarms,
        help="How strict: the share of known things that may be called unusual or unknown.",
    ),
]
BackboneOption = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE", help="The network for images: a name of 'exll backbone list', or an .onnx file."),
]
LooksOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=2, help="What the network sees of a photo: 1 = the whole, 2 = also its centre [default: 2]."
    ),
]
BoxOption = Annotated[
    str | None,
    typer.Option(metavar="X0,Y0,X1,Y1", help="Look at this region only, in pixels of the upright photo."),
]
ImagesOption = Annotated[
    Path | None,
    typer.Option(metavar="ROOT", help="Where the photos are now, if their folder was moved.", show_default=False),
]
ThreadsOption = Annotated[int | None, typer.Option(min=1, max=256, help="Threads of the network [default: cores - 1].")]
CacheOption = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Keep features, so that the network sees each image once.")
]
LabelOption = Annotated[
    str | None, typer.Option(help="What a video, an image or a folder of images shows.", show_default=False)
]
EveryOption = Annotated[int, typer.Option(min=1, help="Take every n-th frame of a video.")]


def image_from_standard_input() -> bytes:
    import sys

    from exll.features.extract import LARGEST_FILE

    return sys.stdin.buffer.read(LARGEST_FILE + 1)


def parse_box_option(box: str | None) -> "PixelBox | None":
    from exll.errors import InputError
    from exll.features.regions import parse_box

    try:
        return None if box is None else parse_box(box)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--box") from error


def open_model(path: Path, backbone: str | None, threads: int | None = None) -> "Model":
    from exll.baselines.base import Baseline
    from exll.errors import ModelFileError
    from exll.loading import load

    model = load(path, backbone=backbone, threads=threads)
    if isinstance(model, Baseline):
        raise ModelFileError(f"{path} holds the baseline {model.name}; commands take models of ExLL. Use it in Python.")
    return model


def open_image_learner(path: Path, backbone: str | None, threads: int | None, instead: str) -> "ImageLearner":
    """For commands that take images; ``instead`` is the advice for a model that takes vectors."""
    from exll.errors import StreamError
    from exll.vision import ImageLearner

    model = open_model(path, backbone, threads)
    if not isinstance(model, ImageLearner):
        raise StreamError(f"{path} was taught with vectors, not images; {instead}")
    return model


def open_classifier(path: Path) -> "ExLLClassifier":
    """What a model has learned, without its network."""
    from exll.estimator import ExLLClassifier
    from exll.loading import load

    return load(path, ExLLClassifier)


def open_with_thumbnails(
    path: Path, images: Path | None, side: int, kept_first: bool = False
) -> "tuple[ExLLClassifier, Thumbnails]":
    """What a model has learned, and pictures of its examples for a page."""
    from exll.loading import load_without_network

    classifier, kept = load_without_network(path)
    return classifier, thumbnails_of(path, classifier, side, kept, images, kept_first)


class Saver:
    """Saves a model, unless another program has changed its file since this was made or last called."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = self._state()

    def __call__(self, model: "Model") -> None:
        from exll.errors import ModelFileError

        if self._state() != self._seen:
            raise ModelFileError(f"another program has changed {self._path} meanwhile; nothing of it was overwritten.")
        model.save(self._path)
        self._seen = self._state()

    def _state(self) -> tuple[int, int, int] | None:
        if not self._path.exists():
            return None
        status = self._path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino


def label_of(classifier: "ExLLClassifier", text: str) -> "Label":
    """A label as it was typed, as one of the kind that the labels of a model are."""
    from exll.errors import InputError
    from exll.labels import check_labels, kind_of

    if not text.strip() or len(text.splitlines()) > 1:
        raise InputError(f"a label is one line with at least one visible character; got {text!r}.")
    kind = kind_of(classifier.learner_.labels[0])
    meant: Any = {"True": True, "False": False}.get(text) if kind == "boolean" else text
    with suppress(ValueError):
        meant = int(text) if kind == "integer" else meant
    label: Label
    (label,), found = check_labels([text if meant is None else meant], "the label")
    if found != kind:
        raise InputError(f"labels of this model are of kind {kind}; got {text!r}.")
    return label


def check_out(out: Path, what: str, suffixes: tuple[str, ...]) -> None:
    """Check before the work, not after it, that a file can be written there."""
    from exll.errors import InputError

    if out.suffix.lower() not in suffixes:
        *most, last = suffixes
        either = f"{', '.join(most)} or {last}" if most else last
        article = "an" if either.startswith(".html") else "a"
        raise InputError(f"{what} is {article} {either} file; got {out}.")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent} to write {out.name} into.")
    if out.is_dir():
        raise InputError(f"{out} is a folder; name a file to write {what} to.")


def check_folder(out: Path) -> None:
    """Check before the work, not after it, that a folder exists or can be made."""
    from exll.errors import InputError

    first_there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not first_there.is_dir():
        raise InputError(f"{first_there} is a file, so there can be no folder {out}.")


def thumbnails_of(
    model: Path,
    classifier: "ExLLClassifier",
    side: int | None = None,
    kept: "Mapping[str, bytes] | None" = None,
    images: Path | None = None,
    kept_first: bool = False,
) -> "Thumbnails":
    """Pictures of the examples that a model file names; ``kept`` are those in it, ``images`` is where others are."""
    from exll.errors import InputError
    from exll.explain.thumbnails import SIDE, Thumbnails, folders_of

    if images is not None and not images.is_dir():
        raise InputError(f"--images must be the folder that the photos are in now; there is no folder {images}.")
    return Thumbnails(folders_of(model, getattr(classifier, "lessons_", [])), side or SIDE, kept, images, kept_first)


def say_missing(thumbnails: "Thumbnails") -> None:
    """On stderr, once for a whole page."""
    remark = thumbnails.remark()
    if remark is not None:
        typer.echo(remark, err=True)


def feature_cache(wanted: bool) -> "FeatureCache | None":
    from exll.features.cache import FeatureCache

    return FeatureCache() if wanted else None


@contextmanager
def progress_bar(quiet: bool = False) -> "Iterator[Progress]":
    """A bar on stderr with rate and time left, so that stdout stays clean; nothing if stderr is not a terminal."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield cast("Progress", _NoProgress())  # rich takes a while to load
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f}/s")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress


class _NoProgress:
    """Accepts what a bar accepts, and shows nothing."""

    disable = True

    def add_task(self, *_: Any, **__: Any) -> int:
        return 0

    def remove_task(self, *_: Any) -> None: ...

    def update(self, *_: Any, **__: Any) -> None: ...

    def advance(self, *_: Any, **__: Any) -> None: ...


@contextmanager
def stopped_by_ctrl_c(sentence: Callable[[], str]) -> Iterator[None]:
    """For commands that can continue where they stopped: Ctrl-C ends them with one sentence and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(sentence(), err=True)
        raise typer.Exit(130) from None


def warn_of_splits(stream: "Stream") -> None:
    """Warn about a folder whose sub-folders look like parts of a data set and not like classes."""
    from exll.streams.stream import SPLITS

    found = sorted((label for label in stream.labels if label.lower() in SPLITS), reverse=True)  # train before test
    if stream.kind == "folder" and found:
        typer.echo(
            f"warning: every sub-folder of {stream.source} is a class, also {' and '.join(found)}. If these are parts "
            f"of a data set, name one of them, like {stream.source / found[0]}",
            err=True,
        )


def show_skipped(count: int, named: list[list[str]]) -> None:
    """Name the files that could not be read, on stderr."""
    if not count:
        return
    typer.echo(f"skipped {count:,} unreadable file{'s' if count > 1 else ''}:", err=True)
    for _, reason in named[:SKIPPED_SHOWN]:
        typer.echo(f"  {reason}", err=True)
    if count > SKIPPED_SHOWN:
        typer.echo(f"  and {count - SKIPPED_SHOWN:,} more", err=True)
