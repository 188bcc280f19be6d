"""One row at a time: whatever was learned and forgotten, the answer is that of a model fitted on the rows left."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import NaiveBayes, TextOptions, families, load
from candide.data.errors import CandideError, ColumnRefused, ForgetRefused, LabelsRefused, OptionRefused, RowsRefused
from strategies import LABELS, PLAIN, any_cells, blocks_of, cells, one

Event = tuple[Any, str]

TEXTS = st.one_of(
    st.lists(st.sampled_from(("win", "a", "prize", "see", "you", "Σας", "extraordinarily")), max_size=7).map(" ".join),
    st.text(max_size=12),
)
RECIPES = (
    TextOptions(),
    TextOptions(weighting="presence"),
    TextOptions(weighting="log", min_count=0),
    TextOptions(model="complement"),
    TextOptions(model="complement", weighting="presence", ngrams=2),
    TextOptions(ngrams=3),
    TextOptions(hashed=8),
    TextOptions(words="sklearn"),
    TextOptions(characters=True, ngrams=2),
    # These fall back to building parameters.
    TextOptions(weighting="log"),
    TextOptions(model="bernoulli", weighting="presence"),
    TextOptions(model="poisson"),
    TextOptions(idf=True),
    TextOptions(stop_words=1),
    TextOptions(stop_words=("a",), min_count=2),
    TextOptions(max_terms=2),
)


@st.composite
def histories(draw: Any, rows: st.SearchStrategy[Any], most: int = 10) -> tuple[list[tuple[bool, Event]], list[Event]]:
    """Rows learned and forgotten in some order, and the rows left in the end."""
    steps, left = [], []
    for _ in range(draw(st.integers(1, most))):
        if left and draw(st.integers(0, 3)) == 0:
            steps.append((False, left.pop(draw(st.integers(0, len(left) - 1)))))
        else:
            event = (draw(rows), draw(st.sampled_from(LABELS)))
            left.append(event)
            steps.append((True, event))
    return steps, left


def follow(model: NaiveBayes, steps: Sequence[tuple[bool, Event]], question: Any) -> NaiveBayes:
    """Live through a history, being asked after every step."""
    for learns, (x, y) in steps:
        (model.learn_one if learns else model.forget_one)(x, y)
        model.predict_proba_one(question)
    return model


def assert_agree(streamed: NaiveBayes, fitted: NaiveBayes, question: Any, rows: Any) -> None:
    """The same summary to the bit, the same answer to 1e-9."""
    assert streamed.summary_ == fitted.summary_
    said, expected = streamed.predict_proba_one(question), fitted.predict_proba(rows)[0]
    assert list(said) == fitted.classes_.tolist()
    np.testing.assert_allclose(list(said.values()), expected, rtol=0, atol=1e-9)
    if np.diff(np.sort(expected))[-1:].sum() > 1e-9:
        assert streamed.predict_one(question) == fitted.predict(rows)[0]


@pytest.mark.filterwarnings("ignore:There is only one class")
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("smoothing", [1.0, 0.0])
@given(history=histories(TEXTS), question=TEXTS)
def test_texts_one_by_one_are_as_texts_together(
    recipe: TextOptions, smoothing: float, history: Any, question: str
) -> None:
    steps, left = history
    options: dict[str, Any] = {"text": recipe, "smoothing": smoothing}
    streamed = follow(NaiveBayes(**options), steps, question)
    if not left:
        assert streamed.predict_proba_one(question) == {}
        assert streamed.predict_one(question) is None
        return
    texts, labels = zip(*left, strict=True)
    assert_agree(streamed, NaiveBayes(**options).fit(list(texts), list(labels)), question, [question])


@pytest.mark.filterwarnings("ignore:There is only one class")
@pytest.mark.parametrize("name", [name for name in families.names() if name != "text"])
@given(data=st.data())
def test_rows_one_by_one_are_as_rows_together(name: str, data: st.DataObject) -> None:
    (block,) = blocks_of(name)
    value, asked = cells(block.family), any_cells(block.family)
    steps, left = data.draw(histories(one(lambda chance: {column: value(chance) for column in block.columns})))
    question = data.draw(one(lambda chance: {column: asked(chance) for column in block.columns}))
    rows = {column: [cell] for column, cell in question.items()}
    streamed = follow(NaiveBayes(families=families.named(name)), steps, question)
    if not left:
        assert streamed.predict_proba_one(question) == {}
        return
    table = {column: [x[column] for x, _ in left] for column in block.columns}
    assert_agree(streamed, NaiveBayes(families=families.named(name)).fit(table, [y for _, y in left]), question, rows)


MIXED = {"note": "text", "colour": "categorical", "size": "gaussian", "sold": "bernoulli", "visits": "poisson"}
MIXED_ROW = st.fixed_dictionaries(
    {},
    optional={
        "note": TEXTS,
        "colour": st.sampled_from(("red", "green", 1, 1.0, True)),
        "size": st.floats(-1e6, 1e6),
        "sold": st.booleans(),
        "visits": st.integers(0, 9),
    },
)


@pytest.mark.parametrize("missing", ["ignore", "value"])
@given(first=st.lists(MIXED_ROW, min_size=1, max_size=4), history=histories(MIXED_ROW), question=MIXED_ROW)
def test_a_fitted_model_goes_on_row_by_row(missing: str, first: list[Any], history: Any, question: Any) -> None:
    options: dict[str, Any] = {"families": MIXED, "missing": missing}
    steps, left = history
    events = [*((x, LABELS[index % 2]) for index, x in enumerate(first)), *left]

    def fitted(some: list[Event]) -> NaiveBayes:
        table = {column: [x.get(column) for x, _ in some] for column in MIXED}
        return NaiveBayes(**options).fit(table, [y for _, y in some])

    rows = {column: [question.get(column)] for column in MIXED}
    if len({y for _, y in events}) < 2 or len(first) < 2:
        return
    assert_agree(follow(fitted(events[: len(first)]), steps, question), fitted(events), question, rows)


@pytest.mark.parametrize("model", ["multinomial", "complement"])
def test_many_classes_and_words(model: str) -> None:
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{n}" for n in rng.geometric(0.002, 20)) for _ in range(400)]
    labels = [f"class {n}" for n in rng.integers(0, 50, 400)]
    options: dict[str, Any] = {**PLAIN, "text": TextOptions(model=model)}
    streamed = NaiveBayes(**options)
    for text, label in zip(texts, labels, strict=True):
        streamed.learn_one(text, label)
    for text, label in zip(texts[:100], labels[:100], strict=True):
        streamed.forget_one(text, label)
    fitted = NaiveBayes(**options).fit(texts[100:], labels[100:])
    assert_agree(streamed, fitted, texts[0], texts[:1])


@pytest.mark.parametrize(
    "options",
    [
        {"priors": "uniform"},
        {"priors": {"ham": 0.9, "spam": 0.1}},
        {"class_weight": "balanced"},
        {"class_weight": {"ham": 3.0}},
    ],
)
def test_priors_are_honoured(options: dict[str, Any]) -> None:
    texts, labels = ["win a prize", "see you", "a prize"], ["spam", "ham", "spam"]
    streamed = NaiveBayes(**options)
    for text, label in zip(texts, labels, strict=True):
        streamed.learn_one(text, label)
    assert_agree(streamed, NaiveBayes(**options).fit(texts, labels), "a win for you", ["a win for you"])


def test_few_rows_are_taken_as_they_look() -> None:
    row = {"note": "see you there", "colour": "red", "size": 3, "sold": True, "text": "hello", "later": None}
    model = NaiveBayes().learn_one(row, "yes").learn_one({"later": 2.5}, "no")
    chosen = {choice.column: choice.family.name for choice in model.schema_.choices if choice.family}
    assert chosen == {
        "note": "categorical",
        "colour": "categorical",
        "size": "gaussian",
        "sold": "bernoulli",
        "text": "text",
        "later": "gaussian",
    }
    assert model.n_features_in_ == 6


def test_new_columns_words_categories_and_classes_are_welcome() -> None:
    options: dict[str, Any] = {"families": "multinomial"}
    rows = [({"win": 1, "prize": 2}, "spam"), ({"see": 1, "you": 1}, "ham"), ({"noon": 3, "win": 1}, "work")]
    streamed = NaiveBayes(**options)
    for x, y in rows:
        streamed.learn_one(x, y)
    names = ("win", "prize", "see", "you", "noon")
    table = {name: [x.get(name, 0) for x, _ in rows] for name in names}
    question = {"win": 2, "noon": 1, "never": 4}
    asked = {name: [question.get(name, 0)] for name in names}
    assert_agree(streamed, NaiveBayes(**options).fit(table, [y for _, y in rows]), question, asked)


@pytest.mark.parametrize(
    ("x", "y", "error"),
    [
        ({"size": 1.0, "colour": "red"}, None, LabelsRefused),
        ({"size": 1.0, "colour": "red"}, 3, LabelsRefused),
        ({"size": 1.0, "colour": object()}, "yes", CandideError),
        ({"note": ["no", "value"], "size": 1.0}, "yes", CandideError),
        ({"size": float("inf"), "colour": "red"}, "new class", ColumnRefused),
        ({"new": 1.0, "note": {3}}, "yes", CandideError),
        ({"colour": "blue", "size": 1.0, "newer": object()}, "yes", CandideError),
        (["several", "rows"], "yes", RowsRefused),
    ],
)
def test_a_refused_row_changes_nothing(x: Any, y: Any, error: type[Exception]) -> None:
    start = {"note": "see you there", "colour": "red", "size": 2.0}
    model = NaiveBayes().learn_one(start, "yes").learn_one({**start, "colour": "blue"}, "no")
    before, said = model.summary_, model.predict_proba_one(start)
    with pytest.raises(error):
        model.learn_one(x, y)
    assert model.learn_one(start, "no").forget_one(start, "no").summary_ == before
    assert model.predict_proba_one(start) == said


def test_a_refused_first_row_leaves_the_model_unfitted() -> None:
    model = NaiveBayes()
    with pytest.raises(LabelsRefused):
        model.learn_one("some text", None)
    assert model.predict_one("some text") is None
    with pytest.raises(Exception, match="not fitted"):
        _ = model.summary_


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ({"note": "see you there", "colour": "red", "size": 2.0}, "no"),
        ({"note": "see you there", "colour": "red", "size": 2.0}, "never"),
        ({"note": "see you there you", "colour": "red", "size": 2.0}, "yes"),
        ({"note": "see you there", "colour": "blue", "size": 2.0}, "yes"),
        ({"note": "see you there", "colour": "red", "size": 9.0}, "yes"),
        ({"note": "see you there", "colour": "red", "size": 2.0, "new": 1}, "yes"),
    ],
)
def test_what_was_never_learned_cannot_be_forgotten(x: Any, y: str) -> None:
    start = {"note": "see you there", "colour": "red", "size": 2.0}
    model = NaiveBayes().learn_one(start, "yes").learn_one({"note": "other words here"}, "no")
    before = model.summary_
    with pytest.raises((ForgetRefused, ColumnRefused)):
        model.forget_one(x, y)
    assert model.summary_ == before


def test_everything_sees_what_was_learned_and_learning_goes_on(tmp_path: Any) -> None:
    texts, labels = ["win a prize", "see you", "a prize", "you see"], ["spam", "ham", "spam", "ham"]
    model = NaiveBayes()
    for index, (text, label) in enumerate(zip(texts, labels, strict=True)):
        model.learn_one(text, label)
        assert model.summary_.rows == index + 1
        assert model.predict([text])[0] == label
    model.save(tmp_path / "stream.candide")
    for other in (load(tmp_path / "stream.candide"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.learn_one("see a prize", "ham").summary_.rows == 5
        assert other.forget(["win a prize"], ["spam"]).summary_.rows == 4
        assert other.partial_fit(["win a prize"], ["spam"]).forget_one("see a prize", "ham").summary_ == model.summary_
    assert model.summary_ == NaiveBayes(**PLAIN).fit(texts, labels).summary_
    assert (model + model).summary_.rows == 8


def test_priors_may_change_between_events() -> None:
    model = NaiveBayes().learn_one("win a prize", "spam").learn_one("see you", "ham").learn_one("a prize", "spam")
    model.set_params(priors="uniform")
    assert model.predict_proba_one("")["ham"] == 0.5
    assert model.predict_proba([""])[0, 0] == 0.5


@pytest.mark.parametrize("then", [2.0, 2, None, np.float32(2.0), 5e-324])
def test_a_row_that_is_changed_after_it_was_asked_about_is_learned_as_it_is(then: Any) -> None:
    """What is asked first and learned then is read once only where it is the very same."""
    rows = [({"size": float(n % 5), "age": float(n % 3)}, "ab"[n % 2]) for n in range(20)]
    asked, plain = NaiveBayes(calibrate=False), NaiveBayes(calibrate=False)
    for row, label in rows:
        asked.predict_proba_one(row)
        for model in (asked, plain):
            model.learn_one(row, label)
    row, last = dict(rows[0][0]), {"size": 1.0, "age": 2.0}
    asked.predict_proba_one(row)
    row["size"] = then
    for model in (asked, plain):
        model.learn_one(row, "a")
    assert asked.predict_proba_one(last) == plain.predict_proba_one(last)
    assert asked.summary_ == plain.summary_


def test_a_text_needs_a_text_column() -> None:
    model = NaiveBayes().learn_one({"size": 1.0}, "yes")
    with pytest.raises(ColumnRefused):
        model.predict_one("some words")


TEXT_EVENTS = st.lists(st.tuples(TEXTS, st.sampled_from(LABELS)), min_size=1, max_size=8)


def faded(events: Sequence[Any], half_life: float) -> list[tuple[Any, float]]:
    """Each event with what is left of its weight."""
    return [(event, 2.0 ** (-(len(events) - 1 - index) / half_life)) for index, event in enumerate(events)]


@pytest.mark.filterwarnings("ignore:There is only one class")
@pytest.mark.parametrize("half_life", [0.01, 1.5, 40.0])
@given(events=TEXT_EVENTS, question=TEXTS)
def test_old_texts_fade(half_life: float, events: list[Event], question: str) -> None:
    model = NaiveBayes(half_life=half_life)
    counts: dict[tuple[str, str], float] = {}
    rows: dict[str, float] = {}
    for text, label in events:
        model.learn_one(text, label)
    for (text, label), weight in faded(events, half_life):
        rows[label] = rows.get(label, 0.0) + weight
        for word in words_of(text):
            counts[word, label] = counts.get((word, label), 0.0) + weight
    known = {word for (word, _), count in counts.items() if count >= 2.0**-64}
    scores = {}
    for label in sorted(rows):
        total = sum(count for (_, other), count in counts.items() if other == label)
        scores[label] = np.log(rows[label]) + sum(
            np.log((counts.get((word, label), 0.0) + 1.0) / (total + len(known)))
            for word in words_of(question)
            if word in known
        )
    said = model.predict_proba_one(question)
    expected = np.exp(np.array(list(scores.values())) - max(scores.values()))
    assert list(said) == list(scores)
    np.testing.assert_allclose(list(said.values()), expected / expected.sum(), rtol=0, atol=1e-9)


def words_of(text: str) -> list[str]:
    """The words of a text, as Candide reads it."""
    summary = NaiveBayes().fit([text], ["a"]).summary_.statistics[0]
    return [word.decode() for word, n in zip(summary.words(), summary.word_totals, strict=True) for _ in range(n)]


@given(
    rows=st.lists(
        st.tuples(st.floats(-100, 100), st.sampled_from("rgb"), st.sampled_from(LABELS)), min_size=4, max_size=12
    )
)
def test_old_rows_fade(rows: list[tuple[float, str, str]]) -> None:
    half_life = 3.0
    model = NaiveBayes(families={"size": families.named("gaussian", smoothing=0.5), "colour": "categorical"})
    model.set_params(half_life=half_life)
    for size, colour, label in rows:
        model.learn_one({"size": size, "colour": colour}, label)
    weights = np.array([weight for _, weight in faded(rows, half_life)])
    sizes, colours, labels = (np.array(column) for column in zip(*rows, strict=True))
    centre = np.average(sizes, weights=weights)
    spread = np.average((sizes - centre) ** 2, weights=weights)
    if spread < 1e-6:
        return
    scores = []
    for label in sorted(set(labels)):
        mine = labels == label
        weight = weights[mine].sum()
        own = np.average(sizes[mine], weights=weights[mine])
        mean = (weight * own + 0.5 * centre) / (weight + 0.5)
        around = np.average((sizes[mine] - mean) ** 2, weights=weights[mine])
        variance = (weight * around + 0.5 * (spread + (centre - mean) ** 2)) / (weight + 0.5)
        share = (weights[mine & (colours == "r")].sum() + 1) / (weight + len(set(colours)))
        gap = -0.5 * (1.0 - mean) ** 2 / variance - 0.5 * np.log(variance)
        scores.append(np.log(weight) + gap + (np.log(share) if "r" in colours else 0.0))
    said = list(model.predict_proba_one({"size": 1.0, "colour": "r"}).values())
    expected = np.exp(np.array(scores) - max(scores))
    np.testing.assert_allclose(said, expected / expected.sum(), rtol=0, atol=1e-8)


def test_a_fading_model_says_what_it_cannot_do(tmp_path: Any) -> None:
    model = NaiveBayes(half_life=10).learn_one("win a prize", "spam").learn_one("see you", "ham")
    for refused in (
        lambda: model.forget_one("see you", "ham"),
        lambda: model.forget(["see you"], ["ham"]),
        lambda: model + model,
        lambda: model.save(tmp_path / "model.candide"),
        lambda: model.predict(["see you"]),
        lambda: model.fit(["see you", "win"], ["ham", "spam"]),
        lambda: NaiveBayes(half_life=0).learn_one("see you", "ham"),
        lambda: NaiveBayes(half_life=5).learn_one({"sold": True}, "yes"),
        lambda: NaiveBayes(half_life=5, text=TextOptions(weighting="log")).learn_one("see you", "ham"),
        lambda: NaiveBayes().learn_one("see you", "ham").set_params(half_life=3).learn_one("see you", "ham"),
    ):
        with pytest.raises(OptionRefused, match="half_life"):
            refused()
    said = model.predict_proba_one("win")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.predict_proba_one("win") == said
        other.learn_one("win", "ham")
    assert model.predict_proba_one("win") == said


def test_a_drifting_stream_is_followed_for_long() -> None:
    model = NaiveBayes(half_life=5)
    for index in range(1000):
        model.learn_one({"word": f"w{index % 7}", "text": f"old{index}"}, "a")
    for _ in range(50):
        model.learn_one({"word": "w1", "text": "prize"}, "b")
    assert model.predict_proba_one({"word": "w1"})["b"] > 0.99
    assert model.predict_one({"text": "prize"}) == "b"
