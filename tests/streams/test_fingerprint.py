import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.streams.fingerprint import END_BYTES, file_identity
from exll.streams.stream import Stream, open_stream
from exll.streams.video import list_frames

Plant = Callable[..., Path]
NAMES = ["mug/1.jpg", "mug/2.jpg", "cup/red/1.jpg", "cup/blue/1.jpg"]


def test_the_order_does_not_count(plant: Plant) -> None:
    stream = open_stream(plant(*NAMES))
    assert stream.ordered("iid", 1).fingerprint() == stream.ordered("class-iid", 2).fingerprint()
    assert len(stream.fingerprint()) == 64


def test_a_copy_elsewhere_is_the_same_data(plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant(*NAMES)
    shutil.copytree(root, tmp_path / "deep" / "copy", copy_function=shutil.copyfile)
    os.utime(tmp_path / "deep" / "copy" / NAMES[0], (0, 0))
    expected = open_stream(root).fingerprint()
    assert open_stream(tmp_path / "deep" / "copy").fingerprint() == expected
    monkeypatch.chdir(root)
    assert open_stream(".").fingerprint() == expected


def test_a_decomposed_copy_is_the_same_data(plant: Plant, tmp_path: Path) -> None:
    one, other = (
        plant("k\u00e4se/\u00e9.jpg", root=tmp_path / "a"),
        plant("ka\u0308se/e\u0301.jpg", root=tmp_path / "b"),
    )
    (other / "ka\u0308se/e\u0301.jpg").write_bytes((one / "k\u00e4se/\u00e9.jpg").read_bytes())
    assert open_stream(one).fingerprint() == open_stream(other).fingerprint()


@pytest.mark.parametrize("change", ["content", "name", "label", "more", "fewer", "instance"])
def test_any_change_to_a_folder_counts(plant: Plant, change: str) -> None:
    root = plant(*NAMES)
    before = open_stream(root).fingerprint()
    if change == "content":
        (root / "mug/1.jpg").write_bytes(b"mug/X.jpg")  # as long as before
    elif change == "name":
        (root / "mug/1.jpg").rename(root / "mug/3.jpg")
    elif change == "label":
        (root / "mug").rename(root / "jug")
    elif change == "more":
        plant("mug/3.jpg")
    elif change == "fewer":
        (root / "mug/1.jpg").unlink()
    elif change == "instance":
        (root / "cup/blue").rename(root / "cup/green")
    assert open_stream(root).fingerprint() != before


def test_files_that_are_passed_over_do_not_count(plant: Plant) -> None:
    before = open_stream(plant(*NAMES)).fingerprint()
    assert open_stream(plant("mug/notes.txt", "beside.jpg")).fingerprint() == before


@pytest.mark.parametrize("line", ["1.jpg,cup,walk,1", "1.jpg,mug,run,1", "1.jpg,mug,walk,2", "2.jpg,mug,walk,1"])
def test_what_a_table_says_counts(plant: Plant, line: str) -> None:
    root = plant("1.jpg", "2.jpg")
    header = "path,label,video,frame\n"
    (root / "one.csv").write_text(f"{header}1.jpg,mug,walk,1\n")
    (root / "other.csv").write_text(header + line + "\n")
    (root / "again.csv").write_text(f'{header}\n"1.jpg","mug","walk","1"\n')
    one, other, again = (open_stream(root / f"{name}.csv").fingerprint() for name in ("one", "other", "again"))
    assert one != other
    assert one == again


def test_a_missing_image_is_no_error_and_counts(plant: Plant) -> None:
    root = plant("1.jpg")
    (root / "data.csv").write_text("path,label\n1.jpg,mug\n")
    before = open_stream(root / "data.csv").fingerprint()
    (root / "1.jpg").unlink()
    assert open_stream(root / "data.csv").fingerprint() != before


@pytest.mark.parametrize(
    "change", [{"X": np.ones((3, 3))}, {"y": ["a", "b", "b"]}, {"frame": [1, 2, 3]}, {"path": ["p", "q", "r"]}]
)
def test_features_are_told_apart_by_their_values_and_not_by_their_file(tmp_path: Path, change: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {"X": np.eye(3), "y": ["a", "b", "a"]}
    np.savez(tmp_path / "one.npz", **arrays)
    np.savez_compressed(tmp_path / "same.npz", **arrays, note=["another array"])
    np.savez(tmp_path / "other.npz", **{**arrays, **change})
    one, same, other = (open_stream(tmp_path / f"{name}.npz").fingerprint() for name in ("one", "same", "other"))
    assert one == same
    assert one != other


def test_a_renamed_video_is_the_same_data_and_an_altered_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exll.streams.video._count", lambda _: 10)

    def video(name: str, content: bytes, label: str = "mug", every: int = 1) -> str:
        (tmp_path / name).write_bytes(content)
        return Stream("video", list_frames(tmp_path / name, label, every), tmp_path / name).fingerprint()

    original = video("clip.mp4", b"pixels")
    assert video("renamed.mp4", b"pixels") == original
    assert (
        len({original, video("a.mp4", b"voxels"), video("b.mp4", b"pixels", "cup"), video("c.mp4", b"pixels", every=2)})
        == 4
    )


def test_a_file_is_told_by_its_size_and_both_its_ends(tmp_path: Path) -> None:
    content = bytes(3 * END_BYTES)
    variants = {
        "original": content,
        "first byte": b"x" + content[1:],
        "last byte": content[:-1] + b"x",
        "longer": content + b"\0",
        "empty": b"",
    }
    for name, variant in variants.items():
        (tmp_path / name).write_bytes(variant)
    assert len({file_identity(tmp_path / name) for name in variants}) == len(variants)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_does_not_hold_the_fingerprint(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "1.jpg")
    assert file_identity(tmp_path / "1.jpg") == file_identity(tmp_path) == "no file"
