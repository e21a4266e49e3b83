import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from exll.errors import StreamError
from exll.streams.folder import list_folder

Plant = Callable[..., Path]


def below(root: Path) -> list[str]:
    """The examples' paths relative to the folder, in the order they are listed."""
    return [Path(example.ref).relative_to(root).as_posix() for example in list_folder(root)[0]]


def list_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that lists its files from Z to A."""
    forwards = os.scandir

    class Backwards:
        def __init__(self, folder: Path) -> None:
            with forwards(folder) as entries:
                self.entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.entries

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", Backwards)


def test_the_first_sub_folder_is_the_class_and_the_path_is_the_ref(plant: Plant) -> None:
    root = plant("mug/1.jpg", "cup/deep/er/2.png")
    cup, mug = list_folder(root)[0]
    assert (cup.label, mug.label) == ("cup", "mug")
    assert cup.path == root / "cup/deep/er/2.png"
    assert cup.ref == str(root / "cup/deep/er/2.png")
    assert (cup.instance, cup.video, cup.frame, cup.row) == (None, None, None, None)


def test_a_folder_given_relatively_has_relative_refs(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant("mug/1.jpg")
    monkeypatch.chdir(root)
    assert list_folder(Path())[0][0].ref == str(Path("mug/1.jpg"))
    monkeypatch.chdir(root.parent)
    assert list_folder(Path("data/"))[0][0].ref == str(Path("data/mug/1.jpg"))


def test_examples_are_sorted_by_code_points_however_the_disk_lists_them(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["B/1.jpg", "a b/1.jpg", "a/1.jpg", "a/10.jpg", "a/2.jpg", "a/Z.jpg", "a/é.jpg", "é/1.jpg"]
    root = plant(*reversed(names))
    assert below(root) == sorted(names)
    list_backwards(monkeypatch)
    assert below(root) == sorted(names)


def test_a_decomposed_name_sorts_and_labels_like_the_composed_one(plant: Plant) -> None:
    # Decomposed, "é" begins with "e" and would come before "f".
    root = plant(unicodedata.normalize("NFD", "é") + "/1.jpg", "f/1.jpg")
    assert [example.label for example in list_folder(root)[0]] == ["f", "é"]


@pytest.mark.parametrize(
    "suffix",
    ["jpg", "jpeg", "png", "webp", "gif", "tif", "tiff", "bmp", "heic", "heif", "hif", "avif", "JPG", "Png", "HEIC"],
)
def test_images_are_known_by_their_extension_in_any_case(plant: Plant, suffix: str) -> None:
    assert below(plant(f"mug/1.{suffix}")) == [f"mug/1.{suffix}"]


def test_other_files_and_files_beside_the_classes_are_passed_over_and_named(plant: Plant) -> None:
    root = plant("mug/1.jpg", "mug/notes.txt", "mug/jpg", "mug/a/b/readme.md", "beside.jpg", "labels.csv")
    examples, passed_over = list_folder(root)
    assert [example.ref for example in examples] == [str(root / "mug/1.jpg")]
    assert [path.relative_to(root).as_posix() for path in passed_over] == [
        "beside.jpg", "labels.csv", "mug/a/b/readme.md", "mug/jpg", "mug/notes.txt",
    ]  # fmt: skip


def test_litter_and_hidden_files_are_not_even_counted(plant: Plant) -> None:
    litter = ["mug/.1.jpg", "mug/._1.jpg", "mug/.cache/1.jpg", ".git/1.jpg", "__MACOSX/mug/1.jpg", "mug/Thumbs.db"]
    root = plant("mug/1.jpg", "mug/desktop.ini", "mug/THUMBS.DB", "mug/__MACOSX/1.jpg", ".DS_Store", *litter)
    assert below(root) == ["mug/1.jpg"]
    assert list_folder(root)[1] == []


def test_a_hidden_folder_that_was_asked_for_is_read(plant: Plant, tmp_path: Path) -> None:
    assert below(plant("mug/1.jpg", root=tmp_path / ".data")) == ["mug/1.jpg"]


def test_a_folder_named_like_an_image_is_a_folder(plant: Plant) -> None:
    root = plant("mug/red.jpg/1.jpg", "cup.png/1.jpg")
    assert below(root) == ["cup.png/1.jpg", "mug/red.jpg/1.jpg"]


def test_two_sub_folders_of_a_class_are_two_instances(plant: Plant) -> None:
    root = plant("mug/red/1.jpg", "mug/red/side/2.jpg", "mug/blue/1.jpg", "mug/loose.jpg")
    instances = {Path(e.ref).relative_to(root / "mug").as_posix(): e.instance for e in list_folder(root)[0]}
    assert instances == {"red/1.jpg": "red", "red/side/2.jpg": "red", "blue/1.jpg": "blue", "loose.jpg": None}
    assert all(example.video == example.instance for example in list_folder(root)[0])


def test_one_sub_folder_or_one_without_images_makes_no_instances(plant: Plant) -> None:
    root = plant("mug/red/1.jpg", "mug/red/2.jpg", "mug/notes/1.txt", "cup/1.jpg")
    assert {example.instance for example in list_folder(root)[0]} == {None}


def test_links_to_folders_and_files_are_followed(plant: Plant, tmp_path: Path) -> None:
    pool = plant("1.jpg", "red/2.jpg", root=tmp_path / "pool")
    root = plant("cup/1.jpg")
    (root / "mug").symlink_to(pool)
    (root / "cup" / "linked.jpg").symlink_to(pool / "1.jpg")
    (root / "cup" / "more").symlink_to(pool / "red")
    assert below(root) == ["cup/1.jpg", "cup/linked.jpg", "cup/more/2.jpg", "mug/1.jpg", "mug/red/2.jpg"]


def test_links_that_lead_back_end(plant: Plant) -> None:
    root = plant("mug/red/1.jpg", "cup/1.jpg")
    (root / "mug" / "again").symlink_to(root / "mug")
    (root / "mug" / "red" / "up").symlink_to(root)
    (root / "mug" / "red" / "further-up").symlink_to(root.parent)
    (root / "all").symlink_to(root)
    assert below(root) == ["cup/1.jpg", "mug/red/1.jpg"]


def test_a_folder_linked_twice_in_a_class_counts_once_under_its_first_name(
    plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = plant("1.jpg", root=tmp_path / "pool")
    root = plant("cup/1.jpg", "mug/2.jpg")
    for link in ("mug/a", "mug/b", "cup/c"):
        (root / link).symlink_to(pool)
    listed = ["cup/1.jpg", "cup/c/1.jpg", "mug/2.jpg", "mug/a/1.jpg"]
    assert below(root) == listed
    list_backwards(monkeypatch)
    assert below(root) == listed


def test_a_broken_link_is_passed_over(plant: Plant) -> None:
    root = plant("mug/1.jpg")
    (root / "mug" / "gone.jpg").symlink_to(root / "nowhere")
    examples, passed_over = list_folder(root)
    assert (len(examples), passed_over) == (1, [root / "mug" / "gone.jpg"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_named_like_an_image_is_passed_over(plant: Plant) -> None:
    root = plant("mug/1.jpg")
    os.mkfifo(root / "mug" / "2.jpg")
    examples, passed_over = list_folder(root)
    assert (len(examples), passed_over) == (1, [root / "mug" / "2.jpg"])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf_8_survive(plant: Plant) -> None:
    root = plant(os.fsdecode(b"mug\xff/\xe4.jpg"))
    (example,) = list_folder(root)[0]
    assert example.label == "mug\udcff"
    assert example.path is not None
    assert os.fsencode(example.ref).endswith(b"mug\xff/\xe4.jpg")
    assert example.path.read_bytes() == b"mug\xff/\xe4.jpg"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], "it is empty"),
        (["1.jpg", "2.jpg"], "2 images lie directly in it. If they all show the same thing, give its label"),
        (["1.jpg", "notes/1.txt"], "1 image lies directly in it. If they all show the same thing, give its label"),
        (["notes.txt"], "it holds other files only"),
        (["mug/1.txt"], "its one sub-folder holds no images"),
        (["mug/1.txt", "cup/1.txt"], "its 2 sub-folders hold no images"),
        ([".hidden/1.jpg"], "it is empty"),
    ],
)
def test_a_folder_without_classes_is_refused_in_one_sentence(plant: Plant, names: list[str], found: str) -> None:
    root = plant(*names)
    with pytest.raises(StreamError) as refusal:
        list_folder(root)
    example = root / "mug" / "1.jpg"
    assert str(refusal.value) == f"{root} must have one sub-folder per class, like {example}; {found}."


def test_a_folder_that_cannot_be_read_is_named(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant("mug/locked/1.jpg", "mug/2.jpg")
    scandir = os.scandir

    def guarded(folder: Path) -> object:
        if folder.name == "locked":
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", guarded)
    with pytest.raises(StreamError, match=r"locked cannot be read: Permission denied\.$"):
        list_folder(root)
