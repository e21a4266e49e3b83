"""EfficientNet-Lite and MobileNetV2 in torch, straight from a state dict: batch norms as they are, nothing folded."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

STRIDES = (1, 2, 2, 2, 1, 2, 1)


def features(
    state: dict[str, Any],
    images: NDArray[np.uint8],
    blocks: tuple[int, ...],
    depths: tuple[str, ...],
    *,
    epsilon: float,
    same: bool,
    mean: tuple[float, ...],
    std: tuple[float, ...],
) -> NDArray[np.float32]:
    """The vectors of images (n, size, size, 3): each depth pooled, at unit length, side by side."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - its usual name

    names = list(state)
    convolutions = iter([name for name in names if state[name].ndim == 4])

    def convolve(x: Any, stride: int = 1, relu6: bool = True) -> Any:
        name = next(convolutions)
        weight = state[name]
        norm = [state[following] for following in names[names.index(name) + 1 :][:4]]
        side = weight.shape[2]
        if same:
            total = max((-(-x.shape[2] // stride) - 1) * stride + side - x.shape[2], 0)
            x, padding = F.pad(x, [total // 2, total - total // 2] * 2), 0
        else:
            padding = side // 2
        groups = len(weight) if weight.shape[1] == 1 else 1
        x = F.conv2d(x, weight, stride=stride, padding=padding, groups=groups)
        x = F.batch_norm(x, norm[2], norm[3], norm[0], norm[1], eps=epsilon)
        return F.relu6(x) if relu6 else x

    pixels = (torch.from_numpy(images).float() - torch.tensor(mean)) / torch.tensor(std)
    with torch.no_grad():
        x = convolve(pixels.permute(0, 3, 1, 2), 2)
        found = {}
        for stage, (count, stride) in enumerate(zip(blocks, STRIDES, strict=True), 1):
            for block in range(count):
                inside = x if stage == 1 else convolve(x)
                step = stride if block == 0 else 1
                out = convolve(convolve(inside, step), relu6=False)
                x = x + out if step == 1 and out.shape == x.shape else out
            found[str(stage)] = x
        found["last"] = convolve(x)
        pooled = [F.normalize(found[depth].mean((2, 3)), dim=1) for depth in depths]
    joined: NDArray[np.float32] = torch.cat(pooled, dim=1).numpy()
    return joined


def reference_images(size: int) -> NDArray[np.uint8]:
    """Waves and coloured squares, (2, size, size, 3): the same on every machine."""
    y, x = np.mgrid[0:size, 0:size]
    waves = np.stack([x * y // 7 % 256, (x * x + 3 * y) // 5 % 256, (y * y + x) // 11 % 256], axis=-1)
    squares = np.stack([x * 8 // size * 31, y * 8 // size * 31, (x * 8 // size + y * 8 // size) * 15], axis=-1)
    return np.stack([waves, squares]).astype(np.uint8)


def reference_of(name: str) -> NDArray[np.float32]:
    """What torch makes of the reference images, from the file of a network's package."""
    import torch

    from exll.features.packaged import choice_of, weights_path

    choice = choice_of(name)
    assert choice is not None
    path, layout = weights_path(choice.network), choice.network.layout
    assert path is not None
    return features(
        torch.load(path, weights_only=True),
        reference_images(choice.size),
        layout.blocks,
        choice.depths,
        epsilon=layout.epsilon,
        same=layout.same_padding,
        mean=layout.mean,
        std=layout.std,
    )


if __name__ == "__main__":  # with torch: writes what the tests compare with where there is none
    np.save("tests/features/recorded/efficientnet_lite0.npy", reference_of("efficientnet_lite0"))
