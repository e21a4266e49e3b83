"""Places-365, photographs of 365 kinds of place, and Places-LT, a long-tailed selection of them.

``ROOT/train/<class>/`` and ``ROOT/val/<class>/`` hold Places-365. Places-LT is two lists of lines ``path label``,
``Places_LT_train.txt`` and ``Places_LT_test.txt``, with paths below ROOT.
"""

from pathlib import Path

from exll.errors import StreamError
from exll.streams.dataset import CENTRE_CROP, Dataset, is_whole_number, missing
from exll.streams.example import Example, composed
from exll.streams.folder import list_folder
from exll.streams.stream import Stream

LISTS = ("Places_LT_train.txt", "Places_LT_test.txt")
WHERE = "Get Places-365 from the Places project (Zhou et al., Places, TPAMI 2018)."
WHERE_LISTS = (
    "Get the lists with the code of Liu et al., Large-Scale Long-Tailed Recognition in an Open World, CVPR 2019; "
    "the images are those of Places-365."
)


def places365(root: Path) -> Dataset:
    for part in ("train", "val"):
        if not (root / part).is_dir():
            raise missing("Places-365", root / part, "train/ and val/, each with one sub-folder per class", WHERE)
    train, test = (Stream("folder", list_folder(root / part)[0], root / part) for part in ("train", "val"))
    return Dataset("places365", train, test, CENTRE_CROP)


def places_lt(root: Path) -> Dataset:
    """A class is called by its number in the lists, which is the same in both."""
    train, test = (Stream("table", _read_list(root / name, root), root / name) for name in LISTS)
    return Dataset("places-lt", train, test, CENTRE_CROP)


def _read_list(source: Path, root: Path) -> list[Example]:
    if not source.is_file():
        raise missing("Places-LT", source, f"{' and '.join(LISTS)} with lines 'path label'", WHERE_LISTS)
    examples = []
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        name, _, label = line.strip().rpartition(" ")
        if not name or not is_whole_number(label):
            raise StreamError(f"{source}, line {number}: expected 'path label', the label a number; got {line!r}.")
        path = root / composed(name)
        examples.append(Example(str(path), label, path=path))
    if not examples:
        raise StreamError(f"{source} is empty; expected lines 'path label'.")
    return examples
