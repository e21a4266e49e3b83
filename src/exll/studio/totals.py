"""How much a project or a version holds, counted in one way for all pages."""

from dataclasses import dataclass

COUNTED = (
    "count(DISTINCT label) FILTER (WHERE role = 'taught'), count(*) FILTER (WHERE role = 'taught'), "
    "count(*) FILTER (WHERE role = 'held out')"
)


@dataclass(frozen=True)
class Totals:
    """Classes that were taught, photos that were taught, and photos that are held out, which are not among them. A
    class of which all photos are held out is not counted."""

    classes: int
    examples: int
    held_out: int
