"""The models of a run: those of the shards, those merged of two, and at last the one of all."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from exll.cluster.parts import Parts
from exll.cluster.shards import Node, cut, merges
from exll.cluster.work import Job, Task, learn_shard, merge_parts
from exll.saving.whole_files import write_whole
from exll.streams.example import Example
from exll.teaching import Model


class ModelTree:
    """Which models are finished and which can be made now. ``base`` is a model that knows something already: all that
    is learned is merged behind it."""

    def __init__(self, task: Task, examples: list[Example], parts: Parts, base: Model | None) -> None:
        self.task, self.examples, self.parts = task, examples, parts
        self.shards = cut(len(examples))
        self.made_of = merges(len(self.shards))
        self.held: dict[Node, Path | None] = {}  # where a finished model lies; None where nothing could be learned
        self.root: Node = 0, len(self.shards) - 1
        self._find(self.root)
        if base is not None:
            before: Node = -1, -1
            base.save(parts.place(before))
            self.held[before] = parts.place(before)
            self.made_of[-1, self.root[1]] = before, self.root
            self.root = -1, self.root[1]

    def _find(self, node: Node) -> None:
        """Continue with what an earlier run has finished."""
        if self.parts.whole(node):
            self.held[node] = self.parts.place(node)
        elif node in self.made_of:
            for below in self.made_of[node]:
                self._find(below)
        elif self.parts.empty(node[0]):
            self.held[node] = None

    def ready(self) -> list[Node]:
        """The models that can be made now, those that are needed first at the front."""
        return list(self._ready(self.root))

    def _ready(self, node: Node) -> Iterator[Node]:
        if node in self.held:
            return
        below = self.made_of.get(node, ())
        for child in below:
            yield from self._ready(child)
        if all(child in self.held for child in below):
            models = [self.held[child] for child in below]
            if None in models:  # where one of two learned nothing, the other is both
                self.held[node] = next((model for model in models if model is not None), None)
                for child in below:
                    del self.held[child]
            else:
                yield node

    def job(self, node: Node, in_place: bool) -> Job:
        """What a worker has to do for a model. ``in_place``: it reads and writes the folder of the parts itself."""
        into = self.parts.place(node).absolute() if in_place else None
        if node in self.made_of:
            below = [place for child in self.made_of[node] if (place := self.held[child]) is not None]
            left, right = (place.absolute() if in_place else place.read_bytes() for place in below)
            return merge_parts, (self.task, left, right, into)
        examples = [_at_its_place(self.examples[i]) for i in self.shards[node[0]]]
        seen = next((example.path for example in examples if example.path and example.path.exists()), None)
        return learn_shard, (self.task, examples, self.task.source if examples[0].path is None else seen, into)

    def finish(self, node: Node, result: Any) -> None:
        """Keep the result of a worker."""
        place = self.parts.place(node)
        model, skipped = (result, None) if node in self.made_of else result
        if isinstance(model, bytes):
            write_whole(place, model)
        if skipped is not None:
            self.parts.note(node[0], skipped, len(self.shards[node[0]]))
        self.held[node] = None if model is None else place
        for child in self.made_of.get(node, ()):
            merged = self.held.pop(child)
            if merged is not None and node[0] >= 0:  # the base may be another one when a stopped run goes on
                merged.unlink(missing_ok=True)

    @property
    def done(self) -> int:
        """How many examples are learned or skipped."""
        return sum(len(self.shards[shard]) for first, last in self.held for shard in range(max(0, first), last + 1))

    def reasons(self) -> list[str | None]:
        """Why examples were skipped, for each of them; None for those that were learned."""
        skipped = [self.parts.skipped(shard) or {} for shard in range(len(self.shards))]
        return [own.get(i) for own, shard in zip(skipped, self.shards, strict=True) for i in range(len(shard))]

    def in_words(self, node: Node) -> str:
        """A model as an error names it; the names of a shard's files are listed in a file."""
        if node in self.made_of:
            return "merging two models"
        names = self.parts.folder / f"{node[0]:03}.txt"
        names.write_text("".join(f"{self.examples[i].ref}\n" for i in self.shards[node[0]]), "utf-8", "replace")
        return f"learning shard {node[0] + 1} of {len(self.shards)}, whose files are listed in {names},"


def _at_its_place(example: Example) -> Example:
    """A worker may work in another folder."""
    return example if example.path is None else replace(example, path=example.path.absolute())
