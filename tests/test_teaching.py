"""Teaching can stop at any moment and goes on as if it had not."""

import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from exll import ImageLearner, load
from exll.errors import ImageError, StreamError
from exll.features.backbone import Backbone
from exll.features.cache import FeatureCache
from exll.streams.stream import open_stream
from exll.teaching import BATCH, Lesson, find_lesson, new_lesson, teach
from hostile import write_hostile_folder
from pictures import write_class_folder
from support import assert_equal_models


@pytest.fixture(scope="module")
def nano() -> Backbone:
    return Backbone("nano", threads=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_class_folder(tmp_path_factory.mktemp("data"), classes=3, each=70)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> FeatureCache:
    return FeatureCache(tmp_path_factory.mktemp("cache") / "c.sqlite")


def save_nothing() -> None:
    pass


def test_a_lesson_stopped_at_every_batch_gives_the_same_model(
    nano: Backbone, data: Path, cache: FeatureCache, tmp_path: Path
) -> None:
    stream = open_stream(data).ordered("iid", 3)
    straight = ImageLearner(nano, preset="paper")
    lesson = new_lesson(stream, "iid", 3)
    teach(straight, stream, lesson, save_nothing, cache=cache)
    assert lesson.finished
    assert lesson.learned == 210

    path = tmp_path / "m.exll"
    model = ImageLearner(nano, preset="paper")
    stops = 0
    while True:
        found = find_lesson(model, stream, "iid", 3)
        lesson = found or new_lesson(stream, "iid", 3)
        if lesson.finished:
            break

        def stop(_: Lesson) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            teach(model, stream, lesson, partial(model.save, path), cache=cache, progress=stop)
        stops += 1
        loaded = load(path)
        assert isinstance(loaded, ImageLearner)
        model = loaded
    assert stops == -(-210 // BATCH)
    assert_equal_models(model.classifier, straight.classifier)
    assert model.classifier.lessons_ == straight.classifier.lessons_


def test_ctrl_c_inside_a_batch_waits_for_its_end(
    nano: Backbone, data: Path, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = open_stream(data).ordered("iid", 0)
    model, lesson = ImageLearner(nano, preset="paper"), new_lesson(stream, "iid", 0)
    learn_vectors = model.learn_vectors

    def interrupted(*args: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        learn_vectors(*args)

    monkeypatch.setattr(model, "learn_vectors", interrupted)
    with pytest.raises(KeyboardInterrupt):
        teach(model, stream, lesson, save_nothing, cache=cache)
    assert lesson.position == lesson.learned == model.classifier.learner_.sample_count == BATCH


def test_an_unfinished_lesson_wants_its_own_order(nano: Backbone, data: Path, cache: FeatureCache) -> None:
    stream = open_stream(data).ordered("iid", 0)
    model, lesson = ImageLearner(nano, preset="paper"), new_lesson(stream, "iid", 0)

    def stop(_: Lesson) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teach(model, stream, lesson, save_nothing, cache=cache, progress=stop)
    with pytest.raises(StreamError, match="begun in the order iid with seed 0 and stopped at 64 of 210"):
        find_lesson(model, stream, "iid", 1)
    found = find_lesson(model, stream, "iid", 0)
    assert found is not None
    assert found.position == 64


def test_other_data_is_added_and_the_lessons_are_remembered(
    nano: Backbone, data: Path, cache: FeatureCache, tmp_path: Path
) -> None:
    more = write_class_folder(tmp_path / "more", classes=4, each=5, first=500)
    model = ImageLearner(nano, preset="paper")
    for folder in (data, more):
        stream = open_stream(folder).ordered("class-iid", 0)
        assert find_lesson(model, stream, "class-iid", 0) is None
        teach(model, stream, new_lesson(stream, "class-iid", 0), save_nothing, cache=cache)
    assert [lesson["learned"] for lesson in model.classifier.lessons_] == [210, 20]
    assert len(model.classes_) == 4
    again = find_lesson(model, open_stream(data).ordered("iid", 9), "iid", 9)
    assert again is not None
    assert again.finished


def test_a_hostile_folder_never_stops_a_run(nano: Backbone, tmp_path: Path) -> None:
    hostile = write_hostile_folder(tmp_path / "data")
    stream = open_stream(tmp_path / "data").ordered("iid", 0)
    model, lesson = ImageLearner(nano, preset="paper"), new_lesson(stream, "iid", 0)
    teach(model, stream, lesson, save_nothing)
    listed = {example.path for example in stream.examples}
    assert lesson.position == len(stream.examples)
    assert lesson.learned == len(listed & hostile.good)
    assert {ref for ref, _ in lesson.skipped_named} == {str(path) for path in listed & hostile.bad}
    assert lesson.learned > 30
    assert lesson.skipped > 30
    assert all("\n" not in reason for _, reason in lesson.skipped_named)


def test_strict_stops_at_the_first_bad_file_and_keeps_what_was_learned(
    nano: Backbone, cache: FeatureCache, tmp_path: Path
) -> None:
    folder = write_class_folder(tmp_path / "data", classes=1, each=80)
    (folder / "kind 0" / "075.png").write_bytes(b"broken")
    stream = open_stream(folder).ordered("as-is")
    saved = []
    model, lesson = ImageLearner(nano, preset="paper"), new_lesson(stream, "as-is", 0)
    with pytest.raises(ImageError, match=r"075\.png"):
        teach(model, stream, lesson, lambda: saved.append(lesson.position), cache=cache, strict=True)
    assert saved == [64]
    assert model.classifier.learner_.sample_count == 64
