"""candide evaluate"""

from __future__ import annotations

from typing import Any

from candide.command_line import options
from candide.command_line.options import (
    Data,
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

CONFUSION_WIDTH = 10
CONFUSIONS_SHOWN = 10


def evaluate(
    model: ModelPath,
    data: Data,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
    sql: Sql = None,
    table: Table = None,
    on_error: OnError = "stop",
    rejects: Rejects = None,
    format: ShapeOption = Shape.table,
) -> None:
    """Compare answers with labels, on new rows.

    The rows should be ones the model has not learned: it knows those too well.

    Example: candide evaluate titanic.candide test.csv
    """
    from candide.command_line.progress import watch
    from candide.command_line.running import verb

    found = verb("evaluate")(
        model,
        options.one_or_all(data),
        watch=watch,
        **options.reading(delimiter, encoding, types, sql, table, on_error, rejects),
    )
    if format is Shape.json:
        from candide.command_line.showing import print_json

        print_json(found.to_dict())
        return
    show(found)


def show(found: Any) -> None:
    """The measures, then each class, then which classes are taken for which."""
    from candide.command_line.showing import heading, notes, number, percent, show_table

    low, high = found.interval
    print(f"{percent(found.accuracy)} of {found.rows:,} rows are right\n")
    rows = [
        ("accuracy", number(found.accuracy), f"95% interval {low:.3f} to {high:.3f}; always the commonest: "
         f"{found.baseline:.3f}"),
        ("log loss", number(found.log_loss), "mean surprise in nats; 0 is perfect"),
        ("Brier", number(found.brier), "mean squared error of the probabilities; 0 is perfect"),
        ("macro F1", number(found.macro_f1), "mean F1 of the classes"),
    ]  # fmt: skip
    show_table(("", "", ""), rows, right=(1,), flexible=2)
    heading("Classes")
    scores = found.by_class.items()
    lines = [(name, f"{s.rows:,}", number(s.precision), number(s.recall), number(s.f1)) for name, s in scores]
    show_table((str(found.label or "class"), "rows", "precision", "recall", "F1"), lines, right=(1, 2, 3, 4))
    show_confusion(found)
    if found.notes:
        print()
        notes(found.notes)


def show_confusion(found: Any) -> None:
    """The whole matrix where it is small, else the commonest mistakes."""
    from candide.command_line.showing import heading, show_table

    if len(found.classes) <= CONFUSION_WIDTH:
        heading("Truth in rows, answer in columns")
        rows = [
            (truth, *(f"{count:,}" for count in found.confusion[place].tolist()))
            for place, truth in enumerate(found.truths)
        ]
        show_table(("", *found.classes), rows, right=range(1, len(found.classes) + 1))
        return
    heading("Commonest mistakes")
    mistakes = [
        (count, truth, answer)
        for place, truth in enumerate(found.truths)
        for answer, count in zip(found.classes, found.confusion[place].tolist(), strict=True)
        if count and truth != answer
    ]
    mistakes.sort(key=lambda one: (-one[0], one[1], one[2]))
    rows = [(f"{count:,}", truth, answer) for count, truth, answer in mistakes[:CONFUSIONS_SHOWN]]
    show_table(("rows", "truth", "answer"), rows, right=(0,))
