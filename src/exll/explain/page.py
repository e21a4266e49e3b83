"""The Jinja2 environment of all our pages: autoescape, and filters for other people's text and for our numbers.

Labels and names are other people's text. Autoescape keeps them text; the filter ``shown`` makes them one short line.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from exll.explain.wording import confidence, counted, file_name, percent, readable

TEMPLATES = Path(__file__).with_name("templates")
LONGEST_SHOWN = 300


def environment(*folders: Path) -> Environment:
    """Templates of these folders, then ours."""
    loader = FileSystemLoader([*folders, TEMPLATES])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    def asset(name: str) -> Markup:
        """A style sheet or a script, unchanged. It is not a template: CSS may hold what Jinja takes for a comment."""
        return Markup(loader.get_source(made, name)[0])

    made.filters |= {
        "asset": asset,
        "base64": _base64,
        "confidence": confidence,
        "counted": counted,
        "csp_hash": _csp_hash,
        "file_name": file_name,
        "percent": percent,
        "shown": _shown,
        "thousands": "{:,}".format,
    }
    return made


def render(template: str, **context: Any) -> str:
    return _ours().get_template(template).render(context)


@cache
def _ours() -> Environment:
    return environment()


def _shown(text: Any, most: int = LONGEST_SHOWN) -> str:
    return readable(text, most)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _csp_hash(content: str) -> Markup:
    return Markup(f"'sha256-{_base64(hashlib.sha256(content.encode()).digest())}'")
