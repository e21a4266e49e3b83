"""What a file seems to be that cannot be read as an image, in words for an error message."""

_STARTS = (  # where, what, in words
    (4, b"ftyp", "a video"),
    (0, b"\x1aE\xdf\xa3", "a video"),
    (8, b"AVI ", "a video"),
    (0, b"\xff\x0a", "a JPEG XL image; export it as JPEG"),
    (0, b"\x00\x00\x00\x0cJXL ", "a JPEG XL image; export it as JPEG"),
    (0, b"%PDF", "a PDF document"),
    (0, b"PK\x03\x04", "a zip archive; unpack it first"),
    (0, b"<svg", "an SVG drawing; export it as PNG"),
    (0, b"<?xml", "an SVG drawing or another XML file"),
    (0, b"<", "a web page"),
    (0, b"version https://git-lfs", "a pointer to a file that Git LFS has not fetched"),
)


def looks_like(head: bytes) -> str:
    """From its first bytes.

    >>> looks_like(b"%PDF-1.7")
    'a PDF document'
    >>> looks_like(b"not an image")
    'text'
    """
    for at, start, words in _STARTS:
        if head[at:].startswith(start):
            return words
    if head.isascii() and all(byte >= 32 or byte in b"\t\n\r" for byte in head):
        return "text"
    return "something unknown"
