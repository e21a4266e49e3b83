"""``exll info``: what a model file holds."""

from pathlib import Path
from typing import Annotated, Any

import typer

CLASSES_SHOWN = 20


def info(
    model: Annotated[Path, typer.Argument(help="A model file (.exll).", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show what a model file holds: classes, prototypes, examples, size, how it was made."""
    from json import dumps

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    facts = _facts(model)
    if json:
        typer.echo(dumps(facts, indent=2, ensure_ascii=False))
        return
    console = Console()
    table = Table(show_header=False, box=None, padding=(0, 2))
    for name in ("preset", "examples", "prototypes", "features", "records", "refresh_growth", "bytes", "file_bytes"):
        value = facts[name]
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
    console.print(f"{model}: {len(facts['classes']):,} classes", markup=False, highlight=False)
    console.print(table)
    classes = Table("class", "examples", "prototypes", box=None, padding=(0, 2))
    shown = sorted(facts["classes"], key=lambda c: -c["examples"])[:CLASSES_SHOWN]
    for entry in shown:
        classes.add_row(Text(str(entry["label"])), f"{entry['examples']:,}", f"{entry['prototypes']:,}")
    console.print(classes)
    if len(shown) < len(facts["classes"]):
        console.print(f"  and {len(facts['classes']) - len(shown):,} more; --json lists all.", highlight=False)


def _facts(model: Path) -> dict[str, Any]:
    from exll.estimator import load

    classifier = load(model)
    learner = classifier.learner_
    classes = []
    for label in classifier.classes_.tolist():
        megacloud = classifier.megacloud(label)
        classes.append({"label": label, "examples": megacloud.count, "prototypes": len(megacloud.prototypes)})
    return {
        "preset": learner.preset,
        "examples": learner.sample_count,
        "prototypes": classifier.n_prototypes_,
        "features": classifier.n_features_in_,
        "records": learner.records_kind,
        "refresh_growth": learner.refresh_growth,
        "bytes": classifier.nbytes_,
        "file_bytes": model.stat().st_size,
        "classes": classes,
    }
