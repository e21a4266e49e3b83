"""``exll demo``: one pass over handwritten digits, class by class, with nothing to download."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exll.estimator import ExLLClassifier

BATCH = 16


def demo(
    seed: Annotated[int, typer.Option(help="Which samples are held out, and the order within a class.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the model in this file.", dir_okay=False)] = None,
) -> None:
    """Stream scikit-learn's digits once, class by class (the hard order), and show what was learned."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from exll.estimator import ExLLClassifier

    console = Console()
    (X, y, refs), (X_test, y_test) = _digits(seed)
    console.print(
        f"[bold]ExLL[/], preset [bold]paper[/]: {len(X):,} images of handwritten digits, each seen once, "
        f"first every '0', then every '1', and so on; "
        f"{len(X_test):,} held out."
    )
    classifier = ExLLClassifier(preset="paper")
    spent = 0.0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("learning", total=len(X), state="")
        for start in range(0, len(X), BATCH):
            rows = slice(start, start + BATCH)
            begun = time.perf_counter()
            classifier.partial_fit(X[rows], y[rows], refs=refs[rows])
            spent += time.perf_counter() - begun
            state = f"{len(classifier.classes_)} classes, {classifier.n_prototypes_} prototypes"
            progress.update(task, advance=len(X[rows]), state=state)
    console.print(_results(classifier, X_test, y_test, len(X) / spent))
    console.print("\n[bold]Two of its rules[/], each made of the images it learned from:")
    for rule in _two_rules(classifier):
        console.print(f"  {rule}", markup=False, highlight=False, soft_wrap=True)
    if save is not None:
        classifier.save(save)
        console.print(f"\nSaved to {save}; try: exll info {save}", markup=False, highlight=False)


def _digits(seed: int) -> tuple[tuple[Any, Any, list[str]], tuple[Any, Any]]:
    """Four fifths to learn, class by class, a fifth to test."""
    import numpy as np
    from sklearn.datasets import load_digits

    data = load_digits()
    labels = data.target.astype(str)
    order = np.random.default_rng(seed).permutation(len(labels))
    held_out, learned = order[: len(order) // 5], order[len(order) // 5 :]
    learned = learned[np.argsort(labels[learned], kind="stable")]
    refs = [f"digit_{i:04d}" for i in learned]
    return (data.data[learned], labels[learned], refs), (data.data[held_out], labels[held_out])


def _results(classifier: "ExLLClassifier", X: "NDArray[Any]", y: "NDArray[Any]", rate: float) -> Any:
    from rich.table import Table

    answers = {name: classifier.predict(X, name) for name in ("global", "local", "fused")}
    table = Table(show_header=False, box=None, padding=(0, 2))
    described = {
        "global": "global inference (MegaClouds, ExLL-M)",
        "local": "local inference (prototypes, ExLL-P)",
        "fused": "fused inference (ExLL-F)",
    }
    for name, words in described.items():
        table.add_row(words, f"{(answers[name] == y).mean():.1%} right")
    either = (answers["global"] == y) | (answers["local"] == y)
    table.add_row("either right: what any choice between the two could reach", f"{either.mean():.1%}")
    table.add_row("prototypes", f"{classifier.n_prototypes_} in {len(classifier.classes_)} classes")
    table.add_row("size of the model", f"{classifier.nbytes_:,} bytes")
    table.add_row("speed of learning", f"{rate:,.0f} samples per second")
    return table


def _two_rules(classifier: "ExLLClassifier") -> list[Any]:
    """The second-largest rules of two classes: smaller than the catch-all, larger than the outliers."""
    rules: dict[Any, list[Any]] = {}
    for rule in classifier.rules():
        rules.setdefault(rule.label, []).append(rule)
    telling = sorted((own[1] for own in rules.values() if len(own) > 1), key=lambda rule: -rule.support)
    return (telling + [own[0] for own in rules.values()])[:2]
