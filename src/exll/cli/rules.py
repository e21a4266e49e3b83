"""``exll rules``: the IF-THEN rules of a model."""

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import (
    ImagesOption,
    JsonOption,
    ModelArgument,
    check_out,
    open_with_thumbnails,
    say_missing,
    thumbnails_of,
)

if TYPE_CHECKING:
    from exll.estimator import ExLLClassifier
    from exll.explain.rules import Rule
    from exll.explain.thumbnails import Thumbnails


class LevelChoice(enum.StrEnum):
    prototype = "prototype"
    class_ = "class"
    megacloud = "megacloud"


def rules(
    model: ModelArgument,
    level: Annotated[
        LevelChoice, typer.Option(help="One rule per prototype, per class or per MegaCloud.")
    ] = LevelChoice.prototype,
    of: Annotated[str | None, typer.Option(help="Only the rules of this class.", show_default=False)] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rules as a page of pictures: an .html file.")
    ] = None,
    images: ImagesOption = None,
    json: JsonOption = False,
) -> None:
    """Print the rules of a model, the largest share of a class first; single examples are counted as unusual."""
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
    if not found:
        raise InputError(f"{model} has no class {of!r}.")
    if html is not None:
        write_page(found, model, classifier, html, thumbnails)
        say_missing(thumbnails)
    if json:
        typer.echo(dumps([rule.to_dict() for rule in found], indent=2))
    elif html is not None:
        typer.echo(f"{html}: {counted(len(found), 'rule')}")
    else:
        _print(found, level)


def write_page(
    rules: "list[Rule]", model: Path, classifier: "ExLLClassifier", out: Path, thumbnails: "Thumbnails | None" = None
) -> None:
    from exll.explain.rules_page import SIDE, page

    pictures = thumbnails or thumbnails_of(model, classifier, SIDE)
    out.write_text(page(rules, model.name, pictures), encoding="utf-8")


def _print(found: "list[Rule]", level: LevelChoice) -> None:
    unusual: dict[object, int] = {}
    for rule in found:
        if level is LevelChoice.prototype and rule.support == 1 and rule.class_count > 1:
            unusual[rule.label] = unusual.get(rule.label, 0) + 1
        else:
            typer.echo(str(rule))
    for label, count in unusual.items():
        typer.echo(f'"{label}" also has {count} unusual example{"s" if count > 1 else ""}, each a prototype of its own')
