"""Every example is a file that runs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pictures import picture, write_class_folder

pytestmark = pytest.mark.process

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def start(name: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def run(name: str, *arguments: str, cwd: Path) -> str:
    result = start(name, *arguments, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_learn_a_folder(tmp_path: Path) -> None:
    photos = write_class_folder(tmp_path / "photos", classes=2, each=15)
    picture(1, 77).save(tmp_path / "q.png")
    printed = run("learn_a_folder.py", str(photos), str(tmp_path / "q.png"), cwd=tmp_path)
    assert printed.startswith("q.png: kind 1 (")
    assert 'THEN it is "kind 0"' in printed
    assert (tmp_path / "photos.exll").exists()
    Image.new("RGB", (48, 48), "white").save(tmp_path / "odd.png")
    printed = run("learn_a_folder.py", str(photos), str(tmp_path / "odd.png"), cwd=tmp_path)
    assert printed.startswith(("odd.png: maybe kind ", "odd.png: unknown (nearest is kind "))


def test_without_what_they_need_examples_say_how_they_are_called(tmp_path: Path) -> None:
    result = start("learn_a_folder.py", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, "usage: python learn_a_folder.py PHOTOS QUESTION.jpg\n")
    pytest.importorskip("cv2")
    result = start("webcam.py", "nothing.avi", cwd=tmp_path)
    assert result.returncode == 1
    assert "usage: python webcam.py [CAMERA OR VIDEO FILE]" in result.stderr


def test_the_webcam_says_in_one_sentence_that_opencv_is_missing(tmp_path: Path) -> None:
    code = f"import runpy, sys\nsys.modules['cv2'] = None\nrunpy.run_path({str(EXAMPLES / 'webcam.py')!r})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "this example needs OpenCV: pip install opencv-python\n"


def test_boxes(tmp_path: Path) -> None:
    lines = ["path,label,x0,y0,x1,y1"]
    for seed in range(12):
        shelf = Image.new("RGB", (104, 56), "white")
        for kind in range(2):
            shelf.paste(picture(kind, seed), (4 + 52 * kind, 4))
            lines.append(f"{seed}.png,kind {kind},{4 + 52 * kind},4,{52 + 52 * kind},52")
        shelf.save(tmp_path / f"{seed}.png")
    (tmp_path / "boxes.csv").write_text("\n".join(lines))
    for kind in range(2):
        region = f"{4 + 52 * kind},4,{52 + 52 * kind},52"
        printed = run("boxes.py", "boxes.csv", "3.png", region, cwd=tmp_path)
        assert printed.startswith(f"3.png, region {region}: kind {kind} (")
        assert f"  resembles 3.png#{region}\n" in printed
    result = start("boxes.py", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (
        1,
        "usage: python boxes.py BOXES.csv QUESTION.jpg X0,Y0,X1,Y1\n",
    )


def test_sklearn_pipeline(tmp_path: Path) -> None:
    assert "% right" in run("sklearn_pipeline.py", cwd=tmp_path)


def test_the_webcam_loop_teaches_and_asks_with_a_video_for_a_camera(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    path = str(tmp_path / "clip.avi")
    writer = cv2.VideoWriter(path, cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 64))
    for i in range(30):
        writer.write(np.asarray(picture(i // 15, i, 64))[:, :, ::-1])
    writer.write(np.full((64, 64, 3), 255, np.uint8))
    writer.release()
    # No screen here: a window is replaced by a key press for every frame.
    code = (
        "import runpy, sys, cv2\nkeys = iter('111111111111111222222222222222q')\ncv2.imshow = lambda *_: None\n"
        "cv2.putText = lambda _, words, *__: print(words)\n"
        f"cv2.waitKey = lambda _: ord(next(keys))\nsys.argv = ['webcam.py', {path!r}]\n"
        f"runpy.run_path({str(EXAMPLES / 'webcam.py')!r})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "taught 30: class 2" in result.stdout
    assert "\nclass 2 " in result.stdout
    assert result.stdout.splitlines()[-1].startswith(("maybe class ", "unknown (nearest is class "))
