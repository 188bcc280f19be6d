"""How well classes are found and ranked, in sentences: small classes too, and whatever threshold is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.written_numbers import percent
from candide.show.pictures.lettering import lettered

CLASSES_TOLD = 6


def recall_in_words(measured: Any) -> str:
    """How well small classes are found, where accuracy tells little of them."""
    if not measured.unequal:
        return ""
    there = [(score.recall, name, score) for name, score in measured.by_class.items() if score.rows]
    worst = sorted(there)[:CLASSES_TOLD]
    told = [f"{lettered(name, 30)} {percent(recall)} of {score.rows:,}" for recall, name, score in worst]
    which = "" if len(worst) == len(there) else ", the worst first"
    return (
        f"Classes are not equally common. Of the rows of each class the model finds{which}: {'; '.join(told)}. The "
        f"mean over all classes (balanced accuracy) is {percent(measured.balanced_accuracy)}."
    )


def ranking_in_words(measured: Any) -> str:
    """How well rows of a class are ranked above others."""
    if len(measured.ranking) == 1:
        (one,) = measured.ranking
        return (
            f"A row of class {lettered(one.name, 30)} is given a higher probability of it than another row in "
            f"{percent(one.roc_area)} of all pairs (the area under the receiver operating curve; 50% is chance). The "
            f"average precision is {percent(one.average_precision)}, by chance {percent(one.share)}."
        )
    worst = min(measured.ranking, key=lambda one: (one.roc_area, one.name))
    return (
        "A row of a class is given a higher probability of it than a row of another in "
        f"{percent(measured.roc_area)} of all pairs (the area under the receiver operating curve, in the mean of all "
        f"classes; 50% is chance), and in {percent(worst.roc_area)} for {lettered(worst.name, 30)}, the worst. The "
        f"mean average precision is {percent(measured.average_precision)}."
    )


def roc_in_words(measured: Any) -> str:
    """What receiver operating curves show."""
    told = [
        f"{lettered(one.name, 30)}: area {one.roc_area:.3f}, {found_at(one, 0.05)} found at 5% false alarms"
        for one in measured.ranking
        if one.curve
    ]
    return f"Share of a class that is found over the share of others taken for it. {'; '.join(told)}."


def found_at(ranking: Any, alarms: float) -> str:
    """The share of a class that is found where so many others are taken for it."""
    return percent(float(np.interp(alarms, *ranking.roc.T)))


def precision_recall_in_words(measured: Any) -> str:
    """What precision-recall curves show."""
    told = []
    for one in measured.ranking:
        if one.curve:
            recall, precision = one.precision_recall.T
            half = percent(float(np.interp(0.5, recall, precision)))
            about = f"average precision {one.average_precision:.3f}, by chance {one.share:.3f}"
            told.append(f"{lettered(one.name, 30)}: {about}; where half is found, {half} of those named are right")
    return f"Share of those named that are right over the share of a class that is found. {'; '.join(told)}."
