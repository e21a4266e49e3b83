import pytest

from exll.errors import ImageError
from exll.features.image import read_image
from exll.features.other_kinds import looks_like

KINDS = {
    b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00": "a video",
    b"\x1aE\xdf\xa3\x01\x00": "a video",
    b"RIFF\x24\x00\x00\x00AVI LIST": "a video",
    b"\xff\x0a\x00\x00": "a JPEG XL image; export it as JPEG",
    b"%PDF-1.4\n%\xe2\xe3": "a PDF document",
    b"PK\x03\x04\x14\x00": "a zip archive; unpack it first",
    b'<svg xmlns="http': "an SVG drawing; export it as PNG",
    b"<?xml version": "an SVG drawing or another XML file",
    b"<!DOCTYPE html>": "a web page",
    b"version https://git-lfs.github.com": "a pointer to a file that Git LFS has not fetched",
    b"name,label\n": "text",
    b"\x00\x01\x02\x03": "something unknown",
    b"caf\xc3\xa9": "something unknown",
}


@pytest.mark.parametrize("head", KINDS, ids=KINDS.values())
def test_a_file_that_is_no_image_is_called_what_it_looks_like(head: bytes) -> None:
    assert looks_like(head) == KINDS[head]
    with pytest.raises(ImageError) as caught:
        read_image(head)
    formats = "JPEG, PNG, WebP, GIF, TIFF, BMP, HEIC, AVIF"
    assert str(caught.value) == f"the image is none of {formats}; it looks like {KINDS[head]}."
