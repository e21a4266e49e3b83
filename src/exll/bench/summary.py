"""Results put together: over seeds, then over backbones."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from exll.bench.metrics import mean_of, std_of
from exll.bench.netscore import Convention, netscore
from exll.bench.protocol import AXES

Entry = dict[str, Any]


class Setting(NamedTuple):
    """One data set in one order: a table of its own."""

    dataset: str
    options: str  # as JSON
    order: str


class Measured(NamedTuple):
    """A mean over seeds with its standard deviation."""

    mean: float
    std: float | None
    seeds: int


@dataclass(frozen=True)
class Summary:
    """All that a report shows, computed from the entries of a results file."""

    entries: list[Entry]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Summary":
        """Of two entries for one cell the later counts: it was run anew, with other code or data."""
        latest = {(*_setting(e), e["backbone"], e["learner"], e["seed"]): e for e in entries}
        return cls(list(latest.values()))

    @cached_property
    def settings(self) -> list[Setting]:
        return list(dict.fromkeys(_setting(entry) for entry in self.entries))

    @cached_property
    def backbones(self) -> list[str]:
        return list(dict.fromkeys(entry["backbone"] for entry in self.entries))

    @cached_property
    def variants(self) -> list[str]:
        return list(dict.fromkeys(variant for entry in self.entries for variant in entry["variants"]))

    @property
    def seeds(self) -> list[int]:
        return sorted({entry["seed"] for entry in self.entries})

    def title(self, setting: Setting) -> str:
        """The name of a setting; its options only where another setting has the same name without them."""
        alike = {other.options for other in self.settings if other.dataset == setting.dataset}
        options = ", ".join(f"{name} {value}" for name, value in json.loads(setting.options).items())
        return f"{setting.dataset}{f' ({options})' if len(alike) > 1 and options else ''}, {setting.order}"

    def of_setting(self, setting: Setting, variant: str, backbone: str | None = None) -> list[Entry]:
        return [
            entry
            for entry in self.entries
            if _setting(entry) == setting and variant in entry["variants"] and backbone in (None, entry["backbone"])
        ]

    def measured(
        self, setting: Setting, variant: str, backbone: str | None, value: Callable[[Entry], float | None]
    ) -> Measured | None:
        """A value over seeds; with ``backbone`` None, over all backbones that the setting was run with."""
        values = [value(entry) for entry in self.of_setting(setting, variant, backbone)]
        mean = mean_of(values)
        return None if mean is None else Measured(mean, std_of(values), len(values))

    def accuracy(self, setting: Setting, variant: str, backbone: str | None = None) -> Measured | None:
        return self.measured(setting, variant, backbone, accuracy_of(variant))

    def netscore(self, variant: str, backbone: str | None = None, convention: Convention = "paper") -> float | None:
        """On the low-shot setting, as in the paper: the mean over its seeds and backbones."""
        scores = [
            netscore_of(entry, variant, convention)
            for setting in self.on_axis("Low-Shot")
            for entry in self.of_setting(setting, variant, backbone)
        ]
        return mean_of(scores)

    def on_axis(self, axis: str) -> list[Setting]:
        return list(dict.fromkeys(_setting(entry) for entry in self.entries if entry["axis"] == axis))

    def curve(self, setting: Setting, variant: str) -> tuple[list[float], list[float]] | None:
        """Examples learned, and accuracy on the classes seen, averaged over runs; None where it was asked once."""
        runs = [entry["curve"] for entry in self.of_setting(setting, variant)]
        runs = [run for run in runs if len(run) > 1]
        if not runs:
            return None
        # Boundaries lie elsewhere for every seed: each run is read off at common places that all of them reach.
        first = max(run[0]["examples"] for run in runs)
        last = min(run[-1]["examples"] for run in runs)
        places = np.linspace(first, last, max(len(run) for run in runs))
        lines = [
            np.interp(places, [p["examples"] for p in run], [p["accuracy"][variant] for p in run]) for run in runs
        ]  # each (places,)
        return places.tolist(), np.mean(lines, axis=0).tolist()

    def raw_axes(self) -> dict[str, dict[str, float]]:
        """For each axis with data, the value of each variant: accuracies averaged over backbones and settings."""
        axes: dict[str, dict[str, float]] = {}
        for axis in AXES:
            for variant in self.variants:
                if axis == "NetScore":
                    value = self.netscore(variant)
                else:
                    found = [self.accuracy(setting, variant) for setting in self.on_axis(axis)]
                    value = mean_of([None if m is None else m.mean for m in found])
                if value is not None:
                    axes.setdefault(axis, {})[variant] = value
        return axes


def scaled_axes(raw: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Each axis from 0, the worst learner, to 1, the best; 1 for all where they are equal.

    >>> scaled_axes({"Video": {"NCM": 0.5, "SLDA": 0.9, "SOvR": 0.6}})["Video"]["SOvR"]
    0.25
    """
    scaled = {}
    for axis, values in raw.items():
        worst, best = min(values.values()), max(values.values())
        width = best - worst
        scaled[axis] = {
            variant: round((value - worst) / width, 12) if width else 1.0 for variant, value in values.items()
        }
    return scaled


def accuracy_of(variant: str) -> Callable[[Entry], float | None]:
    return lambda entry: entry["variants"][variant]["accuracy"]


def netscore_of(entry: Entry, variant: str, convention: Convention = "paper") -> float | None:
    """Of one run: seconds of learning and of one round of asking, parameters with the backbone's."""
    if entry["parameters"] is None:
        return None
    size = entry["parameters"] + entry["backbone_parameters"]
    return netscore(entry["variants"][variant]["accuracy"], size, run_seconds(entry), convention)


def run_seconds(entry: Entry) -> float:
    return float(entry["seconds"]["learning"] + entry["seconds"]["last_asking"])


def _setting(entry: Entry) -> Setting:
    return Setting(entry["dataset"], json.dumps(entry["options"], sort_keys=True), entry["order"])
