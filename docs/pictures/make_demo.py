"""Makes demo.svg: what ``exll demo`` prints, as a picture for the README."""

import re
from pathlib import Path
from unittest.mock import patch

import rich.console
from rich.terminal_theme import MONOKAI

from exll.cli.demo import demo

console = rich.console.Console(record=True, width=116, force_terminal=False)
with patch.object(rich.console, "Console", lambda: console):
    demo()
svg = console.export_svg(title="exll demo", theme=MONOKAI)
# The picture must load nothing from elsewhere: any monospaced font of the reader will do.
svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "ui-monospace")
Path(__file__).with_name("demo.svg").write_text(svg)
