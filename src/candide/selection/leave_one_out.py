"""Every row judged by a model that never saw it: exact, one more pass, no refits.

A row is taken out of the summary whole, with all its weight, and judged by what is left under the same choices
(families, bins, smoothing, recipe). A class whose only row is taken out vanishes: it is impossible for that row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, Location
from candide.data.values import Key, shown
from candide.engines.protocol import Engine, parts
from candide.families.base.family import Block
from candide.families.base.leave_one_out import BlockLeftOut
from candide.model.calibration import Calibration
from candide.model.predictor import Priors, has_prior, log_normalised, log_priors, log_sum
from candide.model.reported import BlockEvidence, reported_scores, reported_start
from candide.model.summary import Summary, grid_weights
from candide.selection.folds import score_without_folds
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

    def block(self, index: int) -> LeftOut:
        """What one of the blocks says."""
        return self.blocks(slice(index, index + 1))

    def blocks(self, indices: slice | Sequence[int]) -> LeftOut:
        """What some of the blocks say."""
        return replace(self, **{name: getattr(self, name)[indices] for name in BY_BLOCK})

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


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """A summary that rows can be taken out of, one at a time: made once, then asked as often as one likes.

    What does not depend on the row is prepared when it is made, so it may be asked on many threads, or sent to an
    engine. Whoever wants to know how good something is without a row asks this: choosing, calibrating, evaluating.
    """

    summary: Summary
    blocks: tuple[BlockLeftOut, ...]
    """What each block says without its rows."""
    priors: Priors = "empirical"
    class_weight: Priors | None = None

    @classmethod
    def of(cls, summary: Summary, priors: Priors = "empirical", class_weight: Priors | None = None) -> LeaveOneOut:
        """Ready to take out rows of the summary."""
        pairs = zip(summary.blocks, summary.statistics, strict=True)
        ready = tuple(block.family.leave_one_out(seen, block.columns) for block, seen in pairs)
        return cls(summary, ready, priors, class_weight)

    def __call__(self, batch: Batch) -> LeftOut:
        """What is said of each row of a batch, all of which the summary has learned, without it."""
        summary = self.summary
        labels, weights = known_labels(summary, batch), grid_weights(batch)
        prior = priors_without(summary, labels, weights, self.priors, self.class_weight)
        shape = (len(summary.blocks), len(batch), len(summary.classes))
        terms, observed, familiarity = np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape[:2])
        for index, (block, ready) in enumerate(zip(summary.blocks, self.blocks, strict=True)):
            said = ready.scores(batch, labels, weights)
            terms[index], observed[index] = said.score, said.length
            if not block.family.is_beside:
                familiarity[index] = log_sum(prior + said.log_likelihood) + said.unseen
        loads = weights.astype(np.float64) if weights.size else np.ones(len(batch))
        return LeftOut(labels, loads, prior, terms, observed, familiarity, has_prior(summary.blocks))

    def each(self, batches: Iterable[Batch], engine: Engine) -> Iterator[LeftOut]:
        """The same for the rows of many batches, in order."""
        return engine.map(self, (part for batch in batches for part in parts(batch)))

    def in_folds(self, rows: Batch, engine: Engine) -> LeftOut:
        """Every row left out; blocks that choose when fitted are fitted without its fold. Rows are as good as shuffled.

        Leave-one-out holds choices fixed. A histogram chose its intervals with the row among the others, so what it
        then says of the row is a little too good, and whatever is fitted on it too sure.
        """
        left = LeftOut.joined(self.each([rows], engine))
        terms = left.terms
        for index, (block, seen) in enumerate(zip(self.summary.blocks, self.summary.statistics, strict=True)):
            if block.family.chooses:
                terms[index] = score_without_folds(block, seen, rows, left.labels)
        return replace(left, terms=terms)


def known_labels(summary: Summary, batch: Batch) -> IntArray:
    """The class number of each row; rows that were never learned cannot be left out."""
    if batch.labels is None:
        raise LabelsRefused("These rows have no labels. Only rows that were learned can be left out.")
    labels = batch.labels.renumbered({key: index for index, key in enumerate(summary.classes)})
    if (labels < 0).any():
        strange = batch.labels.keys[batch.labels.codes[int(np.argmax(labels < 0))]]
        raise LabelsRefused(
            f"Class '{shown(strange)}' was never learned, so its rows cannot be left out.",
            where=Location(value=shown(strange)),
        )
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
    for index, kind in enumerate(kinds.tolist()):
        label, load = kind // len(loads), loads[kind % len(loads)]
        units = summary.weighed.at(bits)[0].copy()
        units[label] -= load
        if units[label] < 0:
            raise LabelsRefused(
                f"Class '{shown(summary.classes[label])}' weighs less than one of its rows: only rows that were "
                "learned can be left out."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            table[index] = log_priors(replace(summary, units=units, bits=bits), priors, class_weight)
            if units[label] == 0 and load > 0:
                table[index, label] = -np.inf
                table[index] -= log_sum(table[index : index + 1])
    return np.asarray(np.where(np.isnan(table), -np.inf, table)[which])
