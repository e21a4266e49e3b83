"""``exll merge``: one model file from several."""

from pathlib import Path
from typing import Annotated

import typer

from exll.cli.common import JsonOption, Saver

CONFLICTS_SHOWN = 10


def merge(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Two or more model files (.exll).", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The model file to write.")],
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing if an example has several labels.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it exists, even if it is one of the models.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make one model from several, as if one model had been taught everything.

    All must have the same network and the same parameters. Classes with the same label become one class. An example
    that several models have learned counts several times.
    """
    from json import dumps

    from exll.errors import InputError
    from exll.explain.wording import counted
    from exll.loading import load_to_edit
    from exll.merging import check_mergeable, conflicts
    from exll.merging import merge as merged_of
    from exll.saving.model_file import place_for

    place_for(out)
    if out.exists() and not force:
        raise InputError(f"{out} already exists; name another file, or replace it with --force.")
    if len({path.resolve() for path in models}) < len(models):
        raise InputError("a model cannot be merged with itself; one of these files is named twice.")
    save = Saver(out)
    parts = [load_to_edit(path) for path in models]
    check_mergeable(parts, [str(path) for path in models])
    found = [str(conflict) for conflict in conflicts(parts)]
    _show(found)
    if found and strict:
        raise InputError(f"{counted(len(found), 'example')} with several labels; nothing was written.")
    merged = merged_of(parts)
    save(merged)
    learner = merged.classifier.learner_
    if json:
        said = {
            "models": len(parts),
            "classes": learner.class_count,
            "prototypes": learner.prototype_count,
            "examples": learner.sample_count,
            "bytes": out.stat().st_size,
            "conflicts": found,
        }
        typer.echo(dumps(said, indent=2))
    else:
        typer.echo(
            f"{out}: {counted(len(parts), 'model')} merged, {counted(learner.class_count, 'class')}, "
            f"{counted(learner.prototype_count, 'prototype')}, {counted(learner.sample_count, 'example')}"
        )


def _show(found: list[str]) -> None:
    from exll.explain.notebook import one_line

    for conflict in found[:CONFLICTS_SHOWN]:
        typer.echo(one_line(conflict), err=True)
    if len(found) > CONFLICTS_SHOWN:
        typer.echo(f"and {len(found) - CONFLICTS_SHOWN:,} more examples with several labels", err=True)
