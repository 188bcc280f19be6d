"""Python's estimator, the verbs and the shell are one thing with three faces: the same words, defaults and answers.

Parameters are compared by introspection. Where faces must differ, a table says so, with the reason; a line of it that
no face needs any more fails too.
"""

from __future__ import annotations

import inspect
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import typer
from typer.testing import CliRunner

import candide
from candide import NaiveBayes, TextOptions, load, store
from candide.api import verbs
from candide.api.verbs.reading import SourceOptions
from candide.cli.app import app
from candide.cli.text_recipe import text_of
from candide.data.errors import CandideError, OptionRefused

VERBS = (
    "fit", "predict", "explain", "evaluate", "learn", "forget", "merge", "inspect", "compare", "sample", "report",
    "refit", "cluster",
)  # fmt: skip
READ = ("fit", "predict", "explain", "evaluate", "learn", "forget", "compare", "report", "refit", "cluster")
"""The verbs that read rows."""

METHODS = {
    "predict": ("decide", "predict_proba"),
    "merge": (),  # two estimators are added with +
    "compare": (),  # is about rows and several methods: there is no model yet
    "cluster": (),  # gives a model, of which an estimator is made by NaiveBayes.of
}
"""What the estimator calls a verb, where not by its own name."""

ESTIMATOR_NAMES = {"X": "data", "y": "label"}  # the contract of scikit-learn
SHELL_NAMES = {"family": "families", "type": "types", "given": "data"}
"""What is said once for each column is in the singular; evaluate is given a model and rows, or rows alone."""

MODEL = (
    "families", "smoothing", "priors", "class_weight", "missing", "text", "calibrate", "dependence", "refine",
    "engine",
)  # fmt: skip
"""What a model is to be."""

FILES = "an estimator is given rows, not files: how these are read and written is not its business"
KNOWN = "the verb takes the model's own; arrays have no names, so labels may be given"
WEIGHED = "rows in files have no weights beside them"
REPEATED = "an option that may be repeated is empty until it is given"

ESTIMATOR_LACKS = {
    **{(verb, name): FILES for verb in READ if METHODS.get(verb) != () for name in SourceOptions.__annotations__},
    **{(verb, name): FILES for verb in ("fit", "predict", "learn", "forget", "sample", "refit")
       for name in ("output", "force")},
    **{(verb, name): FILES for verb in ("predict", "sample") for name in ("safe", "output_format")},
    ("predict", "digits"): FILES,
    **{(verb, "engine"): "an estimator holds its options" for verb in ("predict", "learn", "forget")},
    ("predict", "answer"): "no columns are added to rows",
    ("predict", "probabilities"): "predict_proba gives them",
    ("predict", "text"): "a text is a row: predict(['...'])",
    ("explain", "text"): "a text is a row: explain(['...'])",
    **{("evaluate", name): "an estimator holds its options" for name in MODEL},
    ("report", "tested"): "the estimator evaluates by itself",
}  # fmt: skip
ESTIMATOR_ADDS = {
    **{(verb, "sample_weight"): WEIGHED for verb in ("fit", "evaluate", "learn", "forget", "refit")},
    **{(verb, "label"): KNOWN for verb in ("learn", "forget", "refit")},
    ("fit", "half_life"): "only learn_one knows an order in which rows fade",
}
SHELL_LACKS = {
    **{(verb, "format"): "--format is how results are shown; a file's own name tells its format" for verb in READ},
    ("report", "tested"): "an evaluation is an object of Python",
}
SHELL_ADDS = {
    **{(verb, "plain"): "short for three options at once" for verb in ("fit", "evaluate")},
    **{(verb, name): "in Python the address follows the engine: 'dask:tcp://...'"
       for verb in ("fit", "evaluate", "predict", "learn", "forget") for name in ("scheduler", "master")},
    ("explain", "worked"): "an explanation shows itself in Python",
    ("explain", "output"): "an explanation is written by whoever holds it in Python",
    ("explain", "force"): "goes with --output",
}
ESTIMATOR_DEFAULTS = {
    ("predict", "confidence"): "decide is asked for decisions, predict for answers",
    ("explain", "rows"): "all rows at hand; of a file, which may have any number, one",
}
SHELL_DEFAULTS = {
    ("explain", "rows"): REPEATED,
    **{(verb, "families"): REPEATED for verb in ("fit", "evaluate", "compare", "cluster")},
    **{(verb, "smoothing"): REPEATED for verb in ("fit", "evaluate")},
    ("cluster", "groups"): "must be given: neither has a default",
}


def defaults(function):
    """Parameters by name, with their defaults."""
    return {p.name: p.default for p in inspect.signature(function).parameters.values()}


def of_function(verb):
    """The parameters of a verb, those of reading among them; progress is shown, not asked for."""
    found = defaults(getattr(verbs, verb))
    if found.pop("reading", None) is not None:
        found |= dict.fromkeys(SourceOptions.__annotations__)
        found |= {"follow_links": False, "on_error": "stop"}
    return {name: default for name, default in found.items() if name not in ("model", "models", "watch")}


def of_estimator(verb):
    """The parameters of the methods behind a verb, by the verb's names; fit has those of the estimator itself too."""
    found = defaults(NaiveBayes) if verb == "fit" else {}
    for method in METHODS.get(verb, (verb,)):
        found |= defaults(getattr(NaiveBayes, method))
    return {ESTIMATOR_NAMES.get(name, name): default for name, default in found.items() if name != "self"}


def of_shell(verb):
    """The options and arguments of a command, by the verb's names."""
    found = {}
    shown = [one for one in typer.main.get_command(app).commands[verb].params if not getattr(one, "hidden", False)]
    for parameter in shown:
        flags = [flag for flag in parameter.opts if flag.startswith("--")]
        name = flags[0].removeprefix("--").replace("-", "_") if flags else parameter.name.lstrip("-")
        found[SHELL_NAMES.get(name, name)] = parameter.default
    if "output_format" in defaults(getattr(verbs, verb)):
        found["output_format"] = found.pop("format")
    return {name: default for name, default in found.items() if name not in ("model", "models", "format", "help")}


def differing(function, face):
    """The parameters whose defaults differ; rows and labels are given, and nothing is nothing."""
    shared = set(function) & set(face) - {"data", "label"}
    return {name for name in shared if (function[name] or None) != (face[name] or None)}


def told(table, verb):
    """The differences that the table gives a reason for."""
    assert all(table.values())
    return {name for where, name in table if where == verb}


@pytest.mark.parametrize("verb", [verb for verb in VERBS if METHODS.get(verb) != ()])
def test_the_estimator_has_the_parameters_of_the_verb(verb):
    function, estimator = of_function(verb), of_estimator(verb)
    assert set(function) - set(estimator) == told(ESTIMATOR_LACKS, verb)
    assert set(estimator) - set(function) == told(ESTIMATOR_ADDS, verb)
    assert differing(function, estimator) == told(ESTIMATOR_DEFAULTS, verb)


@pytest.mark.parametrize("verb", VERBS)
def test_the_command_has_the_parameters_of_the_verb(verb):
    function, shell = of_function(verb), of_shell(verb)
    assert set(function) - set(shell) == told(SHELL_LACKS, verb)
    assert set(shell) - set(function) == told(SHELL_ADDS, verb)
    assert differing(function, shell) == told(SHELL_DEFAULTS, verb)


def test_every_verb_is_there_by_its_own_name():
    assert {*VERBS, "demo"} == set(typer.main.get_command(app).commands)
    for verb in VERBS:
        assert getattr(candide, verb) is getattr(verbs, verb)


ROWS = 120
WRONG = {1, 44, 119}
"""Rows with a wrong label, counted from 1."""

NOTES = ("sweet and round", "sour but fresh", "small and sweet and red", "long and green, not sweet", None)


def orchard():
    """Fruit with numbers, categories, texts, and labels that read like numbers, some of them wrong."""
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 3, ROWS)
    size = np.round(10.0 + 4 * kind + rng.normal(0, 2, ROWS), 3)
    notes = [NOTES[(one + (index % 7 == 0)) % len(NOTES)] for index, one in enumerate(kind)]
    colour = [("red", "green", "blue")[(one + (index % 5 == 0)) % 3] for index, one in enumerate(kind)]
    fruit = kind.tolist()
    for row in WRONG:
        fruit[row - 1] = (fruit[row - 1] + 2) % 3
    return {"size": size.tolist(), "colour": colour, "note": notes, "fruit": fruit}


WISHED = {
    "families": {"size": "gaussian"},
    "priors": {0: 0.5, 1: 0.25, 2: 0.25},
    "class_weight": {0: 1.0, 1: 2.0, 2: 1.0},
    "text": {"note": TextOptions(ngrams=2, weighting="presence")},
    "ledger": True,
}
TYPED = [
    "--family", "size=gaussian", "--priors", "0=0.5,1=0.25,2=0.25", "--class-weight", "0=1,1=2,2=1",
    "--text", "note.ngrams=2", "--text", "note.weighting=presence", "--ledger",
]  # fmt: skip


def typed(*arguments):
    """What a command printed."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """One table, and the model that each face makes of it: an estimator, what the verb gives, and a file."""
    folder, rows = tmp_path_factory.mktemp("faces"), orchard()
    pyarrow.csv.write_csv(pa.table(rows), folder / "rows.csv")
    typed("fit", folder / "rows.csv", "--label", "fruit", "-o", folder / "m.candide", *TYPED)
    estimator = NaiveBayes(**WISHED).fit(rows, "fruit")
    return rows, folder / "rows.csv", estimator, verbs.fit(rows, "fruit", **WISHED), folder / "m.candide"


def test_fit_makes_the_same_model(faces):
    _, _, estimator, fitted, path = faces
    one, other, third = estimator.trained_, fitted.trained, store.load(path)
    assert one == other
    assert store.canonical_bytes(one) == store.canonical_bytes(other)
    for part in ("options", "summary", "label", "tuning", "ledger"):
        assert getattr(third, part) == getattr(one, part)
    assert [choice.family for choice in third.schema.choices] == [choice.family for choice in one.schema.choices]


def test_a_recipe_for_every_text_is_typed_in_parts():
    parts = ["ngrams=2", "idf=yes", "fold_case=no", "stop_words=a,the", "max_terms=50", "model=complement"]
    given = TextOptions(
        ngrams=2, idf=True, fold_case=False, stop_words=("a", "the"), max_terms=50, model="complement"
    )
    assert text_of(parts) == given
    assert text_of(["a.b.ngrams=2", "note.idf=yes"]) == {"a.b": TextOptions(ngrams=2), "note": TextOptions(idf=True)}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--text", "ngram=2"], "Did you mean 'ngrams'?"),
        (["--text", "ngrams=2", "--text", "note.idf=yes"], "not both"),
        (["--text", "ngrams=99"], "from 1 to 3"),
        (["--text", "ngrams"], "is written --text ngrams=2"),
        (["--class-weight", "0=much"], "--class-weight takes a number"),
        (["--engine", "abacus"], "no engine 'abacus'"),
    ],
)
def test_what_cannot_be_honoured_is_refused(faces, flags, words):
    done = CliRunner().invoke(app, ["fit", str(faces[1]), "--label", "fruit", *flags])
    assert done.exit_code == 2 or isinstance(done.exception, CandideError)
    assert words in " ".join(f"{done.output} {done.exception}".replace("│", " ").split())


def test_predict_answers_the_same(faces, tmp_path):
    rows, path, estimator, fitted, model = faces
    asked = {name: values for name, values in rows.items() if name != "fruit"}
    found = verbs.predict(fitted, asked, confidence=0.9, probabilities=True).table
    typed("predict", model, path, "-o", tmp_path / "a.csv", "--confidence", "0.9", "--probabilities", "--digits", "all")
    shell = pyarrow.csv.read_csv(tmp_path / "a.csv")
    answers, chances = estimator.predict(asked), estimator.predict_proba(asked)
    assert found["label"].to_pylist() == shell["label"].to_pylist() == answers.tolist()
    assert found["decision"].to_pylist() == [str(one) for one in estimator.decide(asked)]
    assert shell["decision"].cast(pa.string()).to_pylist() == found["decision"].to_pylist()
    for index, name in enumerate(["probability_0", "probability_1", "probability_2"]):
        assert found[name].to_numpy() == pytest.approx(chances[:, index])
        assert shell[name].to_numpy() == pytest.approx(chances[:, index])


def test_other_priors_shift_answers_alike(faces, tmp_path):
    rows, path, estimator, fitted, model = faces
    asked = {name: values for name, values in rows.items() if name != "fruit"}
    elsewhere = {0: 0.02, 1: 0.02, 2: 0.96}
    chances = estimator.predict_proba(asked, priors=elsewhere)
    found = verbs.predict(fitted, asked, priors=elsewhere, probabilities=True).table
    flags = ["--priors", "0=0.02,1=0.02,2=0.96", "--probabilities"]
    typed("predict", model, path, "-o", tmp_path / "a.jsonl", *flags)
    shell = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert (chances.argmax(axis=1) != estimator.predict_proba(asked).argmax(axis=1)).any()
    for index, name in enumerate(["probability_0", "probability_1", "probability_2"]):
        assert found[name].to_numpy() == pytest.approx(chances[:, index])
        assert [one[name] for one in shell] == pytest.approx(chances[:, index])
    assert found["label"].to_pylist() == estimator.classes_[chances.argmax(axis=1)].tolist()


def test_explain_counts_rows_alike_and_says_the_same(faces):
    rows, path, estimator, fitted, model = faces
    asked = {name: values for name, values in rows.items() if name != "fruit"}
    mine = [why.to_dict() for why in estimator.explain(asked, rows=[3, 1])]
    assert mine == [estimator.explain(asked)[row - 1].to_dict() for row in (3, 1)]
    found = [one.to_dict() for one in verbs.explain(fitted, asked, rows=[3, 1])]
    shell = json.loads(typed("explain", model, path, "--rows", "3,1", "--format", "json"))
    assert [one["row"] for one in found] == [one["row"] for one in shell] == [3, 1]
    for one, other, why in zip(found, shell, mine, strict=True):
        assert {**why, "row": one["row"], "label": "fruit"} == one
        assert json.loads(json.dumps(one)) == other
    for asking in (lambda: estimator.explain(asked, rows=[0]), lambda: verbs.explain(fitted, asked, rows=[0])):
        with pytest.raises(OptionRefused, match="counted from 1"):
            asking()


@pytest.mark.parametrize("way", [{}, {"leave_one_out": True}, {"folds": 3, "seed": 5}])
def test_evaluate_judges_the_same_and_suspects_the_same_rows(faces, way):
    rows, path, estimator, fitted, model = faces
    flags = [flag for name, value in way.items() for flag in (f"--{name.replace('_', '-')}", value) if flag is not True]
    if "folds" in way:
        mine = NaiveBayes().evaluate(rows, "fruit", **way)
        found, given = verbs.evaluate(rows, label="fruit", **way), (path, "--label", "fruit")
    else:
        mine = estimator.evaluate(rows, **way)
        found, given = verbs.evaluate(fitted, rows, **way), (model, path)
    assert mine.to_dict() == found.to_dict()
    assert {one.row for one in mine.suspicious} >= (WRONG if way else {44})  # a wrong label speaks for itself
    shell = json.loads(typed("evaluate", *given, *flags, "--format", "json"))
    assert len(shell["notes"]) == len(found.notes)  # which say how to type what they advise
    assert {**shell, "notes": []} == json.loads(json.dumps({**found.to_dict(), "notes": []}))


def test_evaluate_without_a_model_takes_what_fit_takes(faces):
    rows, path, _, fitted, _ = faces
    mine = NaiveBayes(smoothing=2.0, missing="value", **WISHED).evaluate(rows, "fruit", folds=2)
    asked = {**WISHED, "smoothing": 2.0, "missing": "value"}
    asked.pop("ledger")
    found = verbs.evaluate(rows, label="fruit", folds=2, **asked)
    assert found.to_dict() == mine.to_dict()
    flags = [*(flag for flag in TYPED if flag != "--ledger"), "--smoothing", 2, "--missing", "value"]
    shell = typed("evaluate", path, "--label", "fruit", "--folds", 2, *flags, "--format", "json")
    assert json.loads(shell) == json.loads(json.dumps(found.to_dict()))
    for name, value in asked.items():
        with pytest.raises(OptionRefused, match=f"{name} is for fitting"):
            verbs.evaluate(fitted, rows, **{name: value})


def test_the_estimator_is_fitted_like_another_with_its_own_priors(faces):
    rows, _, estimator, _, _ = faces
    like = NaiveBayes(priors="uniform").fit(rows, "fruit", like=estimator)
    assert like.summary_ == estimator.summary_
    assert like.trained_.options.priors == "uniform"
    with pytest.raises(OptionRefused, match="like takes smoothing from the other model"):
        NaiveBayes(smoothing=7).fit(rows, "fruit", like=estimator)


def test_the_older_word_for_rows_is_understood(faces):
    _, path, _, _, model = faces
    assert typed("explain", model, path, "--row", 3) == typed("explain", model, path, "--rows", 3)
    assert "--row " not in typed("explain", "--help")


def test_sample_draws_the_same_rows(faces, tmp_path):
    _, _, estimator, fitted, model = faces
    drawn = estimator.sample(8, label="1", seed=3)
    assert drawn.column_names == ["size", "colour", "note", "fruit"]
    assert verbs.sample(fitted, 8, label="1", seed=3) == drawn
    typed("sample", model, "-n", 8, "--label", "1", "--seed", 3, "-o", tmp_path / "drawn.jsonl")
    assert [json.loads(line) for line in (tmp_path / "drawn.jsonl").read_text().splitlines()] == drawn.to_pylist()


def test_learning_and_forgetting_end_at_the_same_model(faces, tmp_path):
    rows, path, estimator, fitted, model = faces
    before, again = store.canonical_bytes(estimator.trained_), NaiveBayes.of(estimator.trained_)
    twice = again.learn(rows).trained_
    assert verbs.learn(fitted, rows).trained == twice
    typed("learn", model, path, "-o", tmp_path / "twice.candide")
    assert store.load(tmp_path / "twice.candide").summary == twice.summary
    assert store.canonical_bytes(again.forget(rows).trained_) == before
    assert verbs.forget(verbs.learn(fitted, rows), rows).trained == again.trained_


def test_a_file_keeps_where_it_came_from_in_python_and_forgets_it_with_rows(faces, tmp_path):
    rows, _, _, _, model = faces
    estimator = load(model)
    estimator.save(tmp_path / "again.candide")
    assert store.load(tmp_path / "again.candide").provenance == store.load(model).provenance
    few = {name: values[:5] for name, values in rows.items()}
    first = {name: values[0] for name, values in few.items() if name != "fruit"}
    for less in (load(model).forget(few), load(model).forget_one(first, few["fruit"][0])):
        assert "sources" not in less.trained_.provenance
