"""Text: how often which words occur, read straight from the strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from candide.data.advice import PythonCode
from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import Location, OptionRefused
from candide.data.texts import text_in_row
from candide.families.base.block_rows import BlockRows, Learned
from candide.families.base.block_scores import BlockScores
from candide.families.base.competing import TEXT
from candide.families.base.core import Drawn
from candide.families.base.explaining import MISSING, Silence, Term, shown_number
from candide.families.base.family import Family
from candide.families.base.learning_in_part import LearnedInPart, LearnedInSteps
from candide.families.base.likelihood import EvidenceLimits
from candide.families.base.profile import EVENTS, Profile
from candide.families.base.streaming import BY_WORDS
from candide.families.words import alphabet
from candide.families.words.documents import Documents
from candide.families.words.informative_words import said_of, telling_rows, word_information
from candide.families.words.leave_one_out import TallyIndex, TextsLeftOut
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters, counting_unit, unigrams
from candide.families.words.term_lists import is_cut, lengths_of
from candide.families.words.term_matrix import TermMatrix
from candide.families.words.word_basis import count_bases, counts_of, unspoken
from candide.families.words.word_places import places
from candide.families.words.word_tally_builder import WordTallyBuilder
from candide.kernels.word_scoring import Weights
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import FINEST, amounts, exceeding
from candide.statistics.word_tally import WordTally

LEAST_WEIGHT, LARGEST_OF_COMPLEMENTS, LARGEST_POWER = 1e-4, 3.0, 2.0


@dataclass(frozen=True)
class Text(Family[WordTally, WordTallyBuilder, Documents, TextParameters]):
    """The words of one column, counted and scored in one pass over its bytes; `options` is the recipe.

    Each text column is a block of its own with its own vocabulary: `column` tells the blocks apart. Words never seen
    say nothing; a missing text says nothing either, while an empty one is a document without words. `alphabet` names
    the table of characters that words are cut by, so that tallies made by different ones are not added.

    A text may be read more than once: where it `is_auxiliary`, another block of the column tells how likely its words
    are, and this one only adds a score for calibration to weigh, as for the pairs of words beside the words.

    A sampled text holds `sampled_words` words in no order: how long texts are is not part of the model.
    """

    smoothing: float = 1.0
    column: str = ""
    options: TextOptions = field(default_factory=TextOptions)
    sampled_words: int = 100
    alphabet: str = ""
    is_auxiliary: bool = field(default=False, metadata={"stored": "beside"})
    statistic = WordTally
    is_read_off = False
    reads = TEXT
    has_recipe = True
    adds_counts = True
    has_length = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.options, Mapping):
            object.__setattr__(self, "options", TextOptions(**self.options))
        object.__setattr__(self, "options", self._read_as_counted(self.options.definite()))
        here = alphabet.version(self.options.words)
        if self.alphabet not in ("", here):
            raise OptionRefused(
                f"This text was counted with the alphabet '{self.alphabet}', but here is '{here}': words might be cut "
                "differently.",
                advice="Count it again, or use the Candide or Python it was made with.",
                where=Location(value=self.alphabet),
                expected=here,
            )
        object.__setattr__(self, "alphabet", here)

    def _read_as_counted(self, options: TextOptions) -> TextOptions:
        """The recipe by which a text was counted when every script was taken to be written with spaces."""
        first = options.words == "default" and self.alphabet == alphabet.version("spaced")
        return replace(options, words="spaced") if first else options

    def reading(self, column: str, options: TextOptions | None = None) -> Self:
        """The same family for one column, by another recipe where one is given."""
        return replace(self, column=column, options=options or self.options, alphabet="")

    def asked_for(self, column: str, missing_is_value: bool, recipe: TextOptions | None) -> Self:
        return self.reading(column, recipe)

    @property
    def counted_as(self) -> Self:
        """Which terms are counted and what each occurrence adds; how counts are judged is another matter."""
        counts = replace(self.options, model="multinomial", stop_words=0, min_count=1, max_terms=None)
        return replace(self, smoothing=Text.smoothing, options=counts, sampled_words=100, is_auxiliary=False)

    @property
    def is_likelihood(self) -> bool:
        """Complement is a score: its prior and its likelihood are another matter."""
        return self.options.model != "complement" and not self.is_auxiliary

    @property
    def evidence_limits(self) -> EvidenceLimits:
        """A word says at most what its counts say, however long or short its text is.

        So the weight is one at most, and no power makes more of a word than that: an amount that is one over the length
        may be multiplied by the length, others may not. Complements say less than words, so they may be raised.
        """
        most = LARGEST_OF_COMPLEMENTS if self.options.model == "complement" else 1.0
        return EvidenceLimits(LEAST_WEIGHT, most, -1.0 if self.options.unit > 1 else 0.0, LARGEST_POWER)

    @property
    def can_be_refined(self) -> bool:
        """Where all words speak, and by their names."""
        return self.options.every_term_speaks and not self.options.hashed

    @property
    def live(self) -> str:
        """Where every word met speaks, and as its counts say: no thresholds, no lists, no other event model."""
        recipe = self.options
        return BY_WORDS if recipe.every_term_speaks and recipe.model in ("multinomial", "complement") else ""

    @property
    def fades(self) -> bool:
        return self.options.model == "multinomial" and self.options.weighting == "counts"

    @property
    def aspect(self) -> str:
        """What a further reading looks at.

        >>> pairs = TextOptions(shortest=2, ngrams=2)
        >>> Text(options=pairs, is_auxiliary=True).aspect, Text(options=pairs).aspect
        ('2-grams', '')
        >>> letters = TextOptions(characters=True, shortest=3, ngrams=5, model="complement")
        >>> Text(options=letters, is_auxiliary=True).aspect
        'complement, characters, 3 to 5-grams'
        """
        if not self.is_auxiliary:
            return ""
        recipe = self.options
        first = f"{recipe.shortest} to " if recipe.shortest < recipe.longest else ""
        parts = {
            recipe.model: recipe.model != "multinomial",
            "characters": recipe.characters,
            f"{first}{recipe.longest}-grams": recipe.longest > 1,
        }
        return ", ".join(part for part, told in parts.items() if told) or "words"

    def builder(self, columns: tuple[str, ...], classes: int) -> WordTallyBuilder:
        refuse_several(columns)
        return WordTallyBuilder(self.options, classes)

    def builder_over(self, seen: WordTally) -> WordTallyBuilder:
        return WordTallyBuilder.over(self.options, seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> Documents:
        return self._documents(batch, columns, strict=True)

    def view(self, batch: Batch, columns: tuple[str, ...]) -> Documents:
        return self._documents(batch, columns, strict=False)

    def _documents(self, batch: Batch, columns: tuple[str, ...], strict: bool) -> Documents:
        refuse_several(columns)
        (name,), lowered = columns, self.options.lowered_first
        raw = batch.columns.raw(batch.position(name))

        def documents() -> Documents:
            found = Documents.of(raw, name, strict, lowered)
            return found if batch.readings is None else replace(found, is_kept=True)

        return batch.once(("documents", name, strict, lowered), documents)

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> Documents:
        return self.read(batch, columns)

    def learn(self, builder: WordTallyBuilder, values: Documents, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(values, labels, weights)

    def held(self, seen: WordTally, columns: tuple[str, ...]) -> BoolArray:
        return np.array([seen.documents.any()])

    def memory(self, columns: int, classes: int) -> int:
        return 8 * classes + (8 << self.options.hashed if self.options.hashed else 0)

    def impossible(self, seen: WordTally, columns: tuple[str, ...], rows: Tally) -> str:
        if exceeding(seen.documents, seen.bits, rows.units[0], rows.bits).any():
            return f"more texts in '{columns[0]}' than rows"
        texts, counts = seen.documents[seen.words_seen.labels], seen.words_seen.counts
        if self.options.weighting in ("presence", "unit"):  # where a text adds one at most to each of its words
            stray = exceeding(counts, FINEST if self.options.unit > 1 else seen.bits, texts, seen.bits)
        else:
            stray = texts == 0
        return f"words of '{columns[0]}' without texts" if stray.any() else ""

    def fit(self, seen: WordTally, columns: tuple[str, ...]) -> TextParameters:
        parameters = TextParameters.of(seen, self.options, float(self.smoothing))
        parameters.score_weights  # noqa: B018  (made once, before threads ask for it)
        return parameters

    def score(self, parameters: TextParameters, values: Documents, joint: FloatArray) -> None:
        parameters.add_scores(values, parameters.score_weights, joint)

    def log_likelihood(self, parameters: TextParameters, values: Documents, joint: FloatArray) -> None:
        if not self.is_auxiliary:
            parameters.add_scores(values, parameters.likelihood_weights, joint)

    def leave_one_out(self, seen: WordTally, columns: tuple[str, ...]) -> TextsLeftOut:
        """Each text is cut once, whatever is asked of it."""
        index = TallyIndex.of(seen, self.options)
        return TextsLeftOut(seen, index, float(self.smoothing), self._models, self.is_auxiliary)

    def leave_each_out(
        self, rows: BlockRows[Documents], columns: tuple[str, ...], classes: int, first: int
    ) -> BlockScores:
        """The texts are counted by their numbers of terms, so that none is cut that was cut before."""
        weighed = self._matrix(rows, classes).weighed(self.options.weighting)
        return weighed.assess(float(self.smoothing), self._models, self.is_auxiliary, first)

    def learned_in_part(
        self, rows: BlockRows[Documents], columns: tuple[str, ...], classes: int, learned: Learned
    ) -> LearnedInPart:
        """By numbers of terms as well."""
        return self._matrix(rows, classes).learned_in_part(learned, float(self.smoothing))

    def learned_in_steps(
        self, rows: BlockRows[Documents], columns: tuple[str, ...], classes: int, learned: Learned, steps: Sequence[int]
    ) -> LearnedInSteps:
        """Each text is learned once for all steps, where that is all it takes."""
        matrix = self._matrix(rows, classes)
        found = matrix.learned_in_steps(learned, steps, float(self.smoothing))
        return found or super().learned_in_steps(rows, columns, classes, learned, steps)

    def counted_before(self, rows: BlockRows[Documents], columns: tuple[str, ...], classes: int) -> WordTally | None:
        """The counts of texts that were cut before, where that is all it takes."""
        if rows.batch is None or not is_cut(rows.values, self.options):
            return None
        self.read(rows.batch, columns)  # refuses what is no text
        return self._matrix(rows, classes).tally()

    def _matrix(self, rows: BlockRows[Documents], classes: int) -> TermMatrix:
        return TermMatrix.of(rows.values, rows.labels, rows.weights, classes, self.options)

    @property
    def _models(self) -> tuple[str, ...]:
        """The model that scores, and another for the likelihood where the score is none."""
        both = not self.is_likelihood and not self.is_auxiliary
        return (self.options.model, "multinomial") if both else (self.options.model,)

    def evidence_length(self, parameters: TextParameters | None, values: Documents) -> FloatArray:
        """How much the terms of each text weigh, known or not: how many they are, or sqrt(n) of n scaled to one."""
        return lengths_of(values, self.options)

    def score_with_length(
        self, parameters: TextParameters, values: Documents, shape: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        return parameters.score_with_length(values, shape)

    def assess(self, parameters: TextParameters, values: Documents, shape: tuple[int, int]) -> BlockScores:
        """Each text is cut once, whatever is asked of it."""
        tables = [parameters.score_weights]
        if not self.is_likelihood and not self.is_auxiliary:
            tables.append(parameters.likelihood_weights)
        found = parameters.assess(values, tables, shape)
        likelihood = np.zeros(shape) if self.is_auxiliary else found.scores[-1]
        return BlockScores(found.scores[0], likelihood, found.length, parameters.log_unseen(found.unknown))

    def terms(
        self, parameters: TextParameters, values: Documents, row: Batch, columns: tuple[str, ...], seen: WordTally
    ) -> list[Term]:
        weights = parameters.score_weights
        if not len(values) or (values.pieces[0].missing.size and values.pieces[0].missing[0]):
            return []
        spoken, tokens = parameters.spoken(values)
        name, text = self._name(columns), text_in_row(row, columns[0])
        lies = places(parameters, values, text or "")
        terms = []
        for (number, amount), counted in zip(spoken, count_bases(parameters, spoken), strict=True):
            word, said = parameters.word(number), amount * parameters.says(number, weights)
            value = "yes" if self.options.model == "bernoulli" else shown_number(amount)
            run, words = lies[number]
            terms.append(Term(f"{name}: {word}", value, said, counted, columns[0], word, run=run, words=words))
        if self.options.model == "bernoulli":
            return with_absence(terms, weights, name)
        if self.options.model == "poisson":
            terms = [exposed(term, amount, tokens) for term, (_, amount) in zip(terms, spoken, strict=True)]
            terms.append(Term(f"{name}: length", f"{tokens} words", tokens * weights.rate))
        return terms

    def _name(self, columns: tuple[str, ...]) -> str:
        """The column, and what is read of it where others read it too."""
        return f"{columns[0]} ({self.aspect})" if self.is_auxiliary else columns[0]

    def profiles(
        self, parameters: TextParameters, seen: WordTally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        parameters = parameters.in_order
        rows = telling_rows(parameters, prior)
        return [
            Profile(
                self._name(columns),
                EVENTS,
                tuple(parameters.word(row) for row in rows.tolist()),
                said_of(parameters, rows),
                counts=counts_of(parameters, rows),
                information=word_information(parameters, prior),
                vocabulary=len(parameters),
            )
        ]

    def typical_length(self, seen: WordTally) -> float:
        """The mean weight of a text's words: how many there are, where they are counted as they are."""
        words = seen.class_totals.sum(dtype=np.float64) / counting_unit(self.options, seen.bits)
        texts = float(amounts(seen.documents, seen.bits).sum())
        return float(words / texts) if texts else 0.0

    def silent(
        self,
        parameters: TextParameters,
        values: Documents,
        row: Batch,
        columns: tuple[str, ...],
        seen: WordTally,
    ) -> list[Silence]:
        """A missing text; else the words that were never learned, or were left out of what was."""
        if self.is_auxiliary or not len(values):
            return []
        if values.pieces[0].missing.size and values.pieces[0].missing[0]:
            return [Silence(columns[0], "", MISSING)]
        return unspoken(parameters, values, columns[0], seen)

    def sample(self, parameters: TextParameters, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        parameters = parameters.in_order
        words = unigrams(parameters)
        gap = "" if self.options.characters else " "
        if not len(words):
            return [[""] * rows]
        said = parameters.shares(label, parameters.likelihood_weights)[words]
        texts = []
        for _ in range(rows):
            if self.options.model == "bernoulli":
                drawn = words[rng.random(len(words)) < 1 / (1 + np.exp(-said))]
            else:
                shares = np.exp(said - said.max())
                drawn = rng.choice(words, self.sampled_words, p=shares / shares.sum())
            texts.append(gap.join(parameters.word(int(row)) for row in drawn))
        return [texts]


def refuse_several(columns: tuple[str, ...]) -> None:
    """Raise unless the block has one column."""
    if len(columns) != 1:
        raise OptionRefused(
            f"A text block holds one column, but it was given {len(columns)}.",
            advice=("Give each its own: ", PythonCode("Text(column='title')"), "."),
            expected="one column",
        )


def with_absence(terms: list[Term], weights: Weights, name: str) -> list[Term]:
    """What each word that is there says, and what the absence of all others says, in one term."""
    missing, found = weights.constant.copy(), []
    held = np.zeros(len(missing), dtype=np.int64)
    for term in terms:
        certain = np.isposinf(term.log_likelihood)
        held += certain
        found.append(replace(term, log_likelihood=np.where(certain, 0.0, term.log_likelihood)))
    if weights.certain.size:
        missing = np.where(held < weights.certain, -np.inf, missing)
    return [*found, Term(f"{name}: all words", "absent", missing)]


def exposed(term: Term, amount: float, tokens: int) -> Term:
    """A Poisson term with the factors that are the same for every class: tokens^n / n!."""
    from scipy.special import gammaln

    same = amount * np.log(tokens) - gammaln(amount + 1)
    return replace(term, log_likelihood=term.log_likelihood + same)
