"""The tables of accuracy as Markdown: what was measured, on what, and who came out ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from measure import table
from peers import MOST_ROWS, PEERS
from real_data import DataSet
from scores import DIGITS, Score

SHOWN = ("LogisticRegression", "LinearSVC", "RandomForest")
SHOWN_OF_TABLES = ("hand-mixed NB", *SHOWN, "HistGradientBoosting", "Khiops", "A1DE")
OF_MANY = ("GaussianNB", *SHOWN_OF_TABLES)

METHOD = (
    "Accuracy in %, ± its standard error; log loss with chances of at least 1e-15; ECE over 15 equal widths of the top "
    "chance; all folds pooled, so that every row counts once. Seconds are those of all folds; kernels are warm, "
    "scikit-learn and Khiops have one core, Candide all. All methods learn and are tested on the same folds, "
    "shuffled with a fixed seed."
)
ENCODINGS = (
    "Peers of tables get categories one-hot encoded (strings; in PMLB also columns of at most 12 values) and numbers "
    "standardised, or from 0 to 1 for MultinomialNB and ComplementNB; CategoricalNB and BernoulliNB get ten quantile "
    "bins of columns with more than 12 values. A missing category is one of its own, a missing number the mean. "
    "Hand-mixed NB: GaussianNB for numbers of more than 12 values plus CategoricalNB for the rest. LogisticRegression "
    "has C = 1 on tables; C of LinearSVC, and of LogisticRegression on texts, is tuned by 3-fold cross-validation "
    "inside the rows learned. RandomForest has 200 trees and categories as codes; where all its trees are wrong, the "
    "chance is exactly 0 and costs 34.5 a row, which flatters whoever is compared with its log loss. Khiops is its "
    "selective naive Bayes, without trees and pairs; its seconds are mostly those of starting its processes. A1DE is "
    "that of `candide compare`, for at most a hundred columns. The best "
    "naive Bayes of scikit-learn is chosen with hindsight, by the very accuracy shown."
)
TEXT_ENCODINGS = (
    "Texts: MultinomialNB, ComplementNB and BernoulliNB on the counts of CountVectorizer or on tf-idf, alpha 1 or 0.1; "
    "the linear ones on tf-idf; RandomForest, to be affordable, with 100 trees on the 2,000 most frequent words. "
    f"On covertype LogisticRegression, LinearSVC, RandomForest and HistGradientBoosting learn from {MOST_ROWS:,} rows "
    "picked at random, marked * below; all others learn from all."
)


@dataclass(frozen=True)
class Row:
    """A data set and how everyone did on it."""

    collection: str
    name: str
    size: int
    classes: int
    protocol: str
    ours: Score
    peers: dict[str, Score]

    @classmethod
    def of(cls, data: DataSet, ours: Score, peers: dict[str, Score]) -> Row:
        return cls(data.collection, data.name, len(data.labels), len(set(data.labels)), data.protocol, ours, peers)

    @property
    def best_name(self) -> str | None:
        """The naive Bayes of scikit-learn that did best here; none before one was measured."""
        names = [peer.name for peer in PEERS if peer.is_naive_bayes and self.collection in peer.collections]
        known = [name for name in names if name in self.peers and not self.peers[name].error]
        return max(known, key=lambda name: self.peers[name].accuracy, default=None)

    @property
    def shortfall(self) -> float:
        """How far we are below the best naive Bayes of scikit-learn; not above zero where we are not."""
        if self.ours.error or self.best_name is None:
            return np.inf
        return round(self.peers[self.best_name].accuracy - self.ours.accuracy, DIGITS)

    @property
    def is_tolerable(self) -> bool:
        """Not more than a point or two standard errors below, whichever is larger."""
        return not self.ours.error and self.shortfall <= max(0.01, 2 * self.ours.standard_error)

    @property
    def verdict(self) -> str:
        if self.ours.error:
            return "error"
        if self.best_name is None:
            return "not measured"
        if self.shortfall <= 0:
            return "yes"
        return f"{-100 * self.shortfall:.2f}" + ("" if self.is_tolerable else " too far")

    @property
    def progress(self) -> str:
        if self.ours.error:
            return f"error: {self.ours.error}"
        return f"Candide {both(self.ours)} in {self.ours.seconds:.1f} s, at least the best NB: {self.verdict}"


def both(score: Score | None) -> str:
    """Accuracy and log loss in one cell."""
    if score is None or score.error:
        return "" if score is None else "error"
    star = "*" if score.note else ""
    return f"{100 * score.accuracy:.2f}{star}" + ("" if score.log_loss is None else f" / {score.log_loss:.3f}")


def with_error(score: Score) -> str:
    """Accuracy ± standard error and log loss, or what went wrong."""
    if score.error:
        return "error: " + on_one_line(score.error)[:100]
    return f"{100 * score.accuracy:.2f} ± {100 * score.standard_error:.2f} / {score.log_loss:.3f}"


def on_one_line(text: str) -> str:
    """A text that fits into a cell."""
    return " ".join(text.replace("|", "/").split())


def overview(rows: Sequence[Row], shown: Sequence[str]) -> str:
    """A line a data set: accuracy / log loss of everyone, and whether we match the best naive Bayes."""
    header = ("data", "rows", "classes", "protocol", "Candide", "ECE", "best NB of scikit-learn", "at least it", *shown)
    return table(header, [cells(row, shown) for row in rows])


def cells(row: Row, shown: Sequence[str]) -> list[str]:
    best = "" if row.best_name is None else f"{both(row.peers[row.best_name])} {row.best_name}"
    ece = "" if row.ours.ece is None else f"{row.ours.ece:.3f}"
    start = [row.name, f"{row.size:,}", str(row.classes), row.protocol, with_error(row.ours), ece, best, row.verdict]
    return start + [both(row.peers.get(name)) for name in shown]


def details(rows: Sequence[Row]) -> str:
    """A line a data set and method, with everything measured."""
    header = ("data", "method", "accuracy", "log loss", "ECE", "fit s", "predict s", "note")
    return table(
        header,
        [
            [row.name if name == "Candide" else "", name, *numbers(score)]
            for row in rows
            for name, score in {"Candide": row.ours, **row.peers}.items()
        ],
    )


def numbers(score: Score) -> list[str]:
    if score.error:
        return ["", "", "", "", "", "error: " + on_one_line(score.error)[:100]]
    chances = ["" if value is None else f"{value:.4f}" for value in (score.log_loss, score.ece)]
    return [
        f"{100 * score.accuracy:.2f}",
        *chances,
        f"{score.fit_seconds:.2f}",
        f"{score.predict_seconds:.2f}",
        score.note,
    ]


@dataclass(frozen=True)
class Mean:
    """A method's mean over the data sets; log loss only where the method gives chances."""

    accuracy: float
    log_loss: float | None
    ece: float | None
    seconds: float
    sets: int


def mean_of(rows: Sequence[Row], name: str) -> Mean | None:
    """The mean of a method over the sets where it has a score."""
    scores = [row.ours if name == "Candide" else row.peers.get(name) for row in rows]
    known = [score for score in scores if score is not None and not score.error]
    if not known:
        return None
    chances = all(score.log_loss is not None for score in known)
    return Mean(
        float(np.mean([score.accuracy for score in known])),
        float(np.mean([score.log_loss for score in known])) if chances else None,
        float(np.mean([score.ece for score in known])) if chances else None,
        sum(score.seconds for score in known),
        len(known),
    )


def means(rows: Sequence[Row], names: Sequence[str]) -> str:
    """A line a method: the means over the collection."""
    header = ("method", "accuracy", "log loss", "ECE", "seconds in all", "sets")
    lines = []
    for name in names:
        mean = mean_of(rows, name)
        if mean is not None:
            chances = ["" if value is None else f"{value:.3f}" for value in (mean.log_loss, mean.ece)]
            lines.append([name, f"{100 * mean.accuracy:.2f}", *chances, f"{mean.seconds:.0f}", str(mean.sets)])
    return table(header, lines)
