"""Results put together: over seeds, then over backbones."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from exll.bench.metrics import mean_of, std_of
from exll.bench.netscore import Convention, netscore
from exll.bench.protocol import AXES

Entry = dict[str, Any]
CHOSEN = "glocal"
Curve = tuple[list[float], list[float]]  # where, and how much


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
        """If a cell has two entries, the later one counts: it was run again, with other code or data."""
        latest = {(*_setting(e), e["backbone"], e["learner"], e["seed"]): e for e in entries}
        return cls(list(latest.values()))

    @cached_property
    def settings(self) -> list[Setting]:
        return list(self._by_setting)

    @cached_property
    def _by_setting(self) -> dict[Setting, list[Entry]]:
        found: dict[Setting, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(_setting(entry), []).append(entry)
        return found

    @cached_property
    def backbones(self) -> list[str]:
        return list(dict.fromkeys(entry["backbone"] for entry in self.entries))

    @cached_property
    def variants(self) -> list[str]:
        return list(dict.fromkeys(variant for entry in self.entries for variant in entry["variants"]))

    @cached_property
    def offline(self) -> set[str]:
        """Variants of learners that see all data at once: for comparison only, no stream learner has to beat them."""
        found = [e for e in self.entries if e.get("offline") or e["learner"].lower().startswith("offline")]
        return {variant for entry in found for variant in entry["variants"]}

    @property
    def chosen(self) -> str:
        """The learner whose differences from all others are shown."""
        return CHOSEN if CHOSEN in self.variants else self.variants[0]

    @cached_property
    def by_dataset(self) -> dict[str, list[Setting]]:
        """The settings of each data set, which for features is the name of their file."""
        found: dict[str, list[Setting]] = {}
        for setting in self.settings:
            found.setdefault(setting.dataset, []).append(setting)
        return found

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
            for entry in self._by_setting.get(setting, ())
            if variant in entry["variants"] and backbone in (None, entry["backbone"])
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

    def mean_accuracy(self, settings: Sequence[Setting], variant: str) -> float | None:
        """The mean over settings; None where one is missing, since it could not be compared with others."""
        found = [self.accuracy(setting, variant) for setting in settings]
        return None if None in found else mean_of([m.mean for m in found if m is not None])

    def best_rival(self, setting: Setting) -> str | None:
        """The best stream learner beside the chosen one."""
        found = {v: m.mean for v in self.variants if (m := self.accuracy(setting, v)) is not None}
        rivals = [variant for variant in found if variant not in {self.chosen, *self.offline}]
        return max(rivals, key=found.__getitem__, default=None)

    def curve(self, setting: Setting, variant: str) -> Curve | None:
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

    def curve_by_share(self, settings: Sequence[Setting], variant: str, shares: Sequence[float]) -> list[float | None]:
        """Accuracy on the classes seen at these shares of the stream, averaged over settings; None before the first."""
        curves = [curve for setting in settings if (curve := self.curve(setting, variant)) is not None]
        if not curves:
            return [None] * len(shares)
        lines = [np.interp(shares, np.array(where) / where[-1], values) for where, values in curves]
        first = max(where[0] / where[-1] for where, _ in curves)
        means = np.mean(lines, axis=0).tolist()
        return [mean if share >= first - 1e-9 else None for share, mean in zip(shares, means, strict=True)]

    def ahead_curve(self, setting: Setting, variant: str) -> Curve | None:
        """The share right before learning, in each part of the stream, averaged over runs; None if it was not counted.

        It stands at the end of its part.
        """
        runs = [e for e in self.of_setting(setting, variant) if e["variants"][variant].get("right_by_part")]
        if not runs:
            return None
        parts = min(len(e["stream_parts"]) for e in runs)
        ends = np.mean([np.cumsum(e["stream_parts"])[:parts] for e in runs], axis=0)
        shares = [
            np.divide(e["variants"][variant]["right_by_part"], e["stream_parts"], dtype=float)[:parts] for e in runs
        ]
        return ends.tolist(), np.mean(shares, axis=0).tolist()

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
