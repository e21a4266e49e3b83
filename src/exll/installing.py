"""The command that installs an extra of exll, in the same way as this exll was installed."""

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_command(extra: str) -> str:
    """The command that adds an extra: from the checkout where exll was installed from one, else from the registry."""
    try:
        origin = json.loads(distribution("exll").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    return command_for(origin, extra)


def command_for(origin: dict[str, object], extra: str) -> str:
    """``origin`` is what ``direct_url.json`` of PEP 610 says; it is empty for a package of a registry.

    >>> command_for({}, "studio")
    'pip install "exll[studio]"'
    """
    url = urlsplit(str(origin.get("url", "")))
    folder = url2pathname(url.path)
    if url.scheme != "file" or not Path(folder).is_dir():
        return f'pip install "exll[{extra}]"'
    details = origin.get("dir_info")
    editable = "-e " if isinstance(details, dict) and details.get("editable") else ""
    return f'pip install {editable}"{folder}[{extra}]"'
