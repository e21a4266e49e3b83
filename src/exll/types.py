"""Names for types of arrays and choices that several modules use."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Tensors: TypeAlias = dict[str, NDArray[Any]]

Label: TypeAlias = str | int | bool
Group: TypeAlias = str | int | None  # what samples came with: a session, a place, a video

InferenceName: TypeAlias = Literal["fused", "local", "global"]
RecordsKind: TypeAlias = Literal["none", "refs", "vectors"] | int
Lengths: TypeAlias = Literal["auto", "kept", "ignored"]
CountPairs: TypeAlias = Literal["before", "after"]
PairWeights: TypeAlias = Literal["one", "confidence"]
Level: TypeAlias = Literal["usual", "unusual", "unknown"]
RuleLevel: TypeAlias = Literal["prototype", "class", "megacloud"]
