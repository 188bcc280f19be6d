"""Bayes' rule step by step, as a teacher writes it on the board: fractions first, then logarithms, then the answer."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.written_numbers import percent
from candide.families.base.basis import CountBasis, DensityBasis, and_list, short_number
from candide.families.base.explaining import Term
from candide.model.explanation import Evidence, Explanation
from candide.show.explanations.reasons import shown_and_rest
from candide.show.explanations.terminal import printable

WIDTH = 80
CLASSES_WORKED = 5
SILENT_WORKED = 12
EXACT_POWERS = range(1, 33)
SAME = 1e-9


def worked(why: Explanation) -> str:
    """The whole calculation: priors, likelihoods, product, logarithms, calibration if any, normalisation, decision."""
    terms, rest = strongest(why)
    steps = [priors(why), likelihoods(why, terms, rest), products(why, terms, rest), sums(why, terms, rest)]
    if why.is_calibrated:
        steps.append(calibration(why))
    steps += [normalisation(why), decision_step(why)]
    said = question(why)
    for number, (title, body) in enumerate(steps, start=1):
        said += ["", f"{number}. {title}", *(line for part in body for line in indented(part))]
    return "\n".join(said)


def strongest(why: Explanation) -> tuple[list[Term], dict[str, FloatArray]]:
    """The words and features worth writing out, in order, and the sums of all others by their name."""
    with np.errstate(invalid="ignore"):
        sizes = [float(np.nan_to_num(np.ptp(one.reported), nan=np.inf)) for one in why.evidence]
    shown = shown_and_rest(why, np.array(sizes))
    nothing = np.zeros_like(why.prior)
    rest = {
        name: sum((why.evidence[index].log_likelihood for index in left), nothing) for name, left in shown.rest.items()
    }
    return [whole_term(why.evidence[index]) for index in sorted(shown.indices)], rest


def whole_term(one: Evidence) -> Term:
    """A piece of evidence as one term: itself, where it is all of one."""
    first = one.parts[0].term
    if all(part.term is first for part in one.parts) and len(one.parts) >= len(first.words):
        return first
    runs = [run for run in dict.fromkeys(part.term.run for part in one.parts) if run]
    value = f"{one.value or 'all'}, with {and_list(runs)}" if runs else one.value
    return Term(one.feature, value, one.log_likelihood)


def labels_worked(why: Explanation) -> list[int]:
    """The classes that are worked out: all, or the most probable of many."""
    return sorted(why.ranked[:CLASSES_WORKED])


def question(why: Explanation) -> list[str]:
    """What is asked, and the rule that answers it."""
    names = [printable(name, 20) for name in why.classes]
    most = f"The {CLASSES_WORKED} most probable of {len(names):,} classes are worked out."
    return [
        shorten(f"Which class is most probable: {', '.join(names)}?"),
        *([most] if len(names) > CLASSES_WORKED else []),
        "Bayes' rule: P(class | row) = P(class) · P(row | class) / P(row)",
    ]


def priors(why: Explanation) -> tuple[str, list[str]]:
    """How common each class is."""
    if not why.prior.any() and len(why.classes) > 1:
        return "No prior: the complement is a score, not a likelihood", ["Every class begins with 1."]
    lines = []
    for label in labels_worked(why):
        share = math.exp(why.prior[label])
        lines.append(f"P({printable(why.classes[label], 30)}) = {prior_fraction(why, label, share)}")
    return "Priors: how common each class is", lines


def prior_fraction(why: Explanation, label: int, share: float) -> str:
    """The rows of a class over all rows, where that is the prior."""
    if why.rows is None:
        return four_digits(share)
    return f"{short_number(why.rows[label])}/{short_number(why.rows.sum())} = {four_digits(share)}"


def likelihoods(why: Explanation, terms: Sequence[Term], rest: Mapping[str, FloatArray]) -> tuple[str, list[str]]:
    """How likely each feature is in each class, with the counts behind it."""
    lines: list[str] = []
    for term in terms:
        lines.append(term_title(term))
        lines += [f"  {likelihood(why, term, label)}" for label in labels_worked(why)]
    for name, left in rest.items():
        lines.append(f"and {name}, together")
        lines += [f"  {printable(why.classes[label], 30)}: {power(left[label])}" for label in labels_worked(why)]
    spoken = {(one.column, one.word) for one in why.words}
    lines += [
        f"{printable(f'{one.feature} {one.value}'.strip(), 60)} ({one.why}): says nothing"
        for one in why.silent[:SILENT_WORKED]
        if (one.feature, one.value) not in spoken
    ]
    return "Likelihoods: how likely each class makes what is there", lines or ["Nothing speaks."]


def term_title(term: Term) -> str:
    """The feature and its value, as a heading."""
    return shorten(f"{printable(term.feature, 40)} = {printable(term.value, 60)}")


def likelihood(why: Explanation, term: Term, label: int) -> str:
    """One likelihood: as a fraction, as a formula with its numbers, or as the number it is."""
    name, basis = printable(why.classes[label], 20), term.basis
    value = power(term.log_likelihood[label])
    if isinstance(basis, CountBasis) and is_fraction(term):
        times = f", {short_number(basis.times)} times" if basis.times != 1 else ""
        return f"{name}: {smoothing_text(basis, label)}{fraction_text(basis, label)} = {ratio(basis, label)}{times}"
    if isinstance(basis, CountBasis) and common(term) is not None:
        also = power(common(term) or 0.0)
        return f"{name}: {smoothing_text(basis, label)}{factor(term, label)} · {also} (same for all) = {value}"
    if isinstance(basis, DensityBasis):
        return f"{name}: {basis.filled(label)} = {value}"
    return f"{name}: {value}"


def smoothing_text(basis: CountBasis, label: int) -> str:
    """How the counts are smoothed, where they are: (8 + 1)/(17 + 1·4) = ."""
    count, whole = basis.counts[label], basis.totals[label]
    if not basis.smoothing or basis.form != "share":
        return ""
    free = short_number(basis.smoothing)
    return f"({short_number(count)} + {free})/({short_number(whole)} + {free}·{basis.slots}) = "


def fraction_text(basis: CountBasis, label: int) -> str:
    """Numerator over denominator."""
    above, below = basis.fraction(label)
    return f"{short_number(above)}/{short_number(below)}"


def ratio(basis: CountBasis, label: int) -> str:
    """The fraction as a number."""
    above, below = basis.fraction(label)
    return four_digits(above / below) if below else "infinite"


def factor(term: Term, label: int) -> str:
    """A term as a factor of the product: 6/26, or (6/26)^2 for a word that occurs twice."""
    basis = term.basis
    if isinstance(basis, CountBasis) and common(term) is not None:
        plain = fraction_text(basis, label)
        return plain if basis.times == 1 else f"({plain})^{short_number(basis.times)}"
    return power(term.log_likelihood[label])


def logs_of(basis: CountBasis) -> FloatArray:
    """times * log(fraction) of every class."""
    pairs = np.array([basis.fraction(label) for label in range(len(basis.counts))])
    with np.errstate(divide="ignore", invalid="ignore"):
        return basis.times * (np.log(pairs[:, 0]) - np.log(pairs[:, 1]))


def common(term: Term) -> float | None:
    """What a term has beside its fraction, if that is the same for all classes: None if it is not."""
    assert isinstance(term.basis, CountBasis)
    with np.errstate(invalid="ignore"):
        gaps = term.log_likelihood - logs_of(term.basis)
    known = gaps[np.isfinite(gaps)]
    if not len(known) or np.ptp(known) > SAME * (1 + np.abs(term.log_likelihood[np.isfinite(gaps)]).max()):
        return None
    return float(known[0])


def is_fraction(term: Term) -> bool:
    """Whether a term is its fraction and nothing more."""
    shared = common(term)
    return shared is not None and abs(shared) <= SAME * (1 + np.abs(term.log_likelihood[0]))


def products(why: Explanation, terms: Sequence[Term], rest: Mapping[str, FloatArray]) -> tuple[str, list[str]]:
    """Prior times likelihoods, class by class; exact where the counts are whole."""
    shared = sum(common(t) or 0.0 for t in terms if isinstance(t.basis, CountBasis))
    lines = []
    for label in labels_worked(why):
        factors = [first_factor(why, label), *(factor(term, label) for term in terms)]
        if abs(shared) > SAME:
            factors.append(power(shared))
        factors += [power(left[label]) for left in rest.values()]
        whole = None if rest else exact(why, terms, label)
        reduced = f" = {whole.numerator:,}/{whole.denominator:,}" if whole and whole.denominator < 10**12 else ""
        name = printable(why.classes[label], 20)
        lines.append(f"{name}: {' · '.join(factors)}{reduced} = {power(why.joint[label])}")
    return "The product: prior times likelihoods", lines


def first_factor(why: Explanation, label: int) -> str:
    """The prior as it stands in the product."""
    if why.rows is None or not why.prior.any():
        return four_digits(math.exp(why.prior[label]))
    return f"{short_number(why.rows[label])}/{short_number(why.rows.sum())}"


def exact(why: Explanation, terms: Sequence[Term], label: int) -> Fraction | None:
    """The product of one class as a fraction; None where something in it is none."""
    if why.rows is None or not why.prior.any():
        return None
    product = Fraction(int(why.rows[label]), int(why.rows.sum()))
    for term in terms:
        basis = term.basis
        if not isinstance(basis, CountBasis) or not is_fraction(term) or basis.times not in EXACT_POWERS:
            return None
        above, below = basis.fraction(label)
        if not below or max(above, below) > 2**53:
            return None
        product *= (Fraction(above) / Fraction(below)) ** int(basis.times)
    return product


def sums(why: Explanation, terms: Sequence[Term], rest: Mapping[str, FloatArray]) -> tuple[str, list[str]]:
    """The same as a sum of logarithms, which computers add since long products vanish."""
    lines = []
    for label in labels_worked(why):
        logs = [float(why.prior[label]), *(float(term.log_likelihood[label]) for term in terms)]
        logs += [float(left[label]) for left in rest.values()]
        added = f"{logs[0]:.4f}" + "".join(f" {'-' if log < 0 else '+'} {abs(log):.4f}" for log in logs[1:])
        lines.append(f"{printable(why.classes[label], 20)}: {added} = {why.joint[label]:.4f}")
    return "The same as a sum of logarithms", lines


def calibration(why: Explanation) -> tuple[str, list[str]]:
    """Features repeat each other, so that the raw sum is too sure: a bias a class, a factor on each feature."""
    factors: dict[str, list[Term]] = {}
    for term in why.terms:
        factors.setdefault("" if term.added is not None else f"{term.factor:.4f}", []).append(term)
    layer = [term.added for term in why.terms if term.added is not None]
    factors.pop("", None)
    also = " + what the linear layer adds" if layer else ""
    lines = [f"score = bias + log prior + factor · log likelihoods{also}, fitted on rows left out"]
    for value, terms in factors.items():
        names = list(dict.fromkeys(term.feature.removesuffix(f": {term.word}") for term in terms))
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        lines.append(f"factor {value}: {', '.join(printable(name, 50) for name in names[:5])}{more}")
    for label in labels_worked(why):
        weighed = sum(float(term.reported[label]) for term in why.terms if term.added is None)
        parts = [why.bias[label], why.reported_prior[label], weighed]
        parts += [sum(float(added[label]) for added in layer)] if layer else []
        added = " ".join(f"{part:+.4f}" for part in parts)
        lines.append(f"{printable(why.classes[label], 20)}: {added} = {why.reported[label]:.4f}")
    return "Calibration: what the raw sum is worth", lines


def normalisation(why: Explanation) -> tuple[str, list[str]]:
    """Divided by their sum, the products are probabilities."""
    scores = why.reported
    if not np.isfinite(scores.max()):
        return "Normalisation", ["Every class is impossible, so the prior is all that is left."]
    extreme = abs(scores.max()) > math.log(1e300)
    shift = float(scores.max()) if extreme or why.is_calibrated else 0.0
    values = np.exp(scores - shift)
    whole = float(values.sum())
    lines = [f"measured against the largest, e^{shift:.4f}"] if shift else []
    added = [four_digits(values[label]) for label in labels_worked(why)]
    if len(values) > len(added):
        added.append(f"{four_digits(np.delete(values, labels_worked(why)).sum())} (all other classes)")
    lines.append(f"{' + '.join(added)} = {four_digits(whole)}")
    for label in labels_worked(why):
        share = f"{four_digits(values[label])} / {four_digits(whole)} = {why.posterior[label]:.4f}"
        lines.append(f"P({printable(why.classes[label], 30)} | row) = {share}")
    return "Normalisation: divided by their sum, they are probabilities", lines


def decision_step(why: Explanation) -> tuple[str, list[str]]:
    """The largest wins."""
    return "Decision", [f"{printable(why.answer, 40)}, with {percent(float(why.posterior.max()))}"]


def four_digits(value: float) -> str:
    """Four digits that count.

    >>> four_digits(0.66667), four_digits(4.848e-5), four_digits(1.0)
    ('0.6667', '4.848e-05', '1')
    """
    return f"{value:.4g}"


def power(log: float) -> str:
    """The number with a logarithm, also where it is too small or large to write.

    >>> power(0.0), power(-1000.0)
    ('1', 'e^-1000.0')
    """
    return four_digits(math.exp(log)) if log == -math.inf or abs(log) < 600 else f"e^{log:.1f}"


def indented(line: str) -> list[str]:
    """A line of a step, broken at 80 columns, what follows set in further."""
    lead = len(line) - len(line.lstrip())
    start = " " * (3 + lead)
    return textwrap.wrap(
        line.strip(), WIDTH, initial_indent=start, subsequent_indent=start + "    ", break_on_hyphens=False
    )


def shorten(line: str) -> str:
    """One line that fits."""
    return printable(line, WIDTH - 4)
