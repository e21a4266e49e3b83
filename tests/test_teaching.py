"""Teaching can stop at any moment and goes on as if it had not."""

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll import ImageLearner, load
from exll.errors import ImageError, StreamError
from exll.features.backbone import OnnxBackbone
from exll.features.cache import FeatureCache
from exll.streams.stream import open_stream
from exll.teaching import BATCH, Lesson, prepare_lesson, teach
from hostile import write_hostile_folder
from pictures import picture, write_class_folder
from support import assert_equal_models


@pytest.fixture(scope="module")
def nano() -> OnnxBackbone:
    return OnnxBackbone("nano", threads=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_class_folder(tmp_path_factory.mktemp("data"), classes=3, each=70)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> FeatureCache:
    return FeatureCache(tmp_path_factory.mktemp("cache") / "c.sqlite")


def save_nothing() -> None:
    pass


@pytest.mark.slow
def test_a_lesson_stopped_at_every_batch_gives_the_same_model(
    nano: OnnxBackbone, data: Path, cache: FeatureCache, tmp_path: Path
) -> None:
    stream = open_stream(data).ordered("iid", 3)
    straight = ImageLearner(nano, preset="paper")
    lesson, _ = prepare_lesson(straight, stream, "iid", 3)
    teach(straight, stream, lesson, save_nothing, cache=cache)
    assert lesson.finished
    assert lesson.learned == 210

    path = tmp_path / "m.exll"
    model = ImageLearner(nano, preset="paper")
    stops = 0
    while True:
        lesson, rest = prepare_lesson(model, stream, "iid", 3)
        if not rest.examples:
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
    nano: OnnxBackbone, data: Path, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = open_stream(data).ordered("iid", 0)
    model = ImageLearner(nano, preset="paper")
    lesson, _ = prepare_lesson(model, stream, "iid", 0)
    partial_fit = model.classifier.partial_fit

    def interrupted(*args: Any, **options: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        partial_fit(*args, **options)

    monkeypatch.setattr(model.classifier, "partial_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        teach(model, stream, lesson, save_nothing, cache=cache)
    assert lesson.position == lesson.learned == model.classifier.learner_.sample_count == BATCH


def test_an_unfinished_lesson_wants_its_own_order(nano: OnnxBackbone, data: Path, cache: FeatureCache) -> None:
    stream = open_stream(data).ordered("iid", 0)
    model = ImageLearner(nano, preset="paper")
    lesson, _ = prepare_lesson(model, stream, "iid", 0)

    def stop(_: Lesson) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teach(model, stream, lesson, save_nothing, cache=cache, progress=stop)
    with pytest.raises(StreamError, match="begun in the order iid with seed 0 and stopped at 64 of 210"):
        prepare_lesson(model, stream, "iid", 1)
    found, rest = prepare_lesson(model, stream, "iid", 0)
    assert found.position == 64
    assert len(rest.examples) == 210
    assert prepare_lesson(model, stream, "IID", 0)[0] == found  # the same order, spelt otherwise


@pytest.mark.slow
def test_other_data_is_added_and_the_lessons_are_remembered(
    nano: OnnxBackbone, data: Path, cache: FeatureCache, tmp_path: Path
) -> None:
    more = write_class_folder(tmp_path / "more", classes=4, each=5, first=500)
    model = ImageLearner(nano, preset="paper")
    for folder in (data, more):
        lesson, stream = prepare_lesson(model, open_stream(folder).ordered("class-iid", 0), "class-iid", 0)
        teach(model, stream, lesson, save_nothing, cache=cache)
    assert [lesson["learned"] for lesson in model.classifier.lessons_] == [210, 20]
    assert len(model.classes_) == 4
    _, rest = prepare_lesson(model, open_stream(data).ordered("iid", 9), "iid", 9)
    assert rest.examples == []
    lesson, rest = prepare_lesson(model, open_stream(data).ordered("iid", 9), "iid", 9, again=True)
    assert len(rest.examples) == lesson.examples == 210


def test_of_a_folder_that_changed_only_what_is_new_is_learned(
    nano: OnnxBackbone, cache: FeatureCache, tmp_path: Path
) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=40)
    (folder / "kind 0" / "broken.jpg").write_bytes(b"")
    model = ImageLearner(nano, preset="paper")

    def learn(order: str = "iid") -> int:
        lesson, stream = prepare_lesson(model, open_stream(folder).ordered(order, 0), order, 0)
        if stream.examples:
            teach(model, stream, lesson, save_nothing, cache=cache)
        return model.classifier.learner_.sample_count

    assert learn("few-shot-2") == 4
    assert learn("few-shot-5") == 10
    assert learn() == 80
    (folder / "kind 0" / "broken.jpg").unlink()
    assert learn() == 80
    picture(1, 999).save(folder / "kind 1" / "new.png")
    picture(0, 999).save(folder / "kind 0" / "000.png")  # another image under an old name
    assert learn() == 82


@pytest.mark.slow
def test_a_lesson_of_what_is_new_goes_on_where_it_stood(
    nano: OnnxBackbone, cache: FeatureCache, tmp_path: Path
) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=40)
    straight, stopped = ImageLearner(nano, preset="paper"), ImageLearner(nano, preset="paper")

    def learn(model: ImageLearner, progress: Callable[[Lesson], None] = lambda lesson: None) -> None:
        lesson, stream = prepare_lesson(model, open_stream(folder).ordered("iid", 0), "iid", 0)
        teach(model, stream, lesson, save_nothing, cache=cache, progress=progress)

    def stop(_: Lesson) -> None:
        raise KeyboardInterrupt

    for model in (straight, stopped):
        learn(model)
    write_class_folder(folder, classes=3, each=50, first=100)
    learn(straight)
    with pytest.raises(KeyboardInterrupt):
        learn(stopped, stop)
    assert stopped.classifier.learner_.sample_count == 80 + BATCH
    learn(stopped)
    assert_equal_models(stopped.classifier, straight.classifier)


def test_vectors_of_unknown_origin_do_not_mix_with_images(nano: OnnxBackbone, data: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", X=np.ones((3, 512)), y=np.array(["a", "b", "a"]))
    model = ImageLearner(nano, preset="paper")
    lesson, stream = prepare_lesson(model, open_stream(tmp_path / "f.npz"), "as-is", 0)
    with pytest.raises(StreamError, match="cannot be mixed"):
        teach(model, stream, lesson, save_nothing)


def test_a_video_that_breaks_off_is_learned_as_far_as_it_goes(nano: OnnxBackbone, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    path = tmp_path / "clip.avi"
    with av.open(str(path), "w") as container:
        video = container.add_stream("mjpeg", rate=10)
        video.width = video.height = 64
        video.pix_fmt = "yuvj420p"
        for i in range(40):
            container.mux(video.encode(av.VideoFrame.from_image(picture(0, i, 64))))
        container.mux(video.encode())
    content = bytearray(path.read_bytes())
    middle = content.index(b"\xff\xd8", len(content) // 2)
    content[middle : middle + 400] = bytes(400)
    path.write_bytes(content)
    model = ImageLearner(nano, preset="paper")
    lesson, stream = prepare_lesson(model, open_stream(path, label="stripes"), "as-is", 0)
    teach(model, stream, lesson, save_nothing)
    assert lesson.finished
    assert lesson.learned >= 15
    assert lesson.learned + lesson.skipped == len(stream.examples)
    kept = model.kept_thumbnails()
    assert len(kept) == lesson.learned
    assert set(kept) <= {f"clip.avi#{n}" for n in range(40)}


@pytest.mark.slow
def test_a_hostile_folder_never_stops_a_run(nano: OnnxBackbone, tmp_path: Path) -> None:
    hostile = write_hostile_folder(tmp_path / "data")
    stream = open_stream(tmp_path / "data").ordered("iid", 0)
    model = ImageLearner(nano, preset="paper")
    lesson, _ = prepare_lesson(model, stream, "iid", 0)
    teach(model, stream, lesson, save_nothing)
    listed = {example.path for example in stream.examples}
    assert lesson.position == len(stream.examples)
    assert lesson.learned == len(listed & hostile.good)
    assert {ref for ref, _ in lesson.skipped_named} == {str(path) for path in listed & hostile.bad}
    assert lesson.learned > 30
    assert lesson.skipped > 30
    assert all("\n" not in reason for _, reason in lesson.skipped_named)


def test_strict_stops_at_the_first_bad_file_and_keeps_what_was_learned(
    nano: OnnxBackbone, cache: FeatureCache, tmp_path: Path
) -> None:
    folder = write_class_folder(tmp_path / "data", classes=1, each=80)
    (folder / "kind 0" / "075.png").write_bytes(b"broken")
    stream = open_stream(folder).ordered("as-is")
    saved = []
    model = ImageLearner(nano, preset="paper")
    lesson, _ = prepare_lesson(model, stream, "as-is", 0)
    with pytest.raises(ImageError, match=r"075\.png"):
        teach(model, stream, lesson, lambda: saved.append(lesson.position), cache=cache, strict=True)
    assert saved == [64]
    assert model.classifier.learner_.sample_count == 64


def test_a_forgotten_photo_can_be_taught_again(nano: OnnxBackbone, tmp_path: Path) -> None:
    folder, model = write_class_folder(tmp_path, classes=2, each=6), ImageLearner(nano)
    (folder / "kind 0" / "broken.png").touch()
    for expected in (12, 1):
        stream = open_stream(folder).ordered("iid", 0)
        lesson, rest = prepare_lesson(model, stream, "iid", 0)
        teach(model, rest, lesson, save_nothing)
        assert lesson.learned == expected
        if expected == 12:
            assert lesson.spans == [[0, 12]]
            model.forget(stream.examples[7].ref)
    assert lesson.spans == [[12, 1]]
    assert model.classifier.learner_.sample_count == 12
