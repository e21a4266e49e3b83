"""What the names in a report mean: one line per learner, order and condition that occurs."""

import json
import re
from collections.abc import Iterator

from exll.bench.summary import Summary
from exll.streams.orderings import ORDERS

UNIT = ", unit"
LEARNERS = {
    "ExLL-M": "ExLL as in the paper, global inference: the nearest class mean (MegaCloud)",
    "ExLL-P": "ExLL as in the paper, local inference: the nearest prototype",
    "ExLL-F": "ExLL as in the paper, fused inference: a table of the labels that ExLL-P and ExLL-M give together",
    "glocal": "the default of exll: class means, prototypes and random features, with weights learned from the stream",
    "Perceptron": "one weight vector per class, changed where an answer is wrong",
    "Fine-Tune": "a linear layer, one gradient step per example",
    "Naive Bayes": "a mean and a variance per class and feature",
    "Naive Bayes (Hayes)": "the same as published by Hayes and Kanan, without the terms in x² and the logarithm",
    "SOvR": "streaming one versus rest: how much more similar to its class than to the mean of all others",
    "CBCL": "several centroids per class; an example joins the nearest one that is close, or becomes one",
    "NCM": "the nearest class mean",
    "Replay (2pc)": "a linear layer that also learns from a buffer of 2 examples per class",
    "Replay (20pc)": "a linear layer that also learns from a buffer of 20 examples per class",
    "SLDA": "streaming linear discriminant analysis: class means and one covariance, as published",
    "SLDA (centred)": "SLDA with the exact covariance within classes, also for the first example of a class",
    "RLS": "recursive least squares: ridge regression to one-hot targets",
    "RanPAC": "ridge regression to one-hot targets, on random features",
    "KLDA": "linear discriminant on random Fourier features: class means and one covariance within classes",
    "KLDA (cosine)": "as KLDA, but with the cosine under the precision instead of the linear discriminant",
    "FeCAM": "the Mahalanobis distance to each class mean, under a correlation matrix per class",
    "RDA": "regularised discriminant analysis: a covariance per class, mixed with the shared one",
    "k-NN": "the nearest kept examples vote, each with 1 / its distance",
    "xDNN": "several prototypes per class, added where the density of an example is extreme; the nearest one answers",
    "xDNN (mended)": "xDNN in which an example joins the nearest prototype instead of the farthest",
    "Logistic regression, offline": "logistic regression",
    "LDA, offline": "a linear discriminant with the shrinkage of Ledoit and Wolf",
}
CONDITIONS = {
    "test domain": "this domain is asked and all others are learned",
    "hold out": "this share of every class is asked and not learned",
    "long tail": "the rarest class has this share of the examples of the most frequent one",
    "wrong labels": "this share of the examples is learned under another label, drawn at random",
    "delay": "the label of an example arrives this many examples later",
}


def legend(summary: Summary) -> Iterator[tuple[str, str]]:
    """Names with their lines; a learner of your own has none."""
    for variant in summary.variants:
        if line := _learner(variant):
            yield variant, line + (". It sees all data at once" if variant in summary.offline else "")
    for order in dict.fromkeys(setting.order for setting in summary.settings):
        if line := ORDERS.get(order) or ORDERS.get(re.sub(r"\d+$", "N", order)):
            yield order, re.sub(r"\bN\b", order.split()[-1], line)
    options = dict.fromkeys(name for setting in summary.settings for name in json.loads(setting.options))
    yield from ((name, CONDITIONS[name]) for name in options if name in CONDITIONS)


def _learner(variant: str) -> str | None:
    name = variant.removesuffix(UNIT)
    if name in LEARNERS:
        return LEARNERS[name] + (", on vectors of length 1" if name != variant else "")
    return None
