"""The folders of a dataset and the classes they stand for. A label may hold characters that the name of a folder may
not: then the manifest says which class it is. Older zips had a table from such folders to their labels instead."""

import itertools
import json
import re
import unicodedata
from collections.abc import Iterable

from exll.streams.folder import LITTER
from exll.studio.errors import UnusableError
from exll.studio.manifest import MANIFEST
from exll.studio.zip_reading import ZipReader

TABLE = "exll-labels.json"
MOST_TABLE_BYTES = 10_000_000
LONGEST_FOLDER_BYTES = 200
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # no folders on Windows


def folders_of(labels: Iterable[str]) -> dict[str, str]:
    """A folder for every label, no two the same on any system. A label that can be the name of a folder is its name.

    >>> folders_of(["a/b", "a_b", "mug", "Mug", "nul"])
    {'a_b': 'a_b', 'mug': 'mug', 'Mug': 'Mug 2', 'a/b': 'a_b 2', 'nul': 'nul_'}
    """
    folders: dict[str, str] = {}
    taken = {TABLE, MANIFEST}
    for label in sorted(labels, key=lambda label: _plain(label) != label):
        plain = _plain(label)
        names = itertools.chain([plain], (f"{plain} {number}" for number in itertools.count(2)))
        folders[label] = next(name for name in names if name.casefold() not in taken)
        taken.add(folders[label].casefold())
    return folders


def is_table(path: str) -> bool:
    return path.rpartition("/")[2] == TABLE


def read_table(archive: ZipReader) -> dict[str, str]:
    """Paths of folders with their labels; nothing where the zip has no table. The first table counts."""
    found = next((info for info in archive.files() if is_table(info.filename)), None)
    if found is None:
        return {}
    content = archive.read(found, MOST_TABLE_BYTES)
    try:
        table = json.loads(content) if len(content) <= MOST_TABLE_BYTES else None
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict) or not all(isinstance(label, str) for label in table.values()):
        raise UnusableError(f"{TABLE} in the zip must be a table from folders to names of classes.", "Export it again.")
    above = found.filename[: -len(TABLE)]
    return {unicodedata.normalize("NFC", above + folder): label for folder, label in table.items()}


def _plain(label: str) -> str:
    """A name that every system takes for a folder, and ``exll learn`` for a class."""
    name = re.sub(r'[/\\<>:"|?*]', "_", label).lstrip(".").encode()[:LONGEST_FOLDER_BYTES].decode(errors="ignore")
    name = name.rstrip(". ") or "_"
    return f"{name}_" if RESERVED.fullmatch(name) or name.casefold() in LITTER else name
