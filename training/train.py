"""Train the built-in backbone on Tiny-ImageNet (objects, 64 px) and MiniPlaces (scenes, 128 px) together.

    train.py --data SHARDS --out FOLDER [--seconds 1092]
    train.py --dry --out FOLDER

The run is as long as its time budget: the learning rate follows the share of it that is spent. Everything random is
done on the device. See README.md for the shards.
"""

import argparse
import copy
import io
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from net import CLASSES, Nano
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.nn import functional

OBJECT_SIZE = 64
SIZE = 128
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
CHUNK = 2500  # images decoded by one job
EVALUATION_BATCH = 1000
FIRST_HEAD, SECOND_HEAD = 0, 1


@dataclass(frozen=True)
class Recipe:
    """Every number of the run. Ranges are drawn from uniformly, for each image anew."""

    config: str = "nano2"
    objects: int = 576  # images a batch
    scenes: int = 448
    seconds: float = 1092.0
    steps: int | None = None  # instead of seconds, where a run must not depend on the clock

    learning_rate: float = 0.8
    smallest_learning_rate: float = 1e-5
    warm_up: float = 0.03  # of the run; then a cosine to zero
    momentum: float = 0.9
    weight_decay: float = 1e-4  # of convolutions and linear layers, not of biases and batch norm
    ema_decay: float = 0.9995  # a step
    ema_every: int = 4

    object_side: tuple[float, float] = (0.5, 1.6)  # of the image's side, log-uniform; above 1 the border is reflected
    scene_area: tuple[float, float] = (0.15, 1.0)
    aspect: tuple[float, float] = (3 / 4, 4 / 3)
    sharpen: tuple[float, float] = (-1.0, 1.5)  # below 0 it blurs
    sharpen_share: float = 0.5
    brightness: tuple[float, float] = (0.6, 1.4)
    contrast: tuple[float, float] = (0.6, 1.4)
    saturation: tuple[float, float] = (0.5, 1.5)
    grey_share: float = 0.05
    channel_gain: tuple[float, float] = (0.92, 1.08)
    erased_side: tuple[float, float] = (20.0, 60.0)  # pixels
    erased_share: float = 0.25
    cutmix_share: float = 0.5

    checkpoints: tuple[float, ...] = (0.04, 0.12, 0.25, 0.37, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 1.0)
    averaged: tuple[float, ...] = (0.8, 1.0)  # the result is the mean of the weights at these shares of the run
    compile_steps: int = 12
    decoders: int = 14
    seed: int = 0

    @property
    def batch(self) -> int:
        return self.objects + self.scenes


DRY = Recipe(
    config="tiny",
    objects=12,
    scenes=8,
    steps=5,
    learning_rate=0.05,
    checkpoints=(0.5, 0.75, 1.0),
    averaged=(0.75, 1.0),
    compile_steps=1,
    decoders=1,
)


@dataclass(frozen=True)
class Images:
    """A set on the device: pixels uint8 (images, 3, side, side) and labels int64 (images)."""

    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Data:
    objects: Images
    scenes: Images
    object_tests: Images
    scene_tests: Images


def decode(job: tuple[Path, int, int, int]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images first to last of a shard, at this side."""
    shard, side, first, last = job
    with np.load(shard) as arrays:
        blob, offsets, labels = arrays["blob"], arrays["off"], arrays["y"][first:last].astype(np.int64)
    pixels = np.empty((len(labels), 3, side, side), np.uint8)
    for position in range(len(labels)):
        start, end = offsets[first + position], offsets[first + position + 1]
        image = Image.open(io.BytesIO(blob[start:end].tobytes())).convert("RGB")
        if image.size != (side, side):
            image = image.resize((side, side), Image.Resampling.BICUBIC)
        pixels[position] = np.asarray(image).transpose(2, 0, 1)
    return pixels, labels


def read_shards(shards: list[Path], side: int, decoders: int) -> Images:
    jobs = []
    for shard in shards:
        with np.load(shard) as arrays:
            count = len(arrays["y"])
        jobs += [(shard, side, first, first + CHUNK) for first in range(0, count, CHUNK)]
    if decoders == 1:
        parts = [decode(job) for job in jobs]
    else:
        with ProcessPoolExecutor(decoders) as pool:
            parts = list(pool.map(decode, jobs))
    pixels, labels = zip(*parts, strict=True)
    return Images(torch.from_numpy(np.concatenate(pixels)), torch.from_numpy(np.concatenate(labels)))


def read_data(folder: Path, decoders: int) -> Data:
    """All four sets. It must come before CUDA starts: the decoding processes are forks."""

    def read(pattern: str, side: int) -> Images:
        shards = sorted(folder.glob(pattern))
        if not shards:
            raise SystemExit(f"there is no {pattern} in {folder}; training/README.md says what shards look like.")
        return read_shards(shards, side, decoders)

    return Data(
        objects=read("train*.npz", OBJECT_SIZE),
        scenes=read("mp[0-9]*.npz", SIZE),
        object_tests=read("val.npz", OBJECT_SIZE),
        scene_tests=read("mpval.npz", SIZE),
    )


def write_random_shards(folder: Path, images: int = 40) -> None:
    """Noise in the format of the real shards, for dry runs."""
    rng = np.random.default_rng(0)
    objects, scenes = (OBJECT_SIZE, CLASSES[0]), (SIZE, CLASSES[1])
    for name, (side, classes) in {"train0": objects, "val": objects, "mp0": scenes, "mpval": scenes}.items():
        files = []
        for _ in range(images):
            file = io.BytesIO()
            Image.fromarray(rng.integers(0, 256, (side, side, 3), dtype=np.uint8)).save(file, "JPEG")
            files.append(file.getvalue())
        offsets = np.cumsum([0, *(len(file) for file in files)])
        blob = np.frombuffer(b"".join(files), np.uint8)
        np.savez(folder / f"{name}.npz", blob=blob, off=offsets, y=rng.integers(0, classes, images))


def uniform(bounds: tuple[float, float], shape: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.empty(shape, device=device).uniform_(*bounds)


def normalise(pixels: Tensor) -> Tensor:
    """0..255 to the network's input."""
    mean = torch.tensor(MEAN, device=pixels.device).view(1, 3, 1, 1)
    std = torch.tensor(STD, device=pixels.device).view(1, 3, 1, 1)
    return ((pixels / 255.0 - mean) / std).contiguous(memory_format=torch.channels_last)


def random_view(pixels: Tensor, side: Tensor, largest: float, aspect: tuple[float, float]) -> Tensor:
    """A crop of about this side (1: the whole image) at a random place, flipped half the time, at 128 x 128."""
    count, device = len(pixels), pixels.device
    half_log = (0.5 * math.log(aspect[0]), 0.5 * math.log(aspect[1]))
    stretch = torch.exp(uniform(half_log, (count,), device))
    width = (side * stretch).clamp(max=largest)
    height = (side / stretch).clamp(max=largest)
    x = (torch.rand(count, device=device) * 2 - 1) * (1 - width).abs()
    y = (torch.rand(count, device=device) * 2 - 1) * (1 - height).abs()
    width = torch.where(torch.rand(count, device=device) < 0.5, -width, width)
    zero = torch.zeros_like(width)
    crop = torch.stack([torch.stack([width, zero, x], 1), torch.stack([zero, height, y], 1)], 1)  # (count, 2, 3)
    grid = functional.affine_grid(crop, [count, 3, SIZE, SIZE], align_corners=False)
    return functional.grid_sample(pixels.float(), grid, align_corners=False, padding_mode="reflection")


def blur(pixels: Tensor) -> Tensor:
    """Binomial blur over five pixels, borders reflected, written as shifts so that the compiler fuses it."""
    padded = functional.pad(pixels, (2, 2, 0, 0), mode="reflect")
    shifted = [padded[..., i : i + SIZE] for i in range(5)]
    pixels = (shifted[0] + shifted[4]) / 16 + (shifted[1] + shifted[3]) / 4 + shifted[2] * 0.375
    padded = functional.pad(pixels, (0, 0, 2, 2), mode="reflect")
    shifted = [padded[..., i : i + SIZE, :] for i in range(5)]
    return (shifted[0] + shifted[4]) / 16 + (shifted[1] + shifted[3]) / 4 + shifted[2] * 0.375


def random_boxes(width: Tensor, height: Tensor) -> Tensor:
    """Masks (count, 128, 128), true inside a box of this size (count, 1) at a random place."""
    x = (torch.rand_like(width) * (SIZE - width)).floor()
    y = (torch.rand_like(height) * (SIZE - height)).floor()
    places = torch.arange(SIZE, device=width.device)[None]
    rows = (places >= y) & (places < y + height)
    columns = (places >= x) & (places < x + width)
    return rows[:, :, None] & columns[:, None, :]


def augment(objects: Tensor, scenes: Tensor, partners: Tensor, recipe: Recipe) -> tuple[Tensor, Tensor]:
    """Two uint8 batches as one normalised batch, and how much of each image is its own and not its cutmix partner's."""
    count, device = len(objects) + len(scenes), objects.device
    per_image = (count, 1, 1, 1)

    def chosen(share: float) -> Tensor:
        return uniform((0.0, 1.0), per_image, device) < share

    smallest, largest = recipe.object_side
    side = torch.exp(uniform((math.log(smallest), math.log(largest)), (len(objects),), device))
    object_views = random_view(objects, side, largest, recipe.aspect)
    side = uniform(recipe.scene_area, (len(scenes),), device).sqrt()
    x = torch.cat([object_views, random_view(scenes, side, 1.0, recipe.aspect)])

    amount = uniform(recipe.sharpen, per_image, device) * chosen(recipe.sharpen_share)
    x = x + amount * (x - blur(x))
    x = x * uniform(recipe.brightness, per_image, device)
    mean = x.mean((1, 2, 3), keepdim=True)
    x = (x - mean) * uniform(recipe.contrast, per_image, device) + mean
    grey = x.mean(1, keepdim=True)
    saturation = uniform(recipe.saturation, per_image, device)
    saturation = torch.where(chosen(recipe.grey_share), torch.zeros_like(saturation), saturation)
    x = (x - grey) * saturation + grey
    x = x * uniform(recipe.channel_gain, (count, 3, 1, 1), device)
    x = normalise(x.clamp(0, 255))

    width = uniform(recipe.erased_side, (count, 1), device)
    height = uniform(recipe.erased_side, (count, 1), device)
    erased = random_boxes(width, height) & (torch.rand(count, 1, 1, device=device) < recipe.erased_share)
    x = x.masked_fill(erased[:, None], 0.0)

    side = (1 - torch.rand(count, 1, device=device)).sqrt() * SIZE  # the area replaced is uniform
    side = (side * (torch.rand(count, 1, device=device) < recipe.cutmix_share)).floor()
    replaced = random_boxes(side, side)
    x = torch.where(replaced[:, None], x[partners], x)
    own = 1 - replaced.float().mean((1, 2))
    return x.contiguous(memory_format=torch.channels_last), own


def batches(images: int, size: int, device: torch.device) -> Iterator[Tensor]:
    """Indices without end: every pass in a new order, its incomplete last batch left out."""
    if images < size:
        raise SystemExit(f"a set must hold at least one batch of {size} images; got {images}.")
    while True:
        order = torch.randperm(images, device=device)
        for first in range(0, images - size + 1, size):
            yield order[first : first + size]


def learning_rate(share: float, recipe: Recipe) -> float:
    """At this share of the run: a linear warm-up, then a cosine."""
    if share < recipe.warm_up:
        factor = share / recipe.warm_up + 0.02
    else:
        factor = 0.5 * (1 + math.cos(math.pi * (share - recipe.warm_up) / (1 - recipe.warm_up)))
    return max(recipe.learning_rate * factor, recipe.smallest_learning_rate)


class Average:
    """An exponential moving average of a network's weights and batch statistics, itself a network."""

    def __init__(self, net: Nano, recipe: Recipe) -> None:
        self.net = copy.deepcopy(net)
        self._recipe = recipe
        averages, values = self.net.state_dict(), net.state_dict()
        moving = [key for key, value in averages.items() if value.is_floating_point()]
        self._averages, self._values = [averages[key] for key in moving], [values[key] for key in moving]

    def update(self, step: int) -> None:
        """Every few steps at once; the young average follows faster."""
        if step % self._recipe.ema_every:
            return
        decay = min(self._recipe.ema_decay, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(self._averages, self._values, 1 - decay**self._recipe.ema_every)

    def weights(self) -> dict[str, Tensor]:
        """As a checkpoint: float16, on the CPU."""
        state = self.net.state_dict()
        return {key: value.half().cpu() if value.is_floating_point() else value.cpu() for key, value in state.items()}


class Trainer:
    """A network, its optimiser and one step of them."""

    def __init__(self, recipe: Recipe, device: torch.device) -> None:
        self.recipe, self.device = recipe, device
        self.net = Nano(recipe.config).to(device).to(memory_format=torch.channels_last)
        self.average = Average(self.net, recipe)
        decayed = [p for p in self.net.parameters() if p.ndim > 1]
        free = [p for p in self.net.parameters() if p.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": free, "weight_decay": 0.0}]
        self.optimiser = torch.optim.SGD(groups, recipe.learning_rate, momentum=recipe.momentum, nesterov=True)
        self._forward: Callable[..., Any] = self.net
        self._augment: Callable[..., tuple[Tensor, Tensor]] = augment
        if device.type == "cuda":
            self._forward, self._augment = torch.compile(self.net), torch.compile(augment)

    def compile(self) -> None:
        """Some backward passes over noise, so that compilation does not count; the network is left as it was."""
        recipe, device = self.recipe, self.device
        before = {key: value.clone() for key, value in self.net.state_dict().items()}
        for _ in range(recipe.compile_steps):
            objects = random_images(recipe.objects, OBJECT_SIZE, CLASSES[0], device)
            scenes = random_images(recipe.scenes, SIZE, CLASSES[1], device)
            self._backward(objects, scenes)
        self.net.load_state_dict(before)
        self.optimiser.zero_grad(set_to_none=True)

    def step(self, objects: Images, scenes: Images, share: float) -> Tensor:
        """One update; gives the mean losses of the two sets, still on the device."""
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(share, self.recipe)
        losses = self._backward(objects, scenes)
        self.optimiser.step()
        return losses

    def _backward(self, objects: Images, scenes: Images) -> Tensor:
        split = len(objects)
        object_partners = torch.randperm(split, device=self.device)
        scene_partners = torch.randperm(len(scenes), device=self.device)
        partners = torch.cat([object_partners, scene_partners + split])
        x, own = self._augment(objects.pixels, scenes.pixels, partners, self.recipe)
        with half_precision(self.device):
            object_logits, scene_logits = self._forward(x, split)
        object_loss = mixed_loss(object_logits, objects.labels, object_partners, own[:split])
        scene_loss = mixed_loss(scene_logits, scenes.labels, scene_partners, own[split:])
        self.optimiser.zero_grad(set_to_none=True)
        ((object_loss + scene_loss) / self.recipe.batch).backward()
        return torch.stack([object_loss.detach() / split, scene_loss.detach() / len(scenes)])


def random_images(count: int, side: int, classes: int, device: torch.device) -> Images:
    pixels = torch.randint(0, 256, (count, 3, side, side), dtype=torch.uint8, device=device)
    return Images(pixels, torch.randint(0, classes, (count,), device=device))


def half_precision(device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16)


def mixed_loss(logits: Tensor, labels: Tensor, partners: Tensor, own: Tensor) -> Tensor:
    """Cross entropy, each image's own label and its partner's weighted by their areas; summed over the images."""
    logits = logits.float()
    with_own = functional.cross_entropy(logits, labels, reduction="none")
    with_partner = functional.cross_entropy(logits, labels[partners], reduction="none")
    return (own * with_own + (1 - own) * with_partner).sum()


def accuracy(net: Nano, images: Images, which_head: Literal[0, 1], device: torch.device) -> float:
    """One view of each image, enlarged to 128 x 128 where it is smaller."""
    right = 0
    net.eval()
    with torch.no_grad(), half_precision(device):
        for first in range(0, len(images), EVALUATION_BATCH):
            pixels = images.pixels[first : first + EVALUATION_BATCH].float()
            if pixels.shape[2] != SIZE:
                pixels = functional.interpolate(pixels, size=(SIZE, SIZE), mode="bicubic", align_corners=False).clamp(
                    0, 255
                )
            predicted = net(normalise(pixels))[which_head].argmax(1)
            right += int((predicted == images.labels[first : first + EVALUATION_BATCH]).sum())
    net.train()
    return right / len(images)


def mean_weights(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of some checkpoints; counters are the last one's."""
    mean = dict(states[-1])
    for key, value in mean.items():
        if value.is_floating_point():
            mean[key] = torch.stack([state[key].float() for state in states]).mean(0).half()
    return mean


def save(state: dict[str, Tensor], path: Path) -> None:
    unfinished = path.with_name(f".{path.name}.tmp")
    torch.save(state, unfinished)
    unfinished.replace(path)


class Log:
    """Lines for the terminal and for log.txt."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "log.txt"

    def __call__(self, line: str) -> None:
        print(line, flush=True)  # noqa: T201
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Run:
    """A whole training: steps until the budget is spent, checkpoints on the way, the averaged weights at the end."""

    def __init__(self, trainer: Trainer, data: Data, folder: Path, log: Log) -> None:
        self.trainer, self.data, self.folder, self.log = trainer, data, folder, log
        self.recipe, self.device = trainer.recipe, trainer.device
        self.started = time.monotonic()
        self.steps = 0
        self._losses: list[Tensor] = []
        self._to_average: list[dict[str, Tensor]] = []

    def go(self) -> None:
        recipe, objects, scenes = self.recipe, self.data.objects, self.data.scenes
        ahead = list(recipe.checkpoints)
        object_batches = batches(len(objects), recipe.objects, self.device)
        scene_batches = batches(len(scenes), recipe.scenes, self.device)
        share = 0.0
        while share < 1:
            some_objects, some_scenes = next(object_batches), next(scene_batches)
            share = self.share()
            losses = self.trainer.step(
                Images(objects.pixels[some_objects], objects.labels[some_objects]),
                Images(scenes.pixels[some_scenes], scenes.labels[some_scenes]),
                share,
            )
            self.steps += 1
            self._losses.append(losses)
            self.trainer.average.update(self.steps)
            if self.device.type == "cuda" and self.steps % 8 == 0:
                torch.cuda.current_stream().synchronize()  # so that the clock shows the device's time
            passed = [mark for mark in ahead if share >= mark]
            if passed:
                ahead = ahead[len(passed) :]
                self.checkpoint(share, passed)
        save(mean_weights(self._to_average), self.folder / "averaged.pt")
        raw = [f"{value:.4f}" for value in self.accuracies(self.trainer.net)]
        self.log(f"accuracy without averaging: objects {raw[0]}, scenes {raw[1]}")

    def share(self) -> float:
        """How much of the run is over, 0 to 1."""
        if self.recipe.steps is not None:
            return min(1.0, self.steps / (self.recipe.steps - 1))
        return min(1.0, (time.monotonic() - self.started) / self.recipe.seconds)

    def checkpoint(self, share: float, marks: list[float]) -> None:
        """Save the averaged network and say how good it is."""
        object_loss, scene_loss = torch.stack(self._losses).mean(0).tolist()
        self._losses.clear()
        if not math.isfinite(object_loss + scene_loss):
            raise SystemExit(f"the loss is no longer finite at step {self.steps}; the last checkpoint stands.")
        weights = self.trainer.average.weights()
        save(weights, self.folder / f"ema-{round(100 * marks[-1]):03d}.pt")
        if set(marks) & set(self.recipe.averaged):
            self._to_average.append(weights)
        objects, scenes = self.accuracies(self.trainer.average.net)
        passes = [
            self.steps * self.recipe.objects / len(self.data.objects),
            self.steps * self.recipe.scenes / len(self.data.scenes),
        ]
        speed = self.steps * self.recipe.batch / (time.monotonic() - self.started)
        self.log(
            f"step {self.steps}, {share:.1%} of the run, passes {passes[0]:.1f} and {passes[1]:.1f}: "
            f"loss objects {object_loss:.3f}, scenes {scene_loss:.3f}; "
            f"accuracy objects {objects:.4f}, scenes {scenes:.4f}; {speed:.0f} images/s"
        )

    def accuracies(self, net: Nano) -> tuple[float, float]:
        return (
            accuracy(net, self.data.object_tests, FIRST_HEAD, self.device),
            accuracy(net, self.data.scene_tests, SECOND_HEAD, self.device),
        )


def to_device(data: Data, device: torch.device) -> Data:
    def move(images: Images) -> Images:
        return Images(images.pixels.to(device), images.labels.to(device))

    return Data(move(data.objects), move(data.scenes), move(data.object_tests), move(data.scene_tests))


def train(recipe: Recipe, shards: Path, folder: Path, device_name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    log = Log(folder)
    log(str(recipe))
    data = read_data(shards, recipe.decoders)
    device = torch.device(device_name)
    torch.manual_seed(recipe.seed)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    data = to_device(data, device)
    log(f"objects {tuple(data.objects.pixels.shape)}, scenes {tuple(data.scenes.pixels.shape)}")
    trainer = Trainer(recipe, device)
    everything, trunk = (sum(p.numel() for p in part.parameters()) for part in (trainer.net, trainer.net.body))
    log(f"parameters {everything}, of them in the trunk {trunk}")
    trainer.compile()
    Run(trainer, data, folder, log).go()


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the built-in backbone.")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="shards of both sets (README.md)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", required=True, help="for checkpoints and log.txt")
    parser.add_argument("--seconds", type=float, default=Recipe.seconds, help="time budget (default: %(default)s)")
    parser.add_argument("--dry", action="store_true", help="a few steps of a tiny network over noise, on the CPU")
    arguments = parser.parse_args()
    if arguments.dry:
        with tempfile.TemporaryDirectory() as shards:
            write_random_shards(Path(shards))
            train(DRY, Path(shards), arguments.out, "cpu")
    elif arguments.data is None:
        parser.error("--data is needed, unless the run is --dry")
    else:
        train(Recipe(seconds=arguments.seconds), arguments.data, arguments.out, "cuda")


if __name__ == "__main__":
    main()
