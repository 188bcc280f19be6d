"""A column of texts that recipes are tried on, and what several juries of its rows make of each.

Each reading and each recipe is judged row by row, once. A jury is all rows that judge, or all but a fold of them: what
it thinks of a trial is read off the rows, so that choices can be made anew without each fold for next to nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.grid import first_largest
from candide.data.values import Key
from candide.families.base.family import Block
from candide.families.text import Text
from candide.families.words.documents import Documents
from candide.families.words.options import TextOptions
from candide.families.words.term_lists import TermLists, way_of_cutting
from candide.families.words.term_matrix import TermMatrix, WeighedTerms
from candide.kernels.one_weight import weight_of_least_loss
from candide.kernels.threads import in_parallel
from candide.model.predictor import log_normalised, log_priors
from candide.model.schema import Choice
from candide.model.summary import Summary, grid_weights
from candide.selection.fit_calibration import Effort
from candide.selection.folds import FEW_ROWS, choice_folds
from candide.selection.leave_one_out import LeaveOneOut, LeftOut, known_labels
from candide.selection.trials import Trial, calibrated_trial, measured, preferred

SMOOTHINGS = (1.0, 0.3, 0.1, 0.03)
FINER_SMOOTHINGS = (0.01, 0.003)
"""Where a text adds a fraction to each of its words, less of it makes up for a word that was never seen."""
SMOOTHINGS_OF_COMPLEMENTS = (1.0, 0.3, 0.1)

MOST_ROWS, LEAST_ROWS, MOST_CELLS, LETTERS_TO_JUDGE = 3000, 1000, 150_000, 4_000_000
"""Recipes are judged on at most so many rows, (row, class) cells and bytes of text, but on a thousand rows."""
ROWS_TO_SMOOTH, CELLS_TO_SMOOTH, PAIRS_TO_SMOOTH, FEWEST_TO_SMOOTH = 1000, 75_000, 400_000, 500
"""Smoothing, one number, on at most so many, and so many counts looked up, but on some hundred rows."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One reading of a text column by the smoothing that suits it, and what it says of the first rows, left out."""

    family: Text
    terms: FloatArray
    lengths: FloatArray


ReadingByJury = tuple[Reading, ...]
"""The reading that each jury takes, which differ in smoothing; juries that agree share one."""


@dataclass(frozen=True, eq=False)
class TextRecipe:
    """Readings that are added up."""

    readings: tuple[Reading, ...]

    def __str__(self) -> str:
        first = self.readings[0].family
        names = ", ".join(replace(reading.family, is_auxiliary=True).aspect for reading in self.readings)
        return f"{names} ({first.options.weighting})"

    @property
    def families(self) -> tuple[Text, ...]:
        """The readings as families: the first tells the likelihood, the others stand beside it."""
        return tuple(replace(reading.family, is_auxiliary=index > 0) for index, reading in enumerate(self.readings))

    def __add__(self, more: Reading) -> TextRecipe:
        return TextRecipe((*self.readings, more))

    @property
    def has_words(self) -> bool:
        """Whether single words are read."""
        return any(reading.family.options.longest == 1 for reading in self.readings)

    def without(self, reading: Reading) -> TextRecipe:
        """The recipe with a reading less."""
        return TextRecipe(tuple(one for one in self.readings if one is not reading))

    def put_into(self, choice: Choice, reason: str) -> Choice:
        """The choice with these readings."""
        main, *further = self.families
        return replace(choice, family=main, auxiliary=tuple(further), reason=f"{choice.reason}; {self}: {reason}")


@dataclass(frozen=True, eq=False)
class Corpus:
    """A column of texts that recipes are tried on: all are counted, and the first of them are left out."""

    family: Text
    documents: Documents
    labels: IntArray
    weights: AnyArray
    judging: LeaveOneOut
    """The first rows, which judge."""
    juries: tuple[BoolArray, ...]
    """Which of these rows decide: all but those of each fold, and last of all everyone."""
    smoothings: tuple[float, ...]
    """Those to choose from; none where that is up to the model."""
    read: dict[TextOptions, ReadingByJury] = field(default_factory=dict)
    tried: dict[tuple[Effort, tuple[Reading, ...]], Trial] = field(default_factory=dict)
    """What was read and tried before, for whichever jury."""

    @classmethod
    def of(cls, family: Text, column: Batch, folds: IntArray, smoothings: tuple[float, ...]) -> Corpus:
        """The texts of a column, of which each row lies in a fold."""
        summary = Summary.of((), column)
        documents = family.view(column, column.names)
        long = LETTERS_TO_JUDGE * len(documents) // max(documents.bytes_long, 1)
        few = max(LEAST_ROWS, min(MOST_ROWS, MOST_CELLS // len(summary.classes), long))
        judging = LeaveOneOut.of(summary, column.rows(0, few))
        prior = np.tile(log_priors(summary, "empirical"), (len(judging.labels), 1))
        judging = replace(judging, prior=prior)  # without each row, its own class would always be the rarer of equals
        labels, weights = known_labels(summary, column), grid_weights(column)
        juries = juries_of(folds[:few], judging.row_weights)
        return cls(family, documents, labels, weights, judging, juries, smoothings)

    @property
    def classes(self) -> tuple[Key, ...]:
        """Those that texts may have."""
        return self.judging.classes

    @property
    def judging_rows(self) -> int:
        """How many rows, the first ones, judge."""
        return len(self.judging.labels)

    def keep_only(self, families: Sequence[Text]) -> None:
        """Let go of what was cut for readings that nobody will ask for again."""
        wanted = dict[Hashable, set[str]]()
        for family in families:
            wanted.setdefault(way_of_cutting(family.options), set()).add(family.options.weighting)
        for way in set(self.documents.cuts) - set(wanted):
            del self.documents.cuts[way]
        for way, kept in self.documents.cuts.items():
            cast(TermLists, kept).keep_only(wanted[way])

    def cut(self, options: TextOptions) -> TermMatrix:
        """The texts in terms."""
        return TermMatrix.of(self.documents, self.labels, self.weights, len(self.classes), options)

    def readings(
        self,
        options: TextOptions,
        weightings: Sequence[str],
        matrix: TermMatrix,
        ahead: Sequence[Sequence[TextOptions]] = (),
    ) -> list[ReadingByJury]:
        """One reading by each weighting, of texts cut once; meanwhile they are cut as will be asked for next."""
        asked = [replace(options, weighting=weighting) for weighting in weightings]
        new = [one for one in dict.fromkeys(asked) if one not in self.read]

        def read(one: TextOptions) -> None:
            self.read[one] = self.reading(matrix.weighed(one.weighting), one)

        def cut(several: Sequence[TextOptions]) -> None:
            for one in several:
                self.cut(one)

        if new:
            work = [partial(cut, several) for several in ahead] + [partial(read, one) for one in new]
            for _ in in_parallel(lambda one: one(), work):
                pass
        return [self.read[one] for one in asked]

    def reading(self, weighed: WeighedTerms, options: TextOptions) -> ReadingByJury:
        """The reading by the smoothing that each jury takes for the best."""
        amounts = self.smoothings or smoothings_of(options)
        best = amounts * len(self.juries) if len(amounts) == 1 else self.smoothing(weighed, options, amounts)
        different = tuple(dict.fromkeys(best))
        said = weighed.left_out(options.model, different, self.judging_rows)
        family, lengths = replace(self.family, options=options, alphabet=""), weighed.lengths(self.judging_rows)
        found = {
            amount: Reading(replace(family, smoothing=amount), terms, lengths)
            for amount, terms in zip(different, said, strict=True)
        }
        return tuple(found[amount] for amount in best)

    def smoothing(self, weighed: WeighedTerms, options: TextOptions, amounts: Sequence[float]) -> tuple[float, ...]:
        """The best smoothing by each jury: accuracy first, log loss at one temperature among the nearly equal.

        Where rows are many, everyone's is taken by all.
        """
        most = min(self.judging_rows, ROWS_TO_SMOOTH, max(FEWEST_TO_SMOOTH, CELLS_TO_SMOOTH // len(self.classes)))
        few = slice(0, max(min(most, FEWEST_TO_SMOOTH), weighed.rows_for(PAIRS_TO_SMOOTH, most)))
        labels, weights, prior = self.judging.labels[few], self.judging.row_weights[few], self.judging.prior[few]
        start, trials = prior if options.model != "complement" else 0.0, []
        for amount, said in zip(amounts, weighed.left_out(options.model, amounts, few.stop), strict=True):
            weight = weight_of_least_loss(said, prior, labels, weights)
            answered = first_largest(said + start)
            trials.append(measured(amount, log_normalised(prior + weight * said, prior), labels, weights, answered))
        deciding = self.juries if len(self.labels) <= FEW_ROWS else self.juries[-1:] * len(self.juries)
        return tuple(preferred([trial.by(jury[few]) for trial in trials]).what for jury in deciding)

    def each_tried(self, recipes: Sequence[TextRecipe], effort: Effort) -> Iterator[Trial]:
        """How well the readings of each recipe judge together, calibrated, side by side."""
        return in_parallel(partial(self.trial, effort), recipes)

    def trial(self, effort: Effort, recipe: TextRecipe) -> Trial:
        """How well the readings judge together, calibrated."""
        key = effort, recipe.readings
        if key not in self.tried:
            blocks = [Block(family, (family.column,)) for family in recipe.families]
            self.tried[key] = calibrated_trial(recipe, self.left_out(recipe.readings), self.classes, blocks, effort)
        return self.tried[key]

    def left_out(self, readings: Sequence[Reading]) -> LeftOut:
        """What readings say of the first rows, each left out."""
        terms = np.stack([reading.terms for reading in readings])
        lengths, few = np.stack([reading.lengths for reading in readings]), slice(0, terms.shape[1])
        labels, weights, prior = self.judging.labels[few], self.judging.row_weights[few], self.judging.prior[few]
        likely = any(reading.family.is_likelihood for reading in readings)
        return LeftOut(labels, weights, prior, terms, lengths, np.zeros_like(lengths), likely)


def juries_of(folds: IntArray, weights: FloatArray) -> tuple[BoolArray, ...]:
    """Which rows decide without each fold, and last of all everyone; no jury is without weight.

    >>> [jury.tolist() for jury in juries_of(np.array([0, 1, 5]), np.ones(3))][-2:]
    [[True, True, True], [True, True, True]]
    """
    everyone, found = np.ones(len(folds), dtype=np.bool_), list[BoolArray]()
    for here in choice_folds(folds):
        others = everyone.copy()
        others[here] = False
        found.append(others if weights[others].sum() > 0 else everyone)
    return (*found, everyone)


def smoothings_of(options: TextOptions) -> tuple[float, ...]:
    """The smoothings to try, the most first."""
    if options.model == "complement":
        return SMOOTHINGS_OF_COMPLEMENTS
    return SMOOTHINGS + FINER_SMOOTHINGS if options.unit > 1 else SMOOTHINGS
