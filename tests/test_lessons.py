"""Stories of a folder that changes while a model is taught: whatever happens, every photo is learned once."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll import ExLLClassifier, ImageLearner, load, teaching
from exll.streams.stream import open_stream
from exll.teaching import Lesson, prepare_lesson, teach

STORIES = int(os.environ.get("EXLL_STORIES", "100"))
SIDE = 6


class Pixels:
    """A network that gives the pixels themselves, so that every photo has a vector of its own."""

    name, width, identity = "pixels", 3 * SIDE * SIDE, "pixels-1"

    def features(self, images: list[Any]) -> list[Any]:
        return [np.asarray(image, np.float32).reshape(-1) + 1 for image in images]


class Story:
    """A folder, a model, and what was learned, in order."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.folder, self.file = folder / "photos", folder / "model.exll"
        self.model = ImageLearner(backbone=Pixels(), records="vectors")
        self.rows: list[tuple[bytes, str]] = []  # vectors and labels as they were learned
        self.made = 0
        self.add()
        self.add()

    def photos(self) -> list[Path]:
        return sorted(self.folder.rglob("*.png"))

    def add(self) -> None:
        for _ in range(int(self.rng.integers(1, 7))):
            label = f"class {self.rng.integers(3)}"
            (self.folder / label).mkdir(parents=True, exist_ok=True)
            pixels = self.rng.integers(0, 255, (SIDE, SIDE, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(self.folder / label / f"{self.made}.png")
            self.made += 1

    def delete(self) -> None:
        if len(self.photos()) > 2:
            self.one().unlink()

    def rename(self) -> None:
        path = self.one()
        path.rename(path.with_name(f"renamed-{self.made}.png"))
        self.made += 1

    def put_back(self) -> None:
        """Delete a photo and bring it back under its old name later: here, at once after a lesson."""
        path = self.one()
        content = path.read_bytes()
        path.unlink()
        self.learn()
        path.write_bytes(content)

    def reopen(self) -> None:
        if self.file.exists():
            self.model = load(self.file, ImageLearner, backbone=Pixels())

    def one(self) -> Path:
        photos = self.photos()
        return photos[int(self.rng.integers(len(photos)))]

    def interrupt(self) -> None:
        self.learn(stop_after=int(self.rng.integers(1, 3)))

    def learn(self, stop_after: int | None = None) -> None:
        """As ``exll learn`` does it; perhaps with Ctrl-C after some batches."""
        lesson, stream = prepare_lesson(self.model, open_stream(self.folder).ordered("iid", 0), "iid", 0)
        if not stream.examples:
            return
        batches = 0

        def progress(_: Lesson) -> None:
            nonlocal batches
            batches += 1
            if batches == stop_after:
                raise KeyboardInterrupt

        partial_fit = self.model.classifier.partial_fit

        def noted(X: Any, y: Any, **options: Any) -> Any:
            self.rows += [(x.tobytes(), label) for x, label in zip(X, y, strict=True)]
            return partial_fit(X, y, **options)

        self.model.classifier.partial_fit = noted  # type: ignore[method-assign]
        try:
            teach(self.model, stream, lesson, partial(self.model.save, self.file), progress=progress)
        except KeyboardInterrupt:
            pass
        finally:
            del self.model.classifier.partial_fit

    def check(self) -> None:
        assert len(set(self.rows)) == len(self.rows), "a photo was learned twice"
        there = {(Pixels().features([Image.open(path)])[0].tobytes(), path.parent.name) for path in self.photos()}
        assert there <= set(self.rows), "a photo was not learned"
        vectors = np.array([np.frombuffer(row, np.float32) for row, _ in self.rows])
        once = ExLLClassifier(records="vectors").partial_fit(vectors, [label for _, label in self.rows])
        assert self.model.classifier.learner_.sample_count == len(self.rows)
        np.testing.assert_array_equal(
            self.model.classifier.predict_proba(vectors[:20]), once.predict_proba(vectors[:20])
        )


ACTIONS = ("add", "delete", "rename", "put_back", "reopen", "interrupt", "interrupt", "learn")


@pytest.mark.slow
def test_every_photo_is_learned_once_whatever_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching, "BATCH", 3)
    for seed in range(STORIES):
        story = Story(tmp_path / str(seed), seed)
        told = story.rng.choice(ACTIONS, int(story.rng.integers(4, 12))).tolist()
        try:
            for action in told:
                getattr(story, action)()
            story.learn()
            story.reopen()
            story.check()
        except AssertionError as error:
            raise AssertionError(f"story {seed}: {', '.join(told)}: {error}") from error


def test_an_old_unfinished_lesson_does_not_learn_again_what_a_later_one_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop, add one photo, learn to the end, delete that photo, learn again."""
    monkeypatch.setattr(teaching, "BATCH", 3)
    story = Story(tmp_path, 1)
    while len(story.photos()) < 10:
        story.add()
    before = set(story.photos())
    story.learn(stop_after=1)
    story.add()
    story.learn()
    for path in set(story.photos()) - before:
        path.unlink()
    story.learn()
    story.check()


def test_a_photo_that_is_renamed_or_copied_is_not_learned_again(tmp_path: Path) -> None:
    story = Story(tmp_path, 2)
    story.learn()
    count = len(story.rows)
    story.rename()
    story.learn()
    assert len(story.rows) == count
    path = story.one()
    path.with_name("copy.png").write_bytes(path.read_bytes())
    story.learn()
    assert len(story.rows) == count
    label = "class 0" if path.parent.name != "class 0" else "class 1"
    (story.folder / label).mkdir(exist_ok=True)
    (story.folder / label / "as another.png").write_bytes(
        path.read_bytes()
    )  # under another label it is another example
    story.learn()
    assert len(story.rows) == count + 1
