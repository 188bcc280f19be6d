"""A text is cut into terms once for each reading of it, whatever is asked: score, length, likelihood, novelty."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import candide
from candide.data.batch import Batch
from candide.families.base.family import Block
from candide.families.text import Text
from candide.families.words import parameters, term_lists, unit_sequences, word_tally_builder
from candide.families.words.documents import Documents
from candide.families.words.options import TextOptions
from candide.families.words.vocabulary import Vocabulary, letters_of, recipe_of
from candide.kernels.word_merging import Lines
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor, log_sum
from candide.model.summary import Summary
from candide.selection.leave_one_out import LeaveOneOut
from candide.stream import live_words

WORDS = np.array(["the", "a", "film", "good", "bad", "plot", "long", "short", "warm", "cold"])


class Cuts:
    """How many documents went through the kernels that cut texts."""

    def __init__(self) -> None:
        self.documents = 0

    def counting(self, kernel):
        def counted(texts, row, *rest):
            stop, reason = kernel(texts, row, *rest)
            self.documents += stop - row
            return stop, reason

        return counted

    def counting_one(self, kernel):
        def counted(*arguments):
            answer = kernel(*arguments)
            self.documents += answer >= 0
            return answer

        return counted


@pytest.fixture
def cuts(monkeypatch):
    found = Cuts()
    for module, name in [
        (parameters, "score_documents"), (term_lists, "measure_documents"), (term_lists, "list_documents"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, found.counting(getattr(module, name)))
    monkeypatch.setattr(live_words, "score_text", found.counting_one(live_words.score_text))
    return found


def corpus(rows: int, classes: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(4)
    chances = rng.dirichlet(np.ones(len(WORDS)), classes)
    labels = rng.integers(0, classes, rows)
    texts = [" ".join(rng.choice(WORDS, rng.integers(2, 20), p=chances[label])) for label in labels]
    return texts, [f"class {label}" for label in labels]


@pytest.mark.parametrize("classes", [2, 5])
def test_predict_cuts_each_text_once_for_each_reading(classes, cuts):
    texts, labels = corpus(240, classes)
    model = candide.NaiveBayes({"text": "text"}).fit({"text": texts}, labels)
    readings = len(model.model_.blocks)
    assert model.model_.calibration is not None
    for ask in (model.predict_proba, model.predict, model.decide, lambda rows: candide.predict(model, rows)):
        cuts.documents = 0
        ask({"text": texts[:50]})
        assert cuts.documents == 50 * readings


@pytest.mark.parametrize(
    ("model", "weighting"), [("multinomial", "counts"), ("complement", "unit"), ("bernoulli", "presence")]
)
def test_a_stream_cuts_each_text_once_for_score_and_length(model, weighting, cuts):
    texts, labels = corpus(240, 3)
    options = TextOptions(model=model, weighting=weighting)
    batch, stream = (candide.NaiveBayes(text=options).fit({"text": texts}, labels) for _ in range(2))
    assert any(batch.model_.calibration.power.values())
    stream.learn_one({"text": texts[0]}, labels[0])
    stream.forget_one({"text": texts[0]}, labels[0])
    for text in [*texts[:20], "never seen", "", None, "good nothing good"]:
        cuts.documents = 0
        answer = stream.predict_proba_one({"text": text})
        assert cuts.documents == len(batch.model_.blocks) or text is None
        expected = batch.predict_proba({"text": [text]})[0]
        assert list(answer.values()) == pytest.approx(expected, abs=1e-12)


def test_leaving_out_cuts_each_text_once_for_each_reading(cuts):
    texts, labels = corpus(240, 5)
    readings = [TextOptions(), TextOptions(model="complement"), TextOptions(shortest=2, ngrams=2)]
    families = [Text(column="text", options=options, is_auxiliary=index > 1) for index, options in enumerate(readings)]
    batch = Batch.of({"text": texts}, labels)
    leaving = LeaveOneOut.of(Summary.of([Block(family, ("text",)) for family in families], batch), batch)
    cuts.documents = 0
    leaving.left_out()
    assert cuts.documents == 240 * len(readings)


def test_a_fit_reads_each_text_once_in_words_and_once_in_characters(monkeypatch):
    """Words, pairs and characters are tried by many weightings and smoothings; the best are counted and left out."""
    found = Cuts()
    for module, kernel in [
        (term_lists, "list_documents"), (unit_sequences, "list_units"), (word_tally_builder, "learn_documents"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, kernel, found.counting(getattr(module, kernel)))
    texts, labels = corpus(1100, 5)  # of fewer rows than a thousand, those that are judged are taken out of the others
    candide.NaiveBayes().fit({"text": texts}, labels)
    assert found.documents == 1100 * 2


MANY_TEXTS = ["to be or not to be", "", None, "Be", "東京都 is 東京 not 京都", "ß", "extraordinarily extraordinary"]


@pytest.mark.parametrize(("shortest", "longest"), [(1, 1), (1, 2), (2, 2), (3, 3), (1, 3), (2, 3)])
@pytest.mark.parametrize("characters", [False, True])
def test_runs_of_numbers_are_those_read_from_letters(shortest, longest, characters):
    """The slow twin reads every run from letters and looks it up; terms of a text come in the same order."""
    texts = [*MANY_TEXTS, *(text for text in corpus(60, 3)[0]), "word " * 5000]
    column = pa.chunked_array([pa.array(part, pa.large_string()) for part in (texts[:3], [], texts[3:40], texts[40:])])
    documents = Documents.of(column, "text")
    options = TextOptions(characters=characters, shortest=shortest, ngrams=longest)
    by_numbers, vocabulary = term_lists.cut_into_terms(documents, options), Vocabulary()
    letters, recipe = letters_of(options), recipe_of(options)
    by_letters = term_lists.TermLists(term_lists.rows_of(documents, letters, recipe, vocabulary, True), vocabulary)
    for name in ("indptr", "amounts", "tokens"):
        assert np.array_equal(getattr(by_numbers.rows, name), getattr(by_letters.rows, name)), name
    spelled = [
        [lists.vocabulary.word(term, characters) for term in lists.rows.terms.tolist()]
        for lists in (by_numbers, by_letters)
    ]
    assert spelled[0] == spelled[1]
    counted = list(dict.fromkeys(spelled[0]))
    offsets = np.cumsum([0, *map(len, counted)])
    found = by_numbers.vocabulary.number(offsets, np.frombuffer(b"".join(counted), np.uint8), characters, False)
    assert [by_numbers.vocabulary.word(term, characters) for term in found.tolist()] == counted


@pytest.mark.parametrize("auxiliary", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"model": "complement"}, {"shortest": 2, "ngrams": 2}, {"min_count": 3}, {"weighting": "log"},
        {"weighting": "unit"}, {"model": "poisson"}, {"model": "bernoulli", "weighting": "presence"}, {"hashed": 8},
    ],
    ids=str,
)  # fmt: skip
def test_texts_left_out_of_themselves_are_those_left_out_of_their_tally(options, auxiliary):
    texts, labels = corpus(120, 3)
    block = Block(Text(column="text", options=TextOptions(**options), is_auxiliary=auxiliary), ("text",))
    texts = [f"{text} only{row} once{row} only{row}" for row, text in enumerate(texts)]
    batch = Batch.of({"text": [*texts, None, "", "never"]}, [*labels, *labels[:3]], np.arange(123) % 4)
    summary = Summary.of((block,), batch)
    by_numbers, by_tally = (LeaveOneOut.of(summary, batch, everyone=alone).left_out() for alone in (batch, None))
    for name in ("terms", "lengths", "log_marginal"):
        assert np.allclose(getattr(by_numbers, name), getattr(by_tally, name), rtol=1e-13, atol=1e-12), name


@pytest.mark.parametrize("options", [{}, {"weighting": "unit"}, {"characters": True, "shortest": 3, "ngrams": 4}])
def test_terms_of_many_classes_say_in_lines_what_they_say_pair_by_pair(options):
    """Left out of each other, and asked about once more: some terms are in lines, others only with pairs."""
    texts, labels = corpus(600, 40)
    texts = [f"{text} group{row % 40} seldom{row % 150}" for row, text in enumerate(texts)]
    family = Text(column="text", options=TextOptions(**options), smoothing=0.3)
    batch, block = Batch.of({"text": texts}, labels), Block(family, ("text",))
    summary = Summary.of((block,), batch)
    in_lines, by_pairs = (LeaveOneOut.of(summary, batch, everyone=alone).left_out() for alone in (batch, None))
    np.testing.assert_allclose(in_lines.terms, by_pairs.terms, rtol=1e-12, atol=1e-10)
    parameters, asked = family.fit(summary.statistics[0], ("text",)), family.view(batch, ("text",))
    weights = parameters.score_weights
    assert 0 < len(weights.lines) < len(weights.base)
    said = np.zeros((2, len(texts), 40))
    parameters.add_scores(asked, weights, said[0])
    parameters.add_scores(asked, weights._replace(entries=weights.entries[:0]), said[1])
    np.testing.assert_allclose(said[0], said[1], rtol=1e-12, atol=1e-10)


TALLIED = [
    {}, {"weighting": "presence"}, {"weighting": "log", "ngrams": 2}, {"weighting": "unit", "shortest": 2, "ngrams": 3},
    {"characters": True, "shortest": 3, "ngrams": 5}, {"model": "complement"}, {"stop_words": 2},
]  # fmt: skip


@pytest.mark.parametrize("options", TALLIED, ids=str)
@pytest.mark.parametrize("classes", [2, 40])
def test_counts_by_number_are_those_learned_from_letters(options, classes):
    """And what follows from them has the same bits, spelled or not."""
    texts, labels = corpus(200, classes)
    texts = [f"{text} Straße extraordinarily{row % 90} 東京都" for row, text in enumerate(texts)]
    family = Text(column="text", options=TextOptions(**options), smoothing=0.3)
    batch = Batch.of({"text": [*texts, None, ""]}, [*labels, *labels[:2]], np.arange(202) % 3 + 1).read_once()
    rows = LeaveOneOut.of_labels(batch)
    block = Block(family, ("text",))
    assert rows.counted_before(block) is None
    term_lists.cut_into_terms(rows.rows(block).values, family.options)
    by_number, learned = rows.counted_before(block), Summary.of((block,), batch).statistics[0]
    assert len(by_number) == len(learned)
    asked = family.view(Batch.of({"text": [*texts[:50], "good東京 never", None]}), ("text",))
    said = []
    for tally in (by_number, learned):
        parameters, joint = family.fit(tally, ("text",)), np.zeros((52, classes))
        family.score(parameters, asked, joint)
        (profile,) = family.profiles(parameters, tally, ("text",), np.full(classes, 1 / classes))
        drawn = family.sample(parameters, 1, 3, np.random.default_rng(0))
        words = sorted(parameters.word(row) for row in range(len(parameters)))
        said.append((joint.tolist(), profile.points, profile.counts.tolist(), drawn, words))
    assert said[0] == said[1]
    assert by_number == learned


def learned_by(options, texts, classes):
    builder = word_tally_builder.WordTallyBuilder(TextOptions(**options), 3)
    builder.learn(Documents.of(texts, "text"), np.array(classes), np.zeros(0, dtype=np.int64))
    return builder


@pytest.mark.parametrize("options", TALLIED, ids=str)
def test_unspelled_counts_add_up_as_spelled_ones_do(options):
    """Two vocabularies that met other words first; only the second has long ones."""
    texts = [*corpus(80, 3)[0], *filter(None, MANY_TEXTS)]
    classes = [row % 3 for row in range(len(texts))]
    whole = learned_by(options, texts, classes).freeze()
    halves = [learned_by(options, texts[part], classes[part]) for part in (slice(0, 50), slice(50, None))]
    together = halves[0].freeze() + halves[1].freeze()
    assert not isinstance(together.words_seen, Lines)
    assert together == whole == halves[0].spelled() + halves[1].spelled()
    renamed = np.array([2, 0, 1])
    assert whole.only(renamed) == learned_by(options, texts, classes).spelled().only(renamed)


def test_what_is_learned_after_a_freeze_leaves_the_frozen_as_it_was():
    builder = learned_by({"ngrams": 2}, ["to be"], [0])
    frozen, parameters = builder.freeze(), Text(options=TextOptions(ngrams=2)).fit(builder.freeze(), ("text",))
    more = ["or not to be " * 9000, "new words"]
    builder.learn(Documents.of(more, "text"), np.array([1, 2]), np.zeros(0, np.int64))
    assert frozen.words() == [b"be", b"to", b"to be"]
    assert len(parameters.vocabulary) == 3
    assert builder.freeze() - frozen == learned_by({"ngrams": 2}, more, [1, 2]).freeze()


RECIPES = [
    *((model, weighting) for model in ("multinomial", "complement") for weighting in ("counts", "presence", "unit")),
    ("bernoulli", "presence"),
    ("poisson", "counts"),
]


@pytest.mark.parametrize(("model", "weighting"), RECIPES)
@pytest.mark.parametrize("auxiliary", [False, True])
def test_one_pass_says_what_each_question_says(model, weighting, auxiliary, cuts):
    texts, labels = corpus(60, 3)
    options = TextOptions(model=model, weighting=weighting)
    block = Block(Text(column="text", options=options, is_auxiliary=auxiliary), ("text",))
    summary = Summary.of((block,), Batch.of({"text": texts}, labels))
    fitted = Predictor.fit(summary, calibration=Calibration(power={block.key: 0.5}))
    asked = Batch.of({"text": [*texts[:20], "never seen", "", None, "good nothing good"]})
    family, (parameters,) = block.family, fitted.parameters
    values, shape = family.view(asked, block.columns), (24, 3)
    cuts.documents = 0
    found = family.assess(parameters, values, shape)
    assert cuts.documents == 24
    score, likelihood = np.zeros(shape), np.zeros(shape)
    family.score(parameters, values, score)
    family.log_likelihood(parameters, values, likelihood)
    assert np.array_equal(found.score, score)
    assert np.array_equal(found.log_likelihood, likelihood)
    assert np.array_equal(found.length, family.evidence_length(parameters, values))
    assert np.array_equal(family.score_with_length(parameters, values, shape)[1], found.length)
    unknown = np.array([0.0] * 20 + [2, 0, 0, 1])
    if weighting == "unit":
        unknown = np.array([0.0] * 20 + [np.sqrt(2), 0, 0, np.sqrt(0.5)])
    words = parameters.seen.all_totals.sum() + parameters.seen.all_words
    assert found.unseen == pytest.approx(-unknown * np.log(words), abs=1e-7)
    together = fitted.assess(asked)
    assert together.reported == pytest.approx(fitted.reported(asked), abs=1e-12)
    if not auxiliary:
        expected = log_sum(fitted.log_prior + likelihood) + found.unseen
        assert together.log_marginal[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"weighting": "unit"}, {"weighting": "log"}, {"characters": True, "shortest": 3, "ngrams": 4}]
)
def test_texts_learned_in_part_say_what_a_tally_of_that_part_says(options):
    texts, labels = corpus(150, 3)
    texts = [f"{text} only{row} only{row}" for row, text in enumerate(texts)]
    family = Text(column="text", options=TextOptions(**options), smoothing=0.01)
    batch = Batch.of({"text": [*texts, None, ""]}, [*labels, *labels[:2]], np.arange(152) % 4)
    rows, learned, asked = LeaveOneOut.of(Summary.of((), batch), batch), np.arange(0, 152, 2), np.arange(1, 152, 2)
    said, _ = rows.learned_in_part(Block(family, ("text",)), learned).scores(asked)
    predictor = Predictor.fit(Summary.of((Block(family, ("text",)),), batch.take(learned)))
    expected = predictor.joint(batch.take(asked)) - predictor.log_prior
    assert np.allclose(said, expected, rtol=1e-12, atol=1e-11)
    shuffled, steps = np.random.default_rng(0).permutation(learned), [5, 5, 40, 76]
    in_steps = rows.learned_in_steps(Block(family, ("text",)), shuffled, steps).scores(asked)
    for step, (found, length) in zip(steps, in_steps, strict=True):
        alone, alone_length = rows.learned_in_part(Block(family, ("text",)), np.sort(shuffled[:step])).scores(asked)
        assert np.array_equal(found, alone)
        assert np.array_equal(length, alone_length)
