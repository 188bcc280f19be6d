"""candide explain"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.command_line import options
from candide.command_line.options import (
    Delimiter,
    Encoding,
    ModelPath,
    OnError,
    Rejects,
    Shape,
    ShapeOption,
    Sql,
    Table,
    Types,
)  # fmt: skip

TERMS_SHOWN = 30


def explain(
    model: ModelPath,
    data: Annotated[
        list[str] | None, typer.Argument(metavar="DATA", help="Rows to explain.", show_default=False)
    ] = None,
    row: Annotated[
        list[int] | None, typer.Option("--row", "-r", metavar="NUMBER", help="Which row, from 1. May be repeated.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="A text of your own, in place of a file.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
    sql: Sql = None,
    table: Table = None,
    on_error: OnError = "stop",
    rejects: Rejects = None,
    format: ShapeOption = Shape.table,
) -> None:
    """Say why a row gets its answer.

    The prior and what each column adds, in log odds that sum up to the answer.

    Example: candide explain titanic.candide new.csv --row 3
    """
    from candide.command_line.running import verb

    found = verb("explain")(
        model,
        options.one_or_all(data) if data else None,
        tuple(row) if row else (1,),
        text=text,
        **options.reading(delimiter, encoding, types, sql, table, on_error, rejects),
    )
    if format is Shape.json:
        from candide.command_line.showing import print_json

        print_json([one.to_dict() for one in found])
        return
    for place, one in enumerate(found):
        if place:
            print()
        show("The text" if text is not None else f"Row {one.row:,}", one.label or "label", one.explanation)


def show(what: str, label: str, why: Any) -> None:
    """The answer against the runner-up, the strongest evidence first, adding up."""
    import numpy as np

    from candide.command_line.showing import percent, show_table
    from candide.explanation import bar

    order = np.argsort(-why.posterior, kind="stable")
    if len(order) == 1:
        print(f"{what}: {label} is {why.answer}, the only class there is")
        return
    best, second = int(order[0]), int(order[1])
    print(
        f"{what}: {label} is {why.answer} ({percent(why.posterior[best])}) rather than {why.classes[second]} "
        f"({percent(why.posterior[second])})\n"
    )
    with np.errstate(invalid="ignore"):
        terms = [(t.feature, str(t.value), float(t.log_likelihood[best] - t.log_likelihood[second])) for t in why.terms]
        total = float(why.joint[best] - why.joint[second])
    terms.sort(key=lambda term: -abs(term[2]) if term[2] == term[2] else 0.0)
    spoken = [("(prior)", "", float(why.prior[best] - why.prior[second])), *terms[:TERMS_SHOWN]]
    if len(terms) > TERMS_SHOWN:
        rest = terms[TERMS_SHOWN:]
        spoken.append((f"({len(rest)} more)", "", sum(lead for _, _, lead in rest)))
    rows = [(feature, value, f"{lead:+.3f}", bar(lead)) for feature, value, lead in spoken]
    rows.append(("(sum)", "", f"{total:+.3f}", f"{odds(total)} for {why.answer}"))
    show_table(("column", "value", "log odds", ""), rows, right=(2,), flexible=1)


def odds(log_odds: float) -> str:
    """Log odds as odds.

    >>> odds(0.0), odds(2.302585), odds(50)
    ('1.0 : 1', '10.0 : 1', 'over a million : 1')
    """
    import math

    if log_odds > math.log(1e6):
        return "over a million : 1"
    ratio = math.exp(log_odds)
    return f"{ratio:,.1f} : 1" if ratio < 100 else f"{ratio:,.0f} : 1"
