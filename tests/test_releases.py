"""Files of every release load in this one and answer as they did; `releases.py` writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import candide
import releases
from candide import NaiveBayes, load
from candide.model.predictor import normalised
from candide.model.reported import is_informed

MODELS = sorted(releases.FOLDER.glob("*/*.candide"))
ROUNDING = 1e-12
"""How far answers may be from those of another processor."""


def assert_answers(model: NaiveBayes, recorded: releases.Recorded) -> None:
    assert list(map(str, model.classes_)) == recorded.classes
    joint, chances = model.predict_joint_log_proba(recorded.rows), model.predict_proba(recorded.rows)
    used = model.predictor_
    np.testing.assert_allclose(joint, recorded.joint, rtol=ROUNDING, atol=ROUNDING)
    known = is_informed(joint - used.prior_term)
    np.testing.assert_allclose(chances[known], recorded.chances[known], rtol=ROUNDING, atol=ROUNDING)
    if used.calibration is not None:  # 0.1.0 added its bias even where nothing was known
        np.testing.assert_allclose(chances[~known], normalised(used.log_prior[None], used.log_prior)[[0] * sum(~known)])


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}: {path.stem}")
def test_a_file_of_any_release_answers_as_it_did(path: Path, tmp_path: Path) -> None:
    recorded, model = releases.recorded(path.with_suffix(".csv")), load(path)
    assert_answers(model, recorded)
    model.save(tmp_path / "again.candide")
    again = load(tmp_path / "again.candide")
    assert again.summary_ == model.summary_
    assert_answers(again, recorded)
    labels = [{str(label): label for label in model.classes_}[name] for name in recorded.labels]
    again.partial_fit(recorded.rows, labels).forget(recorded.rows, labels)
    assert again.summary_ == model.summary_
    assert_answers(again, recorded)


def test_this_version_has_its_files() -> None:
    assert any((releases.FOLDER / candide.__version__).glob("*.candide")), "run: python tests/releases.py"


def test_no_file_is_without_its_answers() -> None:
    assert MODELS
    for folder in releases.FOLDER.iterdir():
        models, answers = ({path.stem for path in folder.glob(ending)} for ending in ("*.candide", "*.csv"))
        assert models == answers
