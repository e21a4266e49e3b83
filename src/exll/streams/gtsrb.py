"""GTSRB: photographs of 43 kinds of German traffic sign; those to learn are tracks of 30 frames of one sign.

``ROOT/Final_Training/Images/<class>/TTTTT_FFFFF.ppm`` (track and frame) or ``ROOT/Training/<class>/`` to learn,
``ROOT/Final_Test/Images/*.ppm`` to ask, perhaps all in ``ROOT/GTSRB/``. Every class has its ``GT-<class>.csv``; that of
the test part is ``GT-final_test.csv``, in its folder or in one above.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from exll.errors import ImageError, StreamError
from exll.streams.dataset import SQUASHED, Dataset, is_whole_number, missing
from exll.streams.example import Example
from exll.streams.folder import subfolders
from exll.streams.stream import Stream

TRAINING = (Path("Final_Training", "Images"), Path("Training"))
TEST, TEST_LIST = Path("Final_Test", "Images"), "GT-final_test.csv"
BOX = ("Roi.X1", "Roi.Y1", "Roi.X2", "Roi.Y2")  # the last two are inside the sign
COLUMNS = ("Filename", *BOX, "ClassId")
LAYOUT = "Final_Training/Images (or Training) with one folder per class, and Final_Test/Images"
WHERE = "Get GTSRB from its project (Stallkamp et al., Man vs. computer, Neural Networks 2012)."


def gtsrb(root: Path, every: int = 1, crop: bool = False) -> Dataset:
    """Every n-th frame of the tracks, which are the videos; the whole picture, or cropped to the sign."""
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise StreamError(
            f"GTSRB: every must be a whole number of at least 1, to take every n-th frame; got {every!r}."
        )
    base = root / "GTSRB" if (root / "GTSRB").is_dir() else root
    learned = next((base / name for name in TRAINING if (base / name).is_dir()), None)
    if learned is None:
        raise missing("GTSRB", base / TRAINING[0], LAYOUT, WHERE)
    lists = [learned / name / f"GT-{name}.csv" for name in subfolders(learned)]
    train = [example for path in lists for example in _listed(path, path.parent) if (example.frame or 0) % every == 0]
    places = (base / TEST, base / TEST.parent, base, root)
    labelled = next((place / TEST_LIST for place in places if (place / TEST_LIST).is_file()), places[0] / TEST_LIST)
    test = list(_listed(labelled, base / TEST))
    picture = cropped if crop else whole
    streams = Stream("folder", train, learned), Stream("folder", test, base / TEST)
    return Dataset("gtsrb", *streams, SQUASHED, picture, "cropped" if crop else "")


def whole(example: Example) -> Image.Image:
    """The picture as it is: a sign with a tenth of its size around it."""
    try:
        with Image.open(example.path or "", formats=["PPM", "PNG", "JPEG"]) as image:
            return image.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ImageError(f"{example.ref} is not a picture that can be read: {error}.") from error


def cropped(example: Example) -> Image.Image:
    assert example.box is not None
    return whole(example).crop(example.box)


def _listed(source: Path, folder: Path) -> Iterator[Example]:
    if not source.is_file():
        raise missing("GTSRB", source, f"a table of {'; '.join(COLUMNS)}", WHERE)
    with source.open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file, delimiter=";", skipinitialspace=True), start=2):
            name, label, corners = row.get("Filename"), row.get("ClassId"), [row.get(column) for column in BOX]
            if not name or not is_whole_number(label) or not all(map(is_whole_number, corners)):
                raise StreamError(f"{source}, line {line}: expected {'; '.join(COLUMNS)}; got {row}.")
            label = str(int(str(label)))
            left, top, right, bottom = (int(str(corner)) for corner in corners)
            track = re.fullmatch(r"([0-9]+)_([0-9]+)\.\w+", name)
            path = folder / name
            yield Example(
                str(path),
                label,
                path=path,
                video=f"{label}/{track[1]}" if track else None,
                frame=int(track[2]) if track else None,
                box=(left, top, right + 1, bottom + 1),
            )
