"""A summary turned into parameters: log joint, posterior, likelihood, new rows. The only place to leave log space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from candide.data.advice import NamedOption
from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, Location, OptionRefused, suggestion
from candide.data.texts import text_in_row
from candide.data.times import is_time, shown_time
from candide.data.values import Key, key_of, shown
from candide.families.base.basis import DensityBasis
from candide.families.base.competing import CATEGORY
from candide.families.base.explaining import IGNORED, Silence, Term, shown_number
from candide.families.base.family import Block
from candide.families.base.profile import Profile
from candide.families.pairs.pair import Pair
from candide.families.pairs.pair_look import PairLook
from candide.kernels.scoring import argmax_rows
from candide.model.assessment import Assessment
from candide.model.beyond import numbers_beyond
from candide.model.calibration import IDENTITY, Calibration
from candide.model.domain import ANYTHING, Domain, drawn_within
from candide.model.explanation import Explanation
from candide.model.linear_layer import LayerBlock, LinearLayer
from candide.model.reported import BlockEvidence, is_informed, reported_scores
from candide.model.summary import Summary
from candide.statistics.cells import Cells

Priors = str | Mapping[Any, float]


@dataclass(frozen=True)
class Predictor:
    """The parameters of every block beside the log prior of every class."""

    classes: tuple[Key, ...]
    log_prior: FloatArray
    blocks: tuple[Block, ...]
    parameters: tuple[Any, ...]
    calibration: Calibration | None = None
    #: How the values of some columns are written: times are shown as times.
    kinds: Mapping[str, str] = field(default_factory=dict, compare=False)
    #: Where the numbers of columns left open lie: pictures show them, and no draw goes beyond them.
    cells: Mapping[str, Cells] = field(default_factory=dict, compare=False, repr=False)
    #: What the parameters come from: the counts that explanations show.
    summary: Summary | None = field(default=None, compare=False, repr=False)
    #: What a linear layer adds to the reported score: its readings of columns, and what their terms add.
    layer: tuple[LayerBlock, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def fit(
        cls,
        summary: Summary,
        priors: Priors = "empirical",
        class_weight: Priors | None = None,
        calibration: Calibration | None = None,
        kinds: Mapping[str, str] | None = None,
        cells: Mapping[str, Cells] | None = None,
        layer: LinearLayer | None = None,
    ) -> Predictor:
        """Let priors and smoothing meet the summary."""
        if not summary.classes:
            raise LabelsRefused("No class is left: every row was forgotten.", advice="Learn some rows first.")
        parameters = tuple(
            block.family.fit(statistic, block.columns)
            for block, statistic in zip(summary.blocks, summary.statistics, strict=True)
        )
        log_prior = log_priors(summary, priors, class_weight)
        written, where = kinds or {}, cells or {}
        added = () if layer is None or calibration is None else layer.blocks(summary.blocks, summary.classes)
        model = cls(summary.classes, log_prior, summary.blocks, parameters, calibration, written, where, summary, added)
        if priors != "empirical" or class_weight is not None:
            model.refuse_other_priors()
        return model

    def refuse_other_priors(self) -> None:
        """Raise where priors would change nothing."""
        if not self.has_prior and self.calibration is None:
            raise OptionRefused(
                "'complement' is a score, not a likelihood: priors and class weights have no effect on it.",
                advice="Leave them out, or choose 'multinomial'.",
            )

    @property
    def has_prior(self) -> bool:
        """Whether the prior counts in the raw joint: not where every block is only a score."""
        return has_prior(self.blocks)

    @property
    def speaking(self) -> tuple[tuple[Block, Any], ...]:
        """All blocks that have a say in the reported score, with their parameters: a linear layer's are the last."""
        return (*zip(self.blocks, self.parameters, strict=True), *self.layer)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that answers depend on."""
        return tuple(dict.fromkeys(name for block, _ in self.speaking for name in block.columns))

    @property
    def prior_term(self) -> FloatArray:
        """What the prior adds to each class."""
        return self.log_prior if self.has_prior else np.zeros_like(self.log_prior)

    @property
    def reported_prior(self) -> FloatArray:
        """What the prior adds to the reported score of each class."""
        return self.prior_term if self.calibration is None else self.log_prior

    @property
    def bias(self) -> FloatArray:
        """What calibration adds to each class where something is known of a row."""
        return (self.calibration or IDENTITY).biases(self.classes)

    def joint(self, batch: Batch) -> FloatArray:
        """The prior and what every block says, as log joint[row, class]: raw, never calibrated."""
        return self._sum(self._views(batch), len(batch))

    def reported(self, batch: Batch) -> FloatArray:
        """The scores whose softmax is the posterior: the joint, calibrated where a calibration was fitted."""
        if self.calibration is None:
            return self.joint(batch)
        return self.reported_of(self._views_of_speaking(batch), len(batch))

    def reported_of(self, views: Iterable[Any], rows: int) -> FloatArray:
        """The reported scores, calibrated, of so many rows whose values were read, block by block."""
        calibration = self.calibration or IDENTITY
        evidence = self._evidence(views, rows, calibration)
        return reported_scores(self._priors(rows), self.bias, calibration, evidence)

    def _views(self, batch: Batch) -> Iterator[Any]:
        """What each block sees of the rows: one at a time, so that only one need be held."""
        return (block.family.view(batch, block.columns) for block in self.blocks)

    def _views_of_speaking(self, batch: Batch) -> Iterator[Any]:
        """The same of all that have a say in the reported score; texts that several ask for are read once."""
        texts = [block.columns for block, _ in self.speaking if block.family.has_recipe]
        if batch.readings is None and len(set(texts)) < len(texts):
            batch = batch.read_once()
        return (block.family.view(batch, block.columns) for block, _ in self.speaking)

    def assess(self, batch: Batch) -> Assessment:
        """All that can be said of the rows, each value of which is read once."""
        log_marginal, length, there, unseen = np.zeros((4, len(self.blocks), len(batch)))

        def evidence() -> Iterator[BlockEvidence]:
            for index, (block, parameters) in enumerate(self.speaking):
                values = block.family.view(batch, block.columns)
                said = block.family.assess(parameters, values, (len(batch), len(self.classes)))
                if not block.family.is_auxiliary:
                    log_marginal[index] = log_sum(self.log_prior + said.log_likelihood) + said.unseen
                    length[index], there[index], unseen[index] = said.length, said.length, said.unseen
                    if not block.family.has_length:
                        there[index] = block.family.evidence_length(None, values)
                yield BlockEvidence(block.key, said.score, said.length)

        scores = reported_scores(self._priors(len(batch)), self.bias, self.calibration or IDENTITY, evidence())
        return Assessment(scores, log_marginal, length, there, unseen)

    def _priors(self, rows: int) -> FloatArray:
        return np.tile(self.reported_prior, (rows, 1))

    def _evidence(self, views: Iterable[Any], rows: int, calibration: Calibration) -> Iterator[BlockEvidence]:
        """What every block says, and how long the rows are where that matters."""
        shape = (rows, len(self.classes))
        for (block, parameters), values in zip(self.speaking, views, strict=True):
            if calibration.needs_length(block.key):
                yield BlockEvidence(block.key, *block.family.score_with_length(parameters, values, shape))
            else:
                score = np.zeros(shape)
                block.family.score(parameters, values, score)
                yield BlockEvidence(block.key, score, None)

    def best(self, batch: Batch) -> IntArray:
        """The number of each row's most probable class: the first of ties, the prior's where all are impossible."""
        found = np.empty(len(batch), dtype=np.int64)
        argmax_rows(self.reported(batch), int(self.log_prior.argmax()), found)
        return found

    def log_likelihood(self, batch: Batch) -> FloatArray:
        """log P(row, class): the joint, with the multinomial in place of complement scores."""
        joint = np.tile(self.log_prior, (len(batch), 1))
        for block, parameters, values in zip(self.blocks, self.parameters, self._views(batch), strict=True):
            block.family.log_likelihood(parameters, values, joint)
        return joint

    def _sum(self, views: Iterable[Any], rows: int) -> FloatArray:
        joint = np.tile(self.prior_term, (rows, 1))
        for block, parameters, values in zip(self.blocks, self.parameters, views, strict=True):
            block.family.score(parameters, values, joint)
        return joint

    def explain(self, batch: Batch) -> list[Explanation]:
        """Why each row gets its answer: prior, bias and terms, what was silent, and the counts behind it all."""
        rows_behind_prior = self._rows_behind_prior()
        return [self._explanation(row.read_once(), rows_behind_prior) for row in batch.split(1)]

    def _explanation(self, row: Batch, rows_behind_prior: AnyArray | None) -> Explanation:
        statistics = (*(self.summary.statistics if self.summary else (None,) * len(self.blocks)), *self.layer)
        views = list(self._views_of_speaking(row))
        scores, bias, factors = self._weighed(views)
        terms: list[Term] = []
        silent: list[Silence] = []
        learned = zip(self.speaking, statistics, views, factors, strict=True)
        for (block, parameters), seen, values, factor in learned:
            spoken = self._in_time(block.family.terms(parameters, values, row, block.columns, seen), row, block)
            terms += spoken if factor == 1.0 else [replace(term, factor=factor) for term in spoken]
            silent += block.family.silent(parameters, values, row, block.columns, seen)
        used = {name for block in self.blocks for name in block.columns}
        silent += [Silence(name, "", IGNORED) for name in row.names if name not in used]
        return Explanation(
            classes=tuple(value for _, value in self.classes),
            prior=self.prior_term,
            terms=tuple(terms),
            posterior=normalised(scores, self.log_prior)[0],
            bias=bias,
            reported_prior=self.reported_prior,
            rows=rows_behind_prior,
            silent=tuple(silent),
            texts=texts_of(row, self.blocks),
            beyond=numbers_beyond(row, self.blocks, self.cells, self.kinds),
        )

    def _weighed(self, views: Sequence[Any]) -> tuple[FloatArray, FloatArray, list[float]]:
        """The reported scores of a single row, to the last bit as predicted, the bias, and the factor of each block."""
        if self.calibration is None:
            return self._sum(views, 1), np.zeros_like(self.log_prior), [1.0] * len(views)
        evidence = list(self._evidence(views, 1, self.calibration))
        scores = reported_scores(self._priors(1), self.bias, self.calibration, evidence)
        heard = [said.score for said in evidence if not self.calibration.is_silent(said.key)]
        bias = self.bias if any(is_informed(score)[0] for score in heard) else np.zeros_like(self.log_prior)
        return scores, bias, [self.calibration.factor(said.key, said.length).item() for said in evidence]

    def _in_time(self, terms: list[Term], row: Batch, block: Block) -> list[Term]:
        """Terms of columns that are seconds since 1970, as the times they are; categories are written out already."""
        times = {name: kind for name in block.columns if is_time(kind := self.kinds.get(name, ""))}
        if not times or block.family.reads == CATEGORY:
            return terms
        return [timed(term, row, block, times) for term in terms]

    def _rows_behind_prior(self) -> AnyArray | None:
        """The rows of each class, where the prior is their share."""
        if self.summary is None or (not self.has_prior and self.calibration is None):
            return None
        rows = self.summary.counts
        return rows if np.allclose(np.exp(self.log_prior) * rows.sum(), rows, rtol=1e-12) else None

    @property
    def pairs(self) -> tuple[PairLook, ...]:
        """What pairs of columns say beyond their parts, the loudest first."""
        assert self.summary is not None
        learned = zip(self.blocks, self.parameters, self.summary.statistics, strict=True)
        weigh = (self.calibration or IDENTITY).factor
        found = [b.family.look(p, seen, float(weigh(b.key))) for b, p, seen in learned if isinstance(b.family, Pair)]
        return tuple(sorted(found, key=lambda look: -float(look.loudness.sum())))

    def profiles(self) -> tuple[Profile, ...]:
        """What the values of every feature look like in each class, and how much it tells about the class."""
        return tuple(profile for block in range(len(self.blocks)) for profile in self.profiles_of(block))

    def profiles_of(self, index: int) -> tuple[Profile, ...]:
        """The profiles of one block, with the factor that calibration gives a row of typical length."""
        assert self.summary is not None
        block, seen = self.blocks[index], self.summary.statistics[index]
        factor = 1.0
        if self.calibration is not None:
            length = np.array([block.family.typical_length(seen)])
            factor = float(self.calibration.factor(block.key, length).reshape(()))
        found = block.family.profiles(self.parameters[index], seen, block.columns, np.exp(self.log_prior))
        times = {name: kind for name, kind in self.kinds.items() if is_time(kind)}
        return tuple(replace(profile, factor=factor, times=times.get(profile.column, "")) for profile in found)

    def sample(
        self, rows: int, label: Key | None, rng: np.random.Generator, domains: Mapping[str, Domain] | None = None
    ) -> tuple[dict[str, Any], AnyArray]:
        """New rows: a class number for each, drawn from the prior unless given, and columns of values.

        `domains` say of some columns which numbers they hold: no others are drawn.
        """
        if label is not None and label not in self.classes:
            known = [shown(key) for key in self.classes]
            raise LabelsRefused.of_name(f"There is no class '{shown(label)}'.", shown(label), known)
        if rows < 0:
            raise OptionRefused.of_option("rows", "a whole number from 0 up", rows)
        chances = np.exp(self.log_prior)
        labels = (
            rng.choice(len(self.classes), rows, p=chances / chances.sum())
            if label is None
            else np.full(rows, self.classes.index(label))
        )
        columns: dict[str, Any] = {name: np.empty(rows, dtype=object) for b in self.blocks for name in b.columns}
        for index in np.unique(labels):
            wanted = np.flatnonzero(labels == index)
            for block, parameters in zip(self.blocks, self.parameters, strict=True):
                if block.family.is_auxiliary:
                    continue
                draw = partial(block.family.sample, parameters, int(index), rng=rng)
                allowed = {} if block.family.shares_total else domains or {}
                within = [allowed.get(name, ANYTHING) for name in block.columns]
                drawn = drawn_within(draw, len(wanted), within, block.family.is_joint)
                for name, values in zip(block.columns, drawn, strict=True):
                    columns[name][wanted] = values
        return columns, labels


def timed(term: Term, row: Batch, block: Block, times: Mapping[str, str]) -> Term:
    """A term of a column of times, or of several columns some of which are."""
    alone = term.feature in times
    if not alone and not block.family.is_joint:
        return term
    names = [term.feature] if alone else list(block.columns)
    numbers = zip(names, row.numbers(names)[0].tolist(), strict=True)
    shown_values = [
        shown_time(number, times[name]) if name in times else shown_number(number)
        for name, number in numbers
        if not np.isnan(number)
    ]
    basis = term.basis
    if alone and basis is not None:
        basis = basis.in_time(times[term.feature])
    elif isinstance(basis, DensityBasis):
        basis = basis.in_times(times)
    return replace(term, value=", ".join(shown_values), basis=basis)


def has_prior(blocks: Sequence[Block]) -> bool:
    """Whether the prior counts in the raw joint of these blocks: not where every one is only a score."""
    return not blocks or any(block.family.is_likelihood for block in blocks)


def texts_of(row: Batch, blocks: tuple[Block, ...]) -> dict[str, str]:
    """The texts of a single row, by column."""
    names = [b.columns[0] for b in blocks if b.family.has_length and not b.family.is_auxiliary]
    texts = {name: text_in_row(row, name) for name in names}
    return {name: text for name, text in texts.items() if text is not None}


def normalised(joint: FloatArray, log_prior: FloatArray) -> FloatArray:
    """The posterior: softmax with the maximum subtracted; the prior where every class is impossible."""
    largest = joint.max(axis=1, keepdims=True)
    impossible = ~np.isfinite(largest[:, 0])
    if impossible.any():
        joint = joint.copy()
        joint[impossible] = log_prior
        largest = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - largest)
    return shares / shares.sum(axis=1, keepdims=True)


def log_normalised(joint: FloatArray, log_prior: FloatArray) -> FloatArray:
    """The logarithm of `normalised`, without leaving log space."""
    largest = joint.max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        joint = np.where(np.isfinite(largest), joint, log_prior)
        largest = joint.max(axis=1, keepdims=True)
    behind = joint - largest
    behind -= np.log(np.exp(behind).sum(axis=1, keepdims=True))
    return behind


def log_sum(joint: FloatArray) -> FloatArray:
    """log of the sum of exp over classes, row by row; -inf where every class is impossible."""
    largest = joint.max(axis=1)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    behind = joint - safe[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(behind, out=behind).sum(axis=1)))


def log_priors(summary: Summary, priors: Priors, class_weight: Priors | None = None) -> FloatArray:
    """The log prior of each class: as often as seen, all alike, or as given; class weights multiply it."""
    shares = prior_shares(summary, priors) * class_weights(summary, class_weight)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares) - np.log(shares.sum()))


def prior_shares(summary: Summary, priors: Priors) -> FloatArray:
    """What the user asked for, in proportion."""
    if isinstance(priors, Mapping):
        shares = given(priors, summary.classes, "priors")
        if not (abs(shares.sum() - 1) <= 1e-6 and (shares >= 0).all()):
            raise OptionRefused(
                NamedOption("priors"),
                f" must be chances from 0 up that sum to 1, but the smallest is {shares.min():g} and they sum to "
                f"{shares.sum():g}.",
                expected="chances from 0 up that sum to 1",
            )
        return shares
    if priors == "uniform":
        return np.ones(len(summary.classes))
    if priors == "empirical":
        return summary.counts.astype(np.float64)
    raise OptionRefused.of_option("priors", "'empirical', 'uniform' or a chance for each class", priors)


def class_weights(summary: Summary, class_weight: Priors | None) -> FloatArray:
    """A factor for each class: one, what makes all classes weigh the same, or as given (one where not named)."""
    if class_weight is None:
        return np.ones(len(summary.classes))
    if isinstance(class_weight, Mapping):
        unnamed = {value: 1.0 for _, value in summary.classes}
        weights = given({**unnamed, **class_weight}, summary.classes, "class_weight")
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise OptionRefused(
                NamedOption("class_weight"),
                " must be finite, not negative, and positive for some class.",
                expected="finite factors from 0 up, one of them above zero",
            )
        return weights
    if class_weight == "balanced":
        return 1 / np.where(summary.counts > 0, summary.counts, 1)
    raise OptionRefused.of_option("class_weight", "'balanced' or a factor for each class", class_weight)


def given(numbers: Mapping[Any, float], classes: tuple[Key, ...], what: str) -> FloatArray:
    """One number for each class from a mapping that names them all and no others."""
    keyed = {key_of(label): float(number) for label, number in numbers.items()}
    known = [shown(key) for key in classes]
    for key in keyed:
        if key not in classes:
            raise OptionRefused(
                NamedOption(what),
                f": there is no class {key and shown(key)!r}.",
                advice=suggestion(str(key and key[1]), known),
                where=Location(value=key and shown(key)),
            )
    lacking = [shown(key) for key in classes if key not in keyed]
    if lacking:
        raise OptionRefused(
            NamedOption(what),
            f": nothing is said about class '{lacking[0]}'.",
            advice="Give a number for every class.",
            where=Location(value=lacking[0]),
            expected="a number for every class",
        )
    return np.array([keyed[key] for key in classes])
