"""A Griffe extension: docstrings of the source as Markdown, for the pages of the API.

The source uses roles of reStructuredText, doctests, and comments behind the fields of data classes. Here the first
become links, the second blocks of code, and the third descriptions.
"""

import re
import tokenize
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`~?\.?([\w.]+)`")
DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)
LIST = re.compile(r"(?<=[^\n])\n(?=- )")  # Markdown wants an empty line before a list
SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(?:\S.* : .*\n(?:    .*\n)*)+", re.MULTILINE)
FORMULA = re.compile(r"(?<!\$)\$([^$`]+)\$(?!\$)")
PAGE = re.compile(r"docs/([\w-]+)\.md")
PUBLIC = "exll."


class PlainDocstrings(griffe.Extension):
    """Rewrites what was read, before anything is made of it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value, obj)
            if isinstance(obj, griffe.Class) and _has_fields(obj):
                obj.docstring.value += _fields(obj)


def as_markdown(text: str, obj: griffe.Object) -> str:
    sections = SECTION.findall(text)  # Griffe wants them last, after all words
    text = SECTION.sub("", text) + "".join(f"\n\n{_described(section)}" for section in sections)
    text = ROLE.sub(lambda role: _link(role[1], obj), text)
    text = re.sub(r"^::$", "", text, flags=re.MULTILINE).replace("::\n", ":\n")
    text = FORMULA.sub(r"\\(\1\\)", text)
    text = PAGE.sub(r"[docs/\1.md](../\1.md)", text)
    text = DOCTEST.sub(lambda block: f"```pycon\n{block[0]}\n```", text)
    return LIST.sub("\n\n", text, count=1) if "\n- " in text else text


def _described(section: str) -> str:
    """Behind the colon of an attribute stands what it is, not its type."""
    return re.sub(r" : (.*)$", r"\n    \1", section, flags=re.M) if section.startswith("Attributes") else section


def _link(name: str, obj: griffe.Object) -> str:
    """To the object where its page has one (``[title][target]`` without a target stays plain code)."""
    target = _found(name, obj)
    shown = name.rsplit(".", 2)[-1] if name.startswith(PUBLIC) and name.count(".") > 1 else name
    return f"[`{shown}`][{target}]" if target else f"`{name}`"


def _found(name: str, obj: griffe.Object) -> str | None:
    import exll
    import exll.baselines

    if name in {f"exll.baselines.{one}" for one in exll.baselines.__all__}:
        return name
    parts = name.removeprefix(PUBLIC).split(".")
    if parts[0] in exll.__all__:
        return PUBLIC + ".".join(parts)
    if obj.parent is not None and obj.parent.is_class and len(parts) == 1 and parts[0] in obj.parent.all_members:
        owner = obj.parent.name
        return f"{PUBLIC}{owner}.{parts[0]}" if owner in exll.__all__ else None
    return None


def _has_fields(obj: griffe.Class) -> bool:
    named_tuple = any(str(base) == "NamedTuple" for base in obj.bases)
    return named_tuple or "dataclass" in obj.labels


def _fields(obj: griffe.Class) -> str:
    """A table of the fields, with what the comment behind each says: ``ref: str  # what explanations call it``."""
    fields = [one for one in obj.attributes.values() if one.annotation and "property" not in one.labels]
    lines = [f"{one.name} : {one.annotation}\n    {_comment(one)}" for one in fields if not one.name.startswith("_")]
    return "\n\nAttributes\n----------\n" + "\n".join(lines) if lines else ""


def _comment(field: griffe.Attribute) -> str:
    tokens = tokenize.generate_tokens(iter([line + "\n" for line in field.lines]).__next__)
    comments = [token.string.removeprefix("#").strip() for token in tokens if token.type == tokenize.COMMENT]
    said = comments[-1] if comments else ""
    return said[:1].upper() + said[1:]
