"""The comparison itself: every method learns every draw, and is judged by the same rows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, OptionRefused, RowsRefused
from candide.data.values import shown
from candide.evaluation.comparison.columns import ColumnKinds
from candide.evaluation.comparison.crossing import Duel
from candide.evaluation.comparison.draws import Draws
from candide.evaluation.comparison.methods import Method, methods_for
from candide.evaluation.comparison.result import Compared, Comparison, accuracies
from candide.evaluation.comparison.scoring import DrawScore, score_sums
from candide.model.options import only
from candide.model.row_sample import canonical_rows
from candide.model.schema import Families

FOLDS = 5
FEWEST_ROWS = 20
Report = Callable[[int], None]


@dataclass(frozen=True)
class Contest:
    """Rows, methods and draws: checked, and ready to run."""

    batch: Batch
    methods: Sequence[Method]
    draws: Draws
    folds: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, batch: Batch, families: Families = "auto", folds: int = FOLDS, seed: int = 0) -> Contest:
        """Look at the columns, and deal the rows: put in an order of their own, so that theirs leaves no trace."""
        refuse_too_few(batch, folds)
        columns = ColumnKinds.of(batch, families)
        if not columns.guessed:
            raise RowsRefused(
                "There is no column to learn from: all are left out, or have no values.",
                expected="a column with values",
            )
        assert batch.labels is not None
        names = list(columns.guessed)
        methods, notes = methods_for(columns, only(families, names), len(batch.labels.keys))
        rows = canonical_rows(batch if len(names) == len(batch.names) else batch.only(names))
        return cls(rows, methods, Draws.of(rows, folds, seed), folds, tuple(notes))

    @property
    def amount(self) -> int:
        """How many rows are learned in all, by all methods."""
        return len(self.methods) * self.draws.amount

    def run(self, label: str | None = None, notes: Sequence[str] = (), report: Report | None = None) -> Comparison:
        """Let every method learn and answer; `report` is told of rows learned."""
        scores: dict[str, dict[int, list[DrawScore]]] = {method.name: {} for method in self.methods}
        for draw in self.draws:
            learned, tested = self.batch.take(draw.learned), self.batch.take(draw.tested)
            for method in self.methods:
                scores[method.name].setdefault(draw.size, []).append(tried(method, learned, tested))
                if report is not None:
                    report(draw.size)
        assert self.batch.labels is not None
        return Comparison(
            label,
            len(self.batch),
            tuple(map(shown, self.batch.labels.keys)),
            self.folds,
            self.draws.seed,
            tuple(Compared.of(method, scores[method.name]) for method in self.methods),
            tuple(
                Duel.of(
                    naive.name,
                    rival.name,
                    self.draws.sizes,
                    [accuracies(repeats) for repeats in scores[naive.name].values()],
                    [accuracies(repeats) for repeats in scores[rival.name].values()],
                )
                for naive in self.methods
                for rival in self.methods
                if naive.naive and rival.rival
            ),
            (*self.notes, *notes),
        )


def tried(method: Method, learned: Batch, tested: Batch) -> DrawScore:
    """One method on one draw. Of a class it has not met, it is as surprised as if one row more had been of it."""
    assert tested.labels is not None
    start = time.perf_counter()
    fitted = method.fit(learned)
    done = time.perf_counter()
    log_posterior = fitted.log_posterior(tested)
    end = time.perf_counter()
    right, loss, bins = score_sums(log_posterior, fitted.classes, tested.labels, math.log(len(learned) + 1))
    return DrawScore(len(tested), right, loss, bins, done - start, end - done)


def refuse_too_few(batch: Batch, folds: int) -> None:
    """Raise where rows, classes or folds are too few to learn anything from the comparison."""
    if batch.labels is None:
        raise LabelsRefused("These rows have no labels to compare answers with.", expected="one label a row")
    if len(batch) < FEWEST_ROWS:
        raise RowsRefused(
            f"{len(batch):,} rows are too few to compare methods: some are learned and the others judged.",
            advice=f"Give {FEWEST_ROWS} or more.",
            expected=f"{FEWEST_ROWS} rows or more",
        )
    if not (isinstance(folds, int) and 2 <= folds <= len(batch) // 2):
        raise OptionRefused.of_option("folds", f"a whole number from 2 to half the rows ({len(batch) // 2:,})", folds)
    rows = np.bincount(batch.labels.codes, minlength=len(batch.labels.keys))
    known = [shown(key) for key, count in zip(batch.labels.keys, rows.tolist(), strict=True) if count > 1]
    if len(known) < 2:
        only = f"only '{known[0]}' has more than one row" if known else "each has only one row"
        what = "There is only one class" if np.count_nonzero(rows) == 1 else f"Of the classes, {only}"
        raise LabelsRefused(
            f"{what}, so there is nothing to tell apart.",
            advice="Is the label the column you meant?",
            expected="two classes with more than one row",
        )
