"""ComplementNB: counts judged by how little they look like every other class."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from candide.api.drop_in.classifier import DropInSummary
from candide.api.drop_in.counted import CountingNB
from candide.api.drop_in.multinomial import MultinomialNB
from candide.api.threads import reads
from candide.data.arrays import AnyArray, FloatArray
from candide.families.base.counts import lined_up
from candide.families.base.smoothing import log_shares


class ComplementNB(MultinomialNB):
    """The complement naive Bayes of Rennie et al. (2003): robust where classes are unequal in size.

    Arguments, attributes and numbers are those of `sklearn.naive_bayes.ComplementNB`. It is a score, not a
    likelihood: priors have no effect on it as soon as there are two classes, so giving `class_prior` warns.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As for `MultinomialNB`.
    norm : bool
        Whether the weights of each class are divided by their sum.

    >>> model = ComplementNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
    >>> model.predict([[5, 1]]).tolist()
    ['spam']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountingNB._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    @property
    @reads
    def feature_all_(self) -> FloatArray:
        """How much of each column was seen in all classes together."""
        return self._seen.features.counts.sum(axis=1).astype(np.float64)

    def _become(self, classes: AnyArray, seen: DropInSummary) -> None:
        super()._become(classes, seen)
        self._norm = self.norm
        if self.class_prior is not None and len(classes) > 1:
            warnings.warn(
                "class_prior has no effect on ComplementNB, which is a score and not a likelihood. "
                "Leave it out, or use MultinomialNB.",
                stacklevel=2,
            )

    def _parameters(self) -> FloatArray:
        counts = self._seen.features.counts
        others = log_shares(counts.sum(axis=1, keepdims=True) - counts, self._smoothing_by_column)
        if not self._norm:
            return lined_up(-others)
        sums = others.sum(axis=0)
        return lined_up(others / np.where(sums == 0, 1.0, sums))

    def _prior(self) -> FloatArray:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))
