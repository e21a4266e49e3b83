"""Names of classes as people type them."""

import unicodedata

from exll.studio.errors import UnusableError

LONGEST = 100


def clean_label(text: str) -> str:
    """One line in one spelling, so that what looks the same is the same class.

    >>> clean_label("  coffee   mug ")
    'coffee mug'
    """
    label = " ".join(unicodedata.normalize("NFC", text).split())
    if not label:
        raise UnusableError("a class needs a name.", "Type a name, such as mug.")
    if len(label) > LONGEST:
        raise UnusableError(f"the name of a class has at most {LONGEST} characters; got {len(label)}.")
    odd = next((c for c in label if unicodedata.category(c) in ("Cc", "Cs", "Cf", "Co", "Cn")), None)
    if odd is not None and odd != "\N{ZERO WIDTH JOINER}":
        raise UnusableError(f"the name of a class must be plain text; got the character U+{ord(odd):04X} in it.")
    return label
