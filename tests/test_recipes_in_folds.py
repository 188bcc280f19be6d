"""How texts are read is chosen without each fold of the rows, and rows are judged by what was chosen without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from candide import NaiveBayes, engines
from candide.data.batch import Batch
from candide.families.text import Text
from candide.families.words.options import TextOptions
from candide.model.options import Options
from candide.model.row_sample import canonical_rows
from candide.model.scoring import Score
from candide.model.summary import Summary
from candide.selection.fit_calibration import Calibrating
from candide.selection.fold_choices import FoldChoices
from candide.selection.folds import CHOICES, choice_folds, dealt_by_label
from candide.selection.judging import Judging
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.scored_rows import scored_without
from candide.selection.text_corpus import Corpus, juries_of
from candide.selection.text_recipes import OPEN, Search, best_recipe, layered
from candide.selection.trials import measured
from candide.training.fit import fit_rows


def texts_and_labels(rows=120, seed=3) -> tuple[list[str], list[str]]:
    """Texts that tell a little about their label, by words or by pairs of them: recipes are close to one another."""
    rng = np.random.default_rng(seed)
    words, labels, texts = [f"word{index}" for index in range(60)], rng.integers(0, 2, rows), []
    for label in labels:
        some = [*rng.choice(words, 8)]
        if rng.random() < 0.35:
            some.append("not good" if label else "good not")
        if rng.random() < 0.25:
            some.append(f"topic{label}")
        texts.append(" ".join(some))
    return texts, [f"class {label}" for label in labels]


def few_texts(seed=3) -> Batch:
    return canonical_rows(Batch.of(*texts_and_labels(seed=seed))).read_once()


def folds_of(batch: Batch) -> np.ndarray:
    return dealt_by_label(batch.labels.codes)


@pytest.mark.parametrize("weights", [None, np.arange(40.0) % 3])
def test_a_jury_judges_a_trial_as_if_there_were_no_other_rows(weights):
    rng = np.random.default_rng(0)
    weights, labels = np.ones(40) if weights is None else weights, rng.integers(0, 3, 40)
    likely = np.log(rng.dirichlet(np.ones(3), 40))
    trial = measured("this", likely, labels, weights)
    for jury in juries_of(dealt_by_label(labels), weights):
        alone, found = measured("this", likely[jury], labels[jury], weights[jury]), trial.by(jury)
        assert (found.what, found.rows) == ("this", alone.rows)
        assert found.accuracy == pytest.approx(alone.accuracy, abs=1e-12)
        assert found.loss == pytest.approx(alone.loss, abs=2e-6)
        assert found.standard_error == pytest.approx(alone.standard_error, abs=1e-12)


def test_what_was_tried_for_others_changes_no_choice():
    """All juries share what was read and tried; each must find what it would have found alone."""
    batch = few_texts()
    folds, choice = folds_of(batch), Options().choose(batch).choices[0]
    found = best_recipe(choice, batch, folds, Options(), calibrates=True)
    assert len(found.without_folds) == CHOICES
    for jury, families in enumerate(found.without_folds):
        fresh = Corpus.of(choice.family, batch, folds, ())
        assert layered(Search(fresh, jury), OPEN).what.families == families
    whole = layered(Search(Corpus.of(choice.family, batch, folds, ())), OPEN)
    assert whole.what.families == found.choice.families


def test_some_folds_choose_otherwise():
    """Else the law below would be about nothing that happens."""
    different = set()
    for seed in range(4):
        batch = few_texts(seed=seed)
        choice = Options().choose(batch).choices[0]
        found = best_recipe(choice, batch, folds_of(batch), Options(), calibrates=True)
        different |= {families != found.choice.families for families in found.without_folds}
    assert different == {False, True}


def judging_of(batch: Batch, schema, choices: FoldChoices) -> tuple[Judging, object]:
    """Few rows, all that were learned, to be judged under a schema."""
    summary = Summary.of(schema.blocks, batch)
    leaving = LeaveOneOut.of(summary, batch, everyone=batch)
    left = replace(leaving.left_out(), prior=choices.priors(leaving))
    calibrating = Calibrating.of(left, summary.classes, summary.blocks)
    return Judging(summary, schema, leaving, choices, engines.named(), calibrating), left


def test_rows_of_a_fold_are_judged_by_the_recipe_that_it_had_no_part_in():
    batch = few_texts()
    trained = fit_rows(Options(text=TextOptions(), calibrate=False), batch)
    schema, column = trained.schema, trained.schema.choices[0].column
    other = Text(column=column, options=TextOptions(weighting="presence", ngrams=2), smoothing=0.1)
    plain = FoldChoices(folds_of(batch))
    mixed = replace(plain, recipes=({column: (other,)}, {}, {}, {}, {}))
    anew = mixed.with_recipes(schema, 0)
    assert anew.blocks != schema.blocks
    judging, left = judging_of(batch, schema, mixed)
    found = judging.evaluation(left)

    by_hand, said = judging_of(batch, anew, plain)
    score = Score(most=0)
    for fold, here in enumerate(choice_folds(plain.folds)):
        of, rows = (by_hand, said) if fold == 0 else (judging, left)
        score += scored_without(rows.rows(here), of.summary, of.calibrations[fold][1], here, suspects=0)
    expected = score.evaluation("", None, judging.summary.classes)
    assert found.accuracy == expected.accuracy
    assert found.log_loss == pytest.approx(expected.log_loss, abs=1e-9)
    assert found.log_loss != pytest.approx(judging_of(batch, schema, plain)[0].evaluation(left).log_loss, abs=1e-6)


def test_a_recipe_given_by_hand_is_chosen_for_no_fold():
    batch = few_texts()
    options = Options(text=TextOptions(), smoothing=1.0)
    found = best_recipe(options.choose(batch).choices[0], batch, folds_of(batch), options, calibrates=True)
    assert found.without_folds == ()


def test_texts_beside_columns_are_judged_alike_in_any_order():
    """A mixed table, whose texts some folds read otherwise than all rows do."""
    rng = np.random.default_rng(1)
    texts, labels = texts_and_labels(200)
    table = {"number": rng.normal(size=200).tolist(), "text": texts, "y": labels}
    model, order = NaiveBayes().fit(table, "y"), rng.permutation(200)
    again = NaiveBayes().fit({name: [values[row] for row in order] for name, values in table.items()}, "y")
    assert model.trained_.tuning.quality == again.trained_.tuning.quality
