"""The check of a container's health finds the studio, with TLS and without."""

import subprocess
import sys
from pathlib import Path

from exll.studio.certificates import own_certificate
from served import served

PROGRAM = Path(__file__).resolve().parents[2] / "tools" / "healthcheck.py"
TOKEN = "a-token-of-some-length"


def says(address: str) -> int:
    port = address.rstrip("/").rpartition(":")[2]
    return subprocess.run([sys.executable, str(PROGRAM), port], check=False).returncode


def test_it_is_well_while_the_studio_answers_and_not_after(tmp_path: Path) -> None:
    with served(tmp_path / "p") as studio:
        assert says(studio.address) == 0
    assert says(studio.address) == 1


def test_it_needs_no_token_and_no_known_certificate(tmp_path: Path) -> None:
    certificate = own_certificate((), tmp_path / "tls")
    with served(tmp_path / "p", "0.0.0.0", TOKEN, certificate=certificate) as studio:
        assert studio.address.startswith("https://")
        assert says(studio.address) == 0
