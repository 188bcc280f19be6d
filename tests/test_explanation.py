"""Explanations: they equal predictions, name what was silent, flip what they say they flip, and can be shown safely."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import commands
from candide import NaiveBayes, TextOptions, families
from candide.api import verbs
from candide.data.batch import Batch
from candide.families.base.family import Block
from candide.families.text import Text
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor, normalised
from candide.model.summary import Summary
from candide.show.explanations import terminal
from candide.show.explanations.html import explanations_page, safe
from candide.show.explanations.readable import ReadableExplanation
from candide.show.explanations.terminal import lines, signed_odds
from candide.show.explanations.word_marks import words_that_spoke
from releases import ROWS, forest
from releases import TEXTS as RECIPES
from strategies import CASES, MIXTURE, PLAIN, blocks_of, questions, tables, takes

SCRIPT, PICTURE = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"
WORDS = {"ham": ["lunch", "meeting", "report", "today"], "spam": ["prize", "win", "money", "now"]}


def letters(rows=120, seed=0):
    """Mails with a text, a number, a category and a count."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(["ham", "spam"], rows, p=[0.7, 0.3])
    texts = [
        " ".join(rng.choice([*WORDS[label], "the", "you", "today", "money"], rng.integers(2, 9))) for label in labels
    ]
    spam = labels == "spam"
    return {
        "mail": texts,
        "size": rng.normal(3.0, 1.0, rows) + 1.5 * spam,
        "sender": np.where(rng.random(rows) < 0.2 + 0.5 * spam, "stranger", "friend").tolist(),
        "links": rng.poisson(1 + 2 * spam),
    }, labels


@pytest.fixture(scope="module")
def calibrated():
    return NaiveBayes().fit(*letters())


@pytest.fixture(scope="module")
def plain():
    return NaiveBayes(**PLAIN).fit(*letters())


# What is explained is what is predicted.


def assert_equal(found, expected, scale):
    """Equal where infinite, elsewhere to 1e-9 of what was added up."""
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite])
    assert (np.abs(found[finite] - expected[finite]) <= 1e-9 * (1 + scale[finite])).all()


def size_of(why):
    """How large the numbers are that were added up."""
    return np.abs(why.start) + sum((np.abs(t.reported) + np.abs(t.log_likelihood) for t in why.terms), 0 * why.prior)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_both_sums_are_those_of_the_model(case, data):
    """Raw and reported, without a calibration and with any."""
    table = data.draw(tables(blocks_of(case), least=1))
    question = Batch.of(data.draw(questions(table.blocks, most=2)))
    raw = table.model()
    bias = dict(zip(raw.classes, (0.5, -0.25, 0.125), strict=False))
    weight = {block.key: 0.5 + 0.25 * index for index, block in enumerate(raw.blocks)}
    power = {block.key: 0.25 for block in raw.blocks if block.family.has_length}
    for model in (raw, replace(raw, calibration=Calibration(bias, weight, power))):
        for row, why in zip(question.split(1), model.explain(question), strict=True):
            assert_equal(why.joint, model.joint(row)[0], size_of(why))
            assert_equal(why.reported, model.reported(row)[0], size_of(why))
            assert_equal(sum((one.log_likelihood for one in why.evidence), why.prior), why.joint, size_of(why))
            assert_equal(sum((one.reported for one in why.evidence), why.start), why.reported, size_of(why))
            assert why.posterior == pytest.approx(normalised(model.reported(row), model.log_prior)[0], abs=1e-12)
            assert not (why.is_calibrated and model is raw)
            assert not (why.bias.any() and model is raw)
        json.dumps(why.to_dict())
        why = ReadableExplanation.of(why)
        assert all(cell_len(line) <= 80 for line in str(why).splitlines())
        assert all(len(line) <= 80 for line in why.worked().splitlines())
        read(why.to_html())


def test_a_calibrated_model_is_explained_by_what_it_reports(calibrated):
    asked = letters(60, seed=1)[0]
    found = calibrated.explain(asked)
    assert found[0].is_calibrated
    assert np.array([why.joint for why in found]) == pytest.approx(calibrated.predict_joint_log_proba(asked), abs=1e-9)
    scores = np.array([why.reported for why in found])
    assert normalised(scores, scores) == pytest.approx(calibrated.predict_proba(asked), abs=1e-9)
    assert [why.answer for why in found] == calibrated.predict(asked).tolist()


@pytest.mark.parametrize("model", ["multinomial", "complement", "bernoulli", "poisson"])
def test_every_event_model_of_text_is_its_fractions(model):
    """What is behind a term gives the term, up to a factor that is the same for all classes."""
    weighting = "presence" if model == "bernoulli" else "counts"
    texts, labels = letters()[0]["mail"], letters()[1]
    fitted = NaiveBayes(text=TextOptions(model=model, weighting=weighting), calibrate=False).fit(texts, labels)
    for why in fitted.explain(texts[:10]):
        for term in (term for term in why.terms if term.word):
            logs = np.array([np.log(np.divide(*term.basis.fraction(label))) for label in range(2)])
            assert np.ptp(term.log_likelihood - term.basis.times * logs) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("family", ["categorical", "bernoulli", "multinomial", "complement", "histogram"])
def test_counts_behind_a_term_give_the_term(family):
    rows = {"x": [0, 1, 1, 0, 1, 1, 0, 1], "z": [1, 1, 0, 0, 1, 1, 1, 0]}
    fitted = NaiveBayes(families=family, smoothing=0.5, calibrate=False).fit(rows, list("aabbaabb"))
    for why in fitted.explain(rows):
        for term in why.terms:
            logs = np.array([np.log(np.divide(*term.basis.fraction(label))) for label in range(2)])
            assert np.ptp(term.log_likelihood - term.basis.times * logs) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("family", [name for name in families.names() if name != "text"])
def test_every_family_tells_what_is_behind_its_terms(family):
    rows = {"x": [1, 0, 1, 1, 1, 0], "z": [1, 1, 1, 0, 0, 1]}
    if not takes(families.named(family), 0.0):
        rows = {name: [value + 0.5 for value in values] for name, values in rows.items()}
    fitted = NaiveBayes(families=family, calibrate=False).fit(rows, list("aaabbb"))
    for term in fitted.explain(rows)[0].terms:
        assert term.basis is not None
        said = term.basis.text(("a", "b"))
        assert " a" in said
        assert " b" in said


def test_the_counts_in_words():
    rows = {"word": [True] * 31 + [False] * 4794 + [True] * 412 + [False] * 335}
    fitted = NaiveBayes(families="bernoulli", calibrate=False).fit(rows, ["ham"] * 4825 + ["spam"] * 747)
    said = fitted.explain({"word": [True]})[0].terms[0].basis.text(fitted.classes_)
    assert said == "seen in 31 of 4,825 ham and 412 of 747 spam"


# What terms of a text say is credited to its words.


PIECES = ["the", "Tree", "grey bark", "Esche", "白樺", "кедр", "ÉTÉ", "unheard", "... ", "İΣ", "\ud800", "a\n"]
SENTENCES = st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join)


@cache
def readings(name):
    """Notes on trees, read by a recipe, by pairs of words and by runs of characters, each with a factor of its own."""
    rows, labels = forest()
    notes = Batch.of({"note": rows["note"][:ROWS]}, labels[:ROWS])
    recipe = RECIPES[name]
    further = {"shortest": 2, "ngrams": 2}, {"words": "default", "characters": True, "shortest": 3, "ngrams": 5}
    main = Text(column="note", options=recipe, smoothing=0.5)
    beside = [replace(main, options=replace(recipe, **more), is_auxiliary=True, alphabet="") for more in further]
    model = Predictor.fit(Summary.of(tuple(Block(family, ("note",)) for family in (main, *beside)), notes))
    weights = {block.key: 0.4 + 0.3 * index for index, block in enumerate(model.blocks)}
    return replace(model, calibration=Calibration({}, weights, {model.blocks[0].key: 0.25}))


@pytest.mark.parametrize("name", RECIPES)
@settings(max_examples=12, deadline=None)
@given(text=SENTENCES)
def test_the_credits_of_words_add_up_whatever_the_recipe(name, text):
    model = readings(name)
    (why,) = model.explain(Batch.of({"note": [text]}))
    row = Batch.of({"note": [text]})
    assert sum((one.log_likelihood for one in why.evidence), why.prior) == pytest.approx(model.joint(row)[0], abs=1e-9)
    assert sum((one.reported for one in why.evidence), why.start) == pytest.approx(model.reported(row)[0], abs=1e-9)
    plain = why.to_dict()
    alone = [factor(term) for term in plain["terms"] if not term["column"]]
    credited = [np.array(word["reported"]) for word in plain["words"]]
    assert sum([*credited, *alone], why.start) == pytest.approx(model.reported(row)[0], abs=1e-9)
    for word in (one for one in why.words if one.word):
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in word.places)
    found = words_that_spoke(why, "note")
    assert [place.start for place in found] == sorted(place.start for place in found)


def factor(term):
    """What a term of JSON adds to the reported scores."""
    return term["factor"] * np.array(term["log_likelihood"])


def test_a_run_is_shared_by_the_words_it_touches():
    """Pairs by their words, runs of characters by their letters; what lies between words is a line of its own."""
    pairs = NaiveBayes(text=TextOptions(shortest=2, ngrams=2), calibrate=False)
    why = pairs.fit(["free prize now", "see you now"], ["spam", "ham"]).explain(["Free PRIZE now"])[0]
    first, second = (term.log_likelihood for term in why.terms)
    credits = {one.word: one.log_likelihood.tolist() for one in why.words}
    assert credits["free"] == pytest.approx(first / 2)
    assert credits["prize"] == pytest.approx(first / 2 + second / 2)
    letters_read = NaiveBayes(text=TextOptions(characters=True, shortest=3, ngrams=3), calibrate=False)
    why = letters_read.fit(["ab c!!!", "de f"], ["x", "y"]).explain(["ab c!!!"])[0]
    said = {term.word: term.log_likelihood for term in why.terms}
    credits = {one.word: one.log_likelihood for one in why.words}
    assert credits["ab"] == pytest.approx(said["ab "] + said["b c"] / 2)
    assert credits["c"] == pytest.approx(said["b c"] / 2 + said[" c!"] + said["c!!"])
    assert credits[""] == pytest.approx(said["!!!"])
    assert "text: between words" in str(why)


def test_texts_that_are_no_utf8_are_explained_where_they_stand():
    model = NaiveBayes("text", text=TextOptions(characters=True, ngrams=3), calibrate=False)
    rows = pa.table({"text": pa.array([b"caf\xe9 noir", b"caf\xe2\x82 au lait"], pa.binary())})
    for why in model.fit(rows, ["x", "y"]).explain(rows):
        assert sum((one.reported for one in why.evidence), why.start) == pytest.approx(why.reported, abs=1e-9)
        places = {one.word: one.places for one in why.words}
        assert all(why.texts["text"][start:end] == word for word in places for start, end in places[word])
        assert "caf" in places


COUNTED = {
    "presence": ("in 2 of the 3 texts of spam and 0 of the 2 of ham", {"weighting": "presence"}),
    "bernoulli": ("in 2 of the 3 texts of spam and 0 of the 2 of ham", {"model": "bernoulli", "weighting": "presence"}),
    "counts": ("3 of the 7 words of spam and 0 of the 4 of ham", {}),
    "complement": ("3 of the 7 words of spam and 0 of the 4 of ham", {"model": "complement"}),
    "idf": ("3 of the 7 words of spam and 0 of the 4 of ham", {"idf": True}),
    "kept": ("3 of the 5 kept words of spam and 0 of the 2 of ham", {"stop_words": ("now",)}),
    "log": ("seen in spam, never in ham", {"weighting": "log"}),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_told_so_that_they_can_be_checked_by_hand(name):
    expected, options = COUNTED[name]
    texts = ["free free now", "free win", "win now", "noon now", "see now"]
    model = NaiveBayes(text=TextOptions(**options), calibrate=False).fit(texts, ["spam"] * 3 + ["ham"] * 2)
    why = model.explain(["free now"])[0]
    assert expected in str(why)
    assert expected in why.to_html()


def test_weights_are_told_as_ratios_never_as_counts():
    texts = ["free now", "free prize", "see you", "you see free"]
    labels = ["spam", "spam", "ham", "ham"]
    for options, weights in (({"weighting": "log"}, None), ({}, [0.5, 0.25, 0.5, 0.75])):
        fitted = NaiveBayes(text=TextOptions(**options), calibrate=False).fit(texts, labels, sample_weight=weights)
        why = fitted.explain(["free"])[0]
        assert re.search(r"\d times as common in spam as in ham", str(why))
        assert not re.search(r"\d of the", str(why))


SIDES = "ham", "spam"


def test_a_long_text_is_a_dozen_words_and_one_line_for_the_rest():
    texts = [f"{SIDES[row % 2]}{row} {SIDES[row % 2]} now" for row in range(40)]
    model = NaiveBayes(text=TextOptions(ngrams=2), calibrate=False).fit(texts, [SIDES[row % 2] for row in range(40)])
    why = model.explain([" ".join(texts[:20])])[0]
    shown = lines(why)
    assert sum(line.startswith("  text: ") for line in shown) == 12
    assert sum("other words)" in line for line in shown) == 1
    assert re.search(r"^      \d+ for ham \+\d\.\d+, \d+ for spam -\d\.\d+$", "\n".join(shown), re.MULTILINE)
    leads = [float(line[38:50].split()[0]) for line in shown if re.match(r"  (text: |\((prior|calib|\d))", line)]
    assert sum(leads) == pytest.approx(why.lead(*why.ranked[:2]), abs=0.0005 * len(leads))
    assert why.worked().count("\n   text: ") == 12
    assert f"and {len(why.words) - 12} other words, together" in why.worked()


# Silence.


def test_what_said_nothing_is_named(plain):
    asked = {"mail": ["win a zebra"], "size": [None], "sender": ["robot"], "links": [1], "colour": ["red"]}
    why = plain.explain(asked)[0]
    assert why.missing == ("size",)
    assert set(why.unseen) == {("mail", "a"), ("mail", "zebra"), ("sender", "robot")}
    assert why.ignored == (("colour", ""),)
    assert why.to_dict()["missing"] == ["size"]
    for reason in ("missing: size", "never seen: ", "mail zebra", "sender robot", "not used: colour"):
        assert reason in str(why)


def test_stop_words_and_values_outside_the_support_are_ignored_not_unseen():
    options = TextOptions(stop_words=("the",))
    fitted = NaiveBayes(families={"n": "poisson", "t": "text"}, text={"t": options}, calibrate=False)
    fitted.fit({"t": ["the cat", "the dog"], "n": [1, 2]}, ["a", "b"])
    why = fitted.explain({"t": ["the cow"], "n": [-3]})[0]
    assert set(why.ignored) == {("t", "the"), ("n", "-3")}
    assert why.unseen == (("t", "cow"),)


# What would flip it.


def test_taking_the_named_features_away_flips_the_answer(plain):
    table, _ = letters(80, seed=2)
    flipped = 0
    for row, why in enumerate(plain.explain(table)):
        if why.flip is None:
            continue
        gone = [one for one in why.evidence if one.feature in why.flip.features]
        rest = why.reported - sum(one.reported for one in gone)
        assert why.classes[int(np.argmax(rest))] == why.flip.answer != why.answer
        if not any(name.startswith("mail: ") for name in why.flip.features):
            without = {n: [None if n in why.flip.features else v[row]] for n, v in table.items()}
            assert plain.predict(without)[0] == why.flip.answer
        flipped += 1
    assert flipped > 10


def test_no_smaller_set_flips_it(plain):
    """Leaving out the weakest of the named features, or any single one where two are named, changes nothing."""
    for why in plain.explain(letters(80, seed=3)[0]):
        if why.flip is not None and len(why.flip.features) == 2:
            best = why.classes.index(why.answer)
            assert all(np.argmax(why.reported - one.reported) == best for one in why.evidence)


def test_an_answer_from_the_prior_alone_cannot_be_flipped(plain):
    assert plain.explain({"mail": [None], "size": [None], "sender": [None], "links": [None]})[0].flip is None


# Shown to people.


class Reader(HTMLParser):
    """Every tag, attribute and piece of text that a browser would see."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text.append(data)


def read(document):
    reader = Reader()
    reader.feed(document)
    reader.close()
    assert not {"script", "img", "iframe", "link", "object"} & set(reader.tags)
    assert not any(name.startswith("on") or name in ("src", "href") for name in reader.attributes)
    return reader


def test_hostile_strings_stay_text():
    rows = {PICTURE: [SCRIPT, "b"] * 5, "mail": [f"{SCRIPT} hello there", f"good {PICTURE} bye"] * 5}
    fitted = NaiveBayes(families={PICTURE: "categorical", "mail": "text"}).fit(rows, [f'"{SCRIPT}', f"'{PICTURE}"] * 5)
    why = fitted.explain({name: values[:1] for name, values in rows.items()} | {f"&{SCRIPT}": [1]})[0]
    for document in (why._repr_html_(), why.to_html(), explanations_page([(SCRIPT, why)])):
        reader = read(document)
        text = "".join(reader.text)
        assert f"{PICTURE} = {SCRIPT}" in text
        assert f'"{SCRIPT}' in text
        assert f"&{SCRIPT}" in text
        assert "alert(1)</script> hello there" in text


def test_words_that_spoke_are_marked(plain):
    asked = {**{n: v[:1] for n, v in letters()[0].items()}, "mail": ["WIN a prize, zebra"]}
    document = plain.explain(asked)[0].to_html()
    for word in ("WIN", "prize"):
        assert f">{word}</mark>" in document
    assert ">zebra</mark>" not in document
    assert "light-dark(" in document
    assert "://" not in document


def test_several_readings_of_a_word_speak_once():
    texts, labels = letters()[0]["mail"], letters()[1]
    fitted = NaiveBayes(calibrate=False).fit(texts, labels)
    family = fitted.schema_.choices[0].family
    again = replace(family, options=replace(family.options, model="complement"), is_auxiliary=True, alphabet="")
    batch = Batch.of(texts, labels)
    model = Predictor.fit(Summary.of((Block(family, ("text",)), Block(again, ("text",))), batch))
    why = model.explain(Batch.of(["win prize"]))[0]
    assert [one.feature for one in why.evidence] == ["text: win", "text: prize"]
    assert [len(one.parts) for one in why.evidence] == [2, 2]
    assert why.start + sum(one.reported for one in why.evidence) == pytest.approx(why.reported, abs=1e-9)


def test_a_terminal_shows_bars_within_80_columns(calibrated):
    asked = {**{n: v[:1] for n, v in letters()[0].items()}, "mail": ["win 漢字 " + "x" * 300 + " prize \x1b[31m"]}
    why = calibrated.explain(asked)[0]
    shown = lines(why, "Row 1", "kind")
    assert all(cell_len(line) <= 80 for line in shown)
    assert "\x1b" not in "\n".join(shown)
    assert shown[0].startswith("Row 1: kind is ")
    assert any("|+" in line for line in shown)
    assert any("(calibration)" in line for line in shown)
    assert "\x1b[32m" in "\n".join(lines(why, colour=True))


def test_wide_and_long_words_fill_the_lines_of_a_terminal_and_no_more():
    """Bars stay under each other, cut names end where their letters do, and escapes in names are not obeyed."""
    wide, label = "類別" * 25, "答え\x1b[31m"
    rows = {"列" * 40: ["重量" * 30, "b", "c\x1b[31m"] * 6, "x" * 90: [0.5, 1.5, 3.0] * 6}
    why = NaiveBayes(calibrate=False).fit(rows, [wide, "ham", "spam"] * 6).explain(rows)[0]
    shown = lines(why, "Row 1", label)
    assert max(map(cell_len, shown)) == 80
    assert "\x1b" not in "\n".join(shown)
    assert " …" not in "\n".join(shown)
    assert len({cell_len(line.partition("|")[0]) for line in shown if line.endswith(("|", "|+", "++"))}) == 1
    assert shown[1] == wide[:40]


def test_a_terminal_gets_colours_and_a_pipe_the_same_without(tmp_path):
    orchard = Path(__file__).parents[1] / "examples" / "orchard.csv"
    verbs.fit(orchard, "fruit", tmp_path / "orchard.candide", families="guess", calibrate=False)
    words = ("explain", "orchard.candide", orchard)
    environment = {**commands.ENVIRONMENT, "COLUMNS": "80", "TERM": "xterm"}
    piped = commands.candide(*words, folder=tmp_path, environment=environment).stdout
    code, coloured = commands.forked().on_terminal(words, tmp_path, environment=environment)
    assert code == 0
    assert "\x1b[32m" in coloured
    assert "\x1b" not in piped
    plain = re.sub(r"\x1b\[\d+m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == piped.splitlines()
    assert all(cell_len(line) <= 80 for line in piped.splitlines())


def test_log_odds_that_round_to_nothing_have_no_minus():
    assert "-0.000" not in "".join(signed_odds(lead) for lead in (-0.0, -1e-9, -4e-4))
    assert signed_odds(-6e-4) == "   -0.001"


def test_spaces_at_the_ends_of_runs_are_seen():
    model = NaiveBayes(text=TextOptions(characters=True, ngrams=2, shortest=2), calibrate=False)
    why = model.fit(["a b", "c d"], ["x", "y"]).explain(["a b"])[0]
    assert "“a␣” 1 of the 2 runs of characters of x" in str(why)
    assert "“␣b” 1 of the 2" in why.to_html()


def test_letters_that_join_or_part_stay_and_those_that_turn_do_not():
    assert safe("👨\u200d👩 a\xa0b\r\nc") == "👨\u200d👩 a\xa0b\r\nc"
    assert safe("a\u202eb\u2066c\x00") == "a\ufffdb\ufffdc\ufffd"


# Worked out.


def test_calibration_is_a_step_of_its_own(calibrated, plain):
    asked = {n: v[:1] for n, v in letters()[0].items()}
    assert "5. Calibration" in calibrated.explain(asked)[0].worked()
    assert "Calibration" not in plain.explain(asked)[0].worked()


def test_a_density_is_worked_with_its_numbers():
    fitted = NaiveBayes(families="gaussian").fit({"x": [1.0, 3.0, 9.0, 11.0]}, ["low", "low", "high", "high"])
    said = fitted.explain({"x": [2.5]})[0].worked()
    assert "low: exp(-(2.5 - 2)² / (2 · 1²)) / (1 · √(2π)) = 0.3521" in said
    assert "P(low) = 2/4 = 0.5" in said


def test_the_most_probable_of_many_classes_are_worked_out():
    rows = {"x": np.arange(24.0)}
    why = NaiveBayes("gaussian", calibrate=False).fit(rows, [f"class {row // 3}" for row in range(24)]).explain(rows)[9]
    said = why.worked()
    assert "The 5 most probable of 8 classes are worked out." in said
    assert said.count("| row) = ") == 1 + 5
    values = np.exp(why.reported)
    assert f"{values.sum():.4g}" in said
    assert f" + {values[list(why.ranked[5:])].sum():.4g} (all other classes) = " in " ".join(said.split())


def test_one_class_is_the_only_answer():
    with pytest.warns(UserWarning, match="only one class"):
        fitted = NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "a"])
    why = fitted.explain({"x": [1.0]})[0]
    assert str(why) == "a: the only class there is"
    assert "only class" in why._repr_html_()
    assert "a, with 100.0%" in why.worked()


def test_the_mixture_is_among_the_cases():
    assert MIXTURE in CASES


def test_a_coloured_terminal_shows_the_text_with_its_words_marked():
    texts = ["win a free prize now", "free money", "see you at noon", "lunch at noon"]
    model = NaiveBayes().fit(texts, ["spam", "spam", "ham", "ham"])
    long = "Noon, " + "see " * 40 + "\x1b[31m free漢字 " + "w" * 200
    (why,) = model.explain([long])
    said = "\n".join(terminal.lines(why, colour=True)).split("\n\n")[1]
    assert f"{terminal.GREEN}Noon{terminal.PLAIN}," in said
    bare = re.sub(r"\x1b\[\d+m", "", said).replace("\n", " ").split()
    assert bare[:4] == ["Noon,", "see", "see", "see"]
    assert "\x1b[31m free" not in said
    plain = re.sub(r"\x1b\[\d+m", "", said)
    assert max(cell_len(line) for line in plain.split("\n")) <= 80
    assert len(terminal.lines(why)) < len(terminal.lines(why, colour=True))


def test_numbers_like_none_that_was_learned_are_named():
    rng = np.random.default_rng(0)
    rows = {"x": rng.integers(61, 303, 450).astype(float), "when": pd.date_range("2024-01-01", periods=450)}
    rows["x"][:2] = 61, 302
    model = NaiveBayes(calibrate=False).fit(rows, np.arange(450) % 2)
    day = pd.to_datetime(["2024-06-01"])
    for inside in (300.0, 543.0, -180.0, None):
        assert model.explain({"x": [inside], "when": day})[0].beyond == ()
    why = model.explain({"x": [4000.0], "when": pd.to_datetime(["1999-06-01"])})[0]
    told = {one["feature"]: one["text"] for one in why.to_dict()["beyond"]}
    assert told["x"] == "x 4000 lies far beyond all 450 learned values (61 to 302)"
    assert "1999-06-01" in told["when"]
    assert "2024-01-01" in told["when"]
    assert told["x"] in str(why)
    assert told["x"] in why._repr_html_()


def test_families_set_by_hand_do_not_know_how_far_numbers_lay():
    model = NaiveBayes("gaussian", calibrate=False).fit({"x": [1.0, 2.0, 3.0, 4.0]}, list("abab"))
    assert model.explain({"x": [4000.0]})[0].beyond == ()
