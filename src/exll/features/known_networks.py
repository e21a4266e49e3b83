"""All networks that have a name: those that can be used now, and how to get the others."""

from dataclasses import dataclass

from exll.features.backbone import BUILT_IN, DEFAULT, available_backbones
from exll.features.export import PUBLISHED
from exll.features.packaged import PACKAGED


@dataclass(frozen=True)
class KnownNetwork:
    name: str
    description: str
    to_add: str = ""  # the command that adds it; empty where it can be used

    @property
    def available(self) -> bool:
        return not self.to_add


def known_networks() -> list[KnownNetwork]:
    """Those that can be used first, the default before all others."""
    here = available_backbones()
    found = [KnownNetwork(name, _description(name)) for name in here]
    found += [KnownNetwork(name, network.description, network.install) for name, network in PACKAGED.items()]
    found += [
        KnownNetwork(name, network.description, f"exll backbone add {name}") for name, network in PUBLISHED.items()
    ]
    return [network for i, network in enumerate(found) if i < len(here) or network.name not in here]


def _description(name: str) -> str:
    what = f"{PACKAGED[name].description}, 224 px" if name in PACKAGED else "added"
    if name == BUILT_IN:
        what = "our own, 128 px, part of exll"
    return f"{what} (the default)" if name == DEFAULT else what
