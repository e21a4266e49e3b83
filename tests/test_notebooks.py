"""The notebooks run, and say what is stored in them."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from make_outputs import HERE, NOTEBOOKS, executed

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MOST_BYTES = 600_000


def said(notebook: Any) -> list[str]:
    """What each cell prints, with single spaces: a column is as wide as its numbers. "over 99.9%" is nearly 99.9%."""
    cells = (cell.get("outputs", []) for cell in notebook.cells)
    texts = ("".join(output.get("text", "") for output in outputs) for outputs in cells)
    return [" ".join(text.replace("over ", "").split()) for text in texts]


def drawn(notebook: Any) -> list[int]:
    """How many pictures there are below each cell."""
    return [sum("data" in output for output in cell.get("outputs", [])) for cell in notebook.cells]


def stored(name: str) -> Any:
    return nbformat.read(HERE / f"{name}.ipynb", as_version=4)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.filterwarnings("default")  # those of the kernel's own packages
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_says_from_a_clean_kernel_what_is_stored_in_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    fresh, kept = executed(name), stored(name)
    assert drawn(fresh) == drawn(kept)
    for now, before in zip(said(fresh), said(kept), strict=True):
        assert NUMBER.sub("0", now) == NUMBER.sub("0", before)
        # Other processors round otherwise.
        assert [*map(float, NUMBER.findall(now))] == pytest.approx([*map(float, NUMBER.findall(before))], abs=3)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_stored_notebook_has_all_outputs_and_no_error_warning_or_path_of_a_machine(name: str) -> None:
    text, notebook = (HERE / f"{name}.ipynb").read_text(encoding="utf-8"), stored(name)
    assert len(text) < MOST_BYTES
    assert not re.search(r"/(home|root|tmp|Users|work)/|\\\\Users", text)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert {output.output_type for output in outputs} == {"stream", "display_data"}
    assert {output.name for output in outputs if output.output_type == "stream"} == {"stdout"}


def test_every_notebook_is_listed() -> None:
    assert {path.stem for path in HERE.glob("*.ipynb")} == set(NOTEBOOKS)
