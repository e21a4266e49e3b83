import numpy as np
import pytest
from PIL import Image

from exll import ImageLearner
from exll.errors import BackboneError, InputError
from exll.explain.evidence_map import AGAINST, FOR, GRID, EvidenceMap, overlay
from exll.features.backbone import DEFAULT, OnnxBackbone, Seen
from networks import write_network
from pictures import picture
from support import PRESET_NAMES


@pytest.fixture(scope="module", params=[(preset, name) for preset in PRESET_NAMES for name in ("nano", DEFAULT)])
def eye(request: pytest.FixtureRequest) -> ImageLearner:
    preset, name = request.param
    learner = ImageLearner(OnnxBackbone(name, threads=1), preset=preset)
    for seed in range(8):
        for kind in range(3):
            learner.learn(picture(kind, seed), f"kind {kind}")
    return learner


def test_map_plus_offset_is_the_score(eye: ImageLearner) -> None:
    asked = eye.classifier.learner_.inference()
    for seed in range(5):
        image = picture(seed % 3, 100 + seed)
        vector = eye.backbone.features([image])[0].astype(np.float64)
        scores = asked.scores((vector / np.linalg.norm(vector))[None], "global")[0]
        for k, label in enumerate(asked.labels):
            found = eye.evidence_map(image, label)
            assert found.values.shape == (GRID, GRID)
            assert found.score == pytest.approx(scores[k], abs=1e-5)
        difference = eye.evidence_map(image, asked.labels[0], asked.labels[1])
        assert difference.score == pytest.approx(scores[0] - scores[1], abs=1e-5)


def test_places_lie_where_the_looks_are(eye: ImageLearner) -> None:
    seen = eye.see(picture(0, 100, 120))
    assert seen.maps is not None
    maps = np.zeros_like(seen.maps)
    maps[1, :, 0, 0] = seen.maps[1, :, 0, 0]  # the upper left place of the centre alone
    alone = eye.evidence_map(Seen(seen.picture, seen.boxes, seen.vector, maps), "kind 0")
    rows, columns = np.nonzero(alone.values)
    left, top, right, _ = seen.boxes[1]
    place = (right - left) / maps.shape[3]
    for found, start in ((rows, top), (columns, left)):
        middle = np.average((found + 0.5) / GRID)
        assert start <= middle <= start + place
        assert np.ptp(found) / GRID <= 2 * place


def test_a_picture_much_wider_than_high_keeps_all_its_evidence(eye: ImageLearner) -> None:
    asked = eye.classifier.learner_.inference()
    seen = eye.see(picture(1, 7, 400).resize((4000, 40)))
    vector = seen.vector.astype(np.float64)
    score = asked.scores((vector / np.linalg.norm(vector))[None], "global")[0, 0]
    assert eye.evidence_map(seen, asked.labels[0]).score == pytest.approx(score, abs=1e-5)


def test_places_that_speak_for_the_class_are_orange_and_those_against_blue() -> None:
    values = np.zeros((4, 4))
    values[0, 0], values[3, 3] = 1.0, -1.0
    crop = Image.new("RGB", (128, 128), (128, 128, 128))
    picture_ = np.asarray(overlay(crop, EvidenceMap("a", None, values, 0.0))).astype(float)
    for corner, colour in (((4, 4), FOR), ((123, 123), AGAINST)):
        assert np.abs(picture_[corner] - colour).max() < 60
    np.testing.assert_allclose(picture_[4, 123], 128, atol=12)
    for same in (0.0, 3.0):
        flat = overlay(crop, EvidenceMap("a", None, np.full((4, 4), same), -48.0))
        assert np.asarray(flat).min() == np.asarray(flat).max() == 128


def test_a_map_is_coloured_by_how_its_places_differ() -> None:
    values = np.zeros((8, 8))
    values[:4] = 5.0 + np.arange(32).reshape(4, 8) / 10  # the network saw the upper half, and all of it speaks for "a"
    crop = Image.new("RGB", (128, 128), (128, 128, 128))
    coloured = np.asarray(overlay(crop, EvidenceMap("a", None, values, -200.0))).astype(float)
    red, blue = coloured[..., 0], coloured[..., 2]
    assert blue[4, 4] > red[4, 4] + 50
    assert red[52, 124] > blue[52, 124] + 50
    np.testing.assert_allclose(coloured[100:], 128, atol=2)


def test_a_backbone_with_no_map_and_an_unknown_class_say_so(eye: ImageLearner, tmp_path) -> None:  # type: ignore[no-untyped-def]
    plain = ImageLearner(write_network(tmp_path / "n.onnx"), preset="paper")
    plain.learn(picture(0, 0), "a")
    with pytest.raises(BackboneError, match="gives no feature map"):
        plain.evidence_map(picture(0, 0), "a")
    with pytest.raises(InputError, match="no class 'x'"):
        eye.evidence_map(picture(0, 0), "x")
