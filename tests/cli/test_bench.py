import json
import subprocess
from pathlib import Path

import pytest

from commands import exll
from grids import LAST_SEEN, write_features

TASK = '[[tasks]]\ndataset = "data.npz"\norders = ["iid", "class-iid"]\naxis = "Scale"\n'


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return exll("bench", *arguments, cwd=folder, columns=80)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_features(tmp_path / "data.npz")
    (tmp_path / "mine.py").write_text(LAST_SEEN)
    return tmp_path


def test_a_run_prints_a_table_and_where_the_report_lies_and_goes_on(folder: Path) -> None:
    (folder / "plan.toml").write_text(f'name = "trial"\nlearners = ["ncm", "exll", "mine:LastSeen"]\nseeds = 2\n{TASK}')
    done = bench(folder, "run", "plan.toml", "--jobs", "1", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "trial: accuracy at the end of each stream" in done.stdout
    assert "LastSeen" in done.stdout
    assert "The report: out/report.html" in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-2])) <= 80
    assert "12 of 12: " in done.stderr
    assert "Command: exll bench run plan.toml --jobs 1 -o out" in (folder / "out" / "report.md").read_text()
    again = bench(folder, "run", "plan.toml", "--jobs", "1", "-o", "out")
    assert again.stdout == done.stdout
    assert "12 done before" in again.stderr
    lines = (folder / "out" / "results.jsonl").read_text().splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == len(lines) == 12


@pytest.mark.process
def test_any_features_file_can_be_compared_on_and_reported_anew(folder: Path) -> None:
    done = bench(
        folder, "features", "data.npz", "--learners", "ncm, slda", "--orders", "instance", "--seeds", "1", "-o", "o"
    )
    assert done.returncode == 0, done.stderr
    assert "data, instance" in done.stdout
    (folder / "o" / "report.md").unlink()
    anew = bench(folder, "report", "o")
    assert anew.returncode == 0, anew.stderr
    assert (folder / "o" / "report.md").exists()


def test_a_folder_of_features_is_compared_with_one_command(folder: Path) -> None:
    done = bench(folder, "compare", ".", "--learners", "ncm,slda-unit", "--seeds", "1", "--jobs", "1", "-o", "out")
    assert done.returncode == 0, done.stderr
    for setting in ("data, iid", "data (wrong labels 40%), iid", "data, low-shot-instance 2", "data (delay 4), iid"):
        assert setting in done.stdout
    assert (folder / "out" / "report.html").exists()


def test_of_many_settings_the_mean_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exll.cli.bench.MOST_COLUMNS", 1)
    done = bench(folder, "features", "data.npz", "--learners", "ncm,slda", "--seeds", "1", "--jobs", "1", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "A  the mean of all 2 settings; each of them is in the report" in done.stdout
    assert "class-iid" not in done.stdout


def test_features_without_a_test_part_are_refused_once_with_advice_that_works(folder: Path) -> None:
    write_features(folder / "data.npz", split=False)
    done = bench(folder, "features", "data.npz", "-o", "out")
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (1, 1, "")
    assert (
        "the order iid or class-iid leaves nothing out; choose one that does, as with --orders 'few-shot 5'"
        in done.stderr
    )
    assert not (folder / "out").exists()
    done = bench(folder, "features", "data.npz", "--orders", "few-shot 5", "--seeds", "1", "--jobs", "1", "-o", "out")
    assert done.returncode == 0, done.stderr
    for learner in ("NCM", "SLDA", "ExLL-F", "glocal"):
        assert learner in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'learners = ["slad"]\n{TASK}', "there is no learner 'slad'"),
        ('learners = ["ncm"]\n[[tasks]]\ndataset = "gone"\norders = ["iid"]', "there is no data set"),
        ('learners = ["ncm"]\n[[tasks]]\ndataset = "fsiol"\nroot = "x"\norders = ["iid"]', "Get F-SIOL-310 from"),
        ("learners = 3", "learners must be a list"),
    ],
)
def test_a_bad_plan_is_one_line(folder: Path, text: str, words: str) -> None:
    (folder / "plan.toml").write_text(text)
    done = bench(folder, "run", "plan.toml", "-o", "out")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert done.stdout == ""


def test_cells_that_fail_are_named_and_the_others_reported(folder: Path) -> None:
    write_features(folder / "data.npz", split=False)
    (folder / "plan.toml").write_text(f'learners = ["ncm"]\n{TASK.replace("class-iid", "few-shot 3")}')
    done = bench(folder, "run", "plan.toml", "--jobs", "1", "-o", "out")
    assert done.returncode == 1
    assert "1 cell failed" in done.stderr
    assert "the order iid leaves nothing out" in done.stderr
    assert "data, few-shot 3" in done.stdout


def test_no_results_is_one_line(folder: Path) -> None:
    done = bench(folder, "report", "nowhere")
    assert (done.returncode, done.stderr) == (1, "exll: there are no results at nowhere.\n")


def test_ctrl_c_ends_with_one_sentence_and_130(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("exll.bench.runner.run", interrupted)
    (folder / "plan.toml").write_text(f'name = "trial"\nlearners = ["ncm"]\nseeds = 1\n{TASK}')
    done = bench(folder, "run", "plan.toml", "--jobs", "1", "-o", "out")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "stopped; the same command continues from there (out).\n"
