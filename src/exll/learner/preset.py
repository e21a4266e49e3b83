"""The presets by name. A preset is a learner: how it steps, and what it answers.

An installed package adds one by an entry point of the group ``exll.presets`` that names a subclass of
:class:`exll.learner.exll.ExLL`. Packages are searched only for a name that is not one of ours.
"""

from inspect import isabstract
from typing import TYPE_CHECKING

from exll.errors import InputError
from exll.learner.exll import ExLL, Parameters
from exll.learner.glocal.learner import GlocalLearner
from exll.learner.paper.learner import PaperLearner

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

PRESETS: dict[str, type[ExLL]] = {"glocal": GlocalLearner, "paper": PaperLearner}
DEFAULT_PRESET = "glocal"
GROUP = "exll.presets"
_found: dict[str, type[ExLL]] = {}  # in packages, by name


def find_preset(name: str) -> type[ExLL] | None:
    """None where there is no preset of that name; InputError where a package has one that cannot be used."""
    if name in PRESETS:
        return PRESETS[name]
    if name not in _found:
        entries = _entry_points().select(name=name)
        if not entries:
            return None
        _found[name] = _loaded(next(iter(entries)))
    return _found[name]


def preset_names() -> list[str]:
    """Ours first, then those of packages."""
    return [*PRESETS, *sorted(_entry_points().names - PRESETS.keys())]


def preset_description(name: str) -> str:
    """One sentence for those who choose; empty where there is none, also for a preset that cannot be used."""
    try:
        preset = find_preset(name)
    except InputError:
        return ""
    return "" if preset is None else preset.description


def new_learner(width: int, parameters: Parameters) -> ExLL:
    preset = find_preset(parameters.preset)
    if preset is None:
        raise InputError(f"there is no preset {parameters.preset!r}.")
    return preset(width, parameters)


def _entry_points() -> "EntryPoints":
    from importlib.metadata import entry_points  # takes time, which only those who need it should spend

    return entry_points(group=GROUP)


def _loaded(entry: "EntryPoint") -> type[ExLL]:
    package = "a package" if entry.dist is None else f"the package {entry.dist.name!r}"
    where = f"the preset {entry.name!r} of {package} cannot be used"
    try:
        preset = entry.load()
    except Exception as error:  # whatever somebody else's module does when it is imported
        reason = " ".join(str(error).split())
        raise InputError(f"{where}: {entry.value} gives {type(error).__name__} ({reason}).") from error
    if not (isinstance(preset, type) and issubclass(preset, ExLL)):
        raise InputError(f"{where}: {entry.value} is not a subclass of exll.learner.exll.ExLL.")
    if isabstract(preset):
        raise InputError(f"{where}: {entry.value} lacks {', '.join(sorted(preset.__abstractmethods__))}.")
    return preset
