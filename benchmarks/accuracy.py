"""How often Candide is right, and whether its chances mean something, beside scikit-learn on real data.

    python benchmarks/accuracy.py                 # NaiveBayes() everywhere, and the peers not yet measured
    python benchmarks/accuracy.py --ours          # NaiveBayes() only: peers as remembered
    python benchmarks/accuracy.py --peers         # measure the peers anew
    python benchmarks/accuracy.py --report        # write the reports from all scores remembered
    python benchmarks/accuracy.py --only adult text pmlb/iris    # print, and leave the reports as they are

Every method gets the same folds. Peers are slow and do not change, so their scores are remembered in
results/accuracy_peers.json with the version they were measured with. Khiops takes part where it is installed:
`pip install khiops khiops-core` in an environment that also has scikit-learn and pandas, activated, and there
`python benchmarks/accuracy.py --peers --methods Khiops`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import accuracy_report as report
import accuracy_targets as targets
import real_data
from accuracy_report import Row
from encodings_of_rows import Split
from measure import RESULTS, machine, publish
from peers import PEERS, Peer
from real_data import DataSet
from scores import DIGITS, Answers, Score, score

MEMORY = RESULTS / "accuracy_peers.json"
WARM_UP = 300


def candide(split: Split) -> Answers:
    """NaiveBayes() with no arguments."""
    from candide import NaiveBayes

    train, test = split.data.part(split.train), split.data.part(split.test)
    start = time.perf_counter()
    model = NaiveBayes().fit(train, split.labels)
    fitted = time.perf_counter()
    chances = model.predict_proba(test)
    done = time.perf_counter()
    return Answers(model.classes_, model.predict(test), chances, fitted - start, done - fitted)


def warm_up(data: DataSet) -> None:
    """Compile on a few rows whatever this data set needs, before the clock starts."""
    train, test = data.folds[0]
    candide(Split(data, train[:: max(1, len(train) // WARM_UP)], test[:5]))


def measured(data: DataSet, methods: dict[str, Callable[[Split], Answers]]) -> dict[str, Score]:
    """The score of every method on all folds; a method that fails gets its error in place of a score."""
    answers: dict[str, list[Answers]] = {name: [] for name in methods}
    errors: dict[str, str] = {}
    for train, test in data.folds:
        split = Split(data, train, test)
        for name, answer in methods.items():
            if name not in errors:
                try:
                    answers[name].append(answer(split))
                except Exception as error:
                    errors[name] = f"{type(error).__name__}: {error}"
    truths = [data.labels[test] for _, test in data.folds]
    return {name: Score(error=errors[name]) if name in errors else score(truths, answers[name]) for name in methods}


def ours(data: DataSet) -> Score:
    """Candide's score."""
    try:
        warm_up(data)
    except Exception as error:
        return Score(error=f"{type(error).__name__}: {error}")
    return measured(data, {"Candide": candide})["Candide"]


def remembered() -> dict[str, dict[str, Any]]:
    """The peers' scores as plain data: {data set: {method: score and versions}}."""
    if not MEMORY.exists():
        return {}
    with MEMORY.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return json.loads(file.read() or "{}")


def remember(key: str, scores: dict[str, Any]) -> None:
    """Add scores, even while another process does."""
    RESULTS.mkdir(exist_ok=True)
    with MEMORY.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = json.loads(file.read() or "{}")
        known[key] = dict(sorted({**known.get(key, {}), **scores}.items()))
        file.truncate(0)
        file.write(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def measure_peers(data: DataSet, peers: Iterable[Peer]) -> None:
    """Measure these peers, and remember."""
    versions = {peer.name: peer.versions for peer in peers}
    found = measured(data, {peer.name: peer.answer for peer in peers})
    remember(data.key, {name: {**plain(found[name]), "versions": versions[name]} for name in found})


def plain(found: Score) -> dict[str, Any]:
    """A score without needless digits and empty fields."""
    rounded = {
        name: round(value, DIGITS) if isinstance(value, float) else value for name, value in asdict(found).items()
    }
    return {name: value for name, value in rounded.items() if value not in ("", None) and value == value}


def peers_to_measure(key: str, anew: bool, methods: list[str]) -> list[Peer]:
    """Those that apply, are installed, and were not measured with this version."""
    known = remembered().get(key, {})
    return [
        peer
        for peer in PEERS
        if key.split("/")[0] in peer.collections
        and peer.is_installed
        and (not methods or peer.name in methods)
        and (anew or known.get(peer.name, {}).get("versions") != peer.versions)
    ]


def scores_of_peers(key: str) -> dict[str, Score]:
    """What is remembered of them on a data set."""
    return {name: remembered_score(key, name) for name in remembered().get(key, {}) if name != "Candide"}


def remembered_score(key: str, method: str) -> Score:
    """One of them."""
    found = remembered()[key][method]
    return Score(**{field: value for field, value in found.items() if field != "versions"})


def ours_remembered(data: DataSet) -> Score:
    """Candide's score, measured now and noted for a later --report."""
    found = ours(data)
    remember(data.key, {"Candide": {**plain(found), "versions": f"candide {version('candide')}"}})
    return found


def asked_for(only: list[str]) -> list[str]:
    """The data sets of these names, keys or collections; all of them where none is named."""
    keys = list(real_data.names())
    chosen = [key for key in keys if not only or {key, *key.split("/")} & set(only)]
    unknown = set(only) - {part for key in keys for part in (key, *key.split("/"))}
    if unknown:
        sys.exit(f"There is no data set called {', '.join(sorted(unknown))}.")
    return chosen


def page_of_many_small_tables(rows: list[Row]) -> str:
    """The PMLB collection: means, targets, and every set."""
    small = [row for row in rows if row.collection == "pmlb"]
    parts = [
        f"# Accuracy on {len(small)} small tables of PMLB",
        f"{packages()}\n{report.METHOD}\n{report.ENCODINGS}",
        report.means(small, ("Candide", *report.OF_MANY)),
        targets.listed(targets.of_many_small_tables(small)),
        "Accuracy / log loss of each set:",
        report.overview(small, report.OF_MANY),
    ]
    return "\n\n".join(parts)


def page_of_tables_and_texts(rows: list[Row]) -> str:
    """The larger tables and the texts: who was how good, what was to be reached, and all figures."""
    tables, texts = ([row for row in rows if row.collection == collection] for collection in ("table", "text"))
    reached = [
        *targets.beside_the_best(rows),
        *targets.of_texts(rows),
        *targets.of_adult(rows),
        *targets.of_many_small_tables([row for row in rows if row.collection == "pmlb"]),
        *targets.measured_apart(),
    ]
    parts = [
        "# Accuracy beside scikit-learn on real data",
        f"{packages()}\n{report.METHOD}\n{report.ENCODINGS}\n{report.TEXT_ENCODINGS}",
        "## Tables, accuracy / log loss",
        report.overview(tables, report.SHOWN_OF_TABLES),
        "## Texts, accuracy / log loss",
        report.overview(texts, report.SHOWN),
        "## All figures",
        report.details([*tables, *texts]),
        "## What was to be reached",
        targets.listed(reached),
    ]
    return "\n\n".join(parts)


def packages() -> str:
    """The machine Candide ran on, and the versions the peers were measured with."""
    peers = (scores.items() for scores in remembered().values())
    versions = sorted({found["versions"] for items in peers for name, found in items if name != "Candide"})
    return f"{machine('candide', 'numpy', 'pandas')}. Peers: {', '.join(versions)}."


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measure what is asked for, and write the reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", action="store_true", help="only Candide: peers as remembered")
    parser.add_argument("--report", action="store_true", help="measure nothing: write the reports from what is noted")
    parser.add_argument("--peers", action="store_true", help="only the peers, anew")
    parser.add_argument("--missing", action="store_true", help="only the peers, where no score is remembered")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="data sets or collections")
    parser.add_argument("--methods", nargs="*", default=[], metavar="NAME", help="only these peers")
    asked = parser.parse_args()
    if not real_data.DATA.exists():
        print(f"Nothing measured, as {real_data.DATA} is not there: set CANDIDE_DATA to where the data is.")
        return
    warnings.simplefilter("ignore")
    keys, found = asked_for(asked.only), {}
    if asked.report:
        keys = [key for key in keys if "Candide" in remembered().get(key, {})]
    for key in keys:
        data, start = real_data.read(key), time.perf_counter()
        peers = [] if asked.ours or asked.report else peers_to_measure(key, asked.peers, asked.methods)
        if peers:
            measure_peers(data, peers)
            say(f"{key}: {len(peers)} peers in {time.perf_counter() - start:.1f} s")
        if not (asked.peers or asked.missing):
            own = remembered_score(key, "Candide") if asked.report else ours_remembered(data)
            found[key] = Row.of(data, own, scores_of_peers(key))
            say(f"{key}: {found[key].progress}")
    rows = list(found.values())
    if not rows:
        return
    if asked.only:
        print(report.details(rows), report.means(rows, ("Candide", *report.OF_MANY)), sep="\n\n")
        return
    publish("accuracy_pmlb", page_of_many_small_tables(rows))
    publish("accuracy", page_of_tables_and_texts(rows))


if __name__ == "__main__":
    main()
