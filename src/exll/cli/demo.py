"""``exll demo``: one pass over pictures of handwritten digits, class by class, with nothing to download."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from exll.cli.common import check_folder

if TYPE_CHECKING:
    from PIL.Image import Image

    from exll.vision import ImageLearner

    Picture: TypeAlias = tuple[str, str, Image]  # path below the demo's folder, label, pixels

BATCH = 16


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Which pictures are held out, and the order within a class.")] = 0,
    out: Annotated[
        Path, typer.Option(help="The folder for the model, its pictures and its pages.", file_okay=False)
    ] = Path("exll-demo"),
) -> None:
    """Teach pictures of handwritten digits, each once, class by class (the hard order), and show what was learned."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from exll.vision import ImageLearner

    check_folder(out)
    console = Console()
    learned, held_out = _digits(seed)
    console.print(
        f"[bold]exll[/], preset [bold]glocal[/], backbone [bold]nano[/]: {len(learned):,} pictures of handwritten "
        f"digits, each seen once, first every '0', then every '1', and so on; {len(held_out):,} held out."
    )
    learner = ImageLearner(backbone="nano", preset="glocal")
    seconds = {"seeing": 0.0, "learning": 0.0}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("learning", total=len(learned), state="")
        for start in range(0, len(learned), BATCH):
            refs, labels, images = zip(*learned[start : start + BATCH], strict=True)
            begun = time.perf_counter()
            vectors = learner.backbone.features(list(images))
            seen = time.perf_counter()
            learner.learn_vectors(vectors, labels, refs)
            seconds["seeing"] += seen - begun
            seconds["learning"] += time.perf_counter() - seen
            state = f"{len(learner.classes_)} classes, {learner.classifier.n_prototypes_} prototypes"
            progress.update(task, advance=len(labels), state=state)
    rates = {name: len(learned) / spent for name, spent in seconds.items()}
    vectors = learner.backbone.features([image for _, _, image in held_out])
    console.print(_results(learner, vectors, [label for _, label, _ in held_out], rates))
    console.print("\n[bold]Two of its rules[/], each made of the pictures it learned from:")
    for rule in _two_rules(learner):
        console.print(f"  {rule}", markup=False, highlight=False, soft_wrap=True)
    sheets = _write(learner, learned, held_out, out)
    shown = _informative(learner, held_out, vectors)
    _write_pages(learner, out, shown)
    size = (out / "digits.exll").stat().st_size
    written = {
        "why.html": f"what it says about {shown}, and why",
        "rules.html": "all its rules, in pictures",
        "rule_*.png": f"Pictures of {sheets} rules, one file each",
        "digits.exll": f"the model, {size:,} bytes; try: exll explain {out / 'digits.exll'} {out / shown}",
        "held-out": f"the other pictures; try: exll evaluate {out / 'digits.exll'} {out / 'held-out'}",
    }
    console.print(f"\nIn {out}:", markup=False, highlight=False, soft_wrap=True)
    for name, what in written.items():
        console.print(f"  {name:12} {what}", markup=False, highlight=False, soft_wrap=True)


def _digits(seed: int) -> "tuple[list[Picture], list[Picture]]":
    """scikit-learn's digits, drawn large: (path, label, picture), four fifths to learn, class by class, a fifth to
    test."""
    import numpy as np
    from PIL import Image
    from sklearn.datasets import load_digits

    data = load_digits()
    pixels = np.round(data.images * 255 / 16).astype(np.uint8)
    pictures = [
        (f"{label}/digit_{i:04d}.png", str(label), Image.fromarray(small).resize((128, 128), Image.Resampling.BICUBIC))
        for i, (small, label) in enumerate(zip(pixels, data.target, strict=True))
    ]
    order = np.random.default_rng(seed).permutation(len(pictures))
    held_out, learned = order[: len(order) // 5], order[len(order) // 5 :]
    learned = learned[np.argsort(data.target[learned], kind="stable")]
    return _below("learned", [pictures[i] for i in learned]), _below("held-out", [pictures[i] for i in held_out])


def _below(folder: str, pictures: "list[Picture]") -> "list[Picture]":
    return [(f"{folder}/{name}", label, image) for name, label, image in pictures]


def _results(learner: "ImageLearner", vectors: Any, labels: list[str], rates: dict[str, float]) -> Any:
    import numpy as np
    from rich.table import Table

    truths = np.array(labels)
    right = {name: learner.classifier.predict(vectors, name) == truths for name in ("global", "local", "fused")}
    described = {
        "global": "global inference (MegaClouds)",
        "local": "local inference (prototypes)",
        "fused": "fused inference (both)",
    }
    table = Table(show_header=False, box=None, padding=(0, 1))
    for name, words in described.items():
        table.add_row(words, f"{right[name].mean():.1%} right")
    either = (right["global"] | right["local"]).mean()
    table.add_row("local or global inference right", f"{either:.1%}")
    table.add_row("prototypes", f"{learner.classifier.n_prototypes_} in {len(learner.classes_)} classes")
    table.add_row("speed", f"{rates['seeing']:,.0f} pictures seen and {rates['learning']:,.0f} learned per second")
    return table


def _two_rules(learner: "ImageLearner") -> list[Any]:
    """The second-largest rules of two classes: neither the most common group nor a single example."""
    rules: dict[Any, list[Any]] = {}
    for rule in learner.rules():
        rules.setdefault(rule.label, []).append(rule)
    second_largest = sorted((own[1] for own in rules.values() if len(own) > 1), key=lambda rule: -rule.support)
    return (second_largest + [own[0] for own in rules.values()])[:2]


def _informative(learner: "ImageLearner", held_out: "list[Picture]", vectors: Any) -> str:
    """A picture that local and global inference take for different digits, and fused inference for the right one."""
    local, whole, fused = (learner.classifier.predict(vectors, name) for name in ("local", "global", "fused"))
    right = fused == [label for _, label, _ in held_out]
    first = int(((local != whole) & right).argmax())  # the first picture if there is none
    return held_out[first][0]


def _write(learner: "ImageLearner", learned: "list[Picture]", held_out: "list[Picture]", out: Path) -> int:
    """The model, all pictures, and a contact sheet for every rule that more than one picture made."""
    from exll.explain.contact_sheet import contact_sheet

    for folder in {(out / name).parent for name, _, _ in (*learned, *held_out)}:
        folder.mkdir(parents=True, exist_ok=True)
    for name, _, image in (*learned, *held_out):
        image.save(out / name)
    learner.save(out / "digits.exll")
    images = {name: image for name, _, image in learned}
    rules = [rule for rule in learner.rules() if rule.support > 1]
    for rule in rules:
        condition = rule.conditions[0]
        sheet = contact_sheet([images[name] for name in condition.names], str(rule))
        sheet.save(out / f"rule_{rule.label}_{condition.prototype:03d}.png")
    return len(rules)


def _write_pages(learner: "ImageLearner", out: Path, shown: str) -> None:
    from exll.cli.explain import write_page as write_explanation
    from exll.cli.rules import write_page as write_rules

    model = out / "digits.exll"
    write_explanation(learner, out / shown, model, out / "why.html")
    write_rules(learner.rules(), model, learner.classifier, out / "rules.html")
