"""No file is destroyed that is read, or that is of another kind, whatever verb writes; unless it is meant."""

from __future__ import annotations

import gzip
import inspect
import os
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from candide import NaiveBayes
from candide.api import verbs
from candide.cli.app import app
from candide.cli.wording import in_shell
from candide.store import OverwritingRefused
from candide.store.overwriting import file_kind

CSV = "size,colour,kind\n" + "".join(f"{size},{'red' if size < 5 else 'blue'},{'ab'[size > 4]}\n" for size in range(10))
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}
FOUND = {
    "a model": None,
    "text": b"precious,data\n1,2\n",
    "a web page": b"<!DOCTYPE html>\n<html>precious</html>",
    "an SVG picture": b'<?xml version="1.0"?><svg>precious</svg>',
    "a PNG picture": b"\x89PNG\r\n precious",
    "Parquet": b"PAR1 precious",
    "compressed data": gzip.compress(b"precious"),
    "something else": b"SQLite format 3\0 precious",
}

#: How each verb that writes is called: what it writes, and its other arguments, in Python and in the shell.
WRITERS = {
    "fit": ("a model", "m2.candide", lambda to, force: verbs.fit("data.csv", "kind", to, force=force, **PLAIN),
            "fit data.csv --label kind --plain"),
    "cluster": ("a model", "m2.candide", lambda to, force: verbs.cluster("data.csv", 2, to, force=force),
                "cluster data.csv --groups 2"),
    "learn": ("a model", "m2.candide", lambda to, force: verbs.learn("m.candide", "data.csv", to, force=force),
              "learn m.candide data.csv"),
    "forget": ("a model", "m2.candide", lambda to, force: verbs.forget("m.candide", "data.csv", to, force=force),
               "forget m.candide data.csv"),
    "refit": ("a model", "m2.candide", lambda to, force: verbs.refit("m.candide", "data.csv", to, force=force),
              "refit m.candide data.csv"),
    "merge": ("a model", "m2.candide", lambda to, force: verbs.merge(["m.candide"] * 2, to, force=force),
              "merge m.candide m.candide"),
    "predict": ("text", "out.csv", lambda to, force: verbs.predict("m.candide", "data.csv", to, force=force),
                "predict m.candide data.csv"),
    "sample": ("text", "out.csv", lambda to, force: verbs.sample("m.candide", 3, output=to, force=force),
               "sample m.candide -n 3"),
    "report": ("an SVG picture", "out.svg",
               lambda to, force: verbs.report("m.candide", to, picture="telling", force=force),
               "report m.candide --picture telling"),
    "compare": ("an SVG picture", "out.svg",
                lambda to, force: verbs.compare("data.csv", "kind", to, folds=2, force=force),
                "compare data.csv --label kind --folds 2"),
    "explain": ("text", "out.txt", None, "explain m.candide data.csv"),
}  # fmt: skip
LATER = {"compare"}
"""Too slow to be run for every kind of file; that they refuse in time is fast."""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(CSV)
    verbs.fit("data.csv", "kind", "m.candide", **PLAIN)


def shell(command):
    return CliRunner().invoke(app, command)


def refused(command):
    """A command that must end in a sentence about the file."""
    found = shell(command).exception
    assert isinstance(found, OverwritingRefused), found
    return in_shell(found.message)


def put(name, kind):
    content = Path("m.candide").read_bytes() if FOUND[kind] is None else FOUND[kind]
    Path(name).write_bytes(content)
    return content


def test_every_verb_that_writes_is_walked_here():
    named = {name for name in verbs.__all__ if "output" in inspect.signature(getattr(verbs, name)).parameters}
    assert named == {name for name in WRITERS if WRITERS[name][2]}
    for command in app.registered_commands:
        parameters = inspect.signature(command.callback).parameters
        if "output" in parameters:
            assert "force" in parameters
            assert command.callback.__name__ in WRITERS


@pytest.mark.parametrize("kind", FOUND)
def test_the_first_bytes_tell_what_a_file_is(kind):
    put("file", kind)
    assert file_kind("file") == kind
    Path("empty").touch()
    assert file_kind("empty") is file_kind("absent") is file_kind(".") is None


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_of_another_kind_stays(name, found):
    kind, output, call, command = WRITERS[name]
    if found == kind:
        pytest.skip("is of the same kind")
    content = put(output, found)
    if call is not None:
        with pytest.raises(OverwritingRefused, match=f"holds {found}.*force=True"):
            call(output, False)
    assert "--force" in refused(f"{command} -o {output}")
    assert Path(output).read_bytes() == content


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in LATER])
def test_a_file_of_the_same_kind_or_an_empty_one_is_replaced_and_force_replaces_any(name):
    kind, output, _, command = WRITERS[name]
    Path(output).touch()
    for found, force in ((None, ""), (kind, ""), ("something else", " --force")):
        content = put(output, found) if found else b""
        told = shell(f"{command} -o {output}{force}")
        assert told.exit_code == 0, told.exception
        assert file_kind(output) == kind
        assert Path(output).read_bytes() != content or kind == "a model"


@pytest.mark.parametrize("ending", ["gz", "zst", "bz2", "xz"])
def test_compressed_answers_may_be_written_again(ending):
    for _ in range(2):
        assert shell(f"predict m.candide data.csv -o out.csv.{ending}").exit_code == 0
        assert file_kind(f"out.csv.{ending}") == "compressed data"


READS = {
    "cluster": "cluster {} --groups 2",
    "fit": "fit {} --label kind --plain",
    "predict": "predict m.candide {}",
    "explain": "explain m.candide {}",
    "learn": "learn m.candide {}",
    "forget": "forget m.candide {}",
    "refit": "refit m.candide {}",
    "compare": "compare {} --label kind",
    "report": "report m.candide {}",
}


def named_directly():
    return "data.csv", "data.csv"


def by_a_link():
    os.symlink("data.csv", "link.csv")
    return "data.csv", "link.csv"


def by_a_hard_link():
    os.link("data.csv", "hard.csv")
    return "data.csv", "hard.csv"


def in_a_glob():
    return "'da*.csv'", "data.csv"


def among_several():
    Path("other.csv").write_text(CSV)
    return "other.csv data.csv", "./data.csv"


def linked_in_a_folder():
    Path("texts/a").mkdir(parents=True)
    Path("texts/b").mkdir()
    Path("texts/b/one.txt").write_text("hello")
    os.symlink("../../data.csv", "texts/a/one.txt")
    return "texts", "data.csv"


WAYS = [named_directly, by_a_link, by_a_hard_link, in_a_glob, among_several, linked_in_a_folder]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", READS)
def test_what_is_read_is_not_written_over(name, way):
    data, output = way()
    if name == "explain" and way is among_several:
        pytest.skip("explain takes its rows from one place")
    for option in ("-o", "--on-error skip --rejects"):
        if option == "-o" and name in ("compare", "report"):
            continue  # these write pictures and pages, which no data can be
        refused(f"{READS[name].format(data)} {option} {output}")
        assert Path("data.csv").read_text() == CSV


@pytest.mark.parametrize("command", ["predict m.candide data.csv", "sample m.candide", "explain m.candide data.csv"])
def test_a_model_that_is_asked_is_not_written_over(command):
    before = Path("m.candide").read_bytes()
    for output in ("m.candide", os.path.abspath("m.candide")):
        refused(f"{command} -o {output} --format {'json' if 'explain' in command else 'csv'}")
    assert Path("m.candide").read_bytes() == before


def test_rejects_are_not_written_over_the_model_the_output_or_anything_else():
    put("something.db", "something else")
    for rejects in ("m.candide", "out.csv", "something.db"):
        Path("out.csv").write_text("old,answers\n")
        refused(f"predict m.candide data.csv -o out.csv --on-error skip --rejects {rejects}")
    assert file_kind("m.candide") == "a model"
    assert Path("out.csv").read_text() == "old,answers\n"


def test_force_may_replace_what_is_read():
    assert shell("predict m.candide data.csv -o data.csv --force").exit_code == 0
    assert Path("data.csv").read_text().startswith("size,colour,kind,label,probability,decision\n0,red,a,a,")


def test_a_database_that_is_read_is_not_written_over():
    with sqlite3.connect("data.db") as database:
        database.execute("create table t (size real, kind text)")
        database.executemany("insert into t values (?, ?)", [(1.0, "a"), (9.0, "b")])
    before = Path("data.db").read_bytes()
    refused("fit data.db --label kind -o data.db")
    refused("predict m.candide data.db -o data.db --format csv")
    assert Path("data.db").read_bytes() == before


def test_a_refused_output_costs_no_work():
    """The rows are not even looked at."""

    class Unread(dict):
        def items(self):
            raise AssertionError("the rows were read")

    Path("taken").write_text("precious")
    for call in (lambda: verbs.fit(Unread(), "kind", "taken"), lambda: verbs.learn("m.candide", Unread(), "taken")):
        with pytest.raises(OverwritingRefused):
            call()


def test_python_classes_save_over_models_only():
    Path("notes.txt").write_text("precious")
    for model in (NaiveBayes().learn_one("hello", "a"), verbs.load("m.candide")):
        with pytest.raises(OverwritingRefused, match="notes"):
            model.save("notes.txt")
        assert Path("notes.txt").read_text() == "precious"
        model.save("m3.candide")
        model.save("m3.candide")
    model.save("notes.txt", force=True)
    assert file_kind("notes.txt") == "a model"


def test_the_tour_leaves_other_files_alone():
    Path("monday.csv").write_text("mine")
    with pytest.raises(OverwritingRefused, match="monday"):
        verbs.demo(".")
    assert Path("monday.csv").read_text() == "mine"
