"""The orders in which a stream can come: the same examples and the same seed give the same order, however listed."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from exll.errors import StreamError
from exll.streams.example import Example, composed
from exll.streams.folder import natural_key

T = TypeVar("T")

AS_IS = "as-is"
ORDERS = {
    AS_IS: "as listed: a table's lines, a features file's rows, a video's frames",
    "iid": "all examples shuffled",
    "class-iid": "one class after the other, in shuffled order; shuffled within a class",
    "instance": "one video after the other, in shuffled order; frames in order within a video",
    "low-shot-instance": "one random video per class, in shuffled order; frames in order within a video",
    "low-shot-instance N": "N random videos per class, in shuffled order; frames in order within a video",
    "one-video-per-object": "one random video per object, in shuffled order; frames in order within a video",
    "few-shot N": "N random examples per class, one class after the other, in shuffled order",
    "domain-iid": "one domain after the other, in shuffled order; shuffled within a domain",
}
LOW_SHOT, FEW_SHOT = "low-shot-instance", "few-shot"
LEAVING_OUT = (LOW_SHOT, FEW_SHOT, "one-video-per-object")


def arrange(examples: Iterable[Example], order: str, seed: int = 0) -> list[Example]:
    """The examples in the order of that name.

    >>> mugs = [Example(f"mug/{i}.jpg", "mug") for i in range(3)]
    >>> [example.ref for example in arrange(mugs, "few-shot 2")]
    ['mug/2.jpg', 'mug/0.jpg']
    """
    name, number = parse_order(order)
    if name == AS_IS:
        return list(examples)
    if seed < 0:
        raise StreamError(f"the seed of an order must be 0 or more; got {seed}.")
    rng = np.random.default_rng(seed)
    if name == FEW_SHOT:
        return few_shot(examples, rng, number)
    if name == LOW_SHOT:
        return low_shot_instance(examples, rng, number)
    return _BY_NAME[name](examples, rng)


def split(examples: Iterable[Example], order: str, seed: int = 0) -> tuple[list[Example], list[Example]]:
    """The examples that the order takes, in that order, and the rest of them, which can serve as a test set."""
    listed = list(examples)
    taken = arrange(listed, order, seed)
    chosen = {id(example) for example in taken}
    return taken, [example for example in canonical(listed) if id(example) not in chosen]


def leaves_some_out(order: str) -> bool:
    """Whether the order takes some of the examples only, so that the rest can serve as a test set."""
    return parse_order(order)[0] in LEAVING_OUT


def parse_order(order: str) -> tuple[str, int]:
    """The order's plain name and its N (0 where there is none); blanks and hyphens are the same."""
    name = "-".join(order.lower().split())
    if name in _BY_NAME or name == AS_IS:
        return name, 0
    if name == LOW_SHOT:
        return LOW_SHOT, 1
    numbered = re.fullmatch(rf"({FEW_SHOT}|{LOW_SHOT})-0*([1-9][0-9]{{0,8}})", name)
    if numbered:
        return numbered[1], int(numbered[2])
    raise StreamError(f"an order must be one of {', '.join(ORDERS)} (N is a number of at least 1); got {order!r}.")


def order_name(order: str) -> str:
    """The one spelling of an order, so that the same order is always known for the same.

    >>> order_name("Few-Shot-05"), order_name("class iid"), order_name("low-shot-instance 1")
    ('few-shot 5', 'class-iid', 'low-shot-instance')
    """
    name, number = parse_order(order)
    return f"{name} {number}" if number > (name == LOW_SHOT) else name


def iid(examples: Iterable[Example], rng: np.random.Generator) -> list[Example]:
    return _shuffled(canonical(examples), rng)


def class_iid(examples: Iterable[Example], rng: np.random.Generator) -> list[Example]:
    classes = grouped(canonical(examples), lambda example: example.label)
    return [example for group in _shuffled(classes, rng) for example in _shuffled(group, rng)]


def few_shot(examples: Iterable[Example], rng: np.random.Generator, shots: int) -> list[Example]:
    """The first ``shots`` of each class in the class-iid order, so that more shots only add to fewer.

    A class with fewer examples keeps all it has.
    """
    classes = grouped(class_iid(examples, rng), lambda example: example.label)
    return [example for group in classes for example in group[:shots]]


def instance(examples: Iterable[Example], rng: np.random.Generator) -> list[Example]:
    return [example for video in _shuffled(_videos(examples), rng) for example in video]


def low_shot_instance(examples: Iterable[Example], rng: np.random.Generator, number: int) -> list[Example]:
    """So many videos per class; more only add to fewer. A class with fewer videos keeps all it has."""
    classes = grouped(_videos(examples), lambda video: video[0].label)
    chosen = [videos.pop(rng.integers(len(videos))) for videos in classes]
    if number > 1:
        chosen += [video for videos in classes for video in _shuffled(videos, rng)[: number - 1]]
    return [example for video in _shuffled(chosen, rng) for example in video]


def one_video_per_object(examples: Iterable[Example], rng: np.random.Generator) -> list[Example]:
    objects = grouped(_videos(examples), lambda video: (video[0].label, _object(video[0])))
    chosen = [videos[rng.integers(len(videos))] for videos in objects]
    return [example for video in _shuffled(chosen, rng) for example in video]


def domain_iid(examples: Iterable[Example], rng: np.random.Generator) -> list[Example]:
    domains = grouped(canonical(examples), _domain)
    return [example for group in _shuffled(domains, rng) for example in _shuffled(group, rng)]


def _object(example: Example) -> str:
    if example.instance is None:
        raise StreamError(
            f"this order needs to know which object each example shows; {example.ref} does not say it. Choose "
            "low-shot-instance, or add a column instance."
        )
    return example.instance


def _domain(example: Example) -> str:
    if example.domain is None:
        raise StreamError(
            f"this order needs to know the domain of each example; {example.ref} has none. Choose iid or class-iid, or "
            "add an array domain."
        )
    return example.domain


def canonical(examples: Iterable[Example]) -> list[Example]:
    """Sorted by label, video, frame and ref: where every shuffle starts, so that the listing cannot matter."""
    return sorted(examples, key=_canonical_key)


def _canonical_key(example: Example) -> tuple[Any, ...]:
    ref = composed(example.ref)
    return (
        composed(example.label),
        composed(example.video or ""),
        -1 if example.frame is None else example.frame,
        natural_key(ref),
        ref,
        composed(example.instance or ""),
        -1 if example.row is None else example.row,
    )


def _videos(examples: Iterable[Example]) -> list[list[Example]]:
    """The recordings, each with its frames in order. One name may stand in two classes, for two recordings."""

    def unit(example: Example) -> tuple[str, str, str]:
        if example.video is not None:
            return example.label, "video", example.video
        if example.instance is not None:
            return example.label, "instance", example.instance
        raise StreamError(
            f"this order needs to know which video or which object each example shows; {example.ref} names neither. "
            "Choose iid or class-iid, or add a column video."
        )

    return grouped(canonical(examples), unit)


def grouped(items: Iterable[T], key: Callable[[T], Any]) -> list[list[T]]:
    """The items by key, groups in order of first appearance."""
    groups: dict[Any, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def _shuffled(items: Sequence[T], rng: np.random.Generator) -> list[T]:
    return [items[i] for i in rng.permutation(len(items))]


_BY_NAME: dict[str, Callable[[Iterable[Example], np.random.Generator], list[Example]]] = {
    "iid": iid,
    "class-iid": class_iid,
    "instance": instance,
    "one-video-per-object": one_video_per_object,
    "domain-iid": domain_iid,
}
