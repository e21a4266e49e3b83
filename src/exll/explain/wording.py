"""Other people's text and our numbers as short words: what every picture and page of a model needs."""

import unicodedata
from typing import Any

# What would turn the direction of the text after it.
EMBEDDINGS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))
LONGEST_FILE_NAME = 80


def readable(text: Any, most: int) -> str:
    """A label or name as one line that cannot break a drawing: no control, no lone surrogate, not too long."""
    kept = []
    for character in str(text):
        category = unicodedata.category(character)
        if category in ("Cs", "Co", "Cn"):
            kept.append("\N{REPLACEMENT CHARACTER}")
        elif unicodedata.bidirectional(character) not in EMBEDDINGS:
            kept.append(" " if category in ("Cc", "Zl", "Zp") else character)
    line = " ".join("".join(kept).split()) or "(no name)"
    return line if len(line) <= most else line[: most - 1] + "…"


def file_name(ref: str) -> str:
    """The last part of a path: whole paths are too long to read."""
    return readable(ref.replace("\\", "/").rstrip("/").rpartition("/")[2], LONGEST_FILE_NAME)


def percent(share: float) -> str:
    """A share with one digit: "0%" is none and "100%" all, and nothing else is rounded to them.

    >>> percent(0.837), percent(0.00002), percent(0.99999), percent(1.0)
    ('83.7%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if 0 < share < 0.0005:
        return "under 0.1%"
    return "over 99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def confidence(probability: float) -> str:
    """A probability in percent. It is never 100%, also where its number was rounded to 1.

    >>> confidence(0.926), confidence(1.0)
    ('92.6%', 'over 99.9%')
    """
    return percent(min(probability, 0.9999))


def in_brackets(probability: float, runner_up: Any) -> str:
    """The words in brackets after an answer; ``runner_up`` is None while there is no other class.

    >>> in_brackets(0.926, "apple"), in_brackets(1.0, None)
    ('(92.6%, else apple)', '(the only class it knows)')
    """
    return "(the only class it knows)" if runner_up is None else f"({confidence(probability)}, else {runner_up})"


def counted(count: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{count:,} {noun if count == 1 else plural}"
