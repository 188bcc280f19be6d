"""Findings in sentences: what the card says, and what pictures say to those who cannot see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.written_numbers import percent
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, Profile
from candide.model.evaluation import CROSS_FITTED, ROWS_GIVEN
from candide.show.pictures.features import against_the_rest, usual_evidence
from candide.show.pictures.lettering import figure_of, lettered, share_of
from candide.show.pictures.scales import Scales, scale_labels
from candide.show.pictures.subject import Subject
from candide.show.report.calibration_words import calibration_in_words

CLASSES_TOLD = 6
WORDS_TOLD = 3
WAYS = {
    CROSS_FITTED: "when each is judged by choices and a calibration made without it",
    "leave-one-out": "when each is judged by what all others taught, under choices made from all",
    ROWS_GIVEN: "(the rows given for this report)",
}
NOT_MEASURED = (
    "How good its answers are was not measured: the model was fitted plain, from few rows, or row by row. Give rows "
    "with labels to measure it on: candide report MODEL ROWS."
)
NO_CURVE = (
    "The model keeps no learning curve: it was fitted plain, from few rows, or row by row. Fitting it anew draws one, "
    "and so does candide compare ROWS."
)


def quality_in_words(measured: Any) -> str:
    """How good the answers are."""
    if measured is None:
        return NOT_MEASURED
    low, high = measured.interval
    usual = "" if low > measured.baseline else "; these rows do not show that the model does better"
    return (
        f"{percent(measured.accuracy)} of {measured.rows:,} rows are answered rightly {way_in_words(measured.kind)}; "
        f"with 95% confidence the share is between {percent(low)} and {percent(high)}. Always giving the commonest "
        f"answer would be right for {percent(measured.baseline)}{usual}. {calibration_in_words(measured)}"
    )


def way_in_words(kind: str) -> str:
    """How rows were judged.

    >>> way_in_words("10-fold"), way_in_words("rows given")
    ('in 10-fold cross-validation', '(the rows given for this report)')
    """
    return f"in {kind} cross-validation" if kind.endswith("-fold") else WAYS.get(kind, f"({kind})")


def feature_in_words(subject: Subject, profile: Profile) -> str:
    """Where the values of a feature lie in each class, or which words speak for it."""
    told = [
        f"{lettered(subject.classes[label], 30)}: {told_of_class(subject, profile, label)}"
        for label in subject.drawn[:CLASSES_TOLD]
    ]
    more = len(subject.classes) - len(told)
    return "; ".join(told) + (f"; and {more:,} more classes" if more else "") + "."


def told_of_class(subject: Subject, profile: Profile, label: int) -> str:
    """A few words on one class."""
    if profile.kind == EVENTS:
        said = usual_evidence(subject, profile)
        lead = against_the_rest(said, subject.prior, label)
        best = [index for index in np.argsort(-lead, kind="stable")[:WORDS_TOLD].tolist() if lead[index] > 0]
        words = ", ".join(f"“{lettered(profile.points[index], 24)}”" for index in best)
        return f"the words {words}" if words else "no word speaks for it"
    if profile.kind in (CURVE, COUNTS) and len(profile.points):
        return f"mostly {middle_half(profile, label)}"
    likely = int(np.argmax(mass(profile, label))) if len(profile.points) else 0
    if not len(profile.points):
        return "never seen"
    name, share = scale_labels(profile)[likely], float(mass(profile, label)[likely])
    return f"most often {lettered(name, 30)} ({share_of(share)})"


def mass(profile: Profile, label: int) -> Any:
    """The share of a class at each place."""
    heights = np.exp(profile.table[:, label])
    return heights if profile.widths is None or profile.kind not in (CURVE, STEPS, COUNTS) else heights * profile.widths


def middle_half(profile: Profile, label: int) -> str:
    """The numbers between which half of a class lies."""
    running = np.cumsum(mass(profile, label))
    if not running[-1] > 0:
        return "never seen"
    points = np.asarray(profile.points)
    low, high = (point_in_words(profile, points[np.searchsorted(running, q * running[-1])]) for q in (0.25, 0.75))
    return f"{low} to {high}" if low != high else low


def point_in_words(profile: Profile, point: float) -> str:
    """A place along numbers in few letters."""
    return profile.point_named(point, lambda number: figure_of(number, 3))


def nomogram_in_words(scales: Scales) -> str:
    """What a nomogram shows."""
    first = ", ".join(lettered(scale.name, 24) for scale in scales.scales[:3])
    about = f"{lettered(scales.one, 24)} against {lettered(scales.other, 24)}"
    return (
        f"Nomogram of {about} with {len(scales.scales)} scales; the longest are {first}. The panel "
        "below tells the same with the keyboard."
    )


def telling_in_words(subject: Subject) -> str:
    """The features that tell most."""
    named = [f"{lettered(one.column, 30)} with {one.information:.3f} bits" for one in subject.ranked[:3]]
    return f"Bars of how much features tell about the class: first {', then '.join(named)}."


def reliability_in_words(measured: Any) -> str:
    """Where probabilities and truth part most."""
    bins = [part for part in measured.reliability if part.rows]
    told = [f"{share_of(part.probability)} said, {share_of(part.accuracy)} right" for part in bins]
    return f"Share of right answers over their probability: {'; '.join(told)}."


def confusion_in_words(measured: Any) -> str:
    """The commonest mistakes."""
    mistakes = sorted(commonest_mistakes(measured), reverse=True)[:3]
    if not mistakes:
        return "Labels against answers: not a single mistake."
    told = [f"{lettered(t, 30)} taken for {lettered(a, 30)} {count:,} times" for count, t, a in mistakes]
    return f"Labels against answers. The commonest mistakes: {'; '.join(told)}."


def commonest_mistakes(measured: Any) -> list[tuple[int, str, str]]:
    """Every kind of mistake that was made, with its count."""
    table = np.asarray(measured.confusion)
    return [
        (int(table[row, column]), measured.truths[row], measured.classes[column])
        for row, column in np.argwhere(table).tolist()
        if measured.truths[row] != measured.classes[column]
    ]


def curve_in_words(quality: Any) -> str:
    """How far learning has come."""
    told = [f"{point.rows:,} rows {share_of(point.accuracy)}" for point in quality.curve]
    return f"Accuracy over the rows learned: {', '.join(told)}."
