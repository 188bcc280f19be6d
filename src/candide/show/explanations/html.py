"""An explanation in a browser: one piece of HTML with its own style, for notebooks, or a page that works offline.

Whatever comes from a user (names of columns and classes, values, words, texts) passes through `safe`, so that it stays
text. There are no scripts, no fonts and no pictures from elsewhere, and a page tells the browser to allow none.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from candide.data.written_numbers import percent
from candide.model.explanation import Explanation
from candide.show.explanations.reasons import evidence_name, made_of, shown_and_rest, sides_told
from candide.show.explanations.terminal import odds, signed_odds
from candide.show.explanations.word_marks import Word, heard, words_that_spoke

SILENT_SHOWN = 30
OTHERS_SHOWN = 5
LETTERS_SHOWN = 20_000
LONGEST_NAME, LONGEST_LISTED, LONGEST_COUNTS = 1000, 100, 400
STRONGEST = 3.0
"""Log odds from which a bar is full, unless there is something stronger."""

KEPT = "\n\r\t\u00ad\u200c\u200d"
"""Letters that cannot be printed and do no harm: ends of lines, and what joins or parts letters."""

STYLE = """
[data-jp-theme-light=false] .candide-why,.vscode-dark .candide-why,[theme=dark] .candide-why{color-scheme:dark}
:is(.candide-why,#outranks-the-host){
--ink:light-dark(#1c2330,#e6eaf2);--soft:light-dark(#566071,#a3aec0);--page:light-dark(#fff,#151a22);
--line:light-dark(#e3e7ee,#2b3442);--pro:light-dark(#1f7a4d,#4cc38a);--con:light-dark(#b3402a,#ff8a70);
--heard-pro:light-dark(#8fdcb4,#17694a);--heard-con:light-dark(#ffb3a3,#8c3323);
color:var(--ink);background:var(--page);font:14px/1.5 system-ui,sans-serif;max-width:52rem;padding:1rem;margin:0 auto;
text-align:left;box-sizing:border-box;
*{all:revert;color:inherit;background:none;box-sizing:border-box}
h2,p,td,th{overflow-wrap:anywhere;text-align:left}
h2{font-size:1.15rem;line-height:1.35;margin:0 0 .5rem}
p{margin:.4rem 0}
.soft{color:var(--soft)}
table{border-collapse:collapse;table-layout:fixed;width:100%;margin:.7rem 0;font-size:inherit}
td,th{padding:.25rem .4rem;vertical-align:top;font-weight:inherit}
tr.from{border-top:1px solid var(--line)}
tr.sum{border-top:2px solid var(--soft);font-weight:600}
tr:has(+.about) td{padding-bottom:0}
tr.about td{padding-top:0;font-size:.86em;line-height:1.4;color:var(--soft)}
.n{text-align:right;white-space:nowrap;width:6.2rem;font-variant-numeric:tabular-nums}
.b{width:34%}
.bar{display:flex;height:1.5em;padding:.2em 0}
.bar i{flex:1 1 0;min-width:0;display:flex;font-style:normal}
.bar i:first-child{justify-content:flex-end;border-right:1px solid var(--soft)}
.bar b{height:100%}
.con b{background:var(--con)}
.pro b{background:var(--pro)}
th .bar{padding:0}
th .bar i:first-child{border:0}
th .bar span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:0 .25em}
th .con{color:var(--con)}
th .pro{color:var(--pro)}
.text{white-space:pre-wrap;border-left:3px solid var(--line);padding:.1rem .8rem;line-height:1.7;text-align:start}
mark{border-radius:.2em;padding:.1em 0}
mark.pro{background:color-mix(in srgb,var(--heard-pro) var(--s),var(--page))}
mark.con{background:color-mix(in srgb,var(--heard-con) var(--s),var(--page))}
@media (max-width:480px){.b{width:38%}.n{width:5rem}td,th{padding-inline:.2rem}}
}
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>:root{{color-scheme:light dark}}body{{margin:0;background:light-dark(#fff,#151a22)}}{style}</style></head>
<body>
{cards}
</body></html>
"""


def explanations_page(explained: Sequence[tuple[str, Explanation]]) -> str:
    """A whole document with a card for each explanation, under its title."""
    title = f"Why {safe(explained[0][1].answer, LONGEST_LISTED)}" if len(explained) == 1 else "Why"
    return PAGE.format(title=title, style=STYLE, cards="\n".join(body(why, title) for title, why in explained))


def card(why: Explanation) -> str:
    """One explanation, style and all."""
    return f"<style>{STYLE}</style>{body(why)}"


def body(why: Explanation, title: str = "") -> str:
    """One explanation, to be styled: the answer, the text it is about, the evidence, and what was silent."""
    parts = [f"<h2>{heading_html(why, title)}</h2>"]
    if len(why.classes) > 1:
        parts += [*other_classes(why), *texts(why), evidence_table(why)]
        parts += [*strange_paragraphs(why), *beyond_paragraphs(why), *silent_paragraphs(why), *flip_paragraph(why)]
    return f'<div class="candide-why">{"".join(parts)}</div>'


def safe(value: object, longest: int = LONGEST_NAME) -> str:
    """A user's string as text that no browser takes for anything else, and not too long.

    >>> safe("<script>"), safe("one\\u202etwo"), safe("a long story", 7)
    ('&lt;script&gt;', 'one\ufffdtwo', 'a long…')
    """
    text = str(value)
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return escape("".join(letter if is_harmless(letter) else "\ufffd" for letter in text))


def is_harmless(letter: str) -> bool:
    """Whether a letter shows as itself, and does not turn or hide its neighbours."""
    return letter.isprintable() or letter in KEPT or unicodedata.category(letter) == "Zs"


def chance(why: Explanation, label: int) -> str:
    """A class and its probability; letters that run from right to left do not reach beyond the name."""
    return f"<bdi>{safe(why.classes[label])}</bdi> ({safe(percent(why.posterior[label]))})"


def heading_html(why: Explanation, title: str) -> str:
    """The answer, and what the next best would have been."""
    opening = f"{safe(title)} " if title else ""
    if len(why.classes) < 2:
        return f"{opening}{safe(why.answer)}: the only class there is"
    first, second = why.ranked[:2]
    return f"{opening}{chance(why, first)} rather than {chance(why, second)}"


def other_classes(why: Explanation) -> Iterator[str]:
    """What else it could have been, if there are more than two classes."""
    rest = why.ranked[2:]
    shown, hidden = rest[:OTHERS_SHOWN], rest[OTHERS_SHOWN:]
    if shown:
        names = [chance(why, label) for label in shown]
        names += [f"{len(hidden):,} more ({safe(percent(why.posterior[list(hidden)].sum()))})"] if hidden else []
        yield f'<p class="soft">Then {", ".join(names)}</p>'


def texts(why: Explanation) -> Iterator[str]:
    """Each text of the row, with the words that spoke marked: for the answer, or against it."""
    for column, text in why.texts.items():
        words = [word for word in words_that_spoke(why, column) if word.end <= LETTERS_SHOWN]
        marked = "".join(marked_pieces(text[:LETTERS_SHOWN], words))
        yield f'<p class="soft">{safe(column)}</p><p class="text" dir="auto">{marked}</p>'
        if len(text) > LETTERS_SHOWN:
            yield f'<p class="soft">and {len(text) - LETTERS_SHOWN:,} more letters</p>'


def marked_pieces(text: str, words: Sequence[Word]) -> Iterator[str]:
    """The text in pieces, each word that spoke in the colour of its side, the stronger the fuller."""
    done = 0
    for word, share in heard(words):
        yield safe(text[done : word.start], LETTERS_SHOWN)
        side, depth = ("pro" if word.lead > 0 else "con"), 15 + 85 * share
        yield (
            f'<mark class="{side}" style="--s:{depth:.0f}%" title="{signed_short(word.lead)}">'
            f"{safe(text[word.start : word.end], LETTERS_SHOWN)}</mark>"
        )
        done = word.end
    yield safe(text[done:], LETTERS_SHOWN)


def evidence_table(why: Explanation) -> str:
    """Prior, calibration and evidence for the answer against the runner-up, the strongest first, and the sum."""
    first, second = why.ranked[:2]
    leads = why.leads(first, second)
    shown = shown_and_rest(why, np.abs(leads))
    largest = max(STRONGEST, float(np.abs(leads[np.isfinite(leads)]).max(initial=0.0)))
    rows = [evidence_row("prior", float(why.reported_prior[first] - why.reported_prior[second]), largest)]
    if why.bias.any():
        rows.append(evidence_row("calibration", float(why.bias[first] - why.bias[second]), largest))
    for index in shown.indices:
        one = why.evidence[index]
        rows += [evidence_row(evidence_name(one), float(leads[index]), largest)]
        rows += about_row(made_of(why, one, (first, second)))
    for name, rest in shown.rest.items():
        rows += [evidence_row(name, float(leads[rest].sum()), largest)]
        rows += about_row(sides_told(why, leads[rest], (first, second)))
    rows.append(total_row(why, first, second))
    return f"<table>{header(why.classes[second], why.classes[first])}{''.join(rows)}</table>"


def header(against: Any, pro: Any) -> str:
    """What the columns are, and which side of the bars speaks for which class."""
    sides = ((side, safe(label, LONGEST_LISTED)) for side, label in (("con", against), ("pro", pro)))
    named = "".join(f'<i class="{side}"><span title="{label}">{label}</span></i>' for side, label in sides)
    return (
        '<tr class="soft"><th scope="col">evidence</th><th scope="col" class="n">log odds</th>'
        f'<th scope="col" class="b"><span class="bar">{named}</span></th></tr>'
    )


def evidence_row(name: str, lead: float, largest: float) -> str:
    """One row of the table: name, log odds, and a bar on either side of the middle."""
    share = 0.0 if math.isnan(lead) else min(abs(lead) / largest, 1.0)
    bar = f'<b style="width:{100 * share:.1f}%"></b>'
    against, pro = (bar, "") if lead < 0 else ("", bar)
    return (
        f'<tr class="from"><td>{safe(name)}</td><td class="n">{signed_short(lead)}</td>'
        f'<td class="b"><span class="bar"><i class="con">{against}</i><i class="pro">{pro}</i></span></td></tr>'
    )


def signed_short(lead: float) -> str:
    """Log odds with their sign.

    >>> signed_short(1.5), signed_short(-1e280)
    ('+1.500', '-1.0e+280')
    """
    return signed_odds(lead).strip()


def about_row(told: str) -> list[str]:
    """What a row is made of, under it."""
    return [f'<tr class="about"><td colspan="3">{safe(told, LONGEST_COUNTS)}</td></tr>'] if told else []


def total_row(why: Explanation, first: int, second: int) -> str:
    """The sum of all rows, as odds too."""
    lead = why.lead(first, second)
    return (
        f'<tr class="sum"><td>sum</td><td class="n">{signed_short(lead)}</td><td class="b">{safe(odds(lead))}</td></tr>'
    )


def silent_paragraphs(why: Explanation) -> Iterator[str]:
    """What said nothing, by reason."""
    for reason, names in why.silent_by_reason.items():
        if names:
            yield f'<p class="soft">{reason.capitalize()}: {listed_html(names)}</p>'


def strange_paragraphs(why: Explanation) -> Iterator[str]:
    """What makes the row unfamiliar."""
    for one in why.strange:
        yield f'<p class="soft"><bdi>{safe(one.text)}</bdi></p>'


def beyond_paragraphs(why: Explanation) -> Iterator[str]:
    """Numbers that are like none that was learned."""
    for one in why.beyond[:SILENT_SHOWN]:
        yield f'<p class="soft"><bdi>{safe(one.text)}</bdi></p>'


def flip_paragraph(why: Explanation) -> Iterator[str]:
    """What would have to be gone for another answer."""
    if why.flip is not None:
        answer = safe(why.flip.answer, LONGEST_LISTED)
        yield f'<p class="soft">Without {listed_html(why.flip.features)} it would be <bdi>{answer}</bdi></p>'


def listed_html(names: Sequence[str]) -> str:
    """Names in a sentence, the first of them if there are many."""
    shown = ", ".join(f"<bdi>{safe(name, LONGEST_LISTED)}</bdi>" for name in names[:SILENT_SHOWN])
    return shown + (f" and {len(names) - SILENT_SHOWN:,} more" if len(names) > SILENT_SHOWN else "")
