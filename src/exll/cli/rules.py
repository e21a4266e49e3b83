"""``exll rules``: the IF-THEN rules of a model."""

import enum
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import (
    ImagesOption,
    JsonOption,
    ModelArgument,
    check_out,
    open_with_thumbnails,
    progress_bar,
    say_missing,
    thumbnails_of,
)

if TYPE_CHECKING:
    from exll.estimator import ExLLClassifier
    from exll.explain.rules import Rule
    from exll.explain.thumbnails import Thumbnails


TOP, FEW_CLASSES = 3, 20


class LevelChoice(enum.StrEnum):
    prototype = "prototype"
    class_ = "class"
    megacloud = "megacloud"


def rules(
    model: ModelArgument,
    level: Annotated[
        LevelChoice,
        typer.Option(
            help="One rule per prototype; per class, naming all its prototypes; or per MegaCloud, naming none."
        ),
    ] = LevelChoice.prototype,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many rules per class, the largest first [default: 3, with more than 20 classes 1; with --of, "
            "--json and --html all].",
            show_default=False,
        ),
    ] = None,
    of: Annotated[str | None, typer.Option(help="Only the rules of this class.", show_default=False)] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rules as a page of pictures: an .html file.")
    ] = None,
    images: ImagesOption = None,
    json: JsonOption = False,
) -> None:
    """Print the rules of a model, within a class those with the most examples first; prototypes of one example are
    only counted."""
    from json import dumps

    from exll.errors import InputError
    from exll.explain.wording import counted

    if html is not None:
        check_out(html, "a page of rules", (".html",))
        if level is not LevelChoice.prototype:
            raise InputError(f"a page of rules shows prototypes, class by class; leave out --level {level.value}.")
    from exll.explain.rules_page import SIDE

    classifier, thumbnails = open_with_thumbnails(model, images, SIDE)
    found = [rule for rule in classifier.rules(level.value) if of is None or str(rule.label) == of]
    found.sort(key=lambda rule: str(rule.label))
    if not found:
        raise InputError(f"{model} has no class {of!r}.")
    classes = len({rule.label for rule in found})
    if top is None and of is None and html is None and not json:
        top = TOP if classes <= FEW_CLASSES else 1
    shown = found if top is None else _largest(found, top)
    if html is not None:
        with progress_bar(json) as progress:
            task = progress.add_task("pictures", total=classes)
            write_page(shown, model, classifier, html, thumbnails, lambda: progress.advance(task))
        say_missing(thumbnails)
    if json:
        typer.echo(dumps([rule.to_dict() for rule in shown], indent=2))
    elif html is not None:
        typer.echo(f"{html}: {counted(len(shown), 'rule')}")
    else:
        _print(shown, level)
        if len(shown) < len(found):
            typer.echo(f"{counted(len(found) - len(shown), 'smaller rule')} not shown; --top N shows N per class")


def write_page(
    rules: "list[Rule]",
    model: Path,
    classifier: "ExLLClassifier",
    out: Path,
    thumbnails: "Thumbnails | None" = None,
    step: "Callable[[], None]" = lambda: None,
) -> None:
    from exll.explain.rules_page import SIDE, page

    pictures = thumbnails or thumbnails_of(model, classifier, SIDE)
    out.write_text(page(rules, model.name, pictures, step), encoding="utf-8")


def _largest(rules: "list[Rule]", top: int) -> "list[Rule]":
    """The first few of every class: within a class the largest come first."""
    seen: Counter[object] = Counter()
    kept = []
    for rule in rules:
        seen[rule.label] += 1
        if seen[rule.label] <= top:
            kept.append(rule)
    return kept


def _print(found: "list[Rule]", level: LevelChoice) -> None:
    single: dict[object, int] = {}
    for rule in found:
        if level is LevelChoice.prototype and rule.support == 1 and rule.class_count > 1:
            single[rule.label] = single.get(rule.label, 0) + 1
        else:
            typer.echo(str(rule))
    for label, count in single.items():
        own = "examples, each a prototype of its own" if count > 1 else "example, which is a prototype of its own"
        typer.echo(f'"{label}" also has {count} single {own}')
