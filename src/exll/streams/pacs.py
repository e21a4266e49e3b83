"""PACS: photos, art paintings, cartoons and sketches of seven things: a data set of four domains.

``ROOT/<domain>/<class>/*.jpg``; some releases have the domains in ``kfold/``. It has no test part: leave a domain out,
or hold a share of every domain out.
"""

from dataclasses import replace
from pathlib import Path

from exll.streams.dataset import SQUASHED, Dataset, missing
from exll.streams.folder import list_folder
from exll.streams.stream import Stream

DOMAINS = ("art_painting", "cartoon", "photo", "sketch")
WHERE = (
    "Get PACS from the project of its paper (Li et al., Deeper, Broader and Artier Domain Generalization, ICCV 2017)."
)


def pacs(root: Path) -> Dataset:
    folder = root / "kfold" if (root / "kfold").is_dir() else root
    examples = []
    for domain in DOMAINS:
        if not (folder / domain).is_dir():
            raise missing("PACS", folder / domain, f"{', '.join(DOMAINS)}, each with one sub-folder per class", WHERE)
        examples += [replace(example, domain=domain) for example in list_folder(folder / domain)[0]]
    return Dataset("pacs", Stream("folder", examples, folder), None, SQUASHED)
