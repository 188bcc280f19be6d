"""The classifiers Candide is measured beside: each learns one split and answers for its test rows."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.svm import LinearSVC

import encodings_of_rows as encodings
from encodings_of_rows import Encoding, Split
from real_data import SEED
from scores import Answers

TABLES = ("pmlb", "table")
TEXT = ("text",)
MOST_ROWS = 100_000
SVC = LinearSVC(dual="auto", random_state=SEED)
LOGISTIC = LogisticRegression(max_iter=1000)
FOREST = RandomForestClassifier(200, random_state=SEED, n_jobs=1)
BOOSTING = HistGradientBoostingClassifier(random_state=SEED)
SMALLER_FOREST = RandomForestClassifier(100, random_state=SEED, n_jobs=1)


@dataclass(frozen=True)
class Peer:
    """A method by name, where it applies, and the package whose version its results depend on."""

    name: str
    collections: tuple[str, ...]
    answer: Callable[[Split], Answers]
    package: str = "scikit-learn"
    is_naive_bayes: bool = False

    @property
    def is_installed(self) -> bool:
        return self.package == "scikit-learn" or importlib.util.find_spec(self.package) is not None

    @property
    def versions(self) -> str:
        return f"{self.package} {version(self.package)}"


def naive_bayes(name: str, collections: tuple[str, ...], encoding: Encoding, make: Callable[[Split], Any]) -> Peer:
    return Peer(name, collections, learner(encoding, make), is_naive_bayes=True)


def learner(
    encoding: Encoding, make: Callable[[Split], Any], most_rows: int | None = None
) -> Callable[[Split], Answers]:
    """Encode, fit, predict, against the clock."""

    def answer(split: Split) -> Answers:
        (train, test), encoding_seconds = split.encoded(encoding)
        labels, note = split.labels, ""
        if most_rows is not None and len(labels) > most_rows:
            everywhere = np.arange(len(labels))
            indices, _ = train_test_split(everywhere, train_size=most_rows, random_state=SEED, stratify=labels)
            train, labels, note = train[indices], labels[indices], f"learned from {most_rows:,} rows"
        start = time.perf_counter()
        model = make(split).fit(train, labels)
        fitted = time.perf_counter()
        chances = model.predict_proba(test) if hasattr(model, "predict_proba") else None
        predicted = model.predict(test) if chances is None else model.classes_[chances.argmax(axis=1)]
        done = time.perf_counter()
        return Answers(model.classes_, predicted, chances, encoding_seconds + fitted - start, done - fitted, note)

    return answer


def categorical(split: Split, encoding: Encoding) -> CategoricalNB:
    """With a slot for values never seen, as code 0, which CategoricalNB would otherwise refuse."""
    (train, _), _ = split.encoded(encoding)
    return CategoricalNB(min_categories=train.max(axis=0) + 1)


def hand_mixed(split: Split) -> Answers:
    """GaussianNB on numbers and CategoricalNB on categories: log joints added, the prior counted once."""
    (codes, test_codes), code_seconds = split.encoded(encodings.few_valued_codes)
    (numbers, test_numbers), number_seconds = split.encoded(encodings.many_valued_numbers)
    start = time.perf_counter()
    parts = []
    if codes is not None:
        parts.append((categorical(split, encodings.few_valued_codes).fit(codes, split.labels), test_codes))
    if numbers is not None:
        parts.append((GaussianNB().fit(numbers, split.labels), test_numbers))
    fitted = time.perf_counter()
    classes, counts = np.unique(split.labels, return_counts=True)
    joint = sum(model.predict_joint_log_proba(test) for model, test in parts)
    joint = joint - (len(parts) - 1) * np.log(counts / counts.sum())
    chances = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    seconds = code_seconds + number_seconds + fitted - start
    return Answers(classes, classes[joint.argmax(axis=1)], chances, seconds, time.perf_counter() - fitted)


def tuned(model: Any, *grid: float) -> Callable[[Split], GridSearchCV]:
    """The best C by 3-fold cross-validation inside the rows learned."""
    inner = StratifiedKFold(3, shuffle=True, random_state=SEED)
    return lambda _: GridSearchCV(model, {"C": grid}, cv=inner)


def khiops(split: Split) -> Answers:
    """Khiops' selective naive Bayes: no trees, no pairs."""
    from khiops.sklearn import KhiopsClassifier

    train, test = split.frames(list(split.data.rows))
    as_text = dict.fromkeys(split.data.categories, "str")
    train, test = (frame.astype(as_text).fillna(dict.fromkeys(as_text, "")) for frame in (train, test))
    start = time.perf_counter()
    model = KhiopsClassifier(n_trees=0, n_pairs=0, n_cores=1).fit(train, split.labels)
    fitted = time.perf_counter()
    chances = model.predict_proba(test)
    classes = np.array(model.classes_, dtype=object)
    predict_seconds = time.perf_counter() - fitted
    return Answers(classes, classes[chances.argmax(axis=1)], chances, fitted - start, predict_seconds)


def one_dependence(split: Split) -> Answers:
    """Averaged one-dependence estimators, as `candide compare` has them."""
    from candide.data.batch import Batch
    from candide.data.values import shown
    from candide.evaluation.comparison.columns import ColumnKinds
    from candide.evaluation.comparison.one_dependence import OneDependence, why_no_one_dependence

    train, test = split.frames(list(split.data.rows))
    start = time.perf_counter()
    learned = Batch.of(train, split.labels)
    columns = ColumnKinds.of(learned)
    if refusal := why_no_one_dependence(columns, len(set(split.labels))):
        raise ValueError(refusal)
    model = OneDependence.of(columns, learned)
    fitted = time.perf_counter()
    chances = np.exp(model.log_posterior(Batch.of(test)))
    by_name = {str(label): label for label in split.labels}
    classes = np.array([by_name[shown(key)] for key in model.classes], dtype=split.labels.dtype)
    predict_seconds = time.perf_counter() - fitted
    return Answers(classes, classes[chances.argmax(axis=1)], chances, fitted - start, predict_seconds)


PEERS = (
    naive_bayes("GaussianNB", ("pmlb",), encodings.numbers_as_they_are, lambda _: GaussianNB()),
    naive_bayes("GaussianNB one-hot", TABLES, encodings.one_hot_and_numbers, lambda _: GaussianNB()),
    naive_bayes(
        "CategoricalNB",
        TABLES,
        encodings.categories_and_bins,
        lambda split: categorical(split, encodings.categories_and_bins),
    ),
    naive_bayes("BernoulliNB", TABLES, encodings.categories_and_bins_one_hot, lambda _: BernoulliNB()),
    naive_bayes("MultinomialNB", TABLES, encodings.one_hot_from_zero_to_one, lambda _: MultinomialNB()),
    naive_bayes("ComplementNB", TABLES, encodings.one_hot_from_zero_to_one, lambda _: ComplementNB()),
    naive_bayes("MultinomialNB", TEXT, encodings.word_counts, lambda _: MultinomialNB()),
    naive_bayes("MultinomialNB 0.1", TEXT, encodings.word_counts, lambda _: MultinomialNB(alpha=0.1)),
    naive_bayes("ComplementNB", TEXT, encodings.word_counts, lambda _: ComplementNB()),
    naive_bayes("ComplementNB 0.1", TEXT, encodings.word_counts, lambda _: ComplementNB(alpha=0.1)),
    naive_bayes("BernoulliNB", TEXT, encodings.word_counts, lambda _: BernoulliNB()),
    naive_bayes("BernoulliNB 0.1", TEXT, encodings.word_counts, lambda _: BernoulliNB(alpha=0.1)),
    naive_bayes("tf-idf MultinomialNB", TEXT, encodings.tf_idf, lambda _: MultinomialNB()),
    naive_bayes("tf-idf MultinomialNB 0.1", TEXT, encodings.tf_idf, lambda _: MultinomialNB(alpha=0.1)),
    naive_bayes("tf-idf ComplementNB", TEXT, encodings.tf_idf, lambda _: ComplementNB()),
    naive_bayes("tf-idf ComplementNB 0.1", TEXT, encodings.tf_idf, lambda _: ComplementNB(alpha=0.1)),
    Peer("hand-mixed NB", TABLES, hand_mixed),
    Peer("LogisticRegression", TABLES, learner(encodings.one_hot_standardised, lambda _: LOGISTIC, MOST_ROWS)),
    Peer("LogisticRegression", TEXT, learner(encodings.tf_idf, tuned(LOGISTIC, 1, 10, 100))),
    Peer("LinearSVC", TABLES, learner(encodings.one_hot_standardised, tuned(SVC, 0.01, 0.1, 1, 10), MOST_ROWS)),
    Peer("LinearSVC", TEXT, learner(encodings.tf_idf, tuned(SVC, 0.1, 0.3, 1, 3, 10))),
    Peer("RandomForest", TABLES, learner(encodings.numbers_as_they_are, lambda _: FOREST, MOST_ROWS)),
    Peer("HistGradientBoosting", TABLES, learner(encodings.numbers_as_they_are, lambda _: BOOSTING, MOST_ROWS)),
    Peer("RandomForest", TEXT, learner(encodings.tf_idf_of_frequent_words, lambda _: SMALLER_FOREST)),
    Peer("Khiops", TABLES, khiops, package="khiops"),
    Peer("A1DE", TABLES, one_dependence, package="candide"),
)
