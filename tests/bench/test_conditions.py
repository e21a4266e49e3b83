import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from exll.bench.cell import FORMAT, Cell
from exll.bench.conditions import Conditions
from exll.bench.learners import find_learner
from exll.bench.protocol import Task
from exll.errors import BenchError
from exll.streams.example import Example

DOMAINS = ("photo", "sketch", "cartoon")
EXAMPLES = [Example(f"{k}/{d}/{i}", k, domain=d) for k in "abcdef" for d in DOMAINS for i in range(20)]


def refs(examples: list[Example]) -> list[str]:
    return [example.ref for example in examples]


def test_a_domain_left_out_is_asked_and_the_others_are_learned() -> None:
    stream, test = Conditions(test_domain="sketch").parts(EXAMPLES, None, "iid", 0)
    assert {e.domain for e in stream} == {"photo", "cartoon"}
    assert {e.domain for e in test} == {"sketch"}
    assert len(stream) + len(test) == len(EXAMPLES)
    stream, test = Conditions(test_domain="sketch").parts(EXAMPLES[::2], EXAMPLES[1::2], "iid", 0)
    assert (len(stream), len(test)) == (len(EXAMPLES) // 3, len(EXAMPLES) // 6)
    with pytest.raises(BenchError, match="no domain 'photos' to ask; there are: cartoon, photo, sketch"):
        Conditions(test_domain="photos").parts(EXAMPLES, None, "iid", 0)


def test_a_fifth_of_every_class_and_domain_is_held_out_the_same_for_all_orders_and_seeds() -> None:
    conditions = Conditions(hold_out=0.2)
    stream, test = conditions.parts(EXAMPLES, None, "iid", 0)
    assert set(Counter((e.label, e.domain) for e in test).values()) == {4}
    assert not set(refs(stream)) & set(refs(test))
    others = conditions.parts(EXAMPLES[::-1], None, "domain-iid", 7)
    assert refs(test) == refs(others[1])
    assert sorted(refs(stream)) == sorted(refs(others[0]))
    few = [Example("1", "a"), Example("2", "b"), Example("3", "b")]
    stream, test = conditions.parts(few, None, "iid", 0)
    assert ([*map(len, (stream, test))], test[0].label) == ([2, 1], "b")
    frames = [Example(f"{k}{v}{i}", k, video=f"{v}") for k in "ab" for v in range(5) for i in range(4)]
    _, test = conditions.parts(frames, None, "iid", 0)
    assert [*Counter((e.label, e.video) for e in test).values()] == [4, 4]  # whole videos
    with pytest.raises(BenchError, match="hold_out is for data without a test part"):
        conditions.parts(EXAMPLES, EXAMPLES, "iid", 0)


def test_a_long_tail_falls_exponentially_and_leaves_the_test_part_alone() -> None:
    conditions = Conditions(long_tail=0.05)
    stream, test = conditions.parts(EXAMPLES, EXAMPLES[:9], "iid", 0)
    counts = sorted(Counter(e.label for e in stream).values(), reverse=True)
    assert counts == [round(60 * 0.05 ** (k / 5)) for k in range(6)] == [60, 33, 18, 10, 5, 3]
    assert test == EXAMPLES[:9]
    same, other = (conditions.parts(EXAMPLES, [], order, seed)[0] for order, seed in (("class-iid", 0), ("iid", 1)))
    assert sorted(refs(same)) == sorted(refs(stream)) != sorted(refs(other))
    assert refs(same) != refs(stream)


def test_so_many_labels_are_wrong_and_the_same_ones_in_every_order() -> None:
    conditions = Conditions(wrong_labels=0.4)
    told = {}
    for order in ("iid", "class-iid"):
        stream, _ = conditions.parts(EXAMPLES, [], order, 3)
        labels = conditions.labels(stream, 3)
        wrong = [label != e.label for e, label in zip(stream, labels, strict=True)]
        assert sum(wrong) == 0.4 * len(EXAMPLES)
        told[order] = dict(zip(refs(stream), labels.tolist(), strict=True))
    assert told["iid"] == told["class-iid"]
    assert set(told["iid"].values()) == set("abcdef")
    other = conditions.labels(EXAMPLES, 4)
    assert (other != np.array([told["iid"][e.ref] for e in EXAMPLES])).any()
    np.testing.assert_array_equal(Conditions().labels(EXAMPLES, 3), [e.label for e in EXAMPLES])


def test_every_condition_is_part_of_the_key_and_without_any_the_key_is_as_before() -> None:
    learner = find_learner("ncm")

    def key(conditions: Conditions) -> str:
        return Cell(learner, Task("household", "iid", conditions=conditions), 0, "nano", "data", Path()).key

    identity = {
        "format": FORMAT,
        "learner": learner.metadata(),
        "data": "data",
        "order": "iid",
        "seed": 0,
        "evaluation": {"when": "end", "most": None},
        "test_then_train": 0,
    }
    before = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    assert key(Conditions()) == before
    each = [
        Conditions(test_domain="a"),
        Conditions(hold_out=0.5),
        Conditions(long_tail=0.5),
        Conditions(wrong_labels=0.5),
        Conditions(delay=5),
    ]
    assert len({before, *map(key, each)}) == 6
