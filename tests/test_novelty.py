"""How unfamiliar rows are: among new rows like those learned, as many as were asked for, and no more."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from candide import NaiveBayes, load
from candide.data.batch import Batch
from candide.model.novelty import SCORE_LEVELS, Novelty, row_scores, share_at_most

DATA = Path(__file__).parents[2] / "shared" / "data"
FRESH, CLASSES = 1500, np.array(["no", "yes"])


def mixed_rows(seed: int, learned: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Exchangeable rows of mixed kinds, the last `FRESH` of them new: columns differ from seed to seed."""
    rng, rows = np.random.default_rng(seed), learned + FRESH
    labels = rng.integers(0, 2, rows)
    shift = labels * rng.uniform(0, 2)
    kinds = {
        "bell": rng.standard_normal(rows) + shift,
        "heavy": rng.standard_t(2, rows) + shift,
        "skewed": rng.lognormal(shift, 1.5),
        "humps": rng.standard_normal(rows) + 6 * rng.integers(0, 3, rows),
        "counts": rng.poisson(3 + shift),
        "even": rng.choice(list("abcd"), rows),
        "rare": np.array([f"v{int(number)}" for number in rng.exponential(4, rows)], dtype=object),
        "own": rng.choice([f"w{i}" for i in range(1000)], rows),
        "truth": rng.random(rows) < 0.3 + 0.2 * labels,
        "constant": np.ones(rows),
        "spiked": np.where(rng.random(rows) < 0.7, 0.0, rng.exponential(5, rows)),
    }
    kinds["again"] = kinds["bell"] * 2 + rng.standard_normal(rows) / 10
    chosen = rng.choice(list(kinds), rng.integers(3, len(kinds) + 1), replace=False)
    frame = pd.DataFrame({name: kinds[name] for name in sorted(chosen)})
    for name in frame.columns[::2]:
        frame[name] = frame[name].where(rng.random(rows) > 0.15)
    return frame, CLASSES[labels]


@pytest.mark.filterwarnings("ignore::candide.ColumnWarning")
@pytest.mark.parametrize("seed", range(5))
def test_as_many_new_rows_are_unfamiliar_as_were_asked_for(seed):
    """The bound holds on average over tables; that of one table varies as the quantile of its learned rows does."""
    learned = 300 + 150 * seed
    frame, labels = mixed_rows(seed, learned)
    model = NaiveBayes().fit(frame[:learned], labels[:learned])
    for rarity in (0.01, 0.05):
        strange = int((model.decide(frame[learned:], confidence=0, rarity=rarity) == "unfamiliar").sum())
        # learned rows tell where a share begins as well as so many draws do: their noise is added to that of new rows
        spread = np.sqrt(rarity * FRESH * (1 + FRESH / learned))
        assert strange <= rarity * FRESH + 4 * spread


@pytest.mark.filterwarnings("ignore::candide.ColumnWarning")
def test_the_rate_is_met_where_numbers_are_continuous():
    found = asked = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, 2100)
        frame = pd.DataFrame(rng.standard_normal((2100, 6)) + labels[:, None], columns=list("abcdef"))
        model = NaiveBayes().fit(frame[:600], CLASSES[labels[:600]])
        found += int((model.decide(frame[600:], confidence=0, rarity=0.05) == "unfamiliar").sum())
        asked += 1500
    assert 0.025 < found / asked < 0.075


def frame_of(rows: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows)
    columns = {"size": rng.standard_normal(rows) + labels, "kind": rng.choice(list("abcd"), rows)}
    return pd.DataFrame(columns), CLASSES[labels]


COUNTED = {
    "every row": lambda at: at,
    "with gaps": lambda at: 1000 + 3 * at,
    "in tenths": lambda at: at * 0.1,
    "days of ten rows": lambda at: at // 10,
    "orders of three lines": lambda at: 5000 + at // 3,
    "years": lambda at: 2000 + at // 50,
    "dates as numbers": lambda at: [int(str(day).replace("-", "")) for day in np.datetime64("2020-01-01") + at],
    "months": lambda at: [f"{2000 + k // 120}-{k // 10 % 12 + 1:02d}" for k in at],
    "seconds since 1970": lambda at: 1_600_000_000 + 37 * at + at % 7,
    "instants": lambda at: np.datetime64("2020-01-01T00:00") + at * np.timedelta64(1, "h"),
}


@pytest.mark.filterwarnings("ignore::candide.ColumnWarning")
@pytest.mark.parametrize("how", COUNTED)
def test_what_only_counts_upwards_has_no_say(how):
    frame, labels = frame_of(800)
    frame["counted"] = COUNTED[how](np.arange(800))
    model = NaiveBayes(families={"counted": "guess"} if how == "every row" else "auto").fit(frame[:400], labels[:400])
    assert np.mean(model.decide(frame[400:], confidence=0) == "unfamiliar") < 0.04


@pytest.mark.filterwarnings("ignore::candide.ColumnWarning")
def test_time_since_some_start_is_known_by_its_name():
    frame, labels = frame_of(800)
    frame["elapsed"] = np.cumsum(np.random.default_rng(1).exponential(30, 800))
    model = NaiveBayes().fit(frame[:400], labels[:400])
    assert np.mean(model.decide(frame[400:], confidence=0) == "unfamiliar") < 0.04


def test_few_rows_call_nothing_unfamiliar_but_what_cannot_be_judged():
    frame, labels = frame_of(90)
    model = NaiveBayes().fit(frame, labels)
    asked = pd.DataFrame({"size": [1e6, 0.0, None], "kind": ["z", "a", None]})
    assert (model.decide(asked, confidence=0) == "unfamiliar").tolist() == [False, False, True]
    many, their_labels = frame_of(400)
    model = NaiveBayes().fit(many, their_labels)
    assert (model.decide(asked, confidence=0) == "unfamiliar").tolist() == [True, False, True]


def test_a_value_seen_once_is_no_stranger_than_one_never_seen():
    """Cabins: most rows have one of their own, so neither a new one nor a known one is strange; a third sex is."""
    frame, labels = frame_of(600)
    frame["cabin"] = [f"c{at * 7 % 997 if at % 3 else at % 50}" for at in range(600)]
    model = NaiveBayes(families={"cabin": "categorical"}).fit(frame, labels)
    assert np.mean(model.decide(frame, confidence=0) == "unfamiliar") < 0.02
    asked = frame[:30].assign(cabin=[f"new{at}" for at in range(30)])
    assert np.mean(model.decide(asked, confidence=0) == "unfamiliar") < 0.1
    assert (model.decide(asked.assign(kind="q"), confidence=0) == "unfamiliar").all()


def test_an_explanation_names_what_is_strange():
    frame, labels = frame_of(400)
    model = NaiveBayes().fit(frame, labels)
    asked = pd.DataFrame({"size": [412.0, 0.5, 0.5, None], "kind": ["a", "q", "a", None]})
    far, unseen, usual, nothing = model.explain(asked)
    assert [(one.feature, one.value, one.share) for one in far.strange] == [("size", "412", 0.0)]
    assert [(one.feature, one.value) for one in unseen.strange] == [("kind", "q")]
    assert not usual.strange
    assert nothing.strange[0].text == "unfamiliar: nothing in this row was ever seen"
    for why in (far, unseen, nothing):
        (said,) = (one.text for one in why.strange)
        assert said in str(why)
        assert said in why.to_html()
        assert said == why.to_dict()["strange"][0]["text"]
    assert [bool(why.strange) for why in model.explain(asked)] == (model.decide(asked) == "unfamiliar").tolist()


def test_novelty_is_kept_in_the_file(tmp_path):
    frame, labels = frame_of(400)
    model = NaiveBayes().fit(frame, labels)
    model.save(tmp_path / "model.candide")
    again = load(tmp_path / "model.candide")
    assert again.trained_.tuning.novelty == model.trained_.tuning.novelty
    assert again.trained_.tuning.novelty.rows == 400


def test_without_scores_the_smallest_rank_counts_times_the_blocks():
    """As files of earlier releases have it: a value never seen is as if it were missing."""
    frame, labels = frame_of(400)
    model = NaiveBayes().fit(frame, labels)
    novelty, predictor = model.trained_.tuning.novelty, model.predictor_
    before = Novelty(novelty.quantiles, novelty.families)
    asked = Batch.of(pd.DataFrame({"size": [412.0, 0.5, None], "kind": ["a", "q", "q"]}))
    found = before.chances(predictor.blocks, predictor.assess(asked))
    assert (found < 0.01).tolist() == [True, False, True]


def test_the_score_is_the_harmonic_mean_of_ranks():
    ranks = np.array([[0.001, 0.5, 0.2], [0.7, 0.25, 1.0]])
    heard = np.array([[True, True, True], [True, True, False]])
    expected = [2 / (1 / 0.001 + 1 / 0.7), 2 / (1 / 0.5 + 1 / 0.25), 0.2]
    assert np.exp(row_scores(np.log(ranks), heard)) == pytest.approx(expected)


def test_a_tie_is_no_rarer_than_all_rows_that_share_it():
    knots = np.where(np.arange(197) < 120, -3.0, -1.0)
    assert share_at_most(knots, np.array([-4.0, -3.0, -1.0])) == pytest.approx([0.0, SCORE_LEVELS[120], 1.0])


@pytest.mark.skipif(not DATA.exists(), reason="the real tables in ../shared/data are not here")
@pytest.mark.skipif(os.environ.get("CANDIDE_THOROUGH") != "1", reason="takes long: CANDIDE_THOROUGH=1 make test")
@pytest.mark.filterwarnings("ignore::candide.ColumnWarning")
@pytest.mark.parametrize("name", ["titanic3", "auto", "tae", "sonar"])
def test_real_tables_hold_few_unfamiliar_rows(name):
    path = DATA / ("table/titanic3.csv" if name == "titanic3" else f"pmlb/{name}.tsv.gz")
    frame = pd.read_csv(path, sep="," if name == "titanic3" else "\t")
    labels = frame.pop("survived" if name == "titanic3" else "target").astype(str).to_numpy()
    half = np.random.default_rng(0).permutation(len(labels))
    learned, new = half[: 2 * len(labels) // 3], half[2 * len(labels) // 3 :]
    model = NaiveBayes().fit(frame.iloc[learned], labels[learned])
    for rows in (learned, new):
        strange = int((model.decide(frame.iloc[rows], confidence=0) == "unfamiliar").sum())
        assert binom.sf(strange - 1, len(rows), 0.01) > 1e-3


def zipf_texts(seed: int, rows: int, foreign: float) -> tuple[list[str], np.ndarray]:
    """Texts of two classes, of common and many rare words; a share of the words is of another language."""
    rng = np.random.default_rng(seed)
    labels, texts = rng.choice(["ham", "spam"], rows), []
    for label in labels:
        ranks = rng.zipf(1.3, rng.integers(5, 10)) % 3000
        languages = np.where(rng.random(len(ranks)) < foreign, "x", np.where(ranks % 3, label, "w"))
        texts.append(" ".join(f"{language}{rank}" for language, rank in zip(languages, ranks, strict=True)))
    return texts, labels


def test_texts_of_words_never_seen_are_unfamiliar_though_many_words_are_rare():
    model = NaiveBayes().fit(*zipf_texts(0, 600, 0.0))
    like, foreign = (model.decide(zipf_texts(1, 400, share)[0], confidence=0) for share in (0.0, 0.5))
    assert (like == "unfamiliar").mean() < 0.03
    assert (foreign == "unfamiliar").mean() > 0.3
