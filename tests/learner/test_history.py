import numpy as np

from exll import ExLLClassifier
from exll.learner.history import SPAN, UNTESTED, History
from support import random_stream


def history_of(classes: int, entries: list[tuple[int, int, bool]]) -> History:
    history = History()
    for k in range(classes):
        history.learn(k, UNTESTED, True)
    for entry in entries:
        history.learn(*entry)
    return history


def test_answers_are_what_predict_said_before_each_sample() -> None:
    stream = random_stream(21, width=8, classes=4, samples=160)
    model = ExLLClassifier("paper", refresh_growth=0)  # the precision that learning uses is then the one for asking
    said: list[list[int]] = [[] for _ in range(4)]
    for x, k in zip(stream.X, stream.y, strict=True):
        known = [] if not hasattr(model, "learner_") else model.classes_.tolist()
        tested = k in known and len(known) > 1
        said[k].append(int(model.predict(x[None])[0]) if tested else UNTESTED)
        model.partial_fit(x[None], [k])
    for k in range(4):
        assert model.learner_.history(k).answers.tolist() == said[k][-SPAN:]


def test_answers_of_glocal_are_what_its_classes_said_before_each_sample() -> None:
    # A review and a new class reach the precision that learning uses one sample later than the one for asking.
    stream = random_stream(21, width=8, classes=4, samples=160)
    model = ExLLClassifier("glocal", refresh_growth=0).fit(stream.X[:90], stream.y[:90])
    said: list[list[int]] = [[] for _ in range(4)]
    for i in range(90, 160):
        said[stream.y[i]].append(int(model.predict(stream.X[i : i + 1], "global")[0]))
        model.partial_fit(stream.X[i : i + 1], stream.y[i : i + 1])
    differing = 0
    for k in range(4):
        answers = model.learner_.history(k).answers.tolist()[-len(said[k]) :]
        differing += sum(one != other for one, other in zip(answers, said[k][-len(answers) :], strict=True))
    assert differing <= 1  # there is one review among these
    assert any(k not in said[k] or len(set(said[k])) > 1 for k in range(4))  # some were wrong


def test_only_the_last_examples_are_kept_oldest_first() -> None:
    history = history_of(2, [(0, i % 2, i >= 30) for i in range(100)])
    assert history.of(0).answers.tolist() == [i % 2 for i in range(68, 100)]
    assert history.of(0).opened == 32
    assert history.of(1).answers.tolist() == [UNTESTED]


def test_openings_are_those_of_the_last_examples() -> None:
    stream = random_stream(22, width=6, classes=2, samples=30)
    model = ExLLClassifier("paper").fit(stream.X, stream.y)
    for k in range(2):
        assert model.megacloud(k).count < SPAN
        assert model.learner_.history(k).opened == len(model.megacloud(k).prototypes)


def test_a_merge_renumbers_answers_and_keeps_the_newest_of_both() -> None:
    history = history_of(4, [(1, 3, False)] * 40 + [(3, 1, True)] * 40 + [(2, 3, False)])
    history.merge(1, 3)
    assert history.of(1).answers.tolist() == [1] * SPAN  # what was 3 is 1 now
    assert history.of(1).opened == SPAN // 2
    assert history.of(2).answers.tolist() == [UNTESTED, 1]
    assert history.of(0).answers.tolist() == [UNTESTED]


def test_its_size_does_not_grow_with_the_stream() -> None:
    short, long = history_of(3, []), history_of(3, [(i % 3, 0, False) for i in range(1000)])
    assert short.nbytes == long.nbytes
    assert np.array_equal(long.state()["seen"], [335, 334, 334])
