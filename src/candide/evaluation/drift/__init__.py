"""What moved between two models: classes, columns and words, by their counts alone, with what chance would explain.

>>> from candide.data.batch import Batch
>>> from candide.model.options import Options
>>> from candide.training.fit import fit_rows
>>> rows = Batch.of({"x": ["a", "a", "a", "b", "b", "b"] * 10}, ["no", "no", "no", "yes", "yes", "no"] * 10)
>>> model = fit_rows(Options(), rows)
>>> drift_between(model, model)["x"].overall.bits
0.0
"""

from __future__ import annotations

from candide.evaluation.drift.changes import Shift
from candide.evaluation.drift.divergence import Divergence
from candide.evaluation.drift.result import ClassShift, ColumnDrift, Drift
from candide.evaluation.drift.run import drift_between

__all__ = ["ClassShift", "ColumnDrift", "Divergence", "Drift", "Shift", "drift_between"]
