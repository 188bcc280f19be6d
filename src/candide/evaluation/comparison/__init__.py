"""Methods side by side on the same rows: generative or discriminative? One's own data can be asked.

>>> from candide.data.batch import Batch
>>> rows = Batch.of({"x": ["a", "a", "a", "b", "b", "b"] * 20}, ["no", "no", "no", "yes", "yes", "no"] * 20)
>>> found = Contest.of(rows, folds=2).run()
>>> [method.name for method in found.methods], round(found["naive Bayes"].best.accuracy, 2)
(['naive Bayes', 'plain naive Bayes', 'logistic regression', 'plain logistic regression'], 0.83)
"""

from __future__ import annotations

from candide.evaluation.comparison.crossing import Duel
from candide.evaluation.comparison.result import Compared, Comparison, CurvePoint
from candide.evaluation.comparison.run import FOLDS, Contest

__all__ = ["FOLDS", "Compared", "Comparison", "Contest", "CurvePoint", "Duel"]
