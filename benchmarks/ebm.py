"""Candide beside the explainable boosting machine, the strongest glass box there is, on a dozen small tables.

    pip install interpret-core          # in an environment that also has candide
    python benchmarks/ebm.py            # measure what is not yet remembered, and write the page
    python benchmarks/ebm.py --ours     # Candide anew, the machine as remembered

The machine (Lou, Caruana and others 2013; `interpret-core`, its own settings) takes minutes a fit, so it learns two of
the five folds that `accuracy.py` uses, and its answers are remembered in results/ebm.json. All others learn the same.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import real_data
from accuracy import candide, plain, warm_up
from encodings_of_rows import Split
from measure import RESULTS, machine, publish, table
from peers import PEERS
from scores import Answers, Score, score

MEMORY = RESULTS / "ebm.json"
FOLDS = 2
TABLES = (
    *("appendicitis", "biomed", "breast_cancer", "bupa", "glass2", "hayes_roth"),
    *("heart_h", "iris", "mux6", "prnn_synth", "saheart", "tae"),
)
"""A dozen of the smallest tables of PMLB, chosen by name before anything was measured."""
MACHINE = "explainable boosting machine"
ONE_OF = {peer.name: peer.answer for peer in PEERS if "pmlb" in peer.collections}


def boosting_machine(split: Split) -> Answers:
    """With its own settings, one core, and a fixed seed."""
    from interpret.glassbox import ExplainableBoostingClassifier

    train, test = split.frames(list(split.data.rows))
    start = time.perf_counter()
    model = ExplainableBoostingClassifier(random_state=real_data.SEED, n_jobs=1).fit(train, split.labels)
    fitted = time.perf_counter()
    chances = model.predict_proba(test)
    predicted = model.classes_[chances.argmax(axis=1)]
    return Answers(model.classes_, predicted, chances, fitted - start, time.perf_counter() - fitted)


METHODS: dict[str, Callable[[Split], Answers]] = {
    "Candide": candide,
    MACHINE: boosting_machine,
    **{name: ONE_OF[name] for name in ("RandomForest", "HistGradientBoosting", "LogisticRegression")},
}


def remembered() -> dict[str, dict[str, Any]]:
    """Scores as plain data: {table: {method: score}}."""
    return json.loads(MEMORY.read_text()) if MEMORY.exists() else {}


def measured(name: str, anew: frozenset[str]) -> None:
    """Measure what is not remembered of a table, or asked for anew; after each method what was found is noted."""
    data = real_data.read(f"pmlb/{name}")
    warm_up(data)
    for method, answer in METHODS.items():
        if method in remembered().get(name, {}) and method not in anew:
            continue
        splits = [Split(data, train, test) for train, test in data.folds[:FOLDS]]
        found = score([split.truth for split in splits], [answer(split) for split in splits])
        known = remembered()
        known.setdefault(name, {})[method] = plain(found)
        MEMORY.write_text(json.dumps(known, indent=1) + "\n")
        print(f"{name}: {method} {cell([found])}", flush=True)


def page() -> str:
    """Every table and the means, by all methods."""
    known = {name: {m: Score(**s) for m, s in scores.items()} for name, scores in remembered().items()}
    whole = {name: scores for name, scores in sorted(known.items()) if set(METHODS) <= set(scores)}
    lines = [[name, *(cell([scores[method]]) for method in METHODS)] for name, scores in whole.items()]
    lines.append(["mean", *(cell([scores[method] for scores in whole.values()]) for method in METHODS)])
    return "\n\n".join([
        f"# Beside the explainable boosting machine, on {len(whole)} of {len(TABLES)} small tables",
        f"{machine('candide', 'interpret-core', 'scikit-learn')}",
        f"Accuracy in % / log loss / seconds to fit, of the first {FOLDS} of the five folds of `accuracy.py`; the "
        "machine has its own settings and, like all peers, one core. Seconds are of the clock on the wall: where other "
        "work ran beside, as here at first, they tell little. `python benchmarks/ebm.py` measures what is missing.",
        table(("data", *METHODS), lines),
    ])


def cell(scores: list[Score]) -> str:
    """Accuracy, log loss and seconds, in the mean."""
    accuracy, loss = np.mean([s.accuracy for s in scores]), np.mean([s.log_loss for s in scores])
    return f"{100 * accuracy:.2f} / {loss:.3f} / {np.mean([s.fit_seconds for s in scores]):.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", action="store_true", help="Candide anew")
    parser.add_argument("--only", nargs="*", default=TABLES, metavar="NAME", help="these tables")
    asked = parser.parse_args()
    if not real_data.DATA.exists():
        print(f"Nothing measured, as {real_data.DATA} is not there: set CANDIDE_DATA to where the data is.")
        return
    try:
        import interpret  # noqa: F401
    except ImportError:
        print("Nothing measured, as the explainable boosting machine is not installed: pip install interpret-core")
        return
    warnings.simplefilter("ignore")
    for name in asked.only:
        measured(name, frozenset({"Candide"} if asked.ours else ()))
    publish("ebm", page())


if __name__ == "__main__":
    main()
