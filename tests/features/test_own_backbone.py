"""Any Python object with a name, a width and features can be the network."""

import copy
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll import Backbone, BackboneError, ImageLearner, InputError, OnnxBackbone, Seen, load
from exll.features.cache import FeatureCache
from exll.features.own_backbone import OwnBackbone
from exll.streams.stream import open_stream
from exll.teaching import prepare_lesson, teach
from pictures import picture, write_class_folder
from support import assert_equal_models

BINS = 4


class Histogram:
    """How often each shade of each colour occurs, with no more than is needed."""

    name = "histogram"
    width = 3 * BINS

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def features(self, images: list[Any]) -> Any:
        self.seen += images
        return [self.counted(np.asarray(image)) for image in images]

    def counted(self, pixels: Any) -> Any:
        return np.concatenate([np.histogram(pixels[..., c], BINS, (0, 256))[0] for c in range(3)]) / pixels.size


class Located(Histogram):
    """With an identity, a side, and maps: of each quarter."""

    name = "located"
    identity = "located-1"
    side = 40

    def see(self, image: Any) -> Seen:
        pixels = np.asarray(image)
        halves = [np.array_split(rows, 2, axis=1) for rows in np.array_split(pixels, 2, axis=0)]
        maps = np.array([[self.counted(part) for part in row] for row in halves], np.float32)  # (2, 2, width)
        maps = maps.transpose(2, 0, 1)[None]
        return Seen(image, ((0.0, 0.0, 1.0, 1.0),), maps.mean(axis=(2, 3))[0], maps)


def taught(network: Any, each: int = 6) -> ImageLearner:
    learner = ImageLearner(backbone=network, preset="paper")
    for seed in range(each):
        for kind in range(3):
            learner.learn(picture(kind, seed), f"kind {kind}", ref=f"{kind}-{seed}.png")
    return learner


def test_an_object_with_a_name_a_width_and_features_is_enough(tmp_path: Path) -> None:
    assert isinstance(Histogram(), Backbone)
    assert isinstance(OnnxBackbone("nano"), Backbone)
    learner = taught(Histogram())
    assert repr(learner) == "ImageLearner(backbone='histogram', looks=1, preset='paper'): 3 classes, 18 examples"
    for kind in range(3):
        assert learner.predict(picture(kind, 90)).label == f"kind {kind}"
    assert learner.explain(picture(1, 90)).hit.label == "kind 1"
    twin = copy.deepcopy(learner)
    twin.learn(picture(0, 50), "kind 0")
    assert learner.megacloud("kind 0").count == 6


def test_it_gets_upright_rgb_pictures_boxes_cut_out_and_large_ones_made_smaller(tmp_path: Path) -> None:
    network = Histogram()
    learner = ImageLearner(network)
    sideways = Image.new("L", (30, 20), 200)
    exif = sideways.getexif()
    exif[0x0112] = 6
    content = io.BytesIO()
    sideways.save(content, "PNG", exif=exif)
    learner.learn([content.getvalue(), np.zeros((50, 90, 3), np.uint8)], "x", box=[None, (10, 0, 50, 20)])
    learner.learn(Image.new("RGB", (2000, 1024)), "x")
    assert [image.size for image in network.seen] == [(20, 30), (40, 20), (1000, 512)]
    assert {image.mode for image in network.seen} == {"RGB"}
    small = Located()
    ImageLearner(small).learn(Image.new("RGB", (80, 160)), "x")
    assert small.seen[0].size == (40, 80)


def test_without_a_map_there_is_no_evidence_map_and_that_is_said() -> None:
    learner = taught(Histogram(), 2)
    with pytest.raises(
        BackboneError, match="the backbone histogram gives no feature map, so no evidence map can be made"
    ):
        learner.evidence_map(picture(0, 0), "kind 0")
    case = learner.case(picture(0, 0), "x.png")
    assert case.maps == ()
    assert case.picture is not None


def test_with_see_there_are_evidence_maps_that_sum_to_the_score() -> None:
    learner = taught(Located())
    seen = learner.see(picture(1, 60))
    found = learner.evidence_map(seen, "kind 1", "kind 0")
    inference = learner.classifier.learner_.inference()
    unit = seen.vector.astype(np.float64) / np.linalg.norm(seen.vector.astype(np.float64))
    scores = inference.scores(unit[None], "global")[0]
    labels = inference.labels
    assert found.score == pytest.approx(scores[labels.index("kind 1")] - scores[labels.index("kind 0")])
    assert len(learner.case(picture(1, 60), "x.png").maps) == 2


def test_a_file_remembers_its_name_and_identity_and_wants_the_object_again(tmp_path: Path) -> None:
    learner, path = taught(Located()), tmp_path / "m.exll"
    learner.save(path)
    again = load(path, ImageLearner, backbone=Located())
    assert_equal_models(learner.classifier, again.classifier)
    assert again.predict(picture(2, 70)) == learner.predict(picture(2, 70))
    with pytest.raises(
        BackboneError, match=r"taught with the backbone located, a Python object \(.*Located\); pass it"
    ):
        load(path)
    other = Located()
    other.identity = "located-2"
    for wrong in (other, Histogram(), "nano"):
        with pytest.raises(BackboneError, match=r"backbone located \(identity located-1\), and .* is another one"):
            load(path, backbone=wrong)


def test_without_an_identity_it_is_the_name_and_the_width(tmp_path: Path) -> None:
    taught(Histogram(), 1).save(tmp_path / "m.exll")
    renamed = Histogram()
    renamed.name = "colours"
    with pytest.raises(BackboneError, match="is another one"):
        load(tmp_path / "m.exll", backbone=renamed)
    assert load(tmp_path / "m.exll", ImageLearner, backbone=Histogram()).backbone.identity == "histogram/12"


def test_a_whole_folder_can_be_taught_with_a_cache(tmp_path: Path) -> None:
    folder = write_class_folder(tmp_path / "data", classes=2, each=20)
    cache, models = FeatureCache(tmp_path / "cache"), []
    for _ in range(2):
        network = Located()
        models.append(ImageLearner(network))
        stream = open_stream(folder).ordered("iid", 0)
        lesson, rest = prepare_lesson(models[-1], stream, "iid", 0)
        teach(models[-1], rest, lesson, lambda: None, cache=cache)
        assert lesson.learned == 40
    assert network.seen == []  # the second time all came from the cache
    assert_equal_models(models[0].classifier, models[1].classifier)


class Wrong(Histogram):
    def __init__(self, given: Any) -> None:
        super().__init__()
        self.given = given

    def features(self, images: list[Any]) -> Any:
        return self.given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((1, 5)), r"must give 12 numbers for each of 1 images; got shape \(1, 5\)"),
        (np.zeros(12), r"got shape \(12,\)"),
        ([[1.0], [1.0, 2.0]], "gave no table of numbers"),
        ("nothing", "gave no table of numbers"),
    ],
)
def test_what_it_must_not_give_is_one_sentence_and_changes_nothing(given: Any, message: str) -> None:
    learner = ImageLearner(Wrong(given))
    with pytest.raises(BackboneError, match=message):
        learner.learn(picture(0, 0), "a")
    assert not hasattr(learner, "classes_")


def test_an_object_that_cannot_serve_is_refused_at_once() -> None:
    with pytest.raises(BackboneError, match="this object has no name and no width and no features"):
        ImageLearner(object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="looks=2 was given, but the backbone was opened with looks=1"):
        ImageLearner(Histogram(), looks=2)
    with pytest.raises(BackboneError, match="this SimpleNamespace has no features"):
        OwnBackbone(SimpleNamespace(name="x", width=3))
