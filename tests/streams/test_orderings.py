from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exll.errors import StreamError
from exll.streams.example import Example
from exll.streams.orderings import ORDERS, arrange, parse_order

SEEDS = st.integers(0, 2**32)
NAMES = ["as-is", "iid", "class-iid", "instance", "low-shot-instance", "low-shot-instance 2", "few-shot 3"]


@st.composite
def recordings(draw: st.DrawFn) -> list[Example]:
    """Frames of a few videos of a few classes, listed in any order; one video's name may stand in two classes."""
    examples = []
    videos = draw(st.sets(st.tuples(st.sampled_from("abcde"), st.sampled_from("vwxyz")), min_size=1, max_size=10))
    for label, video in sorted(videos):
        count = draw(st.integers(1, 6))
        examples += [Example(f"{label}/{video}/{n}.jpg", label, video=video, frame=n) for n in range(count)]
    return draw(st.permutations(examples))


def blocks(values: list[object]) -> list[object]:
    """Each run of equal values once."""
    return [value for value, _ in groupby(values)]


@given(recordings(), SEEDS, st.sampled_from(["as-is", "iid", "class-iid", "instance"]))
def test_whole_orders_lose_and_repeat_nothing(examples: list[Example], seed: int, order: str) -> None:
    assert Counter(arrange(examples, order, seed)) == Counter(examples)


@given(recordings(), st.randoms(use_true_random=False), SEEDS, st.sampled_from(NAMES[1:]))
def test_the_listing_does_not_matter(examples: list[Example], random: object, seed: int, order: str) -> None:
    shuffled = list(examples)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert arrange(shuffled, order, seed) == arrange(examples, order, seed)


@given(recordings(), SEEDS, st.sampled_from(NAMES))
def test_the_input_is_left_alone(examples: list[Example], seed: int, order: str) -> None:
    before = list(examples)
    assert arrange(examples, order, seed) is not examples
    assert examples == before


@given(recordings(), SEEDS)
def test_as_is_is_as_listed(examples: list[Example], seed: int) -> None:
    assert arrange(examples, "as-is", seed) == examples


@given(recordings(), SEEDS, st.sampled_from(["class-iid", "few-shot 2"]))
def test_a_class_comes_in_one_block(examples: list[Example], seed: int, order: str) -> None:
    found = blocks([example.label for example in arrange(examples, order, seed)])
    assert len(found) == len(set(found))
    assert set(found) == {example.label for example in examples}


@given(recordings(), SEEDS, st.sampled_from(["instance", "low-shot-instance"]))
def test_a_video_comes_in_one_block_with_its_frames_in_order(examples: list[Example], seed: int, order: str) -> None:
    arranged = arrange(examples, order, seed)
    found = blocks([(example.label, example.video) for example in arranged])
    assert len(found) == len(set(found))
    for video in found:
        frames = [example.frame for example in arranged if (example.label, example.video) == video]
        whole = [example.frame for example in examples if (example.label, example.video) == video]
        assert frames == sorted(frame for frame in whole if frame is not None)


@given(recordings(), SEEDS)
def test_low_shot_instance_takes_one_video_of_every_class(examples: list[Example], seed: int) -> None:
    chosen = {(example.label, example.video) for example in arrange(examples, "low-shot-instance", seed)}
    assert sorted(label for label, _ in chosen) == sorted({example.label for example in examples})


@given(recordings(), SEEDS, st.integers(1, 4))
def test_so_many_videos_of_every_class_or_all_there_are(examples: list[Example], seed: int, number: int) -> None:
    taken = set(arrange(examples, f"low-shot-instance {number}", seed))
    videos = Counter(label for label, _ in {(example.label, example.video) for example in taken})
    there = Counter(label for label, _ in {(example.label, example.video) for example in examples})
    assert videos == {label: min(number, n) for label, n in there.items()}
    assert taken <= set(arrange(examples, f"low-shot-instance {number + 1}", seed))


@given(recordings(), SEEDS, st.integers(1, 30))
def test_few_shot_takes_so_many_of_every_class_or_all_there_are(examples: list[Example], seed: int, shots: int) -> None:
    arranged = arrange(examples, f"few-shot {shots}", seed)
    assert Counter(arranged) <= Counter(examples)
    there = Counter(example.label for example in examples)
    assert Counter(example.label for example in arranged) == {label: min(shots, n) for label, n in there.items()}


@given(recordings(), SEEDS)
def test_more_shots_only_add_to_fewer(examples: list[Example], seed: int) -> None:
    assert set(arrange(examples, "few-shot 2", seed)) <= set(arrange(examples, "few-shot 4", seed))


LISTED = [
    Example(f"{label}/{video}/{frame}.jpg", label, video=f"{video}", frame=frame)
    for label in "abcdefgh"
    for video in range(4)
    for frame in range(3)
]


@pytest.mark.parametrize("order", NAMES[1:])
def test_another_seed_is_another_order(order: str) -> None:
    assert arrange(LISTED, order, seed=1) == arrange(LISTED, order, seed=1)
    assert arrange(LISTED, order, seed=1) != arrange(LISTED, order, seed=2)


def test_every_part_that_should_be_shuffled_is() -> None:
    labels = [example.label for example in arrange(LISTED, "class-iid", 3)]
    assert blocks([*labels]) != sorted(set(labels))
    first = [example for example in arrange(LISTED, "class-iid", 3) if example.label == "a"]
    assert first != [example for example in LISTED if example.label == "a"]
    assert len(blocks([example.label for example in arrange(LISTED, "iid", 3)])) > 40
    assert len(blocks([example.label for example in arrange(LISTED, "instance", 3)])) > 16
    low_shot = [example.label for example in arrange(LISTED, "low-shot-instance", 3)]
    assert blocks([*low_shot]) != sorted(set(low_shot))
    chosen = {(e.label, e.video) for seed in range(30) for e in arrange(LISTED, "low-shot-instance", seed)}
    assert len(chosen) == 8 * 4


def test_one_video_is_taken_of_every_object() -> None:
    examples = [
        Example(f"{label}{thing}{video}{frame}", label, instance=f"{thing}", video=f"{thing}{video}", frame=frame)
        for label in "abc"
        for thing in range(3)
        for video in range(4)
        for frame in range(2)
    ]
    taken = arrange(examples, "one-video-per-object", 1)
    assert blocks([e.ref[:3] for e in taken]) != sorted({e.ref[:3] for e in taken})
    assert Counter((e.label, e.instance) for e in taken) == {(label, f"{i}"): 2 for label in "abc" for i in range(3)}
    assert [e.frame for e in taken] == [0, 1] * 9
    assert taken != arrange(examples, "one-video-per-object", 2)
    with pytest.raises(StreamError, match="needs to know which object"):
        arrange(LISTED, "one-video-per-object")


def test_domains_come_one_after_the_other_and_are_shuffled_within() -> None:
    examples = [Example(f"{d}{k}{i}", k, domain=d) for d in "pqrstu" for k in "ab" for i in range(9)]
    arranged = arrange(examples, "domain-iid", 1)
    found = blocks([e.domain for e in arranged])
    assert sorted(map(str, found)) == list("pqrstu") != found
    assert len(blocks([e.label for e in arranged])) > 24
    assert Counter(arranged) == Counter(examples)
    with pytest.raises(StreamError, match="needs to know the domain of each example"):
        arrange(LISTED, "domain-iid")


def test_without_videos_the_objects_are_kept_together() -> None:
    examples = [Example(f"{i}.jpg", "mug", instance=f"{i % 3}") for i in range(9)]
    found = blocks([example.instance for example in arrange(examples, "instance", 0)])
    assert sorted(map(str, found)) == ["0", "1", "2"]


def test_a_video_and_an_object_of_one_name_are_two_units() -> None:
    examples = [Example("1", "mug", instance="7"), Example("2", "mug", video="7")]
    assert {len(arrange(examples, "low-shot-instance", seed)) for seed in range(8)} == {1}


def test_frames_numbered_by_their_names_are_in_the_order_of_the_numbers() -> None:
    names = ["0.jpg", "2.jpg", "007.jpg", "10.jpg", "100.jpg", f"{'9' * 5000}.jpg"]
    examples = [Example(f"take2/{name}", "mug", video="clip") for name in reversed(names)]
    assert [example.ref for example in arrange(examples, "instance")] == [f"take2/{name}" for name in names]


def test_both_spellings_of_a_name_give_the_same_order() -> None:
    composed = [Example(f"{name}.jpg", "mug") for name in ("e", "\u00e9", "f", "g", "h")]
    decomposed = [Example(f"{name}.jpg", "mug") for name in ("e", "e\u0301", "f", "g", "h")]
    places = [composed.index(example) for example in arrange(composed, "iid")]
    assert [decomposed.index(example) for example in arrange(decomposed, "iid")] == places


@pytest.mark.parametrize("order", ["instance", "low-shot-instance"])
def test_orders_by_video_need_a_video_or_an_object(order: str) -> None:
    examples = [Example("1.jpg", "mug", video="walk"), Example("2.jpg", "mug")]
    with pytest.raises(StreamError, match=r"2\.jpg names neither"):
        arrange(examples, order)


@pytest.mark.parametrize("order", ["random", "", "few-shot", "few-shot 0", "few-shot -1", "few-shot x", "few-shot 1.5"])
def test_an_unknown_order_is_answered_with_the_known_ones(order: str) -> None:
    with pytest.raises(StreamError) as refusal:
        arrange([], order)
    assert all(name in str(refusal.value) for name in ORDERS)
    assert repr(order) in str(refusal.value)


def test_the_described_orders_are_those_that_work() -> None:
    for name in ORDERS:
        assert arrange([], name.replace("N", "5"), 0) == []


def test_blanks_and_hyphens_are_the_same() -> None:
    assert parse_order("few-shot 5") == parse_order("few-shot-5") == parse_order(" Few-Shot  05 ") == ("few-shot", 5)
    assert parse_order("low-shot instance") == ("low-shot-instance", 1)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(StreamError, match="0 or more; got -1"):
        arrange(LISTED, "iid", -1)
