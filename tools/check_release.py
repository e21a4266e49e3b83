"""Builds what would be released, looks at it, and tries it in bare virtual environments: ``make release``.

The wheel is built from the sdist, and installed for each Python that pyproject.toml names and this machine has. What
passed everything is put into dist/. Nothing is uploaded.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLASSIFIER = "Programming Language :: Python :: 3."
LARGEST_SHOWN = 5
MADE_BY_THE_BUILD = {"PKG-INFO"}
LEFT_OUT = ".ci/"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="exll-release-") as made:
        folder = Path(made)
        sdist, wheel = build(folder / "dist")
        run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
        run(Path(sys.executable).with_name("hadolint"), ROOT / "Dockerfile")
        check_sdist(sdist)
        check_wheel(wheel)
        missing = []
        for version in versions():
            python = find_python(version)
            if python is None:
                missing.append(version)
            else:
                try_out(wheel, python, folder / version)
        (ROOT / "dist").mkdir(exist_ok=True)
        for file in (sdist, wheel):
            shutil.copy(file, ROOT / "dist" / file.name)
    say("done: what was checked is in dist/")
    if missing:
        say(f"not tried, since it is not on this machine: Python {', '.join(missing)}")


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is made from it and not from this folder."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_sdist(sdist: Path) -> None:
    """It holds all that is in git, tests and documents too, and nothing else."""
    with tarfile.open(sdist) as archive:
        sizes = {str(PurePosixPath(*PurePosixPath(one.name).parts[1:])): one.size for one in archive if one.isfile()}
    show(sdist, sizes)
    lacking = {name for name in tracked() if not name.startswith(LEFT_OUT)} - set(sizes)
    require(not lacking, "the sdist lacks", lacking)
    more = set(sizes) - tracked() - MADE_BY_THE_BUILD
    require(not more, "the sdist holds files that are not in git:", more)


def check_wheel(wheel: Path) -> None:
    """It holds the package as it is in git, and nothing beside it."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {one.filename: one.file_size for one in archive.infolist()}
    show(wheel, sizes)
    package = {name.removeprefix("src/") for name in tracked() if name.startswith("src/")}
    packed = {name for name in sizes if ".dist-info/" not in name}
    require(packed == package, "the wheel and src/ in git differ in", packed ^ package)
    require("exll/py.typed" in packed, "the wheel lacks", {"exll/py.typed"})


def try_out(wheel: Path, python: Path, folder: Path) -> None:
    """What a user does first, in an environment that has nothing but exll and what it needs."""
    folder.mkdir()
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"EXLL_CACHE": str(folder / "cache"), "PYTHONNOUSERSITE": "1"}
    begun = time.monotonic()
    run(python, "-m", "venv", folder / "venv")
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (scripts / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", wheel, environment=environment)
    run(*pip, "check", environment=environment)
    installed = sum(path.stat().st_size for path in (folder / "venv").rglob("*") if path.is_file())
    seconds = {"install": time.monotonic() - begun}

    def exll(*arguments: str) -> str:
        begun = time.monotonic()
        said = run(scripts / "exll", *arguments, folder=folder, environment=environment, quiet=True)
        seconds[arguments[0]] = time.monotonic() - begun
        return said

    version = exll("--version").split()[1]
    require(version in wheel.name, "the version is not that of the wheel:", {version})
    found = json.loads(exll("doctor", "--json"))
    require(not found["broken"], "exll doctor calls broken", set(found["broken"]))
    exll("demo", "--out", "demo")
    exll("learn", "demo/taught", "--model", "things.exll")
    asked = sorted((folder / "demo" / "asked").rglob("*.jpg"))[0]
    (answer,) = json.loads(exll("predict", "things.exll", str(asked), "--json"))
    classes = {path.name for path in (folder / "demo" / "taught").iterdir()}
    require(answer["label"] in classes, "exll predict answers with no class that was taught:", {answer["label"]})
    require("--host" in exll("studio", "--help"), "exll studio --help does not name", {"--host"})
    name = run(scripts / "python", "--version", quiet=True).strip()
    times = ", ".join(f"{step} {taken:.1f} s" for step, taken in seconds.items())
    say(f"{name}: {installed / 1e6:.0f} MB installed; {times}")
    shutil.rmtree(folder)


def versions() -> list[str]:
    """Those of Python that exll says it runs on: 3.11 and so on."""
    named = [one.removeprefix(CLASSIFIER) for one in PROJECT["classifiers"] if one.startswith(CLASSIFIER)]
    return [f"3.{minor}" for minor in named]


def find_python(version: str) -> Path | None:
    """On the path, or among those of pyenv."""
    for candidate in candidates(version):
        asked = subprocess.run(
            [candidate, "-c", "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip() == version:
            return candidate
    return None


def candidates(version: str) -> Iterator[Path]:
    found = shutil.which(f"python{version}")
    if found:
        yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)


def tracked() -> set[str]:
    return set(run("git", "-C", ROOT, "ls-files", quiet=True).splitlines())


def show(archive: Path, sizes: dict[str, int]) -> None:
    largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST_SHOWN]
    say(
        f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB packed, {sum(sizes.values()) / 1e6:.2f} MB unpacked, "
        f"{len(sizes)} files; the largest: {', '.join(f'{name} ({sizes[name] / 1e6:.2f} MB)' for name in largest)}"
    )


def run(
    *command: str | Path, folder: Path | None = None, environment: dict[str, str] | None = None, quiet: bool = False
) -> str:
    """What a command says on stdout; the end of all where it fails."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(words)} failed ({result.returncode}):\n{result.stdout}{result.stderr}")
    if not quiet:
        say(f"passed: {' '.join(Path(words[0]).name if word is words[0] else word for word in words)}")
    return result.stdout


def require(met: bool, words: str, names: set[str]) -> None:
    if not met:
        sys.exit(f"{words} {', '.join(sorted(names))}")


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
