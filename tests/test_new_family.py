"""A family is one file: dropped into the folder it takes part in everything, with nothing else touched."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes, families, load
from candide.data.batch import Batch
from candide.families.base.profile import covered
from candide.model.predictor import Predictor
from candide.model.summary import Summary
from candide.selection.leave_one_out import LeaveOneOut

TESTS = Path(__file__).parent
ROWS = 400
BY_HAND = {"hours": "lifetime", "noise": "gaussian"}
OPENED = """
import sys
import pytest
import candide.families
candide.families.__path__.append(sys.argv[1])
sys.exit(pytest.main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one file: Weibull by another name, which is asked first."""
    source = Path(inspect.getfile(families.class_named("weibull"))).read_text()
    index = tmp_path_factory.mktemp("families")
    renamed = source.replace("class Weibull", "class Lifetime").replace("rank = 65", "rank = 1")
    (index / "lifetime.py").write_text(renamed)
    return index


@pytest.fixture(scope="module", autouse=True)
def dropped(folder):
    """The file stands in the folder of families for as long as these tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "__path__", [*families.__path__, str(folder)])
        yield
    sys.modules.pop("candide.families.lifetime", None)


def table(seed=0):
    """Hours that parts of two makes last, and a column of noise."""
    rng = np.random.default_rng(seed)
    makes = np.array(["cheap", "dear"])[np.arange(ROWS) % 2]
    hours = np.where(makes == "cheap", 100 * rng.weibull(0.8, ROWS), 100 * rng.weibull(3.0, ROWS))
    return {"hours": hours, "noise": rng.normal(size=ROWS)}, makes


def some(rows, makes, part):
    return {name: values[part] for name, values in rows.items()}, makes[part]


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(families=BY_HAND, calibrate=False).fit(*table())


def test_it_is_there_by_name():
    assert "lifetime" in families.names()
    assert families.named("lifetime").name == "lifetime"
    assert families.class_named("lifetime") in families.classes()


def test_it_competes_and_wins_where_it_suits():
    choice = {choice.column: choice for choice in NaiveBayes().fit(*table()).schema_.choices}
    assert choice["hours"].family.name == "lifetime"
    assert choice["noise"].family.name != "lifetime"
    assert "log loss of left-out rows" in choice["hours"].reason


def test_it_learns_forgets_and_merges_exactly(model):
    rows, makes = table()
    first, second = some(rows, makes, slice(150)), some(rows, makes, slice(150, None))
    halves = [NaiveBayes(families=BY_HAND, calibrate=False).fit(*half) for half in (first, second)]
    assert (halves[0] + halves[1]).summary_ == model.summary_
    assert halves[0].partial_fit(*second).summary_ == model.summary_
    assert halves[0].forget(*second).summary_ == NaiveBayes(families=BY_HAND, calibrate=False).fit(*first).summary_


def test_it_is_saved_and_loaded(model, tmp_path):
    model.save(tmp_path / "model.candide")
    again = load(tmp_path / "model.candide")
    assert again.summary_ == model.summary_
    assert np.array_equal(again.predict_proba(table(1)[0]), model.predict_proba(table(1)[0]))


def test_it_is_streamed(model):
    rows, makes = table()
    stream = NaiveBayes(families=BY_HAND, calibrate=False)
    for index, make in enumerate(makes.tolist()):
        stream.learn_one({name: values[index] for name, values in rows.items()}, make)
    asked = {"hours": 37.5, "noise": 0.25}
    expected = model.predict_proba({name: [value] for name, value in asked.items()})[0]
    assert list(stream.predict_proba_one(asked).values()) == pytest.approx(expected.tolist(), rel=1e-9)
    assert stream.predict_one(asked) == model.predict({name: [value] for name, value in asked.items()})[0]
    assert stream.summary_ == model.summary_
    stream.forget_one({name: values[0] for name, values in rows.items()}, makes[0])
    rest = some(rows, makes, slice(1, None))
    assert stream.summary_ == NaiveBayes(families=BY_HAND, calibrate=False).fit(*rest).summary_


def test_a_row_left_out_is_judged_as_by_a_model_without_it(model):
    rows, makes = some(*table(), slice(0, 40))
    batch = Batch.of(rows, makes)
    blocks = model.summary_.blocks
    summary = Summary.of(blocks, batch)
    found = LeaveOneOut.of(summary, batch).left_out().joint
    for index in range(len(batch)):
        row = batch.take(np.array([index]))
        assert found[index] == pytest.approx(Predictor.fit(summary - Summary.of(blocks, row)).joint(row)[0], rel=1e-9)


def test_it_is_explained(model):
    (why,) = model.explain({"hours": [37.5], "noise": [0.25]})
    (term,) = [term for term in why.terms if term.feature == "hours"]
    assert term.basis.family == "lifetime"
    assert "shape" in term.basis.text(why.classes)
    (silent,) = model.explain({"hours": [None], "noise": [0.25]})
    assert silent.missing == ("hours",)


def test_it_is_drawn(model, tmp_path):
    (profile,) = [profile for profile in model.model_.profiles() if profile.column == "hours"]
    assert covered(profile.table, profile.widths) == pytest.approx(1.0, abs=0.03)
    assert list(profile.parameters) == ["shape", "log of scale"]
    model.report(tmp_path / "model.html")
    page = (tmp_path / "model.html").read_text()
    assert "<svg" in page
    assert "lifetime" in page


def test_it_is_sampled(model):
    drawn = model.sample(500, label="dear", seed=0)["hours"].to_numpy()
    assert (drawn > 0).all()
    assert np.median(drawn) == pytest.approx(100 * np.log(2) ** (1 / 3), rel=0.1)


def test_it_obeys_the_laws_of_every_family(folder):
    laws = ["test_laws.py", "test_families.py"]
    command = [sys.executable, "-c", OPENED, str(folder), "-q", "-p", "no:cacheprovider", "-k", "lifetime"]
    done = subprocess.run([*command, *(str(TESTS / name) for name in laws)], capture_output=True, text=True, cwd=TESTS)
    assert done.returncode == 0, done.stdout[-3000:]


# The least a family can be: of values that are no numbers, and with nothing said beyond the core.

LEAST = '''
"""The first letter of a word."""

from dataclasses import dataclass

import numpy as np

from candide.families.base.competing import CATEGORY
from candide.families.base.family import Family
from candide.families.base.smoothing import log_shares
from candide.statistics.tally import Tally, TallyBuilder


@dataclass(frozen=True)
class Initial(Family):
    statistic = Tally
    reads = CATEGORY

    @classmethod
    def candidates_for(cls, column):
        return [cls()] if column.kind == CATEGORY else []

    def builder(self, columns, classes):
        return TallyBuilder((), classes)

    def builder_over(self, seen):
        return TallyBuilder.over(seen)

    def read(self, batch, columns):
        return {name: initials(batch.categories(name)) for name in columns}

    view = read

    def learn(self, builder, values, labels, weights):
        for name, letters in values.items():
            loads = builder.reserve(len(letters), weights)
            for row, letter in enumerate(letters):
                if letter:
                    (slot,) = builder.indices_for([(name, "text", letter)])
                    builder.table[slot, labels[row]] += loads[row] if loads.size else 1

    def fit(self, seen, columns):
        tables = {}
        for name in columns:
            slots = [place for place, slot in enumerate(seen.slots) if slot[0] == name]
            letters = [seen.slots[place][2] for place in slots]
            tables[name] = (letters, log_shares(seen.counts[slots], self.smoothing))
        return tables

    def score(self, parameters, values, joint):
        for name, letters in values.items():
            known, table = parameters[name]
            for row, letter in enumerate(letters):
                if letter in known:
                    joint[row] += table[known.index(letter)]

    def sample(self, parameters, label, rows, rng):
        return [list(rng.choice(known, rows, p=np.exp(table[:, label]))) for known, table in parameters.values()]


def initials(coded):
    return [coded.keys[code][1][:1] if code >= 0 else "" for code in coded.codes.tolist()]
'''
NAMES = {"name": ["Ada", "Alan", None, "Bob", "Beth", "Ann", "Bill", "Cy", "Amy", "Ben"] * 6}
TEAMS = list("xxxyyxyyxx" * 6)


@pytest.fixture(scope="module")
def least(folder):
    """A model of the least family there can be."""
    (folder / "initial.py").write_text(LEAST)
    yield NaiveBayes(families="initial", calibrate=False, ledger=True).fit(NAMES, TEAMS)
    (folder / "initial.py").unlink()
    sys.modules.pop("candide.families.initial", None)


def test_the_least_family_competes(least):
    """Of so many names only the first letter tells the team, in nine rows of ten."""
    rng = np.random.default_rng(0)
    letters = rng.integers(0, 2, 400)
    names = [f"{'AB'[letter]}{number}" for letter, number in zip(letters, rng.integers(0, 150, 400), strict=True)]
    teams = np.where(rng.random(400) < 0.9, letters, 1 - letters)
    choice = NaiveBayes(calibrate=False).fit({"name": names}, teams).schema_.choices[0]
    assert choice.family.name == "initial"


def test_the_least_family_is_saved_merged_streamed_and_known_to_a_ledger(least, tmp_path):
    least.save(tmp_path / "least.candide")
    assert load(tmp_path / "least.candide").summary_ == least.summary_
    stream = NaiveBayes(families="initial", calibrate=False)
    for name, team in zip(NAMES["name"], TEAMS, strict=True):
        stream.learn_one({"name": name}, team)
    assert stream.summary_ == least.summary_
    asked = {"name": "Arthur"}
    expected = least.predict_proba({"name": ["Arthur"]})[0]
    assert list(stream.predict_proba_one(asked).values()) == pytest.approx(expected.tolist())
    assert (stream + stream).summary_ == least.summary_ + least.summary_
    stream.forget_one({"name": "Ada"}, "x")
    assert stream.summary_ == NaiveBayes(families="initial", calibrate=False).fit(
        {"name": NAMES["name"][1:]}, TEAMS[1:]
    ).summary_
    assert least.knows({"name": ["Ada", "Arthur"]}, ["x", "x"]).tolist() == [True, False]


def test_the_least_family_is_left_out_explained_drawn_and_sampled(least, tmp_path):
    batch = Batch.of(NAMES, TEAMS)
    summary, blocks = least.summary_, least.summary_.blocks
    found = LeaveOneOut.of(summary, batch).left_out().joint
    for index in range(10):
        row = batch.take(np.array([index]))
        assert found[index] == pytest.approx(Predictor.fit(summary - Summary.of(blocks, row)).joint(row)[0])
    spoken, silent = least.explain({"name": ["Arthur", None]})
    (term,) = spoken.terms
    assert (term.feature, term.value) == ("name", "Arthur")
    assert not silent.terms
    assert silent.missing == ("name",)
    (profile,) = least.model_.profiles()
    assert set(profile.points) == {"A", "B", "C"}
    assert np.exp(profile.table).sum(axis=0) == pytest.approx(1.0)
    least.report(tmp_path / "least.html")
    assert "initial" in (tmp_path / "least.html").read_text()
    assert set(least.sample(20, seed=0)["name"].to_pylist()) <= {"A", "B", "C"}
