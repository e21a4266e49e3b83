"""What a page is made of, read as a browser would: for tests that other people's text stays text."""

from html.parser import HTMLParser

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "--></title></svg></style>",
    "$\\nothing{$",
    "very long " * 200,
    "\u202eright\ud800\x00\x1b\n\u2028",
    "\N{FRENCH FRIES}\N{CJK UNIFIED IDEOGRAPH-4E2D}\uffff",
    "",
    "&amp;",
)


class Markup(HTMLParser):
    """Tags and attribute names of a page whose elements are all closed."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(content)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in ("meta", "input", "img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_only_text_differs(hostile: str, tame: str) -> None:
    """Hostile text adds no tag and no attribute, and can be written to a file."""
    hostile.encode("utf-8")
    one, other = Markup(hostile), Markup(tame)
    assert one.tags.count("script") == other.tags.count("script")
    assert set(one.tags) == set(other.tags)
    assert one.attributes == other.attributes
