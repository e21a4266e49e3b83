"""``exll rules``: the IF-THEN rules of a model."""

import enum
from typing import Annotated

import typer

from exll.cli.common import JsonOption, ModelArgument, open_classifier


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
    json: JsonOption = False,
) -> None:
    """Print the rules of a model, the largest share of a class first; single examples are counted as unusual."""
    from json import dumps

    from exll.errors import InputError

    classifier = open_classifier(model)
    found = [rule for rule in classifier.rules(level.value) if of is None or str(rule.label) == of]
    if not found:
        raise InputError(f"{model} has no class {of!r}.")
    if json:
        typer.echo(dumps([rule.to_dict() for rule in found], indent=2))
        return
    unusual: dict[object, int] = {}
    for rule in found:
        if level is LevelChoice.prototype and rule.support == 1 and rule.class_count > 1:
            unusual[rule.label] = unusual.get(rule.label, 0) + 1
        else:
            typer.echo(str(rule))
    for label, count in unusual.items():
        typer.echo(f'"{label}" also has {count} unusual example{"s" if count > 1 else ""}, each a prototype of its own')
