"""Words: the kernels against slow, obvious twins, over any text there is."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candide.data.errors import ColumnRefused, ForgetRefused, OptionRefused, OverflowRefused
from candide.families.words import alphabet, alphabet_ranges
from candide.families.words.documents import Documents
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters
from candide.families.words.term_matrix import TermMatrix
from candide.families.words.unit_sequences import UnitSequence
from candide.families.words.vocabulary import letters_of, recipe_of, scratch_of
from candide.families.words.word_places import runs_of, text_units
from candide.families.words.word_tally_builder import WordTallyBuilder
from candide.kernels.eight_bytes import lower_case, word_marks
from candide.kernels.word_leaving import Rows, rows_within, sum_rows
from candide.kernels.words import Reader, document_terms
from candide.statistics.word_tally import WordTally

NO_WEIGHTS = np.zeros(0, dtype=np.int64)
MIXED = (
    "abcXYZ019_ .,-'\n\0éÉßİıΣσςǅﬁ²½नमस्तेñ漢字かな\u0301\u200d🙂Ωжя\ufffd\U0001d400ｱ"
    "กรุงเทพฯ๑ក្រុងမြန်မာລາວ한국어が\u3099ー々〇❤\ufe0f🏽👩🇩🇪★\u200b\u200c\u0e31"
)
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=MIXED),
    st.text(alphabet="aB _\u00e9", max_size=40),
    st.text(alphabet="漢か\u0301\u200da กุ🙂", max_size=20),
    st.text(alphabet=st.characters(max_codepoint=127)),
)
DOCUMENTS = st.lists(st.one_of(st.none(), TEXTS), max_size=8)


@lru_cache(maxsize=1)
def tables() -> tuple[set[str], dict[int, str], dict[int, str], set[str]]:
    cases, accents = dict(alphabet.changes(alphabet_ranges.CASES)), dict(alphabet.changes(alphabet_ranges.ACCENTS))
    return held(alphabet_ranges.WORDS), cases, accents, held(alphabet_ranges.SPACES)


@lru_cache(maxsize=8)
def held(ranges: str) -> set[str]:
    return {chr(code) for code in np.flatnonzero(alphabet.marked(ranges))}


def fold(text: str, options: TextOptions) -> str:
    _, cases, accents, _ = tables()
    if options.fold_accents:
        text = "".join(accents.get(ord(c), c) for c in text)
    return "".join(cases.get(ord(c), c) for c in text) if options.fold_case else text


def units(text: str, options: TextOptions) -> list[str]:
    """The twin: words or characters of a text, without any trick."""
    word, _, _, space = tables()
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    if options.words == "sklearn":
        return re.findall(r"(?u)\b\w\w+\b", text.lower() if options.fold_case else text)
    if options.characters:
        spaced = "".join(" " if c in space else fold(c, options) for c in text)
        return list(re.sub("  +", " ", spaced))
    if options.words == "default":
        return [unit for unit, _ in cut(text, options)]
    found, current = [], ""
    for c in [*text, "."]:
        if c in word:
            current += fold(c, options)
        elif current:
            found.append(current)
            current = ""
        else:
            current = ""
    return found


def cut(text: str, options: TextOptions) -> list[tuple[str, bool]]:
    """The twin of the default alphabet: each word, and whether it goes on where a script has no spaces."""
    word, marks, looks = tables()[0], held(alphabet_ranges.MARKS), held(alphabet_ranges.LOOKS)
    alone = held(alphabet_ranges.UNSPACED + alphabet_ranges.EMOJI)
    found: list[tuple[str, bool]] = []
    inside, last_alone = False, False
    for c in re.sub("[\ud800-\udfff]", "\ufffd", text):
        folded = "" if c in looks else fold(c, options)
        if c in looks or (c in word and not folded):
            continue
        if c in alone:
            found.append((folded, last_alone))
            inside, last_alone = True, True
        elif c not in word:
            inside, last_alone = False, False
        elif inside and (c in marks or not last_alone):
            found[-1] = (found[-1][0] + folded, found[-1][1])
        else:
            found.append((folded, False))
            inside, last_alone = True, False
    return found


def unspaced_runs(text: str, options: TextOptions) -> list[str]:
    """The twin: two characters of a script without spaces, where runs of words are shorter."""
    if options.characters or options.words != "default" or options.shortest > 1:
        return []
    found = cut(text, options)
    runs = [found[i : i + n] for n in range(options.ngrams + 1, 3) for i in range(len(found) - n + 1)]
    return [" ".join(unit for unit, _ in run) for run in runs if all(goes_on for _, goes_on in run[1:])]


def terms(text: str, options: TextOptions) -> list[str]:
    """The twin: units and their runs."""
    single = units(text, options)
    gap = "" if options.characters else " "
    lengths = range(options.shortest, options.ngrams + 1)
    runs = [gap.join(single[i : i + n]) for n in lengths for i in range(len(single) - n + 1)]
    return runs + unspaced_runs(text, options)


def slow_tally(texts: list[str | None], labels: list[int], options: TextOptions, classes: int = 2) -> WordTally:
    pairs, documents, frequency = [], [0] * classes, Counter[bytes]()
    for text, label in zip(texts, labels, strict=True):
        if text is None:
            continue
        documents[label] += 1
        found = Counter(terms(text, options))
        frequency.update(word.encode() for word in found)
        pairs += [(w, label, 1 if options.weighting == "presence" else n) for w, n in found.items()]
    kept = options.idf and options.weighting != "presence"
    return WordTally.of(pairs, documents, frequency if kept else None)


def tally(texts, labels, options: TextOptions, classes: int = 2, weights=NO_WEIGHTS) -> WordTally:
    builder = WordTallyBuilder(options, classes)
    documents = Documents.of(texts, "text", lowered=options.lowered_first)
    builder.learn(documents, np.array(labels, dtype=np.int64), weights)
    return builder.freeze()


RECIPES = [
    TextOptions(),
    TextOptions(fold_case=False),
    TextOptions(fold_accents=True),
    TextOptions(ngrams=2),
    TextOptions(ngrams=3, weighting="presence"),
    TextOptions(ngrams=2, shortest=2),
    TextOptions(words="spaced"),
    TextOptions(words="spaced", ngrams=2, fold_accents=True),
    TextOptions(characters=True, ngrams=3),
    TextOptions(characters=True, ngrams=2, fold_accents=True),
    TextOptions(idf=True, ngrams=2),
    TextOptions(words="sklearn"),
    TextOptions(words="sklearn", fold_case=False),
    TextOptions(words="sklearn", ngrams=2),
]


@pytest.mark.parametrize("options", RECIPES, ids=repr)
@settings(max_examples=60, deadline=None)
@given(texts=DOCUMENTS)
def test_any_text_is_counted_as_the_twin_counts_it(options, texts):
    labels = [i % 2 for i in range(len(texts))]
    assert tally(texts, labels, options) == slow_tally(texts, labels, options)


@pytest.mark.parametrize("options", RECIPES, ids=repr)
@settings(max_examples=40, deadline=None)
@given(text=TEXTS)
def test_the_places_of_terms_are_those_of_the_twin(options, text):
    """An explanation cuts a text once more, to know where its terms lie."""
    found = text_units(text, options, letters_of(options), recipe_of(options))
    runs = [found[first : first + size] for first, size in runs_of(found, recipe_of(options))]
    gap = "" if options.characters else " "
    assert [gap.join(unit.spelled for unit in run) for run in runs] == terms(text, options)
    assert all(before.end <= after.start or options.characters for before, after in pairwise(found))
    for unit in found:
        inside = units(text[unit.start : unit.end], options)
        assert unit.spelled in inside or "Σ" in text


@settings(max_examples=25)
@given(
    st.lists(TEXTS, min_size=1, max_size=8),
    st.lists(TEXTS, min_size=1, max_size=4),
    st.sampled_from(["", "".join(map(chr, range(0x20, 0x240))), " ".join(map(str, range(300)))]),
    st.sampled_from([TextOptions(characters=True, ngrams=4), TextOptions(ngrams=3), TextOptions(shortest=2, ngrams=2)]),
)
def test_runs_are_found_by_nodes_as_by_a_table(learned, asked, alphabet_first, options):
    learned = [alphabet_first + text for text in learned]
    sequence = UnitSequence.of(Documents.of(learned, "text"), options)
    _, vocabulary = sequence.terms(options.shortest, options.ngrams)

    def found(terms, text):
        reader = Reader(letters_of(options), recipe_of(options), terms, scratch_of(1 << 13))
        texts = Documents.of([text], "text").pieces[0]
        count = document_terms(texts.letters, texts.offsets[0], texts.offsets[1], *reader, False)
        return np.maximum(reader.scratch.ids[:count], -1).tolist()

    for text in learned + asked:
        assert found(vocabulary.read_only(recipe_of(options)), text) == found(vocabulary.terms, text)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(TEXTS, min_size=1, max_size=8),
    st.lists(TEXTS, min_size=1, max_size=4),
    st.sampled_from(["counts", "unit", "log"]),
)
def test_texts_in_numbers_say_what_their_letters_say(learned, asked, weighting):
    """Words, pairs and triples of one column: those who ask later find words and pairs numbered already."""
    asked = Documents.of([*learned, *asked, "a b a b", ""], "text")
    kept, shape = replace(asked, is_kept=True), (len(asked), 2)
    for size in (1, 2, 3):
        options = TextOptions(shortest=size, ngrams=size, weighting=weighting)
        labels = np.arange(len(learned)) % 2
        matrix = TermMatrix.of(Documents.of(learned, "text"), labels, NO_WEIGHTS, 2, options)
        parameters = TextParameters.of(matrix.tally(), options, 0.3)
        read, numbered = (parameters.score_with_length(texts, shape) for texts in (asked, kept))
        assert all(map(np.array_equal, read, numbered))
    assert sum(key[0] == "words" for key in kept.cuts) <= 1


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=6), st.integers(0, 30))
def test_rows_are_summed_and_counted_as_the_twins_do(documents, most):
    ends = np.cumsum([0, *map(len, documents)])
    terms = np.array([term for document in documents for term in document], dtype=np.int32)
    tokens, alone = np.diff(ends), np.arange(len(documents)) % 2
    rows = Rows(ends, terms, 3 * np.arange(len(terms)), tokens, alone, alone)
    pairs, sums = np.cumsum([0, 1, 0, 4, 2, 1, 3]), np.zeros(len(documents[::2]), dtype=np.int64)
    sum_rows(rows, np.arange(len(documents))[::2], sums)
    expected = [int(rows.amounts[start:stop].sum()) + row % 2 for row, (start, stop) in enumerate(pairwise(ends))]
    assert sums.tolist() == expected[::2]
    held = [sum(int(pairs[term + 1] - pairs[term]) for term in document) for document in documents]
    looked_at = np.cumsum(held + alone)
    assert rows_within(rows, pairs, most) == np.count_nonzero(looked_at <= most)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_terms_of_many_classes_say_the_same_in_a_table_as_in_pairs_and_lines(smoothing, monkeypatch):
    """A table is the slow twin; where nothing is smoothed, a class that never saw a word is impossible."""
    texts = [f"all some{number % 20} few{number % 40} w{number}" for number in range(80)]
    labels, options = np.arange(80) % 40, TextOptions()
    tallied = TermMatrix.of(Documents.of(texts, "text"), labels, NO_WEIGHTS, 40, options).tally()
    asked, shape = Documents.of([*texts, "all", "new", "few1 few1 w3 all"], "text"), (83, 40)
    by_pairs = TextParameters.of(tallied, options, smoothing)
    assert by_pairs.score_weights.table.shape[1] == 0
    monkeypatch.setattr("candide.families.words.event_models.CLASSES_IN_A_TABLE", 40)
    by_table = TextParameters.of(tallied, options, smoothing)
    assert by_table.score_weights.table.shape[1] == 40
    said = [parameters.score_with_length(asked, shape)[0] for parameters in (by_pairs, by_table)]
    np.testing.assert_allclose(*said, rtol=1e-12, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(TEXTS, max_size=4))
def test_many_classes_are_counted_as_the_twin_counts_them(texts):
    labels = [37 * i % 100 for i in range(len(texts))]
    assert tally(texts, labels, TextOptions(), 100) == slow_tally(texts, labels, TextOptions(), 100)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_sklearn_mode_has_the_vocabulary_and_counts_of_count_vectorizer(texts):
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError:
        matrix = None
    seen = tally(texts, [0] * len(texts), TextOptions(words="sklearn"))
    names = [] if matrix is None else vectorizer.get_feature_names_out().tolist()
    counts = [] if matrix is None else np.asarray(matrix.sum(axis=0)).ravel().tolist()
    expected = {n.encode(): c for n, c in zip(names, counts, strict=True)}
    assert dict(zip(seen.words(), seen.word_totals.tolist(), strict=True)) == expected


def test_words_of_many_scripts():
    text = "नमस्ते, Straße! 漢字 x2 I_m a 10% STRASSE É e\u0301"
    spaced = ["10", "a", "e\u0301", "i_m", "strasse", "x2", "é", "नमस्ते"]
    assert [w.decode() for w in tally([text], [0], TextOptions()).words()] == [*spaced, "字", "漢", "漢 字"]
    assert [w.decode() for w in tally([text], [0], TextOptions(words="spaced")).words()] == [*spaced, "漢字"]


def test_the_shipped_alphabet_is_that_of_its_unicode_version():
    if unicodedata.unidata_version != alphabet_ranges.UNICODE:
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}, the package {alphabet_ranges.UNICODE}")
    from candide.families.words.alphabet_maker import is_word

    word, cases, _, _ = tables()
    everything = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    assert word == {c for c in everything if is_word(c)}
    assert cases == {ord(c): c.casefold() for c in everything if c.casefold() != c}


def test_eight_bytes_at_once_agree_with_one_at_a_time():
    for byte in range(256):
        for index in range(8):
            chunk = int.from_bytes(bytes([46] * index + [byte] + [46] * (7 - index)), "little")
            is_word = byte < 128 and (chr(byte).isalnum() or byte == 95)
            assert int(word_marks(np.uint64(chunk))) == (0x80 << 8 * index if is_word else 0)
            if byte < 128:
                lowered = int(lower_case(np.uint64(chunk))).to_bytes(8, "little")
                assert lowered[index : index + 1] == bytes([byte]).lower()


def test_lone_surrogates_separate_words():
    assert tally(["ab\ud800cd", "\udfff", None], [0, 1, 0], TextOptions()).words() == [b"ab", b"cd"]


def test_bytes_that_are_not_utf8_separate_words():
    texts = pa.array([b"ab\xffcd\xc3", b"\xed\xa0\x80x", b"\xc1\x81y\xf0\x9f"], type=pa.binary())
    assert tally(texts, [0, 0, 0], TextOptions()).words() == [b"ab", b"cd", b"x", b"y"]


@pytest.mark.parametrize("character", ["x", "é", "漢"])
def test_a_word_of_megabytes(character):
    text = character * (3_000_000 // len(character.encode()))
    seen = tally([text + " x", text + "y"], [0, 1], TextOptions(words="spaced"))
    assert [len(word) for word in seen.words()] == sorted([len(text.encode()), len(text.encode()) + 1, 1])


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a b", None, "", "b"]),
        pa.array(["a b", None, "", "b"], type=pa.large_string()),
        pa.array(["a b", None, "", "b"], type=pa.string_view()),
        pa.array(["a b", None, "", "b"]).dictionary_encode(),
        pa.chunked_array([["a b"], [], [None, "", "b"]]),
        pa.array(["zz", "a b", None, "", "b", "zz"])[1:5],
        ["a b", None, "", "b"],
        np.array(["a b", None, "", "b"], dtype=object),
    ],
    ids=lambda column: str(getattr(column, "type", type(column).__name__)),
)
def test_texts_come_in_any_memory(column):
    seen = tally(column, [0, 0, 1, 1], TextOptions())
    assert seen == WordTally.of([("a", 0, 1), ("b", 0, 1), ("b", 1, 1)], documents=[1, 2])


def test_numbers_are_no_text():
    with pytest.raises(ColumnRefused, match="holds int64"):
        Documents.of(pa.array([1, 2]), "text")
    with pytest.raises(ColumnRefused, match="holds 3"):
        Documents.of(["a", 3], "text")
    assert len(Documents.of(["a", 3], "text", strict=False)) == 2


@pytest.mark.parametrize("options", [*RECIPES, TextOptions(hashed=10), TextOptions(weighting="log")], ids=repr)
@pytest.mark.parametrize("classes", [2, 40])
@settings(max_examples=15, deadline=None)
@given(texts=DOCUMENTS, cut=st.integers(0, 8), data=st.data())
def test_tallies_add_up_and_subtract(options, classes, texts, cut, data):
    labels = [7 * i % classes for i in range(len(texts))]
    left, right = tally(texts[:cut], labels[:cut], options, classes), tally(texts[cut:], labels[cut:], options, classes)
    whole = tally(texts, labels, options, classes)
    order = data.draw(st.permutations(range(len(texts))))
    assert left + right == whole == right + left
    assert whole - right == left
    assert tally([texts[i] for i in order], [labels[i] for i in order], options, classes) == whole
    twice = np.full(len(texts), 2, dtype=np.int64)
    assert tally(texts, labels, options, classes, twice) == whole + whole
    builder = WordTallyBuilder.over(options, left)
    assert builder.freeze() == left
    documents = Documents.of(texts[cut:], "text", lowered=options.lowered_first)
    builder.learn(documents, np.array(labels[cut:], dtype=np.int64), NO_WEIGHTS)
    assert builder.freeze() == whole
    assert builder.freeze() - left == right


def test_what_was_not_learned_cannot_be_forgotten():
    seen = tally(["a b"], [0], TextOptions())
    for texts, labels in ((["a c"], [0]), (["a b"], [1]), (["", ""], [0, 0])):
        other = tally(texts, labels, TextOptions())
        with pytest.raises(ForgetRefused):
            seen - other


def test_counts_beyond_62_bits_are_refused():
    with pytest.raises(OverflowRefused):
        tally(["a"], [0], TextOptions(), weights=np.array([2**62]))
    heavy = tally(["a"], [0], TextOptions(), weights=np.array([2**60]))
    with pytest.raises(OverflowRefused):
        heavy + heavy + heavy + heavy + heavy


def test_classes_move_and_leave():
    seen = WordTally.of([("a", 0, 1), ("a", 1, 2), ("b", 1, 3)], documents=[1, 2])
    moved = seen.spread(np.array([2, 0]), 3)
    assert moved == WordTally.of([("a", 2, 1), ("a", 0, 2), ("b", 0, 3)], documents=[2, 0, 1])
    assert moved.only(np.array([2, 0])) == seen
    assert seen.only(np.array([0])) == WordTally.of([("a", 0, 1)], documents=[1])


def test_classes_may_come_one_by_one():
    builder = WordTallyBuilder(TextOptions(), 0)
    texts = [f"common word{i % 7} only{i}" for i in range(60)]
    for i, text in enumerate(texts):
        builder.grow(i + 1)
        builder.learn(Documents.of([text], "text"), np.array([i]), NO_WEIGHTS)
    assert builder.freeze() == slow_tally(texts, list(range(60)), TextOptions(), 60)


def test_log_weights_are_those_of_the_formula():
    seen = tally(["a a a b", "b"], [0, 1], TextOptions(weighting="log"))
    logs = np.log([4, 2])
    expected = [*(logs / np.linalg.norm(logs)), 1.0]
    assert seen.lines.counts / 2**32 == pytest.approx(expected, abs=1e-9)


def test_a_large_vocabulary_sorts_and_merges():
    rng = np.random.default_rng(0)
    words = [f"prefix{'x' * (n % 30)}{n}" for n in rng.integers(0, 10_000, 20_000).tolist()]
    texts, labels = [" ".join(words[i : i + 100]) for i in range(0, len(words), 100)], [i % 2 for i in range(200)]
    whole = tally(texts, labels, TextOptions())
    assert whole == slow_tally(texts, labels, TextOptions())
    assert tally(texts[:100], labels[:100], TextOptions()) + tally(texts[100:], labels[100:], TextOptions()) == whole


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"words": "sklern"}, "Did you mean 'sklearn'"),
        ({"ngrams": 4}, "from 1 to 3"),
        ({"ngrams": True}, "whole number"),
        ({"model": "bernoulli"}, "presence"),
        ({"model": "poisson", "weighting": "log"}, "counts"),
        ({"hashed": 40}, "from 8 to 28"),
        ({"hashed": 10, "stop_words": ["a"]}, "no names"),
        ({"stop_words": "english"}, "list of words"),
        ({"stop_words": [1]}, "not a word"),
        ({"max_terms": 0}, "from 1 up"),
        ({"idf": True, "model": "poisson"}, "idf"),
        ({"words": "sklearn", "characters": True}, "sklearn"),
    ],
)
def test_contradictions_are_refused(options, why):
    with pytest.raises(OptionRefused, match=why):
        TextOptions(**options)
