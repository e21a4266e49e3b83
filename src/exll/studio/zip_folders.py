"""The folders of a zip and the classes they stand for. A label may hold characters that the name of a folder may not:
then the zip carries a table from such folders to their labels, and importing it restores them."""

import itertools
import json
import unicodedata
import zipfile
from collections.abc import Iterable

from exll.studio.errors import UnusableError

TABLE = "exll-labels.json"
MOST_TABLE_BYTES = 10_000_000


def folders_of(labels: Iterable[str]) -> dict[str, str]:
    """A folder for every label, no two the same. A label that can be the name of a folder is its name.

    >>> folders_of(["a/b", "a_b", "mug"])
    {'a_b': 'a_b', 'mug': 'mug', 'a/b': 'a_b 2'}
    """
    folders: dict[str, str] = {}
    taken = {TABLE}
    for label in sorted(labels, key=lambda label: _plain(label) != label):
        plain = _plain(label)
        names = itertools.chain([plain], (f"{plain} {number}" for number in itertools.count(2)))
        folders[label] = next(name for name in names if name not in taken)
        taken.add(folders[label])
    return folders


def write_table(archive: zipfile.ZipFile, folders: dict[str, str]) -> None:
    """Only of folders that are not called as their class is."""
    table = {folder: label for label, folder in folders.items() if folder != label}
    if table:
        archive.writestr(TABLE, json.dumps(table, ensure_ascii=False, indent=1))


def is_table(path: str) -> bool:
    return path.rpartition("/")[2] == TABLE


def read_table(archive: zipfile.ZipFile) -> dict[str, str]:
    """Paths of folders with their labels; nothing where the zip has no table. The first table counts."""
    found = next((info for info in archive.infolist() if is_table(info.filename)), None)
    if found is None:
        return {}
    with archive.open(found) as file:
        content = file.read(MOST_TABLE_BYTES + 1)
    try:
        table = json.loads(content) if len(content) <= MOST_TABLE_BYTES else None
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict) or not all(isinstance(label, str) for label in table.values()):
        raise UnusableError(f"{TABLE} in the zip must be a table from folders to names of classes.", "Export it again.")
    above = found.filename[: -len(TABLE)]
    return {unicodedata.normalize("NFC", above + folder): label for folder, label in table.items()}


def _plain(label: str) -> str:
    return label.replace("/", "_").replace("\\", "_").lstrip(".") or "_"
