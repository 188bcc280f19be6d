"""predict: the rows as they came, with label, probability and decision beside each, in order and in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from candide.batch import Batch
from candide.decision import RARITY, decided, refuse_no_share
from candide.engines.local import in_parallel
from candide.errors import RowsRefused
from candide.learning import Learned
from candide.sources import Source, open_source
from candide.store.overwriting import kind_written, refuse_overwriting, refuse_rejects
from candide.values import shown
from candide.verbs.fitted import Fitted, opened
from candide.verbs.reading import OthersAsText, Reading, expected_kinds
from candide.verbs.watching import Watch, unwatched
from candide.verbs.writing import TEXTUAL, Output, column_of, format_for, write


@dataclass(frozen=True)
class Predicted:
    """How many rows got which decision; the rows themselves where they were not written anywhere."""

    rows: int
    decisions: dict[str, int]
    table: Any = None


def predict(
    model: Any,
    data: Any,
    output: Output | None = None,
    *,
    confidence: float = 0.0,
    rarity: float = RARITY,
    probabilities: bool = False,
    output_format: str | None = None,
    force: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[Reading],
) -> Predicted:
    """Answer rows. Every input column comes back, followed by `label`, `probability` and `decision`.

    The decision is the label, or "unsure" where its probability is below `confidence`, or "unfamiliar" where the row is
    less expected than all but a share `rarity` of those learned. `probabilities` adds the probability of each class.
    Rows are written to `output`
    (csv, tsv, jsonl or parquet, by its name or `output_format`), else they are the result's `table`.
    """
    fitted = opened(model)
    refuse_no_share("confidence", confidence)
    refuse_no_share("rarity", rarity)
    format = None if output is None else format_for(output, output_format)
    refuse_overwriting(output, kind_written(output, format), [data, model], force)
    refuse_rejects(reading.get("rejects"), [data, model, output])
    expected = expected_kinds(fitted.learned)
    if format in TEXTUAL:
        expected = OthersAsText(expected)
    source = open_source(data, labelled=False, expected=expected, repeatable=False, **reading)
    widens = format == "parquet" and source.describe()["format"] in ("csv", "jsonl")
    answering = Answering.of(fitted, source, (confidence, rarity), probabilities, widens)
    decisions: Counter[str] = Counter()
    with watch("Predicting", source.size) as report:
        tables = counted(in_parallel(answering, source.batches(report)), decisions)
        if output is None or format is None:
            table = pa.concat_tables(list(tables), promote_options="permissive")
            return Predicted(*total(decisions), table)
        write(tables, output, format)
    return Predicted(*total(decisions))


def counted(tables: Iterator[tuple[Any, Any]], decisions: Counter[str]) -> Iterator[Any]:
    """Pass tables on, counting their decisions."""
    for table, made in tables:
        names, counts = np.unique(made, return_counts=True)
        decisions.update(dict(zip(names.tolist(), counts.tolist(), strict=True)))
        yield table


def total(decisions: Counter[str]) -> tuple[int, dict[str, int]]:
    """All rows, and those of each decision, commonest first."""
    return decisions.total(), dict(decisions.most_common())


@dataclass(frozen=True)
class Answering:
    """From a batch to its table of answers; safe to run on several threads.

    `widens` is for a file that needs one type a column, from text in which a whole number may be followed by 2.5.
    """

    learned: Learned
    columns: tuple[str, ...]
    added: tuple[str, ...]
    thresholds: tuple[float, float]
    source: Source
    widens: bool

    @classmethod
    def of(
        cls, fitted: Fitted, source: Source, thresholds: tuple[float, float], probabilities: bool, widens: bool
    ) -> Answering:
        model = fitted.learned.model
        added = ["label", "probability", "decision"]
        if probabilities:
            added += [f"probability_{shown(key)}" for key in model.classes]
        return cls(fitted.learned, source.columns, unused(added, source.columns), thresholds, source, widens)

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        """The rows with answers, and the decisions as plain text."""
        model = self.learned.model
        best, posterior, _ = decisions = decided(model, self.learned.tuning.familiarity, batch)
        chance = posterior[np.arange(len(best)), best]
        names = np.array([shown(key) for key in model.classes], dtype=object)[best]
        states = decisions.states(*self.thresholds)
        names[states != ""] = states[states != ""]
        labels = pa.array([value for _, value in model.classes]).take(pa.array(best))
        answers = [labels, pa.array(chance), pa.array(names.tolist())]
        answers += [pa.array(posterior[:, place]) for place in range(len(self.added) - len(answers))]
        return self._beside(batch, answers), names.astype(str)

    def _beside(self, batch: Batch, answers: list[Any]) -> Any:
        late = [name for name in batch.names if name not in set(self.columns)]
        if late:
            raise RowsRefused(
                f"{self.source.name} brings in a new column '{late[0]}' after row {batch.start:,}. Give every row the "
                "same columns, or name the column in the first rows."
            )
        full = batch.with_missing(self.columns)
        read = [column_of(full.columns.raw(full.position(name))) for name in self.columns]
        if self.widens:
            read = [column.cast(pa.float64()) if pa.types.is_int64(column.type) else column for column in read]
        return pa.table([*read, *answers], names=[*self.columns, *self.added])


def unused(names: list[str], taken: tuple[str, ...]) -> tuple[str, ...]:
    """Names for new columns that the input does not use: `label`, or `label_predicted`, or `label_predicted_2`, ...

    >>> unused(["label", "decision"], ("label", "age"))
    ('label_predicted', 'decision')
    """
    found: list[str] = []
    for name in names:
        options = (f"{name}_predicted{ending}" for ending in ("", *(f"_{n}" for n in range(2, len(taken) + 3))))
        found.append(name if name not in taken else next(o for o in options if o not in taken))
    return tuple(found)
