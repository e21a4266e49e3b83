from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll.errors import ImageError, InputError
from exll.features.backbone import OnnxBackbone
from exll.features.cache import FeatureCache
from exll.features.extract import extract
from exll.features.image import read_image
from exll.features.regions import check_region, parse_box, region_ref, split_region_ref
from pictures import picture


@pytest.fixture(scope="module")
def nano() -> OnnxBackbone:
    return OnnxBackbone("nano", threads=1)


def test_a_region_is_seen_as_an_image_of_its_own(nano: OnnxBackbone, tmp_path: Path) -> None:
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
    cache = FeatureCache(tmp_path / "cache.sqlite")
    for _ in range(2):  # the cache does not take one region for another
        again = [item.vector for item in extract([(path, (0, 0, 100, 100)), path], nano, cache)]
        np.testing.assert_array_equal(np.array(again), np.array(found))
        other = next(extract([(path, (100, 0, 200, 100))], nano, cache)).vector
        assert other is not None
        np.testing.assert_allclose(other, alone[1], rtol=1e-5, atol=1e-6)


def test_boxes_are_in_pixels_of_the_upright_image(nano: OnnxBackbone, tmp_path: Path) -> None:
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
