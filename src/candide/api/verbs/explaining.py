"""explain: why rows get their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from candide.api.verbs.fitted import Fitted, opened_model
from candide.api.verbs.reading import SourceOptions, expected_kinds, refuse_rows_with_texts, texts_alone
from candide.data.batch import Batch, refuse_row_below_one
from candide.data.errors import Location, OptionRefused, RowsRefused
from candide.model.missing_columns import absent_columns_notes, lacking
from candide.model.strangeness import explained
from candide.show.explanations.readable import ReadableExplanation
from candide.sources import Source, open_source
from candide.sources.rejects import KEEP
from candide.store import refuse_rejects


@dataclass(frozen=True)
class Explained:
    """A row by its number, the column that was asked for, and why it got its answer."""

    row: int
    label: str | None
    explanation: ReadableExplanation
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"row": self.row, "label": self.label, **self.explanation.to_dict()}


def explain(
    model: Any,
    data: Any = None,
    rows: Sequence[int] = (1,),
    *,
    text: str | Sequence[str] | None = None,
    strict: bool = False,
    **reading: Unpack[SourceOptions],
) -> list[Explained]:
    """The prior and what each column says, for some rows (counted from 1), or for texts of your own."""
    fitted = opened_model(model)
    refuse_rejects(reading.get("rejects"), [data, model])
    refuse_rows_with_texts(data, text)
    if reading.get("on_error") == "keep":
        raise OptionRefused(KEEP, " is for predict: a row without an answer has no reasons.")
    if text is not None:
        texts = Batch.of(texts_alone(fitted, text)).with_missing(fitted.trained.schema.columns)
        return [
            Explained(row + 1, fitted.label, explained_row(fitted, texts.rows(row, row + 1)))
            for row in range(len(texts))
        ]
    for row in rows:
        refuse_row_below_one(row)
    source = open_source(data, labelled=False, expected=expected_kinds(fitted.trained), repeatable=False, **reading)
    absent = lacking(fitted.trained.schema, source.columns, strict)
    notes = tuple(absent_columns_notes(absent, source.columns))
    found = {row: one.with_missing(absent) for row, one in rows_found(source, set(rows)).items()}
    return [Explained(row, fitted.label, explained_row(fitted, found[row]), notes) for row in rows]


def explained_row(fitted: Fitted, row: Batch) -> ReadableExplanation:
    """Why one row gets its answer; its label, where it has one, is not among the things that could speak."""
    names = [name for name in row.names if name != fitted.label]
    asked, trained = row if len(names) == len(row.names) else row.only(names), fitted.trained
    return ReadableExplanation.of(explained(trained.predictor, trained.tuning.novelty, asked)[0])


def rows_found(source: Source, wanted: set[int]) -> dict[int, Batch]:
    """The rows asked for, each as a batch; reading stops after the last."""
    found: dict[int, Batch] = {}
    seen = 0
    batches = source.batches()
    for batch in batches:
        for row in sorted(wanted):
            if seen < row <= seen + len(batch):
                found[row] = batch.rows(row - seen - 1, row - seen)
        seen += len(batch)
        if len(found) == len(wanted):
            batches.close()  # type: ignore[attr-defined]
            return found
    lacking = min(wanted - set(found))
    raise RowsRefused(
        f"There is no row {lacking:,}: {source.name} has {seen:,} rows.", where=Location(source.name, lacking)
    )
