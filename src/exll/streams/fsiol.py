"""F-SIOL-310: 620 still photographs of 310 household objects of 22 classes, for learning from few.

``ROOT/object_images/<class>/*.jpg``. It has no test part: the examples that an order leaves out are asked about.
"""

from dataclasses import replace
from pathlib import Path

from exll.streams.dataset import SQUASHED, Dataset, missing
from exll.streams.folder import list_folder
from exll.streams.stream import Stream

FOLDER = "object_images"
MISSPELT = {"spatuala": "spatula"}
WHERE = "Get F-SIOL-310 from the authors of its paper (Ayub and Wagner, F-SIOL-310, ICRA 2021)."


def fsiol(root: Path) -> Dataset:
    folder = root / FOLDER
    if not folder.is_dir():
        raise missing("F-SIOL-310", folder, f"{FOLDER}/ with one sub-folder per class", WHERE)
    examples = [
        replace(example, label=MISSPELT.get(example.label, example.label)) for example in list_folder(folder)[0]
    ]
    return Dataset("fsiol", Stream("folder", examples, folder), None, SQUASHED)
