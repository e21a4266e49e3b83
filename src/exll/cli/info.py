"""``exll info``: what a model file holds."""

from pathlib import Path
from typing import Any

import typer

from exll.cli.common import JsonOption, ModelArgument

CLASSES_SHOWN = 20
SHOWN = (
    "preset",
    "backbone",
    "examples",
    "prototypes",
    "features",
    "records",
    "file_bytes",
    "written_by",
)


def info(model: ModelArgument, json: JsonOption = False) -> None:
    """Show what a model file holds: classes, prototypes, examples, size, how it was made."""
    from json import dumps

    from exll.explain.wording import counted

    summary = _summary(model)
    if json:
        typer.echo(dumps(summary, indent=2))
        return
    typer.echo(f"{model}: {counted(len(summary['classes']), 'class')}")
    for name in SHOWN:
        value = summary[name]
        if value is not None:
            typer.echo(f"  {name.replace('_', ' '):16}{f'{value:,}' if isinstance(value, int) else value}")
    if summary["thumbnails_per_prototype"] is not None:
        most = f"at most {summary['thumbnails_per_prototype']} per prototype"
        size = f"{summary['thumbnail_bytes'] / 1e6:.1f} MB"
        typer.echo(f"  {'thumbnails':16}{summary['thumbnails']:,} ({most}, {size})")
    if summary["calibration_examples"]:
        typer.echo(f"  {'calibrated':16}with {counted(summary['calibration_examples'], 'example')}")
    if summary["examples_of_nothing"]:
        typer.echo(f"  {'of nothing':16}{counted(summary['examples_of_nothing'], 'example')}")
    for lesson in summary["lessons"]:
        state = "" if lesson["position"] == lesson["examples"] else f", stopped at {lesson['position']:,}"
        learned = counted(lesson["learned"], "example")
        typer.echo(f"  {'taught':16}{lesson['source']} ({learned}, order {lesson['order']}{state})")
    largest = sorted(summary["classes"], key=lambda entry: -entry["examples"])[:CLASSES_SHOWN]
    width = max(len(str(entry["label"])) for entry in largest)
    typer.echo(f"  {'class':{max(width, 5)}}  examples  prototypes")
    for entry in largest:
        typer.echo(f"  {entry['label']!s:{max(width, 5)}}  {entry['examples']:8,}  {entry['prototypes']:10,}")
    if len(largest) < len(summary["classes"]):
        typer.echo(f"  and {len(summary['classes']) - len(largest):,} more; --json lists all.")


def _summary(path: Path) -> dict[str, Any]:
    from exll.errors import DAMAGED, ModelFileError
    from exll.saving.model_file import read_model
    from exll.saving.summary import summary_of

    file = read_model(path)
    try:
        return {**summary_of(file), "file_bytes": path.stat().st_size}
    except DAMAGED as error:
        raise ModelFileError(f"{path} does not hold a whole model: {error}.") from error
