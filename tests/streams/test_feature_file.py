import io
import os
import struct
import tracemalloc
import warnings
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exll.errors import StreamError
from exll.streams.feature_file import read_features, read_rows, read_vectors
from exll.streams.stream import open_stream

X = np.random.default_rng(0).normal(size=(4, 3))
ROWS: dict[str, Any] = {"X": X, "y": np.array([1, 0, 1, 1]), "class_names": np.array(["cup", "mug"])}


def saved(folder: Path, **arrays: Any) -> Path:
    source = folder / "features.npz"
    np.savez(source, **arrays)
    return source


def test_rows_become_examples_that_point_at_their_vectors(tmp_path: Path) -> None:
    examples, vectors = read_features(saved(tmp_path, **ROWS))
    assert [example.label for example in examples] == ["mug", "cup", "mug", "mug"]
    assert [example.ref for example in examples] == [f"features.npz#{row}" for row in range(4)]
    assert [example.row for example in examples] == [0, 1, 2, 3]
    assert {(e.path, e.instance, e.video, e.frame) for e in examples} == {(None, None, None, None)}
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, X.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, np.uint8])
def test_vectors_of_any_number_type_are_read(tmp_path: Path, dtype: type) -> None:
    whole = np.arange(6).reshape(3, 2)
    _, vectors = read_features(saved(tmp_path, X=whole.astype(dtype), y=["a", "b", "a"]))
    np.testing.assert_array_equal(vectors, whole)


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (np.array(["mug", "ka\u0308se"]), ["mug", "käse"]),
        (np.array([b"mug", "käse".encode()]), ["mug", "käse"]),
        (np.array([3, -1]), ["3", "-1"]),
        (np.array([3.0, 0.0]), ["3", "0"]),
        (np.array([True, False]), ["True", "False"]),
    ],
)
def test_labels_without_class_names_are_named_by_themselves(tmp_path: Path, y: Any, labels: list[str]) -> None:
    examples, _ = read_features(saved(tmp_path, X=X[:2], y=y))
    assert [example.label for example in examples] == labels


def test_what_is_known_of_a_row_goes_with_it_and_minus_one_does_not(tmp_path: Path) -> None:
    source = saved(
        tmp_path,
        **ROWS,
        instance=np.array([0, 1, -1, 2]),
        video=np.array(["walk", "", "-1", "run"]),
        frame=np.array([5, 6, -1, 7]),
        path=np.array(["a.jpg", "b.jpg", "", "d.jpg"]),
    )
    examples, _ = read_features(source)
    assert [example.instance for example in examples] == ["0", "1", None, "2"]
    assert [example.video for example in examples] == ["walk", None, None, "run"]
    assert [example.frame for example in examples] == [5, 6, None, 7]
    assert [example.ref for example in examples] == ["a.jpg", "b.jpg", "features.npz#2", "d.jpg"]


@pytest.mark.parametrize(
    "domain",
    [
        {"domain": np.array([1, 0, -1, 1]), "domain_names": np.array(["photo", "sketch"])},
        {"domain": np.array(["sketch", "photo", "", "sketch"])},
    ],
)
def test_rows_may_have_domains_and_other_domains_are_other_data(tmp_path: Path, domain: Any) -> None:
    source = saved(tmp_path, **ROWS, **domain)
    assert [example.domain for example in read_features(source)[0]] == ["sketch", "photo", None, "sketch"]
    before = open_stream(source).fingerprint()
    assert open_stream(saved(tmp_path, **ROWS)).fingerprint() != before


def test_vectors_in_half_precision_stay_so_until_they_are_wanted(tmp_path: Path) -> None:
    source = saved(tmp_path, **{**ROWS, "X": X.astype(np.float16)})
    assert read_rows(source)[2].dtype == np.float16
    assert read_features(source)[1].dtype == np.float32


@pytest.mark.parametrize("split", [np.array([0, 2, 0, -1]), np.array(["train", "test", "train", ""])])
def test_a_split_takes_its_rows_and_keeps_their_numbers(tmp_path: Path, split: Any) -> None:
    source = saved(tmp_path, **ROWS, split=split)
    assert [example.row for example in read_features(source, "train")[0]] == [0, 2]
    assert [example.row for example in read_features(source, "test")[0]] == [1]
    assert len(read_features(source)[0]) == 4
    assert len(read_features(source, "train")[1]) == 4


def test_a_split_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=r"has no split 'val'; it has test, train\."):
        read_features(saved(tmp_path, **ROWS, split=np.array([0, 2, 0, -1])), "val")
    with pytest.raises(StreamError, match="not divided into splits"):
        read_features(saved(tmp_path, **ROWS), "train")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": None}, "it has no X. It holds: y, class_names."),
        ({"y": None}, "it has no y. It holds: X, class_names."),
        ({"X": X[0]}, "X must be a 2-D array of numbers, one vector per row; it is 1-D of float64."),
        ({"X": X.astype(str)}, "X must be a 2-D array of numbers"),
        ({"X": X > 0}, "X must be a 2-D array of numbers"),
        ({"X": X[:0], "y": np.array([], int)}, "at least one vector; its shape is (0, 3)"),
        ({"X": X[:3]}, "y must hold one value for each of the 3 rows of X; its shape is (4,)"),
        ({"y": np.ones((4, 1), int)}, "its shape is (4, 1)"),
        ({"y": np.array([0, 1, 2, 0])}, "places in class_names, 0 to 1; row 2 holds 2"),
        ({"y": np.array([0, -1, 1, 0])}, "row 1 holds -1"),
        ({"y": np.array([0.0, 1, 1, 0])}, "y must hold whole numbers, places in class_names; it holds float64"),
        ({"class_names": np.array(["cup", ""])}, "that of row 0 is empty"),
        ({"class_names": np.array([["cup", "mug"]])}, "class_names must be a 1-D array"),
        ({"y": np.array([0.5, 1, 1, 0]), "class_names": None}, "y must be a 1-D array of strings or whole numbers"),
        ({"y": np.array([np.nan, 1, 1, 0]), "class_names": None}, "y must be a 1-D array of strings or whole numbers"),
        ({"y": np.array(["a", 1, None, 2], object), "class_names": None}, "y holds Python objects"),
        ({"frame": np.arange(3)}, "frame must hold one value for each of the 4 rows"),
        ({"frame": np.array([0.5, 1, 1, 1])}, "frame must hold whole numbers"),
    ],
)
def test_wrong_arrays_are_named(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    arrays = {key: value for key, value in {**ROWS, **changes}.items() if value is not None}
    with pytest.raises(StreamError) as refusal:
        read_features(saved(tmp_path, **arrays))
    assert complaint in str(refusal.value)


def test_a_number_too_large_for_float32_is_left_to_the_learner_to_refuse(tmp_path: Path) -> None:
    _, vectors = read_features(saved(tmp_path, X=np.array([[1e300, 1.0]]), y=["mug"]))
    assert np.isinf(vectors[0, 0])


def test_files_that_are_no_npz_are_refused(tmp_path: Path) -> None:
    good = saved(tmp_path, **ROWS).read_bytes()
    np.save(tmp_path / "bare.npy", X)
    wrong = {
        "text": b"no archive",
        "empty": b"",
        "truncated": good[: len(good) // 2],
        "altered": good.replace(X.tobytes(), np.zeros_like(X).tobytes()),
        "npy": (tmp_path / "bare.npy").read_bytes(),
    }
    for name, content in wrong.items():
        source = tmp_path / f"{name}.npz"
        source.write_bytes(content)
        with pytest.raises(StreamError, match=rf"{name}\.npz is not an \.npz file that can be read: .*[^.]\.$"):
            read_features(source)


def test_an_archive_of_other_things_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(StreamError, match=r"no X and no y\. It holds: readme\.txt\."):
        read_features(tmp_path / "other.npz")


def npy(header: str, content: bytes = b"") -> bytes:
    """A member made by hand, whatever its header claims."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + content


def claims(shape: object, descr: str = "<f4") -> str:
    return f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"


def archive(folder: Path, X: bytes, *more: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    source = folder / "features.npz"
    y = io.BytesIO()
    np.save(y, np.array(["cup"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(source, "w", compression) as file:
            for name, content in (("X.npy", X), ("y.npy", y.getvalue()), *more):
                file.writestr(name, content)
    return source


def refusal(source: Path) -> str:
    with pytest.raises(StreamError) as caught:
        read_features(source)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(source))
    assert str(caught.value).endswith(".")
    return str(caught.value)


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        (claims((10**12, 10**3)), "claims to be float32 of the shape (1000000000000, 1000); it holds 8 bytes"),
        (claims((3, 1)), "of the shape (3, 1); it holds 8 bytes"),
        (claims((-1, 2)), "of the shape (-1, 2)"),
        (claims((10**12, 2), "|S0"), "claims to be |S0 of the shape"),
        (claims((1, 2), "|O"), "X holds Python objects"),
        (claims((1, 2), "no type"), "is not an .npz file that can be read"),
        (claims("'two'"), "is not an .npz file that can be read"),
        ("[" * 5000, "is not an .npz file that can be read"),
        ("'open", "is not an .npz file that can be read"),
        ("", "is not an .npz file that can be read"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_a_header_claims_is_compared_with_what_is_there(tmp_path: Path, header: str, complaint: str) -> None:
    assert complaint in refusal(archive(tmp_path, npy(header, bytes(8))))


def test_members_that_numpy_does_not_write_are_refused(tmp_path: Path) -> None:
    good = npy(claims((1, 2)), bytes(8))
    assert len(read_features(archive(tmp_path, good))[0]) == 1
    assert "every array once; it holds 'X' twice" in refusal(archive(tmp_path, good, ("X.npy", good)))
    assert "every array once; it holds 'X' twice" in refusal(archive(tmp_path, good, ("X", good)))
    assert "plain names; it holds '../../X'" in refusal(archive(tmp_path, good, ("../../X.npy", good)))
    assert "plain names; it holds '/X'" in refusal(archive(tmp_path, good, ("/X.npy", good)))
    assert "packed in a way" in refusal(archive(tmp_path, good, compression=zipfile.ZIP_LZMA))


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    source = archive(tmp_path, npy(claims((1, 2)), bytes(8)))
    content = bytearray(source.read_bytes())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(start) + flags] |= 1
    source.write_bytes(content)
    assert "X is encrypted. Save the arrays without a password." in refusal(source)


@pytest.mark.slow
def test_a_small_file_that_would_unpack_to_very_much_is_refused_unread(tmp_path: Path) -> None:
    source = archive(tmp_path, npy(claims((75_000_000, 1)), bytes(300_000_000)))
    assert source.stat().st_size < 400_000
    tracemalloc.start()
    try:
        assert "bytes, more than 100 times its size" in refusal(source)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_name_of_no_characters_is_refused(tmp_path: Path) -> None:
    names = np.array(["cup"]).view(np.uint32)
    names[0] = 0x7FFFFFFF
    assert "y must hold strings" in refusal(saved(tmp_path, X=X[:1], y=names.view("<U3")))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    assert "it is not a file" in refusal(tmp_path / "pipe.npz")


@pytest.mark.data
def test_the_development_features_are_read(data_folder: Path) -> None:
    grocery = data_folder / "features" / "grocery.npz"
    counts = {split: len(open_stream(f"{grocery}:{split}")) for split in ("train", "val", "test")}
    assert counts == {"train": 2640, "val": 296, "test": 2485}
    whole = open_stream(grocery)
    assert len(whole) == sum(counts.values())
    assert len(whole.labels) == 81
    assert {example.video for example in whole.examples} == {None}


@pytest.mark.data
@pytest.mark.slow
def test_the_development_videos_can_be_ordered_by_instance(data_folder: Path) -> None:
    stream = open_stream(data_folder / "features" / "fruits.npz")
    assert stream.vectors is not None
    assert stream.vectors.shape == (15174, 576)
    videos = [example.video for example in stream.ordered("instance", seed=1).examples]
    changes = sum(one != other for one, other in pairwise(videos))
    assert changes == 300 - 1
    few = stream.ordered("low-shot-instance", seed=1)
    assert len({example.video for example in few.examples}) == len(few.labels) == 67


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_large_vectors_stay_on_the_disk(tmp_path: Path, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.streams.npz.MAPPED", 16)
    X: Any = np.random.default_rng(0).normal(size=(5, 3)).astype(dtype)
    arrays: dict[str, Any] = {"y": np.array(list("ababa")), "X": X, "path": np.array(["a longer name"] * 5)}
    stored, packed, by_columns = tmp_path / "s.npz", tmp_path / "p.npz", tmp_path / "c.npz"
    np.savez(stored, **arrays)
    np.savez_compressed(packed, **arrays)
    np.savez(by_columns, **{**arrays, "X": np.asfortranarray(X)})
    for source in (stored, packed, by_columns):
        examples, vectors = read_features(source)
        assert isinstance(vectors, np.memmap) == (source is stored)
        np.testing.assert_array_equal(vectors, X)
        np.testing.assert_array_equal(read_vectors(source), X)
        assert [example.label for example in examples] == list("ababa")
    streams = [open_stream(source) for source in (stored, packed)]
    assert streams[0].fingerprint() == streams[1].fingerprint()
