from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from exll.errors import StreamError
from exll.streams.dataset import Dataset
from exll.streams.household import scene
from exll.streams.household.objects import CATEGORIES
from exll.streams.household.scene import FACTORS, Recording, render
from exll.streams.household.shapes import Shape, rectangle
from exll.streams.household.videos import Household


@pytest.fixture(autouse=True)
def _no_scene_of_another_test() -> Iterator[None]:
    yield
    scene._scene.cache_clear()


def pixels(home: Household, dataset: Dataset, place: int) -> np.ndarray:
    return np.asarray(home.picture(dataset.train.examples[place]), np.float64)


def recording(**changes: object) -> Recording:
    arguments = {"seed": 0, "category": "mug", "instance": 1, "factor": "size", "level": 1, "split": "train", **changes}
    return Recording(**arguments)  # type: ignore[arg-type]


def test_every_object_is_recorded_under_every_factor_and_level_for_both_parts() -> None:
    dataset = Household(instances=2, frames=3, test_frames=1).dataset()
    assert dataset.test is not None
    assert len(dataset.train) == len(CATEGORIES) * 2 * len(FACTORS) * 3 * 3
    assert len(dataset.test) == len(CATEGORIES) * 2 * len(FACTORS) * 3
    assert {e.factor for e in dataset.train.examples} == set(FACTORS)
    assert {e.level for e in dataset.train.examples} == {1, 2, 3}
    assert not {e.video for e in dataset.train.examples} & {e.video for e in dataset.test.examples}
    assert {e.instance for e in dataset.train.examples} == {e.instance for e in dataset.test.examples}


@pytest.mark.slow
def test_the_same_seed_draws_the_same_pixels_and_another_other_ones() -> None:
    first, again, other = Household(seed=1), Household(seed=1), Household(seed=2)
    drawn = [(home, home.dataset()) for home in (first, again, other)]
    for place in (0, 100, 1000):
        one, same, another = (pixels(home, dataset, place) for home, dataset in drawn)
        np.testing.assert_array_equal(one, same)
        assert np.abs(one - another).mean() > 5


def test_the_view_moves_smoothly() -> None:
    frames = [np.asarray(render(recording(), frame, 64), np.float64) for frame in (0, 1, 12)]
    step, far = (np.abs(frames[0] - other).mean() for other in frames[1:])
    assert 0 < step < far


@pytest.mark.parametrize("category", CATEGORIES)
def test_an_object_covers_a_visible_part_of_the_picture(category: str) -> None:
    """Against the same scene with another object: what differs is the object, and no little of it."""
    one, other = (np.asarray(render(recording(category=category, instance=i), 0, 96), np.float64) for i in (1, 2))
    assert one.shape == (96, 96, 3)
    assert np.abs(one - other).mean() > 3


def drawn_as(monkeypatch: pytest.MonkeyPatch, thing: list[Shape], shown: Recording) -> np.ndarray:
    """A frame of the recording with something else in the place of its object."""
    monkeypatch.setitem(CATEGORIES, shown.category, lambda rng: thing)
    scene._scene.cache_clear()
    return np.asarray(render(shown, 0, 64), np.float64)


def visible(monkeypatch: pytest.MonkeyPatch, shown: Recording) -> float:
    """The share of the picture that a square in the place of the object is seen in: white against black."""
    square = rectangle(-1, -1, 1, 1)
    white, black = (drawn_as(monkeypatch, [Shape(square, (v, v, v))], shown) for v in (255.0, 0.0))
    return float((np.abs(white - black).mean(axis=2) > 60).mean())


def test_size_is_how_much_of_the_picture_the_object_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = [visible(monkeypatch, recording(factor="size", level=level)) for level in (1, 2, 3)]
    assert shares[0] > 1.5 * shares[1] > 2.5 * shares[2] > 0


def test_occlusion_covers_a_share_of_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = visible(monkeypatch, recording(factor="clutter"))
    shares = [visible(monkeypatch, recording(factor="occlusion", level=level)) / whole for level in (1, 2, 3)]
    assert shares == pytest.approx([0.7, 0.5, 0.35], abs=0.15)


def test_clutter_is_more_things_beside_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    def edges(factor: str, level: int) -> float:
        frames = [drawn_as(monkeypatch, [], recording(factor=factor, level=level, seed=seed)) for seed in range(6)]
        return float(np.mean([(np.abs(np.diff(frame, axis=1)).max(axis=2) > 40).mean() for frame in frames]))

    assert edges("clutter", 3) > edges("clutter", 1) > 2 * edges("size", 1)


def test_a_higher_level_is_harder_to_see() -> None:
    dark = [np.asarray(render(recording(factor="illumination", level=level, seed=3), 0, 64)).mean() for level in (1, 3)]
    assert abs(dark[0] - 128) < abs(dark[1] - 128)


@pytest.mark.slow
def test_no_two_videos_look_alike() -> None:
    home = Household(instances=1, frames=1)
    shown = [home.picture(example).resize((16, 16)).tobytes() for example in home.dataset().train.examples]
    assert len(set(shown)) == len(shown)


def test_the_long_tail_is_long_and_keeps_the_test_part() -> None:
    home = Household(frames=4)
    whole, tail = home.dataset(), home.long_tailed()
    counts = sorted(Counter(e.label for e in tail.train.examples).values())
    assert counts[-1] == 144
    assert counts[0] == round(0.04 * 144)
    assert len(counts) == len(CATEGORIES)
    assert whole.test is not None
    assert tail.test is not None
    assert tail.test.examples == whole.test.examples
    assert {e.ref for e in tail.train.examples} < {e.ref for e in whole.train.examples}


def test_stills_have_no_test_part() -> None:
    stills = Household(instances=1).stills()
    assert stills.test is None
    assert Counter(e.label for e in stills.train.examples).most_common()[-1][1] == len(FACTORS) * 3


@pytest.mark.slow
def test_other_settings_have_another_fingerprint() -> None:
    prints = {
        Household(**settings).dataset().fingerprint()
        for settings in ({}, {"seed": 1}, {"frames": 5}, {"size": 64}, {"instances": 2})
    }
    assert len(prints) == 5
    assert Household().dataset().fingerprint() in prints


@pytest.mark.parametrize("settings", [{"frames": 0}, {"instances": True}, {"seed": -1}, {"size": 12.5}])
def test_settings_that_cannot_be_drawn_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(StreamError, match=f"{next(iter(settings))} must be a whole number"):
        Household(**settings)
