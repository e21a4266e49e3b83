"""What can be named to be forgotten or relabelled, and what is left of it in a file."""

import base64
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import exll
from exll import ExLLClassifier, ImageLearner, load
from exll.editing import selected, with_places, without_digests
from exll.errors import BackboneError, ExLLError, InputError
from exll.loading import load_to_edit
from exll.types import RecordsKind
from pictures import picture

ROWS = 24
X = np.random.default_rng(0).normal(size=(ROWS, 70))
REFS = [f"{'kitchen' if i < 8 else 'hall'}/{i}.jpg" for i in range(ROWS)]
IMAGES: list[Any] = [picture(i % 2, i) for i in range(6)]


def taught(labels: Any = None, records: RecordsKind = "vectors") -> ExLLClassifier:
    """Three classes, 0, 1 and 2 in turn, or these labels; groups "0" to "5" of four each."""
    y = np.arange(ROWS) % 3 if labels is None else labels
    return ExLLClassifier(records=records).fit(X, y, refs=REFS, groups=[i // 4 for i in range(ROWS)])


def learner_of_images(**options: Any) -> ImageLearner:
    learner = ImageLearner("nano", **options)
    learner.learn(IMAGES, ["a", "b"] * 3, [f"{i}.png" for i in range(6)], [(0, 0, 40, 40)] * 6)
    return learner


REFUSED: dict[str, tuple[Callable[[ExLLClassifier], Any], str]] = {
    "no refs": (lambda clf: clf.forget([]), "at least one example"),
    "one wrong ref": (lambda clf: clf.forget([REFS[0], "zz.jpg"]), "no example named 'zz.jpg'"),
    "a ref that is None": (lambda clf: clf.forget([REFS[0], None]), "strings or paths; got NoneType"),
    "a number for a ref": (lambda clf: clf.forget([1]), "strings or paths; got int"),  # type: ignore[list-item]
    "nothing": (lambda clf: clf.forget(), "say what to forget"),
    "one wrong group": (lambda clf: clf.forget(groups=[1, 77]), "no example of the group '77'"),
    "no groups": (lambda clf: clf.forget(groups=[]), "at least one group"),
    "half a group": (lambda clf: clf.forget(groups=2.5), "whole numbers"),  # type: ignore[arg-type]
    "X alone": (lambda clf: clf.forget(X=X[:1]), "X and y together"),
    "X of another class": (lambda clf: clf.forget(X=X[:1], y=[1]), "row 0 was not learned as 1"),
    "X twice": (lambda clf: clf.forget(X=X[[0, 0]], y=[0, 0]), "row 1 was not learned"),
    "True for 1": (lambda clf: clf.forget(X=X[1:2], y=[True]), "no class True"),
    "the class True": (lambda clf: clf.forget_class(True), "no class True"),
    "the class '1'": (lambda clf: clf.forget_class("1"), "no class '1'"),
    "two classes": (lambda clf: clf.forget_class(np.array([0, 1])), "one class"),  # type: ignore[arg-type]
    "everything": (lambda clf: clf.forget(REFS), "start a new one"),
    "a label of another kind": (lambda clf: clf.relabel(REFS[0], "1"), "of kind integer"),
    "relabel nothing": (lambda clf: clf.relabel([], 1), "at least one example"),
    "relabel what is not there": (lambda clf: clf.relabel("zz.jpg", 1), "nothing was changed"),
}


@pytest.fixture(scope="module")
def shared() -> ExLLClassifier:
    return taught()


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_a_sentence_and_nothing_changes(shared: ExLLClassifier, case: str) -> None:
    edit, sentence = REFUSED[case]
    before = shared.predict_proba(X)
    with pytest.raises(ExLLError, match=sentence):
        edit(shared)
    assert (shared.learner_.sample_count, len(shared.classes_)) == (ROWS, 3)
    assert np.array_equal(shared.predict_proba(X), before)


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        (lambda clf: clf.forget(Path(REFS[0])), ROWS - 1),
        (lambda clf: clf.forget(np.array(REFS[:2])), ROWS - 2),
        (lambda clf: clf.forget(pd.Series(REFS[:2])), ROWS - 2),
        (lambda clf: clf.forget(groups=np.int64(1)), ROWS - 4),
        (lambda clf: clf.forget(REFS[0], groups=["0", 1]), ROWS - 8),
        (lambda clf: clf.forget(REFS[0], X=X[:1], y=[0]), ROWS - 1),
        (lambda clf: clf.forget(X=pd.DataFrame(X[:1]), y=pd.Series([0])), ROWS - 1),
        (lambda clf: clf.forget_class(np.int64(2)), ROWS - 8),
    ],
)
def test_names_labels_and_rows_may_be_of_numpy_and_pandas(edit: Callable[[ExLLClassifier], Any], left: int) -> None:
    assert edit(taught()).learner_.sample_count == left


def test_boolean_labels_are_no_numbers() -> None:
    clf = taught(np.arange(ROWS) % 2 == 0)
    with pytest.raises(InputError, match="no class 1"):
        clf.forget_class(1)
    assert clf.forget_class(True).classes_.tolist() == [False]


def test_an_example_without_a_name_goes_by_the_name_that_is_shown() -> None:
    clf = ExLLClassifier(records="vectors").fit(X, ["a"] * ROWS)
    clf.forget("sample 3")
    assert clf.learner_.sample_count == ROWS - 1
    with pytest.raises(InputError, match="no example named 'sample 3'"):
        clf.forget("sample 3")


def test_a_model_that_remembers_few_examples_cannot_forget_a_group_in_part() -> None:
    with pytest.raises(InputError, match="remembers only 2 examples per prototype"):
        taught(records=2).forget(groups=1)


def test_rows_in_other_columns_are_refused() -> None:
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(70)])
    clf = ExLLClassifier(records="none").fit(table, ["a", "b"] * (ROWS // 2))
    with pytest.raises(InputError, match="feature names"):
        clf.forget(X=table[table.columns[::-1]][:1], y=["a"])


def test_all_that_is_named_must_hold_of_what_is_selected(shared: ExLLClassifier) -> None:
    def refs(**named: Any) -> list[str | None]:
        return [record.ref for _, _, record in selected(shared.learner_, **named)]

    assert refs(pattern="kitchen/*") == REFS[:8]
    assert refs(pattern="kitchen/*", label=1) == [REFS[i] for i in (1, 4, 7)]
    assert refs(pattern="kitchen/*", label=1, group="1") == [REFS[i] for i in (4, 7)]
    assert refs(refs=REFS[:5], label=1) == [REFS[i] for i in (1, 4)]
    with pytest.raises(InputError, match="no such example"):
        refs(pattern="attic/*")


def lesson(count: int, spans: list[list[int]] | None) -> dict[str, Any]:
    """One whose i-th digest is 16 times the byte i."""
    digests = b"".join(bytes([i]) * 16 for i in range(count))
    entry = {"source": "photos", "digests": base64.b64encode(digests).decode()}
    return entry if spans is None else {**entry, "spans": spans}


def digests_of(entry: dict[str, Any]) -> list[int]:
    return list(base64.b64decode(entry["digests"])[::16])


def test_a_lesson_loses_the_digests_of_forgotten_examples() -> None:
    lessons = [lesson(5, [[0, 3], [7, 2]]), lesson(2, [[10, 2]])]
    first, second = without_digests(lessons, [1, 7, 99])
    assert (digests_of(first), first["spans"]) == ([0, 2, 4], [[0, 1], [2, 1], [8, 1]])
    assert second == lessons[1]
    assert digests_of(without_digests(lessons, range(20))[0]) == []


@pytest.mark.parametrize("spans", [None, [], [[0, 4]]])
def test_a_lesson_that_does_not_say_where_its_examples_are_stays_as_it_is(spans: list[list[int]] | None) -> None:
    old = lesson(5, spans)
    assert without_digests([old], [1]) == [old]


def test_a_digest_follows_its_example_to_another_place() -> None:
    (moved,) = with_places([lesson(4, [[0, 4]])], lambda place: 9 if place == 1 else place)
    assert (digests_of(moved), moved["spans"]) == ([0, 1, 2, 3], [[0, 1], [9, 1], [2, 2]])
    clf = taught()
    clf.lessons_ = [lesson(4, [[0, 4]])]
    clf.relabel(REFS[1], 2)
    assert clf.lessons_ == with_places([lesson(4, [[0, 4]])], lambda place: ROWS if place == 1 else place)
    assert digests_of(clf.forget(REFS[1]).lessons_[0]) == [0, 2, 3]


def test_a_young_model_of_few_features_forgets_one_digest_after_the_other() -> None:
    clf = ExLLClassifier(records="vectors").fit(X[:6, :4], list("ababab"), refs=REFS[:6])
    clf.lessons_ = [lesson(6, [[0, 6]])]
    assert digests_of(clf.forget(REFS[1]).lessons_[0]) == [0, 2, 3, 4, 5]
    assert digests_of(clf.forget(REFS[4]).lessons_[0]) == [0, 2, 3, 5]
    assert clf.lessons_[0]["spans"] == [[0, 4]]


def test_a_model_that_forgot_most_of_its_first_examples_can_be_loaded(tmp_path: Path) -> None:
    clf = ExLLClassifier(records="vectors").fit(X[:, :4], ["a", "b"] * (ROWS // 2), refs=REFS)
    clf.forget(REFS[:20]).save(tmp_path / "m.exll")
    assert np.array_equal(
        load(tmp_path / "m.exll", ExLLClassifier).predict_proba(X[:, :4]), clf.predict_proba(X[:, :4])
    )


def test_a_file_holds_neither_name_nor_vector_nor_thumbnail_of_what_was_forgotten(tmp_path: Path) -> None:
    learner, path = learner_of_images(), tmp_path / "m.exll"
    (_, _, record), picture_of_it = (
        learner.classifier.learner_.remembered(["3.png"])[0],
        learner.kept_thumbnails()["3.png"],
    )
    assert record.codes is not None
    traces = [b"3.png", record.codes[:8].tobytes(), picture_of_it]
    learner.save(path)
    assert [trace in path.read_bytes() for trace in traces] == [True] * 3
    learner.forget("3.png").save(path)
    assert [trace in path.read_bytes() for trace in traces] == [False] * 3
    assert list(load(path, ImageLearner).kept_thumbnails()) == [f"{i}.png" for i in (0, 1, 2, 4, 5)]


def test_a_relabelled_example_keeps_its_thumbnail(tmp_path: Path) -> None:
    learner = learner_of_images()
    before = learner.kept_thumbnails()
    learner.relabel("1.png", "c").save(tmp_path / "m.exll")
    assert load(tmp_path / "m.exll", ImageLearner).kept_thumbnails() == learner.kept_thumbnails() == before


def test_images_are_given_again_as_they_were_learned(tmp_path: Path) -> None:
    learner = learner_of_images()
    assert learner.forget(images=IMAGES[1], labels="b", boxes=(0, 0, 40, 40)).megacloud("b").count == 2
    with pytest.raises(InputError, match="not learned as 'a'"):
        learner.forget(images=[IMAGES[0]], labels=["a"])  # without its box
    with pytest.raises(InputError, match="images and labels together"):
        learner.forget(images=[IMAGES[0]])
    with pytest.raises(InputError, match="give images, too"):
        learner.forget("0.png", labels=["a"])
    for i in range(2):
        IMAGES[i].save(tmp_path / f"{i}.png")
    named = ImageLearner("nano", records="refs")
    named.learn([tmp_path / "0.png", tmp_path / "1.png"], ["a", "b"])
    assert named.forget(images=[tmp_path / "1.png"], labels=["b"]).classes_.tolist() == ["a"]


class MeanColour:
    name, width = "mean colour", 3

    def features(self, images: list[Any]) -> Any:
        return [np.asarray(image).mean(axis=(0, 1)) for image in images]


def test_a_model_can_be_edited_without_its_network_and_its_file_still_names_it(tmp_path: Path) -> None:
    learner, path = ImageLearner(MeanColour(), thumbnail_side=40), tmp_path / "m.exll"
    learner.learn(IMAGES, ["a", "b"] * 3, [f"{i}.png" for i in range(6)])
    learner.save(path)
    before = path.read_bytes()
    edited = load_to_edit(path)
    edited.save(path)
    assert path.read_bytes() == before
    edited.forget("0.png").relabel("1.png", "a").rename_class("b", "c").save(path)
    with pytest.raises(BackboneError, match="was not opened"):
        edited.predict(IMAGES[0])
    again = load(path, ImageLearner, backbone=MeanColour())
    assert sorted(again.kept_thumbnails()) == [f"{i}.png" for i in range(1, 6)]
    assert again.predict(IMAGES[1]).label in ("a", "c")


def test_one_edit_follows_another_before_anybody_asks() -> None:
    clf = taught().forget(REFS[4]).relabel(REFS[7], 2).relabel(REFS[7], 0).forget(REFS[1])
    assert [clf.megacloud(label).count for label in (0, 1, 2)] == [9, 5, 8]
    assert clf.predict(X[[7]]) == [0]


def test_others_may_ask_while_examples_are_forgotten() -> None:
    clf, failed, done = taught(), [], threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                clf.predict(X)
                clf.rules()
                clf.explain(X[0])
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for i in range(0, 12, 2):
            clf.forget(REFS[i]).relabel(REFS[i + 1], 2)
    finally:
        done.set()
        thread.join()
    assert (failed, clf.learner_.sample_count) == ([], ROWS - 6)


def test_the_python_of_the_page_on_editing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    y, groups = ["mgu", "mug", "spoon", "fork"] * 6, ["monday"] * 4 + [None] * 20
    for name, first in (("kitchen.exll", 0), ("hall.exll", 9)):
        refs = [f"{first + i}.jpg" for i in range(ROWS)]
        ExLLClassifier(records="vectors").fit(X, y, refs=refs, groups=groups).save(name)
    page = (Path(__file__).resolve().parents[1] / "docs" / "editing.md").read_text()
    editing, of_nothing = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(editing, {"print": lambda *_: None})
    assert load("house.exll", ExLLClassifier).classes_.tolist() == ["fork", "mgu", "mug", "spoon"]

    eye, said = ImageLearner("nano"), list[Any]()
    for kind in range(2):
        eye.learn([picture(kind, seed) for seed in range(6)], [f"kind {kind}"] * 6)
    eye.save("kitchen.exll")
    for seed, name in enumerate(("hallway.jpg", "hallway, later.jpg")):
        picture(3, seed).save(name)
    exec(of_nothing, {"exll": exll, "print": lambda *words: said.extend(words)})
    assert said == ["unknown", ("hallway.jpg",)]
