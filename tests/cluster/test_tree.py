"""The models of a run, made one after the other by this process."""

import pickle
from pathlib import Path

import numpy as np

from exll import ExLLClassifier, open_stream
from exll.cluster.parts import IN_WORDS, Parts
from exll.cluster.tree import ModelTree
from exll.cluster.work import Task, do

EXAMPLES = 1100  # four shards
MANIFEST = {**dict.fromkeys(IN_WORDS, "same"), "source": "same"}


def tree_of(folder: Path, base: ExLLClassifier | None) -> ModelTree:
    """Of vectors, of which nothing in the first shard can be learned."""
    X = np.random.default_rng(0).normal(size=(EXAMPLES, 70)).astype(np.float32)
    X[: EXAMPLES // 4] = 0.0
    np.savez(folder / "vectors.npz", X=X, y=np.array([f"{i % 3}" for i in range(EXAMPLES)]))
    stream = open_stream(folder / "vectors.npz")
    task = Task.of(ExLLClassifier(), stream, cache=False, strict=False)
    return ModelTree(task, stream.examples, Parts(folder / "parts", MANIFEST), base)


def test_no_example_is_counted_twice_where_a_shard_has_nothing_to_learn(tmp_path: Path) -> None:
    tree, done = tree_of(tmp_path, None), [0]
    while ready := tree.ready():
        tree.finish(ready[0], do(pickle.dumps(tree.job(ready[0], in_place=True))))
        done.append(tree.done)
    assert done == sorted(done)
    assert done[-1] == EXAMPLES


def test_a_run_that_was_stopped_before_its_last_save_only_merges_the_base_again(tmp_path: Path) -> None:
    base = ExLLClassifier().fit(np.random.default_rng(1).normal(size=(10, 70)), [f"{i % 3}" for i in range(10)])
    tree = tree_of(tmp_path, base)
    while ready := tree.ready():
        tree.finish(ready[0], do(pickle.dumps(tree.job(ready[0], in_place=True))))
    again = tree_of(tmp_path, base)
    assert again.ready() == [again.root]
