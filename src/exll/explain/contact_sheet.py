"""Pictures of a rule: the images it is made of, side by side under its sentence."""

import math
import textwrap
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

TILE, GAP, COLUMNS, MOST = 72, 6, 10, 60
FONT_SIZE, LINE = 14, 20
PAPER, INK = (255, 255, 255), (32, 32, 32)


def contact_sheet(images: Sequence[Image.Image], caption: str) -> Image.Image:
    """At most 60 images in rows of ten under a caption; what is left out is counted in a last line."""
    shown = images[:MOST]
    width = COLUMNS * (TILE + GAP) + GAP
    lines = textwrap.wrap(caption, width // 8)
    if len(shown) < len(images):
        lines.append(f"(and {len(images) - len(shown)} more that are not shown)")
    rows = max(1, math.ceil(len(shown) / COLUMNS))
    top = GAP + LINE * len(lines) + GAP
    sheet = Image.new("RGB", (width, top + rows * (TILE + GAP)), PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(FONT_SIZE)
    for i, line in enumerate(lines):
        draw.text((GAP, GAP + i * LINE), line, INK, font)
    for i, image in enumerate(shown):
        tile = image.convert("RGB")
        tile.thumbnail((TILE, TILE))
        left, upper = GAP + i % COLUMNS * (TILE + GAP), top + i // COLUMNS * (TILE + GAP)
        sheet.paste(tile, (left + (TILE - tile.width) // 2, upper + (TILE - tile.height) // 2))
    return sheet
