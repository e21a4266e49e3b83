"""One answer and its reasons as a page, for a reader who knows no machine learning.

The page shows the numbers of an ``Explanation`` and computes none of its own.
"""

import math
from collections.abc import Iterator

from exll.explain.case import Case
from exll.explain.explanation import Evidence, Explanation
from exll.explain.page import READING, html_page, quoted, shown, table
from exll.explain.score_parts import STYLE as SCORE_STYLE
from exll.explain.score_parts import all_parts, score_section
from exll.explain.thumbnails import Thumbnails, data_uri, picture_html, shrunk, strip
from exll.explain.where_parts import LARGE_SIDE, where_section
from exll.explain.where_parts import STYLE as WHERE_STYLE
from exll.explain.wording import counted, file_name, percent

LONGEST_REASON = 1000
PICTURES = 6
COUNTS_SHOWN = 8
UNHEARD = 0.0005  # a score that is shown as nothing
SURENESS = ((0.99, "nearly certain"), (0.9, "sure"), (0.7, "fairly sure"), (0.5, "not very sure"), (0.0, "unsure"))

STYLE = """
.answer{display:grid;grid-template-columns:minmax(0,320px) minmax(0,1fr);gap:24px;align-items:start}
.answer img{width:100%;border:1px solid var(--line)}.answer p{font-size:1.0625rem}
.cards{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:16px;margin-top:.8rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px}
.card .pictures li{width:calc((100% - 12px)/3)}.card img{width:100%;aspect-ratio:1;object-fit:cover}
.card .missing{width:100%;padding:6px}
dl{margin:.6rem 0 0}dt{font-weight:600}dd{margin:0 0 .5rem;font-size:.875rem;color:var(--faint)}
table{border-collapse:collapse;margin:.6rem 0;max-width:100%}
th,td{text-align:left;font-weight:400;padding:4px 14px 4px 0;border-bottom:1px solid var(--line);vertical-align:top}
thead th{font-size:.875rem;color:var(--faint)}td{font-variant-numeric:tabular-nums}
@media (max-width:760px){.answer,.cards{grid-template-columns:minmax(0,1fr)}th,td{padding-right:8px}}
@media print{.card{break-inside:avoid}.cards{grid-template-columns:repeat(3,minmax(0,1fr))}}
"""


def page(case: Case, thumbnails: Thumbnails) -> str:
    """The whole file as text; the same for the same case and files."""
    explanation = case.explanation
    body = [
        "<main>",
        *_answer(case),
        *_resembles(explanation, thumbnails),
        *_voices(explanation),
        *score_section(explanation, case.without),
        *where_section(case.picture, case.boxes, case.maps),
        *_technical(case),
        "</main>",
    ]
    answer = "unknown" if explanation.known is False else f"“{shown(explanation.label)}”"
    title = f"{shown(file_name(case.name))}: why {answer}"
    return html_page(title, body, READING + STYLE + SCORE_STYLE + WHERE_STYLE)


def _answer(case: Case) -> Iterator[str]:
    explanation, name = case.explanation, shown(file_name(case.name))
    yield f'<div class="answer"><figure>{_large(case)}<figcaption><bdi>{name}</bdi></figcaption></figure><div>'
    stranger = explanation.known is False
    if stranger:
        yield "<h1>The model calls this unknown</h1>"
        yield (
            f"<p><strong>Little that it was taught looks like this.</strong> The nearest is "
            f"{quoted(explanation.label)}: what follows is why it would take it for that, if it had to choose.</p>"
        )
    else:
        yield f"<h1>The model takes this for {quoted(explanation.label)}</h1>"
    words = next(words for least, words in SURENESS if explanation.probability >= least)
    it_is = "Among what it knows, it would be" if stranger else "It is"
    yield (
        f"<p>{it_is} <strong>{words}: {percent(explanation.probability)}</strong> by its own reckoning"
        f"{_grounds(explanation)}.</p>"
    )
    if explanation.runner_up is None:
        yield "<p>It has learned no other class yet, so there is nothing else that it could have said.</p>"
    else:
        yield f"<p>Its second choice would be {quoted(explanation.runner_up)}.</p>"
    alike = counted(explanation.hit.support, "example")
    yield f"<p>Of all {quoted(explanation.label)} it was taught, it looks most like a group of {alike}.</p></div></div>"


def _grounds(explanation: Explanation) -> str:
    """100% of two cases is not much: where the probability is a share of earlier cases, their number is said."""
    cases = sum(explanation.pair_counts.values())
    if not cases or not math.isclose(explanation.probability, explanation.pair_counts[explanation.label] / cases):
        return ""
    return f", which rests on {counted(cases, 'earlier case')}"


def _large(case: Case) -> str:
    if case.picture is None:
        return '<span class="missing">no image kept</span>'
    picture = shrunk(case.picture, LARGE_SIDE)
    return picture_html(data_uri(picture), f"The image asked about: {file_name(case.name)}", *picture.size)


def _resembles(explanation: Explanation, thumbnails: Thumbnails) -> Iterator[str]:
    label = quoted(explanation.label)
    yield "<h2>What it resembles</h2>"
    yield (
        "<p>The model sorts the examples of a class into groups that look alike, called prototypes. "
        "These are the nearest groups of its class and the nearest of its second choice; the pictures are examples "
        "it was taught.</p>"
    )
    yield '<div class="cards">'
    yield from _card("Hit", f"The group of {label} that it resembles most.", explanation.hit, thumbnails)
    if explanation.near_hit is None:
        yield _empty_card("Near hit", f"{label} has one group only, so there is no second one.")
    else:
        meaning = f"The next group of {label}."
        if explanation.near_hit.distance < explanation.hit.distance:
            meaning += " By distance alone it lies even nearer than the hit, which speaks more strongly for the class."
        yield from _card("Near hit", meaning, explanation.near_hit, thumbnails)
    if explanation.near_miss is None:
        yield _empty_card("Near miss", "No other class was learned, so there is none that it nearly was.")
    else:
        meaning = f"What it nearly was: the nearest group of {quoted(explanation.near_miss.label)}."
        if explanation.near_miss.distance < explanation.hit.distance:
            meaning += " It lies even nearer than the hit; why that did not decide is told below."
        yield from _card("Near miss", meaning, explanation.near_miss, thumbnails)
    yield "</div>"


def _empty_card(title: str, meaning: str) -> str:
    return f'<section class="card"><h3>{title}</h3><p>{meaning}</p></section>'


def _card(title: str, meaning: str, evidence: Evidence, thumbnails: Thumbnails) -> Iterator[str]:
    yield f'<section class="card"><h3>{title}: {quoted(evidence.label)}</h3><p>{meaning}</p>'
    pictured = evidence.examples[:PICTURES]
    if pictured:
        yield strip(thumbnails.of(example.name) for example in pictured)
        yield f"<p>{_which(evidence, len(pictured))}</p>"
    else:
        yield '<p><span class="missing">no image kept: this model remembers no examples</span></p>'
    yield f"<dl><dt>{counted(evidence.support, 'example')}</dt><dd>So many made this group (its support).</dd>"
    yield f"<dt>{percent(evidence.share)} of its class</dt>"
    yield f"<dd>The part of all examples of {quoted(evidence.label)}.</dd>"
    yield f"<dt>Distance {evidence.distance:.2f}</dt>"
    yield "<dd>To the middle of the group; the smaller, the more alike.</dd>"
    yield (
        f"<dt>Membership {percent(evidence.membership)}</dt>"
        "<dd>Its part when the resemblance is shared out among all groups of all classes.</dd></dl></section>"
    )


def _which(evidence: Evidence, pictured: int) -> str:
    order = "Oldest first" if evidence.examples[0].similarity is None else "Closest first"
    more = evidence.support - pictured
    return f"{order}, and {more:,} more." if more else f"{order}."


def _voices(explanation: Explanation) -> Iterator[str]:
    summed = explanation.local_score is not None
    yield "<h2>Two voices, and how they became one</h2>"
    became = explanation.combination.rule
    if summed and max(abs(explanation.local_score or 0), abs(explanation.local_score_against or 0)) < UNHEARD:
        became = f"{became} {explanation.combination.unheard}".strip()
    yield (
        "<p>Local inference asks for the single group that is nearest, global inference for the class that is nearest "
        f"as a whole. {became}</p>"
    )
    yield _sum_of_voices(explanation) if summed else _said(explanation)
    yield f"<p>{shown(explanation.reason, LONGEST_REASON)}</p>"
    counts = list(explanation.pair_counts.items())
    if counts:
        total = sum(explanation.pair_counts.values())
        lines = [(quoted(label), f"{count:,}", f"{percent(count / total)}") for label, count in counts[:COUNTS_SHOWN]]
        yield table(("The truth was", "times", "share"), lines)
        if len(counts) > COUNTS_SHOWN:
            yield f"<p>and {len(counts) - COUNTS_SHOWN:,} other classes, less often.</p>"
    yield (
        f"<p>When global inference shares out its belief among all classes, {quoted(explanation.label)} gets "
        f"{percent(explanation.megacloud_membership)}.</p>"
    )


def _said(explanation: Explanation) -> str:
    rows = (
        ("Local inference", quoted(explanation.local_label)),
        ("Global inference", quoted(explanation.global_label)),
        ("Together", quoted(explanation.label)),
    )
    return table(("Voice", "says"), rows)


def _sum_of_voices(explanation: Explanation) -> str:
    """The scores of the answer and of the second choice, voice by voice; the last line is the sum."""
    scores = [(explanation.local_score or 0.0, explanation.global_score)]
    head = ["Voice", "says", f"score of {quoted(explanation.label)}"]
    if explanation.local_score_against is not None:
        scores.append((explanation.local_score_against, sum(part.value for part in explanation.against)))
        head.append(f"score of {quoted(explanation.runner_up)}")
    said = (explanation.local_label, explanation.global_label, explanation.label)
    lines = [*zip(*scores, strict=True), tuple(map(sum, scores))]
    names = ("Local inference", "Global inference", "Together: the sum")
    rows = [
        (name, quoted(label), *(f"{score:.3f}" for score in line))
        for name, label, line in zip(names, said, lines, strict=True)
    ]
    return table(head, rows)


def _technical(case: Case) -> Iterator[str]:
    explanation = case.explanation
    yield "<h2>Technical details</h2>"
    evidence = (("hit", explanation.hit), ("near hit", explanation.near_hit), ("near miss", explanation.near_miss))
    rows = [
        (
            f"{name}: {shown(file_name(example.name))}",
            f"{part.prototype}",
            f"{example.position + 1:,}",
            "not kept" if example.similarity is None else f"{example.similarity:.4f}",
        )
        for name, part in evidence
        if part is not None
        for example in part.examples
    ]
    if rows:
        head = ("Example", "prototype", "place in the stream", "cosine to the image")
        yield f"<details><summary>The examples behind the answer</summary>{table(head, rows)}</details>"
    yield from all_parts(explanation)
    if case.metadata:
        facts = [(shown(name), shown(fact)) for name, fact in case.metadata.items()]
        yield f"<details><summary>The model</summary>{table(('Fact', ''), facts)}</details>"
