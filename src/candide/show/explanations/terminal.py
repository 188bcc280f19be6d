"""An explanation on a terminal: one line a feature, bars for and against, never wider than 80 columns."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size

from candide.data.visible import visible
from candide.data.written_numbers import percent
from candide.model.explanation import Explanation
from candide.show.explanations.reasons import evidence_name, made_of, shown_and_rest, sides_told
from candide.show.explanations.word_marks import Word, heard, words_that_spoke

WIDTH = 80
NAME = 36
BAR = 12
COUNTS_SHOWN = 5
SILENT_SHOWN = 12
LETTERS_SHOWN = 2000

GREEN, RED, FAINT, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[0m"


def lines(why: Explanation, what: str = "", label: str = "", colour: bool = False) -> list[str]:
    """The answer against the runner-up, the strongest evidence first, adding up; then what was silent."""
    head = headline(why, what, label)
    if len(why.classes) < 2:
        return wrapped(head)
    first, second = why.ranked[:2]
    leads = why.leads(first, second)
    shown = shown_and_rest(why, np.abs(leads))
    said = [*wrapped(head), row("(prior)", float(why.reported_prior[first] - why.reported_prior[second]), colour)]
    if why.bias.any():
        said.append(row("(calibration)", float(why.bias[first] - why.bias[second]), colour))
    for rank, index in enumerate(shown.indices):
        one = why.evidence[index]
        said.append(row(evidence_name(one), float(leads[index]), colour))
        if rank < COUNTS_SHOWN:
            said += about_lines(made_of(why, one, (first, second)), colour)
    for name, rest in shown.rest.items():
        said.append(row(f"({name})", float(leads[rest].sum()), colour))
        said += about_lines(sides_told(why, leads[rest], (first, second)), colour)
    said += [total_line(why, first, second), *strange_lines(why), *beyond_lines(why)]
    said += [*silent_lines(why), *flip_lines(why)]
    return [*said, *coloured_texts(why)] if colour else said


def headline(why: Explanation, what: str, label: str) -> str:
    """What the answer is, and what the next best would have been."""
    subject = ": ".join(filter(None, [what, f"{printable(label, 40)} is " if label else ""])).rstrip()
    opening = f"{subject} {printable(why.answer)}".strip()
    if len(why.classes) < 2:
        return f"{opening}: the only class there is"
    first, second = why.ranked[:2]
    return (
        f"{opening} ({percent(why.posterior[first])}) rather than {printable(why.classes[second])} "
        f"({percent(why.posterior[second])})"
    )


def row(name: str, lead: float, colour: bool = False) -> str:
    """One line: a name, log odds, and a bar on either side of the middle."""
    against, pro = bars(lead)
    if colour:
        against, pro = f"{RED}{against}{PLAIN}", f"{GREEN}{pro}{PLAIN}"
    return f"  {in_width(name, NAME)}  {signed_odds(lead)}  {against}|{pro}".rstrip()


def bars(lead: float) -> tuple[str, str]:
    """Bars against and for: a mark for each half unit of log odds.

    >>> bars(1.5), bars(-0.6)
    (('            ', '+++'), ('           -', ''))
    """
    marks = BAR if math.isinf(lead) else 0 if math.isnan(lead) else min(round(2 * abs(lead)), BAR)
    return ("-" * marks if lead < 0 else "").rjust(BAR), "+" * marks if lead > 0 else ""


def total_line(why: Explanation, first: int, second: int) -> str:
    """The sum of all lines, as odds too."""
    lead = why.lead(first, second)
    return f"  {in_width('(sum)', NAME)}  {signed_odds(lead)}  log odds: {odds(lead)}"


def signed_odds(lead: float) -> str:
    """Log odds in nine columns, however large.

    >>> signed_odds(1.5), signed_odds(-1e280), signed_odds(-1e-9)
    ('   +1.500', '-1.0e+280', '   +0.000')
    """
    rounded = round(lead, 3) + 0.0
    return f"{rounded:+9.3f}" if abs(lead) < 1e4 or math.isinf(lead) else f"{lead:+.1e}".rjust(9)


def odds(log_odds: float) -> str:
    """Log odds as odds.

    >>> odds(0.0), odds(2.302585), odds(50)
    ('1.0 : 1', '10.0 : 1', 'over a million : 1')
    """
    if log_odds > math.log(1e6):
        return "over a million : 1"
    ratio = math.exp(log_odds)
    return f"{ratio:,.1f} : 1" if ratio < 100 else f"{ratio:,.0f} : 1"


def about_lines(told: str, colour: bool) -> list[str]:
    """What a line is made of, under it."""
    said = wrapped(printable(told, 400), "      ")
    return [f"{FAINT}{line}{PLAIN}" if colour else line for line in said if line.strip()]


def silent_lines(why: Explanation) -> list[str]:
    """What said nothing, by reason."""
    found = []
    for reason, names in why.silent_by_reason.items():
        if names:
            more = f" and {len(names) - SILENT_SHOWN:,} more" if len(names) > SILENT_SHOWN else ""
            listed = ", ".join(printable(name, 40) for name in names[:SILENT_SHOWN])
            found += wrapped(f"{reason}: {listed}{more}", "  ")
    return found


def strange_lines(why: Explanation) -> list[str]:
    """What makes the row unfamiliar."""
    return [line for one in why.strange for line in wrapped(printable(one.text), "  ")]


def beyond_lines(why: Explanation) -> list[str]:
    """Numbers that are like none that was learned."""
    return [line for one in why.beyond[:SILENT_SHOWN] for line in wrapped(printable(one.text), "  ")]


def flip_lines(why: Explanation) -> list[str]:
    """What would have to be gone for another answer."""
    if why.flip is None:
        return []
    names = [printable(name, 40) for name in why.flip.features]
    listed = ", ".join(names[:SILENT_SHOWN]) + (f" and {len(names) - SILENT_SHOWN} more" * (len(names) > SILENT_SHOWN))
    return wrapped(f"without {listed} it would be {printable(why.flip.answer, 40)}", "  ")


def coloured_texts(why: Explanation) -> list[str]:
    """Each text of the row, with the words that spoke in the colour of their side."""
    found: list[str] = []
    for column, text in why.texts.items():
        start = text[:LETTERS_SHOWN]
        found += ["", *painted(start, [word for word, _ in heard(words_that_spoke(why, column))])]
        found += [f"  {FAINT}and {len(text) - len(start):,} more letters{PLAIN}"] if len(text) > len(start) else []
    return found


def painted(text: str, words: Sequence[Word]) -> list[str]:
    """The text in lines that fit; colours take no room on the screen."""
    found, room = [""], 0
    for token in re.finditer(r"\S+", text):
        plain = printable(token.group(), WIDTH - 2)
        inside = [word for word in words if token.start() <= word.start < token.end()]
        if cell_len(plain) + 1 > room:
            found, room = [*found, " "], WIDTH - 1
        found[-1] += f" {in_colours(token, inside) if inside and plain == token.group() else plain}"
        room -= cell_len(plain) + 1
    return found[1:]


def in_colours(token: re.Match[str], words: Sequence[Word]) -> str:
    """A piece of text, its words in the colours of what they said."""
    done, said = token.start(), ""
    for word in words:
        side = GREEN if word.lead > 0 else RED
        said += f"{token.string[done : word.start]}{side}{token.string[word.start : word.end]}{PLAIN}"
        done = word.end
    return said + token.string[done : token.end()]


def printable(value: object, longest: int = 200) -> str:
    """A user's string as it may be printed: every character visible, and not too many.

    >>> print(printable("red\\x1b[31m\\n"))
    red\\x1b[31m\\n
    """
    clean = visible(str(value)[: 4 * longest])
    return clean if cell_len(clean) <= longest else set_cell_size(clean, longest - 1).rstrip() + "…"


def in_width(name: str, width: int) -> str:
    """A name in exactly so many columns of the screen."""
    return set_cell_size(printable(name, width), width)


def wrapped(text: str, indent: str = "") -> list[str]:
    """Text in lines that fit, measured as the screen measures them; what is too long for a line is cut.

    >>> wrapped("a word and 漢字" + 9 * " and so on")
    ['a word and 漢字 and so on and so on and so on and so on and so on and so on and', 'so on and so on and so on']
    """
    room = WIDTH - len(indent)
    found = [""]
    for word in text.split():
        for piece in chop_cells(word, room):
            if found[-1] and cell_len(found[-1]) + 1 + cell_len(piece) > room:
                found.append(piece)
            else:
                found[-1] = f"{found[-1]} {piece}".strip()
    return [indent + line for line in found]
