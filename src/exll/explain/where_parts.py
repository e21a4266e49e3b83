"""The part of an explanation's page that shows where in the image the evidence lies."""

from collections.abc import Iterator, Sequence

from PIL import Image

from exll.explain.evidence_map import EvidenceMap, outlined, overlay
from exll.explain.page import quoted
from exll.explain.thumbnails import data_uri, picture_html, shrunk
from exll.explain.wording import readable
from exll.features.looks import Box

LARGE_SIDE = 480

STYLE = """
.where{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:16px;margin-top:.8rem}
.where img{width:100%}figcaption strong{font-variant-numeric:tabular-nums}
.key{display:inline-block;width:.9em;height:.9em;vertical-align:-.1em;border-radius:3px}
.key.yes{background:#e66101}.key.no{background:#2166ac}
@media (max-width:760px){.where{grid-template-columns:minmax(0,1fr)}}
"""


def where_section(picture: Image.Image | None, boxes: Sequence[Box], maps: Sequence[EvidenceMap]) -> Iterator[str]:
    yield "<h2>Where in the image</h2>"
    if picture is None:
        yield "<p>Not available: no image was asked about.</p>"
        return
    if not maps:
        yield "<p>Not available: the network behind this model gives no map of the places in an image.</p>"
        return
    yield (
        "<p>The same score, taken apart by place. "
        '<span class="key yes"></span> Orange places speak for the class, '
        '<span class="key no"></span> blue ones against it; the stronger the colour, the more. '
        "What belongs to no place is the offset. Map and offset together are the score.</p>"
    )
    small = shrunk(picture, LARGE_SIDE)
    seen, words = outlined(small, boxes), looked_at(len(boxes))
    yield '<div class="where">'
    yield _figure(seen, "The parts of the image that the network saw", words)
    for evidence in maps:
        alt = f"Places that speak for {readable(evidence.label, 80)}"
        caption = f"For {quoted(evidence.label)}"
        if evidence.against is not None:
            alt += f" and against {readable(evidence.against, 80)}"
            caption += f" and against {quoted(evidence.against)}: the difference of the two scores"
        yield _figure(overlay(small, evidence), alt, f"{caption}.<br><strong>{_sum(evidence)}</strong>")
    yield "</div>"


def looked_at(looks: int) -> str:
    """Words for the picture of what the network saw."""
    if looks == 1:
        return "The network looked at the part inside the frame, or at all of it where there is none."
    return "The network looked twice: at the whole image and at the part inside the frame."


def _sum(evidence: EvidenceMap) -> str:
    total = float(evidence.values.sum())
    sign = "+" if evidence.offset >= 0 else "-"
    return f"map {total:.3f} {sign} offset {abs(evidence.offset):.3f} = score {evidence.score:.3f}"


def _figure(picture: Image.Image, alt: str, caption: str) -> str:
    drawn = picture_html(data_uri(picture), alt, *picture.size)
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"
