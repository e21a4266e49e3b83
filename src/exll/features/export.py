"""Published networks from timm as ONNX files with what exll needs to know about them.

This is the only place that needs torch (``pip install "exll[torch]"``), and only while a file is being made.
"""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from exll.errors import BackboneError
from exll.installing import install_command
from exll.saving.whole_files import write_whole

SIZE = 224
OPSET = 18  # the lowest that torch's exporter writes of itself
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LARGEST_DIFFERENCE = 1e-4
KEYS_NAMED = 3
# What lies behind the last feature map: a weights file may have it, lack it or have another one.
HEAD_PREFIXES = {
    "mobilenet-v3-small": ("conv_head.", "norm_head.", "classifier."),
    "mobilenet-v3-large": ("conv_head.", "norm_head.", "classifier."),
}
USUAL_HEAD_PREFIXES = ("classifier.", "fc.")


@dataclass(frozen=True)
class Published:
    """A network of timm: its weights there, the width of its last feature map and the parameters up to that map."""

    name: str
    timm_name: str
    width: int
    parameters: int
    description: str


PUBLISHED: dict[str, Published] = {
    published.name: published
    for published in (
        Published(
            "mobilenet-v3-small",
            "mobilenetv3_small_100.lamb_in1k",
            576,
            927_008,
            "MobileNetV3-Small: 576 numbers, 224 px",
        ),
        Published(
            "mobilenet-v3-large",
            "mobilenetv3_large_100.ra_in1k",
            960,
            2_971_952,
            "MobileNetV3-Large: 960 numbers, 224 px",
        ),
        Published(
            "efficientnet-b0", "efficientnet_b0.ra_in1k", 1280, 4_007_548, "EfficientNet-B0: 1280 numbers, 224 px"
        ),
        Published(
            "efficientnet-b1", "efficientnet_b1.ft_in1k", 1280, 6_513_184, "EfficientNet-B1: 1280 numbers, 224 px"
        ),
        Published("resnet-18", "resnet18.tv_in1k", 512, 11_176_512, "ResNet-18: 512 numbers, 224 px"),
    )
}


def export_published(name: str, folder: Path, *, weights: Path | None = None, random_weights: bool = False) -> Path:
    """Writes folder/NAME.onnx with both outputs and the metadata; returns its path.

    Weights come from the hub unless a local state dict is given; random ones are for trying. `features` is the mean
    over places of the last feature map, which is not what timm's own pooled head gives for MobileNetV3. The file takes
    its name only after ONNX Runtime has given what torch gives.
    """
    published = PUBLISHED.get(name)
    if published is None:
        raise BackboneError(f"there is no published backbone {name!r}; there are: {', '.join(PUBLISHED)}.")
    if weights is not None and random_weights:
        raise BackboneError("weights come from a file or are random; give one of the two.")
    with _their_warnings_ignored():
        torch, timm, onnx, onnxruntime, _ = _load("torch", "timm", "onnx", "onnxruntime", "onnxscript")
        model = _create(torch, timm, published, weights, random_weights)
        network = _with_both_outputs(model)
        content = _to_onnx(torch, onnx, network, published)
        difference = _difference(torch, onnxruntime, network, content)
    if not difference <= LARGEST_DIFFERENCE:
        raise BackboneError(
            f"the exported {name} must give what torch gives, within {LARGEST_DIFFERENCE:.0e} of its largest value; "
            f"got {difference:.1e}, and nothing was written. Try other versions of torch and onnxruntime."
        )
    return _write(content, Path(folder), name)


def preprocessing_of(published: Published) -> dict[str, Any]:
    """What the metadata says: the paper's way with OpenLORIS and F-SIOL, the whole image squashed to 224 x 224."""
    return {
        "name": published.name,
        "version": 1,
        "size": SIZE,
        "resize": "squash",
        "resize_to": SIZE,
        "interpolation": "bilinear",
        "layout": "NCHW",
        "dtype": "float32",
        "scale": 1 / 255,
        "mean": list(MEAN),
        "std": list(STD),
        "outputs": {"features": "features", "map": "feature_map"},
    }


@contextmanager
def _their_warnings_ignored() -> Iterator[None]:
    """torch and timm deprecate parts of each other, and our caller cannot change that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _load(*names: str) -> list[Any]:
    modules = []
    for name in names:
        try:
            modules.append(import_module(name))
        except ImportError as error:
            missing = error.name or name
            raise BackboneError(
                f"exporting a network needs {missing}, which is not installed: {install_command('torch')}."
            ) from error
        except (RuntimeError, OSError) as error:  # a torchvision built for another torch fails in this way
            raise BackboneError(
                f"{name} cannot be loaded ({_first_line(error)}): torch and torchvision must be of one build, as "
                f"{install_command('torch')} brings them."
            ) from error
    return modules


def _create(torch: Any, timm: Any, published: Published, weights: Path | None, random_weights: bool) -> Any:
    """The network in timm, with its weights, ready to be asked."""
    if weights is None and not random_weights:
        try:
            model = timm.create_model(published.timm_name, pretrained=True)
        except Exception as error:  # the hub's library, its transport and timm each raise their own
            raise BackboneError(
                f"the weights of {published.name} could not be downloaded from the hub ({type(error).__name__}): "
                f"fetch {published.timm_name} on a machine with internet access and use --weights FILE."
            ) from error
        return model.eval()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = timm.create_model(published.timm_name, pretrained=False)
    if weights is not None:
        _fill(model, _read_weights(torch, Path(weights)), published, Path(weights))
    return model.eval()


def _read_weights(torch: Any, path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise BackboneError(f"there is no weights file at {path}.")
    try:
        if path.suffix == ".safetensors":
            state = import_module("safetensors.torch").load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # every way a file can be wrong has an error of its own
        raise BackboneError(f"{path} is not a file of weights that torch or safetensors can read safely.") from error
    if not isinstance(state, dict) or not all(torch.is_tensor(value) for value in state.values()):
        raise BackboneError(f"{path} must hold a state dict, names with their tensors, and holds something else.")
    return state


def _fill(model: Any, state: dict[str, Any], published: Published, path: Path) -> None:
    """Load the weights up to the feature map; all of these must be there, and nothing else but a head."""
    head = HEAD_PREFIXES.get(published.name, USUAL_HEAD_PREFIXES)
    given = {key: value for key, value in state.items() if not key.startswith(head)}
    wanted = {key: value for key, value in model.state_dict().items() if not key.startswith(head)}
    # Counters of batch norm do nothing here, and old files have none.
    missing = [key for key in wanted if key not in given and not key.endswith("num_batches_tracked")]
    unexpected = [key for key in given if key not in wanted]
    misshapen = [key for key in given if key in wanted and given[key].shape != wanted[key].shape]
    faults = {"missing": missing, "unexpected": unexpected, "of another shape": misshapen}
    found = [f"{fault}: {_some(keys)}" for fault, keys in faults.items() if keys]
    if found:
        raise BackboneError(f"{path} does not fit {published.timm_name} ({'; '.join(found)}).")
    model.load_state_dict(given, strict=False)


def _with_both_outputs(model: Any) -> Any:
    """The same network, giving the last feature map and its mean over places."""

    def forward(image: Any) -> tuple[Any, Any]:
        feature_map = model.forward_features(image)  # (n, width, rows, columns)
        return feature_map.mean((2, 3)), feature_map

    model.forward = forward
    return model


def _to_onnx(torch: Any, onnx: Any, network: Any, published: Published) -> bytes:
    program = torch.onnx.export(
        network,
        (torch.zeros(2, 3, SIZE, SIZE),),
        input_names=["image"],
        output_names=["features", "feature_map"],
        dynamic_shapes={"image": {0: torch.export.Dim("n")}},
        opset_version=OPSET,
        dynamo=True,
        verbose=False,
    )
    proto = program.model_proto
    _forget_the_workshop(proto)
    onnx.helper.set_model_props(proto, {"exll": json.dumps(preprocessing_of(published))})
    onnx.checker.check_model(proto, full_check=True)
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def _forget_the_workshop(proto: Any) -> None:
    """Without the stack traces, with paths of this machine, that torch notes at every node."""
    del proto.metadata_props[:]
    del proto.graph.metadata_props[:]
    for part in (
        *proto.graph.node,
        *proto.graph.value_info,
        *proto.graph.initializer,
        *proto.graph.input,
        *proto.graph.output,
    ):
        del part.metadata_props[:]
        part.ClearField("doc_string")


def _difference(torch: Any, onnxruntime: Any, network: Any, content: bytes) -> float:
    """The largest difference between ONNX Runtime and torch, each output relative to its own largest value."""
    images = np.random.default_rng(0).normal(size=(3, 3, SIZE, SIZE)).astype(np.float32)
    with torch.no_grad():
        expected = [output.numpy() for output in network(torch.from_numpy(images))]
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    outputs = session.run(["features", "feature_map"], {"image": images})
    pairs = zip(outputs, expected, strict=True)
    return max(float(np.abs(output - right).max() / np.abs(right).max()) for output, right in pairs)


def _write(content: bytes, folder: Path, name: str) -> Path:
    target = folder / f"{name}.onnx"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    except OSError as error:
        raise BackboneError(f"{target} cannot be written: {error.strerror}.") from error
    return target


def _some(keys: list[str]) -> str:
    more = len(keys) - KEYS_NAMED
    return ", ".join(keys[:KEYS_NAMED]) + (f" and {more} more" if more > 0 else "")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
