"""Few rows: accuracy and log loss from ten rows on, beside scikit-learn's usual choices.

    python benchmarks/few_rows.py                  # every set, some minutes a size; results/few_rows.md
    python benchmarks/few_rows.py pmlb/sonar 10 20 # print these sets at these sizes, and leave the report as it is

From each set 10, 20, 40, 80, 160 and 320 rows are learned, drawn at random so that all methods see the same, twice; up
to a thousand others are asked, but for those of classes that were not drawn. Logistic regression has its C tuned; the
naive Bayes of scikit-learn is GaussianNB on tables and MultinomialNB on texts.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import real_data
from candide import NaiveBayes
from measure import machine, publish, table
from real_data import SEED, DataSet
from scores import Answers, chance_of

SIZES = (10, 20, 40, 80, 160, 320)
DRAWS = 2
ASKED = 1000
LEAST = 1e-9


class Point(NamedTuple):
    """The accuracy and log loss of each method on one set at one size."""

    key: str
    size: int
    accuracy: dict[str, float]
    log_loss: dict[str, float]


def methods(data: DataSet) -> dict[str, Callable[[Any], Any]]:
    """How each method is made for tables, or for texts, given the labels to be learned."""
    is_text = data.collection == "text"
    encode, plain = (TfidfVectorizer, MultinomialNB) if is_text else (as_numbers, GaussianNB)
    return {
        "Candide": lambda _: NaiveBayes(),
        "LogisticRegression": lambda labels: make_pipeline(encode(), logistic(labels)),
        "scikit-learn NB": lambda _: make_pipeline(CountVectorizer() if is_text else as_numbers(), plain()),
        "RandomForest": lambda _: make_pipeline(encode(), RandomForestClassifier(200, random_state=SEED, n_jobs=1)),
    }


def as_numbers() -> Any:
    """Numbers imputed and scaled, categories one-hot."""
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    others = make_pipeline(FunctionTransformer(lambda frame: frame.astype(str)), OneHotEncoder(handle_unknown="ignore"))
    is_number = make_column_selector(dtype_include=np.number)
    is_other = make_column_selector(dtype_exclude=np.number)
    return make_column_transformer((numbers, is_number), (others, is_other), sparse_threshold=0.0)


def logistic(labels: Any) -> Any:
    """C tuned by three folds of the rows learned, where every class has three of them."""
    plain = LogisticRegression(max_iter=1000)
    if np.unique(labels, return_counts=True)[1].min() < 3:
        return plain
    return GridSearchCV(plain, {"C": (0.01, 0.1, 1, 10, 100)}, cv=3, scoring="neg_log_loss")


def points(key: str, sizes: tuple[int, ...] = SIZES) -> list[Point]:
    """All sizes of a set of which so many rows, and half as many again, are there."""
    warnings.simplefilter("ignore")
    data = real_data.read(key)
    return [point(data, size) for size in sizes if len(data.labels) >= 1.5 * size]


def point(data: DataSet, size: int) -> Point:
    """The mean over draws."""
    found = [drawn(data, size, draw) for draw in range(DRAWS)]
    names = list(methods(data))
    right, losses = ({name: float(np.mean([one[name][part] for one in found])) for name in names} for part in (0, 1))
    return Point(data.key, size, right, losses)


def drawn(data: DataSet, size: int, draw: int) -> dict[str, tuple[float, float]]:
    """Accuracy and log loss of each method, learned from the same rows and asked about the same others."""
    order = np.random.default_rng([SEED, size, draw]).permutation(len(data.labels))
    learned, asked = order[:size], order[size : size + ASKED]
    known = np.unique(data.labels[learned])
    if len(known) < 2:  # one more class, so that there is a question
        other = order[np.flatnonzero(data.labels[order] != known[0])[0]]
        learned, asked = np.append(learned[1:], other), asked[asked != other]
        known = np.unique(data.labels[learned])
    asked = asked[np.isin(data.labels[asked], known)]
    return {name: judged(make(data.labels[learned]), data, learned, asked) for name, make in methods(data).items()}


def judged(model: Any, data: DataSet, learned: Any, asked: Any) -> tuple[float, float]:
    model.fit(data.part(learned), data.labels[learned])
    chances = model.predict_proba(data.part(asked))
    answers = Answers(model.classes_, np.asarray(model.classes_)[chances.argmax(axis=1)], chances, 0.0, 0.0)
    losses = -np.log(np.maximum(chance_of(data.labels[asked], answers), LEAST))
    return float(np.mean(answers.predicted == data.labels[asked])), float(losses.mean())


def shares(found: list[Point]) -> tuple[float, float]:
    """On how many points Candide's log loss is at most, and its accuracy at least, that of every other."""
    lowest = [one.log_loss["Candide"] <= min(one.log_loss.values()) + 1e-9 for one in found]
    highest = [one.accuracy["Candide"] >= max(one.accuracy.values()) - 1e-9 for one in found]
    return float(np.mean(lowest)), float(np.mean(highest))


def summary(found: list[Point]) -> str:
    """A line for each size: means, and on how many sets Candide is best."""
    names = list(found[0].accuracy)
    lines = []
    for size in sorted({one.size for one in found}):
        here = [one for one in found if one.size == size]
        means = (
            f"{100 * np.mean([one.accuracy[name] for one in here]):.1f} / "
            f"{np.mean([one.log_loss[name] for one in here]):.3f}"
            for name in names
        )
        lowest, highest = shares(here)
        lines.append([str(size), str(len(here)), *means, f"{lowest:.0%}", f"{highest:.0%}"])
    return table(["rows", "sets", *names, "lowest loss", "most right"], lines)


def figures(one: Point) -> list[str]:
    """Accuracy and log loss of each method."""
    return [f"{100 * one.accuracy[name]:.1f} / {one.log_loss[name]:.3f}" for name in one.accuracy]


def main(words: list[str]) -> None:
    """Measure, and publish unless only some sets or sizes were named."""
    sizes = tuple(int(word) for word in words if word.isdigit()) or SIZES
    keys = [word for word in words if not word.isdigit()] or list(real_data.names())
    found: list[Point] = []
    with ProcessPoolExecutor() as workers:
        for some in workers.map(points, keys, [sizes] * len(keys)):
            found += some
            for one in some:
                print(one.key, one.size, *figures(one), sep="\t", flush=True)
    lowest, highest = shares(found)
    said = (
        f"Of {len(found)} points (set, size) Candide has the lowest log loss on {lowest:.0%} and is right most often "
        f"on {highest:.0%}."
    )
    print(summary(found), said, sep="\n")
    if not words:
        head = ["# Few rows", str(__doc__).strip(), f"{machine('scikit-learn')}. {said}", summary(found)]
        lines = [[one.key, str(one.size), *figures(one)] for one in found]
        publish("few_rows", "\n\n".join([*head, table(["set", "rows", *found[0].accuracy], lines)]))


if __name__ == "__main__":
    main(sys.argv[1:])
