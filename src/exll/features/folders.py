"""Where exll keeps what can be made again: cached features and added backbones."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The user's cache folder, or the folder in EXLL_CACHE; it is created if it is missing."""
    named = os.environ.get("EXLL_CACHE")
    if named:
        folder = Path(named)
    else:
        from platformdirs import user_cache_path

        folder = user_cache_path("exll", appauthor=False)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def backbone_folder() -> Path:
    folder = cache_folder() / "backbones"
    folder.mkdir(exist_ok=True)
    return folder
