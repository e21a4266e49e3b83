"""How often the model is right on photos that are held out, what it confuses, and the learning curve."""

import asyncio
import io
import json
import threading
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import Request
from PIL import Image

from commands import exll
from exll.studio.actions import Offered, teach_images
from exll.studio.edits import NOTHING
from exll.studio.errors import ConflictError
from exll.studio.evaluation import evaluations, measured, near_duplicates_among, wilson
from exll.studio.learning_curve import curve
from exll.studio.routes.evaluation import _notice_leaving
from exll.studio.store import Row
from pictures import picture
from served import Served, as_png, assert_model_knows_its_log, png

KINDS = range(3)


def fill(studio: Served, taught: int = 6, held_out: int = 3) -> None:
    """Three classes; of the held-out photos of each, one shows another kind."""
    for kind in KINDS:
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(taught)))
    for kind in KINDS:
        shown = [png(kind, 50 + seed) for seed in range(held_out - 1)] + [png((kind + 1) % 3, 70)]
        studio.taught(f"kind {kind}", *shown, held_out=True)


def photos(studio: Served, **which: Any) -> list[dict[str, Any]]:
    response = studio.client.get("/api/evaluation/photos", params=which)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["photos"]
    return found


def roles(studio: Served) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for example in reversed(studio.json("/api/examples?limit=500")["examples"]):
        found.setdefault(example["label"], []).append(example["role"])
    return found


def test_the_score_counts_what_the_model_says_of_held_out_photos(studio: Served) -> None:
    fill(studio)
    found = studio.json("/api/evaluation")
    said: Counter[tuple[str, str | None]] = Counter()
    for kind in KINDS:
        for image in [png(kind, 50), png(kind, 51), png((kind + 1) % 3, 70)]:
            answer = studio.ask(image).json()["prediction"]
            said[f"kind {kind}", answer["label"] if answer["known"] else None] += 1
    assert {(cell["truth"], cell["answer"]): cell["count"] for cell in found["confusion"]} == said
    right = sum(count for (truth, answer), count in said.items() if truth == answer)
    assert 0 < right < 9
    assert (found["examples"], found["right"], found["accuracy"]) == (9, right, right / 9)
    assert found["interval"] == list(wilson(right, 9))
    assert found["taught"] == 18
    by_class = {one["label"]: (one["right"], one["examples"], one["taught"]) for one in found["classes"]}
    assert by_class == {f"kind {kind}": (said[f"kind {kind}", f"kind {kind}"], 3, True) for kind in KINDS}
    assert [one["accuracy"] for one in found["classes"]] == sorted(one["accuracy"] for one in found["classes"])


def test_near_duplicates_are_found_without_a_matrix_of_all_with_all() -> None:
    vectors = np.random.default_rng(0).normal(size=(4000, 32)).astype(np.float32)
    taught = [Row(1 + i, "mug", vector) for i, vector in enumerate(vectors)]
    held_out = [Row(10_000 + i, "mug", 2 * vectors[i]) for i in range(0, 4000, 4)]
    tracemalloc.start()
    try:
        found = near_duplicates_among(held_out, taught)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == {row.id: row.id - 9_999 for row in held_out}
    assert peak < len(taught) * len(held_out) * 4 / 2


def test_a_cell_gives_its_photos(studio: Served) -> None:
    fill(studio)
    for cell in studio.json("/api/evaluation")["confusion"]:
        truth, answer, count = cell["truth"], cell["answer"], cell["count"]
        shown = photos(studio, truth=truth, **({"unknown": True} if answer is None else {"answer": answer}))
        assert len(shown) == count
        assert {photo["example"]["label"] for photo in shown} == {truth}
        assert {photo["prediction"]["known"] for photo in shown} == {answer is not None}
        assert {photo["example"]["role"] for photo in shown} == {"held out"}
    wrong = photos(studio, wrong=True)
    assert len(wrong) == 9 - studio.json("/api/evaluation")["right"]
    sure = [photo["prediction"]["probability"] for photo in wrong]
    assert sure == sorted(sure, reverse=True)
    assert photos(studio, wrong=True, skip=1, limit=1) == wrong[1:2]


def test_unknown_answers_are_wrong_and_classes_that_were_never_taught_stand_apart(studio: Served) -> None:
    fill(studio)
    usual = studio.json("/api/evaluation")
    right = next(photo for photo in photos(studio) if photo["prediction"]["label"] == photo["example"]["label"])
    nothing = [Offered(studio.project.kept_image(studio.client.get(right["example"]["image"]).content), "")]
    studio.project.live.write(lambda: teach_images(studio.project, nothing, "", True, role=NOTHING)).result()
    found = studio.json("/api/evaluation")
    assert right["example"]["id"] in [photo["example"]["id"] for photo in photos(studio, unknown=True, wrong=True)]
    assert found["unknown"] == sum(cell["count"] for cell in found["confusion"] if cell["answer"] is None) > 0
    assert found["right"] == sum(cell["count"] for cell in found["confusion"] if cell["answer"] == cell["truth"])
    assert found["right"] < usual["right"]
    assert found["best_guess"] == usual["best_guess"]

    studio.taught("jug", png(4, 0), png(4, 1), held_out=True)
    found = studio.json("/api/evaluation")
    assert (found["examples"], found["never_taught"]) == (9, 2)
    assert [(one["label"], one["right"]) for one in found["classes"] if not one["taught"]] == [("jug", 0)]


def test_a_photo_that_is_almost_equal_to_a_taught_one_is_told(studio: Served) -> None:
    fill(studio)
    before = studio.json("/api/evaluation")
    (number,) = studio.taught("kind 0", as_png(picture(0, 80)))
    changed = picture(0, 80)
    changed.putpixel((0, 0), (1, 2, 3))
    studio.taught("kind 0", as_png(changed), held_out=True)
    studio.taught("kind 1", as_png(picture(0, 81)), held_out=True)  # another class: that makes nothing too good
    found = studio.json("/api/evaluation")
    assert found["near_duplicates"] - before["near_duplicates"] == 1
    (near,) = [photo for photo in photos(studio, near_duplicates=True) if photo["near_duplicate_of"] == number]
    assert near["example"]["label"] == "kind 0"
    assert found["without_near_duplicates"]["examples"] == found["examples"] - found["near_duplicates"]


def test_answers_are_kept_until_model_photos_or_strictness_change(studio: Served) -> None:
    fill(studio)

    def now() -> object:
        found = evaluations(studio.project)
        assert found is not None
        return measured(studio.project, found)

    first = now()
    assert now() is first
    (held,) = studio.taught("kind 0", png(0, 60), held_out=True)
    second = now()
    assert second is not first
    studio.post("/api/examples/relabel", ids=[held], label="kind 1")
    third = now()
    assert third is not second
    studio.taught("kind 0", png(0, 61))
    fourth = now()
    assert fourth is not third
    studio.post("/api/project/settings", false_alarms=0.2)
    assert now() is not fourth


@pytest.mark.parametrize("newest", [False, True])
def test_a_share_of_each_class_is_held_out_and_learned_again(studio: Served, newest: bool) -> None:
    for kind, count in enumerate((11, 7, 2)):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(count)))
    before = roles(studio)
    answer = studio.post("/api/evaluation/hold-out", every=3, newest=newest)
    assert answer.json()["changed"] == 5
    places = {label: [i for i, role in enumerate(own) if role == "held out"] for label, own in roles(studio).items()}
    every_third = {"kind 0": [2, 5, 8], "kind 1": [2, 5], "kind 2": []}
    assert places == ({"kind 0": [8, 9, 10], "kind 1": [5, 6], "kind 2": []} if newest else every_third)
    assert studio.post("/api/evaluation/hold-out", every=3, newest=newest).json()["changed"] == 0
    studio.settle()
    assert_model_knows_its_log(studio.project, alike=False)
    assert studio.client.post("/api/evaluation/learn").json()["changed"] == 5
    assert roles(studio) == before
    for _ in range(2):  # each was one step
        studio.client.post("/api/undo")
    assert roles(studio) == before
    refused = studio.post("/api/evaluation/hold-out", every=50)
    assert (refused.status_code, refused.json()["error"]) == (409, "no class has 50 photos yet.")


def test_the_command_line_agrees_on_the_same_model_and_photos(studio: Served, tmp_path: Path) -> None:
    fill(studio)
    for example in studio.json("/api/examples?limit=500")["examples"]:
        if example["role"] == "held out":
            folder = tmp_path / "held-out" / example["label"]
            folder.mkdir(parents=True, exist_ok=True)
            content = studio.client.get(example["image"]).content
            Image.open(io.BytesIO(content)).save(folder / f"{example['id']}.png")
    (tmp_path / "things.exll").write_bytes(studio.client.get("/api/project/model").content)
    done = exll("evaluate", tmp_path / "things.exll", tmp_path / "held-out", "--json", "--no-cache")
    assert done.returncode == 0, done.stderr
    there, here = json.loads(done.stdout), studio.json("/api/evaluation")
    assert there["accuracy"] == here["best_guess"]
    assert (there["right"] + there["unusual_right"], there["examples"]) == (here["right"], here["examples"])
    assert (there["unusual"], there["unknown"]) == (here["unusual"], here["unknown"])


@pytest.mark.parametrize("order", ["taught", "in turn"])
def test_the_learning_curve_in_the_order_of_teaching_ends_with_the_score(
    studio: Served, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exll.studio.learning_curve.MOST_LEARNED", 30)
    monkeypatch.setattr("exll.studio.learning_curve.MOST_ASKED", 5)
    fill(studio, taught=15)
    found = studio.client.get("/api/evaluation/curve", params={"order": order}).json()
    points = found["points"]
    assert [point["learned"] for point in points] == sorted({point["learned"] for point in points})
    first, last, score = points[0], points[-1], studio.json("/api/evaluation")
    assert (found["every"], found["asked_every"], first["asked"]) == (2, 2, 5)
    assert first["classes"] == (3 if order == "in turn" else 2)
    assert first["learned"] == (3 if order == "in turn" else 10)
    if order == "in turn":  # a fresh model, like those before
        assert (last["learned"], last["classes"], last["asked"]) == (23, 3, 5)
        return
    assert (last["learned"], last["classes"], last["asked"]) == (45, 3, 9)
    for name in ("right", "accuracy", "interval"):
        assert last[name] == score[name]


def test_a_learning_curve_whose_photos_are_learned_meanwhile_has_no_last_point(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(studio, taught=15)
    monkeypatch.setattr("exll.studio.learning_curve.measured", lambda *_: [])
    points = studio.client.get("/api/evaluation/curve").json()["points"]
    assert points
    assert points[-1]["learned"] < 45


def test_a_learning_curve_that_nobody_waits_for_ends_and_is_not_kept(studio: Served) -> None:
    fill(studio)
    found = evaluations(studio.project)
    assert found is not None
    left = threading.Event()
    left.set()
    with pytest.raises(ConflictError, match="nobody waits"):
        curve(studio.project, found, "taught", left)
    left.clear()
    made = curve(studio.project, found, "taught", left)
    assert curve(studio.project, found, "taught", left) is made


def test_it_is_noticed_when_the_page_is_left() -> None:
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    left = threading.Event()
    asyncio.run(_notice_leaving(Request({"type": "http"}, receive), left))
    assert left.is_set()


def test_nothing_is_measured_where_nothing_is_held_out(studio: Served) -> None:
    empty = studio.json("/api/evaluation")
    assert (empty["examples"], empty["accuracy"], empty["classes"]) == (0, None, [])
    studio.taught("kind 0", png(0, 0), held_out=True)
    assert studio.json("/api/evaluation")["never_taught"] == 1
    assert studio.client.get("/api/evaluation/curve").status_code == 409
    studio.taught("kind 1", png(1, 0))
    assert studio.client.get("/api/evaluation/curve").json()["error"] == "no photos are held out."
