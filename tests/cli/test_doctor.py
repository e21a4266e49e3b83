"""``exll doctor`` finds what is there, and notices what is missing or broken."""

import json
import tomllib
from pathlib import Path

import pytest

from commands import exll
from exll.cli.installation import CHECKS, EXTRAS, Finding, State
from exll.features.packaged import PACKAGED

ROOT = Path(__file__).resolve().parents[2]


def findings(check: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in CHECKS[check]()}


def test_where_the_tests_run_all_that_is_needed_is_there() -> None:
    result = exll("doctor", "--json")
    found = json.loads(result.stdout)
    assert (result.returncode, found["broken"]) == (0, [])
    states = {check["name"]: check["state"] for check in found["checks"]}
    for name in ("Python", "exll", "numpy", "BLAS", "JPEG images", "network efficientnet_lite0", "extra studio"):
        assert states[name] == "ok", name


def test_every_check_is_a_line_and_the_last_line_is_the_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EXLL_CACHE", str(tmp_path / "file" / "cache"))
    for name in set(CHECKS) - {"Python", "folders"}:
        monkeypatch.delitem(CHECKS, name)
    result = exll("doctor")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ok       Python: 3.")
    assert lines[1].startswith("broken   cache folder: cannot be written to: ")
    assert "; to do: set EXLL_CACHE to a folder " in lines[1]
    assert (result.returncode, lines[-1]) == (0, "All that exll needs is here.")  # images are only looked at anew


def test_wrong_weights_of_the_default_network_are_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    network = PACKAGED["efficientnet_lite0"]
    weights = tmp_path / network.module / network.file
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"other weights")
    (tmp_path / network.module / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in set(CHECKS) - {"networks"}:
        monkeypatch.delitem(CHECKS, name)
    result = exll("doctor")
    assert result.returncode == 1
    assert "its SHA-256 differs" in result.stdout
    assert f"to do: {network.install}" in result.stdout
    assert result.stdout.endswith("Broken, and exll needs it: network efficientnet_lite0.\n")


def test_what_is_not_installed_too_old_or_changed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of an exll whose list of files and needs is another one."""
    needs = ("numpy>=99", "no-such-package", 'pillow>=11; extra == "heic"', 'none-such; extra == "studio"')
    (tmp_path / "exll-9.dist-info").mkdir()
    head = ["Metadata-Version: 2.4", "Name: exll", "Version: 9", "Provides-Extra: heic", "Provides-Extra: studio"]
    text = "\n".join([*head, *(f"Requires-Dist: {need}" for need in needs)])
    (tmp_path / "exll-9.dist-info" / "METADATA").write_text(text)
    (tmp_path / "exll-9.dist-info" / "RECORD").write_text("exll/changed.py,sha256=abc,3\n")
    monkeypatch.syspath_prepend(tmp_path)
    packages, extras, own = findings("packages"), findings("extras"), findings("exll")["exll"]
    assert packages["numpy"].state == packages["no-such-package"].state == own.state == State.broken
    assert packages["numpy"].found.endswith(" does not fit: >=99 is needed")
    assert packages["numpy"].to_do == 'pip install "numpy>=99"'
    assert packages["no-such-package"].found == "is not installed"
    assert own.found.endswith("changed since they were installed: exll/changed.py")
    assert extras["extra heic"].state == State.ok
    assert extras["extra studio"].state == State.missing
    assert extras["extra studio"].found == "for teaching and asking in the browser; none-such is not installed"
    assert extras["extra studio"].to_do == 'pip install "exll[studio]"'


def test_every_extra_says_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == set(EXTRAS)
