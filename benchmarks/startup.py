"""How long commands take to start, against the bare imports they cannot avoid (ratios, medians, one run)."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from exll import ExLLClassifier

EXLL = "from exll.cli.main import run; run()"


def seconds(code: str, *arguments: str) -> float:
    taken = []
    for _ in range(11):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.exll"
        ExLLClassifier(preset="paper").fit(np.eye(8), list("abcdefgh")).save(model)
        help_ratio = seconds(EXLL, "--help") / seconds("import typer, rich")
        info_ratio = seconds(EXLL, "info", str(model)) / seconds("import typer, numpy, safetensors.numpy")
    print(f"exll --help / import typer, rich: {help_ratio:.2f} (at most 1.5)")
    print(f"exll info / import typer, numpy, safetensors.numpy: {info_ratio:.2f} (at most 1.5)")
