"""What the pages that show and sort photos ask for."""

import io

import numpy as np
import pytest

from pictures import picture
from served import Served, png


@pytest.fixture
def taught(studio: Served) -> Served:
    for kind in range(3):
        studio.taught(f"kind {kind}", *(png(kind, seed) for seed in range(6)))
    return studio


def test_the_first_example_of_a_group_on_the_map_is_its_most_typical(taught: Served) -> None:
    learner = taught.project.live.current.snapshot.classifier.learner_
    centres, _, _ = learner.centres
    for centre, prototype in zip(centres, taught.json("/api/map")["prototypes"], strict=True):
        rows = {row.id: row.vector / np.linalg.norm(row.vector) for row in taught.project.store.rows_of(range(1, 19))}
        cosines = [float(rows[number] @ centre) for number in prototype["examples"]]
        assert cosines == pytest.approx(sorted(cosines, reverse=True), abs=0.01)


def test_almost_equal_examples_are_found_and_others_are_not(taught: Served) -> None:
    again = io.BytesIO()
    picture(1, 3).save(again, "BMP")  # the same photo in another file
    (number,) = taught.taught("kind 1", again.getvalue())
    (group,) = [group for group in taught.json("/api/examples/duplicates?label=kind 1")["groups"] if number in group]
    assert 7 + 3 in group
    assert taught.json("/api/examples/duplicates?label=nothing")["groups"] == []


def test_a_suspect_comes_with_the_examples_nearest_to_it_of_both_classes(taught: Served) -> None:
    (wrong,) = taught.taught("kind 0", png(1, 70))
    (suspect,) = taught.json("/api/suspects")["suspects"]
    assert suspect["wrong"] > 0.5
    vectors = {row.id: row.vector / np.linalg.norm(row.vector) for row in taught.project.store.rows_of(range(1, 20))}
    for key, numbers in (("like_own", range(1, 7)), ("like_other", range(7, 13))):
        nearest = sorted(numbers, key=lambda number: -float(vectors[number] @ vectors[wrong]))
        assert suspect[key][0] == nearest[0]
        assert set(suspect[key]) == set(nearest[:5])


def test_a_photo_in_two_classes_comes_with_what_is_most_like_it_in_both(taught: Served) -> None:
    (twin,) = taught.taught("kind 2", png(1, 3), two_labels="true")
    (found,) = taught.json("/api/suspects")["contradictions"]
    assert [example["id"] for example in found["examples"]] == [10, twin]
    assert set(found["like"][0]) == set(range(7, 13)) - {10}
    assert set(found["like"][1]) < set(range(13, 19))


def test_suspects_beyond_the_limit_are_counted(taught: Served) -> None:
    taught.taught("kind 0", png(1, 70), png(2, 71))
    found = taught.json("/api/suspects")
    assert (len(found["suspects"]), found["not_shown"]) == (2, 0)
    found = taught.json("/api/suspects?limit=1")
    assert (len(found["suspects"]), found["not_shown"]) == (1, 1)
