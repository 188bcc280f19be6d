"""Every row judged by a model that never saw it: exact, one more pass, no refits.

A row is taken out of the summary whole, with all its weight, and judged by what is left under the same choices
(families, bins, smoothing, recipe). A class whose only row is taken out vanishes: it is impossible for that row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused
from candide.data.values import Key, shown
from candide.engines.protocol import Engine, parts
from candide.families.base.family import Block
from candide.model.calibration import IDENTITY, Calibration
from candide.model.predictor import Predictor, Priors, log_normalised, log_priors, log_sum
from candide.model.reported import BlockEvidence, reported_scores, reported_start
from candide.model.summary import Summary, grid_weights
from candide.statistics.weight_grid import bits_of, weights_in_units

BY_ROW, BY_BLOCK = ("labels", "weights", "prior"), ("terms", "observed", "familiarity")


@dataclass(frozen=True)
class LeftOut:
    """What is said of some rows without themselves."""

    labels: IntArray
    """The class number of each row."""
    weights: FloatArray
    """The weight of each row."""
    prior: FloatArray
    """Log prior, [row, class]; -inf where the class vanishes with the row."""
    terms: FloatArray
    """What each block says, [block, row, class]."""
    observed: FloatArray
    """How much each block could speak of, [block, row]."""
    familiarity: FloatArray
    """log P(values) of each block, [block, row]: how expected they are, whatever the class."""
    has_prior: bool = True
    """Whether the prior counts in the raw joint: not where every block is only a score."""

    @property
    def joint(self) -> FloatArray:
        """Prior and all blocks added up, [row, class]: raw."""
        start = self.prior if self.has_prior else np.where(np.isneginf(self.prior), -np.inf, 0.0)
        return start + self.terms.sum(axis=0)

    def reported(self, calibration: Calibration | None, classes: Sequence[Key], blocks: Sequence[Block]) -> FloatArray:
        """The scores that are reported, [row, class]: the joint, or prior, bias and weighed blocks."""
        if calibration is None:
            return self.joint
        evidence = map(BlockEvidence, [block.key for block in blocks], self.terms, self.observed)
        return reported_scores(reported_start(self.prior, calibration, classes), calibration, evidence)

    def posterior(self, calibration: Calibration | None, classes: Sequence[Key], blocks: Sequence[Block]) -> FloatArray:
        """log P(class | row), [row, class]; a row whose class vanished with it gives that class 1 / (rows + 1)."""
        likely = log_normalised(self.reported(calibration, classes, blocks), self.prior)
        alone = np.flatnonzero(self.vanished)
        likely[alone, self.labels[alone]] = -np.log(self.weights.sum() + 1)
        return likely

    @property
    def vanished(self) -> AnyArray:
        """Which rows were the only ones of their class."""
        return np.isneginf(self.prior[np.arange(len(self.labels)), self.labels])

    def rows(self, wanted: slice | IntArray) -> LeftOut:
        """Some of the rows."""
        return replace(
            self,
            **{name: getattr(self, name)[wanted] for name in BY_ROW},
            **{name: getattr(self, name)[:, wanted] for name in BY_BLOCK},
        )

    def block(self, place: int) -> LeftOut:
        """What one of the blocks says."""
        return self.blocks(slice(place, place + 1))

    def blocks(self, places: slice | Sequence[int]) -> LeftOut:
        """What some of the blocks say."""
        return replace(self, **{name: getattr(self, name)[places] for name in BY_BLOCK})

    @classmethod
    def beside(cls, blocks: Sequence[LeftOut]) -> LeftOut:
        """The same rows, with what all these blocks say."""
        several: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in blocks]) for name in BY_BLOCK}
        return replace(blocks[0], **several)

    @classmethod
    def joined(cls, pieces: Iterable[LeftOut]) -> LeftOut:
        """The rows of several, in order."""
        several = list(pieces)
        if len(several) == 1:
            return several[0]
        by_row: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in several]) for name in BY_ROW}
        by_block: dict[str, Any] = {
            name: np.concatenate([getattr(piece, name) for piece in several], axis=1) for name in BY_BLOCK
        }
        return replace(several[0], **by_row, **by_block)


def leave_each_out(
    summary: Summary,
    batches: Iterable[Batch],
    engine: Engine,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> Iterator[LeftOut]:
    """Judge every row of the batches, all of which the summary has learned; in parallel, results in order."""
    model = Predictor.fit(summary, priors, class_weight, IDENTITY)
    small = (part for batch in batches for part in parts(batch))
    return engine.map(partial(left_out, summary, model, priors=priors, class_weight=class_weight), small)


def left_out(
    summary: Summary, model: Predictor, batch: Batch, priors: Priors = "empirical", class_weight: Priors | None = None
) -> LeftOut:
    """Judge the rows of one batch; `model` is the summary's, for what does not depend on the row."""
    labels, weights = known_labels(summary, batch), grid_weights(batch)
    shape = (len(summary.blocks), len(batch), len(summary.classes))
    terms, observed, familiarity = np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape[:2])
    prior = priors_without(summary, labels, weights, priors, class_weight)
    for place, (block, seen) in enumerate(zip(summary.blocks, summary.statistics, strict=True)):
        family, columns = block.family, block.columns
        family.score_without(seen, batch, columns, labels, weights, terms[place])
        observed[place] = family.evidence_length(model.parameters[place], family.view(batch, columns))
        if family.is_beside:
            continue
        likelihood = terms[place]
        if not family.is_likelihood:
            likelihood = np.zeros(shape[1:])
            family.log_likelihood_without(seen, batch, columns, labels, weights, likelihood)
        familiarity[place] = log_sum(prior + likelihood)
        familiarity[place] += family.strangeness_without(seen, batch, columns, labels, weights)
    loads = weights.astype(np.float64) if weights.size else np.ones(len(batch))
    return LeftOut(labels, loads, prior, terms, observed, familiarity, model.has_prior)


def known_labels(summary: Summary, batch: Batch) -> IntArray:
    """The class number of each row; rows that were never learned cannot be left out."""
    if batch.labels is None:
        raise LabelsRefused("These rows have no labels. Only rows that were learned can be left out.")
    labels = batch.labels.renumbered({key: place for place, key in enumerate(summary.classes)})
    if (labels < 0).any():
        strange = batch.labels.keys[batch.labels.codes[int(np.argmax(labels < 0))]]
        raise LabelsRefused(f"Class '{shown(strange)}' was never learned, so its rows cannot be left out.")
    return labels


def priors_without(
    summary: Summary,
    labels: IntArray,
    weights: AnyArray,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> FloatArray:
    """The log prior of each class without each row, [row, class]."""
    bits = max(summary.bits, bits_of(weights))
    loads, which = np.unique(weights_in_units(weights, 1, bits), return_inverse=True)
    if not weights.size:
        loads, which = np.array([1 << bits]), np.zeros(1, dtype=np.int64)
    kinds, which = np.unique(labels * len(loads) + which, return_inverse=True)
    table = np.empty((len(kinds), len(summary.classes)))
    for place, kind in enumerate(kinds.tolist()):
        label, load = kind // len(loads), loads[kind % len(loads)]
        units = summary.weighed.at(bits)[0].copy()
        units[label] -= load
        if units[label] < 0:
            raise LabelsRefused(
                f"Class '{shown(summary.classes[label])}' weighs less than one of its rows: only rows that were "
                "learned can be left out."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            table[place] = log_priors(replace(summary, units=units, bits=bits), priors, class_weight)
            if units[label] == 0 and load > 0:
                table[place, label] = -np.inf
                table[place] -= log_sum(table[place : place + 1])
    return np.asarray(np.where(np.isnan(table), -np.inf, table)[which])
