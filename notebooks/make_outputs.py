"""Runs the notebooks, each from a clean kernel, and stores what they give. After a change of one:

ruff format notebooks && python notebooks/make_outputs.py
"""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
NOTEBOOKS = ("first_photos", "explain_and_correct", "compare_learners")


def executed(name: str) -> Any:
    """A notebook with fresh outputs; without times and counters, which change with every run."""
    notebook = nbformat.read(HERE / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(HERE)}}).execute()
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output["metadata"] = {}
    return notebook


if __name__ == "__main__":
    for name in NOTEBOOKS:
        nbformat.write(executed(name), HERE / f"{name}.ipynb")
