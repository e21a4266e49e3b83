"""How a stream is cut, and in which order the models of its shards are merged: functions of its length alone."""

from itertools import zip_longest
from typing import TypeAlias

# A shard is what a killed worker loses and how often progress is seen: seconds with a network. A model has about the
# same size and is merged in about the same time however few examples it knows, so shards are not smaller than some
# hundreds, nor more than can be merged in six steps.
LEAST_EXAMPLES, MOST_SHARDS = 256, 64

Node: TypeAlias = tuple[int, int]  # the first and the last shard that a model has learned


def cut(examples: int) -> list[range]:
    """The positions of each shard.

    >>> [len(shard) for shard in cut(1000)]
    [333, 333, 334]
    """
    shards = max(1, min(MOST_SHARDS, examples // LEAST_EXAMPLES))
    return [range(i * examples // shards, (i + 1) * examples // shards) for i in range(shards)]


def merges(shards: int) -> dict[Node, tuple[Node, Node]]:
    """Which two models each merged model is made of: neighbours, level by level; the last is that of all shards.

    >>> merges(3)
    {(0, 1): ((0, 0), (1, 1)), (0, 2): ((0, 1), (2, 2))}
    """
    made_of: dict[Node, tuple[Node, Node]] = {}
    level: list[Node] = [(i, i) for i in range(shards)]
    while len(level) > 1:
        above: list[Node] = []
        for left, right in zip_longest(level[::2], level[1::2]):
            node = left if right is None else (left[0], right[1])
            if right is not None:
                made_of[node] = left, right
            above.append(node)
        level = above
    return made_of
