"""What is installed here, what is missing and what is broken: the findings of ``exll doctor``.

Nothing but Python itself is imported at the top: where a package is missing or broken, that is a finding and no end.
"""

import enum
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OLDEST_PYTHON = (3, 11)
REINSTALL = "pip install --force-reinstall --no-deps"
NAMES_SHOWN = 3
IMPORTED = {"scikit-learn": "sklearn", "pillow": "PIL"}  # a package by the name that Python imports, where it differs
EXTRAS = {
    "bench": "reports of benchmarks in several processes, and maps as PNG",
    "cluster": "learning on several machines",
    "docs": "building the documentation site",
    "dev": "tests and checks of exll itself",
    "heic": "HEIC photos of telephones",
    "lite1": "the network efficientnet_lite1",
    "lite2": "the network efficientnet_lite2",
    "peers": "other people's learners, to compare with",
    "studio": "teaching and asking in the browser",
    "torch": "exporting published networks",
    "video": "teaching videos",
}


class State(enum.StrEnum):
    ok = "ok"
    missing = "missing"  # of what nobody needs for the rest
    broken = "broken"


@dataclass(frozen=True)
class Finding:
    name: str
    state: State
    found: str
    to_do: str = ""
    required: bool = False


def examine() -> Iterator[Finding]:
    """All findings, one after the other as they are made. A check that fails is itself a finding."""
    for name, check in CHECKS.items():
        try:
            yield from check()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            yield Finding(name, State.broken, reason, "install exll again in a fresh virtual environment", True)


def _python() -> Iterator[Finding]:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info >= OLDEST_PYTHON:
        yield Finding("Python", State.ok, found, required=True)
    else:
        yield Finding("Python", State.broken, found, "install Python 3.11 or newer", True)


def _exll() -> Iterator[Finding]:
    from exll.version import __version__

    damaged, of_wheel = _damaged_files()
    whole = (
        f"{of_wheel} files as they were packed" if of_wheel else "a checkout; its files have no checksums to compare"
    )
    found = f"{__version__} in {Path(__file__).resolve().parents[1]}, {whole}"
    if damaged:
        found = f"{__version__}, but these files changed since they were installed: {_listed(damaged)}"
        yield Finding("exll", State.broken, found, f"{REINSTALL} exll", True)
    else:
        yield Finding("exll", State.ok, found, required=True)


def _damaged_files() -> tuple[list[str], int]:
    """Files of exll whose SHA-256 is not the one in the installed list of files, and how many were compared."""
    import base64
    import csv
    import hashlib
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution("exll")
    except PackageNotFoundError:
        return [], 0
    lines = csv.reader((installed.read_text("RECORD") or "").splitlines())
    listed = {name: digest for name, digest, _ in lines if name.startswith("exll/") and digest}
    damaged = []
    for name, wanted in listed.items():
        path = Path(str(installed.locate_file(name)))
        digest = hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""
        if f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}" != wanted:
            damaged.append(name)
    return damaged, len(listed)


def _packages() -> Iterator[Finding]:
    """What exll needs: there, new enough, and can be imported."""
    from importlib import import_module
    from importlib.metadata import PackageNotFoundError

    try:
        requirements = _requirements()
    except PackageNotFoundError:
        found = "exll runs from a folder and was never installed, so nothing says what it needs"
        yield Finding("packages", State.missing, found, "pip install the folder that holds its pyproject.toml")
        return
    for requirement in requirements:
        name = requirement.name
        lack = _lack(requirement)
        if lack:
            yield Finding(name, State.broken, lack, f'pip install "{name}{requirement.specifier}"', True)
        elif name.endswith(("_pytorch_model", "-pytorch-model")):
            continue  # weights, which are looked at with the networks and never imported
        else:
            try:
                import_module(IMPORTED.get(name, name))
            except Exception as error:
                found = f"{_version(name)}, but it cannot be imported: {error}"
                yield Finding(name, State.broken, found, f'{REINSTALL} "{name}{requirement.specifier}"', True)
            else:
                yield Finding(name, State.ok, _version(name), required=True)


def _linear_algebra() -> Iterator[Finding]:
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve
    from threadpoolctl import threadpool_info

    matrix = np.eye(64) + np.full((64, 64), 0.5)
    error = float(np.abs(matrix @ cho_solve(cho_factor(matrix), np.eye(64)) - np.eye(64)).max())
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    named = {f"{pool['internal_api']} {pool['version']}, {_counted(pool['num_threads'], 'thread')}" for pool in pools}
    found = "; ".join(sorted(named)) or "a BLAS that threadpoolctl does not know"
    if error < 1e-9:
        yield Finding("BLAS", State.ok, found, required=True)
    else:
        found = f"{found}; a matrix of 64 x 64 is inverted with an error of {error:.2g}"
        yield Finding("BLAS", State.broken, found, f"{REINSTALL} numpy scipy", True)


def _onnxruntime() -> Iterator[Finding]:
    import onnxruntime

    providers = [name.removesuffix("ExecutionProvider") for name in onnxruntime.get_available_providers()]
    found = f"{', '.join(providers)}; exll uses CPU"
    if "CPU" in providers:
        yield Finding("onnxruntime providers", State.ok, found, required=True)
    else:
        yield Finding("onnxruntime providers", State.broken, found, f"{REINSTALL} onnxruntime", True)


def _image_formats() -> Iterator[Finding]:
    """An image of each format is written and read; of AVIF and HEIC, which not every Pillow writes, only the decoder
    is looked for."""
    from io import BytesIO

    from PIL import Image, features

    from exll.features.formats import FORMATS
    from exll.features.image import read_image
    from exll.installing import install_command

    for name in FORMATS:
        required = name in ("JPEG", "PNG")
        to_do = install_command("heic") if name == "HEIC" else "pip install --upgrade --force-reinstall pillow"
        try:
            if name == "HEIC":
                import pillow_heif

                found = f"can be read, by pillow-heif {pillow_heif.__version__}"
            elif name == "AVIF":
                found = "can be read" if features.check("avif") else ""
            else:
                written = BytesIO()
                Image.new("RGB", (16, 16), (200, 100, 50)).save(written, name.upper())
                found = "can be read" if read_image(written.getvalue()).size == (16, 16) else ""
        except ImportError:
            found = ""
        except Exception as error:
            yield Finding(f"{name} images", State.broken, f"cannot be read: {error}", to_do, required)
            continue
        lacking = State.broken if required else State.missing
        if found:
            yield Finding(f"{name} images", State.ok, found, required=required)
        else:
            yield Finding(f"{name} images", lacking, "cannot be read with what is installed", to_do, required)


def _networks() -> Iterator[Finding]:
    """Those of exll and of packages: the weights are the right ones, and an image goes through the default and the
    built-in network."""
    import numpy as np

    from exll.features.backbone import BUILT_IN, DEFAULT, OnnxBackbone
    from exll.features.packaged import PACKAGED, is_installed, weights_of

    image = np.arange(96 * 96 * 3, dtype=np.uint8).reshape(96, 96, 3)
    more = [name for name, network in PACKAGED.items() if name != DEFAULT and is_installed(network)]
    for name in (DEFAULT, BUILT_IN, *more):
        required, packaged = name not in more, PACKAGED.get(name)
        label, to_do = f"network {name}", packaged.install if packaged else f"{REINSTALL} exll"
        try:
            found = []
            if packaged is not None:
                weights_of(packaged)
                found.append("its checksum is right")
            if required:
                vectors = OnnxBackbone(name, threads=1).features([image])
                if not (np.isfinite(vectors).all() and vectors.any()):
                    raise ValueError("its vector is empty or not finite")
                found.append(f"it runs and gives {vectors.shape[1]} numbers per image")
        except Exception as error:
            yield Finding(label, State.broken, str(error), to_do, required)
        else:
            yield Finding(label, State.ok, ", ".join(found), required=required)


def _extras() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, metadata

    from exll.installing import install_command

    try:
        names = metadata("exll").get_all("Provides-Extra") or []
    except PackageNotFoundError:
        return  # told of already, where the packages are looked at
    for extra in sorted(names):
        lacks = [f"{one.name} {lack}" for one in _requirements(extra) if (lack := _lack(one))]
        purpose = EXTRAS.get(extra, "more")
        if lacks:
            found = f"for {purpose}; {_listed(lacks)}"
            yield Finding(f"extra {extra}", State.missing, found, install_command(extra))
        else:
            yield Finding(f"extra {extra}", State.ok, f"for {purpose}")


def _machine() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f} GB of memory"
    except (AttributeError, ValueError, OSError):  # Windows does not say
        memory = "memory unknown"
    yield Finding("machine", State.ok, f"{_counted(cores, 'core')}, {memory}")


def _folders() -> Iterator[Finding]:
    """Whether files can be written where exll writes without being told where, and where the user is."""
    from exll.features.folders import cache_folder

    advice = "set EXLL_CACHE to a folder that you may write to; until then every image is looked at anew"
    for name, folder, to_do in (
        ("cache folder", cache_folder, advice),
        ("working folder", Path.cwd, "go to a folder that you may write to before you teach a model"),
    ):
        try:
            path = folder()
            with tempfile.TemporaryFile(dir=path):
                free = shutil.disk_usage(path).free
        except OSError as error:
            yield Finding(name, State.broken, f"cannot be written to: {error}", to_do)
        else:
            yield Finding(name, State.ok, f"{path}, {free / 1e9:.1f} GB free")


CHECKS: dict[str, Callable[[], Iterator[Finding]]] = {
    "Python": _python,
    "exll": _exll,
    "packages": _packages,
    "BLAS": _linear_algebra,
    "onnxruntime providers": _onnxruntime,
    "image formats": _image_formats,
    "networks": _networks,
    "extras": _extras,
    "machine": _machine,
    "folders": _folders,
}


def _requirements(extra: str = "") -> list[Any]:
    """What exll asks for, or an extra of it asks for besides; on this system and with this Python."""
    from importlib.metadata import requires

    from packaging.requirements import Requirement

    always = [one for text in requires("exll") or [] if (one := Requirement(text)).name != "exll"]
    if not extra:
        return [one for one in always if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [
        one
        for one in always
        if one.marker and one.marker.evaluate({"extra": extra}) and not one.marker.evaluate({"extra": ""})
    ]


def _lack(requirement: Any) -> str:
    """Why an installed package is not what is asked for; empty where it is."""
    version = _version(requirement.name)
    if not version:
        return "is not installed"
    fits = requirement.specifier.contains(version, prereleases=True)
    return "" if fits else f"{version} does not fit: {requirement.specifier} is needed"


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
