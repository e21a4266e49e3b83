import pytest

from exll.bench.paper_results import ACCURACIES, COLUMNS, NETSCORES, oddities, published_accuracy, published_netscore


def test_every_row_is_whole_and_its_mean_is_near_that_of_its_values() -> None:
    for rows in (*ACCURACIES.values(), NETSCORES):
        for learner, row in rows.items():
            assert len(row) == len(COLUMNS), learner
            allowed = 0.0019 if row[0] > 0 else 0.051  # the paper cuts off means, and one of them is a slip
            assert row[-1] == pytest.approx(sum(row[:-1]) / 5, abs=allowed), learner


def test_sums_over_the_tables_catch_a_slip_of_the_pen() -> None:
    """The sums were taken from the paper's source by a program, apart from the values here."""
    sums = {place: round(sum(sum(row) for row in rows.values()), 3) for place, rows in ACCURACIES.items()}
    assert sums == {
        ("openloris", "instance"): 50.632,
        ("openloris", "low-shot-instance"): 22.904,
        ("places365", "iid"): 17.513,
        ("places365", "class-iid"): 13.759,
        ("places-lt", "iid"): 15.244,
        ("places-lt", "class-iid"): 13.203,
        ("fsiol", "few-shot 5"): 44.518,
        ("fsiol", "few-shot 10"): 47.171,
    }
    assert round(sum(sum(row) for row in NETSCORES.values()), 1) == -4456.5


def test_cells_are_found_by_name() -> None:
    assert published_accuracy("fsiol", "few-shot 10", "ExLL-F", "resnet-18") == 0.968
    assert published_accuracy("places365", "iid", "NCM", "mean") == 0.331
    assert published_accuracy("places365", "iid", "SOvR", "mean") is None
    assert published_accuracy("household", "iid", "NCM", "mean") is None
    assert published_accuracy("fsiol", "few-shot 5", "NCM", "nano") is None
    assert published_netscore("ExLL-M", "mean") == published_netscore("ExLL-F", "mean") == -96.2


def test_the_row_of_naive_bayes_belongs_to_the_variant_that_made_it() -> None:
    assert published_accuracy("fsiol", "few-shot 5", "Naive Bayes (Hayes)", "resnet-18") == 0.035


def test_footnotes_come_with_the_tables_they_are_about() -> None:
    assert oddities({"household"}, {"ExLL-F", "NCM"}) == []
    notes = " ".join(oddities({"places365", "places-lt"}, {"ExLL-M", "NCM"}))
    assert "row of Places-LT, number for number" in notes
    assert "0.383" in notes
    assert "ExLL-F" not in " ".join(oddities({"openloris"}, {"NCM"}))
    assert "Places" not in " ".join(oddities({"openloris"}, {"ExLL-F", "NCM"}))
