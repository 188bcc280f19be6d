"""Engines of clusters, on real schedulers and worker processes: the same bytes as on one machine, whatever happens."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import candide
from candide import NaiveBayes, TextOptions, engines, store
from candide.api import verbs
from candide.cli.app import app
from candide.data.errors import ColumnRefused, LabelsRefused, OptionRefused, RowNeverLearned, RowsRefused
from candide.engines import spark
from candide.evaluation import leave_one_out
from candide.sources import SourceRefused, columnar, file_source, opening
from real_clusters import CLUSTERS, PATIENCE, missing, stop

EXAMPLES = Path(__file__).parents[1] / "examples"
PARTS = (1, 2, 7, 64)
FIXED = {"families": "guess", "smoothing": "default", "calibrate": False}
WAYS = {"default": {}, "fixed": FIXED}
ROWS = 640


@pytest.fixture(scope="module", params=sorted(CLUSTERS))
def cluster(request, tmp_path_factory):
    """A cluster with two workers."""
    if why := missing(request.param):
        pytest.skip(why)
    with CLUSTERS[request.param](tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    """Numbers, counts, categories, a text, gaps, and rows that are there more than once."""
    rng = np.random.default_rng(17)
    label = rng.choice(["fig", "pear", "plum"], ROWS)
    code = np.searchsorted(["fig", "pear", "plum"], label)
    words = np.array([["sweet", "dry"], ["juicy", "green"], ["blue", "stone"]])
    common = ["a", "the", "fruit", "ripe", "tree", "basket"]
    rows = pd.DataFrame(
        {
            "weight": np.round(rng.normal(size=ROWS) + 1.5 * code, 2),
            "seeds": rng.poisson(2 + 2 * code).astype(float),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
            "note": [" ".join([*rng.choice(common, 4), *rng.choice(words[at], 2)]) for at in code],
            "label": label,
        }
    )
    rows.loc[rng.random(ROWS) < 0.05, "weight"] = np.nan
    rows.loc[rng.random(ROWS) < 0.05, "colour"] = None
    rows.iloc[100:160] = rows.iloc[:60].to_numpy()
    return rows


@pytest.fixture(scope="module")
def here(mixed):
    """The model of this machine, as bytes."""
    return {way: store.canonical_bytes(verbs.fit(mixed, "label", **options).trained) for way, options in WAYS.items()}


def in_files(rows, folder, parts, form="parquet"):
    """The rows, shuffled, in so many files; the pattern of their names."""
    folder.mkdir(exist_ok=True)
    shuffled = rows.sample(frac=1, random_state=parts)
    for part in range(parts):
        getattr(shuffled.iloc[part::parts], f"to_{form}")(folder / f"part{part:03}.{form}", index=False)
    return str(folder / f"*.{form}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("parts", PARTS)
def test_files_in_any_parts_and_order_give_the_bytes_of_one_machine(cluster, mixed, here, parts, way, tmp_path):
    paths = in_files(mixed, tmp_path / "rows", parts)
    fitted = verbs.fit(paths, "label", engine=cluster.engine, **WAYS[way])
    assert store.canonical_bytes(fitted.trained) == here[way]
    assert f"in {parts} part{'s' if parts > 1 else ''} and 2 passes" in fitted.notes[-1]
    assert [(one["work"], one["parts"]) for one in fitted.provenance["read"]["passes"]] == [
        ("Picking", parts), ("Learning", parts),
    ]  # fmt: skip


def test_where_all_was_said_rows_are_read_once_and_not_picked(cluster, mixed, tmp_path):
    said = {
        "families": {"weight": "gaussian", "seeds": "poisson", "colour": "categorical", "note": "text"},
        "text": TextOptions(ngrams=2), "smoothing": 1.0, "calibrate": False,
    }  # fmt: skip
    here = store.canonical_bytes(verbs.fit(mixed, "label", **said).trained)
    for rows in (in_files(mixed, tmp_path / "rows", 7), cluster.frame(mixed, 3)):
        fitted = verbs.fit(rows, "label", engine=cluster.engine, **said)
        assert store.canonical_bytes(fitted.trained) == here
        assert [one["work"] for one in fitted.provenance["read"]["passes"]] == ["Learning"]
    rows = in_files(mixed, tmp_path / "rows", 7)
    almost = verbs.fit(rows, "label", engine=cluster.engine, **said | {"smoothing": "auto"})
    assert [one["work"] for one in almost.provenance["read"]["passes"]] == ["Picking", "Learning"]


def test_one_large_file_is_read_by_several_workers(cluster, mixed, here, tmp_path, monkeypatch):
    """A Parquet file is parted between its row groups, and answered in its order."""
    monkeypatch.setattr(columnar, "PART_BYTES", 1)
    mixed.sample(frac=1, random_state=4).to_parquet(tmp_path / "rows.parquet", index=False, row_group_size=ROWS // 4)
    fitted = verbs.fit(tmp_path / "rows.parquet", "label", engine=cluster.engine)
    assert store.canonical_bytes(fitted.trained) == here["default"]
    assert "in 4 parts and 2 passes" in fitted.notes[-1]
    rows = pd.read_parquet(tmp_path / "rows.parquet").drop(columns="label")
    rows.to_parquet(tmp_path / "new.parquet", index=False, row_group_size=100)
    verbs.predict(fitted, tmp_path / "new.parquet", str(tmp_path / "there.csv"), engine=cluster.engine)
    verbs.predict(fitted, tmp_path / "new.parquet", str(tmp_path / "here.csv"))
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_one_large_text_file_is_read_by_several_workers(cluster, mixed, form, tmp_path, monkeypatch):
    """Cut between records, quoted line ends minded; a bad row is told of by its line in the file."""
    monkeypatch.setattr(file_source, "PART_BYTES", 1)
    monkeypatch.setattr(file_source, "SAMPLE", 8_000)
    monkeypatch.setitem(opening.open_source.__kwdefaults__, "batch_bytes", 8_000)
    rows, path = mixed.assign(note=mixed["note"].str.replace(" ", "\n", n=2)), tmp_path / f"rows.{form}"
    if form == "csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_json(path, orient="records", lines=True)
    there, here = (verbs.fit(path, "label", engine=engine) for engine in (cluster.engine, "local"))
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(here.trained)
    assert there.provenance["read"]["passes"][0]["parts"] > 4
    written = [tmp_path / "there.csv", tmp_path / "here.csv"]
    for target, engine in zip(written, (cluster.engine, "local"), strict=True):
        verbs.predict(here, path, str(target), engine=engine)
    assert written[0].read_bytes() == written[1].read_bytes()
    with open(path, "a") as file:
        file.write("1,2\n" if form == "csv" else "[1]\n")
    with pytest.raises(SourceRefused) as refused_there:
        verbs.fit(path, "label", engine=cluster.engine, **FIXED)
    with pytest.raises(SourceRefused) as refused_here:
        verbs.fit(path, "label", **FIXED)
    assert str(refused_there.value) == str(refused_here.value)


@pytest.mark.parametrize("parts", [3])
def test_delimited_files_are_read_by_workers_as_they_are_here(cluster, mixed, parts, tmp_path):
    paths = in_files(mixed, tmp_path / "rows", parts, "csv")
    there = verbs.fit(paths, "label", engine=cluster.engine)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(verbs.fit(paths, "label").trained)
    assert there.trained.tuning.quality == verbs.fit(paths, "label").trained.tuning.quality


@pytest.mark.parametrize("parts", [5])
def test_a_frame_of_the_cluster_gives_the_bytes_of_one_machine(cluster, mixed, here, parts):
    frame = cluster.frame(mixed.sample(frac=1, random_state=2), parts)
    model = NaiveBayes(engine=cluster.engine).fit(frame, "label")
    assert store.canonical_bytes(model.trained_) == here["default"]
    with pytest.raises(LabelsRefused, match="one of its columns"):
        NaiveBayes(engine=cluster.engine).fit(frame, ["fig"] * ROWS)


CONNECT = """
import sys
from pyspark.sql import SparkSession
from candide import NaiveBayes
from candide.api import verbs
session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = session.read.parquet(sys.argv[1]).repartition(3)
NaiveBayes(engine="spark").fit(frame, "label").save(sys.argv[2])
verbs.predict(sys.argv[2], frame, engine="spark").table.write.parquet(sys.argv[3])
session.stop()
"""


def test_a_session_of_spark_connect_will_do(mixed, here, tmp_path):
    """In a process of its own: one can have no session of the other kind beside it."""
    if why := missing("spark"):
        pytest.skip(why)
    pytest.importorskip("grpc_status", reason="Spark Connect is not installed: pip install 'pyspark[connect]'")
    mixed.to_parquet(tmp_path / "rows.parquet")
    files = [tmp_path / "rows.parquet", tmp_path / "model.candide", tmp_path / "answers.parquet"]
    workers = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    subprocess.run([sys.executable, "-c", CONNECT, *files], check=True, cwd=tmp_path, env=workers, timeout=2 * PATIENCE)
    assert store.canonical_bytes(store.load(files[1])) == here["default"]
    assert_same_rows(pd.read_parquet(files[2]), verbs.predict(files[1], mixed).table.to_pandas(), mixed.columns)


def assert_same_rows(found, expected, order):
    """The same columns and values, in whatever order the rows are."""
    assert list(found.columns) == list(expected.columns)
    found, expected = (rows.sort_values(list(order)) for rows in (found, expected))
    for name in expected.columns:
        assert found[name].astype(str).tolist() == expected[name].astype(str).tolist()


def test_a_frame_is_answered_where_it_lies(cluster, mixed):
    fitted = verbs.fit(mixed, "label")
    found = verbs.predict(fitted, cluster.frame(mixed, 3), engine=cluster.engine, probabilities=True).table
    expected = verbs.predict(fitted, mixed, probabilities=True).table.to_pandas()
    assert_same_rows(cluster.rows(found), expected, mixed.columns)


def test_some_rows_and_columns_of_a_frame_are_answered(cluster, mixed):
    """Columns that the model does not read pass by, whatever they are called."""
    rows = mixed.assign(**{"day.of `the` week": mixed["seeds"] % 7, "label_predicted": "taken", "decision": 1})
    kept = ["day.of `the` week", "seeds", "decision", "label_predicted"]
    options = {"where": "seeds >= 4 and colour is not missing", "columns": kept}
    fitted = verbs.fit(mixed, "label")
    for more in ({"where": options["where"]}, options):
        found = verbs.predict(fitted, cluster.frame(rows, 3), engine=cluster.engine, **more).table
        expected = verbs.predict(fitted, rows, **more).table.to_pandas()
        assert 0 < len(expected) < ROWS
        assert_same_rows(cluster.rows(found), expected, expected.columns)


def test_spark_asks_python_only_for_answers_that_somebody_wants(mixed, tmp_path, capsys):
    """And only once, even where rows are kept by what was answered."""
    if why := missing("spark"):
        pytest.skip(why)
    with CLUSTERS["spark"](tmp_path, 1) as cluster:
        answered = verbs.predict(verbs.fit(mixed, "label", **FIXED), cluster.frame(mixed, 2), engine="spark").table
        answered.select("colour", "seeds").explain()
        assert "ArrowEvalPython" not in capsys.readouterr().out
        answered.where("label_predicted = 'fig'").explain()
        assert capsys.readouterr().out.count("ArrowEvalPython") == 1


def test_files_are_answered_by_workers_in_their_order(cluster, mixed, tmp_path):
    paths = in_files(mixed, tmp_path / "rows", 4, "csv")
    fitted = verbs.fit(mixed, "label", **FIXED)
    here, there = str(tmp_path / "here.csv"), str(tmp_path / "there.csv")
    expected, found = verbs.predict(fitted, paths, here), verbs.predict(fitted, paths, there, engine=cluster.engine)
    assert (found.rows, found.decisions) == (expected.rows, expected.decisions) == (ROWS, found.decisions)
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_a_bad_row_stops_all_with_its_file_or_is_counted(cluster, mixed, tmp_path):
    paths = in_files(mixed, tmp_path / "rows", 3, "csv")
    bad = tmp_path / "rows" / "part001.csv"
    lines = bad.read_text().splitlines()
    bad.write_text("\n".join([*lines[:20], "1,2", *lines[20:], "3"]) + "\n")
    with pytest.raises(SourceRefused, match=r"part001\.csv, line 21: 2 fields, but the header names 5"):
        verbs.fit(paths, "label", engine=cluster.engine, **FIXED)
    options = {"on_error": "skip", **FIXED}
    there = verbs.fit(paths, "label", engine=cluster.engine, rejects=tmp_path / "there.csv", **options)
    here = verbs.fit(paths, "label", rejects=tmp_path / "here.csv", **options)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(here.trained)
    assert [note for note in there.notes if note.startswith("2 rows were left out")]
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_a_column_that_turns_out_to_be_text_is_read_as_text(cluster, tmp_path):
    (tmp_path / "a.csv").write_text("code,label\n" + "".join(f"{n},{'xy'[n % 2]}\n" for n in range(40)))
    (tmp_path / "b.csv").write_text("code,label\n" + "".join(f"n{n % 3},{'xy'[n % 2]}\n" for n in range(40)))
    paths = str(tmp_path / "*.csv")
    there = verbs.fit(paths, "label", engine=cluster.engine)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(verbs.fit(paths, "label").trained)


def test_more_rows_than_are_looked_at_choose_the_same(tmp_path):
    """Within this process: rows are picked from parts, some of them from several, and lacking ones are fetched."""
    if why := missing("dask"):
        pytest.skip(why)
    rng, number = np.random.default_rng(5), 70_000
    code = rng.integers(0, 3, number)
    rows = pd.DataFrame({"x": np.round(rng.normal(size=number) + code, 3), "visits": rng.poisson(2 + code)})
    rows = rows.assign(colour=rng.choice(["red", "blue"], number), label=np.array(["fig", "pear", "plum"])[code])
    rows = pd.concat([rows, rows.iloc[:5_000]])
    rows.to_parquet(tmp_path / "all.parquet", index=False)
    there = verbs.fit(in_files(rows, tmp_path / "rows", 7), "label", engine="dask")
    here = verbs.fit(tmp_path / "all.parquet", "label")
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(here.trained)
    assert "7 parts and 3 passes" in there.notes[-1]


def test_more_rows_are_learned_on_a_cluster(cluster, mixed):
    first, second = mixed.iloc[:400], mixed.iloc[400:]
    fitted = verbs.fit(first, "label")
    there = verbs.learn(fitted, cluster.frame(second, 3), engine=cluster.engine)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(verbs.learn(fitted, second).trained)


def test_rows_that_are_here_are_worked_on_here(cluster, mixed, here):
    """A frame of this machine has no parts: it used to end in an IndexError."""
    fitted = verbs.fit(mixed, "label", engine=cluster.engine)
    assert store.canonical_bytes(fitted.trained) == here["default"]
    assert verbs.evaluate(fitted, mixed, engine=cluster.engine).rows == ROWS
    assert verbs.predict(fitted, mixed, engine=cluster.engine).rows == ROWS


def test_rows_are_forgotten_on_a_cluster(cluster, mixed):
    fitted, gone = verbs.fit(mixed, "label"), mixed.iloc[:300]
    there = verbs.forget(fitted, cluster.frame(gone, 3), engine=cluster.engine)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(verbs.forget(fitted, gone).trained)
    strangers = cluster.frame(gone.assign(height=1.0), 3)
    with pytest.raises(ColumnRefused, match="'height' was never learned"):
        verbs.forget(fitted, strangers, engine=cluster.engine)


def test_a_ledger_is_kept_where_rows_lie(cluster, mixed, tmp_path):
    """Rows come here only to name one that was never learned."""
    paths = in_files(mixed, tmp_path / "rows", 3)
    there = verbs.fit(paths, "label", engine=cluster.engine, ledger=True, **FIXED)
    here = verbs.fit(paths, "label", ledger=True, **FIXED)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(here.trained)
    assert [one["work"] for one in there.provenance["read"]["passes"]] == ["Picking", "Noting", "Learning"]
    gone = cluster.frame(mixed.iloc[:300], 2)
    forgotten = verbs.forget(there, gone, engine=cluster.engine)
    assert store.canonical_bytes(forgotten.trained) == store.canonical_bytes(verbs.forget(here, mixed[:300]).trained)
    with pytest.raises(RowNeverLearned):
        verbs.forget(forgotten, gone, engine=cluster.engine)


def test_texts_alone_choose_the_same_recipe(cluster, mixed, tmp_path):
    texts = mixed[["note", "label"]]
    there = verbs.fit(in_files(texts, tmp_path / "rows", 7), "label", engine=cluster.engine)
    assert store.canonical_bytes(there.trained) == store.canonical_bytes(verbs.fit(texts, "label").trained)


def test_new_rows_are_judged_where_they_lie(cluster, mixed, tmp_path):
    """The same figures, and the same rows whose labels look wrong, since rows are counted through all parts."""
    learned, new = mixed.iloc[:500], mixed.iloc[500:].assign(label=mixed["label"].iloc[500:].to_numpy()[::-1])
    fitted, paths = verbs.fit(learned, "label"), in_files(new, tmp_path / "rows", 3)
    there, here = verbs.evaluate(fitted, paths, engine=cluster.engine), verbs.evaluate(fitted, paths)
    assert there == here
    assert there.suspicious == here.suspicious
    assert there.suspicious
    learned_again = verbs.evaluate(fitted, in_files(learned, tmp_path / "old", 4), engine=cluster.engine)
    assert "These are the rows that the model has learned" in str(learned_again.notes[-1])


@pytest.mark.parametrize("room", [None, 100])
def test_learned_rows_are_left_out_where_they_lie(cluster, mixed, room, tmp_path, monkeypatch):
    """Calibrated anew without each tenth, and where rows are too many for that."""
    if room is not None:
        monkeypatch.setattr(leave_one_out, "MOST_ROWS", room)
    paths = in_files(mixed, tmp_path / "rows", 3, "csv")
    fitted = verbs.fit(paths, "label")
    here = verbs.evaluate(fitted, paths, leave_one_out=True)
    there = verbs.evaluate(fitted, paths, leave_one_out=True, engine=cluster.engine)
    assert there.to_dict() == here.to_dict()
    assert any("too many to calibrate" in note for note in there.notes) == (room is not None)
    anew = verbs.evaluate(paths, label="label", engine=cluster.engine)
    assert anew.to_dict() == verbs.evaluate(paths, label="label").to_dict()
    with pytest.raises(RowsRefused, match="Only rows that were learned"):
        verbs.evaluate(fitted, mixed.assign(weight=1234.0), leave_one_out=True, engine=cluster.engine)


def test_a_stream_learns_each_batch_once(cluster, mixed, tmp_path):
    if cluster.name != "spark":
        pytest.skip("streams of frames are Spark's")
    streaming = runpy.run_path(str(EXAMPLES / "streaming.py"))
    rows, model = tmp_path / "rows", str(tmp_path / "m.candide")
    rows.mkdir()
    halves = mixed.iloc[:400], mixed.iloc[400:]
    first = verbs.fit(halves[0], "label")
    for number, expected in enumerate((first, verbs.learn(first, halves[1]))):
        halves[number].to_parquet(rows / f"part{number}.parquet", index=False)
        streaming["main"](str(rows), "label", model)
        found = verbs.load(model)
        assert store.canonical_bytes(found.trained) == store.canonical_bytes(expected.trained)
        assert found.provenance["batch"] == number
    again = streaming["Learner"](model, "label")
    again(cluster.frame(halves[1], 2), 1)
    assert verbs.load(model).rows == ROWS
    again(cluster.frame(halves[1], 2), 2)
    assert verbs.load(model).rows == ROWS + len(halves[1])


def test_a_bag_of_objects_is_a_frame(mixed, here, tmp_path):
    if why := missing("dask"):
        pytest.skip(why)
    import dask.bag

    with CLUSTERS["dask"](tmp_path, 1) as cluster:
        rows = [{k: None if v != v else v for k, v in row.items()} for row in mixed.to_dict("records")]
        model = NaiveBayes(engine=cluster.engine).fit(dask.bag.from_sequence(rows, npartitions=3), "label")
    assert store.canonical_bytes(model.trained_) == here["default"]


def test_a_worker_that_is_lost_changes_nothing(mixed, here, tmp_path):
    if why := missing("dask"):
        pytest.skip(why)
    with CLUSTERS["dask"](tmp_path, 3) as cluster:
        lost_in_the_middle(cluster, mixed, here, tmp_path)


def test_an_executor_that_is_lost_changes_nothing(mixed, here, tmp_path, monkeypatch):
    if why := missing("spark"):
        pytest.skip(why)
    monkeypatch.setattr(spark, "ROWS_A_TASK", 1)  # as many tasks as a long job has, so that it can be half done
    with CLUSTERS["spark"](tmp_path, 2) as cluster:
        lost_in_the_middle(cluster, mixed, here, tmp_path)


def lost_in_the_middle(cluster, mixed, here, folder):
    """Fit while a worker is killed, once some parts were learned."""
    paths, told, victim = in_files(mixed, folder / "rows", 64), [], cluster.workers.pop()

    @contextmanager
    def watch(work, size):
        def report(amount):
            told.append((work, amount))
            if work == "Learning" and amount and victim.poll() is None:
                stop(victim)

        yield report

    try:
        fitted = verbs.fit(paths, "label", engine=cluster.engine, watch=watch)
    finally:
        stop(victim)
    assert {work for work, amount in told if amount} >= {"Picking", "Learning"}
    assert store.canonical_bytes(fitted.trained) == here["default"]


def test_the_shell_fits_on_a_cluster(cluster, mixed, here, tmp_path):
    paths, model = in_files(mixed, tmp_path / "rows", 3), str(tmp_path / "m.candide")
    where = ["--scheduler" if cluster.name == "dask" else "--master", cluster.address]
    found = CliRunner().invoke(
        app, ["fit", paths, "--label", "label", "--engine", cluster.name, *where, "-o", model], catch_exceptions=False
    )
    assert found.exit_code == 0, found.output
    assert store.canonical_bytes(store.load(model)) == here["default"]
    assert candide.load(model).engine == "local"


@pytest.mark.parametrize(("engine", "package"), [("dask", "dask"), ("spark", "pyspark.sql")])
def test_a_missing_package_is_named_with_the_line_that_installs_it(engine, package, monkeypatch, mixed, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionRefused, match=rf"pip install 'candide\[{engine}\]'"):
        verbs.fit(in_files(mixed, tmp_path / "rows", 2), "label", engine=engine)


def test_an_address_is_for_a_cluster(mixed):
    with pytest.raises(OptionRefused, match="'local' has no address"):
        engines.named("local:tcp://127.0.0.1:1")
    found = CliRunner().invoke(app, ["fit", "x.csv", "--scheduler", "tcp://127.0.0.1:1"])
    assert "--scheduler is for --engine dask" in found.output.replace("\n", " ")
