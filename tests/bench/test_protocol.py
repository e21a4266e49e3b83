import pytest

from exll.bench.protocol import AXES, PAPER_TASKS, Evaluation
from exll.errors import BenchError
from exll.streams.example import Example

STREAM = [Example(f"{i}", label, video=video, domain="photo" if i < 3 else "sketch") for i, (label, video) in enumerate(
    [("a", "1"), ("a", "1"), ("a", "2"), ("b", "2"), ("b", "2"), ("c", "3"), ("d", "4"), ("d", "4")]
)]  # fmt: skip


@pytest.mark.parametrize(
    ("when", "points"),
    [
        ("end", [8]),
        ("videos", [2, 3, 5, 6, 8]),  # the second video of a and that of b share a name, and are two
        ("classes 2", [5, 8]),
        ("classes 1", [3, 5, 6, 8]),
        ("examples 3", [3, 6, 8]),
        ("examples 8", [8]),
        ("domains", [3, 8]),
    ],
)
def test_where_a_learner_is_asked(when: str, points: list[int]) -> None:
    assert Evaluation(when).points(STREAM) == points


def test_too_many_points_are_thinned_out_and_the_end_is_kept() -> None:
    thinned = Evaluation("examples 1", most=4).points(STREAM)
    assert len(thinned) == 4
    assert thinned[-1] == 8
    assert thinned == sorted(set(thinned))
    assert Evaluation("videos", most=1).points(STREAM) == [8]


@pytest.mark.parametrize("when", ["", "never", "classes", "classes 0", "examples -3", "videos 4"])
def test_an_unknown_time_is_refused(when: str) -> None:
    with pytest.raises(BenchError, match="evaluate must be"):
        Evaluation(when)


def test_the_paper_s_protocols_cover_its_tables_and_axes() -> None:
    from exll.bench.paper_results import ACCURACIES

    assert {(task.dataset, task.order) for task in PAPER_TASKS} == set(ACCURACIES)
    assert {task.axis for task in PAPER_TASKS} - {None} == set(AXES) - {"NetScore"}
    assert {task.dataset: len(task.seeds) for task in PAPER_TASKS} == {
        "openloris": 3,
        "places365": 1,
        "places-lt": 3,
        "fsiol": 3,
    }
