"""Rows without a label: they take part by EM where labelled rows gain by it, and leave exact counts as they are."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from candide import NaiveBayes, engines, load, store
from candide.api import verbs
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, OptionRefused
from candide.model.predictor import normalised
from candide.model.trained_model import TrainedModel
from candide.selection.em import SHARES, Mixture
from commands import candide
from machine_fits import DATA

LABELLED = 60
WORDS = ["".join(letters) for letters in np.random.default_rng(0).choice([*"abcdefghijklmnop"], (330, 5))]
COMMON, OWN = WORDS[:30], {"sea": WORDS[30:180], "snow": WORDS[180:]}


def messages(rows=400, seed=1):
    """Texts of words that most labelled ones have never seen, and what each is about."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([*OWN], rows)
    texts = [" ".join(rng.choice([*OWN[label], *10 * COMMON], 12)) for label in labels]
    return texts, labels.astype(object)


def hidden(labels, known=LABELLED):
    """The labels, all but the first of them missing."""
    return np.array([*labels[:known], *[None] * (len(labels) - known)], dtype=object)


def table(rows=300, seed=2):
    """Two columns of numbers and one of values, and a class."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    columns = {
        "height": group * 1.5 + rng.normal(size=rows),
        "visits": rng.poisson(2 + 2 * group),
        "colour": np.where(rng.random(rows) < 0.3, "red", np.where(group, "green", "blue")),
    }
    return columns, np.array(["no", "yes"], dtype=object)[group]


@pytest.fixture(scope="module")
def learned():
    """A model of texts, few of which have a label."""
    texts, labels = messages()
    return NaiveBayes(unlabelled="em").fit(texts, hidden(labels))


@pytest.fixture(scope="module")
def alone():
    """A model of the same texts that have a label."""
    texts, labels = messages()
    return NaiveBayes().fit(texts[:LABELLED], labels[:LABELLED])


def bytes_of(model):
    return store.model_file.canonical_bytes(model.trained_)


def test_rows_without_a_label_make_new_rows_clearer(learned, alone):
    texts, labels = messages(seed=3)
    assert learned.score(texts, labels) > alone.score(texts, labels) + 0.02


def test_counts_of_labelled_rows_stay_what_they_are(learned, alone):
    assert learned.summary_ == alone.summary_
    assert learned.class_count_.tolist() == alone.class_count_.tolist()
    assert learned.predictor_.log_prior.tolist() == alone.predictor_.log_prior.tolist()
    expected = learned.trained_.expected
    assert expected.rows == 400 - LABELLED
    assert expected.summary.rows == pytest.approx(expected.rows, rel=1e-3)
    assert expected.labelled == LABELLED


@pytest.mark.parametrize("threads", ["1", "3"])
def test_neither_order_nor_threads_matter(learned, threads, monkeypatch):
    monkeypatch.setenv("CANDIDE_THREADS", threads)
    texts, labels = messages()
    order = np.random.default_rng(int(threads)).permutation(len(texts))
    other = NaiveBayes(unlabelled="em").fit([texts[place] for place in order], hidden(labels)[order])
    assert bytes_of(other) == bytes_of(learned)


def test_a_file_keeps_expected_counts(learned, tmp_path):
    texts, _ = messages(20, seed=4)
    learned.save(tmp_path / "model.candide")
    again = load(tmp_path / "model.candide")
    assert again.trained_ == learned.trained_
    assert again.predict_proba(texts).tolist() == learned.predict_proba(texts).tolist()


def test_learning_forgetting_and_merging_keep_expected_counts(learned):
    texts, labels = messages(30, seed=5)
    model = NaiveBayes.of(learned.trained_).learn(texts, labels)
    assert model.trained_.expected == learned.trained_.expected
    assert model.summary_.rows == LABELLED + 30
    assert model.inspect()["expected"] == {"rows": 340, "counted": pytest.approx(340, rel=1e-3), "labelled": LABELLED}
    model.forget(texts, labels)
    assert model.summary_ == learned.summary_
    assert model.predict_proba(texts).tolist() == learned.predict_proba(texts).tolist()
    with pytest.warns(UserWarning, match="unlabelled"):
        both = NaiveBayes.of(learned.trained_) + NaiveBayes().fit(texts, labels, like=learned)
    assert both.trained_.expected == learned.trained_.expected
    twice = learned + learned
    assert twice.trained_.expected.rows == 2 * learned.trained_.expected.rows


def test_a_class_that_is_forgotten_is_expected_no_more(learned):
    texts, labels = messages()
    gone = [place for place in range(LABELLED) if labels[place] == "sea"]
    batch, single = (NaiveBayes.of(learned.trained_) for _ in range(2))
    batch.forget([texts[place] for place in gone], labels[gone])
    for place in gone:
        single.forget_one(texts[place], "sea")
    assert single.trained_.summary == batch.trained_.summary
    assert batch.predict(texts[:3]).tolist() == ["snow"] * 3
    single.learn_one(texts[0], "land")
    assert single.trained_.summary == batch.learn(texts[:1], ["land"]).trained_.summary
    answer = dict(zip(batch.classes_, batch.predict_proba(texts[1:2])[0], strict=True))
    assert single.predict_proba_one(texts[1]) == pytest.approx(answer, abs=1e-9)


def test_a_stream_goes_on_beside_expected_counts(learned):
    texts, labels = messages(3, seed=6)
    stream, batch = (NaiveBayes.of(learned.trained_) for _ in range(2))
    for text, label in zip(texts, labels, strict=True):
        stream.learn_one(text, label)
    batch.learn(texts, labels)
    asked = " ".join([WORDS[40], WORDS[190], WORDS[41]])
    answer = dict(zip(batch.classes_, batch.predict_proba([asked])[0], strict=True))
    assert stream.predict_proba_one(asked) == pytest.approx(answer, abs=1e-9)
    assert (stream.trained_.summary, stream.trained_.expected) == (batch.trained_.summary, batch.trained_.expected)
    for text, label in zip(texts, labels, strict=True):
        stream.forget_one(text, label)
    assert stream.trained_.summary == learned.summary_


def test_explanations_add_up(learned):
    texts, _ = messages(40, seed=7)
    scores = learned.predictor_.reported(Batch.of(texts))
    for why, row in zip(learned.explain(texts), scores, strict=True):
        assert sum((one.reported for one in why.evidence), why.start) == pytest.approx(row, abs=1e-9)
    assert normalised(scores, scores) == pytest.approx(learned.predict_proba(texts), abs=1e-9)


def test_rows_that_do_not_help_weigh_nothing():
    columns, labels = table()
    others = {"colour": np.where(labels == "yes", "blue", "green")}  # of another world, where colours are the reverse
    rows = {name: np.concatenate([columns[name], others.get(name, columns[name])]) for name in columns}
    model = NaiveBayes(unlabelled="em").fit(rows, hidden([*labels, *labels], len(labels)))
    plain = NaiveBayes().fit(columns, labels)
    expected = model.trained_.expected
    assert (expected.rows, expected.summary.rows) == (len(labels), 0)
    assert model.predict_proba(columns).tolist() == plain.predict_proba(columns).tolist()
    assert replace(model.trained_, expected=None, options=plain.trained_.options) == plain.trained_


def twin_step(columns, known, shares, weight):
    """One step by whole models: rows learned once for every class, as heavy as their share; then all are answered."""
    classes, labelled = np.unique(known), len(known)
    names = [*known, *(label for label in classes for _ in range(len(shares)))]
    rows = {name: np.concatenate([of[:labelled], *[of[labelled:]] * len(classes)]) for name, of in columns.items()}
    weights = np.concatenate([np.ones(labelled), weight * shares.T.ravel()])
    model = NaiveBayes("guess", "default", calibrate=False, priors="uniform").fit(rows, names, sample_weight=weights)
    prior = {label: float(np.mean(known == label)) for label in classes}
    return model.predict_proba({name: values[labelled:] for name, values in columns.items()}, priors=prior)


def test_a_step_learns_every_row_as_each_class():
    columns, labels = table(80)
    known, engine = labels[:30], engines.named()
    plain = NaiveBayes("guess", "default", calibrate=False).fit({n: v[:30] for n, v in columns.items()}, known)
    blocks, numbers = plain.schema_.blocks, np.searchsorted(np.unique(labels), known)
    mixture = Mixture(Batch.of(columns).read_once(), numbers, np.ones(80), 2, blocks, frozenset(), engine)
    shares = np.zeros((50, 2))
    for _, step in zip(range(3), mixture.steps(np.arange(30), 0.25), strict=False):
        shares = twin_step(columns, known, shares, 0.25)
        assert np.abs(step.shares - shares).max() <= 1 / SHARES
        shares = step.shares


def test_weighted_rows_are_as_many_alike():
    columns, labels = table(120)
    twice = {name: np.concatenate([values, values[60:]]) for name, values in columns.items()}
    heavy = NaiveBayes("guess", unlabelled="em").fit(columns, hidden(labels), sample_weight=[*[1] * 60, *[2] * 60])
    many = NaiveBayes("guess", unlabelled="em").fit(twice, hidden([*labels, *labels[60:]]))
    assert heavy.trained_.expected.rows == many.trained_.expected.rows == 120
    assert heavy.trained_.expected == many.trained_.expected


def test_without_being_asked_such_rows_are_refused():
    texts, labels = messages(20)
    with pytest.raises(LabelsRefused, match=r"row 11 has no label.*unlabelled='em'"):
        NaiveBayes().fit(texts, hidden(labels, 10))
    with pytest.raises(LabelsRefused, match="row 11 has no label"):
        NaiveBayes(unlabelled="em").fit(texts, labels).learn(texts, hidden(labels, 10))
    with pytest.raises(LabelsRefused, match="Not one of these rows has a label"):
        NaiveBayes(unlabelled="em").fit(texts, hidden(labels, 0))
    with pytest.raises(OptionRefused, match="unlabelled"):
        NaiveBayes(unlabelled="guess").fit(texts, labels)


def test_a_value_that_no_family_takes_is_refused_by_its_row():
    columns, labels = table(40)
    columns["visits"] = columns["visits"].astype(float)
    columns["visits"][33] = -1.0
    with pytest.raises(Exception, match="row 34 holds -1"):
        NaiveBayes({"visits": "poisson"}, unlabelled="em").fit(columns, hidden(labels, 20))


def test_where_every_row_has_a_label_nothing_changes():
    texts, labels = messages(60)
    asked, plain = NaiveBayes(unlabelled="em").fit(texts, labels), NaiveBayes().fit(texts, labels)
    assert asked.trained_.expected is None
    assert replace(asked.trained_, options=plain.trained_.options) == plain.trained_


def test_verb_and_shell_do_the_same(learned, tmp_path):
    texts, labels = messages()
    rows = pa.table({"text": texts, "topic": pa.array(hidden(labels).tolist())})
    pa.csv.write_csv(rows, tmp_path / "rows.csv")
    fitted = verbs.fit(rows, "topic", unlabelled="em")
    assert same_counts(fitted.trained, learned.trained_)
    assert "Rows without a label (340) take part by EM" in fitted.notes[0]
    done = candide("fit", "rows.csv", "--label", "topic", "--unlabelled", "em", "-o", "topic.candide", folder=tmp_path)
    assert done.returncode == 0
    assert "Rows without a label (340)" in done.stdout
    assert same_counts(store.load(tmp_path / "topic.candide"), learned.trained_)
    assert "340 rows count as 340" in candide("inspect", "topic.candide", folder=tmp_path).stdout
    refused = candide("fit", "rows.csv", "--label", "topic", folder=tmp_path)
    assert refused.returncode == 2
    assert "--unlabelled em" in refused.stderr


def same_counts(one: TrainedModel, other: TrainedModel) -> bool:
    return (one.summary, one.expected, one.tuning) == (other.summary, other.expected, other.tuning)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not here")
def test_three_hundred_labels_of_reviews_are_worth_more_beside_others():
    with gzip.open(DATA / "text" / "rt_polarity.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    order = np.random.default_rng(0).permutation(len(rows))[:4000]
    texts, labels = [rows[place]["text"] for place in order], np.array([str(rows[place]["label"]) for place in order])
    known, seen, new = slice(0, 300), slice(0, 3000), slice(3000, None)
    alone = NaiveBayes().fit(texts[known], labels[known]).score(texts[new], labels[new])
    beside = NaiveBayes(unlabelled="em").fit(texts[seen], hidden(labels[seen], 300)).score(texts[new], labels[new])
    assert beside > alone + 0.02
