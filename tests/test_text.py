"""Text as a family: the laws, scikit-learn's numbers, and the lecture's example."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.engines import named, protocol
from candide.families.base.family import Block
from candide.families.text import Text
from candide.families.words.options import TextOptions
from candide.model.predictor import Predictor, normalised
from candide.model.summary import Accumulator, Summary

WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "hen", "the", "a", "of", "naïve", "Straße", "漢字", "9", "x_y"]
LINES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
TEXTS = st.one_of(st.none(), LINES, st.text(max_size=12))
ROWS = st.lists(st.tuples(TEXTS, st.sampled_from("pqr")), min_size=1, max_size=12)

RECIPES = [
    TextOptions(),
    TextOptions(model="complement"),
    TextOptions(weighting="presence", model="bernoulli"),
    TextOptions(model="poisson"),
    TextOptions(weighting="log", model="complement", ngrams=2),
    TextOptions(weighting="presence"),
    TextOptions(weighting="unit"),
    TextOptions(weighting="unit", model="complement", shortest=2, ngrams=2),
    TextOptions(characters=True, shortest=3, ngrams=5, weighting="unit"),
    TextOptions(shortest=2, ngrams=3, hashed=9),
    TextOptions(hashed=9),
    TextOptions(characters=True, ngrams=3, idf=True),
    TextOptions(idf=True, min_count=2),
    TextOptions(stop_words=1, max_terms=4, ngrams=3),
    TextOptions(model="poisson", stop_words=("the", "Ant")),
]


DEFAULT = TextOptions()


def blocks(options: TextOptions = DEFAULT, smoothing: float = 1.0) -> tuple[Block, ...]:
    return (Block(Text(smoothing, "text", options), ("text",)),)


def batch_of(rows: list[tuple[str | None, str]], weights: list[int] | None = None) -> Batch:
    texts = pa.array([text for text, _ in rows], type=pa.string())
    return Batch.of(pa.table({"text": texts}), [label for _, label in rows], weights)


def fitted(texts: list[str], labels: list[str], options: TextOptions, smoothing: float = 1.0) -> Predictor:
    return Predictor.fit(Summary.of(blocks(options, smoothing), batch_of(list(zip(texts, labels, strict=True)))))


def joint(model: Predictor, texts: list[str | None]) -> np.ndarray:
    return model.joint(Batch.of(pa.table({"text": pa.array(texts, type=pa.string())})))


@pytest.mark.parametrize("options", RECIPES, ids=repr)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cut=st.integers(0, 12), data=st.data())
def test_summaries_obey_the_laws(options, rows, cut, data):
    schema = blocks(options)
    whole = Summary.of(schema, batch_of(rows))
    parts = (rows[:cut], rows[cut:])
    left, right = (Summary.of(schema, batch_of(part)) if part else Summary.empty(schema) for part in parts)
    assert left + right == whole == right + left
    assert whole - right == left
    assert whole + Summary.empty(schema) == whole
    shuffled = data.draw(st.permutations(rows))
    assert Summary.of(schema, batch_of(shuffled)) == whole
    assert Summary.of(schema, batch_of(rows, [2] * len(rows))) == whole + whole
    accumulator = Accumulator.over(whole)
    accumulator.forget(batch_of(rows[cut:])) if rows[cut:] else None
    assert accumulator.freeze() == left


@pytest.mark.parametrize("options", RECIPES, ids=repr)
@pytest.mark.parametrize("smoothing", [1.0, 0.0])
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, asked=st.lists(TEXTS, min_size=1, max_size=5))
def test_scores_are_finite_or_impossible_and_explained(options, smoothing, rows, asked):
    model = Predictor.fit(Summary.of(blocks(options, smoothing), batch_of(rows)))
    batch = Batch.of(pa.table({"text": pa.array(asked, type=pa.string())}))
    scores = model.joint(batch)
    assert not np.isnan(scores).any()
    posterior = normalised(scores, model.log_prior)
    assert np.isfinite(posterior).all()
    assert posterior.sum(axis=1) == pytest.approx(1.0)
    for row, explanation in enumerate(model.explain(batch)):
        total = explanation.prior + sum((term.log_likelihood for term in explanation.terms), np.zeros(1))
        assert np.allclose(total, scores[row], atol=1e-9)
    one_by_one = np.concatenate([model.joint(part) for part in batch.split(1)])
    assert np.array_equal(one_by_one, scores)


@pytest.mark.parametrize("options", RECIPES, ids=repr)
def test_pairs_say_what_a_table_says(options, monkeypatch):
    texts = ["ant bee the", "bee the dog", "cat", "the the ant", "fox", ""]
    rows = [(text, "pqr"[i % 3]) for i, text in enumerate(texts)]
    asked = ["ant ant the bee", "unknown fox", "", None, "cat dog"]
    for smoothing in (0.5, 0.0):
        with monkeypatch.context() as patch:
            dense = joint(fitted(*map(list, zip(*rows, strict=True)), options, smoothing), asked)
            patch.setattr("candide.families.words.event_models.CLASSES_IN_A_TABLE", 0)
            patch.setattr("candide.families.words.event_models.CELLS_A_PAIR", 0)
            sparse = joint(fitted(*map(list, zip(*rows, strict=True)), options, smoothing), asked)
        np.testing.assert_allclose(sparse, dense, atol=1e-12)


@pytest.mark.parametrize("options", RECIPES, ids=repr)
def test_threads_and_batches_change_nothing(options, monkeypatch):
    rng = np.random.default_rng(1)
    rows = [(" ".join(rng.choice(WORDS, 20)), "pqr"[i % 3]) for i in range(400)]
    expected = Summary.of(blocks(options), batch_of(rows))
    monkeypatch.setattr(protocol, "ROWS_AT_ONCE", 17)
    for threads in ("1", "3"):
        monkeypatch.setenv("CANDIDE_THREADS", threads)
        assert named().summarize(blocks(options), [batch_of(rows)]) == expected
    model = Predictor.fit(expected)
    batch = batch_of(rows)
    together = np.concatenate(list(named().map(model.joint, batch.split(13))))
    assert np.array_equal(together, model.joint(batch))


def corpus(n: int = 150) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(7)
    words = np.array([f"{a}{b}" for a in ("ba", "Ko", "É", "x") for b in ("la", "12", "ß", "rum", "tion")])
    chances = rng.dirichlet(np.ones(len(words)) * 0.4, 3)
    labels = rng.integers(0, 3, n)
    texts = [" ".join(rng.choice(words, rng.integers(1, 30), p=chances[label])) for label in labels]
    return texts, [f"class{label}" for label in labels]


@pytest.mark.parametrize("smoothing", [1.0, 0.1])
@pytest.mark.parametrize(
    ("options", "vectorizer", "peer"),
    [
        (TextOptions(words="sklearn"), CountVectorizer(), MultinomialNB),
        (TextOptions(words="sklearn", model="complement"), CountVectorizer(), ComplementNB),
        (TextOptions(words="sklearn", model="bernoulli", weighting="presence"), CountVectorizer(), BernoulliNB),
        (TextOptions(words="sklearn", weighting="presence"), CountVectorizer(binary=True), MultinomialNB),
        (TextOptions(words="sklearn", ngrams=2), CountVectorizer(ngram_range=(1, 2)), MultinomialNB),
        (TextOptions(words="sklearn", ngrams=2, shortest=2), CountVectorizer(ngram_range=(2, 2)), MultinomialNB),
        (TextOptions(words="sklearn", idf=True), TfidfVectorizer(norm=None), MultinomialNB),
        (TextOptions(words="sklearn", idf=True, model="complement"), TfidfVectorizer(norm=None), ComplementNB),
        (
            TextOptions(words="sklearn", stop_words=("BALA", "x12")),
            CountVectorizer(stop_words=["bala", "x12"]),
            MultinomialNB,
        ),
        (TextOptions(words="sklearn", fold_case=False), CountVectorizer(lowercase=False), MultinomialNB),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value)[:60],
)
def test_same_numbers_as_scikit_learn(options, vectorizer, peer, smoothing):
    texts, labels = corpus()
    learned = peer(alpha=smoothing).fit(vectorizer.fit_transform(texts[:100]), labels[:100])
    expected = learned.predict_joint_log_proba(vectorizer.transform(texts[100:]))
    model = fitted(texts[:100], labels[:100], options, smoothing)
    assert joint(model, texts[100:]) == pytest.approx(expected, abs=1e-9)


def test_unit_weighting_is_binary_terms_of_length_one():
    texts, labels = corpus()
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), binary=True, use_idf=False)
    learned = MultinomialNB(alpha=0.1).fit(vectorizer.fit_transform(texts[:100]), labels[:100])
    model = fitted(texts[:100], labels[:100], TextOptions(words="sklearn", weighting="unit", ngrams=2), 0.1)
    known = [i for i in range(100, 150) if set(vectorizer.build_analyzer()(texts[i])) <= set(vectorizer.vocabulary_)]
    expected = learned.predict_joint_log_proba(vectorizer.transform([texts[i] for i in known]))
    assert len(known)
    assert joint(model, [texts[i] for i in known]) == pytest.approx(expected, abs=1e-7)


def test_the_lecture_example():
    yes = ["Love Happy Joy Joy Happy", "Happy Love Kick Joy Happy", "Love Move Joy Good", "Love Happy Joy Love Pain"]
    no = ["Joy Love Pain Kick Pain", "Pain Pain Love kick"]
    model = fitted([*yes, *no], ["yes"] * 4 + ["no"] * 2, TextOptions())
    scores = joint(model, ["Love Pain Joy Love Kick"])
    assert np.exp(scores[0]) == pytest.approx([1 / 3 * 270 / 16**5, 2 / 3 * 864 / 26**5])
    assert normalised(scores, model.log_prior)[0, 0] == pytest.approx(0.6390, abs=5e-5)


def test_the_chance_of_one_token_sums_to_one():
    texts, labels = corpus(30)
    parameters = fitted(texts, labels, TextOptions()).parameters[0]
    for label in range(3):
        assert np.exp(parameters.shares(label, parameters.score_weights)).sum() == pytest.approx(1.0, abs=1e-12)


def test_poisson_is_the_product_of_its_words():
    from scipy.stats import poisson

    model = fitted(["a a b", "b c"], ["p", "q"], TextOptions(model="poisson"))
    rates = np.array([[3, 2, 1], [1, 2, 2]]) / np.array([[6], [5]])
    counts = np.array([2, 0, 1])
    expected = np.log(0.5) + poisson.logpmf(counts, 4 * rates).sum(axis=1)
    assert joint(model, ["a a c unknown"])[0] == pytest.approx(expected)


def test_missing_says_nothing_and_unknown_words_neither():
    model = fitted(["ant bee", "cat"], ["p", "q"], TextOptions())
    for text in (None, "", "zebra"):
        assert np.array_equal(joint(model, [text])[0], model.log_prior)


def test_thresholds_act_at_the_end():
    texts, labels = ["the the the cat", "the dog dog"], ["p", "q"]

    def words(**options):
        parameters = fitted(texts, labels, TextOptions(**options)).parameters[0].in_order
        return [parameters.word(row) for row in range(len(parameters))]

    assert words() == ["the", "dog", "cat"]
    assert words(stop_words=1) == ["dog", "cat"]
    assert words(stop_words=["The", "CAT"]) == ["dog"]
    assert words(min_count=2) == ["the", "dog"]
    assert words(max_terms=1) == ["the"]
    assert words(max_terms=1, stop_words=1) == ["dog"]
    a = Summary.of(blocks(TextOptions(stop_words=1)), batch_of([("the cat", "p")]))
    assert a.statistics[0].words() == [b"cat", b"the"]


def test_new_texts_can_be_drawn():
    texts, labels = corpus(60)
    pairs = TextOptions(ngrams=2, shortest=2)
    for options in (TextOptions(), TextOptions(model="bernoulli", weighting="presence"), TextOptions(ngrams=2), pairs):
        model = fitted(texts, labels, options)
        columns, drawn = model.sample(5, None, np.random.default_rng(0))
        assert len(columns["text"]) == len(drawn) == 5
        assert all(isinstance(text, str) and text for text in columns["text"])
    with pytest.raises(OptionRefused, match="no names"):
        fitted(texts, labels, TextOptions(hashed=10)).sample(1, None, np.random.default_rng(0))


def test_text_stands_beside_other_columns():
    from candide.families.gaussian import Gaussian

    schema = (
        Block(Text(1.0, "title"), ("title",)),
        Block(Gaussian(), ("age",)),
        Block(Text(1.0, "body"), ("body",)),
    )
    rows = pa.table({"age": [1.0, 2.0, 9.0], "title": ["a", "b", None], "body": ["x y", "", "z"]})
    batch = Batch.of(rows, ["p", "p", "q"])
    summary = Summary.of(schema, batch)
    assert summary.statistics[0].words() == [b"a", b"b"]
    assert summary.statistics[2].words() == [b"x", b"y", b"z"]
    assert np.isfinite(Predictor.fit(summary).joint(batch)).all()
    with pytest.raises(OptionRefused, match="one column"):
        Summary.of((Block(Text(), ("title", "body")),), batch)


def test_the_alphabet_is_part_of_the_fingerprint():
    assert "unicode" in Text().describe()["alphabet"]
    with pytest.raises(OptionRefused, match="Count it again"):
        Text(alphabet="candide unicode 3.0")
    one, other = (Summary.empty(blocks(TextOptions(words=words))).fingerprint for words in ("default", "sklearn"))
    assert one != other


@pytest.mark.parametrize("options", RECIPES, ids=repr)
def test_a_described_family_can_be_made_again(options):
    described = json.loads(json.dumps(Text(0.5, "title", options).describe()))
    del described["family"]
    assert Text(**described) == Text(0.5, "title", options)


def test_ten_megabytes_in_one_word_are_scored():
    model = fitted(["ant", "bee"], ["p", "q"], TextOptions())
    assert np.array_equal(joint(model, ["x" * 10_000_000])[0], model.log_prior)
