"""``exll progress``: which classes need more examples."""

from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import JsonOption, ModelArgument, open_classifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exll.explain.progress import Progress

HEADER = ("class", "examples", "groups", "photos like these", "new places", "what would help most")
LONGEST_LABEL = 40
BY_HISTORY = (
    '"photos like these" is the share of the last examples that were recognised before they were learned. A young '
    "model, or one with a preset other than glocal, can say no more."
)
CANNOT_KNOW = (
    "The model has seen only the photos you taught. If all come from one place, it cannot know how often it is right "
    "elsewhere. Use exll evaluate with photos from there, and exll calibrate to adjust its confidence."
)


def progress(
    model: ModelArgument,
    top: Annotated[int, typer.Option(min=1, help="How many classes to show at most, the weakest first.")] = 20,
    json: JsonOption = False,
) -> None:
    """Say which classes need more examples.

    Per class, how probable the right answer is: for photos like those that were taught, and for photos from new places.
    To find out, the model leaves out examples, each together with its group.
    """
    from json import dumps

    classes = open_classifier(model).progress()
    if json:
        typer.echo(dumps([entry.to_dict() for entry in classes], indent=2))
        return
    for line in _table(classes[:top]):
        typer.echo(line)
    enough = sum(entry.verdict == "enough" for entry in classes)
    rest = len(classes) - min(top, len(classes))
    typer.echo(
        f"{enough:,} of {len(classes):,} classes seem to have enough examples"
        + (f"; {rest:,} not shown" if rest else "")
    )
    if classes[0].groups is None:
        typer.echo(BY_HISTORY)
    typer.echo(CANNOT_KNOW)


def _table(classes: "Sequence[Progress]") -> list[str]:
    from exll.explain.notebook import one_line
    from exll.explain.wording import percent, readable

    def share(value: float | None) -> str:
        return "-" if value is None else percent(value)

    rows = [
        (
            readable(entry.label, LONGEST_LABEL),
            f"{entry.examples:,}",
            "-" if entry.groups is None else f"{entry.groups:,}",
            share(entry.like_these),
            share(entry.new_groups),
            one_line(entry.advice),
        )
        for entry in classes
    ]
    first, *numbers, _ = (max(map(len, column)) for column in zip(HEADER, *rows, strict=True))
    return [
        "  ".join(
            (f"{label:{first}}", *(f"{value:>{width}}" for value, width in zip(middle, numbers, strict=True)), last)
        )
        for label, *middle, last in (HEADER, *rows)
    ]
