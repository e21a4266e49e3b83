"""A folder with one sub-folder per class: ``DATA/mug/1.jpg``."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from exll.errors import StreamError
from exll.streams.example import Example, composed

IMAGE_SUFFIXES = (
    *(".jpg", ".jpeg", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp"),
    *(".heic", ".heif", ".hif", ".avif"),
)
# What operating systems leave behind. Names with a leading dot are passed by as well.
LITTER = frozenset({"thumbs.db", "desktop.ini", "__macosx"})


def list_folder(root: Path) -> tuple[list[Example], list[Path]]:
    """The images below ``root``, sorted by relative path, and the files that are not part of the stream.

    The first-level sub-folder is the class; what lies deeper belongs to it. Where a class has two or more sub-folders
    with images, each of these is taken for one object in one recording. Only names are looked at: a file that is no
    image after all is found by whoever reads it.
    """
    class_folders, loose_images, others = _look_into(root)
    passed_over = [root / name for name in (*loose_images, *others)]
    enclosing = {_identity(folder) for folder in (root.resolve(), *root.resolve().parents)}
    found: list[tuple[str, Example]] = []
    for name in class_folders:
        images: list[tuple[str, Path]] = []
        for below, folder_images, others in _walk(root / name, enclosing):
            folder = root / name / below
            images += [(below + image, folder / image) for image in folder_images]
            passed_over += [folder / other for other in others]
        instances = {below.split("/")[0] for below, _ in images if "/" in below}
        for below, path in images:
            instance = composed(below.split("/")[0]) if len(instances) > 1 and "/" in below else None
            example = Example(str(path), composed(name), path=path, instance=instance, video=instance)
            found.append((f"{name}/{below}", example))
    if not found:
        raise StreamError(_why_nothing(root, len(class_folders), len(loose_images), len(passed_over)))
    found.sort(key=lambda item: (composed(item[0]), item[0]))
    passed_over.sort(key=lambda path: composed(str(path)))
    return [example for _, example in found], passed_over


def subfolders(folder: Path) -> list[str]:
    """The names of the folders in a folder, sorted, without litter."""
    return _look_into(folder)[0]


def images_below(folder: Path) -> list[Path]:
    """All images of a folder and of those below it, 9.jpg before 10.jpg."""
    found = [(below + name) for below, names, _ in _walk(folder, set()) for name in names]
    return [folder / name for name in sorted(found, key=natural_key)]


def flat_folder(folder: Path) -> list[Path]:
    """The images directly in a folder, 9.jpg before 10.jpg; a folder that has sub-folders is refused."""
    folders, images, _ = _look_into(folder)
    if folders:
        raise StreamError(
            f"a label is for a folder with images directly in it; {folder} has sub-folders ({', '.join(folders[:3])}"
            f"{', ...' if len(folders) > 3 else ''}). Leave the label out, and each of them is a class."
        )
    if not images:
        raise StreamError(f"there are no images in {folder}.")
    return [folder / name for name in sorted(images, key=natural_key)]


def natural_key(text: str) -> list[str | tuple[int, str]]:
    """A key that puts 9.jpg before 10.jpg: frames that are numbered by their file names stay in order.

    Text and digits alternate, so like is compared with like; digits count by their length first, which needs no
    conversion however many there are.
    """
    parts: list[str | tuple[int, str]] = [*re.split("0*([0-9]+)", text)]
    parts[1::2] = [(len(digits), digits) for digits in parts[1::2] if isinstance(digits, str)]
    return parts


def is_image_name(name: str) -> bool:
    return name.lower().endswith(IMAGE_SUFFIXES)


def _walk(class_folder: Path, enclosing: set[tuple[int, int]]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every folder of one class, as the path below the class folder, its images and its other files.

    A folder is entered once per class, and never one that encloses the data, so links that lead back up end here.
    """
    entered = set(enclosing)
    waiting = [(class_folder, "")]
    while waiting:
        folder, below = waiting.pop()
        identity = _identity(folder)
        if identity in entered:
            continue
        entered.add(identity)
        folders, images, others = _look_into(folder)
        yield below, images, others
        # The last is taken next: reversed, so that of two links to one folder the first by name is entered.
        waiting.extend((folder / name, f"{below}{name}/") for name in reversed(folders))


def _look_into(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """The names of the folders, of the images and of everything else in a folder, without litter."""
    folders: list[str] = []
    images: list[str] = []
    others: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name.lower() in LITTER:
                    continue
                kind = _kind(entry)
                (folders if kind == "folder" else images if kind == "image" else others).append(entry.name)
    except OSError as error:
        raise StreamError(f"The folder {folder} cannot be read: {error.strerror or error}.") from error
    return sorted(folders), images, others


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir():
            # A folder that may not be read is passed over like any other thing that is no image.
            return "folder" if os.access(entry.path, os.R_OK | os.X_OK) else "other"
        return "image" if is_image_name(entry.name) and entry.is_file() else "other"  # a pipe or a broken link
    except OSError:  # a link that leads to itself
        return "other"


def _identity(folder: Path) -> tuple[int, int]:
    try:
        status = folder.stat()
    except OSError as error:
        raise StreamError(f"The folder {folder} cannot be read: {error.strerror or error}.") from error
    return status.st_dev, status.st_ino


def _why_nothing(root: Path, class_folders: int, images: int, passed_over: int) -> str:
    if images:
        found = f"{images} {'image lies' if images == 1 else 'images lie'} directly in it"
    elif class_folders:
        one = class_folders == 1
        found = "its one sub-folder holds no images" if one else f"its {class_folders} sub-folders hold no images"
    elif passed_over:
        found = "it holds other files only"
    else:
        found = "it is empty"
    label = " If they all show the same thing, give its label." if images else ""
    return f"{root} must have one sub-folder per class, like {root / 'mug' / '1.jpg'}; {found}.{label}"
