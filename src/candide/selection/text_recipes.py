"""Which recipe suits a column of text: whichever says most about the label of texts it has not seen.

No recipe wins everywhere: pairs of words help where order matters, complements where classes are many, runs of
characters where texts are short and words rare. Each is a reading of the same text; calibration weighs them against
each other. Texts are cut once for each reading, and each is judged by the counts of all others: nothing is refitted.
The search is gone through once more without each fold of the rows, by what was tried already, wherever that is enough:
rows that judge a model must have had no part in how its texts are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.families.text import Text
from candide.families.words.options import AUTO, WEIGHTINGS, TextOptions
from candide.families.words.term_matrix import TermMatrix
from candide.model.options import Options
from candide.model.schema import Choice
from candide.selection.fit_calibration import Effort
from candide.selection.folds import CHOICES
from candide.selection.text_corpus import Corpus, Reading, TextRecipe
from candide.selection.trials import Trial, compared, preferred
from candide.selection.user_options import by_hand, is_open

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


class BestRecipe(NamedTuple):
    """The choice of a text column, and its readings as they are chosen without each fold of the rows."""

    choice: Choice
    without_folds: tuple[tuple[Text, ...], ...] = ()


def best_recipe(choice: Choice, column: Batch, folds: IntArray, user_options: Options, calibrates: bool) -> BestRecipe:
    """One text column's choice with the recipe that judges best, as far as the user left it open.

    Several readings are of use only where something `calibrates` them: their scores would count the same words twice.
    """
    family = choice.family
    assert isinstance(family, Text)
    options = wanted(choice, user_options)
    free = is_open(user_options.smoothing, choice.column)
    if not free and options == options.definite():
        return BestRecipe(choice)
    corpus = Corpus.of(family, column, folds, () if free else (family.smoothing,))
    several = calibrates and options.ngrams == AUTO and options.shortest == 1 and not options.characters
    find = layered if several else single
    search = Search(corpus)
    best = find(search, options)
    recipe: TextRecipe = best.what
    without = tuple(find(Search(corpus, jury), options).what.families for jury in range(CHOICES))
    corpus.keep_only([*recipe.families, *(one for families in without for one in families)])
    return BestRecipe(recipe.put_into(choice, compared(best, search.trials)), without)


def wanted(choice: Choice, user_options: Options) -> TextOptions:
    """What the user said of the recipe; all is open where nothing was said."""
    given = user_options.text.get(choice.column) if isinstance(user_options.text, Mapping) else user_options.text
    assert isinstance(choice.family, Text)
    plain = choice.family.options if by_hand(user_options.families, choice.column) == "guess" else OPEN
    return given or plain


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


def single(search: Search, options: TextOptions) -> Trial:
    """The best recipe of one reading: every weighting, model and length of runs that is open."""
    lengths = [options.longest]
    if options.ngrams == AUTO and options.shortest == 1:
        lengths = [3, 4, 5] if options.characters else [1, 2]
    for ngrams in lengths:
        cut = replace(options, ngrams=ngrams).definite()
        matrix = search.corpus.cut(cut)
        for model in models_of(options, search.corpus):
            readings = search.readings(replace(cut, model=model), weightings_of(options, matrix), matrix)
            search.each_tried([TextRecipe((reading,)) for reading in readings], AT_ONE_TEMPERATURE)
    return preferred(search.trials)


def layered(search: Search, options: TextOptions) -> Trial:
    """The best recipe of several readings, one block for each length of runs.

    Words come first, by each weighting; other models and pairs of words join the best two, since what suits words need
    not suit pairs. Then each further reading must be worth its place, and so must the first ones once there are others.
    """
    corpus = search.corpus
    plain = replace(options, weighting="counts" if options.weighting == AUTO else options.weighting).definite()
    matrix = corpus.cut(plain)
    first, *others = models_of(options, corpus)
    pairs, further = replace(plain, **PAIRS), list(further_readings(corpus, plain, matrix))
    ahead = [[one for one in further if one.characters], [pairs, *(one for one in further if not one.characters)]]
    readings = search.readings(replace(plain, model=first), weightings_of(options, matrix), matrix, ahead)
    leading = leading_two(search.each_tried([TextRecipe((reading,)) for reading in readings]))
    for model in others:
        readings = search.readings(replace(plain, model=model), list(map(first_weighting, leading)), matrix)
        leading = leading_two(search.each_extended(leading, readings))
    readings = search.readings(pairs, list(map(first_weighting, leading)), corpus.cut(pairs))
    best = simplest(search.each_extended(leading, readings))
    for one in further:
        (best,) = search.each_extended([best], search.readings(one, [first_weighting(best)], corpus.cut(one)))
    return search.reduced(best)


@dataclass(frozen=True, eq=False)
class Search:
    """Recipes that grow and shrink by a reading at a time as a jury of the rows says, and all that were tried."""

    corpus: Corpus
    jury: int = -1
    trials: list[Trial] = field(default_factory=list)

    def readings(
        self,
        options: TextOptions,
        weightings: Sequence[str],
        matrix: TermMatrix,
        ahead: Sequence[Sequence[TextOptions]] = (),
    ) -> list[Reading]:
        """One reading by each weighting, smoothed as the jury likes it; meanwhile texts are cut as will be asked."""
        return [by_jury[self.jury] for by_jury in self.corpus.readings(options, weightings, matrix, ahead)]

    def judged(self, recipes: Sequence[TextRecipe], effort: Effort = WEIGHED) -> Iterator[Trial]:
        """How well each recipe does, one after the other, tried side by side."""
        for trial in self.corpus.each_tried(recipes, effort):
            self.trials.append(trial.by(self.corpus.juries[self.jury]))
            yield self.trials[-1]

    def each_tried(self, recipes: Sequence[TextRecipe], effort: Effort = WEIGHED) -> list[Trial]:
        """How well several recipes do."""
        return list(self.judged(recipes, effort))

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
            for tried, trial in enumerate(self.judged([best.what.without(reading) for reading in left]), 1):
                if tried == len(left) or not is_worth(best, trial):
                    best = best if is_worth(best, trial) else trial
                    left = left[tried:]
                    break
        return best


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
