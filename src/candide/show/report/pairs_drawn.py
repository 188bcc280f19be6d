"""Pairs of columns in a report: maps of the loudest, the others in words."""

from __future__ import annotations

from candide.data.errors import OptionRefused
from candide.families.pairs.pair_look import PairLook
from candide.show.pictures.lettering import lettered
from candide.show.pictures.pair_map import pair_map
from candide.show.report.findings import Findings
from candide.show.report.parts import details, html_table, paragraph, picture

PAIRS_DRAWN = 6


def pairs_drawn(findings: Findings) -> str:
    """What columns say together, where they do."""
    looks = [look for look in findings.subject.pairs if look.ranked]
    if not looks:
        return ""
    about = "Columns that also speak together: what two values say beyond what each says alone, or a third beyond both."
    flat = [look for look in looks if len(look.parts) == 2][:PAIRS_DRAWN]
    try:
        drawn = [pair_figure(findings, look, number) for number, look in enumerate(flat, 1)]
    except OptionRefused:
        return ""
    rest = [(lettered(look.name, 60), loudest_cell(findings, look)) for look in looks if look not in flat]
    others = details(f"{len(rest):,} more in words", html_table(("columns", "such as"), rest)) if rest else ""
    return f'<h3>Together</h3>{paragraph(about)}<div class="grid">{"".join(drawn)}</div>{others}'


def pair_figure(findings: Findings, look: PairLook, number: int) -> str:
    """The map of one pair."""
    drawing = pair_map(findings.subject, look, findings.of, findings.against)
    return picture(f"pair-{number}", drawing, f"{lettered(look.name, 60)}. {loudest_cell(findings, look)}")


def loudest_cell(findings: Findings, look: PairLook) -> str:
    """The values that say most, over all rows."""
    cell = look.ranked[0]
    said = look.evidence[cell]
    favoured = lettered(findings.subject.classes[int(said.argmax())], 30)
    return f"{look.cell_named(cell)}: for {favoured} by {said.max() - said.min():.2f} nats"
