"""The default, nothing fixed, beside scikit-learn's usual pipelines on real data: python benchmarks/default.py

Names of data sets measure only these, and print: python benchmarks/default.py adult letter; `tables` and `texts`
measure all of a kind, and publish these. Every measurement is a fresh process that reads the data, compiles or warms up
on a few of its rows from all over, and then fits on all of them and predicts all of them, once; the shell's fit reads
the same rows from a file and is timed from its start to its end. Whoever else works on the machine lengthens wall time
for some and not for others, so methods are compared by seconds of the processor, those of all threads added up.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

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
from measure import machine, peak_memory, publish, run_python, table
from real_data import DATA, SEED, DataSet, is_number, names, read

TEXTS = ("sms_spam", "rt_polarity", "movie_reviews", "banking77", "spamassassin", "clinc150")
TABLES = ("clean1", "spambase", "waveform_21", "adult", "dna", "mfeat_fourier", "letter", "covertype")
MOST_ROWS = 100_000
WARM_ROWS = 300
LARGE_TEXT = 5e6
CANDIDE, SHELL = "candide", "candide, shell"
PEERS = {
    "text": ("CountVectorizer + MultinomialNB", "TfidfVectorizer + LogisticRegression, three C"),
    "table": ("HistGradientBoosting", "RandomForest(200)"),
}


class Measured(NamedTuple):
    """The lines of one data set in both tables, and our share of each peer's time."""

    lines: list[list[str]]
    shares: dict[str, float]
    growth: list[str]


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
    start, used = time.perf_counter(), time.process_time()
    model = model_of(method, rows).fit(rows, labels)
    fitted, processor = time.perf_counter(), time.process_time() - used
    model.predict(rows)
    done = time.perf_counter()
    peak = peak_memory()
    found = {"fit": fitted - start, "processor": processor, "predict": done - fitted, "peak": peak}
    print(json.dumps({**found, "rows": len(labels)}))


def measured(name: str, method: str, share: float = 1.0) -> dict[str, float]:
    found: dict[str, float] = json.loads(run_python(__file__, "measure", name, method, str(share)).splitlines()[-1])
    return found


def print_shell(file: str, folder: str) -> None:
    """What a fresh process does: fit in the shell, and say how long that took and how large it grew."""
    arguments = [sys.executable, "-m", "candide", "fit", file, "--label", "label", "-o", f"{folder}/model.candide"]
    seconds, processor = list[float](), list[float]()
    for _ in range(2):
        Path(folder, "model.candide").unlink(missing_ok=True)
        start, used = time.perf_counter(), processor_of_children()
        subprocess.run(arguments, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
        processor.append(processor_of_children() - used)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    print(json.dumps({"fit": min(seconds), "processor": min(processor), "peak": peak}))


def processor_of_children() -> float:
    """Seconds of the processor that processes begun here, and ended, have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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


def asked_of(data: DataSet, shares: list[float]) -> str:
    """Whether the fit is as quick as was asked: for texts by each peer's time, for tables never more than either."""
    if data.collection == "text":
        factor = 1.0 if text_size(data) >= LARGE_TEXT else 2.0
        return "yes" if shares[0] <= factor and shares[1] <= 1 / 5 else "no"
    return "yes" if max(shares) <= 1 else "no"


def compare(name: str) -> Measured:
    """One data set: all methods on all rows, and ours on fewer."""
    data = data_of(name)
    methods = PEERS["text" if data.collection == "text" else "table"]
    ours, shell, theirs = measured(name, CANDIDE), shell_measured(data), [measured(name, peer) for peer in methods]
    shares = {peer: ours["processor"] / found["processor"] for peer, found in zip(methods, theirs, strict=True)}
    reached = asked_of(data, list(shares.values()))
    what = f"{ours['rows']:,.0f} rows, {len(set(data.labels))} classes"
    lines = [[name, what, CANDIDE, *cells(ours), "1.00", reached], ["", "", SHELL, *cells(shell), "", ""]]
    for peer, found in zip(methods, theirs, strict=True):
        lines.append(["", "", peer, *cells(found), f"{shares[peer]:.2f}", ""])
    return Measured(lines, shares, growth(name, ours))


def cells(found: dict[str, float]) -> list[str]:
    predict = f"{found['predict']:.2f} s" if "predict" in found else ""
    return [f"{found['processor']:.2f} s", f"{found['fit']:.2f} s", predict, f"{found['peak']:.0f} MB"]


def growth(name: str, whole: dict[str, float]) -> list[str]:
    """Our fit with a quarter of the rows, half of them, and all."""
    found = [*(measured(name, CANDIDE, share) for share in (0.25, 0.5)), whole]
    return [name, *(f"{one['processor']:.2f} s, {one['peak']:.0f} MB" for one in found)]


def medians(shares: list[dict[str, float]]) -> str:
    """In a sentence: our share of each peer's time in the median, and at most."""
    told = []
    for peer in (*PEERS["text"], *PEERS["table"]):
        if found := [share[peer] for share in shares if peer in share]:
            told.append(f"{median(found):.2f} of {peer} (at most {max(found):.2f})")
    return "Time to fit in the median of data sets: " + "; ".join(told) + "."


def report(found: list[Measured], missing: Sequence[str] = ()) -> str:
    times = ["fit, processor", "fit, wall", "predict"]
    header = ["data", "rows", "method", *times, "peak memory", "ours / theirs", "as asked"]
    parts = [
        "# The default beside scikit-learn's usual pipelines",
        "",
        machine("numpy", "scipy", "numba", "pandas", "scikit-learn")
        + f". When this was written, {os.getloadavg()[0]:.0f} processes wanted a core.",
        "`NaiveBayes().fit` with no options, on real data, whole and not repeated (covertype's first 100,000 rows). "
        "Each measurement is a fresh process: its peak memory is its own, data and libraries included; fit and predict "
        "of all rows once, after a warm-up on 300 rows. The shell's fit reads a CSV file, judges and writes the model, "
        "from start to end of its process. Seconds of the processor are those of all threads, and what is compared: "
        "wall time depends on who else works on the machine. As asked: texts at most the time of CountVectorizer + "
        "MultinomialNB (twice that below 5 MB) and a fifth of LogisticRegression's; tables never more than either.",
        *(["", f"Not measured in this run: {', '.join(missing)}."] if missing else []),
        "",
        table(header, [line for one in found for line in one.lines]),
        "",
        medians([one.shares for one in found]),
        "",
        "As rows grow, seconds of the processor to fit:",
        "",
        table(["data", "a quarter", "half", "all"], [one.growth for one in found]),
    ]
    return "\n".join(parts)


def main(wanted: tuple[str, ...]) -> None:
    kinds = {(): (*TABLES, *TEXTS), ("tables",): TABLES, ("texts",): TEXTS}
    if not DATA.exists():
        print(f"No data in {DATA.name}: nothing to measure.")
    elif wanted not in kinds:
        print(report([compare(name) for name in wanted]))
    else:
        found = list[Measured]()
        for name in kinds[wanted]:  # what was measured is there, whatever happens to the rest
            found.append(compare(name))
            missing = [other for other in kinds[()] if other not in kinds[wanted][: len(found)]]
            publish("default", report(found, missing))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    match sys.argv[1:]:
        case ["measure", name, method, share]:
            print_measured(name, method, float(share))
        case ["shell", file, folder]:
            print_shell(file, folder)
        case wanted:
            main(tuple(wanted))
