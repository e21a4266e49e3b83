"""The boxes of a HEIC or AVIF file, as far as they say how many pixels there will be and whether the file is whole."""

import re
import struct
from collections.abc import Iterator

SIZE = re.compile(rb"ispe\0\0\0\0(.{8})", re.DOTALL)
# An image that is put together from others: in a grid, as telephones do it, or laid over one another.
COMPOSED = re.compile(rb"infe(?:\x02...(..)|\x03...(.{4}))..(grid|iovl)", re.DOTALL)


def ends_early(content: bytes) -> bool:
    """Whether a box with pixels (mdat) is not whole. What follows these boxes may be anything."""
    last, found = 0, False
    for kind, _, last in _boxes(content, 0):
        if kind == b"mdat":
            found = True
            if last > len(content):
                return True
    return not found and last > len(content)


def announced_sizes(content: bytes) -> Iterator[tuple[int, int]]:
    """Every width and height for which a decoder may take memory: of the images, of their parts, before a crop.

    The size that PIL gives is that of the picture after all this; it may be much smaller.
    """
    for kind, start, end in _boxes(content, 0):
        if kind == b"meta":
            meta = content[start:end]
            yield from (struct.unpack(">II", size) for size in SIZE.findall(meta))
            composed = {int.from_bytes(short or long): kind for short, long, kind in COMPOSED.findall(meta)}
            if composed:
                yield from _composed_sizes(content, meta, composed)


def _boxes(content: bytes, at: int) -> Iterator[tuple[bytes, int, int]]:
    """The kind of every box, and where its content starts and ends."""
    while at + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        start = at + 8
        if size == 1 and at + 16 <= len(content):  # too long for 32 bits
            (size,) = struct.unpack_from(">Q", content, start)
            start += 8
        end = at + size if size else len(content)
        if end < start:
            return
        yield kind, start, end
        at = end


def _composed_sizes(content: bytes, meta: bytes, composed: dict[int, bytes]) -> Iterator[tuple[int, int]]:
    """What a composed image says of its own size stands at its beginning, wherever that lies."""
    inside = {kind: meta[start:end] for kind, start, end in _boxes(meta, 4)}
    for item, method, offset in _places(inside.get(b"iloc", b"")):
        if item in composed:
            data = inside.get(b"idat", b"") if method == 1 else content
            before = 4 if composed[item] == b"grid" else 10
            _, flags = struct.unpack_from(">BB", data, offset)
            width, height = struct.unpack_from(">II" if flags & 1 else ">HH", data, offset + before)
            yield width, height


def _places(iloc: bytes) -> Iterator[tuple[int, int, int]]:
    """For every item its number, what its place is counted from (0: the file, 1: the box idat), and its place."""
    at = 4

    def number(length: int) -> int:
        nonlocal at
        if at + length > len(iloc):
            raise ValueError("the table of items ends early")
        at += length
        return int.from_bytes(iloc[at - length : at])

    version = iloc[0] if iloc else 0
    sizes = number(2)
    long = 4 if version == 2 else 2
    for _ in range(number(long)):
        item = number(long)
        method = number(2) & 15 if version else 0
        number(2)  # another file; none is opened
        base, offsets = number(sizes >> 4 & 15), []
        for _ in range(number(2)):
            number(sizes & 15 if version else 0)
            offsets.append(base + number(sizes >> 12))
            number(sizes >> 8 & 15)
        yield item, method, offsets[0] if offsets else 0
