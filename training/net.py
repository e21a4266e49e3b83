"""The built-in backbone as a torch module: a small convolutional network for 128 x 128 images.

The trunk is plain convolution, batch norm and ReLU: a stride-2 stem, fused inverted residuals early, depthwise ones
late, a 1x1 convolution to 512 channels, the mean over places. Each training set has its own perceptron head, thrown
away after training: it keeps the features two non-linear layers away from the labels, where they transfer better.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

FEATURES = 512
HIDDEN = 1024
CLASSES = (200, 100)  # Tiny-ImageNet, MiniPlaces


@dataclass(frozen=True)
class Stage:
    """Blocks of one kind in a row; only the first has the stride."""

    kind: Literal["fused", "depthwise"]
    channels: int
    stride: int
    expansions: tuple[int, ...]


@dataclass(frozen=True)
class Config:
    stem: int
    stages: tuple[Stage, ...]


CONFIGS = {
    # 128 px: 64 x 64 after the stem, then 32, 16, 8, 4
    "nano2": Config(
        32,
        (
            Stage("fused", 32, 2, (2, 3)),
            Stage("fused", 64, 2, (4, 3, 3)),
            Stage("depthwise", 128, 2, (4,) * 6),
            Stage("depthwise", 224, 2, (6, 4, 4, 4)),
        ),
    ),
    "tiny": Config(8, (Stage("fused", 8, 2, (2,)), Stage("depthwise", 16, 2, (2,)), Stage("depthwise", 16, 2, (2,)))),
}


def convolution(
    channels_in: int, channels_out: int, kernel: int, stride: int = 1, groups: int = 1, *, relu: bool = True
) -> nn.Sequential:
    """Convolution, batch norm and, unless told otherwise, ReLU; keeps the size up to the stride."""
    layers: list[nn.Module] = [
        nn.Conv2d(channels_in, channels_out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(channels_out),
    ]
    if relu:
        layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers)


class Block(nn.Module):
    """Some convolutions, with a way round them where input and output have one shape."""

    def __init__(self, layers: nn.Sequential, *, residual: bool) -> None:
        super().__init__()
        self.f = layers  # the letter is part of every checkpoint's keys
        self.residual = residual

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.f(x)
        return x + y if self.residual else y


def fused_block(channels_in: int, channels_out: int, stride: int, expansion: int) -> Block:
    """Inverted residual whose expansion and 3x3 convolution are one."""
    wide = channels_in * expansion
    layers = nn.Sequential(
        convolution(channels_in, wide, 3, stride),
        convolution(wide, channels_out, 1, relu=False),
    )
    return Block(layers, residual=stride == 1 and channels_in == channels_out)


def depthwise_block(channels_in: int, channels_out: int, stride: int, expansion: int) -> Block:
    """Inverted residual with a depthwise 3x3 convolution."""
    wide = channels_in * expansion
    layers = nn.Sequential(
        convolution(channels_in, wide, 1),
        convolution(wide, wide, 3, stride, groups=wide),
        convolution(wide, channels_out, 1, relu=False),
    )
    return Block(layers, residual=stride == 1 and channels_in == channels_out)


def head(classes: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(FEATURES, HIDDEN, bias=False),
        nn.BatchNorm1d(HIDDEN),
        nn.ReLU(inplace=True),
        nn.Linear(HIDDEN, FEATURES, bias=False),
        nn.BatchNorm1d(FEATURES),
        nn.ReLU(inplace=True),
        nn.Linear(FEATURES, classes),
    )


class Nano(nn.Module):
    """Trunk and heads; what is exported is the trunk."""

    def __init__(self, config: str = "nano2", classes: tuple[int, ...] = CLASSES) -> None:
        super().__init__()
        channels = CONFIGS[config].stem
        body: list[nn.Module] = [convolution(3, channels, 3, 2)]
        for stage in CONFIGS[config].stages:
            block = fused_block if stage.kind == "fused" else depthwise_block
            for position, expansion in enumerate(stage.expansions):
                body.append(block(channels, stage.channels, stage.stride if position == 0 else 1, expansion))
                channels = stage.channels
        self.body = nn.Sequential(*body, convolution(channels, FEATURES, 1))
        self.heads = nn.ModuleList(head(count) for count in classes)

    def features(self, images: Tensor) -> Tensor:
        """(images, 3, height, width) to (images, 512)."""
        feature_map: Tensor = self.body(images)
        return feature_map.mean((2, 3))

    def forward(self, images: Tensor, first: int | None = None) -> tuple[Tensor, ...]:
        """Logits of each head for all images; with `first`, so many go to the first head and the rest to the second."""
        features = self.features(images)
        if first is None:
            return tuple(head(features) for head in self.heads)
        return self.heads[0](features[:first]), self.heads[1](features[first:])


def read_checkpoint(path: str, config: str = "nano2") -> Nano:
    """A trained network, ready to be asked. Checkpoints hold float16."""
    net = Nano(config)
    state = torch.load(path, map_location="cpu", weights_only=True)
    net.load_state_dict({key: value.float() if value.is_floating_point() else value for key, value in state.items()})
    return net.eval()
