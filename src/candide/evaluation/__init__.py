"""How good the answers are: on new rows, on learned rows each left out, or in folds.

>>> from candide.data.batch import Batch
>>> from candide.model.options import Options
>>> from candide.training.fit import fit_rows
>>> rows = Batch.of({"x": ["a", "a", "a", "b", "b", "b"]}, ["no", "no", "no", "yes", "yes", "yes"])
>>> found = left_out(fit_rows(Options(), rows), [rows])
>>> found.kind, found.right, round(found.log_loss, 3)  # without a row its own class has 2/5 * 3/4, the other 3/5 * 1/5
('leave-one-out', 6, 0.336)
"""

from __future__ import annotations

from candide.evaluation.already_learned import notes_on_learned_rows
from candide.evaluation.folds import in_folds, refuse_two_ways
from candide.evaluation.hold_out import on_rows, on_rows_elsewhere
from candide.evaluation.leave_one_out import chose_from_rows, left_out, refuse_never_learned, with_suspects
from candide.model.evaluation import Bin, ClassScore, Evaluation, Suspect

__all__ = [
    "Bin",
    "ClassScore",
    "Evaluation",
    "Suspect",
    "chose_from_rows",
    "in_folds",
    "left_out",
    "notes_on_learned_rows",
    "on_rows",
    "on_rows_elsewhere",
    "refuse_never_learned",
    "refuse_two_ways",
    "with_suspects",
]
