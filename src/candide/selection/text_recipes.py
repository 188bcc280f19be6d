"""Which recipe suits a column of text: whichever says most about the label of texts it has not seen.

No recipe wins everywhere: pairs of words help where order matters, complements where classes are many, runs of
characters where texts are short and words rare. Each is a reading of the same text; calibration weighs them against
each other. Texts are cut once for each reading, and each is judged by the counts of all others: nothing is refitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.grid import quantized_number
from candide.data.metrics import share_right
from candide.data.values import Key
from candide.families.base.family import Block
from candide.families.text import Text
from candide.families.words.documents import Documents
from candide.families.words.options import AUTO, WEIGHTINGS, TextOptions
from candide.families.words.term_lists import way_of_cutting
from candide.families.words.term_matrix import TermMatrix, WeighedTerms
from candide.kernels.one_weight import least_loss_by_one_weight
from candide.kernels.threads import in_parallel
from candide.model.options import Options
from candide.model.predictor import log_priors
from candide.model.schema import Choice
from candide.model.summary import Summary, grid_weights
from candide.selection.fit_calibration import Effort
from candide.selection.leave_one_out import LeaveOneOut, LeftOut, known_labels
from candide.selection.trials import Trial, calibrated_trial, compared, preferred
from candide.selection.user_options import by_hand, is_open

SMOOTHINGS = (1.0, 0.3, 0.1, 0.03)
FINER_SMOOTHINGS = (0.01, 0.003)
"""Where a text adds a fraction to each of its words, less of it makes up for a word that was never seen."""
SMOOTHINGS_OF_COMPLEMENTS = (1.0, 0.3, 0.1)

MOST_ROWS, LEAST_ROWS, MOST_CELLS, LETTERS_TO_JUDGE = 3000, 1000, 150_000, 4_000_000
"""Recipes are judged on at most so many rows, (row, class) cells and bytes of text, but on a thousand rows."""
ROWS_TO_SMOOTH, CELLS_TO_SMOOTH, PAIRS_TO_SMOOTH, FEWEST_TO_SMOOTH = 1000, 75_000, 400_000, 500
"""Smoothing, one number, on at most so many, and so many counts looked up, but on some hundred rows."""
AT_ONE_TEMPERATURE = Effort(bias=False, power=False, steps=10, close=1e-4, few=250)
WEIGHED = Effort(bias=False, power=True, steps=40, close=1e-5, few=250)

FEW_REPEATS = 0.05
"""Where fewer words than this share are repeats, counting them or not is the same."""
LONG, SHORT = 50, 60
"""Texts of more words on average have triples of words, those of fewer have runs of characters."""
MOST_LETTERS = 10_000_000
WORTH_A_READING = 0.005
"""By what share a further reading must lower the log loss."""
BY_CHANCE = 2.0
"""By so many nats, over all rows, the best of several recipes may seem better than a simpler one though it is not."""

OPEN = TextOptions(ngrams=AUTO, weighting=AUTO, model=AUTO)
PAIRS: dict[str, Any] = {"shortest": 2, "ngrams": 2}
TRIPLES: dict[str, Any] = {"shortest": 3, "ngrams": 3}
CHARACTERS: dict[str, Any] = {"words": "default", "characters": True, "shortest": 3, "ngrams": 5}


def best_recipe(choice: Choice, column: Batch, user_options: Options, calibrates: bool) -> Choice:
    """One text column's choice with the recipe that judges best, as far as the user left it open.

    Several readings are of use only where something `calibrates` them: their scores would count the same words twice.
    """
    family = choice.family
    assert isinstance(family, Text)
    options = wanted(choice, user_options)
    free = is_open(user_options.smoothing, choice.column)
    if not free and options == options.definite():
        return choice
    corpus = Corpus.of(family, column, () if free else (family.smoothing,))
    several = calibrates and options.ngrams == AUTO and options.shortest == 1 and not options.characters
    trials = list(layered(corpus, options) if several else single(corpus, options))
    best = trials[-1] if several else preferred(trials)
    recipe: TextRecipe = best.what
    corpus.keep_only(recipe)
    return recipe.put_into(choice, compared(best, trials))


def wanted(choice: Choice, user_options: Options) -> TextOptions:
    """What the user said of the recipe; all is open where nothing was said."""
    given = user_options.text.get(choice.column) if isinstance(user_options.text, Mapping) else user_options.text
    assert isinstance(choice.family, Text)
    plain = choice.family.options if by_hand(user_options.families, choice.column) == "guess" else OPEN
    return given or plain


@dataclass(frozen=True, eq=False)
class Reading:
    """One reading of a text column by the smoothing that suits it, and what it says of the first rows, left out."""

    family: Text
    terms: FloatArray
    lengths: FloatArray


@dataclass(frozen=True, eq=False)
class TextRecipe:
    """Readings that are added up."""

    readings: tuple[Reading, ...]

    def __str__(self) -> str:
        first = self.readings[0].family
        names = ", ".join(replace(reading.family, is_auxiliary=True).aspect for reading in self.readings)
        return f"{names} ({first.options.weighting})"

    @property
    def families(self) -> list[Text]:
        """The readings as families: the first tells the likelihood, the others stand beside it."""
        return [replace(reading.family, is_auxiliary=index > 0) for index, reading in enumerate(self.readings)]

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
    smoothings: tuple[float, ...]
    """Those to choose from; none where that is up to the model."""

    @classmethod
    def of(cls, family: Text, column: Batch, smoothings: tuple[float, ...]) -> Corpus:
        summary = Summary.of((), column)
        documents = family.view(column, column.names)
        long = LETTERS_TO_JUDGE * len(documents) // max(documents.bytes_long, 1)
        few = max(LEAST_ROWS, min(MOST_ROWS, MOST_CELLS // len(summary.classes), long))
        judging = LeaveOneOut.of(summary, column.rows(0, few))
        prior = np.tile(log_priors(summary, "empirical"), (len(judging.labels), 1))
        judging = replace(judging, prior=prior)  # without each row, its own class would always be the rarer of equals
        labels, weights = known_labels(summary, column), grid_weights(column)
        return cls(family, documents, labels, weights, judging, smoothings)

    @property
    def classes(self) -> tuple[Key, ...]:
        """Those that texts may have."""
        return self.judging.classes

    @property
    def judging_rows(self) -> int:
        """How many rows, the first ones, judge."""
        return len(self.judging.labels)

    def keep_only(self, recipe: TextRecipe) -> None:
        """Let go of what was cut for readings that nobody will ask for again."""
        wanted = {way_of_cutting(reading.family.options) for reading in recipe.readings}
        for way in set(self.documents.cuts) - wanted:
            del self.documents.cuts[way]

    def cut(self, options: TextOptions) -> TermMatrix:
        """The texts in terms."""
        return TermMatrix.of(self.documents, self.labels, self.weights, len(self.classes), options)

    def readings(
        self,
        options: TextOptions,
        weightings: Sequence[str],
        matrix: TermMatrix,
        ahead: Sequence[Sequence[TextOptions]] = (),
    ) -> list[Reading]:
        """One reading by each weighting, of texts cut once; meanwhile they are cut as will be asked for next."""

        def read(weighting: str) -> Reading:
            return self.reading(matrix.weighed(weighting), replace(options, weighting=weighting))

        def cut(several: Sequence[TextOptions]) -> None:
            for one in several:
                self.cut(one)

        work: list[partial[Reading] | partial[None]] = [partial(cut, several) for several in ahead]
        work += [partial(read, weighting) for weighting in weightings]
        found = [done for done in in_parallel(lambda one: one(), work) if done is not None]
        matrix.lists.weighings.clear()
        return found

    def reading(self, weighed: WeighedTerms, options: TextOptions) -> Reading:
        """The reading by the best smoothing."""
        amounts = self.smoothings or smoothings_of(options)
        amount = amounts[0] if len(amounts) == 1 else self.smoothing(weighed, options, amounts)
        family = replace(self.family, smoothing=amount, options=options, alphabet="")
        (said,) = weighed.left_out(options.model, (amount,), self.judging_rows)
        return Reading(family, said, weighed.lengths(self.judging_rows))

    def smoothing(self, weighed: WeighedTerms, options: TextOptions, amounts: Sequence[float]) -> float:
        """The best smoothing: accuracy first, log loss at one temperature among the nearly equal."""
        most = min(self.judging_rows, ROWS_TO_SMOOTH, max(FEWEST_TO_SMOOTH, CELLS_TO_SMOOTH // len(self.classes)))
        few = slice(0, max(min(most, FEWEST_TO_SMOOTH), weighed.rows_for(PAIRS_TO_SMOOTH, most)))
        labels, weights, prior = self.judging.labels[few], self.judging.row_weights[few], self.judging.prior[few]
        start, trials = prior if options.model != "complement" else 0.0, []
        for amount, said in zip(amounts, weighed.left_out(options.model, amounts, few.stop), strict=True):
            loss = quantized_number(least_loss_by_one_weight(said, prior, labels, weights))
            trials.append(Trial(amount, share_right(said + start, labels, weights), loss, float(weights.sum())))
        best: float = preferred(trials).what
        return best

    def tried(self, recipe: TextRecipe, effort: Effort = WEIGHED) -> Trial:
        """How well the readings judge together, calibrated."""
        blocks = [Block(family, (family.column,)) for family in recipe.families]
        return calibrated_trial(recipe, self.left_out(recipe.readings), self.classes, blocks, effort)

    def left_out(self, readings: Sequence[Reading]) -> LeftOut:
        """What readings say of the first rows, each left out."""
        terms = np.stack([reading.terms for reading in readings])
        lengths, few = np.stack([reading.lengths for reading in readings]), slice(0, terms.shape[1])
        labels, weights, prior = self.judging.labels[few], self.judging.row_weights[few], self.judging.prior[few]
        likely = any(reading.family.is_likelihood for reading in readings)
        return LeftOut(labels, weights, prior, terms, lengths, np.zeros_like(lengths), likely)


def smoothings_of(options: TextOptions) -> tuple[float, ...]:
    """The smoothings to try, the most first."""
    if options.model == "complement":
        return SMOOTHINGS_OF_COMPLEMENTS
    return SMOOTHINGS + FINER_SMOOTHINGS if options.unit > 1 else SMOOTHINGS


def models_of(options: TextOptions, corpus: Corpus) -> tuple[str, ...]:
    """The models to try: as given, or complements too where they are no mirror image."""
    several = options.model == AUTO and len(corpus.classes) > 2
    return ("multinomial", "complement") if several else (options.definite().model,)


def weightings_of(options: TextOptions, matrix: TermMatrix) -> tuple[str, ...]:
    """The weightings to try: as given, or all that differ on these texts."""
    if options.weighting != AUTO:
        return (options.weighting,)
    if options.model in ("bernoulli", "poisson"):
        return (options.definite().weighting,)
    words = int(matrix.rows.amounts.sum())
    return ("unit", "presence") if words - len(matrix.rows.terms) < FEW_REPEATS * words else WEIGHTINGS[::-1]


def single(corpus: Corpus, options: TextOptions) -> Iterator[Trial]:
    """Recipes of one reading: every weighting, model and length of runs that is open."""
    lengths = [options.longest]
    if options.ngrams == AUTO and options.shortest == 1:
        lengths = [3, 4, 5] if options.characters else [1, 2]
    for ngrams in lengths:
        cut = replace(options, ngrams=ngrams).definite()
        matrix = corpus.cut(cut)
        for model in models_of(options, corpus):
            readings = corpus.readings(replace(cut, model=model), weightings_of(options, matrix), matrix)
            yield from (corpus.tried(TextRecipe((reading,)), AT_ONE_TEMPERATURE) for reading in readings)


def layered(corpus: Corpus, options: TextOptions) -> Iterator[Trial]:
    """Recipes of several readings, one block for each length of runs; the last is the best.

    Words come first, by each weighting; other models and pairs of words join the best two, since what suits words need
    not suit pairs. Then each further reading must be worth its place, and so must the first ones once there are others.
    """
    plain = replace(options, weighting="counts" if options.weighting == AUTO else options.weighting).definite()
    matrix = corpus.cut(plain)
    search = Search(corpus)
    first, *others = models_of(options, corpus)
    pairs, further = replace(plain, **PAIRS), list(further_readings(corpus, plain, matrix))
    ahead = [[one for one in further if one.characters], [pairs, *(one for one in further if not one.characters)]]
    readings = corpus.readings(replace(plain, model=first), weightings_of(options, matrix), matrix, ahead)
    leading = leading_two(search.each_tried([TextRecipe((reading,)) for reading in readings]))
    for model in others:
        readings = corpus.readings(replace(plain, model=model), list(map(first_weighting, leading)), matrix)
        leading = leading_two(search.each_extended(leading, readings))
    readings = corpus.readings(pairs, list(map(first_weighting, leading)), corpus.cut(pairs))
    best = simplest(search.each_extended(leading, readings))
    for one in further:
        (best,) = search.each_extended([best], corpus.readings(one, [first_weighting(best)], corpus.cut(one)))
    yield from search.given_up(search.reduced(best))


@dataclass(frozen=True, eq=False)
class Search:
    """Recipes that grow and shrink by a reading at a time, and all that were tried."""

    corpus: Corpus
    trials: list[Trial] = field(default_factory=list)

    def each_tried(self, recipes: Sequence[TextRecipe]) -> list[Trial]:
        """How well several recipes do, side by side."""
        found = list(in_parallel(self.corpus.tried, recipes))
        self.trials.extend(found)
        return found

    def each_extended(self, leading: Sequence[Trial], more: Sequence[Reading]) -> list[Trial]:
        """Each of some recipes with a reading more, where it is worth it."""
        trials = self.each_tried([best.what + reading for best, reading in zip(leading, more, strict=True)])
        return [trial if is_worth(trial, best) else best for trial, best in zip(trials, leading, strict=True)]

    def reduced(self, best: Trial) -> Trial:
        """A recipe without those readings that later ones have made superfluous; one of words stays.

        What is tried side by side is as if it were tried in turn: once one is dropped, the next are tried without it.
        """
        left: Sequence[Reading] = best.what.readings[:-1]
        while left:
            left = [reading for reading in left if best.what.without(reading).has_words]
            trials = in_parallel(self.corpus.tried, [best.what.without(reading) for reading in left])
            for tried, trial in enumerate(trials, 1):
                self.trials.append(trial)
                if tried == len(left) or not is_worth(best, trial):
                    best = best if is_worth(best, trial) else trial
                    left = left[tried:]
                    break
        return best

    def given_up(self, best: Trial) -> Iterator[Trial]:
        """All that were tried, the best last."""
        yield from (trial for trial in self.trials if trial is not best)
        yield best


def leading_two(words: Sequence[Trial]) -> list[Trial]:
    """The best of the recipes, and the best of the others."""
    best = simplest(words)
    others = [trial for trial in words if trial is not best]
    return [best, simplest(others)] if others else [best]


def first_weighting(trial: Trial) -> str:
    """How the first reading of a recipe weighs its words."""
    recipe: TextRecipe = trial.what
    return recipe.readings[0].family.options.weighting


def further_readings(corpus: Corpus, plain: TextOptions, matrix: TermMatrix) -> Iterator[TextOptions]:
    """What else might be read, as far as texts of such a length make it worthwhile and affordable."""
    words = float(matrix.rows.amounts.sum()) / max(len(matrix), 1)
    if words > LONG:
        yield replace(plain, **TRIPLES)
    if words < SHORT and corpus.documents.bytes_long < MOST_LETTERS:
        yield replace(plain, **CHARACTERS)


def simplest(trials: Sequence[Trial]) -> Trial:
    """Of the recipes within one standard error of the most accurate, the first that is as good as any."""
    most = max(trials, key=lambda trial: trial.accuracy)
    return least_loss([trial for trial in trials if trial.accuracy >= most.accuracy - most.standard_error])


def least_loss(trials: Sequence[Trial]) -> Trial:
    """The first of those whose log loss is the least but for chance: the simpler of near-equals stand first.

    >>> least_loss([Trial("simple", 0.9, 0.31, 100), Trial("rich", 0.9, 0.30, 100)]).what
    'simple'
    """
    least = min(trials, key=lambda trial: trial.loss)
    return next(trial for trial in trials if trial.loss <= least.loss + BY_CHANCE / max(trial.rows, 1.0))


def is_worth(more: Trial, less: Trial) -> bool:
    """Whether a reading more lowers the log loss enough, beyond chance, and does not cost accuracy."""
    enough = max(WORTH_A_READING * less.loss, BY_CHANCE / max(less.rows, 1.0))
    return more.loss <= less.loss - enough and more.accuracy >= less.accuracy - less.standard_error
