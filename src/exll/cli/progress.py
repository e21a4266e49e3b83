"""``exll progress``: have I taught enough?"""

from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import JsonOption, ModelArgument, open_classifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exll.explain.progress import Progress

HEADER = ("class", "examples", "groups", "photos like these", "new places", "what would help most")
LONGEST_LABEL = 40
BY_HISTORY = (
    '"photos like these" is the share of the last examples that were recognised before they were learned: more is not '
    "known of a young model, and with a preset other than glocal."
)
CANNOT_KNOW = (
    "It has seen only the photos you taught: if all come from one place, it cannot know how it will do elsewhere. "
    "exll evaluate with photos from there tells, and exll calibrate makes its confidence right there."
)


def progress(
    model: ModelArgument,
    top: Annotated[int, typer.Option(min=1, help="How many classes to show at most, the weakest first.")] = 20,
    json: JsonOption = False,
) -> None:
    """Say which classes need more examples.

    Per class, how probable the right answer is: for photos like those that were taught, and for photos from new places.
    The model finds out by leaving out examples, each with all that came with it.
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
    typer.echo(f"{enough:,} of {len(classes):,} classes seem taught enough" + (f"; {rest:,} not shown" if rest else ""))
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
