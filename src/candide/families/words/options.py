"""How text is read: which words, how they are weighed, which model judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from candide.data.advice import NamedOption, SetOption
from candide.data.errors import Location, OptionRefused, suggestion

WORDS = ("default", "spaced", "sklearn")
AS_SKLEARN = SetOption("words", "sklearn")
AUTO = "auto"
WEIGHTINGS = ("counts", "presence", "log", "unit")
MODELS = ("multinomial", "complement", "bernoulli", "poisson")
LONGEST_RUN_OF_WORDS = 3
LONGEST_RUN_OF_CHARACTERS = 8
MOST_HASHED_BITS = 28


@dataclass(frozen=True)
class TextOptions:
    """The recipe of a text block.

    Parameters
    ----------
    words : "default", "spaced" or "sklearn"
        A word is a run of letters, digits, underscores and combining marks of any length. Where a script is written
        without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese, ...), and for emoji, each character with its marks
        is a word, and so are any two that stand together. "spaced" trusts spaces in every script, as for texts
        that were cut into words beforehand, and takes no emoji for words. "sklearn" takes what scikit-learn's
        CountVectorizer does: two or more of the running Python's word characters, lower-cased.
    ngrams : 1 to 3, with characters 1 to 8, or "auto"
        The longest run of words to count as a term, joined by one space; shorter runs are counted too.
    shortest : 1 to ngrams
        The shortest run of words, or characters, to count: shortest=2 with ngrams=2 counts pairs of words only.
    characters : bool
        Count runs of characters instead of words: of the whole text, across words, with punctuation; each run of
        white space is one space.
    weighting : "counts", "presence", "log", "unit" or "auto"
        What a document adds: each occurrence; each different term once; log(1 + occurrences), or each different term
        once, scaled so that all its terms have a Euclidean length of one, in whole units of 2^-32. So with "unit" a
        document of n different terms adds 1 / sqrt(n) to each: a long one is heard, but does not drown short ones.
    model : "multinomial", "complement", "bernoulli", "poisson" or "auto"
        bernoulli looks at presence and absence, and needs the weighting "presence"; poisson takes the length of the
        document as exposure, and needs "counts".
    stop_words : a number or a list of words
        Leave out the so many most frequent terms, or these. They are counted all the same.
    min_count : int
        Leave out terms seen less than this in all classes together (occurrences, documents or weight, as weighed). 1
        leaves out none, however little they weigh.
    max_terms : int or None
        Keep only the so many most frequent terms; ties are broken bytewise.
    hashed : None or 8 to 28
        Count in 2^hashed slots, so that memory is fixed and words have no names.
    fold_case, fold_accents : bool
        Whether "Café" is "café" (by Unicode's full case folding), and whether it is "Cafe".
    idf : bool
        Multiply every term by log((1 + documents) / (1 + documents with it)) + 1, when learning from the counts and
        when predicting.

    "auto" lets `fit` choose what predicts best when each row is left out. Where nothing is chosen (fewer than 50 rows,
    `partial_fit`, `learn_one`) it means 1, "counts" and "multinomial".

    >>> TextOptions(ngrams=2, model="complement", weighting="log").ngrams
    2
    >>> TextOptions(ngrams="auto", weighting="auto").definite() == TextOptions()
    True
    """

    words: str = "default"
    ngrams: int | str = 1
    characters: bool = False
    weighting: str = "counts"
    model: str = "multinomial"
    stop_words: int | tuple[str, ...] = 0
    min_count: int = 1
    max_terms: int | None = None
    hashed: int | None = None
    fold_case: bool = True
    fold_accents: bool = False
    idf: bool = False
    shortest: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.stop_words, Sequence) and not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        self._refuse_unknown_names()
        self._refuse_bad_numbers()
        self._refuse_contradictions()

    @property
    def lowered_first(self) -> bool:
        """Whether texts whose lower case depends on context must be lower-cased whole, as CountVectorizer does."""
        return self.words == "sklearn" and self.fold_case

    @property
    def unit(self) -> int:
        """How many units of counting make one: whole numbers count themselves, fractions are in units of 2^-32."""
        return 1 << 32 if self.weighting in ("log", "unit") else 1

    @property
    def keeps_frequency(self) -> bool:
        """Whether it is counted how many documents hold each term, where the counts do not say it already."""
        return self.idf and self.weighting != "presence"

    @property
    def every_term_speaks(self) -> bool:
        """Whether terms speak as they were counted: none is left out, and none made more or less of."""
        chosen = self.min_count > 1 or self.max_terms is not None or self.stop_words not in (0, ())
        return not chosen and not self.idf

    @property
    def longest(self) -> int:
        """The longest run to count, whatever may be chosen later."""
        return self.shortest if isinstance(self.ngrams, str) else self.ngrams

    def definite(self) -> TextOptions:
        """The same options with what is "auto" as it is where nothing is chosen."""
        plain = "presence" if self.model == "bernoulli" else "counts"
        weighting = plain if self.weighting == AUTO else self.weighting
        model = "multinomial" if self.model == AUTO else self.model
        return replace(self, ngrams=self.longest, weighting=weighting, model=model)

    def _refuse_unknown_names(self) -> None:
        for field, known in (("words", WORDS), ("weighting", (*WEIGHTINGS, AUTO)), ("model", (*MODELS, AUTO))):
            value = getattr(self, field)
            if value not in known:
                raise OptionRefused(
                    NamedOption(field),
                    f" cannot be {value!r}.",
                    advice=suggestion(str(value), known),
                    where=Location(value=value),
                    expected=f"one of {', '.join(known)}",
                )

    def _refuse_bad_numbers(self) -> None:
        longest = LONGEST_RUN_OF_CHARACTERS if self.characters else LONGEST_RUN_OF_WORDS
        if self.ngrams != AUTO:
            refuse_outside("ngrams", self.ngrams, 1, longest)
            longest = self.longest
        refuse_outside("shortest", self.shortest, 1, longest)
        refuse_outside("min_count", self.min_count, 0, None)
        if self.max_terms is not None:
            refuse_outside("max_terms", self.max_terms, 1, None)
        if self.hashed is not None:
            refuse_outside("hashed", self.hashed, 8, MOST_HASHED_BITS)
        if isinstance(self.stop_words, str):
            raise OptionRefused.of_option("stop_words", "a number or a list of words", self.stop_words)
        if isinstance(self.stop_words, tuple):
            wrong = [word for word in self.stop_words if not isinstance(word, str)]
            if wrong:
                raise OptionRefused(
                    NamedOption("stop_words"),
                    f" holds {wrong[0]!r}, which is not a word.",
                    where=Location(value=wrong[0]),
                    expected="words",
                )
        else:
            refuse_outside("stop_words", self.stop_words, 0, None)

    def _refuse_contradictions(self) -> None:
        if self.model == "bernoulli" and self.weighting not in ("presence", AUTO):
            looks = SetOption("model", "bernoulli")
            raise OptionRefused(looks, " looks at presence.", advice=("Add ", SetOption("weighting", "presence"), "."))
        if self.model == "poisson" and self.weighting not in ("counts", AUTO):
            needs = SetOption("model", "poisson")
            raise OptionRefused(
                needs, " needs whole occurrences.", advice=("Use ", SetOption("weighting", "counts"), ".")
            )
        if self.idf and self.model in ("bernoulli", "poisson"):
            advice = ("Choose ", SetOption("model", "multinomial"), " or ", SetOption("model", "complement"), ".")
            raise OptionRefused(NamedOption("idf"), f" makes no sense for {self.model!r}.", advice=advice)
        if self.words == "sklearn" and self.characters:
            raise OptionRefused(
                AS_SKLEARN, " is about words.", advice=("Leave it out with ", SetOption("characters", True), ".")
            )
        if self.words == "sklearn" and self.fold_accents:
            usual = SetOption("words", "default")
            raise OptionRefused(
                NamedOption("fold_accents"), " is not part of ", AS_SKLEARN, ".", advice=("Use ", usual, ".")
            )
        if self.hashed is not None and isinstance(self.stop_words, tuple) and self.stop_words:
            raise OptionRefused(
                "Hashed words have no names.", advice=("Give ", NamedOption("stop_words"), " as a number.")
            )


def refuse_outside(name: str, value: Any, low: int, high: int | None) -> None:
    """Raise unless the value is a whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        upper = f"to {high}" if high is not None else "up"
        raise OptionRefused.of_option(name, f"a whole number from {low} {upper}", value)
