import copy
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from exll import ExLLClassifier, ImageLearner, ModelFileError, load
from exll.errors import BackboneError, ImageError, InputError, NothingLearnedError
from exll.estimator import Prediction
from exll.explain.thumbnails import Thumbnails
from exll.features.backbone import OnnxBackbone
from networks import write_network
from pictures import picture
from support import assert_equal_models


@pytest.fixture(scope="module")
def nano() -> OnnxBackbone:
    return OnnxBackbone("nano", threads=1)


def taught(nano: OnnxBackbone, each: int = 8, preset: str = "paper") -> ImageLearner:
    learner = ImageLearner(nano, preset=preset)
    for seed in range(each):
        for kind in range(3):
            learner.learn(picture(kind, seed), f"kind {kind}", ref=f"{kind}-{seed}.png")
    return learner


def test_it_tells_what_it_was_taught(nano: OnnxBackbone) -> None:
    learner = taught(nano)
    for kind in range(3):
        prediction = learner.predict(picture(kind, 100))
        assert isinstance(prediction, Prediction)
        assert prediction.label == f"kind {kind}"
        assert 0 < prediction.probability <= 1
        assert prediction.runner_up in {"kind 0", "kind 1", "kind 2"} - {prediction.label}
        assert prediction.known
    assert str(learner.rules()[0]).startswith("IF it resembles 0-")


@pytest.mark.slow
def test_glocal_knows_what_it_was_taught_and_calls_the_rest_unusual(nano: OnnxBackbone) -> None:
    learner = taught(nano, preset="glocal")
    similar = learner.predict([picture(i % 3, 100 + i) for i in range(30)])
    assert [prediction.label for prediction in similar] == [f"kind {i % 3}" for i in range(30)]
    assert sum(prediction.known for prediction in similar) >= 25
    noise = np.random.default_rng(0).integers(0, 256, (4, 64, 64, 3), dtype=np.uint8)
    assert "usual" not in {prediction.level for prediction in learner.predict(list(noise))}
    assert {prediction.level for prediction in taught(nano).predict(list(noise))} == {"usual"}  # the paper cannot tell


def test_every_kind_of_image_gives_the_same_answer(nano: OnnxBackbone, tmp_path: Path) -> None:
    learner = taught(nano)
    image = picture(1, 50)
    image.save(tmp_path / "a.png")
    encoded = io.BytesIO()
    image.save(encoded, "PNG")
    sources: list[Any] = [tmp_path / "a.png", str(tmp_path / "a.png"), encoded.getvalue(), np.asarray(image), image]
    answers = [learner.predict(source) for source in sources]
    together = learner.predict(sources)
    assert len({answer.label for answer in [*answers, *together]}) == 1
    np.testing.assert_allclose([a.probability for a in together], answers[0].probability, rtol=1e-6)
    assert learner.predict([]) == []


def test_a_list_equals_one_after_the_other(nano: OnnxBackbone) -> None:
    one, other = ImageLearner(nano, preset="paper"), ImageLearner(nano, preset="paper")
    images: list[Any] = [picture(i % 3, i) for i in range(12)]
    labels = [f"k{i % 3}" for i in range(12)]
    one.learn(images, labels)
    for image, label in zip(images, labels, strict=True):
        other.learn(image, label)
    assert [p.label for p in one.predict(images)] == [p.label for p in other.predict(images)]


@pytest.mark.parametrize("label", ["kiwi", 5, True, np.str_("kiwi"), np.int64(5)])
def test_one_label_for_a_list_is_the_label_of_all(nano: OnnxBackbone, label: Any) -> None:
    learner = ImageLearner(nano, preset="paper")
    learner.learn([picture(0, 0), picture(1, 1)], label)
    assert learner.classes_.tolist() == [label]
    assert learner.megacloud(label).count == 2


# Public names of an ExLLClassifier that an ImageLearner does not have, and why.
LEFT_OUT = {
    "fit": "a new ImageLearner starts anew",
    "partial_fit": "it is called learn, and takes images",
    "answers": "predict gives them",
    "predict_proba": "predict gives the probability of its answer; for all classes ask learner.classifier",
    "like_nothing": "explain gives them as examples_of_nothing",
    "rename_refs": "for programs that keep refs of their own; ask learner.classifier",
    "score": "of scikit-learn, which knows no images",
    "learner_": "it belongs to learner.classifier",
    "get_params": "of scikit-learn",
    "set_params": "of scikit-learn",
    "get_metadata_routing": "of scikit-learn",
}


def test_an_image_learner_has_what_a_classifier_has() -> None:
    of_classifier = {name for name in dir(ExLLClassifier) if not name.startswith("_") and "_request" not in name}
    missing = of_classifier - set(dir(ImageLearner)) - {"backbone", "classifier"}  # set by __init__
    assert missing == set(LEFT_OUT)


def test_what_is_asked_of_both_is_answered_alike(nano: OnnxBackbone) -> None:
    learner = taught(nano, preset="glocal")
    classifier, images = learner.classifier, [picture(0, 0), picture(1, 99)]
    vectors = learner.vectors([*images])
    assert learner.progress() == classifier.progress()
    assert learner.rules("class") == classifier.rules("class")
    assert learner.suspects() == classifier.suspects()
    assert learner.n_prototypes_ == classifier.n_prototypes_
    assert learner.nbytes_ > classifier.nbytes_ + sum(map(len, learner.kept_thumbnails().values()))
    np.testing.assert_array_equal(learner.novelty([*images]), classifier.novelty(vectors))
    assert learner.novelty(images[1]) == pytest.approx(classifier.novelty(vectors)[1])
    assert learner.novelty([]).shape == (0,)
    assert learner.novelty_threshold(0.2) == classifier.novelty_threshold(0.2)
    assert learner.without(images[0], 0) == classifier.without(vectors[0], 0)
    assert learner.rename_class("kind 0", "kind 1", merge=True) is learner
    assert learner.classes_.tolist() == ["kind 1", "kind 2"]
    assert learner.megacloud("kind 1").count == 16


@pytest.mark.slow
def test_the_rate_of_false_alarms_moves_the_line_between_usual_and_unusual(nano: OnnxBackbone) -> None:
    learner = taught(nano, preset="glocal")
    images = [picture(i % 3, 100 + i) for i in range(30)]
    usual = [
        sum(p.level == "usual" for p in learner.predict([*images], false_alarms=rate)) for rate in (0.01, 0.3, 0.9)
    ]
    assert usual == sorted(usual, reverse=True)
    assert usual[0] > usual[-1]
    with pytest.raises(InputError, match="false_alarms must be a share"):
        learner.predict(images[0], false_alarms=2)


def test_a_fresh_one_says_in_its_own_name_that_it_has_learned_nothing(nano: OnnxBackbone, tmp_path: Path) -> None:
    learner, image = ImageLearner(nano), picture(0, 0)
    assert repr(learner) == "ImageLearner(backbone='nano', looks=2, preset='glocal'): nothing learned yet"
    asks: list[Any] = [
        lambda: learner.predict(image),
        lambda: learner.predict([]),
        lambda: learner.predict_vectors(learner.vectors([image])),
        lambda: learner.novelty(image),
        lambda: learner.explain(image),
        lambda: learner.without(image, 0),
        lambda: learner.evidence_map(image, "a"),
        lambda: learner.case(image, "a.png"),
        lambda: learner.save(tmp_path / "m.exll"),
        lambda: learner.rename_class("a", "b"),
        lambda: learner.megacloud("a"),
        *(getattr(learner, name) for name in ("rules", "progress", "suspects", "novelty_threshold")),
    ]
    for ask in asks:
        with pytest.raises(
            NothingLearnedError, match=r"^this ImageLearner has not learned anything yet; call learn first\.$"
        ):
            ask()
    for name in ("classes_", "n_prototypes_", "nbytes_"):
        assert not hasattr(learner, name)
    assert not list(tmp_path.iterdir())


def test_it_shows_what_it_is_made_of(nano: OnnxBackbone) -> None:
    expected = "ImageLearner(backbone='nano', looks=2, preset='paper'): 3 classes, 6 examples"
    assert repr(taught(nano, 2)) == expected


def test_a_path_names_itself(nano: OnnxBackbone, tmp_path: Path) -> None:
    picture(0, 0).save(tmp_path / "mug.png")
    learner = ImageLearner(nano, preset="paper")
    learner.learn(tmp_path / "mug.png", "mug")
    assert learner.classifier.learner_.records(0)[0].ref == str(tmp_path / "mug.png")
    assert learner.classifier.learner_.records(0)[0].vector is not None  # vectors are this learner's default
    assert learner.predict(tmp_path / "mug.png") == Prediction("mug", 1.0, None)


def test_save_and_load_give_back_the_learner(nano: OnnxBackbone, tmp_path: Path) -> None:
    learner = taught(nano)
    learner.save(tmp_path / "learner.exll")
    again = load(tmp_path / "learner.exll", ImageLearner)
    assert_equal_models(learner.classifier, again.classifier)
    assert again.predict(picture(2, 70)) == learner.predict(picture(2, 70))
    again.learn(picture(3, 0), "kind 3")
    assert "kind 3" in again.classes_


def test_a_copy_goes_on_by_itself(nano: OnnxBackbone) -> None:
    learner = taught(nano, 2)
    twin = copy.deepcopy(learner)
    assert_equal_models(learner.classifier, twin.classifier)
    twin.learn(picture(1, 77), "new")
    assert "new" not in learner.classifier.classes_
    assert learner.predict(picture(1, 5)) == taught(nano, 2).predict(picture(1, 5))


def test_another_backbone_is_refused(nano: OnnxBackbone, tmp_path: Path) -> None:
    own = write_network(tmp_path / "own.onnx")
    learner = ImageLearner(own, preset="paper")
    learner.learn(picture(0, 0), "a")
    learner.save(tmp_path / "learner.exll")
    with pytest.raises(BackboneError, match=r"taught with the backbone own .* is another one"):
        load(tmp_path / "learner.exll", backbone="nano")
    moved = own.rename(tmp_path / "moved.onnx")
    with pytest.raises(BackboneError, match="which is not found here"):
        load(tmp_path / "learner.exll")
    assert isinstance(load(tmp_path / "learner.exll", backbone=moved), ImageLearner)
    write_network(tmp_path / "own.onnx", 5.0)  # the same name, other weights
    with pytest.raises(BackboneError, match="is another one"):
        load(tmp_path / "learner.exll")


def test_bad_input_changes_nothing(nano: OnnxBackbone, tmp_path: Path) -> None:
    learner, twin = taught(nano, 2), taught(nano, 2)
    with pytest.raises(ImageError, match="no such file"):
        learner.learn(tmp_path / "none.jpg", "x")
    with pytest.raises(ImageError):
        learner.learn([picture(0, 0), b"broken"], ["a", "b"])
    with pytest.raises(InputError, match="same number of rows; got 2 and 1"):
        learner.learn([picture(0, 0), picture(1, 1)], ["a"])
    with pytest.raises(InputError, match="there must be one ref per example"):
        learner.learn([picture(0, 0)], ["a"], ["x", "y"])
    with pytest.raises(InputError, match="refs must be a list"):
        learner.learn([picture(0, 0), picture(1, 1)], ["a", "b"], "xy")
    for label in (5.5, None):
        with pytest.raises(InputError, match=r"one label per row|requires y"):
            learner.learn([picture(0, 0), picture(1, 1)], label)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="no image to learn"):
        learner.learn([], [])
    with pytest.raises(InputError, match="have 512 numbers"):
        learner.learn_vectors(np.ones((1, 3)), ["a"], [None])
    assert_equal_models(learner.classifier, twin.classifier)


def test_a_file_of_a_classifier_without_its_backbone_is_refused(nano: OnnxBackbone, tmp_path: Path) -> None:
    from exll.saving.model_file import read_model, write_model

    taught(nano, 1).save(tmp_path / "learner.exll")
    file = read_model(tmp_path / "learner.exll")
    metadata = {name: value for name, value in file.metadata.items() if name not in ("format", "backbone")}
    write_model(tmp_path / "learner.exll", metadata, file.tensors)
    with pytest.raises(ModelFileError, match="does not hold a whole model"):
        load(tmp_path / "learner.exll")


def test_an_added_backbone_is_found_by_name_when_its_place_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cache in ("one", "other"):
        (tmp_path / cache / "backbones").mkdir(parents=True)
        write_network(tmp_path / cache / "backbones" / "mine.onnx")
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "one"))
    learner = ImageLearner("mine", preset="paper")
    learner.learn(picture(0, 0), "a")
    learner.save(tmp_path / "learner.exll")
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "other"))
    (tmp_path / "one" / "backbones" / "mine.onnx").unlink()
    assert load(tmp_path / "learner.exll", ImageLearner).backbone.name == "mine"


def test_an_own_file_called_like_the_built_in_keeps_its_path(tmp_path: Path) -> None:
    learner = ImageLearner(write_network(tmp_path / "nano.onnx"), preset="paper")
    learner.learn(picture(0, 0), "a")
    learner.save(tmp_path / "learner.exll")
    assert load(tmp_path / "learner.exll", ImageLearner).backbone.width == 3


def two_in_one(left: int, right: int, seed: int) -> Image.Image:
    photo = Image.new("RGB", (120, 60))
    photo.paste(picture(left, seed, 60), (0, 0))
    photo.paste(picture(right, seed, 60), (60, 0))
    return photo


LEFT, RIGHT = (0, 0, 60, 60), (60, 0, 120, 60)


def test_two_things_in_one_image_are_taught_and_asked_by_their_boxes(nano: OnnxBackbone, tmp_path: Path) -> None:
    learner = ImageLearner(nano, preset="paper")
    for seed in range(6):
        path = tmp_path / f"{seed}.png"
        two_in_one(0, 2, seed).save(path)
        learner.learn(path, "left thing", box=LEFT)
        learner.learn([path], ["right thing"], box=[RIGHT])
    question: Any = two_in_one(2, 0, 50)  # the other way round
    assert learner.predict(question, box=LEFT).label == "right thing"
    assert [answer.label for answer in learner.predict([question, question], box=[LEFT, RIGHT])] == [
        "right thing",
        "left thing",
    ]
    explanation = learner.explain(question, box=RIGHT)
    assert explanation.label == "left thing"
    names = [example.name for example in explanation.hit.examples]
    assert all(name.endswith(".png#0,0,60,60") for name in names)
    thumbnail = Thumbnails(side=40).of(names[0])
    assert (thumbnail.uri is not None, thumbnail.width, thumbnail.height) == (True, 40, 40)
    case = learner.case(question, "question.png", box=RIGHT)
    assert case.picture is not None
    assert case.picture.size == (60, 60)
    with pytest.raises(ImageError, match="must lie within the image, which has 120 x 60 pixels"):
        learner.learn(question, "x", box=(0, 0, 121, 60))
    with pytest.raises(InputError, match="one box for each image"):
        learner.predict([question, question], box=[LEFT])


def test_a_model_goes_on_with_the_looks_it_was_taught_with(tmp_path: Path) -> None:
    for looks in (1, 2):
        learner = ImageLearner("nano", preset="paper", looks=looks)
        for kind in range(2):
            learner.learn(picture(kind, 1), f"kind {kind}")
        learner.save(tmp_path / "m.exll")
        again = load(tmp_path / "m.exll", ImageLearner)
        assert again.backbone.looks == looks
        assert again.predict(picture(0, 9)) == learner.predict(picture(0, 9))
    with pytest.raises(InputError, match="looks=1 was given, but the backbone was opened with looks=2"):
        ImageLearner(OnnxBackbone("nano"), looks=1)
