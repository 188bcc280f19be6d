"""An explanation in a browser: one piece of HTML with its own style, for notebooks, or a page that works offline.

Whatever comes from a user (names of columns and classes, values, words, texts) passes through `safe`, so that it stays
text. There are no scripts, no fonts and no pictures from elsewhere.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from candide.explanation import Evidence, Explanation
from candide.rendering.terminal import named, odds, percent

TERMS_SHOWN = 40
SILENT_SHOWN = 40
LETTERS_SHOWN = 20_000
STRONGEST = 3.0
"""Log odds from which a bar is full and a word fully coloured, unless there is something stronger."""

STYLE = """
.candide-why{--ink:#1c2330;--soft:#5b6575;--page:#fff;--line:#e3e7ee;--pro:#1f7a4d;--con:#b3402a;color-scheme:light
dark;color:var(--ink);background:var(--page);font:14px/1.5 system-ui,sans-serif;max-width:52rem;
padding:1rem;margin:0 auto}
@media (prefers-color-scheme:dark){.candide-why{--ink:#e6eaf2;--soft:#9aa5b8;--page:#151a22;--line:#2b3442;
--pro:#4cc38a;--con:#ff8a70}}
.candide-why *{color:inherit;background:none;box-sizing:border-box}
.candide-why h2{font-size:1.1rem;margin:0 0 .6rem;overflow-wrap:anywhere}
.candide-why table{border-collapse:collapse;width:100%;table-layout:fixed}
.candide-why td{padding:.25rem .4rem;border-top:1px solid var(--line);vertical-align:top;text-align:left;
overflow-wrap:anywhere}
.candide-why td.n{text-align:right;width:5.5rem;font-variant-numeric:tabular-nums}
.candide-why td.b{width:34%}
.candide-why small,.candide-why p{color:var(--soft);margin:.5rem 0 0;overflow-wrap:anywhere}
.candide-why small{display:block;margin:0}
.candide-why .bar{display:flex;height:1.1em;margin-top:.2em}
.candide-why .bar i{flex:1;display:flex}
.candide-why .bar i:first-child{justify-content:flex-end;border-right:1px solid var(--soft)}
.candide-why .con b{background:var(--con);height:100%}
.candide-why .pro b{background:var(--pro);height:100%}
.candide-why .text{white-space:pre-wrap;color:var(--ink);border-left:3px solid var(--line);padding-left:.8rem}
.candide-why mark.pro{background:color-mix(in srgb,var(--pro) var(--s),transparent)}
.candide-why mark.con{background:color-mix(in srgb,var(--con) var(--s),transparent)}
@media (max-width:480px){.candide-why td.b{width:26%}.candide-why td.n{width:4.5rem}}
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Why</title>
<style>body{{margin:0;background:#fff}}@media (prefers-color-scheme:dark){{body{{background:#151a22}}}}</style></head>
<body>
{cards}
</body></html>
"""
WORD = re.compile(r"\w+")


def page(explained: Sequence[tuple[str, Explanation]]) -> str:
    """A whole document with a card for each explanation, under its title."""
    return PAGE.format(cards="\n".join(card(why, title) for title, why in explained))


def card(why: Explanation, title: str = "") -> str:
    """One explanation, style and all."""
    parts = [f"<style>{STYLE}</style>", f"<h2>{heading(why, title)}</h2>"]
    if len(why.classes) > 1:
        parts += [table(why), *texts(why), *silences(why), *flipping(why)]
    return f'<div class="candide-why">{"".join(parts)}</div>'


def safe(value: object) -> str:
    """A user's string as text that no browser takes for anything else.

    >>> safe("<script>")
    '&lt;script&gt;'
    """
    return escape("".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in str(value)))


def heading(why: Explanation, title: str) -> str:
    """The answer, and what the next best would have been."""
    opening = f"{safe(title)} " if title else ""
    if len(why.classes) < 2:
        return f"{opening}{safe(why.answer)}: the only class there is"
    first, second = why.ranked[:2]
    return (
        f"{opening}{safe(why.answer)} ({safe(percent(why.posterior[first]))}) rather than "
        f"{safe(why.classes[second])} ({safe(percent(why.posterior[second]))})"
    )


def table(why: Explanation) -> str:
    """Prior, calibration and evidence for the answer against the runner-up, the strongest first, and the sum."""
    first, second = why.ranked[:2]
    leads = why.leads(first, second)
    order = np.argsort(-np.abs(leads), kind="stable").tolist()
    finite = np.abs(leads[np.isfinite(leads)])
    largest = max(STRONGEST, float(finite.max(initial=0.0)))
    rows = [line("prior", "", float(why.reported_prior[first] - why.reported_prior[second]), largest)]
    if why.bias.any():
        rows.append(line("calibration", "", float(why.bias[first] - why.bias[second]), largest))
    for place in order[:TERMS_SHOWN]:
        one = why.evidence[place]
        rows.append(line(named(one), counts(why, one, (first, second)), float(leads[place]), largest))
    if len(order) > TERMS_SHOWN:
        rest = order[TERMS_SHOWN:]
        rows.append(line(f"{len(rest)} more", "", float(leads[rest].sum()), largest))
    return f"<table>{''.join(rows)}{total(why, first, second)}</table>"


def counts(why: Explanation, one: Evidence, labels: Sequence[int]) -> str:
    """What the evidence was made of."""
    behind = one.terms[0].behind
    return "" if behind is None else behind.text(why.classes, labels)


def line(name: str, about: str, lead: float, largest: float) -> str:
    """One row of the table: name, log odds, and a bar on either side of the middle."""
    share = 0.0 if math.isnan(lead) else min(abs(lead) / largest, 1.0)
    bar = f'<b style="width:{100 * share:.1f}%"></b>'
    against, pro = (bar, "") if lead < 0 else ("", bar)
    small = f"<small>{safe(about)}</small>" if about else ""
    return (
        f'<tr><td>{safe(name)}{small}</td><td class="n">{lead:+.3f}</td>'
        f'<td class="b"><span class="bar"><i class="con">{against}</i><i class="pro">{pro}</i></span></td></tr>'
    )


def total(why: Explanation, first: int, second: int) -> str:
    """The sum of all rows, as odds too."""
    with np.errstate(invalid="ignore"):
        lead = float(why.reported[first] - why.reported[second])
    lead = 0.0 if math.isnan(lead) else lead
    return f'<tr><td>sum</td><td class="n">{lead:+.3f}</td><td class="b">{safe(odds(lead))}</td></tr>'


def texts(why: Explanation) -> Iterator[str]:
    """Each text of the row, with the words that spoke marked: for the answer, or against it."""
    for column, text in why.texts.items():
        first, second = why.ranked[:2]
        said = word_leads(why, column, first, second)
        yield f'<p>{safe(column)}</p><p class="text">{"".join(marked(text[:LETTERS_SHOWN], said))}</p>'
        if len(text) > LETTERS_SHOWN:
            yield f"<p>and {len(text) - LETTERS_SHOWN:,} more letters</p>"


def word_leads(why: Explanation, column: str, first: int, second: int) -> dict[str, float]:
    """The log odds of each word of a column; a run of several words gives each of them its share."""
    found: dict[str, float] = {}
    for one, lead in zip(why.evidence, why.leads(first, second).tolist(), strict=True):
        term = one.terms[0]
        words = term.word.split(" ") if term.word and term.column == column else []
        for word in words:
            found[word] = found.get(word, 0.0) + lead / len(words)
    return found


def marked(text: str, said: dict[str, float]) -> Iterator[str]:
    """The text in pieces, each word that spoke in the colour of its side, the stronger the fuller."""
    done = 0
    largest = max([STRONGEST, *(abs(lead) for lead in said.values() if math.isfinite(lead))])
    for match in WORD.finditer(text):
        lead = lead_of(match.group(), said)
        if lead:
            yield safe(text[done : match.start()])
            depth = 10 + 60 * min(abs(lead) / largest, 1.0)
            side = "pro" if lead > 0 else "con"
            yield (f'<mark class="{side}" style="--s:{depth:.0f}%" title="{lead:+.3f}">{safe(match.group())}</mark>')
            done = match.end()
    yield safe(text[done:])


def lead_of(word: str, said: dict[str, float]) -> float:
    """What a word as written said: as it is, without capitals, or without accents too."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    for form in (word, word.casefold(), word.lower(), bare):
        if form in said and not math.isnan(said[form]):
            return said[form]
    return 0.0


def silences(why: Explanation) -> Iterator[str]:
    """What said nothing, by reason."""
    told = {
        "Missing": list(why.missing),
        "Never seen": [" ".join(pair) for pair in why.unseen],
        "Not used": [" ".join(pair).strip() for pair in why.ignored],
    }
    for reason, names in told.items():
        if names:
            more = f" and {len(names) - SILENT_SHOWN:,} more" if len(names) > SILENT_SHOWN else ""
            yield f"<p>{reason}: {safe(', '.join(names[:SILENT_SHOWN]))}{more}</p>"


def flipping(why: Explanation) -> Iterator[str]:
    """What would have to be gone for another answer."""
    if why.flip is not None:
        yield f"<p>Without {safe(', '.join(why.flip.features))} it would be {safe(why.flip.answer)}</p>"
