from pathlib import Path

import pytest

from exll.bench.config import Plan, read_plan
from exll.bench.learners import BUILT_IN
from exll.errors import BenchError
from grids import LAST_SEEN

WHOLE = """
learners = ["exll", "slda-unit", "mine:LastSeen", {name = "SLDA 0.1", class = "slda", arguments = {shrinkage = 0.1}}]
backbones = ["nano"]
seeds = 2
[[tasks]]
dataset = "household"
options = { frames = 2 }
orders = ["instance", "few-shot 5"]
evaluate = "videos"
points = 3
axis = "Video"
[[tasks]]
dataset = "openloris"
root = "data"
orders = ["low-shot-instance"]
seeds = [7]
[tasks.arguments.SLDA-unit-is-not-here]
"""


def read(folder: Path, text: str) -> Plan:
    (folder / "mine.py").write_text(LAST_SEEN)
    (folder / "plan.toml").write_text(text)
    return read_plan(folder / "plan.toml")


def test_a_whole_plan(tmp_path: Path) -> None:
    plan = read(tmp_path, WHOLE.replace("[tasks.arguments.SLDA-unit-is-not-here]", ""))
    assert plan.name == "plan"
    assert [learner.name for learner in plan.learners] == ["ExLL", "SLDA, unit", "LastSeen", "SLDA 0.1"]
    assert plan.learners[3].arguments == {"normalise": False, "shrinkage": 0.1}
    assert [(task.dataset, task.order, task.seeds) for task in plan.tasks] == [
        ("household", "instance", (0, 1)),
        ("household", "few-shot 5", (0, 1)),
        ("openloris", "low-shot-instance", (7,)),
    ]
    assert plan.tasks[0].evaluation.most == 3
    assert plan.tasks[2].root == str(tmp_path / "data")


def test_arguments_for_one_task_reach_only_its_cells(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        'learners = ["fine-tune"]\n[[tasks]]\ndataset = "household"\norders = ["iid"]\n[tasks.arguments.Fine-Tune]\n'
        'learning_rate = 0.5\n[[tasks]]\ndataset = "household"\norders = ["class-iid"]\n',
    )
    rates = [next(plan.learners_for(task)).new(0).learning_rate for task in plan.tasks]
    assert rates == [0.5, 0.001]


def test_conditions_reach_every_task_and_each_test_domain_is_a_task(tmp_path: Path) -> None:
    task = TASK.replace('"iid"', '"iid", "class-iid"')
    plan = read(
        tmp_path,
        f'learners = ["ncm", "slda"]\nseeds = 2\nmost_seeds = {{SLDA = 1}}\n{task}test_domains = ["photo", "sketch"]\n'
        f"wrong_labels = 0.2\nlong_tail = 0.05\ndelay = 7\n",
    )
    domains = [(task.conditions.test_domain, task.order) for task in plan.tasks]
    assert domains == [("photo", "iid"), ("photo", "class-iid"), ("sketch", "iid"), ("sketch", "class-iid")]
    assert plan.tasks[3].label == ("household (test domain sketch, long tail 5%, wrong labels 20%, delay 7), class-iid")
    assert [(learner.name, seed) for learner, seed in plan.runs_of(plan.tasks[0])] == [
        ("NCM", 0),
        ("SLDA", 0),
        ("NCM", 1),
    ]


def test_every_built_in_learner_can_be_made_and_draws_by_the_seed() -> None:
    for name, learner in BUILT_IN.items():
        learner.check()
        made = learner.new(41)
        assert "random_state" not in made.get_params() or made.get_params()["random_state"] == 41, name


TASK = '[[tasks]]\ndataset = "household"\norders = ["iid"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("learners = [", "is not a TOML file that can be read"),
        (TASK, "learners must be a list that is not empty; got None"),
        ('learners = ["exll"]', "tasks must be a list that is not empty"),
        (f'learners = ["slad"]\n{TASK}', "there is no learner 'slad'; there are: exll, glocal, perceptron"),
        (f'learners = ["nowhere:Learner"]\n{TASK}', "nowhere:Learner cannot be imported"),
        (f'learners = ["mine:Nothing"]\n{TASK}', "mine:Nothing cannot be imported"),
        (f'learners = ["pathlib:Path"]\n{TASK}', "pathlib:Path has no partial_fit"),
        (f'learners = [{{class = "slda", arguments = {{shrink = 1}}}}]\n{TASK}', "SLDA cannot be made from"),
        (f'learners = [{{name = "x"}}]\n{TASK}', "a learner needs a class"),
        (f'learners = ["ncm", "ncm"]\n{TASK}', "two learners have the name NCM"),
        (f'learners = ["ncm"]\nspeed = 3\n{TASK}', "a benchmark has no setting 'speed'"),
        (f'learners = ["ncm"]\n{TASK}shuffle = 1', "a task has no setting 'shuffle'"),
        (f'learners = ["ncm"]\n{TASK}seeds = 0', "seeds must be"),
        (f'learners = ["ncm"]\n{TASK}seeds = [-1]', "a seed must be a whole number of at least 0; got -1"),
        (f'learners = ["ncm"]\n{TASK}axis = "Speed"', "axis must be one of Video, Low-Shot, Scale, Imbalance"),
        (f'learners = ["ncm"]\n{TASK}evaluate = "often"', "evaluate must be"),
        ('learners = ["ncm"]\n[[tasks]]\ndataset = "household"\norders = ["backwards"]', "an order must be one of"),
        ('learners = ["ncm"]\n[[tasks]]\norders = ["iid"]', "a task needs a dataset"),
        (f'learners = ["ncm"]\n{TASK}arguments = {{SLDA = {{}}}}', "arguments are given for SLDA"),
        (f'learners = ["ncm"]\nmost_seeds = {{SLDA = 1}}\n{TASK}', "most_seeds are given for SLDA"),
        (f'learners = ["ncm"]\n{TASK}wrong_labels = 20', "wrong_labels must be a share between 0 and 1"),
        (f'learners = ["ncm"]\n{TASK}delay = -1', "delay must be a whole number of at least 0; got -1"),
        (f'learners = ["ncm"]\n{TASK}hold_out = 0.2\ntest_domains = ["a"]', "test_domains or hold_out, not both"),
        (f'learners = ["ncm"]\n{TASK}test_domains = []', "test_domains must be a list that is not empty"),
    ],
)
def test_a_bad_plan_is_answered_in_one_line_that_names_the_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BenchError) as refusal:
        read(tmp_path, text)
    assert words in str(refusal.value)
    assert str(refusal.value).startswith(str(tmp_path / "plan.toml"))
    assert "\n" not in str(refusal.value)


def test_the_plans_that_come_with_exll_can_be_read() -> None:
    root = Path(__file__).resolve().parents[2]
    demo = read_plan(root / "src" / "exll" / "bench" / "demo.toml")
    assert {task.axis for task in demo.tasks} - {None} == {"Video", "Low-Shot", "Scale", "Imbalance"}
    paper = read_plan(root / "benchmarks" / "configs" / "paper.toml")
    from exll.bench.protocol import PAPER_TASKS

    def essence(tasks: object) -> list[tuple[object, ...]]:
        return [(t.dataset, t.order, t.seeds, t.evaluation, t.axis) for t in tasks]  # type: ignore[attr-defined]

    assert essence(paper.tasks) == essence(PAPER_TASKS)
    assert len(paper.backbones) == 5
