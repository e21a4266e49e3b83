"""Groups that a caller names: samples that came together, from one video, place or day."""

from collections.abc import Hashable
from hashlib import blake2b


def group_number(name: Hashable) -> int:
    """A number below zero for a named group, the same for the same name."""
    digest = blake2b(repr(name).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return -1 - (int.from_bytes(digest, "little") >> 1)
