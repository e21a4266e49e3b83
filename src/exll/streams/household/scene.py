"""One video: an object on a table, a view that moves, and one thing that makes it hard to see."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from exll.streams.household.objects import CATEGORIES
from exll.streams.household.shapes import Points, Shape, ellipse, hsv, rotated, rounded, straight

FACTORS = ("clutter", "illumination", "occlusion", "size")
LEVELS = 3
FRAMES_A_TURN = 24  # how long the view takes for its slowest movement
SPEEDS = np.array([1.0, 0.7, 0.5, 0.8, 0.6])  # pan across, pan down, zoom, roll, tilt
OVERSAMPLED = 2
SCALES = {1: 0.42, 2: 0.28, 3: 0.17}  # of the object in the picture, by level of "size"
CLUTTER = {1: 5, 2: 10, 3: 16}
COVERED = {1: 0.3, 2: 0.5, 3: 0.65}
DIMMED = {1: 0.7, 2: 0.4, 3: 0.2}


@dataclass(frozen=True)
class Recording:
    """What determines a video to the last pixel."""

    seed: int
    category: str
    instance: int
    factor: str
    level: int
    split: str  # "train" or "test": another table, another path of the view, another light

    def rng(self, *purpose: int) -> np.random.Generator:
        names = f"{self.category}/{self.instance}/{self.factor}/{self.level}/{self.split}"
        return np.random.default_rng([self.seed, *purpose, *names.encode()])


def render(recording: Recording, frame: int, size: int) -> Image.Image:
    """One frame, (size, size)."""
    scene = _scene(recording, size * OVERSAMPLED)
    view = scene.view(frame)
    picture = scene.table(view)
    draw = ImageDraw.Draw(picture)
    for shape in scene.behind:
        _fill(draw, view.clutter(shape.points), shape)
    for shape in scene.thing:
        _fill(draw, view.thing(shape.points), shape)
    for shape in scene.before:
        _fill(draw, view.thing(shape.points), shape)
    small = np.asarray(picture.reduce(OVERSAMPLED), np.float32)
    return Image.fromarray(scene.lit(small, frame))


@dataclass(frozen=True, eq=False)
class CameraView:
    """Where the camera is at one frame."""

    side: int
    turn: NDArray[np.float64]  # (2, 2), turns, zooms and foreshortens
    centre: NDArray[np.float64]
    drift: NDArray[np.float64]  # of the table

    def thing(self, points: Points) -> Points:
        return np.asarray((points @ self.turn + self.centre) * self.side)

    def clutter(self, points: Points) -> Points:
        return np.asarray((points + self.drift) * self.side)


@dataclass(frozen=True, eq=False)
class Scene:
    """What stays the same through a video."""

    recording: Recording
    side: int
    background: Image.Image
    behind: list[Shape]
    thing: list[Shape]
    before: list[Shape]
    light: NDArray[np.float32]
    phases: NDArray[np.float64]  # where each movement of the view begins
    lean: float  # of the object, in degrees

    def view(self, frame: int) -> CameraView:
        pan_x, pan_y, zoom, roll, tilt = np.sin(self.phases + 2 * np.pi * frame / FRAMES_A_TURN * SPEEDS)
        factor, level = self.recording.factor, self.recording.level
        scale = (SCALES[level] if factor == "size" else 0.34) * (1 + 0.12 * zoom)
        angle = np.radians(self.lean + 28 * roll)
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        squeeze = np.diag([1 - 0.1 * abs(tilt), 1.0])
        drift = 0.06 * np.array([pan_x, pan_y])
        return CameraView(self.side, squeeze @ turn * scale, 0.5 + drift, drift)

    def table(self, view: CameraView) -> Image.Image:
        spare = self.background.width - self.side
        left, top = (spare / 2 - view.drift * self.side).astype(int)
        return self.background.crop((left, top, left + self.side, top + self.side))

    def lit(self, pixels: NDArray[np.float32], frame: int) -> NDArray[np.uint8]:
        noise = self.recording.rng(2, frame).normal(0, 4, pixels.shape[:2]).astype(np.float32)
        lit: NDArray[np.uint8] = np.clip(pixels * self.light + noise[:, :, None], 0, 255).astype(np.uint8)
        return lit


@lru_cache(maxsize=8)
def _scene(recording: Recording, side: int) -> Scene:
    rng = recording.rng(0)
    looks = np.random.default_rng([recording.seed, recording.instance, *recording.category.encode()])
    thing = CATEGORIES[recording.category](looks)
    level = recording.level
    return Scene(
        recording,
        side,
        _table(rng, int(side * 1.2)),
        _clutter(rng, CLUTTER[level]) if recording.factor == "clutter" else [],
        thing,
        _occluder(rng, thing, COVERED[level]) if recording.factor == "occlusion" else [],
        _light(rng, side // OVERSAMPLED, DIMMED[level] if recording.factor == "illumination" else 1.0),
        rng.uniform(0, 2 * np.pi, len(SPEEDS)),
        rng.uniform(-70, 70),
    )


def _table(rng: np.random.Generator, side: int) -> Image.Image:
    """A cloth, wood or wall: a colour with soft spots, and stripes along one way."""
    base = np.array(hsv(rng.random(), rng.uniform(0.05, 0.4), rng.uniform(0.4, 0.85)))
    spots = Image.fromarray(rng.uniform(0, 255, (9, 9)).astype(np.uint8)).resize((side, side), Image.Resampling.BICUBIC)
    grain = np.sin(np.linspace(0, rng.uniform(10, 90), side) + rng.uniform(0, 6))
    stripes = rng.uniform(0, 18) * (grain[:, None] if rng.random() < 0.5 else grain[None, :])
    pixels = base + (np.asarray(spots, np.float64)[:, :, None] - 128) * 0.22 + stripes[:, :, None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _clutter(rng: np.random.Generator, pieces: int) -> list[Shape]:
    """Boxes, lids and sticks that are none of the categories, around the object."""
    shapes = []
    for _ in range(pieces):
        angle, away = rng.uniform(0, 2 * np.pi), rng.uniform(0.18, 0.5)
        x, y = 0.5 + away * np.cos(angle), 0.5 + away * np.sin(angle)
        size = rng.uniform(0.06, 0.14)
        colour = hsv(rng.random(), rng.uniform(0.2, 0.9), rng.uniform(0.3, 0.9))
        outline = [
            ellipse(x, y, size, size * 0.8),
            rounded(x - size, y - size * 0.7, x + size, y + size * 0.7, size * 0.2),
            straight(x - size, y - size, x + size, y + size, size * 0.4),
        ][int(rng.integers(3))]
        shapes.append(Shape(outline, colour))
    return shapes


def _occluder(rng: np.random.Generator, thing: list[Shape], share: float) -> list[Shape]:
    """A cloth over a share of the object, from one of its four sides."""
    colour = hsv(rng.random(), rng.uniform(0.1, 0.5), rng.uniform(0.4, 0.9))
    quarter = 90.0 * int(rng.integers(4))
    across = np.concatenate([rotated(shape.points, quarter) for shape in thing])[:, 0]
    edge = across.min() + share * (across.max() - across.min())
    wave = np.linspace(-2.4, 2.4, 16)
    line = np.stack([edge + 0.05 * np.sin(5 * wave + rng.uniform(0, 6)), wave], axis=1)
    cloth = np.concatenate([line, [[-2.4, 2.4], [-2.4, -2.4]]])
    return [Shape(rotated(cloth, -quarter), colour)]


def _light(rng: np.random.Generator, side: int, dimmed: float) -> NDArray[np.float32]:
    """A lamp at one side: brightness falls off across the picture, with a tint; (side, side, 3)."""
    angle = rng.uniform(0, 2 * np.pi)
    y, x = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    slope = 0.12 + 0.5 * (1 - dimmed)
    fall = 1 + slope * (x * np.cos(angle) + y * np.sin(angle)) / np.sqrt(2)
    tint = 1 + rng.uniform(-1, 1, 3) * (0.04 + 0.2 * (1 - dimmed))
    # Half of the strong lights glare instead of leaving the table in the dark.
    strength = dimmed if dimmed == 1.0 or rng.random() < 0.6 else 1 + 0.9 * (1 - dimmed)
    return np.asarray(strength * fall[:, :, None] * tint, np.float32)


def _fill(draw: ImageDraw.ImageDraw, points: Points, shape: Shape) -> None:
    red, green, blue = (int(channel) for channel in shape.colour)
    draw.polygon(points.ravel().tolist(), fill=(red, green, blue))
