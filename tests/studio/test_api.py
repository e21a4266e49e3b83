"""What the API promises, over a true connection."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from exll import ImageLearner, load
from exll.explain.rules_page import page as rules_page
from exll.explain.thumbnails import Thumbnails, folders_of
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.studio.manifest import unguarded
from served import Served, assert_model_is_its_log, png


@pytest.fixture
def taught(studio: Served) -> Served:
    for kind in range(3):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(6)))
    return studio


def test_an_empty_project_answers_everything_in_words(studio: Served) -> None:
    response = studio.ask(png(0, 0))
    assert (response.status_code, response.json()["error"]) == (409, "nothing was taught yet.")
    assert studio.client.get("/api/project/model").status_code == 409
    assert studio.client.post("/api/undo").status_code == 409
    assert studio.json("/api/classes")["classes"] == []
    assert studio.json("/api/rules") == {"classes": []}
    assert studio.json("/api/map")["prototypes"] == []
    assert studio.json("/api/suspects")["suspects"] == []
    assert studio.json("/api/examples") == {"examples": [], "next": None}


def test_what_is_taught_is_known_at_once_and_new_classes_come_at_any_time(studio: Served) -> None:
    studio.taught("mug", png(0, 1))
    assert studio.ask(png(0, 2)).json()["prediction"]["label"] == "mug"
    studio.taught("pan", png(1, 1), png(1, 2))
    answer = studio.ask(png(1, 3)).json()["prediction"]
    assert (answer["label"], answer["runner_up"]) == ("pan", "mug")
    assert studio.project.store.counts() == {"mug": 1, "pan": 2}
    assert_model_is_its_log(studio.project)


def test_the_same_image_twice_is_noticed_and_two_labels_must_be_meant(studio: Served) -> None:
    (first,) = studio.taught("mug", png(0, 1))
    again = studio.teach("mug", png(0, 1), png(0, 2), png(0, 2)).json()
    assert [result["status"] for result in again["results"]] == ["already", "taught", "already"]
    assert again["results"][0]["taught_as"][0]["id"] == first
    refused = studio.teach("pan", png(0, 1))
    assert refused.status_code == 409
    assert 'taught as "mug" already' in refused.json()["error"]
    assert studio.project.store.counts() == {"mug": 2}
    studio.taught("pan", png(0, 1), two_labels="true")
    assert studio.project.store.counts() == {"mug": 2, "pan": 1}
    groups = studio.json("/api/suspects")["contradictions"]
    assert [sorted(example["label"] for example in group["examples"]) for group in groups] == [["mug", "pan"]]


def test_a_bad_file_among_good_ones_is_named_and_the_others_are_taught(studio: Served) -> None:
    response = studio.teach("mug", png(0, 1), b"no image", png(0, 2))
    assert response.status_code == 200
    assert [result["status"] for result in response.json()["results"]] == ["taught", "unreadable", "taught"]
    alone = studio.teach("mug", b"no image")
    assert alone.status_code == 422
    assert alone.json()["error"].startswith("the image is none of JPEG")
    assert alone.json()["hint"]


def test_the_hint_on_formats_is_given_for_unknown_formats_only(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert studio.teach("mug", b"no image").json()["hint"] == "If it is a photo, save it as JPEG or PNG."
    assert studio.teach("mug", b"").json()["hint"] == "Use another file."
    assert studio.teach("mug", png(0, 0)[:60]).json()["hint"].startswith("Use another photo, or save this one")
    assert studio.ask(png(0, 0), box="0,0,999,9").json()["hint"] == "Send a box that lies within the image."
    monkeypatch.setattr("exll.studio.analysed_image.MOST_PIXELS", 1000)
    assert studio.ask(png(0, 0)).json()["hint"].startswith("Use another photo, or save this one")


def test_an_explanation_shows_the_very_examples_and_its_map_adds_up(taught: Served) -> None:
    answer = taught.ask(png(1, 50), "/api/explain").json()
    assert answer["prediction"]["label"] == "kind 1"
    assert answer["hit"]["label"] == "kind 1"
    assert answer["near_miss"]["label"] != "kind 1"
    shown = answer["hit"]["examples"][0]
    assert taught.json(f"/api/examples/{shown['example']}")["label"] == "kind 1"
    for address in (shown["thumbnail"], shown["image"], answer["image"], *(w["picture"] for w in answer["where"])):
        response = taught.client.get(address)
        assert response.headers["content-type"].startswith("image/")
        Image.open(io.BytesIO(response.content)).load()
    alone, against = answer["where"]
    assert (alone["against"], against["against"]) == (None, answer["prediction"]["runner_up"])
    assert alone["total"] + alone["offset"] == pytest.approx(alone["score"])
    assert alone["score"] == pytest.approx(answer["details"]["global_score"])


def test_a_correction_teaches_once_and_says_what_it_changed(taught: Served) -> None:
    asked = taught.ask(png(0, 60)).json()
    assert asked["prediction"]["label"] == "kind 0"
    fields = {"asked": asked["asked"], "label": "kind 9"}
    answer = taught.client.post("/api/correct", data=fields).json()
    assert answer["status"] == "taught"
    assert answer["before"]["prediction"]["label"] == "kind 0"
    assert answer["before"]["probability"] == 0
    now = taught.client.post("/api/predict", data={"asked": asked["asked"]}).json()["prediction"]
    assert answer["after"]["prediction"] == now
    assert answer["turned"] == (now["label"] == "kind 9" and now["known"])
    assert answer["turned"] or "is not enough to change the answer" in answer["sentence"]
    assert taught.project.store.counts()["kind 9"] == 1
    again = taught.client.post("/api/correct", data=fields).json()
    assert (again["status"], again["example"]["label"], again["step"]) == ("already", "kind 9", None)
    assert "not taught twice" in again["sentence"]
    assert taught.project.store.counts()["kind 9"] == 1
    fields["label"] = "kind 1"
    before = taught.project.store.counts()["kind 1"]
    assert taught.client.post("/api/correct", data=fields).status_code == 409
    moved = taught.client.post("/api/correct", data={**fields, "move": "true"}).json()
    assert (moved["status"], moved["example"]["label"]) == ("moved", "kind 1")
    counts = taught.project.store.counts()
    assert ("kind 9" in counts, counts["kind 1"]) == (False, before + 1)
    taught.client.post("/api/undo")
    assert taught.project.store.counts()["kind 9"] == 1


def test_a_correction_that_one_example_cannot_bring_about_says_so(studio: Served) -> None:
    studio.taught("many", *(png(0, seed) for seed in range(30)))
    studio.taught("other", *(png(1, seed) for seed in range(30)))
    answer = studio.ask(png(1, 3), "/api/correct", label="many", two_labels="true").json()
    assert answer["after"]["prediction"]["label"] == "other"
    assert not answer["turned"]
    assert "one example is not enough to change the answer" in answer["sentence"]


def test_an_address_with_nothing_behind_it_is_a_sentence_too(studio: Served) -> None:
    response = studio.client.get("/api/nothing")
    assert (response.status_code, response.json()["error"]) == (404, "there is nothing at /api/nothing.")
    assert response.json()["hint"]


def test_just_asking_leaves_nothing_on_the_disk(taught: Served) -> None:
    before = sorted(path for path in taught.project.folder.rglob("*") if path.is_file())
    taught.ask(png(1, 50), "/api/explain")
    taught.ask(png(1, 51))
    assert sorted(path for path in taught.project.folder.rglob("*") if path.is_file()) == before


def test_an_image_that_was_asked_about_long_ago_has_to_be_sent_again(taught: Served) -> None:
    response = taught.client.post("/api/explain", data={"asked": "0" * 64})
    assert (response.status_code, response.json()["hint"]) == (404, "Send the photo again.")
    assert taught.client.post("/api/explain").status_code == 422


def test_classes_say_what_is_expected_of_them_and_what_would_help(taught: Served) -> None:
    for found, entry in zip(
        sorted(taught.json("/api/classes")["classes"], key=lambda one: str(one["label"])),
        sorted(taught.project.live.current.snapshot.progress(), key=lambda one: str(one.label)),
        strict=True,
    ):
        assert {name: found[name] for name in entry.to_dict() if name in found} == {
            name: value for name, value in entry.to_dict().items() if name != "sentence"
        }
        assert 0 < found["new_groups"] < 1


def test_a_recording_counts_as_one_clip_also_where_its_frames_are_unlike_each_other(studio: Served) -> None:
    for kind in range(2):
        studio.taught(f"photos {kind}", *(png(kind, seed) for seed in range(12)))
        frames = [png(2 + kind, seed) for seed in range(12)]
        for start in (0, 4, 8):
            studio.taught(f"recorded {kind}", *frames[start : start + 4], group=f"g{kind}", clip=f"clip-{kind}")
    found = {one["label"]: one for one in studio.json("/api/classes")["classes"]}
    assert [found[f"recorded {kind}"]["groups"] for kind in range(2)] == [1, 1]
    assert all(found[f"photos {kind}"]["groups"] > 1 for kind in range(2))
    assert {one["verdict"] for label, one in found.items() if label.startswith("recorded")} == {"show it again"}
    before = studio.project.live.current.snapshot.classifier
    studio.taught("recorded 0", *(png(2, 50 + seed) for seed in range(4)), clip="another")
    assert studio.project.live.current.snapshot.classifier.progress() != before.progress()
    assert {one["label"]: one["groups"] for one in studio.json("/api/classes")["classes"]}["recorded 0"] == 2
    assert studio.teach("recorded 0", png(2, 99), clip="no id").status_code == 422


def test_classes_are_renamed_merged_and_deleted(taught: Served) -> None:
    assert taught.post("/api/classes/rename", label="kind 0", new_label="mug").json()["changed"] == 6
    refused = taught.post("/api/classes/rename", label="mug", new_label="kind 1")
    assert (refused.status_code, refused.json()["hint"]) == (409, "Merge the two, or choose another name.")
    assert taught.post("/api/classes/rename", label="mug", new_label="kind 1", merge=True).json()["changed"] == 6
    assert taught.post("/api/classes/delete", label="kind 2").json()["changed"] == 6
    assert taught.post("/api/classes/delete", label="kind 2").status_code == 404
    taught.settle()
    found = taught.json("/api/classes")
    assert [(entry["label"], entry["examples"]) for entry in found["classes"]] == [("kind 1", 12)]
    assert taught.ask(png(2, 1)).json()["prediction"]["label"] == "kind 1"
    assert_model_is_its_log(taught.project)


def test_merging_into_a_name_that_is_no_class_is_refused_and_renames_nothing(taught: Served) -> None:
    before = taught.project.store.counts()
    refused = taught.post("/api/classes/rename", label="kind 0", new_label="kimd 1", merge=True)
    assert (refused.status_code, refused.json()["error"]) == (404, 'there is no class "kimd 1".')
    assert "rename it" in refused.json()["hint"]
    assert taught.project.store.counts() == before


def test_every_step_can_be_undone_back_to_nothing(taught: Served) -> None:
    taught.post("/api/examples/relabel", ids=[1, 2], label="kind 2")
    taught.post("/api/examples/delete", ids=[3])
    taught.post("/api/classes/rename", label="kind 0", new_label="kind 1", merge=True)
    kinds = []
    while (response := taught.client.post("/api/undo")).status_code == 200:
        kinds.append(response.json()["undone"]["kind"])
        if len(kinds) == 3:
            assert taught.project.store.counts() == {"kind 0": 6, "kind 1": 6, "kind 2": 6}
    assert kinds == ["merge", "delete", "relabel", "teach", "teach", "teach"]
    taught.settle()
    assert taught.project.store.counts() == {}
    assert taught.ask(png(0, 0)).status_code == 409


def test_examples_come_in_pages_the_newest_first(taught: Served) -> None:
    first = taught.json("/api/examples?limit=4&label=kind 1")
    second = taught.json(f"/api/examples?limit=4&label=kind 1&before={first['next']}")
    assert [e["id"] for e in first["examples"] + second["examples"]] == [12, 11, 10, 9, 8, 7]
    assert second["next"] is None


def test_rules_and_map_name_examples_of_their_class(taught: Served) -> None:
    (only,) = taught.json("/api/rules?label=kind 1")["classes"]
    assert sorted(number for rule in only["rules"] for number in rule["examples"]) == list(range(7, 13))
    found = taught.json("/api/map")
    assert len(found["colours"]) == len(found["labels"]) == 3
    prototypes = found["prototypes"]
    assert sum(prototype["support"] for prototype in prototypes) == 18
    assert sorted(number for prototype in prototypes for number in prototype["examples"]) == list(range(1, 19))
    assert all(0 <= prototype[axis] <= 1 for prototype in prototypes for axis in "xy")
    for edge in found["edges"]:
        assert prototypes[edge["one"]]["label"] == prototypes[edge["other"]]["label"]


def test_a_suspect_is_found_kept_and_remembered_until_it_is_relabelled(taught: Served, tmp_path: Path) -> None:
    (wrong,) = taught.taught("kind 0", png(1, 70))
    found = taught.json("/api/suspects")["suspects"]
    assert [(suspect["example"]["id"], suspect["would_be"]) for suspect in found] == [(wrong, "kind 1")]
    assert taught.post("/api/suspects/keep", ids=[wrong]).json()["changed"] == 1
    assert taught.json("/api/suspects")["suspects"] == []
    taught.post("/api/examples/relabel", ids=[wrong], label="kind 2")
    taught.settle()
    found = taught.json("/api/suspects")["suspects"]
    assert [(suspect["example"]["id"], suspect["would_be"]) for suspect in found] == [(wrong, "kind 1")]


def test_how_strict_answers_are_is_a_setting_of_the_project_and_of_each_request(taught: Served) -> None:
    strict, lenient = 0.3, 0.001
    learner = taught.project.live.current.snapshot

    def level(image: bytes, share: float) -> str:
        return learner.predict(image, false_alarms=share).level

    images = [png(kind, seed) for kind in range(6) for seed in (50, 51)]
    image = next(image for image in images if level(image, strict) != level(image, lenient))

    def asked(**fields: Any) -> list[str]:
        said = taught.ask(image, **fields).json()["prediction"]
        why = taught.ask(image, "/api/explain", **fields).json()
        table = taught.client.post("/api/predictions.csv", data=fields, files={"files": ("1.png", image)}).text
        (row,) = csv.DictReader(io.StringIO(table))
        assert said == why["prediction"]
        return [said["level"], why["details"]["level"], row["level"]]

    for share in (strict, lenient):
        assert asked(false_alarms=share) == [level(image, share)] * 3
    assert taught.json("/api/project")["false_alarms"] == FALSE_ALARMS
    assert taught.post("/api/project/settings", false_alarms=strict).status_code == 200
    assert taught.json("/api/project")["false_alarms"] == strict
    assert asked() == asked(false_alarms=strict)
    for refused in (0, 1, -0.1, "x"):
        assert taught.ask(image, false_alarms=refused).status_code == 422
        assert taught.post("/api/project/settings", false_alarms=refused).status_code == 422


def test_the_downloaded_model_gives_the_same_answers(taught: Served, tmp_path: Path) -> None:
    response = taught.client.get("/api/project/model")
    assert response.headers["content-disposition"].endswith('.exll"')
    (tmp_path / "model.exll").write_bytes(response.content)
    learner = load(tmp_path / "model.exll", ImageLearner)
    for kind in range(3):
        said = taught.ask(png(kind, 80)).json()["prediction"]
        prediction = learner.predict(png(kind, 80))
        assert (said["label"], said["probability"]) == (prediction.label, prediction.probability)


def test_the_downloaded_model_names_its_examples_as_the_zip_of_images_does(taught: Served, tmp_path: Path) -> None:
    (tmp_path / "model.exll").write_bytes(taught.client.get("/api/project/model").content)
    with zipfile.ZipFile(io.BytesIO(taught.client.get("/api/project/images").content)) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    learner = load(tmp_path / "model.exll", ImageLearner)
    remembered = [name for rule in learner.rules() for condition in rule.conditions for name in condition.names]
    assert remembered
    assert set(remembered) <= set(names)
    pages = rules_page(learner.rules(), "model", Thumbnails(folders_of(tmp_path / "model.exll", [])))
    assert "no image kept" not in pages
    assert learner.kept_thumbnails()
    assert set(learner.kept_thumbnails()) <= set(names)
    said = taught.client.post("/api/explain", files={"file": ("x.png", png(0, 80))}).json()
    assert said["hit"]["examples"][0]["image"].startswith("/api/examples/")  # the studio's own names stay


def test_the_report_is_one_file_with_the_pictures_behind_every_rule(taught: Served) -> None:
    response = taught.client.get("/api/project/report")
    assert response.headers["content-disposition"].startswith("attachment")
    assert all(f"kind {kind}" in response.text for kind in range(3))
    assert response.text.count("data:image/webp;base64,") == 18
    assert "no image kept" not in response.text


def test_predictions_come_as_the_csv_of_the_command_line(taught: Served) -> None:
    files = [("files", (name, png(1, 90))) for name in ("=one.png", "'=one.png")] + [
        ("files", ("two.png", b"no image"))
    ]
    rows = list(csv.DictReader(io.StringIO(taught.client.post("/api/predictions.csv", files=files).text)))
    assert [row["label"] for row in rows] == ["kind 1", "kind 1", ""]
    assert [unguarded(row["path"]) for row in rows[:2]] == ["=one.png", "'=one.png"]
    assert rows[0]["path"] == "'=one.png"
    assert rows[2]["error"].startswith("the image is none of")


def test_what_is_purged_is_gone_and_what_is_live_stays(taught: Served) -> None:
    taught.post("/api/examples/delete", ids=[1, 2])
    taught.settle()
    assert taught.client.get("/api/examples/1/image").status_code == 200
    assert taught.client.post("/api/project/purge").json() == {"images": 2}
    assert taught.client.get("/api/examples/1/image").status_code == 404
    assert len([path for path in (taught.project.folder / "images").rglob("*") if path.is_file()]) == 16
    assert taught.client.post("/api/undo").status_code == 409
    assert taught.taught("kind 0", png(0, 0)) == [19]
    assert_model_is_its_log(taught.project)


@pytest.mark.parametrize("label", ["", "   ", "a" * 101, "a\u0000b", "right\u202eleft"])
def test_odd_names_of_classes_are_refused(studio: Served, label: str) -> None:
    response = studio.teach(label, png(0, 0))
    assert response.status_code == 422
    assert response.json()["error"]
    assert studio.project.store.counts() == {}


def test_spaces_and_spellings_of_a_name_are_one_class(studio: Served) -> None:
    studio.taught("cafe\u0301  crème ", png(0, 0))
    studio.taught("café crème", png(0, 1))
    assert studio.project.store.counts() == {"café crème": 2}


@pytest.mark.parametrize("view", ["workbench", "classes", "map", "check", "project"])
def test_every_page_is_served_and_says_where_one_is(studio: Served, view: str) -> None:
    response = studio.client.get(f"/{view}")
    assert response.status_code == 200
    assert response.text.count('aria-current="page"') == 1
    assert studio.client.get("/static/studio.css").status_code == 200


@pytest.mark.parametrize("old", ["/", "/teach", "/ask"])
def test_older_links_lead_to_the_workbench(studio: Served, old: str) -> None:
    assert studio.client.get(old).headers["location"] == "/workbench"


def test_an_answer_gives_the_probability_of_every_class_where_it_is_asked_for(taught: Served) -> None:
    answer = taught.ask(png(0, 50), all_classes="true").json()
    prediction, probabilities = answer["prediction"], answer["probabilities"]
    assert set(probabilities) == set(taught.project.store.counts())
    assert sum(probabilities.values()) == pytest.approx(1)
    assert max(probabilities, key=probabilities.__getitem__) == prediction["label"]
    assert probabilities[prediction["label"]] == pytest.approx(prediction["probability"])
    assert answer["looks"] == [[0, 0, 1, 1], pytest.approx([0.175, 0.175, 0.825, 0.825])]
    assert taught.ask(png(0, 50)).json()["probabilities"] is None


def test_a_box_is_taught_and_asked_as_an_image_of_its_own(studio: Served) -> None:
    photo = Image.new("RGB", (120, 60))
    encoded = io.BytesIO()
    for kind, left in ((0, 0), (2, 60)):
        photo.paste(Image.open(io.BytesIO(png(kind, 1))).convert("RGB").resize((60, 60)), (left, 0))
    photo.save(encoded, "PNG")
    both = encoded.getvalue()
    studio.taught("both", both)
    studio.taught("left thing", both, box="0,0,60,60")
    studio.taught("right thing", both, box="60,0,120,60")
    assert studio.project.store.counts() == {"both": 1, "left thing": 1, "right thing": 1}
    again = studio.teach("left thing", both, box="0,0,60,60").json()
    assert [result["status"] for result in again["results"]] == ["already"]
    for box, label in (("0,0,60,60", "left thing"), ("60,0,120,60", "right thing")):
        answer = studio.ask(both, box=box).json()
        assert answer["prediction"]["label"] == label
        assert [example["label"] for example in answer["taught_as"]] == [label]
        assert studio.ask(both, "/api/explain", box=box).json()["prediction"]["label"] == label
    shown = studio.client.get(f"/api/asked/{answer['asked']}/image")
    assert Image.open(io.BytesIO(shown.content)).size == (60, 60)
    for box, sentence in (("0,0,121,60", "must lie within the image"), ("1,2", "is written left,top,right,bottom")):
        refused = studio.ask(both, box=box)
        assert refused.status_code == 422
        assert sentence in refused.json()["error"]
    refused = studio.client.post("/api/explain", data={"asked": answer["asked"], "box": "0,0,5,5"})
    assert (refused.status_code, refused.json()["error"]) == (422, "a box is for an image that is sent along.")
