"""``exll demo``: teaches drawings of household objects, asks about others, and explains two answers; with nothing to
download."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exll.cli.common import check_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import Progress

    from exll.prediction import Prediction
    from exll.streams.example import Example
    from exll.streams.household.videos import Household
    from exll.vision import ImageLearner

SIZE = 224  # pixels of a drawing's side
EVERY = 4  # of twelve drawings of an object: one among clutter, one in bad light, one half hidden
BATCH = 16


def demo(
    seed: Annotated[int, typer.Option(min=0, help="The seed of the drawings.")] = 0,
    out: Annotated[
        Path, typer.Option(help="The folder for the model, its pictures and its pages.", file_okay=False)
    ] = Path("exll-demo"),
) -> None:
    """Teach drawings of household objects, one class after the other; ask about others, and explain two answers."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from exll.cli.rules import write_page as write_rules
    from exll.streams.household.videos import Household
    from exll.vision import ImageLearner

    check_folder(out)
    console, learner = Console(), ImageLearner()
    home = Household(seed, frames=1, test_frames=1, size=SIZE)
    data = home.dataset()
    assert data.test is not None
    taught, asked = data.train.examples[::EVERY], data.test.examples[::EVERY]
    console.print(
        f"[bold]exll[/] learns {len(taught)} drawings of {len({example.label for example in taught})} kinds of "
        f"household object, each seen once: first every {taught[0].label}, then the next kind."
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console) as progress:
        names, vectors = _drawn(home, taught, learner, out, "taught", progress)
        learner.learn_vectors(vectors, [example.label for example in taught], names)
        names, vectors = _drawn(home, asked, learner, out, "asked", progress)
    answers = learner.predict_vectors(vectors)
    right = [answer.label == example.label for answer, example in zip(answers, asked, strict=True)]
    unusual = sum(answer.level != "usual" for answer in answers)
    console.print(
        f"Then it is asked about {len(asked)} drawings of the same objects in other places: on other tables and in "
        f"other light, among clutter, dim or half hidden. [bold]{sum(right)} of {len(asked)} answers are right[/] "
        f"({sum(right) / len(asked):.1%}); {unusual} times it says that a drawing is unlike those it was taught."
    )
    model, best, worst = out / "household.exll", *_best_and_worst(answers, right)
    learner.save(model)
    pages = {
        page: _explained(learner, out, page, names[i], str(asked[i].label))
        for page, i in (("best.html", best), ("worst.html", worst))
    }
    write_rules(learner.rules(), model, learner.classifier, out / "rules.html")
    pages["rules.html"] = "all that it has learned, as rules in pictures"
    console.print("\nPages to open in a browser:", highlight=False)
    for name, what in pages.items():
        console.print(f"  {out / name}  {what}", markup=False, highlight=False, soft_wrap=True)
    console.print("\nTo try next:", highlight=False)
    for command in (
        f"exll evaluate {model} {out / 'asked'}",
        f"exll explain {model} {out / names[0]} -o why.html",
        "exll learn FOLDER --model things.exll   (a folder with one sub-folder of your photos per class)",
        "exll studio                             (teach and ask in the browser)",
    ):
        console.print(f"  {command}", markup=False, highlight=False, soft_wrap=True)


def _drawn(
    home: "Household", examples: "list[Example]", learner: "ImageLearner", out: Path, folder: str, progress: "Progress"
) -> "tuple[list[str], NDArray[np.float32]]":
    """Draw examples into a folder per class; their names below ``out``, and what the network makes of the files."""
    import numpy as np

    names = [
        f"{folder}/{example.label}/{'-'.join(example.ref.split('/')[1:]).split('#')[0]}.jpg" for example in examples
    ]
    task, vectors = progress.add_task(folder, total=len(examples)), []
    for start in range(0, len(examples), BATCH):
        batch = slice(start, start + BATCH)
        for name, example in zip(names[batch], examples[batch], strict=True):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            home.picture(example).save(out / name, quality=90)
        vectors.append(learner.vectors([out / name for name in names[batch]]))
        progress.update(task, advance=len(names[batch]))
    return names, np.concatenate(vectors)


def _best_and_worst(answers: "list[Prediction]", right: list[bool]) -> tuple[int, int]:
    """The right answer that is most like what was taught; and the wrong one of highest confidence, or where none is
    wrong the one that is least like it."""
    novelty = [answer.novelty or 0.0 for answer in answers]
    places = range(len(answers))
    best = min(places, key=lambda i: (not right[i], novelty[i]))
    wrong = [i for i in places if not right[i]]
    worst = max(wrong, key=lambda i: answers[i].probability) if wrong else max(places, key=novelty.__getitem__)
    return best, worst


def _explained(learner: "ImageLearner", out: Path, page: str, name: str, truth: str) -> str:
    """Write the page of one answer; what is on it, in words."""
    from exll.cli.explain import verdict, write_page

    explanation = write_page(learner, out / name, out / "household.exll", out / page)
    wrong = "" if explanation.label == truth else f'; wrong: it is "{truth}"'
    return f"why {name} {verdict(explanation)}{wrong}"
