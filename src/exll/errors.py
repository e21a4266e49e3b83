"""The errors of exll. Each is also the built-in error that a caller would expect.

A message says what is wrong, the rule, what was given instead, and what to do; the command line prints it unchanged.
"""


class ExLLError(Exception):
    """Any error that exll raises on purpose."""


class InputError(ExLLError, ValueError):
    """Vectors, labels or parameters that cannot be learned or asked about; nothing was changed."""


class NothingLearnedError(ExLLError, ValueError, AttributeError):
    """An image learner was asked before its first example."""


class InputTypeError(InputError, TypeError):
    """Input that is not an array of numbers."""


class LearningInterruptedError(ExLLError, RuntimeError):
    """Learning stopped in the middle of a sample, so the state may be wrong."""


class SingularError(ExLLError, ArithmeticError):
    """A matrix that cannot be inverted."""


class ImageError(ExLLError, ValueError):
    """A file or array that cannot be read as an image."""


class StreamError(ExLLError, ValueError):
    """Data that cannot be made into a stream of examples."""


class BenchError(ExLLError, ValueError):
    """A benchmark that cannot be run as it is written, or results that cannot be read."""


class ClusterError(ExLLError, RuntimeError):
    """Workers cannot be started or reached, or a run on them cannot continue."""


class BackboneError(ExLLError, ValueError):
    """A backbone that cannot be found, read or used, or not the one the model was taught with."""


class OtherBackboneError(BackboneError):
    """Not the network that was asked for."""

    def __init__(self, source: str, identity: str) -> None:
        super().__init__(f"{source} is another network (identity {identity[:12]}).")
        self.source, self.identity = source, identity


class ModelFileError(ExLLError, ValueError):
    """A model file that is truncated, altered, foreign, or newer than this version."""


class ModelFileNotFoundError(ModelFileError, FileNotFoundError):
    """There is no file at that path."""


# What arrays and metadata that are not those of a model may raise while a model is made of them.
DAMAGED = (
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    RecursionError,
)
