"""Twelve kinds of household object. An instance is a draw of proportions, colours and trimmings."""

from collections.abc import Callable

import numpy as np

from exll.streams.household.shapes import (
    Colour,
    Shape,
    ellipse,
    hsv,
    polygon,
    rectangle,
    ring,
    rotated,
    rounded,
    shaded,
    straight,
    stroke,
)

Random = np.random.Generator
METAL: Colour = (176, 180, 188)


def _paint(rng: Random) -> Colour:
    return hsv(rng.random(), rng.uniform(0.35, 0.9), rng.uniform(0.5, 0.95))


def mug(rng: Random) -> list[Shape]:
    colour, half, height = _paint(rng), rng.uniform(0.42, 0.58), rng.uniform(0.5, 0.72)
    taper = rng.uniform(0.8, 1.0)
    body = polygon((-half, -height), (half, -height), (half * taper, height), (-half * taper, height))
    shapes = [
        Shape(ring(half * 0.95, 0.0, rng.uniform(0.34, 0.44), 0.22, -95, 95), shaded(colour, 0.8)),
        Shape(body, colour),
        Shape(ellipse(0, height, half * taper, 0.12), colour),
        Shape(
            polygon((-half, -height), (-half * 0.6, -height), (-half * 0.6, height), (-half, height)),
            shaded(colour, 1.2),
        ),
    ]
    if rng.random() < 0.6:
        y = rng.uniform(-0.2, 0.3)
        shapes.append(Shape(rectangle(-half * 0.95, y, half * 0.95, y + rng.uniform(0.1, 0.25)), _paint(rng)))
    return [
        *shapes,
        Shape(ellipse(0, -height, half, 0.15), shaded(colour, 1.25)),
        Shape(ellipse(0, -height + 0.02, half * 0.86, 0.11), hsv(0.07, 0.6, rng.uniform(0.2, 0.4))),
    ]


def bottle(rng: Random) -> list[Shape]:
    colour, half, neck = _paint(rng), rng.uniform(0.22, 0.34), rng.uniform(0.09, 0.13)
    shoulder = rng.uniform(-0.4, -0.1)
    body = polygon(
        (-neck, -0.85), (neck, -0.85), (neck, shoulder - 0.25), (half, shoulder), (half, 0.9), (-half, 0.9),
        (-half, shoulder), (-neck, shoulder - 0.25),
    )  # fmt: skip
    return [
        Shape(body, colour),
        Shape(rectangle(-half * 0.75, shoulder + 0.05, -half * 0.45, 0.85), shaded(colour, 1.35)),
        Shape(rectangle(-half, shoulder + 0.25, half, shoulder + rng.uniform(0.6, 0.85)), (240, 236, 224)),
        Shape(rectangle(-half * 0.7, shoulder + 0.35, half * 0.6, shoulder + 0.42), _paint(rng)),
        Shape(rectangle(-neck * 1.25, -1.0, neck * 1.25, -0.8), _paint(rng)),
    ]


def book(rng: Random) -> list[Shape]:
    colour, wide, high = _paint(rng), rng.uniform(0.5, 0.68), rng.uniform(0.72, 0.9)
    title = shaded(colour, 0.35) if rng.random() < 0.5 else (245.0, 235.0, 190.0)
    return [
        Shape(polygon((-wide, -high), (wide, -high), (wide + 0.12, -high + 0.1), (wide + 0.12, high + 0.1),
                      (-wide + 0.12, high + 0.1), (-wide, high)), (238, 232, 214)),
        Shape(straight(wide + 0.06, -high + 0.06, wide + 0.06, high + 0.04, 0.02), (190, 184, 168)),
        Shape(rectangle(-wide, -high, wide, high), colour),
        Shape(rectangle(-wide, -high, -wide + 0.16, high), shaded(colour, 0.7)),
        Shape(rectangle(-wide + 0.32, -high + 0.22, wide - 0.15, -high + 0.36), title),
        Shape(rectangle(-wide + 0.32, -high + 0.46, wide - 0.35, -high + 0.53), title),
        Shape(ellipse(0.1, high * 0.35, rng.uniform(0.15, 0.3), rng.uniform(0.15, 0.3)), _paint(rng)),
    ]  # fmt: skip


def ball(rng: Random) -> list[Shape]:
    colour, other, radius = _paint(rng), _paint(rng), rng.uniform(0.7, 0.85)
    wedges = int(rng.integers(2, 5))
    shapes = [Shape(ellipse(0, 0, radius, radius), colour)]
    for place in np.linspace(-0.7, 0.7, wedges):
        bend = np.linspace(-1, 1, 24)
        across = radius * place * np.sqrt(1 - 0.96 * bend**2)
        seam = np.stack([across, radius * bend], axis=1)
        shapes.append(Shape(stroke(seam, rng.uniform(0.06, 0.16)), other))
    return [*shapes, Shape(ellipse(-0.3, -0.35, 0.16, 0.12), shaded(colour, 1.5))]


def plate(rng: Random) -> list[Shape]:
    china, rim = hsv(rng.random(), rng.uniform(0.02, 0.2), rng.uniform(0.85, 0.97)), _paint(rng)
    flat = rng.uniform(0.72, 0.9)
    return [
        Shape(ellipse(0.02, 0.05, 0.95, 0.95 * flat), shaded(china, 0.6)),
        Shape(ellipse(0, 0, 0.95, 0.95 * flat), china),
        Shape(ellipse(0, 0, 0.9, 0.9 * flat), rim),
        Shape(ellipse(0, 0, rng.uniform(0.76, 0.85), 0.8 * flat), china),
        Shape(ellipse(0, 0.01, 0.58, 0.58 * flat), shaded(china, 0.86)),
        Shape(ellipse(0, 0.03, 0.55, 0.55 * flat), shaded(china, 1.04)),
    ]


def key(rng: Random) -> list[Shape]:
    metal = METAL if rng.random() < 0.5 else hsv(rng.uniform(0.1, 0.14), 0.6, rng.uniform(0.65, 0.85))
    bow, hole = rng.uniform(0.3, 0.4), rng.uniform(0.1, 0.22)
    shapes = [
        Shape(ring(-0.55, 0, bow, hole), metal),
        Shape(rectangle(-0.28, -0.08, 0.92, 0.08), metal),
        Shape(rectangle(-0.28, -0.02, 0.9, 0.02), shaded(metal, 0.7)),
    ]
    places = np.linspace(0.4, 0.88, int(rng.integers(2, 5)))
    return [*shapes, *(Shape(rectangle(x - 0.05, 0.06, x + 0.03, rng.uniform(0.18, 0.34)), metal) for x in places)]


def scissors(rng: Random) -> list[Shape]:
    grip, angle, length = _paint(rng), rng.uniform(14, 26), rng.uniform(0.85, 1.0)
    shapes = []
    for side in (-1, 1):
        blade = polygon((-0.07, 0.1), (0.07, 0.1), (0.05, -length), (0.0, -length - 0.05))
        handle = rectangle(-0.06, 0.05, 0.06, 0.45)
        shapes += [
            Shape(rotated(blade, side * angle / 2), shaded(METAL, 1.0 + 0.12 * side)),
            Shape(rotated(handle, side * angle), grip),
            Shape(rotated(ring(0, 0.66, rng.uniform(0.25, 0.3), 0.15), side * angle), grip),
        ]
    return [*shapes, Shape(ellipse(0, 0.08, 0.06, 0.06), (90, 90, 96))]


def spoon(rng: Random) -> list[Shape]:
    material = METAL if rng.random() < 0.6 else hsv(rng.uniform(0.06, 0.1), 0.55, rng.uniform(0.5, 0.8))
    wide, long = rng.uniform(0.24, 0.32), rng.uniform(0.34, 0.44)
    return [
        Shape(polygon((-0.045, -0.3), (0.045, -0.3), (rng.uniform(0.07, 0.13), 0.98), (-0.09, 0.98)), material),
        Shape(ellipse(0, -0.58, wide, long), material),
        Shape(ellipse(0.02, -0.57, wide * 0.78, long * 0.8), shaded(material, 0.72)),
        Shape(ellipse(-0.05, -0.66, wide * 0.3, long * 0.4), shaded(material, 1.3)),
    ]


def clock(rng: Random) -> list[Shape]:
    frame, face = _paint(rng), hsv(rng.random(), 0.06, 0.97)
    shapes = [Shape(ellipse(0, 0, 0.92, 0.92), frame), Shape(ellipse(0, 0, rng.uniform(0.72, 0.8), 0.78), face)]
    hours = rectangle(-0.03, -0.72, 0.03, -0.58)
    shapes += [Shape(rotated(hours, 30 * hour), (40, 40, 44)) for hour in range(12)]
    for length, width in ((0.36, 0.09), (0.56, 0.06)):
        shapes.append(
            Shape(rotated(rectangle(-width / 2, -length, width / 2, 0.05), rng.uniform(0, 360)), (30, 30, 36))
        )
    return [*shapes, Shape(ellipse(0, 0, 0.06, 0.06), frame)]


def lamp(rng: Random) -> list[Shape]:
    shade, foot = _paint(rng), hsv(rng.random(), 0.3, rng.uniform(0.25, 0.6))
    top, bottom = rng.uniform(0.22, 0.38), rng.uniform(0.55, 0.75)
    return [
        Shape(ellipse(0, 0.9, rng.uniform(0.36, 0.5), 0.1), foot),
        Shape(rectangle(-0.05, -0.2, 0.05, 0.9), foot),
        Shape(ellipse(0, -0.1, 0.13, 0.12), (255, 244, 190)),
        Shape(polygon((-top, -0.95), (top, -0.95), (bottom, -0.1), (-bottom, -0.1)), shade),
        Shape(polygon((-top, -0.95), (-top * 0.3, -0.95), (-bottom * 0.3, -0.1), (-bottom, -0.1)), shaded(shade, 1.25)),
        Shape(straight(-bottom, -0.1, bottom, -0.1, 0.07), shaded(shade, 0.6)),
    ]


def banana(rng: Random) -> list[Shape]:
    peel, bend = hsv(rng.uniform(0.12, 0.17), rng.uniform(0.7, 0.95), rng.uniform(0.8, 0.98)), rng.uniform(0.45, 0.75)
    along = np.linspace(-1, 1, 40)
    line = np.stack([0.9 * along, bend * (along**2 - 0.5)], axis=1)
    width = rng.uniform(0.36, 0.46) * np.sqrt(np.clip(1 - 0.9 * along**4, 0.05, 1))
    shapes = [
        Shape(stroke(line, width), peel),
        Shape(stroke(line + np.array([0, 0.06]), width * 0.25), shaded(peel, 0.8)),
        Shape(stroke(line[:4], 0.13), (96, 74, 40)),
        Shape(stroke(line[-3:], 0.11), (80, 62, 36)),
    ]
    for _ in range(int(rng.integers(0, 5))):
        x, y = line[int(rng.integers(8, 32))]
        shapes.append(Shape(ellipse(x, y, 0.05, 0.03), (112, 84, 40)))
    return shapes


def phone(rng: Random) -> list[Shape]:
    case, wide = _paint(rng) if rng.random() < 0.5 else (40.0, 40.0, 46.0), rng.uniform(0.42, 0.5)
    screen = hsv(rng.random(), rng.uniform(0.3, 0.7), rng.uniform(0.3, 0.6))
    shapes = [
        Shape(rounded(-wide, -0.95, wide, 0.95, 0.14), case),
        Shape(rounded(-wide + 0.05, -0.88, wide - 0.05, 0.88, 0.1), screen),
    ]
    size, shade = wide * 0.4, rng.random()
    for row in range(4):
        for column in range(3):
            x, y = (column - 1) * wide * 0.58, -0.55 + 0.36 * row
            icon = hsv(shade + 0.13 * (row + 2 * column), 0.6, 0.95)
            shapes.append(Shape(rounded(x - size / 2, y - size / 2, x + size / 2, y + size / 2, 0.04), icon))
    return shapes


CATEGORIES: dict[str, Callable[[Random], list[Shape]]] = {
    "ball": ball,
    "banana": banana,
    "book": book,
    "bottle": bottle,
    "clock": clock,
    "key": key,
    "lamp": lamp,
    "mug": mug,
    "phone": phone,
    "plate": plate,
    "scissors": scissors,
    "spoon": spoon,
}
