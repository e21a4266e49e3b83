"""Somebody who works in a project, with vectors instead of images: the log is the same."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from exll.studio.actions import (
    Offered,
    add_version,
    delete,
    delete_class,
    hold_out,
    merge_class,
    redo,
    relabel,
    rename_class,
    restore_version,
    teach_images,
    undo,
)
from exll.studio.project import Project
from exll.studio.store import LARGEST_ID, StoredImage
from exll.types import Vector

LABELS = ["mug", "pan", "cup", "jug"]


@dataclass
class Hand:
    """Takes steps in a project, with vectors instead of images: the log is the same."""

    project: Project
    rng: np.random.Generator
    centres: dict[str, Vector] = field(default_factory=dict)

    def offer(self, label: str, clip: str | None = None) -> Offered:
        width = self.project.backbone.width
        centre = self.centres.setdefault(label, np.asarray(self.rng.normal(size=width)))
        digest = self.rng.bytes(32).hex()
        self.project.pictures.keep(digest, b"")
        vector = (centre + self.rng.normal(size=width)).astype(np.float32)
        return Offered(StoredImage(digest, "PNG", 0, vector), "", clip=clip)

    def teach(self, label: str | None = None, count: int | None = None) -> None:
        label = label or str(self.rng.choice(LABELS))
        clip = self.rng.bytes(4).hex() if self.rng.integers(2) else None
        offers = [self.offer(label, clip) for _ in range(count or self.rng.integers(1, 6))]
        self.write(lambda: teach_images(self.project, offers, label, False))

    def edit(self) -> None:
        live_ones = [example.id for example in self.project.store.examples(None, LARGEST_ID, -1)]
        some = [int(number) for number in self.rng.permutation(live_ones)[:3]]
        one, other = (str(label) for label in self.rng.choice(LABELS, 2))
        counts = self.project.store.counts()
        known, versions = one in counts, self.project.store.versions()
        steps: list[Callable[[], object]] = [
            lambda: relabel(self.project, some, other),
            lambda: delete(self.project, some),
            lambda: (merge_class if other in counts else rename_class)(self.project, one, other) if known else None,
            lambda: delete_class(self.project, one) if known else None,
            lambda: undo(self.project) if self.project.store.last_edit() is not None else None,
            lambda: redo(self.project) if self.project.store.next_redo() is not None else None,
            lambda: hold_out(self.project, some, bool(self.rng.integers(2))),
            lambda: add_version(self.project, one),
            lambda: restore_version(self.project, versions[0].id) if versions else None,
        ]
        self.write(steps[self.rng.integers(len(steps))])

    def write(self, change: Callable[[], object]) -> None:
        self.project.live.write(change).result()

    def step(self) -> None:
        if self.rng.random() < 0.6:
            self.teach()
        else:
            self.edit()
