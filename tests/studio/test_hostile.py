"""The hostile images of the image tests, through the upload."""

import os
from pathlib import Path

import pytest

from hostile import write_hostile_folder
from served import Served

pytestmark = pytest.mark.fuzz


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[bytes], list[bytes]]:
    """What can be read as an image, and what cannot; files that cannot be opened at all cannot be sent either."""
    hostile = write_hostile_folder(tmp_path_factory.mktemp("hostile"))
    good, bad = ([p.read_bytes() for p in sorted(paths) if _is_sendable(p)] for paths in (hostile.good, hostile.bad))
    assert len(good) > 80
    assert len(bad) > 80
    return good, bad


def _is_sendable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def test_what_is_no_image_is_refused_in_words_and_leaves_nothing(
    studio: Served, contents: tuple[list[bytes], list[bytes]]
) -> None:
    for content in contents[1]:
        for response in (studio.teach("mug", content), studio.ask(content)):
            assert response.status_code == 422, response.text
            assert response.json()["error"].startswith("the image")
            assert response.json()["hint"]
    assert studio.project.store.counts() == {}
    assert studio.project.store.digests() == set()
    assert [path for path in (studio.project.folder / "images").rglob("*") if path.is_file()] == []
    assert studio.client.get("/healthz").status_code == 200


def test_odd_but_whole_images_are_taught_shown_and_asked_about(
    studio: Served, contents: tuple[list[bytes], list[bytes]]
) -> None:
    for content in contents[0]:
        response = studio.teach("odd", content)
        assert response.status_code == 200, response.text
        assert studio.ask(content).status_code == 200
    for example in studio.json("/api/examples?limit=500")["examples"]:
        for address in (example["thumbnail"], example["image"]):
            shown = studio.client.get(address)
            assert shown.headers["content-type"] in ("image/jpeg", "image/png", "image/webp", "image/gif")
