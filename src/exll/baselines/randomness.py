"""Random numbers whose generator can be saved, so that a stopped stream goes on as if it had not been."""

import numpy as np
from numpy.typing import NDArray

_LOW_HALF = 2**64 - 1


def new_generator(seed: int | None) -> np.random.Generator:
    # Named, because numpy may choose another as its default one day.
    return np.random.Generator(np.random.PCG64(seed))


def generator_to_array(generator: np.random.Generator) -> NDArray[np.uint64]:
    state = generator.bit_generator.state
    numbers = (state["state"]["state"], state["state"]["inc"])
    halves = [half for number in numbers for half in (number >> 64, number & _LOW_HALF)]
    return np.array([*halves, state["has_uint32"], state["uinteger"]], np.uint64)


def generator_from_array(array: NDArray[np.uint64]) -> np.random.Generator:
    if array.shape != (6,) or array.dtype != np.uint64:
        raise ValueError("this is not a state of a random generator")
    high, low, high_step, low_step, has_half, half = array.tolist()
    if has_half > 1 or half >= 2**32 or low_step % 2 == 0:
        raise ValueError("this is not a state of a random generator")
    generator = new_generator(0)
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": high_step << 64 | low_step},
        "has_uint32": has_half,
        "uinteger": half,
    }
    return generator
