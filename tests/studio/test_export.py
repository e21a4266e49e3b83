"""Photos and models out of a project and in again."""

import csv
import io
import shutil
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from commands import exll
from exll import ImageLearner, load
from exll.features.image import read_image
from exll.studio.actions import Offered, teach_images
from exll.studio.dataset_import import import_dataset
from exll.studio.edits import NOTHING
from exll.studio.manifest import Line, as_csv, read_csv
from served import Served, png, served


def export(studio: Served) -> bytes:
    response = studio.client.get("/api/project/images")
    assert response.is_success, response.text
    return response.content


def bring_in(studio: Served, content: bytes) -> dict[str, Any]:
    response = studio.client.post("/api/project/import", files={"file": ("a.zip", content)})
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def content_of(dataset: bytes) -> list[tuple[bytes, str, str, str, str, bytes, str]]:
    """Every photo with its bytes, label, role, name, box, the photo that it was cut from and its clip, in order."""
    with zipfile.ZipFile(io.BytesIO(dataset)) as archive:
        assert archive.testzip() is None
        lines = read_csv(archive.read("manifest.csv"), 1000)
        assert lines is not None
        assert {line.file for line in lines} | {line.source for line in lines} - {""} == {*archive.namelist()} - {
            "manifest.csv"
        }
        return [
            (
                archive.read(line.file),
                line.label,
                line.role,
                line.name,
                line.box,
                archive.read(line.source) if line.source else b"",
                line.clip,
            )
            for line in lines
        ]


@pytest.fixture
def taught(studio: Served) -> Served:
    for kind in range(3):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(6)))
    return studio


@pytest.fixture
def varied(studio: Served) -> Served:
    """All that a dataset can hold, in an order of its own."""
    studio.taught("mug", png(0, 0))
    studio.taught("=1+1", png(1, 0), png(1, 1), clip="one-recording")
    studio.taught("mug", png(0, 1))
    studio.taught("'-pan", png(0, 1), two_labels=True)  # of two classes
    studio.taught("mug", png(0, 2), held_out=True)
    studio.taught("only held out", png(2, 3), held_out=True)
    studio.taught("Mug", png(2, 0), box="4,4,40,40")
    deleted = studio.taught("mug", png(0, 3))
    studio.post("/api/examples/delete", ids=deleted)
    image = studio.project.kept_image(png(3, 0))
    teach = lambda: teach_images(studio.project, [Offered(image, "none.png")], "", False, role=NOTHING)  # noqa: E731
    studio.project.live.write(teach).result()
    return studio


def test_a_dataset_comes_back_the_same(varied: Served, tmp_path: Path) -> None:
    exported = export(varied)
    assert [clip for *_, clip in content_of(exported)] == ["", *["one-recording"] * 2, *[""] * 6]
    with served(tmp_path / "second") as second:
        answer = bring_in(second, exported)
        assert (answer["taught"], answer["held_out"], answer["nothing"]) == (6, 2, 1)
        assert content_of(export(second)) == content_of(exported)
        for role in ("taught", "held out", "nothing"):
            assert second.project.store.counts(role) == varied.project.store.counts(role)
        sentence = "Taught 6 photos of 5 classes, held out 2 and marked 1 photo as none of the classes."
        assert second.json("/api/project")["undo"]["sentence"] == sentence
        assert (bring_in(second, exported)["taught"], second.client.post("/api/undo").status_code) == (0, 200)
        assert second.project.store.counts() == {}  # one step


def test_only_what_was_taught_is_learned_from_an_unpacked_dataset(varied: Served, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(export(varied))) as archive:
        archive.extractall(tmp_path / "photos")
    done = exll("learn", tmp_path / "photos", "--model", tmp_path / "m.exll", "--backbone", "nano", "--no-cache")
    assert done.returncode == 0, done.stderr
    learner = load(tmp_path / "m.exll", ImageLearner)
    assert learner.classifier.learner_.learned_count == 6
    assert sorted(learner.classifier.classes_) == ["'-pan", "=1+1", "Mug 2", "mug"]


def test_the_manifest_is_safe_in_a_spreadsheet_and_reads_back(varied: Served) -> None:
    response = varied.client.get("/api/project/manifest")
    assert 'filename="project-photos.csv"' in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert list(rows[0]) == ["file", "label", "role", "name", "taught_at", "box", "source", "clip"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    assert [row["label"] for row in rows][:3] == ["mug", "'=1+1", "'=1+1"]


@pytest.mark.parametrize("cell", ["=1+1", "'=1", "''=", "'t Hof", "-", "@x", "a,b", 'say "x"', "caf\u00e9", "'", "  x"])
def test_every_cell_comes_back(cell: str) -> None:
    line = Line("a/1.jpg", cell, "held out", cell, "", "1,2,3,4", cell, cell)
    assert read_csv(as_csv([line]), 10) == [line]


def test_a_manifest_by_hand_names_classes_and_order(studio: Served) -> None:
    table = "label,file,note\npan,photos/b.png,x\nmug,photos/a.png,\n,photos/gone.png,\n"
    photos = {"photos/a.png": png(0, 1), "photos/b.png": png(1, 1), "cup/c.png": png(2, 1)}
    answer = bring_in(
        studio,
        zipped({f"set/{name}": content for name, content in photos.items()} | {"set/manifest.csv": table.encode()}),
    )
    assert list(studio.project.store.counts()) == ["pan", "mug", "cup"]
    (gone,) = answer["problems"]
    assert (gone["file"], "does not hold it" in gone["error"]) == ("gone.png", True)


def test_photos_keep_the_time_at_which_they_were_taught(studio: Served, tmp_path: Path) -> None:
    before = time.time()
    table = "file,label,taught_at\n0.png,mug,2020-02-03T04:05:06+00:00\n1.png,mug,2999-01-01\n2.png,mug,once\n"
    bring_in(studio, zipped({"manifest.csv": table.encode()} | {f"{i}.png": png(0, i) for i in range(3)}))
    with served(tmp_path / "second") as second:
        bring_in(second, export(studio))
        for project in (studio, second):
            times = [example["taught_at"] for example in project.json("/api/examples?label=mug")["examples"]]
            assert times[2] == 1580702706  # the newest photo comes first
            assert before - 1 < min(times[:2]) <= max(times[:2]) <= time.time()


@pytest.mark.parametrize(
    "line",
    ["../../etc/passwd,mug,,,", "mug/1.png,mug,boss,,", "mug/1.png,,,,", "mug/1.png,mug,,9,.sources/1.png"],
    ids=["a path that leads out", "no role", "no label", "no box"],
)
def test_a_line_of_a_manifest_that_cannot_be_used_is_named(studio: Served, line: str) -> None:
    table = f"file,label,role,box,source\n{line}\n".encode()
    answer = bring_in(studio, zipped({"manifest.csv": table, "mug/1.png": png(0, 1), ".sources/1.png": png(0, 2)}))
    assert len(answer["problems"]) == 1
    assert answer["taught"] == ("passwd" in line)


def test_a_manifest_that_is_damaged_is_refused_and_one_of_others_is_passed_over(studio: Served) -> None:
    for table in (b'file,label\n"a', b"file,label\n\xff\n", b"file,label\n" + b"a,b\n" * 50_001):
        content = zipped({"manifest.csv": table, "mug/1.png": png(0, 1)})
        response = studio.client.post("/api/project/import", files={"file": ("a.zip", content)})
        assert (response.status_code, "manifest.csv in the zip" in response.json()["error"]) == (422, True)
    answer = bring_in(studio, zipped({"manifest.csv": b"path;size\n", "mug/1.png": png(0, 1)}))
    assert answer["taught"] == 1


def test_what_a_manifest_says_of_a_known_photo_is_a_conflict(studio: Served) -> None:
    studio.taught("cup", png(0, 1))
    table = b"file,label\nmug/1.png,mug\npan/1.png,pan\n"
    answer = bring_in(studio, zipped({"manifest.csv": table, "mug/1.png": png(0, 1), "pan/1.png": png(0, 1)}))
    assert (answer["taught"], answer["conflicts"]) == (0, 2)


def test_so_many_photos_are_in_the_model_as_the_setting_says(taught: Served, tmp_path: Path) -> None:
    kept = {}
    for thumbnails in (0, 2):
        taught.post("/api/project/settings", thumbnails=thumbnails).raise_for_status()
        (tmp_path / "m.exll").write_bytes(taught.client.get("/api/project/model").content)
        learner = load(tmp_path / "m.exll", ImageLearner)
        kept[thumbnails] = len(learner.kept_thumbnails())
        assert learner.thumbnails == thumbnails
    assert kept[0] == 0 < kept[2] <= 2 * learner.classifier.n_prototypes_


def test_images_go_out_as_a_zip_and_come_in_again(taught: Served, tmp_path: Path) -> None:
    exported = taught.client.get("/api/project/images").content
    with served(tmp_path / "second") as second:
        answer = second.client.post("/api/project/import", files={"file": ("a.zip", exported)}).json()
        assert (answer["taught"], answer["unreadable"]) == (18, 0)
        assert second.project.store.counts() == taught.project.store.counts()
        again = second.client.post("/api/project/import", files={"file": ("a.zip", exported)}).json()
        assert (again["taught"], again["already"]) == (0, 18)


def test_a_zip_of_odd_things_is_taken_apart_without_harm(studio: Served, tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../../../outside.png", png(0, 1))
        archive.writestr("/absolute/mug/1.png", png(0, 2))
        archive.writestr("mug/broken.png", b"no image")
        archive.writestr("mug/notes.txt", b"text")
        archive.writestr("no folder.png", png(0, 3))
    answer = studio.client.post("/api/project/import", files={"file": ("a.zip", file.getvalue())}).json()
    assert (answer["taught"], answer["unreadable"], answer["passed_over"]) == (1, 1, 3)
    assert studio.project.store.counts() == {"mug": 1}  # and no class named ".."
    assert not (tmp_path / "outside.png").exists()
    for bad in (b"no zip", file.getvalue()[:-30]):
        response = studio.client.post("/api/project/import", files={"file": ("a.zip", bad)})
        assert (response.status_code, response.json()["error"][:22]) == (422, "the zip cannot be read")


def test_an_entry_of_a_zip_that_cannot_be_used_is_named_and_the_others_are_taught(studio: Served) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mug/1.png", png(0, 1))
        archive.writestr(f"{'long' * 30}/2.png", png(0, 2))
        archive.writestr("damaged/3.png", png(0, 3))
        archive.writestr("pan/4.png", png(1, 4))
    content = file.getvalue()
    content = content.replace(png(0, 3), png(0, 3)[::-1], 1)  # no longer what its checksum says
    answer = studio.client.post("/api/project/import", files={"file": ("a.zip", content)}).json()
    assert (answer["taught"], answer["unreadable"]) == (2, 2)
    long, damaged = answer["problems"]
    assert long["file"] == f"{'long' * 9}lon…/2.png"
    assert long["error"] == "the name of a class has at most 100 characters; got 120."
    assert damaged["file"] == "3.png"
    assert "the zip cannot be read here" in damaged["error"]
    assert studio.project.store.counts() == {"mug": 1, "pan": 1}


def damaged(content: bytes, name: str) -> bytes:
    """The zip with other bytes where those of one entry begin."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        info = archive.getinfo(name)
    start = info.header_offset + 30 + len(name.encode())
    start += 4 if info.compress_type == zipfile.ZIP_LZMA else 0  # there a version and a length come first
    return content[:start] + b"\xff" * 12 + content[start + 12 :]


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_whatever_way_of_packing_is_damaged_only_its_entry_is_lost(studio: Served, packing: int) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr("manifest.csv", as_csv([Line("mug/1.png", "mug"), Line("mug/2.png", "mug")]))
        archive.writestr("mug/1.png", png(0, 1))
        archive.writestr("mug/2.png", png(0, 2))
    answer = bring_in(studio, damaged(file.getvalue(), "mug/1.png"))
    assert (answer["taught"], answer["unreadable"]) == (1, 1)
    assert "the zip cannot be read here" in answer["problems"][0]["error"]
    without = damaged(file.getvalue(), "manifest.csv")
    response = studio.client.post("/api/project/import", files={"file": ("a.zip", without)})
    assert (response.status_code, response.json()["error"][:22]) == (422, "the zip cannot be read")


def test_a_disk_that_cannot_be_written_is_not_told_as_a_damaged_zip(studio: Served) -> None:
    shutil.rmtree(studio.project.folder / "images")
    with pytest.raises(OSError, match="images"):
        import_dataset(studio.project, io.BytesIO(zipped({"mug/1.png": png(0, 1)})), threading.Event())


def test_a_zip_that_unpacks_to_too_much_is_refused(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.studio.zip_reading.MOST_UNPACKED_BYTES", 1_000_000)
    photos = {f"mug/{seed}.png": png(0, seed) + bytes(400_000) for seed in range(3)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in photos.items():
            archive.writestr(name, content)
    response = studio.client.post("/api/project/import", files={"file": ("a.zip", file.getvalue())})
    assert response.status_code == 422
    assert "at most 1 MB unpacked" in response.json()["error"]


def test_a_whole_photo_is_decoded_once_for_all_its_regions(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []

    def read(content: bytes, **how: Any) -> Image.Image:
        decoded.append(content)
        return read_image(content, **how)

    monkeypatch.setattr("exll.studio.dataset_import.read_image", read)
    sources = {"1.png": png(1, 1), "2.png": b"no image"}
    lines = [Line(f"mug/{i}.png", "mug", box="0,0,20,20", source=f".sources/{1 + i % 2}.png") for i in range(6)]
    photos = {line.file: png(0, i) for i, line in enumerate(lines)}
    whole = {f".sources/{name}": content for name, content in sources.items()}
    answer = bring_in(studio, zipped({"manifest.csv": as_csv(lines)} | photos | whole))
    assert (answer["taught"], answer["unreadable"]) == (3, 3)
    assert sorted(decoded) == sorted(sources.values())


def test_every_name_of_a_class_survives_the_way_out_and_in(studio: Served, tmp_path: Path) -> None:
    names = ["a/b", "a_b", "a\\b", ".hidden", "hidden", "..", "mug", "caf\u00e9 / 2", "a_b 2", "exll-labels.json"]
    names += [
        "MUG",
        "nul",
        "COM1.txt",
        "end.",
        "what?",
        "manifest.csv",
        "__MACOSX",
        "\N{GRINNING FACE}" * 100,
        ".nothing",
    ]
    for seed, name in enumerate(names):
        studio.taught(name, png(seed % 4, seed))
    exported = studio.client.get("/api/project/images").content
    with zipfile.ZipFile(io.BytesIO(exported)) as archive:
        folders = {name.split("/")[0] for name in archive.namelist() if name != "manifest.csv"}
        assert len({folder.casefold() for folder in folders}) == len(names)
        assert all(len(folder.encode()) < 255 and folder.strip(". ") == folder for folder in folders)
        assert {"a_b", "mug", "hidden", "a_b 2"} <= folders
        inside = {info.filename: archive.read(info) for info in archive.infolist()}
    moved = io.BytesIO()
    with zipfile.ZipFile(moved, "w") as archive:  # unpacked somewhere and packed again, with the folder around it
        for name, content in inside.items():
            archive.writestr(f"images/{name}", content)
    for number, content in enumerate((exported, moved.getvalue())):
        with served(tmp_path / f"copy {number}") as copy:
            answer = copy.client.post("/api/project/import", files={"file": ("a.zip", content)}).json()
            assert (answer["taught"], answer["passed_over"]) == (len(names), 0), answer
            assert copy.project.store.counts() == studio.project.store.counts()


def test_a_zip_of_before_with_a_table_of_folders_is_read(studio: Served) -> None:
    bring_in(studio, zipped({"exll-labels.json": b'{"a_b": "a/b"}', "a_b/1.png": png(0, 1), "mug/2.png": png(1, 1)}))
    assert studio.project.store.counts() == {"a/b": 1, "mug": 1}


def test_a_table_of_folders_that_is_damaged_is_refused_in_words(studio: Served) -> None:
    for table in (b"no json", b"[]", b'{"mug": 1}', b"[" * 100_000):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("exll-labels.json", table)
            archive.writestr("mug/1.png", png(0, 1))
        response = studio.client.post("/api/project/import", files={"file": ("a.zip", file.getvalue())})
        assert response.status_code == 422
        assert response.json()["error"].startswith("exll-labels.json in the zip must be a table")
    assert studio.project.store.counts() == {}
