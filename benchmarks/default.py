"""The default, nothing fixed, beside scikit-learn's usual pipelines on real data: python benchmarks/default.py

Names of data sets measure only these, and print: python benchmarks/default.py adult letter. Every measurement is a
fresh process that reads the data, compiles or warms up on a few of its rows from all over, and then fits on all of them
and predicts all of them, once; the shell's fit reads the same rows from a file and is timed from its start to its end.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from candide import NaiveBayes
from measure import machine, publish, run_python, table
from real_data import DATA, SEED, DataSet, is_number, names, read

TEXTS = ("spamassassin", "movie_reviews", "clinc150", "banking77", "rt_polarity", "sms_spam")
TABLES = ("adult", "covertype", "letter", "spambase", "mfeat_fourier", "dna", "clean1", "waveform_21")
MOST_ROWS = 100_000
WARM_ROWS = 300
LARGE_TEXT = 5e6
CANDIDE, SHELL = "candide", "candide, shell"
PEERS = {
    "text": ("CountVectorizer + MultinomialNB", "TfidfVectorizer + LogisticRegression, three C"),
    "table": ("HistGradientBoosting", "RandomForest(200)"),
}


def data_of(name: str) -> DataSet:
    """A data set by name: of the tables of many kinds, else the small ones, else texts."""
    keys = [key for key in names() if key.split("/")[1] == name]
    return read(sorted(keys, key=lambda key: ["table", "pmlb", "text"].index(key.split("/")[0]))[0])


def rows_of(data: DataSet, share: float = 1.0) -> tuple[Any, Any]:
    """Rows and labels as they stand: a share of them, from all over, but no more than the most."""
    count = min(len(data.labels), MOST_ROWS)
    wanted = np.arange(0, count, round(1 / share))
    return data.part(wanted), data.labels[wanted]


def model_of(method: str, rows: Any) -> Any:
    """A method as people write it."""
    if method == CANDIDE:
        return NaiveBayes()
    if method == PEERS["text"][0]:
        return make_pipeline(CountVectorizer(), MultinomialNB())
    if method == PEERS["text"][1]:
        search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [1, 10, 100]}, cv=3)
        return make_pipeline(TfidfVectorizer(), search)
    strings = [column for column in rows if not is_number(rows[column])]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoder = make_column_transformer((codes, strings), remainder="passthrough")
    if method == "HistGradientBoosting":
        return make_pipeline(encoder, HistGradientBoostingClassifier(random_state=SEED))
    return make_pipeline(encoder, RandomForestClassifier(200, random_state=SEED, n_jobs=-1))


def print_measured(name: str, method: str, share: float) -> None:
    """What a fresh process does: warm up, fit and predict, and say how long that took and how large it grew."""
    rows, labels = rows_of(data_of(name), share)
    few = np.arange(0, len(labels), max(1, len(labels) // WARM_ROWS))
    warm = [rows[index] for index in few] if isinstance(rows, list) else rows.iloc[few]
    model_of(method, rows).fit(warm, labels[few]).predict(warm)
    start = time.perf_counter()
    model = model_of(method, rows).fit(rows, labels)
    fitted = time.perf_counter()
    model.predict(rows)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"fit": fitted - start, "predict": done - fitted, "peak": peak, "rows": len(labels)}))


def measured(name: str, method: str, share: float = 1.0) -> dict[str, float]:
    found: dict[str, float] = json.loads(run_python(__file__, "measure", name, method, str(share)).splitlines()[-1])
    return found


def print_shell(file: str, folder: str) -> None:
    """What a fresh process does: fit in the shell, and say how long that took and how large it grew."""
    arguments = [sys.executable, "-m", "candide", "fit", file, "--label", "label", "-o", f"{folder}/model.candide"]
    seconds = []
    for _ in range(2):
        Path(folder, "model.candide").unlink(missing_ok=True)
        start = time.perf_counter()
        subprocess.run(arguments, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    print(json.dumps({"fit": min(seconds), "peak": peak}))


def shell_measured(data: DataSet) -> dict[str, float]:
    """The shell's fit of the same rows from a file, at its second run."""
    rows, labels = rows_of(data)
    frame = pd.DataFrame({"text": rows}) if isinstance(rows, list) else rows
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        frame.assign(label=labels).to_csv(file, index=False)
        found: dict[str, float] = json.loads(run_python(__file__, "shell", str(file), folder).splitlines()[-1])
        return found


def text_size(data: DataSet) -> int:
    return sum(len(text.encode()) for text in data.rows)


def asked_of(data: DataSet, ours: float, theirs: list[float]) -> str:
    """Whether the fit is as quick as was asked: for texts by each peer's time, for tables never more than either."""
    if data.collection == "text":
        factor = 1.0 if text_size(data) >= LARGE_TEXT else 2.0
        return "yes" if ours <= factor * theirs[0] and ours <= theirs[1] / 5 else "no"
    return "yes" if ours <= min(theirs) else "no"


def compare(name: str) -> tuple[list[list[str]], dict[str, float]]:
    """The lines of one data set, and our share of each peer's time."""
    data = data_of(name)
    methods = PEERS["text" if data.collection == "text" else "table"]
    ours, shell, theirs = measured(name, CANDIDE), shell_measured(data), [measured(name, peer) for peer in methods]
    reached = asked_of(data, ours["fit"], [found["fit"] for found in theirs])
    what = f"{ours['rows']:,.0f} rows, {len(set(data.labels))} classes"
    lines = [[name, what, CANDIDE, *cells(ours), "1.00", reached], ["", "", SHELL, *cells(shell), "", ""]]
    for peer, found in zip(methods, theirs, strict=True):
        lines.append(["", "", peer, *cells(found), f"{ours['fit'] / found['fit']:.2f}", ""])
    return lines, {peer: ours["fit"] / found["fit"] for peer, found in zip(methods, theirs, strict=True)}


def cells(found: dict[str, float]) -> list[str]:
    predict = f"{found['predict']:.2f} s" if "predict" in found else ""
    return [f"{found['fit']:.2f} s", predict, f"{found['peak']:.0f} MB"]


def growth(name: str) -> list[str]:
    """Our fit with a quarter of the rows, half of them, and all."""
    found = [measured(name, CANDIDE, share) for share in (0.25, 0.5, 1.0)]
    return [name, *(f"{one['fit']:.2f} s, {one['peak']:.0f} MB" for one in found)]


def medians(shares: list[dict[str, float]]) -> str:
    """In a sentence: our share of each peer's time in the median, and at most."""
    told = []
    for peer in (*PEERS["text"], *PEERS["table"]):
        if found := [share[peer] for share in shares if peer in share]:
            told.append(f"{median(found):.2f} of {peer} (at most {max(found):.2f})")
    return "Time to fit in the median of data sets: " + "; ".join(told) + "."


def report(wanted: tuple[str, ...]) -> str:
    compared = [compare(name) for name in wanted]
    header = ["data", "rows", "method", "fit", "predict", "peak memory", "ours / theirs", "as asked"]
    parts = [
        "# The default beside scikit-learn's usual pipelines",
        "",
        machine("numpy", "scipy", "numba", "pandas", "scikit-learn") + ".",
        "`NaiveBayes().fit` with no options, on real data, whole and not repeated (covertype's first 100,000 rows). "
        "Each measurement is a fresh process: its peak memory is its own, data and libraries included; fit and predict "
        "of all rows once, after a warm-up on 300 rows. The shell's fit reads a CSV file, judges and writes the model, "
        "from start to end of its process. As asked: texts at most the time of CountVectorizer + MultinomialNB (twice "
        "that below 5 MB) and a fifth of LogisticRegression's; tables never more than either.",
        "",
        table(header, [line for lines, _ in compared for line in lines]),
        "",
        medians([shares for _, shares in compared]),
        "",
        "As rows grow:",
        "",
        table(["data", "a quarter", "half", "all"], [growth(name) for name in wanted]),
    ]
    return "\n".join(parts)


def main(wanted: tuple[str, ...]) -> None:
    if not DATA.exists():
        print(f"No data in {DATA.name}: nothing to measure.")
    elif wanted:
        print(report(wanted))
    else:
        publish("default", report((*TEXTS, *TABLES)))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    match sys.argv[1:]:
        case ["measure", name, method, share]:
            print_measured(name, method, float(share))
        case ["shell", file, folder]:
            print_shell(file, folder)
        case wanted:
            main(tuple(wanted))
