"""Text of every script: what is a word where nobody writes spaces, emoji, and every path that cuts text into words."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from candide import NaiveBayes, TextOptions, load
from candide.data.batch import Batch
from candide.families.text import Text
from candide.families.words import alphabet
from candide.families.words.unspaced import closed_up
from candide.model.guess import guess_column
from candide.show.explanations.word_marks import words_that_spoke
from candide.stream.columns import guess_of
from test_words import DOCUMENTS, cut, fold, tally, terms


def corpus():
    """The benchmark's sentences; it is not a package, and finds its neighbours by the path."""
    folder = Path(__file__).parents[1] / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("scripts_benchmark", folder / "scripts.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


SCRIPTS = corpus()
every_language = pytest.mark.parametrize("name", SCRIPTS.LANGUAGES)
FIXED = {"smoothing": 1.0, "calibrate": False}


def drawn(name, rows=150):
    """Sentences to learn from and to be asked about, with their topics."""
    return (SCRIPTS.sentences(SCRIPTS.LANGUAGES[name], rows, seed) for seed in (0, 1))


def words(text, **options):
    return [word.decode() for word in tally([text], [0], TextOptions(**options)).words()]


@every_language
def test_every_script_is_read(name):
    """As well as by scikit-learn's runs of one and two characters, or nearly: split at spaces, Chinese was a guess."""
    (texts, labels), (asked, right) = drawn(name)
    answers = NaiveBayes(text=TextOptions(), **FIXED).fit(texts, labels).predict(asked)
    peer = SCRIPTS.contestants()["sklearn, 1-2 characters"]().fit(texts, labels)
    best = np.mean(peer.predict(asked) == np.array(right))
    assert np.mean(answers == np.array(right)) >= best - 0.05


def test_a_word_of_a_script_without_spaces_is_a_character_with_its_marks_or_two():
    assert words("東京へ") == ["へ", "京", "京 へ", "東", "東 京"]
    assert words("ที่นี่") == ["ที่", "ที่ นี่", "นี่"]
    assert words("iPhone15を2024年") == ["2024", "iphone15", "を", "年"]
    assert words("한국어 text") == ["text", "한국어"]
    assert words("東京 大阪") == ["京", "大", "大 阪", "東", "東 京", "阪"]
    assert words("東京へ", ngrams=2, shortest=2) == ["京 へ", "東 京"]
    assert words("東京", words="spaced") == ["東京"]


def test_emoji_are_words_and_their_looks_are_not():
    assert words("\u2764\ufe0f \ufe0f 👍🏽") == ["❤", "👍"]
    assert words("👩🏽\u200d💻") == ["👩", "👩 💻", "💻"]
    assert words("🇩🇪") == ["🇩", "🇩 🇪", "🇪"]
    model = NaiveBayes(**FIXED).fit(["😡 service", "😡", "😀 service", "😀"], ["bad", "bad", "good", "good"])
    assert model.predict(["😡", "😡😡", "😀\ufe0f"]).tolist() == ["bad", "bad", "good"]


# One rule, wherever text is cut.


@pytest.mark.parametrize("options", [TextOptions(), TextOptions(ngrams=2), TextOptions(weighting="presence")], ids=repr)
@settings(max_examples=25, deadline=None)
@given(texts=DOCUMENTS.filter(lambda texts: any(texts)))
def test_a_stream_reads_as_a_batch_does(options, texts):
    labels = ["even" if index % 2 else "odd" for index in range(len(texts))]
    batch, stream = (NaiveBayes(text=options, families={"text": "text"}, **FIXED) for _ in range(2))
    batch.partial_fit({"text": texts}, labels)
    for text, label in zip(texts, labels, strict=True):
        stream.learn_one({"text": text}, label)
    assert stream.summary_ == batch.summary_
    for text in texts:
        one, many = stream.predict_proba_one({"text": text}), batch.predict_proba({"text": [text]})[0]
        assert list(one.values()) == pytest.approx(many.tolist())


@every_language
def test_hashed_words_answer_like_words_with_names(name):
    (texts, labels), (asked, _) = drawn(name, 60)
    named, hashed = (NaiveBayes(text=TextOptions(hashed=bits), **FIXED).fit(texts, labels) for bits in (None, 18))
    held = {word for text in texts for word in terms(text, TextOptions())}
    known = [text for text in asked if held.issuperset(terms(text, TextOptions()))]
    assert not known or hashed.predict(known).tolist() == named.predict(known).tolist()


# What is shown.


@every_language
def test_explanations_mark_the_characters_that_spoke(name):
    (texts, labels), (asked, _) = drawn(name, 60)
    model = NaiveBayes(text=TextOptions(), **FIXED).fit(texts, labels)
    for text, why in zip(asked[:5], model.explain(asked[:5]), strict=True):
        known = {closed_up(term) for term in terms(text, TextOptions())}
        assert {one.word for one in why.words} <= known
        found = words_that_spoke(why, "text")
        assert [(word.start, word.end) for word in found] == sorted((word.start, word.end) for word in found)
        assert sum(word.lead for word in found) == pytest.approx(why.leads(*why.ranked[:2]).sum())


def test_words_are_written_as_people_write_them():
    model = NaiveBayes(**FIXED).fit(["東京 tower", "大阪"], ["e", "w"])
    said = str(model.explain(["東京 tower"])[0])
    assert "text: 東京 " in said
    assert "text: tower " in said


# What is text at all.


@every_language
def test_sentences_are_text_and_names_are_categories(name):
    language = SCRIPTS.LANGUAGES[name]
    texts, _ = SCRIPTS.sentences(language, 60, 0)
    column = Batch.of({"said": texts, "one": [(language.topics[0].split() * 8)[index] for index in range(60)]})
    assert guess_column(column, "one").family == "categorical"
    if name != "emoji":
        assert guess_column(column, "said").family == "text"
        assert guess_of("said", max(texts, key=len)).family == "text"


# Models that were made when every script was taken to have spaces.


def test_a_model_of_the_first_alphabet_reads_as_it_did(tmp_path):
    first = {**json.loads(json.dumps(Text(column="text").describe())), "alphabet": alphabet.version("spaced")}
    first.pop("family")
    family = Text(**first)
    assert family.alphabet == alphabet.version("spaced") != Text().alphabet
    assert family.options == TextOptions(words="spaced")
    model = NaiveBayes(text=TextOptions(words="spaced"), **FIXED).fit(["東京 a", "大阪 b"], ["e", "w"])
    model.save(tmp_path / "old.candide")
    again = load(tmp_path / "old.candide")
    assert again.schema_.blocks[0].family.options == family.options
    assert again.predict_proba(["東京", "京"]).tolist() == model.predict_proba(["東京", "京"]).tolist()
    assert again.predict_proba(["京"])[0].tolist() == [0.5, 0.5]


def test_the_default_alphabet_does_not_add_to_the_first():
    one, other = (Text(column="text", options=TextOptions(words=words)) for words in ("spaced", "default"))
    assert one != other
    assert one.describe()["alphabet"] != other.describe()["alphabet"]


# Hostile texts.

FLOODS = {
    "a lone surrogate": "\ud800東\udfff",
    "only marks": "\u0301" * 3000,
    "a character with many marks": "ก" + "\u0e31" * 100_000 + "ข",
    "a chain of joiners": "👩" + "\u200d👩" * 3000,
    "only joiners and selectors": "\u200d\ufe0f" * 3000,
    "many skin tones": "👍" + "🏽" * 3000,
    "a long word": "x" * 1_000_000,
    "a long line without spaces": "東京大阪" * 50_000,
    "half a flag": "🇩" * 3001,
    "turning": "\u202e東\u2066京\u2069",
    "nothing": "",
    "a zero byte": "東\x00京",
    "private and unassigned": "\ue000\U0010ffff\u0378東",
}


@pytest.mark.parametrize("name", FLOODS)
def test_hostile_texts_are_learned_judged_and_explained(name):
    text = FLOODS[name]
    texts, labels = [text, "東京 plain", text + " more", "大阪"], ["a", "b", "a", "b"]
    for options in (TextOptions(), TextOptions(ngrams=2), TextOptions(hashed=12, weighting="log")):
        model = NaiveBayes(text=options, **FIXED).fit(texts, labels)
        chances = model.predict_proba(texts)
        assert np.isfinite(chances).all()
        assert chances.sum(axis=1) == pytest.approx(1.0)
    one = NaiveBayes(text=TextOptions(), **FIXED)
    for said, label in zip(texts, labels, strict=True):
        one.learn_one(said, label)
    assert sum(one.predict_proba_one(text).values()) == pytest.approx(1.0)
    why = one.explain([text[:2000]])[0]
    marked = words_that_spoke(why, "text")
    assert all(0 <= word.start < word.end <= len(text) for word in marked)
    one.forget_one(text, "a")


def test_a_folded_text_is_cut_where_it_was():
    for options in (TextOptions(fold_accents=True), replace(TextOptions(), fold_case=False)):
        text = "Ça東\u0301京É"
        expected = [fold(word, options) for word in ("Ça", "東\u0301", "京", "É")]
        assert [unit for unit, _ in cut(text, options)] == expected
