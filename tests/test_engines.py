"""Engines: found by the names of their files, and asked for all work over rows."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import candide
from candide import engines
from candide.data.errors import OptionRefused
from candide.engines.protocol import Engine

DROPPED = '''
from candide.engines import named
from candide.engines.protocol import Engine

ASKED = []


class OneByOne(Engine):
    """Does the work in the order it comes, with the local engine's summaries."""

    name = "one_by_one"

    def summarize(self, blocks, batches, declared=()):
        ASKED.append("summarize")
        return named().summarize(blocks, batches, declared)

    def map(self, work, items):
        ASKED.append("map")
        return map(work, items)
'''


@pytest.fixture
def dropped(tmp_path, monkeypatch):
    """The asked list of an engine whose file was dropped into the folder."""
    (tmp_path / "one_by_one.py").write_text(DROPPED)
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(tmp_path)])
    engines.named("one_by_one")
    yield sys.modules["candide.engines.one_by_one"].ASKED
    del sys.modules["candide.engines.one_by_one"]


def table() -> tuple[dict[str, object], list[str]]:
    rng = np.random.default_rng(0)
    labels = rng.choice(["fig", "plum"], 120).tolist()
    colour = [rng.choice(["red", "blue"], p=[0.8, 0.2] if label == "fig" else [0.3, 0.7]) for label in labels]
    return {"x": rng.normal(size=120), "colour": colour}, labels


def test_a_dropped_file_is_an_engine(dropped):
    assert engines.names() == ["dask", "local", "one_by_one", "spark"]
    found: Engine = engines.named("one_by_one")
    assert found.name == "one_by_one"


def test_an_engine_by_name_does_the_work_and_changes_no_answer(dropped):
    rows, labels = table()
    here = candide.NaiveBayes().fit(rows, labels)
    there = candide.NaiveBayes(engine="one_by_one").fit(rows, labels)
    assert set(dropped) == {"summarize", "map"}
    assert here.trained_.summary == there.trained_.summary
    assert here.trained_.schema == there.trained_.schema
    del dropped[:]
    assert np.array_equal(here.predict_proba(rows), there.predict_proba(rows))
    assert dropped == ["map"]
    assert here.evaluate(rows, labels).to_dict() == there.evaluate(rows, labels).to_dict()
    by_leaving_out = [model.evaluate(rows, labels, leave_one_out=True).to_dict() for model in (here, there)]
    assert by_leaving_out[0] == by_leaving_out[1]


def test_an_unknown_engine_is_refused_with_a_suggestion():
    with pytest.raises(OptionRefused, match=r"no engine 'locall'. Did you mean 'local'\?"):
        engines.named("locall")


@pytest.mark.parametrize("threads", [1, 4])
def test_results_come_in_order_and_the_first_failure_speaks(threads, monkeypatch):
    monkeypatch.setenv("CANDIDE_THREADS", str(threads))
    assert list(engines.named().map(str, range(50))) == [str(number) for number in range(50)]
    results = engines.named().map((1).__truediv__, [1, 2, 0, 4])
    assert [next(results), next(results)] == [1.0, 0.5]
    with pytest.raises(ZeroDivisionError):
        next(results)
