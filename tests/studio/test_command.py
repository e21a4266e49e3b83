"""``exll studio`` as it is started and ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from commands import COMMAND
from exll.installing import install_command
from exll.studio.project import Project
from served import assert_model_is_its_log, png, start

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.process


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_also_while_pages_listen(tmp_path: Path, end: signal.Signals) -> None:
    process, address = start(tmp_path / "p")
    with httpx.Client(base_url=address, timeout=30) as client, client.stream("GET", "/api/events"):
        with httpx.Client(base_url=address, timeout=30) as teacher:
            files = {"files": ("x.png", png(0, 0))}
            assert teacher.post("/api/teach", data={"label": "mug"}, files=files).status_code == 200
        process.send_signal(end)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "everything that was taught is saved" in output
    assert [path.name for path in (tmp_path / "p" / "models").iterdir()] == ["1-1.exll"]
    with Project(tmp_path / "p") as project:
        assert project.store.counts() == {"mug": 1}
        assert_model_is_its_log(project)


@pytest.mark.parametrize("token", ["", "short"])
def test_open_to_others_it_refuses_to_start_without_a_good_token(tmp_path: Path, token: str) -> None:
    result = exll("studio", str(tmp_path / "p"), "--host", "0.0.0.0", EXLL_STUDIO_TOKEN=token)
    assert result.returncode == 1
    assert "token" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "p").exists()


def test_a_port_in_use_is_said_in_one_sentence(tmp_path: Path) -> None:
    process, address = start(tmp_path / "p")
    try:
        result = exll("studio", str(tmp_path / "q"), "--port", address.rstrip("/").rpartition(":")[2])
        assert result.returncode == 1
        assert "cannot listen on 127.0.0.1" in result.stderr
        result = exll("studio", str(tmp_path / "p"), "--port", "0")
        assert "is open in another studio" in result.stderr
    finally:
        process.terminate()
        process.communicate()


def test_it_says_what_it_opens_before_it_loads_anything(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['exll.studio.project'] = None; " + COMMAND
    result = subprocess.run(
        [sys.executable, "-c", hidden, "studio", str(tmp_path / "p")], capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert result.stderr.splitlines()[0] == f"opening the project {tmp_path / 'p'} ..."


def test_without_its_packages_it_says_what_to_install(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['uvicorn'] = None; sys.argv[0] = 'exll'; " + COMMAND
    result = subprocess.run(
        [sys.executable, "-c", hidden, "studio", str(tmp_path / "p")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr == f"exll: the studio needs more packages; install them with: {install_command('studio')}\n"


def test_help_loads_nothing_of_the_web() -> None:
    code = "import exll.cli.main, sys; assert not {'fastapi', 'uvicorn', 'exll.studio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_teaching_and_asking_load_neither_scikit_learn_nor_matplotlib(tmp_path: Path) -> None:
    code = """
import sys
from served import png, served

with served(sys.argv[1]) as studio:
    for kind in range(2):
        studio.taught(f"kind {kind}", png(kind, 1), png(kind, 2))
    assert studio.ask(png(1, 3), "/api/explain").json()["prediction"]["label"] == "kind 1"
    for page in ("classes", "rules", "project", "project/model"):
        assert studio.client.get(f"/api/{page}").status_code == 200
assert not {"sklearn", "pandas", "matplotlib"} & set(sys.modules), "the studio needs none of them for this"
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "p")], check=True, env=environment)


def exll(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments, "--no-browser"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **variables},
    )
