"""Linear refinement of text beside the usual linear models: six sets, their usual splits, processor seconds of a fit.

    python benchmarks/refine.py [NAME ...] [--folds 10] [--peer-folds 3] [--methods NAME ...]

Peers take long, so of ten folds they may see the first few only; Candide refined is then also told for these alone.
What was measured is kept in results/refine.json, from which the page is made. Vowpal Wabbit takes part where it is
installed: `pip install vowpalwabbit`, and then `--methods "Vowpal Wabbit"` adds it to what is kept.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import real_data
from candide import NaiveBayes
from measure import RESULTS, machine, publish, table
from scores import Answers, score

AIMS = {
    "movie_reviews": 89.0,
    "rt_polarity": 80.0,
    "subjectivity": 93.7,
    "banking77": 91.5,
    "clinc150": 93.0,
    "spamassassin": 99.4,
}
REFINED, RATIOS, SVC = "Candide refined", "NB ratios, LogisticRegression", "LinearSVC, tuned"
WABBIT, PASSES = "Vowpal Wabbit", 5
ORDER = ("Candide", REFINED, RATIOS, SVC, WABBIT)
KEPT = RESULTS / "refine.json"


def candide(refine: str) -> Callable[[Any, Any, Any], Answers]:
    """The default, and the default refined."""

    def answer(train: Any, labels: Any, test: Any) -> Answers:
        start = time.process_time()
        model = NaiveBayes(refine=refine).fit({"text": train}, labels)
        fitted = time.process_time() - start
        return answers_of(model, {"text": test}, fitted)

    return answer


def with_ratios(train: Any, labels: Any, test: Any) -> Answers:
    """Binary words and pairs of words times naive Bayes log ratios, class by class (Wang & Manning 2012)."""
    start = time.process_time()
    reader = CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"\w+")
    table_of_words = reader.fit_transform(train).astype(np.float64)
    model = OneVsRestClassifier(RatioRegression()).fit(table_of_words, labels)
    fitted = time.process_time() - start
    return answers_of(model, reader.transform(test).astype(np.float64), fitted)


class RatioRegression(LogisticRegression):
    """Logistic regression on columns times their log ratios of two classes."""

    def __init__(self, C: float = 1.0) -> None:
        super().__init__(C=C, solver="liblinear")

    def fit(self, X: Any, y: Any) -> RatioRegression:
        there = [np.asarray(X[y == label].sum(axis=0)).ravel() + 1.0 for label in (1, 0)]
        rows = [np.sum(y == label) + 2.0 for label in (1, 0)]
        self.ratios_ = sp.diags(np.log(there[0] / rows[0]) - np.log(there[1] / rows[1]))
        return super().fit(X @ self.ratios_, y)

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X @ self.ratios_)


def tuned_svc(train: Any, labels: Any, test: Any) -> Answers:
    """A linear support vector machine on tf-idf of words and pairs of words, its C chosen by three folds."""
    start = time.process_time()
    reader = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+")
    search = GridSearchCV(LinearSVC(dual=True, random_state=0), {"C": [0.1, 0.3, 1, 3]}, cv=3)
    model = search.fit(reader.fit_transform(train), labels)
    fitted = time.process_time() - start
    return Answers(model.classes_, model.predict(reader.transform(test)), None, fitted, 0.0)


def vowpal_wabbit(train: Any, labels: Any, test: Any) -> Answers:
    """Hashed words and pairs of words, one class against the rest, logistic loss, five passes over rows in memory."""
    from vowpalwabbit import Workspace

    start = time.process_time()
    classes, codes = np.unique(labels, return_inverse=True)
    asked = f"--oaa {len(classes)} --loss_function logistic --probabilities --ngram 2 -b 22 --quiet"
    model = Workspace(asked)
    rows = [model.parse(f"{code + 1} {plain_words(text)}") for code, text in zip(codes.tolist(), train, strict=True)]
    order = np.random.default_rng(0).permutation(len(rows))
    for _ in range(PASSES):
        for index in order:
            model.learn(rows[index])
    for row in rows:
        model.finish_example(row)
    fitted = time.process_time() - start
    chances = np.array([model.predict(plain_words(text)) for text in test])
    model.finish()
    return Answers(classes, classes[chances.argmax(axis=1)], chances, fitted, 0.0)


def plain_words(text: str) -> str:
    """A text as Vowpal Wabbit reads it: words apart from what has a meaning of its own there."""
    return "| " + " ".join(re.findall(r"\w+", text.lower()))


METHODS = {"Candide": candide("none"), REFINED: candide("linear"), RATIOS: with_ratios, SVC: tuned_svc}
if importlib.util.find_spec("vowpalwabbit") is not None:
    METHODS[WABBIT] = vowpal_wabbit


def answers_of(model: Any, rows: Any, seconds: float) -> Answers:
    """What a model answers, with its chances."""
    chances = model.predict_proba(rows)
    return Answers(model.classes_, model.classes_[chances.argmax(axis=1)], chances, seconds, 0.0)


def measured(name: str, folds: int, peer_folds: int, methods: list[str]) -> list[dict[str, Any]]:
    """What each of these methods makes of a set."""
    data = real_data.read(f"text/{name}")
    few = np.arange(0, len(data.labels), max(1, len(data.labels) // 300))
    METHODS[REFINED](data.part(few), data.labels[few], data.part(few[:2]))  # kernels are compiled
    found = []
    for method in methods:
        answer = METHODS[method]
        asked = data.folds[: folds if method.startswith("Candide") else peer_folds]
        answers = [answer(data.part(train), data.labels[train], data.part(test)) for train, test in asked]
        some = {len(asked), min(peer_folds, len(asked))} if method == REFINED else {len(asked)}
        found += [line(name, method, data, answers[:count], count) for count in sorted(some, reverse=True)]
    return found


def line(name: str, method: str, data: Any, answers: list[Answers], count: int) -> dict[str, Any]:
    """How good the answers for some folds are."""
    got = score([data.labels[test] for _, test in data.folds[:count]], answers)
    seconds = sum(answer.fit_seconds for answer in answers) / count
    numbers = {"accuracy": 100 * got.accuracy, "log_loss": got.log_loss, "ece": got.ece, "seconds": seconds}
    said = f"{count} of {len(data.folds)} folds" if len(data.folds) > 1 else data.protocol
    return {"set": name, "method": method, "judged": said, **numbers}


def page(lines: list[dict[str, Any]]) -> str:
    """The table, and what was to be reached."""
    shown = [
        [one["set"], one["method"], one["judged"], f"{one['accuracy']:.2f}", *map(three, (one["log_loss"], one["ece"])),
         f"{one['seconds']:.2f}"]
        for one in lines
    ]  # fmt: skip
    aims = [aim for name in AIMS for aim in aims_of(name, [one for one in lines if one["set"] == name])]
    return "\n\n".join(
        [
            "# Linear refinement of text",
            "`python benchmarks/refine.py`. Refined is `NaiveBayes(refine='linear')`; seconds are of the processor, "
            "for one fit from texts on. NB ratios: CountVectorizer, binary words and pairs, times naive Bayes log "
            "ratios, LogisticRegression with C = 1, one class against the rest. LinearSVC: tf-idf of words and pairs, "
            "C of four by three folds. Vowpal Wabbit: words and pairs, hashed, five passes. Peers were judged by some "
            "of the folds only; their lines are to be read beside that of Candide refined for the same folds.",
            machine("scikit-learn", "numpy", "numba"),
            table(("set", "method", "judged by", "accuracy", "log loss", "ECE", "seconds"), shown),
            "## What was to be reached",
            table(("aim", "found", ""), aims),
        ]
    )


def three(number: float | None) -> str:
    """Three decimals, or nothing."""
    return "" if number is None or number != number else f"{number:.3f}"


def aims_of(name: str, lines: list[dict[str, Any]]) -> list[list[str]]:
    """What was to be reached on one set, beside what was."""
    if not lines:
        return [[f"{name}: accuracy at least {AIMS[name]}", "not measured", "not known"]]
    first = next(one for one in lines if one["method"] == REFINED)
    peers = {one["method"]: one for one in lines if one["method"] in (RATIOS, SVC)}
    last = [one for one in lines if one["method"] == REFINED][-1]
    ratios, svc = peers[RATIOS], peers[SVC]
    faster = ratios["seconds"] / last["seconds"]
    return [
        reached(f"{name}: accuracy at least {AIMS[name]}", f"{first['accuracy']:.2f}", first["accuracy"] >= AIMS[name]),
        reached(
            f"{name}: accuracy at least LinearSVC's, {svc['accuracy']:.2f}",
            f"{last['accuracy']:.2f}",
            last["accuracy"] >= svc["accuracy"],
        ),
        reached(f"{name}: ECE at most 0.03", three(first["ece"]), first["ece"] <= 0.03),
        reached(
            f"{name}: log loss, ECE at most LogisticRegression's, {three(ratios['log_loss'])}, {three(ratios['ece'])}",
            f"{three(last['log_loss'])}, {three(last['ece'])}",
            last["log_loss"] <= ratios["log_loss"] and last["ece"] <= ratios["ece"],
        ),
        reached(f"{name}: four times as fast as NB ratios", f"{faster:.1f} times", faster >= 4),
    ]


def reached(aim: str, found: str, enough: bool) -> list[str]:
    """One line of what was to be reached."""
    return [aim, found, "reached" if enough else "not reached"]


def main() -> None:
    """Measure some sets, keep what was found, and write the page of all that was."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("names", nargs="*", default=list(AIMS))
    asked.add_argument("--folds", type=int, default=10)
    asked.add_argument("--peer-folds", type=int, default=3)
    asked.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS), metavar="NAME")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    for name in given.names:
        found = measured(name, given.folds, given.peer_folds, given.methods)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else []
        lines = [one for one in kept if one["set"] != name or one["method"] not in given.methods] + found
        lines.sort(key=lambda one: (list(AIMS).index(one["set"]), ORDER.index(one["method"])))
        KEPT.write_text(json.dumps(lines, indent=1) + "\n")
        publish("refine", page(lines))


if __name__ == "__main__":
    main()
