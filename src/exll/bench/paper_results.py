"""The tables of the ExLL paper as data, to stand beside our own numbers, and what is odd about them.

Top-1 accuracies as fractions, NetScores in the paper's convention; a row ends with the mean as printed there.
"""

from typing import TypeAlias

BACKBONES = {
    "mobilenet-v3-small": "MNet-S",
    "mobilenet-v3-large": "MNet-L",
    "efficientnet-b0": "ENet-B0",
    "efficientnet-b1": "ENet-B1",
    "resnet-18": "RN-18",
}
COLUMNS = (*BACKBONES, "mean")

Rows: TypeAlias = dict[str, tuple[float, ...]]  # learner -> values of COLUMNS

ACCURACIES: dict[tuple[str, str], Rows] = {
    ("openloris", "instance"): {
        "Perceptron": (0.793, 0.880, 0.935, 0.942, 0.796, 0.869),
        "Fine-Tune": (0.835, 0.915, 0.958, 0.963, 0.809, 0.896),
        "Naive Bayes": (0.311, 0.526, 0.780, 0.787, 0.015, 0.483),
        "SOvR": (0.374, 0.477, 0.739, 0.723, 0.346, 0.531),
        "NCM": (0.729, 0.789, 0.859, 0.867, 0.797, 0.808),
        "Replay (20pc)": (0.921, 0.956, 0.977, 0.978, 0.929, 0.952),
        "SLDA": (0.956, 0.982, 0.988, 0.988, 0.950, 0.972),
        "ExLL-M": (0.944, 0.973, 0.982, 0.982, 0.940, 0.964),
        "ExLL-P": (0.951, 0.968, 0.982, 0.983, 0.961, 0.969),
        "ExLL-F": (0.987, 0.993, 0.996, 0.996, 0.988, 0.992),
    },
    ("openloris", "low-shot-instance"): {
        "Perceptron": (0.098, 0.167, 0.272, 0.283, 0.082, 0.180),
        "Fine-Tune": (0.043, 0.066, 0.238, 0.232, 0.030, 0.121),
        "Naive Bayes": (0.232, 0.366, 0.421, 0.399, 0.021, 0.287),
        "SOvR": (0.259, 0.323, 0.449, 0.459, 0.224, 0.342),
        "NCM": (0.442, 0.474, 0.516, 0.514, 0.463, 0.481),
        "Replay (20pc)": (0.453, 0.480, 0.529, 0.532, 0.446, 0.488),
        "SLDA": (0.445, 0.454, 0.472, 0.460, 0.442, 0.454),
        "ExLL-M": (0.463, 0.493, 0.504, 0.487, 0.440, 0.477),
        "ExLL-P": (0.470, 0.501, 0.500, 0.482, 0.475, 0.485),
        "ExLL-F": (0.481, 0.511, 0.511, 0.495, 0.492, 0.498),
    },
    ("places365", "iid"): {
        "Perceptron": (0.303, 0.344, 0.352, 0.340, 0.294, 0.326),
        "Fine-Tune": (0.214, 0.252, 0.293, 0.280, 0.217, 0.251),
        "Naive Bayes": (0.028, 0.093, 0.250, 0.249, 0.003, 0.124),
        "NCM": (0.285, 0.332, 0.361, 0.356, 0.322, 0.331),
        "Replay (20pc)": (0.289, 0.323, 0.354, 0.348, 0.261, 0.315),
        "SLDA": (0.362, 0.397, 0.412, 0.405, 0.362, 0.387),
        "ExLL-M": (0.375, 0.347, 0.392, 0.336, 0.312, 0.352),
        "ExLL-P": (0.354, 0.380, 0.381, 0.370, 0.343, 0.365),
        "ExLL-F": (0.444, 0.478, 0.488, 0.476, 0.440, 0.465),
    },
    ("places365", "class-iid"): {
        "Perceptron": (0.004, 0.003, 0.012, 0.013, 0.005, 0.007),
        "Fine-Tune": (0.003, 0.003, 0.006, 0.006, 0.003, 0.004),
        "Naive Bayes": (0.028, 0.093, 0.250, 0.249, 0.003, 0.124),
        "NCM": (0.265, 0.309, 0.336, 0.329, 0.300, 0.307),
        "Replay (20pc)": (0.251, 0.279, 0.297, 0.295, 0.235, 0.271),
        "SLDA": (0.362, 0.397, 0.412, 0.405, 0.362, 0.387),
        "ExLL-M": (0.347, 0.362, 0.381, 0.367, 0.349, 0.361),
        "ExLL-P": (0.352, 0.378, 0.381, 0.373, 0.343, 0.365),
        "ExLL-F": (0.444, 0.473, 0.486, 0.479, 0.439, 0.464),
    },
    ("places-lt", "iid"): {
        "Perceptron": (0.152, 0.185, 0.213, 0.206, 0.149, 0.181),
        "Fine-Tune": (0.136, 0.163, 0.197, 0.191, 0.141, 0.165),
        "Naive Bayes": (0.015, 0.050, 0.199, 0.213, 0.100, 0.115),
        "SOvR": (0.089, 0.149, 0.262, 0.245, 0.146, 0.178),
        "NCM": (0.265, 0.309, 0.336, 0.329, 0.300, 0.306),
        "Replay (20pc)": (0.239, 0.267, 0.290, 0.282, 0.223, 0.260),
        "SLDA": (0.290, 0.318, 0.338, 0.328, 0.300, 0.315),
        "ExLL-M": (0.356, 0.392, 0.407, 0.400, 0.360, 0.383),
        "ExLL-P": (0.265, 0.297, 0.315, 0.305, 0.277, 0.292),
        "ExLL-F": (0.324, 0.349, 0.362, 0.351, 0.331, 0.343),
    },
    ("places-lt", "class-iid"): {
        "Perceptron": (0.017, 0.028, 0.071, 0.073, 0.015, 0.041),
        "Fine-Tune": (0.015, 0.021, 0.071, 0.075, 0.004, 0.037),
        "Naive Bayes": (0.015, 0.050, 0.199, 0.213, 0.001, 0.096),
        "SOvR": (0.089, 0.149, 0.262, 0.245, 0.146, 0.178),
        "NCM": (0.265, 0.309, 0.336, 0.329, 0.300, 0.308),
        "Replay (20pc)": (0.241, 0.268, 0.306, 0.295, 0.193, 0.261),
        "SLDA": (0.290, 0.319, 0.338, 0.328, 0.300, 0.315),
        "ExLL-M": (0.311, 0.331, 0.338, 0.331, 0.345, 0.331),
        "ExLL-P": (0.265, 0.300, 0.314, 0.303, 0.273, 0.291),
        "ExLL-F": (0.325, 0.351, 0.359, 0.350, 0.330, 0.343),
    },
    ("fsiol", "few-shot 5"): {
        "Perceptron": (0.181, 0.177, 0.406, 0.454, 0.049, 0.253),
        "Fine-Tune": (0.183, 0.205, 0.416, 0.460, 0.090, 0.270),
        "Naive Bayes": (0.344, 0.554, 0.816, 0.828, 0.035, 0.515),
        "SOvR": (0.592, 0.666, 0.679, 0.693, 0.428, 0.611),
        "CBCL": (0.853, 0.878, 0.886, 0.838, 0.848, 0.860),
        "NCM": (0.853, 0.871, 0.886, 0.885, 0.885, 0.876),
        "Replay (20pc)": (0.541, 0.632, 0.594, 0.612, 0.624, 0.600),
        "SLDA": (0.880, 0.899, 0.912, 0.903, 0.854, 0.889),
        "ExLL-M": (0.842, 0.873, 0.863, 0.847, 0.851, 0.855),
        "ExLL-P": (0.827, 0.832, 0.799, 0.755, 0.803, 0.803),
        "ExLL-F": (0.889, 0.905, 0.887, 0.854, 0.885, 0.884),
    },
    ("fsiol", "few-shot 10"): {
        "Perceptron": (0.158, 0.223, 0.354, 0.458, 0.051, 0.248),
        "Fine-Tune": (0.127, 0.199, 0.389, 0.453, 0.090, 0.251),
        "Naive Bayes": (0.320, 0.537, 0.806, 0.854, 0.015, 0.506),
        "SOvR": (0.561, 0.702, 0.650, 0.752, 0.504, 0.633),
        "CBCL": (0.883, 0.906, 0.888, 0.892, 0.869, 0.887),
        "NCM": (0.883, 0.906, 0.893, 0.913, 0.896, 0.898),
        "Replay (20pc)": (0.625, 0.694, 0.714, 0.722, 0.731, 0.697),
        "SLDA": (0.924, 0.948, 0.938, 0.936, 0.910, 0.931),
        "ExLL-M": (0.926, 0.942, 0.938, 0.928, 0.948, 0.936),
        "ExLL-P": (0.927, 0.934, 0.897, 0.879, 0.930, 0.913),
        "ExLL-F": (0.961, 0.966, 0.952, 0.943, 0.968, 0.958),
    },
}  # fmt: skip

NETSCORES: Rows = {
    "Perceptron": (-115.9, -106.5, -91.0, -96.5, -147.8, -111.5),
    "Fine-Tune": (-149.0, -142.9, -96.3, -103.7, -187.8, -135.9),
    "Naive Bayes": (-83.7, -77.3, -75.8, -84.2, -204.5, -105.1),
    "SOvR": (-80.0, -83.9, -74.0, -78.7, -111.4, -85.6),
    "NCM": (-55.5, -64.7, -65.3, -72.5, -78.7, -67.3),
    "Replay (20pc)": (-58.9, -66.5, -66.6, -72.8, -80.5, -69.1),
    "SLDA": (-58.3, -69.1, -72.3, -79.3, -80.8, -72.0),
    "ExLL": (-75.3, -91.4, -99.5, -106.8, -108.1, -96.2),
}

SPIDER_MEANS = {"ExLL-F": 0.91, "Replay (20pc)": 0.88, "SLDA": 0.88, "ExLL-P": 0.84, "NCM": 0.81, "ExLL-M": 0.78}


ODDITIES: tuple[tuple[str | None, str, str], ...] = (  # data set (None: any), learner, what is odd
    (
        None,
        "ExLL-F",
        "The fused label depends on the pair of labels alone, and may be a third class. The paper's gains of ExLL-F "
        "over both variants are larger than always picking the right one of the two labels gives here; counting Phi "
        "with test labels gives such numbers.",
    ),
    ("places365", "NCM", "The paper's class-IID row of Places-365 is the row of Places-LT, number for number."),
    (
        "places-lt",
        "ExLL-M",
        "The paper's 0.383 on Places-LT IID exceeds its 0.352 on Places-365 IID: the same test images, with 29 times "
        "fewer to learn from.",
    ),
    ("places-lt", "NCM", "The paper prints 0.306 as the mean of a row whose mean is 0.308."),
    (
        "places-lt",
        "Naive Bayes",
        "Order cannot matter to this learner, yet the paper has 0.100 (IID) and 0.001 (class-IID) with ResNet-18.",
    ),
    (
        None,
        "Naive Bayes",
        "The code behind the paper's row leaves out the quadratic term and the determinant of the Gaussian, which "
        "explains its ResNet-18 column.",
    ),
    (
        None,
        "ExLL",
        "The paper explains ExLL's low NetScores by its prototypes and its records of all examples. That its code also "
        "inverts a matrix for every sample is our guess.",
    ),
    (None, "", "The paper cuts off its means after three digits where others round."),
)


def oddities(datasets: set[str], learners: set[str]) -> list[str]:
    """The footnotes that belong under tables of these data sets and learners; none where nothing of the paper is
    shown."""
    reprinted = {dataset for dataset, _ in ACCURACIES} & datasets
    if not reprinted:
        return []
    families = {name.partition("-")[0] if name.startswith("ExLL") else name for name in learners}
    return [
        f"{learner or 'All'}: {text}"
        for dataset, learner, text in ODDITIES
        if (dataset is None or dataset in reprinted) and (not learner or learner in learners | families)
    ]


def published_accuracy(dataset: str, order: str, learner: str, backbone: str) -> float | None:
    """What the paper's table says of a cell (``backbone`` may be "mean"); None where it has none.

    >>> published_accuracy("openloris", "instance", "SLDA", "resnet-18")
    0.95
    """
    row = ACCURACIES.get((dataset, order), {}).get(_row_of(learner))
    return None if row is None or backbone not in COLUMNS else row[COLUMNS.index(backbone)]


def published_netscore(learner: str, backbone: str) -> float | None:
    """The paper has one row for all three variants of ExLL."""
    row = NETSCORES.get("ExLL" if learner.startswith("ExLL-") else _row_of(learner))
    return None if row is None or backbone not in COLUMNS else row[COLUMNS.index(backbone)]


def _row_of(learner: str) -> str:
    """The paper's row of Naive Bayes was made with the code that we call the Hayes variant."""
    return learner.removesuffix(" (Hayes)")
