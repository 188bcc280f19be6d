"""The methods that are compared, and which of them suit the columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.values import Key
from candide.evaluation.comparison import discriminative, generative
from candide.evaluation.comparison.columns import ColumnKinds
from candide.evaluation.comparison.one_dependence import OneDependence, why_no_one_dependence
from candide.model.schema import Families

MOST_TOGETHER = 200
"""A covariance of more columns than this takes too long: it grows with their square."""


class FittedMethod(Protocol):
    """Something that learned and can answer."""

    @property
    def classes(self) -> tuple[Key, ...]: ...

    def log_posterior(self, batch: Batch) -> FloatArray: ...


@dataclass(frozen=True)
class Method:
    """A way to learn: its name, what it is, and how it learns rows.

    Each `naive` method is set against each `rival`. One that is not `probable` gives scores to rank classes by, and no
    probabilities.
    """

    name: str
    about: str
    fit: Callable[[Batch], FittedMethod]
    naive: bool = False
    rival: bool = False
    probable: bool = True


def methods_for(columns: ColumnKinds, families: Families, classes: int) -> tuple[list[Method], list[str]]:
    """The methods that suit the columns and so many classes, and sentences on those that do not."""
    no_covariance, no_parents = why_no_full_covariance(columns), why_no_one_dependence(columns, classes)
    generative_rivals = [
        *([] if no_parents else [one_dependence(columns)]),
        *([] if no_covariance else discriminant_analyses(columns)),
    ]
    methods = [*naive_bayes(columns, families), *generative_rivals, *discriminative_methods(columns)]
    return methods, [refusal for refusal in (no_covariance, no_parents) if refusal]


def naive_bayes(columns: ColumnKinds, families: Families) -> list[Method]:
    """Naive Bayes with all its choices, without any, and as the twin of logistic regression."""
    chosen = Method(
        "naive Bayes",
        "families and smoothing chosen by leaving each row out, calibrated",
        lambda batch: generative.fit_automatically(columns, families, batch),
        naive=True,
    )
    plain = Method(
        "plain naive Bayes",
        "families by the look of the values; nothing is chosen or calibrated",
        lambda batch: generative.fit_as_guessed(columns, batch),
        naive=True,
    )
    linear = Method(
        "linear naive Bayes",
        "plain, and numbers spread alike in every class: the twin of logistic regression in Ng & Jordan (2001)",
        lambda batch: generative.linear(columns, batch),
        naive=True,
    )
    return [chosen, plain, linear] if columns.numbers else [chosen, plain]


def one_dependence(columns: ColumnKinds) -> Method:
    """Naive Bayes in which all columns depend on the class and on one of them, each in turn."""
    return Method(
        "A1DE",
        "averaged one-dependence estimators (Webb, Boughton & Wang 2005); numbers in a few bins",
        lambda batch: OneDependence.of(columns, batch),
    )


def discriminant_analyses(columns: ColumnKinds) -> list[Method]:
    """Gaussian discriminant analysis, with one covariance for all classes or one for each."""
    shared = Method(
        "GDA, shared covariance",
        "linear discriminant analysis: numbers in one bell that has the same form in every class",
        lambda batch: generative.with_covariance(columns, "gaussian_shared", batch),
    )
    full = Method(
        "GDA, full covariance",
        "quadratic discriminant analysis: numbers in one bell for each class",
        lambda batch: generative.with_covariance(columns, "gaussian_full", batch),
    )
    return [shared, full]


def discriminative_methods(columns: ColumnKinds) -> list[Method]:
    """The discriminative methods: for text a linear SVM too, else logistic regression without its penalty."""
    regression = Method(
        "logistic regression",
        "scikit-learn's, with its penalty; numbers standardised, a column for each category, words by tf-idf",
        lambda batch: discriminative.logistic_regression(columns, batch),
        rival=True,
    )
    plain = Method(
        "plain logistic regression",
        "the same without a penalty, as in Ng & Jordan (2001)",
        lambda batch: discriminative.plain_logistic_regression(columns, batch),
        rival=True,
    )
    machine = Method(
        "linear SVM",
        "scikit-learn's, on the same columns; it gives no probabilities",
        lambda batch: discriminative.linear_svm(columns, batch),
        rival=True,
        probable=False,
    )
    return [regression, machine] if columns.texts else [regression, plain]


def why_no_full_covariance(columns: ColumnKinds) -> str:
    """Why discriminant analysis is left out; nothing where it is not."""
    if not columns.numbers:
        return "Gaussian discriminant analysis is left out: it needs columns of numbers, and there are none."
    if len(columns.numbers) > MOST_TOGETHER:
        return (
            f"Gaussian discriminant analysis is left out: a covariance of {len(columns.numbers):,} columns of numbers "
            f"takes too long. {MOST_TOGETHER} are affordable."
        )
    return ""
