"""What a model expects of itself, class by class."""

from typing import NamedTuple

from exll.types import Indices, Vector


class Expected(NamedTuple):
    """How probable the right answer is for new samples of every class, NaN where nothing can be said."""

    like_these: Vector  # (C,) for samples like those that were learned
    new_groups: Vector  # (C,) for samples from elsewhere: of another clip, place or look
    groups: Indices  # (C,) in how many groups its samples came: clips, named groups, and photos, each of which is one
    confused_with: Indices  # (C,) the class that its samples were taken for most often, -1 where they were not
