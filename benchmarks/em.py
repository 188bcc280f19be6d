"""What rows without a label are worth, and whether groups that are found are those that people named.

    python benchmarks/em.py                    # everything, some minutes; results/em.md
    python benchmarks/em.py text/rt_polarity   # print these, and leave the report as it is

Of each set 300 rows keep their label (of tables 100); the others of at most 10,000 have none, and the test fold, or
the given test set, is never seen. `NaiveBayes()` learns the labelled rows; `NaiveBayes(unlabelled="em")` is given all.
Beside them stand scikit-learn's logistic regression of the labelled rows and its self-training with MultinomialNB,
which takes on rows that it is sure of (texts only: words counted by CountVectorizer). Every figure is the mean of three
draws.

Groups are found without any label, and compared with the labels afterwards: by the adjusted Rand index, 0 by chance and
1 where they agree, and by the share of rows in the group that goes best with their class. scikit-learn's k-means (of
counts: after TfidfTransformer; of numbers: standardised) is told the same number of groups, and the best of ten starts.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import real_data
from candide import NaiveBayes, cluster
from measure import machine, publish, table
from real_data import DataSet
from scores import LEAST, Answers, chance_of

TEXTS = ("subjectivity", "rt_polarity", "banking77", "spamassassin", "sms_spam", "movie_reviews")
TABLES = ("mushroom", "breast_cancer", "spambase", "letter", "adult", "german_credit", "car", "titanic3")
DRAWS, MOST, LABELLED = 3, 10_000, {"text": 300, "table": 100}


class Draw(NamedTuple):
    """One draw of labelled rows: accuracies, log losses, what unlabelled rows counted, and processor time."""

    alone: float
    beside: float
    regression: float
    self_training: float
    loss_alone: float
    loss_beside: float
    weight: float
    seconds: float


def draw(data: DataSet, seed: int) -> Draw:
    """Learn few labelled rows, alone and beside all others."""
    rng = np.random.default_rng(seed)
    learned, new = data.folds[seed % len(data.folds)]
    learned = rng.permutation(learned)[:MOST]
    known, others = np.split(learned, [LABELLED[data.collection]])
    labels, truth = data.labels[known], data.labels[new]
    alone = NaiveBayes().fit(data.part(known), labels)
    hidden = np.concatenate([labels, np.full(len(others), None)])
    began = time.process_time()
    beside = NaiveBayes(unlabelled="em").fit(data.part(learned), hidden)
    seconds = time.process_time() - began
    expected = beside.trained_.expected
    peers = peer_accuracies(data, known, others, new) if data.collection == "text" else (np.nan, np.nan)
    right = [model.score(data.part(new), truth) for model in (alone, beside)]
    losses = [loss(model, data.part(new), truth) for model in (alone, beside)]
    return Draw(*right, *peers, *losses, expected.summary.rows / expected.rows, seconds)


def loss(model: NaiveBayes, rows: Any, truth: Any) -> float:
    """The mean log loss; a class that was not learned is next to impossible."""
    chances = model.predict_proba(rows)
    answers = Answers(model.classes_, model.classes_[chances.argmax(axis=1)], chances, 0.0, 0.0)
    return float(-np.log(np.maximum(chance_of(truth, answers), LEAST)).mean())


def peer_accuracies(data: DataSet, known: Any, others: Any, new: Any) -> tuple[float, float]:
    """Logistic regression of the labelled rows, and self-training with all."""
    words = CountVectorizer()
    counts = words.fit_transform(data.part(np.concatenate([known, others])))
    classes, codes = np.unique(data.labels[known], return_inverse=True)
    asked, truth = words.transform(data.part(new)), data.labels[new]
    regression = make_pipeline(TfidfTransformer(), LogisticRegression(max_iter=1000)).fit(counts[: len(known)], codes)
    trained = SelfTrainingClassifier(MultinomialNB(), threshold=0.95, max_iter=20)
    trained.fit(counts, np.concatenate([codes, np.full(len(others), -1)]))
    return tuple(float(np.mean(classes[model.predict(asked)] == truth)) for model in (regression, trained))


def labels_line(key: str) -> list[str]:
    """A line about one set."""
    data = real_data.read(key)
    found = np.array([draw(data, seed) for seed in range(DRAWS)])
    mean = Draw(*found.mean(axis=0))
    rises = 100 * (found[:, 1] - found[:, 0])
    return [
        key, f"{LABELLED[data.collection]}", f"{100 * mean.alone:.1f}", f"{100 * mean.beside:.1f}",
        " ".join(f"{rise:+.1f}" for rise in rises), f"{mean.loss_alone:.3f}", f"{mean.loss_beside:.3f}",
        " ".join(f"{weight:.2g}" for weight in found[:, 6]), percent(mean.regression), percent(mean.self_training),
        f"{mean.seconds:.1f}",
    ]  # fmt: skip


def percent(share: float) -> str:
    """A share as a percentage, nothing where there is none."""
    return "" if np.isnan(share) else f"{100 * share:.1f}"


def grouped_sets() -> dict[str, tuple[Any, Any, Any]]:
    """Rows, labels, and the rows as k-means takes them."""
    found = {}
    for name, load in (("digits", load_digits), ("iris", load_iris), ("wine", load_wine)):
        data = load()
        found[name] = data.data, data.target, StandardScaler().fit_transform(data.data)
    for name in ("sms_spam", "subjectivity"):
        texts, weighed = real_data.read(f"text/{name}"), make_pipeline(CountVectorizer(), TfidfTransformer())
        found[name] = texts.rows, texts.labels, weighed.fit_transform(texts.rows)
    return found


def groups_line(name: str, rows: Any, labels: Any, prepared: Any) -> list[str]:
    """A line about the groups of one set."""
    classes = len(np.unique(labels))
    began = time.process_time()
    model = NaiveBayes.of(cluster({"text": rows} if isinstance(rows, list) else rows, classes).trained)
    seconds = time.process_time() - began
    own = model.predict({"text": rows} if isinstance(rows, list) else rows)
    theirs = KMeans(classes, n_init=10, random_state=0).fit_predict(prepared)
    commonest = np.unique(labels, return_counts=True)[1].max() / len(labels)
    return [
        name, f"{len(labels):,}", f"{classes}", f"{adjusted_rand_score(labels, own):.3f}",
        percent(matched(labels, own)), f"{adjusted_rand_score(labels, theirs):.3f}", percent(matched(labels, theirs)),
        percent(commonest), f"{seconds:.1f}",
    ]  # fmt: skip


def matched(labels: Any, groups: Any) -> float:
    """The share of rows that are right where each class is one group, as suits best."""
    truth, found = (np.unique(each, return_inverse=True)[1] for each in (labels, groups))
    counts = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(counts, (truth, found), 1)
    return float(counts[linear_sum_assignment(-counts)].sum() / len(truth))


HEAD = ["set", "labelled", "alone %", "EM %", "points by draw", "loss alone", "EM", "weight by draw",
        "logistic regression %", "self-training %", "EM s"]  # fmt: skip
GROUPS = ["set", "rows", "groups", "Rand index", "matched %", "k-means", "matched %", "commonest class %", "s"]


def main(names: list[str]) -> None:
    """Measure, and publish unless only some sets were named."""
    warnings.simplefilter("ignore")
    lines = []
    for key in names or [*(f"text/{name}" for name in TEXTS), *(f"table/{name}" for name in TABLES)]:
        lines.append(labels_line(key))
        print(*lines[-1], sep="\t", flush=True)
    if names:
        return
    groups = [groups_line(name, *parts) for name, parts in grouped_sets().items()]
    times = f"{machine('numpy', 'scikit-learn')}. Times are of the processor."
    head = ["# Rows without labels", str(__doc__).strip(), times]
    publish("em", "\n\n".join([*head, "## Few labels", table(HEAD, lines), "## No labels", table(GROUPS, groups)]))


if __name__ == "__main__":
    main(sys.argv[1:])
