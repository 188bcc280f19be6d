"""Law 11: a row left out is judged as by a model refitted without it, by the same choices."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candide import families
from candide.data.batch import Batch
from candide.data.errors import ForgetRefused, LabelsRefused
from candide.engines import named, protocol
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import Block
from candide.families.base.leave_one_out import ByRefitting
from candide.families.text import Text
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.options import TextOptions
from candide.families.words.term_matrix import TermMatrix
from candide.model.novelty import how_expected
from candide.model.predictor import Predictor, log_sum
from candide.model.summary import Summary, grid_weights
from candide.selection.leave_one_out import LeaveOneOut, known_labels
from strategies import CASES, LABELS, MIXTURE, Row, Table, blocks_of, one_of, sampled_from, several, tables

every_family = pytest.mark.parametrize("case", CASES)
draws = st.data()


def judged(table, **options):
    """Every row of a table, left out of it."""
    return LeaveOneOut.of(table.summary(), table.batch(), **options).left_out(engine=named())


def settled(table):
    """The same rows with every choice that fitting makes held, as leaving out holds it."""
    pairs = zip(table.blocks, table.summary().statistics, strict=True)
    return replace(table, blocks=tuple(replace(block, family=block.family.settled(seen)) for block, seen in pairs))


def refitted(table, summary, index, **options):
    """The joint of a row by a model fitted without it, and how large its terms are; -inf for a class that is gone."""
    row = table.of([table.rows[index]])
    joint, size = np.full(len(summary.classes), -np.inf), np.zeros(len(summary.classes))
    rest, batch = summary - row.summary(), row.batch()
    if rest.classes:
        model = Predictor.fit(rest, **options)
        kept = [summary.classes.index(key) for key in rest.classes]
        joint[kept] = model.joint(batch)[0]
        explained = model.explain(batch)[0]
        size[kept] = sum((np.abs(term.log_likelihood) for term in explained.terms), np.abs(explained.prior))
    return joint, size


def assert_alike(found, expected, size=0.0):
    """Equal where infinite, else to 1e-9 of the largest terms: what they sum to may be small by chance."""
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite])
    close = 1e-9 * (1 + np.broadcast_to(size, expected.shape)[finite] + np.abs(expected[finite]))
    assert (np.abs(found[finite] - expected[finite]) <= close).all()


def assert_refits(table, **options):
    """Leaving out is refitting, for every row of the table."""
    found, held = judged(table, **options).joint, settled(table)
    summary = held.summary()
    for index in range(len(table.rows)):
        assert_alike(found[index], *refitted(held, summary, index, **options))


# Every family, whatever the rows.


@every_family
@pytest.mark.parametrize("extreme", [False, True], ids=["ordinary", "extreme"])
@given(data=draws)
def test_leaving_out_is_refitting(case, extreme, data):
    blocks = blocks_of(case, columns=data.draw(st.integers(1, 3)))
    assert_refits(data.draw(tables(blocks, least=1, extreme=extreme)))


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("gaussian_")])
@given(data=draws)
def test_leaving_out_is_refitting_without_smoothing(case, data):
    """A full covariance without smoothing may be all but singular, and then no two ways of computing it agree."""
    if case == MIXTURE:
        pytest.skip("the mixture holds full covariances")
    assert_refits(data.draw(tables(blocks_of(case, smoothing=0.0), least=1, extreme=False)))


@pytest.mark.parametrize("case", ["gaussian", "text", "categorical"])
@given(data=draws)
def test_balanced_classes_are_balanced_without_the_row(case, data):
    assert_refits(data.draw(tables(blocks_of(case), least=1)), class_weight="balanced")


@given(data=draws)
def test_uniform_priors_stay_uniform(data):
    assert_refits(with_all_classes(data.draw(tables(blocks_of("gaussian"), least=1))), priors="uniform")


def test_uniform_priors_are_shared_by_the_classes_that_remain():
    rows = (Row((1,), "apple"), Row((2,), "pear"), Row((3,), "pear"), Row((4,), "quince"), Row((5,), "quince"))
    assert_refits(Table(blocks_of("gaussian", 1), rows), priors="uniform")


@given(data=draws)
def test_given_priors_stay_while_their_class_does(data):
    table = with_all_classes(data.draw(tables(blocks_of("gaussian"), least=1)))
    assert_refits(table, priors={"apple": 0.5, "pear": 0.25, "quince": 0.25})


def with_all_classes(table):
    """The table with two more rows of every class, so that none vanishes."""
    more = [Row((1,) * len(table.columns), label) for label in LABELS for _ in range(2)]
    return table.of([*table.rows, *more])


@every_family
@given(data=draws)
def test_the_only_row_of_a_class_takes_the_class_with_it(case, data):
    table = data.draw(tables(blocks_of(case), least=1, labels=("apple", "pear")))
    table = table.of([*table.rows, replace(table.rows[0], label="quince")])
    left = judged(table)
    assert np.isneginf(left.joint[-1, -1])
    assert left.vanished[-1]
    assert not np.isnan(left.joint).any()


@every_family
@given(data=draws, rows_at_once=st.integers(1, 5))
def test_threads_and_parts_leave_no_trace(case, data, rows_at_once):
    table = data.draw(tables(blocks_of(case), least=1, most=12))
    whole = judged(table)
    for threads in ("1", "3"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CANDIDE_THREADS", threads)
            patch.setattr(protocol, "ROWS_AT_ONCE", rows_at_once)
            parted = judged(table)
        for name in ("labels", "weights", "prior", "terms", "lengths", "log_marginal"):
            assert np.array_equal(getattr(parted, name), getattr(whole, name)), name


@every_family
@given(data=draws)
def test_a_stranger_to_all_classes_cannot_be_left_out(case, data):
    table = data.draw(tables(blocks_of(case), least=1))
    stranger = table.of([replace(table.rows[0], label="nobody")])
    with pytest.raises(LabelsRefused):
        LeaveOneOut.of(table.summary(), stranger.batch())


# Text, by every recipe.

MODELS = [
    {"weighting": weighting, "model": model}
    for model in ("multinomial", "complement")
    for weighting in ("counts", "presence", "log", "unit")
] + [{"weighting": "presence", "model": "bernoulli"}, {"weighting": "counts", "model": "poisson"}]
CUTS = [
    {},
    {"ngrams": 3},
    {"characters": True, "ngrams": 2},
    {"shortest": 2, "ngrams": 2},
    {"shortest": 2, "ngrams": 3, "hashed": 8},
    {"characters": True, "shortest": 3, "ngrams": 5},
    {"hashed": 8, "ngrams": 2},
    {"words": "sklearn"},
    {"min_count": 3},
    {"stop_words": ("a", "red")},
    {"ngrams": 2, "min_count": 2},
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model['model']} of {model['weighting']}")
any_cut = st.sampled_from(CUTS)

WORDS = ("a", "b", "the", "Red", "ünï", "longer_than_eight")
texts = one_of(
    lambda chance: " ".join(chance.choices(WORDS, k=chance.randint(0, 8))),
    sampled_from([None, "", "a a a a a b", "?!", "never twice"]),
)
heavy = sampled_from([1, 1, 1, 2, 50])


@cache
def text_rows(weights=heavy, least=1, most=8):
    """Texts with labels and weights."""
    return several(lambda chance: Row((texts(chance),), chance.choice(LABELS), weights(chance)), least, most)


def text_tables(options, smoothing=1.0, **rows):
    """Such texts under a recipe."""
    block = Block(Text(smoothing=smoothing, column="text", options=options), ("text",))
    return text_rows(**rows).map(lambda rows: Table((block,), rows))


@every_model
@settings(max_examples=3 * settings.default.max_examples)
@given(data=draws, cut=any_cut, smoothing=st.sampled_from([1.0, 0.25, 1e-6, 0.0]))
def test_a_text_is_left_out_by_any_recipe(model, cut, data, smoothing):
    table = data.draw(text_tables(TextOptions(**model, **cut), smoothing))
    assert_refits(table)


@pytest.mark.parametrize("weighting", ["counts", "presence", "log", "unit"])
@given(data=draws, smoothing=st.sampled_from([1.0, 0.25]))
def test_the_likelihood_of_a_complement_is_that_of_the_multinomial(weighting, data, smoothing):
    table = data.draw(text_tables(TextOptions(model="complement", weighting=weighting), smoothing))
    family = replace(table.blocks[0].family, options=TextOptions(weighting=weighting))
    found, expected = judged(table), judged(replace(table, blocks=(Block(family, ("text",)),)))
    assert np.array_equal(found.log_marginal, expected.log_marginal)


@every_model
@given(data=draws, cut=any_cut, smoothing=st.sampled_from([1.0, 0.0]))
def test_a_term_matrix_says_what_the_family_says(model, cut, data, smoothing):
    options = TextOptions(**model, **cut)
    table = data.draw(text_tables(options, smoothing))
    weighed, expected = matrix_of(table, options).weighed(options.weighting), judged(table)
    assert np.array_equal(weighed.left_out(options.model, [smoothing])[0], expected.terms[0])
    assert np.array_equal(weighed.lengths(len(table.rows)), expected.lengths[0])
    assert_alike(weighed.left_out(options.model, [0.5, smoothing], 1)[1], expected.terms[0][:1])


@every_model
@pytest.mark.parametrize("more", [{"max_terms": 3}, {"stop_words": 1}], ids=str)
@given(data=draws)
def test_a_term_matrix_keeps_the_words_the_family_keeps(model, more, data):
    options = TextOptions(**model, **more)
    table = data.draw(text_tables(options))
    found = matrix_of(table, options).weighed(options.weighting).left_out(options.model, [1.0])[0]
    assert np.array_equal(found, judged(table).terms[0])


@pytest.mark.parametrize("model", ["multinomial", "complement"])
def test_texts_that_were_counted_and_asked_before_say_the_same_again(model):
    texts, options = ["a b b c", "b c", "a a d", "d c b", "a", "c d d"], TextOptions(model=model, weighting="unit")
    documents, labels = Documents.of(texts, "text"), np.array([0, 1, 0, 2, 1, 2])

    def matrix(labels, documents=documents):
        return TermMatrix.of(documents, labels, NO_INTEGERS, 3, options)

    first, fresh = matrix(labels).weighed("unit"), matrix(labels, Documents.of(texts, "text"))
    few = first.left_out(model, [0.3], 2)
    again = matrix(labels.copy()).weighed("unit")
    assert again is first
    assert np.array_equal(again.left_out(model, [0.3])[0], fresh.weighed("unit").left_out(model, [0.3])[0])
    assert np.array_equal(again.left_out(model, [0.3], 2), few)
    other = matrix(labels[::-1]).weighed("unit")
    assert not np.array_equal(other.left_out(model, [0.3]), first.left_out(model, [0.3]))


def matrix_of(table, options):
    summary, batch = table.summary(), table.batch()
    family = replace(table.blocks[0].family, options=options, alphabet="")
    labels, weights = known_labels(summary, batch), grid_weights(batch)
    return TermMatrix.of(family.view(batch, ("text",)), labels, weights, len(summary.classes), options)


# What depends on all documents at once is a choice, and stays.


@every_model
@pytest.mark.parametrize("choice", [{"max_terms": 2}, {"stop_words": 2}], ids=str)
@given(data=draws)
def test_the_words_that_were_kept_stay_kept(model, choice, data):
    """The same words as a list of stop words give the same answers."""
    table = data.draw(text_tables(TextOptions(**model, **choice)))
    family, statistic = table.blocks[0].family, table.summary().statistics[0]
    kept = family.fit(statistic, ("text",))
    spoken = {kept.word(row) for row in range(len(kept))}
    others = tuple(word.decode() for word in statistic.words() if word.decode() not in spoken)
    listed = family.reading("text", TextOptions(**model, stop_words=others))
    found = judged(table).terms[0]
    expected = judged(replace(table, blocks=(Block(listed, ("text",)),))).terms[0]
    assert_alike(found, expected)


@pytest.mark.parametrize("weighting", ["counts", "presence"])
@pytest.mark.parametrize("model", ["multinomial", "complement"])
@given(data=draws, smoothing=st.sampled_from([1.0, 0.25]))
def test_inverse_frequencies_stay(weighting, model, data, smoothing):
    """Written out once more, word by word."""
    table = data.draw(text_tables(TextOptions(weighting=weighting, model=model, idf=True), smoothing))
    rows = [(words_of(row.cells[0], weighting), row.label, row.weight) for row in table.rows]
    there = [(counts, weight) for counts, _, weight in rows if counts is not None]
    documents = sum(weight for _, weight in there)
    held = Counter()
    for counts, weight in there:
        held.update(dict.fromkeys(counts, weight))
    idf = {word: math.log((1 + documents) / (1 + n)) + 1 for word, n in held.items()}
    found = judged(table).terms[0]
    for index, (counts, _, _) in enumerate(rows):
        rest = [row for other, row in enumerate(rows) if other != index and row[0] is not None]
        expected = [idf_score(counts or {}, rest, label, idf, smoothing, model) for _, label in table.summary().classes]
        assert_alike(found[index], np.array(expected))


def words_of(text, weighting):
    """The words of a text with their amounts; None for no text."""
    if text is None:
        return None
    counts = Counter(word for word in text.casefold().split() if word != "?!")
    return dict.fromkeys(counts, 1) if weighting == "presence" else counts


def idf_score(counts, rest, label, idf, smoothing, model):
    """What some words say about a class by the other documents."""
    words = {word for other, _, _ in rest for word in other}
    mine = [row for row in rest if (row[1] == label) == (model == "multinomial")]

    def load(word):
        return idf[word] * sum(weight * other.get(word, 0) for other, _, weight in mine)

    whole = sum(map(load, words)) + smoothing * len(words)
    known = {word: amount for word, amount in counts.items() if word in words}
    said = sum(n * idf[word] * math.log((load(word) + smoothing) / whole) for word, n in known.items())
    return said if model == "multinomial" else -said


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        (TextOptions(), [3, 0, 0, 1]),
        (TextOptions(hashed=8), [3, 0, 0, 1]),
        (TextOptions(ngrams=2), [5, 0, 0, 1]),
        (TextOptions(ngrams=2, shortest=2), [2, 0, 0, 0]),
        (TextOptions(weighting="presence"), [2, 0, 0, 1]),
        (TextOptions(weighting="unit"), [math.sqrt(2), 0, 0, 1]),
    ],
    ids=str,
)
def test_the_length_is_the_weight_of_all_words_known_or_not(options, weights):
    family = Text(column="text", options=options)
    rows = [Row((text,), "x") for text in ("one two  two", None, "", "three")]
    table = Table((Block(family, ("text",)),), tuple(rows))
    assert judged(table).lengths[0] == pytest.approx(weights)
    lengths = family.evidence_length(None, family.view(table.batch(), ("text",)))
    assert np.array_equal(lengths, judged(table).lengths[0])


@every_model
@given(data=draws, cut=any_cut)
def test_what_is_strange_without_the_row(model, cut, data):
    """Words nobody else holds weigh -log(G + V), G and V without the row."""
    table = data.draw(text_tables(TextOptions(**model, **cut)))
    (block,), summary, batch = table.blocks, table.summary(), table.batch()
    labels, weights = known_labels(summary, batch), grid_weights(batch)
    leaving = block.family.leave_one_out(summary.statistics[0], block.columns)
    found = leaving.scores(BlockRows.of(block.family, block.columns, batch, labels, weights)).unseen
    for index, row in enumerate(table.rows):
        alone = table.of([row])
        rest = (summary - alone.summary()).statistics[0] if len(table.rows) > 1 else None
        if rest is not None:
            parameters = block.family.fit(rest, block.columns)
            values = block.family.view(alone.batch(), block.columns)
            expected = block.family.assess(parameters, values, (1, rest.classes)).unseen
            assert found[index] == pytest.approx(expected[0], abs=1e-7)


@every_model
def test_a_text_that_was_never_learned_is_refused(model):
    block = Block(Text(column="text", options=TextOptions(**model)), ("text",))
    table = Table((block,), tuple(Row((text,), label) for text, label in [("a b", "x"), ("a", "x"), ("b c", "y")]))
    for text, label in [("a never", "x"), ("c", "x"), ("a", "y")]:
        with pytest.raises(ForgetRefused):
            LeaveOneOut.of(table.summary(), table.of([Row((text,), label)]).batch()).left_out()


@given(data=draws)
def test_presence_and_absence_without_smoothing_is_a_probability(data):
    """Words that all documents of a class hold are certain there: over every set of words, chances sum to one."""
    options = TextOptions(weighting="presence", model="bernoulli")
    table = data.draw(text_tables(options, smoothing=0.0))
    words = [word.decode() for word in table.summary().statistics[0].words()]
    sets = [" ".join(w for index, w in enumerate(words) if subset >> index & 1) for subset in range(1 << len(words))]
    model = table.model()
    chances = np.exp(model.log_likelihood(Batch.of({"text": sets})) - model.log_prior)
    assert chances.sum(axis=0) == pytest.approx(np.ones(len(model.classes)), abs=1e-9)


# Full covariances.


@pytest.mark.parametrize("name", ["gaussian_full", "gaussian_shared"])
@pytest.mark.parametrize("smoothing", [1.0, 0.0])
@pytest.mark.parametrize("shape", ["plain", "a clock", "a constant", "an outlier", "classes of two rows"])
def test_a_covariance_without_a_row(name, smoothing, shape):
    rng = np.random.default_rng(11)
    values = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    labels = rng.integers(0, 3, 40)
    if shape == "a clock":
        values[:, 0] = 1.7e9 + rng.normal(size=40)
    elif shape == "a constant":
        values[:, 1] = 1.5
    elif shape == "an outlier":
        values[3, 0], values[4, 1] = 1e300, 1e12
    elif shape == "classes of two rows":
        labels = np.arange(40) // 2
    values[5:8, 2] = np.nan
    batch = Batch.of(values, labels, rng.integers(1, 4, 40))
    family = families.named(name, smoothing=smoothing)
    summary = Summary.of((Block(family, batch.names),), batch)
    seen = summary.statistics[0]
    rows = BlockRows.of(family, batch.names, batch, known_labels(summary, batch), grid_weights(batch))
    found, expected = family.leave_one_out(seen, batch.names), ByRefitting(family, seen, batch.names)
    assert_alike(found.scores(rows).score, expected.scores(rows).score)


def test_rows_beyond_those_learned_are_refused_by_covariances():
    batch = Batch.of(np.array([[1.0, 2.0], [2.0, 1.0], [5.0, 5.0]]), ["x", "x", "y"])
    summary = Summary.of((Block(families.named("gaussian_full"), batch.names),), batch)
    heavy = replace(batch, weights=np.array([3, 1, 1]))
    with pytest.raises((ForgetRefused, LabelsRefused)):
        LeaveOneOut.of(summary, heavy).left_out()


@every_family
@given(data=draws)
def test_the_marginal_is_the_likelihood_of_the_block(case, data):
    """One block: log P(values) under the model of the rest, whatever the class."""
    if case == MIXTURE:
        pytest.skip("a model of several blocks has one likelihood")
    table = data.draw(tables(blocks_of(case), least=2, extreme=False, labels=("apple",)))
    held = settled(table)
    summary = held.summary()
    found = judged(table).log_marginal[0]
    for index in range(len(table.rows) if len(table.rows) > 1 else 0):
        row = held.of([held.rows[index]])
        rest = summary - row.summary()
        if rest.classes:
            model = Predictor.fit(rest)
            (block,), (parameters,) = model.blocks, model.parameters
            expected = log_sum(model.log_likelihood(row.batch()))
            values = block.family.view(row.batch(), block.columns)
            unseen = block.family.assess(parameters, values, (1, len(model.classes))).unseen
            expected = how_expected(block, expected + unseen, unseen)
            assert_alike(found[index : index + 1], expected)
