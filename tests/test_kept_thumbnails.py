"""Small pictures in the model file: which are kept, that they travel, and that nobody smuggles in others."""

import copy
import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from commands import exll, exll_json
from exll import ImageLearner, ModelFileError, load
from exll.errors import InputError
from exll.explain.thumbnails import Thumbnails
from exll.features.image import read_image
from exll.kept_thumbnails import BLOCK
from exll.saving.model_file import read_model, write_model
from exll.types import RecordsKind
from exll.vectors import normalise
from pictures import picture, write_class_folder

COUNT = 150
PICTURES: list[Any] = [picture(i % 3, i) for i in range(COUNT)]
LABELS = [f"kind {i % 3}" for i in range(COUNT)]


class Colours:
    """Eight by eight pixels: a network that takes no time."""

    name, width, side = "colours", 192, 16

    def features(self, images: list[Any]) -> Any:
        return [np.asarray(image.resize((8, 8)), np.float32).ravel() for image in images]


def new(**parameters: Any) -> ImageLearner:
    return ImageLearner(Colours(), **parameters)


def saved(learner: ImageLearner, folder: Path) -> bytes:
    learner.save(folder / "m.exll")
    return (folder / "m.exll").read_bytes()


def position(name: str) -> int:
    return int(name.removeprefix("sample ")) - 1


@pytest.mark.parametrize("records", ["vectors", "refs", 4])
def test_the_pictures_kept_depend_on_the_sequence_of_samples_alone(records: RecordsKind, tmp_path: Path) -> None:
    whole = new(records=records)
    whole.learn(PICTURES, LABELS)
    parts, start = new(records=records), 0
    for size in (1, 2, 60, 1, 70, 3, 13):
        parts.learn(PICTURES[start : start + size], LABELS[start : start + size])
        parts = copy.deepcopy(parts) if size == 1 else parts
        parts.save(tmp_path / "stopped.exll")
        parts = load(tmp_path / "stopped.exll", ImageLearner, backbone=Colours())
        start += size
    assert start == COUNT
    assert saved(parts, tmp_path) == saved(whole, tmp_path)
    assert whole.kept_thumbnails()


@pytest.mark.parametrize("records", ["vectors", "refs"])
def test_the_samples_nearest_each_centre_are_kept_and_the_last_few(records: RecordsKind) -> None:
    learner = new(records=records, thumbnails=2, thumbnail_side=32)
    learner.learn(PICTURES[:BLOCK], LABELS[:BLOCK])
    inner, vectors = learner.classifier.learner_, normalise(learner.vectors(PICTURES[:BLOCK]))
    centres, ids, _ = inner.centres
    expected = set()
    for centre, prototype in zip(centres, ids.tolist(), strict=True):
        own = [record.position for record in inner.records(prototype)]
        if records == "vectors":
            own = [own[i] for i in np.linalg.norm(vectors[own] - centre, axis=1).argsort(kind="stable")]
        expected |= set(own[:2])
    assert {position(name) for name in learner.kept_thumbnails()} == expected
    assert {max(read_image(content).size) for content in learner.kept_thumbnails().values()} == {32}
    learner.learn(PICTURES[BLOCK : BLOCK + 9], LABELS[BLOCK : BLOCK + 9])
    assert {position(name) for name in learner.kept_thumbnails()} == expected | set(range(BLOCK, BLOCK + 9))


def test_pictures_are_kept_of_every_kind_of_image_and_of_the_box_only(tmp_path: Path) -> None:
    image = Image.new("RGB", (200, 100), "red")
    image.paste("blue", (100, 0, 200, 100))
    image.save(tmp_path / "a.png")
    file = io.BytesIO()
    image.save(file, "PNG")
    learner, left = new(), (0, 0, 100, 100)
    for source in (tmp_path / "a.png", file.getvalue(), np.asarray(image), image):
        learner.learn(source, "shelf")
        learner.learn(source, "shelf", box=left)
    whole, part = list(learner.kept_thumbnails().values())[::2], list(learner.kept_thumbnails().values())[1::2]
    assert len(set(whole)) == len(set(part)) == 1
    assert read_image(whole[0]).size == (96, 48)
    assert read_image(part[0]).size == (96, 96)
    assert np.asarray(read_image(part[0]))[:, :, 2].max() < 60  # nothing blue


@pytest.mark.parametrize(("parameters", "kept"), [({"thumbnails": 0}, 0), ({"records": "none"}, 0), ({}, 3)])
def test_nothing_is_kept_where_it_is_switched_off_or_nobody_could_find_it(
    parameters: dict[str, Any], kept: int, tmp_path: Path
) -> None:
    learner = new(**parameters)
    learner.learn(PICTURES[:3], LABELS[:3])
    assert len(learner.kept_thumbnails()) == kept
    learner.save(tmp_path / "m.exll")
    assert exll_json("info", tmp_path / "m.exll")["thumbnails"] == kept
    again = load(tmp_path / "m.exll", ImageLearner, backbone=Colours())
    assert again.thumbnails == learner.thumbnails


def test_a_rejected_input_leaves_the_pictures_alone_and_a_new_beginning_none() -> None:
    learner = new()
    learner.learn(PICTURES[:100], LABELS[:100])
    before = learner.kept_thumbnails()
    with pytest.raises(InputError):
        learner.learn(PICTURES[:100], [*LABELS[:99], 7])
    with pytest.raises(InputError, match="one image for each vector"):
        learner.learn_vectors(learner.vectors(PICTURES[:2]), LABELS[:2], images=PICTURES[:1])
    assert learner.kept_thumbnails() == before
    assert learner.classifier.learner_.sample_count == 100
    learner.rename_class("kind 0", "kind 1", merge=True)
    assert learner.kept_thumbnails() == before
    learner.classifier.fit(learner.vectors(PICTURES[:2]), LABELS[:2])
    assert learner.kept_thumbnails() == {}


def webp(size: tuple[int, int], **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size).save(file, "WEBP", **options)
    return file.getvalue()


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "PNG")
    return file.getvalue()


FORGED = {
    "too large": webp((97, 8)),
    "lossless": webp((8, 8), lossless=True),
    "animated": webp((8, 8), save_all=True, append_images=[Image.new("RGB", (8, 8), "red")], duration=9),
    "another format": png(),
    "cut": webp((8, 8))[:-2],
    "longer": webp((8, 8)) + b"x",
    "empty": b"",
    "no picture": b"RIFF\x20\0\0\0WEBPVP8 ",
}


@pytest.mark.parametrize("way", FORGED)
def test_what_is_no_small_picture_is_refused_in_one_sentence(way: str, tmp_path: Path) -> None:
    learner, path = new(), tmp_path / "m.exll"
    learner.learn(PICTURES[:1], LABELS[:1])
    learner.save(path)
    file, content = read_model(path), FORGED[way]
    forged = {"thumbnails.webp": np.frombuffer(content, np.uint8), "thumbnails.offsets": np.array([0, len(content)])}
    write_model(path, file.metadata, {**file.tensors, **forged})
    with pytest.raises(ModelFileError, match="does not hold a whole model: a thumbnail is"):
        load(path, backbone=Colours())
    result = exll("rules", path)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    "tensors",
    [
        {"thumbnails.positions": np.array([0, 1, 3])},
        {"thumbnails.positions": np.array([0, 0, 1])},
        {"thumbnails.positions": np.array([-1, 0, 1])},
        {"thumbnails.positions": np.array([0, 1])},
        {"thumbnails.positions": np.array([], np.int64)},
        {"thumbnails.positions": np.arange(9999)},
        {"thumbnails.offsets": np.array([0, 9, 3, 4])},
        {"thumbnails.webp": np.zeros(12, np.float32)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(tensors: dict[str, Any], tmp_path: Path) -> None:
    learner, path = new(), tmp_path / "m.exll"
    learner.learn(PICTURES[:3], LABELS[:3])
    learner.save(path)
    file = read_model(path)
    write_model(path, file.metadata, {**file.tensors, **tensors})
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(path, backbone=Colours())
    write_model(path, {**file.metadata, "thumbnail_side": 10**9}, file.tensors)
    with pytest.raises(ModelFileError, match="'thumbnail_side' parameter"):
        load(path, backbone=Colours())


@pytest.mark.fuzz
def test_pictures_with_bytes_changed_are_refused_or_shown_or_said_to_be_unreadable(tmp_path: Path) -> None:
    learner, path, rng = new(thumbnail_side=24), tmp_path / "m.exll", np.random.default_rng(0)
    learner.learn(PICTURES[:3], LABELS[:3])
    learner.save(path)
    file, outcomes = read_model(path), set()
    for _ in range(150):
        tensors = dict(file.tensors)
        name = str(rng.choice(["thumbnails.webp", "thumbnails.offsets", "thumbnails.positions"], p=[0.8, 0.1, 0.1]))
        tensors[name] = tensors[name].copy()
        places = rng.integers(0, min(len(tensors[name]), int(rng.choice([30, 9999]))), 2)
        tensors[name][places] = rng.integers(0, 256, 2)
        write_model(path, file.metadata, tensors)
        try:
            kept = load(path, ImageLearner, backbone=Colours()).kept_thumbnails()
        except ModelFileError:
            outcomes.add("refused")
            continue
        for shown in map(Thumbnails([], kept=kept).of, kept):
            outcomes.add(shown.missing or "shown")
            assert max(shown.width, shown.height) <= 24
    assert outcomes >= {"refused", "shown"}


def test_a_picture_whose_pixels_are_damaged_is_said_to_be_unreadable() -> None:
    content = webp((8, 8))
    shown = Thumbnails([], kept={"a.png": content[:20] + bytes(len(content) - 20)}).of("a.png")
    assert (shown.uri, shown.missing) == (None, "the picture in the model cannot be read")


def test_a_model_without_thumbnails_opens_and_keeps_those_of_what_comes(tmp_path: Path) -> None:
    learner, path = new(), tmp_path / "m.exll"
    learner.learn(PICTURES[:3], LABELS[:3])
    learner.save(path)
    file = read_model(path)
    old = {name: value for name, value in file.metadata.items() if not name.startswith("thumbnail")}
    write_model(path, old, {name: value for name, value in file.tensors.items() if not name.startswith("thumb")})
    again = load(path, ImageLearner, backbone=Colours())
    assert again.kept_thumbnails() == {}
    again.learn(PICTURES[3], LABELS[3], ref="new.png")
    assert list(again.kept_thumbnails()) == ["new.png"]


def test_pages_have_pictures_after_the_folder_was_moved(tmp_path: Path) -> None:
    """Those in the model; under --images the files themselves, which are larger."""
    folder, model = write_class_folder(tmp_path / "data", classes=3, each=12), tmp_path / "m.exll"
    assert exll("learn", folder, "-m", model, "--backbone", "nano").returncode == 0
    picture(2, 99).save(tmp_path / "new.png")
    shutil.move(folder, tmp_path / "elsewhere")
    pages = {
        "why.html": ("explain", model, tmp_path / "new.png", "-o"),
        "rules.html": ("rules", model, "--html"),
        "map.html": ("map", model, "-o"),
    }
    for name, command in pages.items():
        result = exll(*command, tmp_path / name)
        assert result.returncode == 0, result.stderr
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert page.count("<img") > 3
        assert "file not found" not in page or "pictures were not found" in result.stderr
        assert result.stderr.count("\n") <= 1
        found = exll(*command, tmp_path / name, "--images", tmp_path / "elsewhere")
        assert (found.returncode, found.stderr) == (0, "")
        assert "file not found" not in (tmp_path / name).read_text(encoding="utf-8")
    assert "there is no folder" in exll("rules", model, "--html", "r.html", "--images", tmp_path / "no").stderr


def test_missing_pictures_are_counted_once_for_a_page(tmp_path: Path) -> None:
    model = tmp_path / "m.exll"
    folder = write_class_folder(tmp_path / "data", classes=2, each=3)
    assert exll("learn", folder, "-m", model, "--backbone", "nano", "--thumbnails", "0").returncode == 0
    shutil.rmtree(folder)
    result = exll("rules", model, "--html", tmp_path / "rules.html")
    assert result.stderr == (
        "6 of 6 pictures were not found, neither as files nor in the model; --images ROOT says where they are now.\n"
    )
    again = exll("learn", write_class_folder(folder), "-m", model, "--thumbnails", "2")
    assert "was made with thumbnails 0, which cannot be changed to 2" in again.stderr


def test_a_file_of_the_same_name_in_another_class_is_not_shown(tmp_path: Path) -> None:
    write_class_folder(tmp_path / "new", classes=2, each=1)
    moved = Thumbnails([], images=tmp_path / "new")
    assert moved.of("/gone/kind 1/000.png").uri is not None
    wrong = Thumbnails([], images=tmp_path / "new" / "kind 0")
    assert wrong.of("/gone/kind 1/000.png").uri is None


def test_a_model_whose_classes_became_one_opens_again_with_its_pictures(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    learner = ImageLearner("nano", max_prototypes=2)
    images: list[Any] = [rng.integers(0, 255, (16, 16, 3)).astype(np.uint8) for _ in range(128)]
    learner.learn(images, [f"c{i % 16}" for i in range(128)])
    for k in range(1, 16):
        learner.rename_class(f"c{k}", "c0", merge=True)
    learner.save(tmp_path / "m.exll")
    found = load(tmp_path / "m.exll", ImageLearner)
    assert found.kept_thumbnails() == learner.kept_thumbnails()
