"""Every example is a file that runs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pictures import picture, write_class_folder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_learn_a_folder(tmp_path: Path) -> None:
    photos = write_class_folder(tmp_path / "photos", classes=2, each=6)
    picture(1, 77).save(tmp_path / "q.png")
    printed = run("learn_a_folder.py", str(photos), str(tmp_path / "q.png"), cwd=tmp_path)
    assert "q.png is taken for 'kind 1'" in printed
    assert 'THEN it is "kind 0"' in printed
    assert (tmp_path / "photos.exll").exists()


def test_sklearn_pipeline(tmp_path: Path) -> None:
    assert "% right" in run("sklearn_pipeline.py", cwd=tmp_path)


def test_the_webcam_loop_teaches_and_asks_with_a_video_for_a_camera(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    path = str(tmp_path / "clip.avi")
    writer = cv2.VideoWriter(path, cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 64))
    for i in range(12):
        writer.write(np.asarray(picture(i // 6, i, 64))[:, :, ::-1])
    writer.release()
    # No screen here: a window is replaced by a key press for every frame.
    code = (
        "import runpy, sys, cv2\nkeys = iter('111111222222q')\ncv2.imshow = lambda *_: None\n"
        f"cv2.waitKey = lambda _: ord(next(keys))\nsys.argv = ['webcam.py', {path!r}]\n"
        f"runpy.run_path({str(EXAMPLES / 'webcam.py')!r})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "taught 12: class 2" in result.stdout
