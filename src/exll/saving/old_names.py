"""The names that arrays had in files of format 4 and before."""

from exll.types import Tensors

NEWEST_OLD_FORMAT = 4

NEW_NAMES = {
    "prototypes.lengths": "prototypes.squared_norms",
    "prototypes.squared_norms": "prototypes.euclidean_squares",
    "megaclouds.lengths": "megaclouds.squared_norms",
    "glocal.next_review": "schedule.next_review",
    "glocal.seen_from": "schedule.origin",
    "judgement.level": "judgement.intercept",
    "judgement.usual": "judgement.similarity_mean",
    "judgement.spread": "judgement.similarity_std",
    "judgement.usual_distance": "judgement.distance_mean",
    "judgement.spread_of_distance": "judgement.distance_std",
    "witnesses.vectors": "reservoir.vectors",
    "witnesses.classes": "reservoir.classes",
    "witnesses.prototypes": "reservoir.prototypes",
    "witnesses.take": "reservoir.clip",
    "witnesses.take_sum": "reservoir.clip_sum",
    "witnesses.take_last": "reservoir.clip_last",
    "witnesses.take_starts": "reservoir.clip_starts",
    "witnesses.take_lengths": "reservoir.clip_lengths",
    "witnesses.film_starts": "reservoir.ended_clip_starts",
    "witnesses.film_means": "reservoir.ended_clip_means",
}


def with_new_names(tensors: Tensors) -> Tensors:
    return {NEW_NAMES.get(name, name): tensor for name, tensor in tensors.items()}
