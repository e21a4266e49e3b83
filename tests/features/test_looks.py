from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll.errors import ImageError, InputError
from exll.features.backbone import Backbone
from exll.features.extract import extract
from exll.features.image import read_image
from exll.features.looks import check_region, parse_box, region_ref, split_region_ref
from exll.features.preprocessing import ResizeRule
from networks import METADATA, write_network
from pictures import picture


@pytest.fixture(scope="module")
def nano() -> Backbone:
    return Backbone("nano", threads=1)


def test_two_looks_are_the_whole_and_the_centre(nano: Backbone) -> None:
    pixels = np.zeros((200, 400, 3), np.uint8)
    pixels[35:165, 135:265] = 255  # the middle 130 x 130
    view = nano.prepare(pixels)
    whole, centre = view.inputs
    np.testing.assert_allclose(view.boxes, [(0, 0, 1, 1), (135 / 400, 35 / 200, 265 / 400, 165 / 200)])
    assert (centre >= 250).all()
    assert 0.15 < (whole == 255).mean() < 0.27  # 130 x 130 of 200 x 400
    assert not whole[0].any()
    assert not whole[:, 0].any()


def test_the_vector_is_the_sum_of_the_looks_at_unit_length(nano: Backbone) -> None:
    image = picture(1, 2, 200)
    left, top, right, bottom = (round(200 * edge) for edge in nano.prepare(image).boxes[1])
    once = Backbone("nano", threads=1, resize=ResizeRule("squash"))
    looks = once.features([image, image.crop((left, top, right, bottom))])
    expected = (looks / np.linalg.norm(looks, axis=1, keepdims=True)).sum(axis=0)
    np.testing.assert_allclose(nano.features([image])[0], expected, atol=0.02)  # the crop's edge is resized otherwise
    seen = nano.see(image)
    np.testing.assert_array_equal(seen.vector, nano.features([image])[0])
    assert seen.maps is not None
    np.testing.assert_allclose(seen.maps.mean(axis=(2, 3)).sum(axis=0), seen.vector, atol=1e-6)


def test_looks_are_part_of_the_identity_and_one_look_is_as_it_was(nano: Backbone) -> None:
    once = Backbone("nano", threads=1, looks=1)
    assert once.identity != nano.identity
    assert (
        once.identity == "8e31a653c009a4c69cf63754dd9b2d98213da7c61adf68618e04131d83c1d94e"
    )  # which models of before name
    with pytest.raises(InputError, match="looks must be 1 or 2; got 3"):
        Backbone("nano", looks=3)
    with pytest.raises(InputError, match="resize is for looks=1"):
        Backbone("nano", resize=ResizeRule("squash"), looks=2)


def test_a_look_at_nothing_counts_for_nothing(tmp_path: Path) -> None:
    backbone = Backbone(write_network(tmp_path / "colour.onnx", metadata={**METADATA, "interpolation": "bilinear"}))
    pixels = np.zeros((100, 100, 3), np.uint8)
    assert not backbone.features([pixels]).any()
    pixels[:10] = (0, 0, 200)  # outside the centre
    np.testing.assert_allclose(backbone.features([pixels]), [[0, 0, 1]], atol=1e-6)


def test_a_region_is_seen_as_an_image_of_its_own(nano: Backbone, tmp_path: Path) -> None:
    photo = Image.new("RGB", (200, 100))
    photo.paste(picture(0, 1, 100), (0, 0))
    photo.paste(picture(2, 1, 100), (100, 0))
    path = tmp_path / "two.png"
    photo.save(path)
    alone = nano.features([picture(0, 1, 100), picture(2, 1, 100)])
    boxes: list[Any] = [(0, 0, 100, 100), [100, 0, 200, 100]]
    np.testing.assert_allclose(nano.features([path, path], boxes), alone, rtol=1e-5, atol=1e-6)
    assert nano.see(path, boxes[1]).picture.size == (100, 100)
    found = [item.vector for item in extract([(path, (0, 0, 100, 100)), path], nano)]
    np.testing.assert_allclose(np.array(found), nano.features([path, path], [boxes[0], None]), rtol=1e-5, atol=1e-6)


def test_boxes_are_in_pixels_of_the_upright_image(nano: Backbone, tmp_path: Path) -> None:
    photo = Image.new("RGB", (120, 60), "black")
    photo.paste((255, 0, 0), (100, 40, 120, 60))
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter: the upright image is 60 x 120
    photo.save(tmp_path / "turned.jpg", exif=exif, quality=95)
    upright = np.asarray(read_image(tmp_path / "turned.jpg")).astype(int)
    rows, columns = np.nonzero(upright[:, :, 0] > 200)
    box = (int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
    assert np.asarray(nano.prepare(tmp_path / "turned.jpg", box).picture)[5:-5, 5:-5, 0].min() > 200
    assert nano.prepare(tmp_path / "turned.jpg", (0, 60, 60, 120)).picture.size == (60, 60)


@pytest.mark.parametrize("box", [(0, 0, 11, 5), (-1, 0, 5, 5), (5, 0, 5, 5), (6, 0, 5, 5), (0, 0, 10, 6), (0, 5, 3, 5)])
def test_a_box_outside_the_image_is_one_sentence(box: tuple[int, int, int, int]) -> None:
    with pytest.raises(ImageError, match=r"must lie within the image, which has 10 x 5 pixels.*; got \("):
        check_region(box, (10, 5))


@pytest.mark.parametrize("box", [(0, 0, 5), "0,0,5,5", (0, 0, 5.5, 5), (0, 0, "5", 5), 7, (0, 0, float("nan"), 5)])
def test_a_box_that_is_none_is_one_sentence(box: Any) -> None:
    with pytest.raises(InputError, match="a box must be four whole numbers"):
        check_region(box, (10, 5))


def test_boxes_can_be_written_and_read() -> None:
    assert parse_box(" 1, 2,3 ,4") == (1, 2, 3, 4)
    for text in ("1,2,3", "1,2,3,4,5", "a,b,c,d", "-1,2,3,4", "1.5,2,3,4", ""):
        with pytest.raises(InputError, match="like 10,20,110,90"):
            parse_box(text)
    assert split_region_ref(region_ref("a#b.jpg", (1, 2, 3, 4))) == ("a#b.jpg", (1, 2, 3, 4))
    assert split_region_ref("clip.mp4#120") == ("clip.mp4#120", None)
    assert region_ref("a.jpg", None) == "a.jpg"
