"""Any picture of a model by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from candide.data.advice import NamedOption, SetOption, UseVerb
from candide.data.errors import OptionRefused
from candide.show.pictures.confusion import confusion
from candide.show.pictures.features import feature
from candide.show.pictures.informative import telling
from candide.show.pictures.nomogram import nomogram
from candide.show.pictures.own_curve import own_curve
from candide.show.pictures.ranking_curves import precision_recall_curves, roc_curves
from candide.show.pictures.reliability import reliability
from candide.show.pictures.subject import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PictureRequest:
    """What is to be drawn: a model, how good its answers were, and what to look at."""

    subject: Subject
    measured: Any = None
    quality: Any = None
    column: str | None = None
    of: str | None = None
    against: str | None = None


def draw_feature(request: PictureRequest) -> Figure:
    """One column in each class."""
    if request.column is None:
        raise OptionRefused("A picture of a feature needs its name.", advice=("Name it: ", SetOption("column"), "."))
    return feature(request.subject, request.column)


def draw_reliability(request: PictureRequest) -> Figure:
    """Whether probabilities mean what they say."""
    return reliability(measured_answers(request))


def draw_confusion(request: PictureRequest) -> Figure:
    """What is taken for what."""
    return confusion(measured_answers(request))


def draw_roc(request: PictureRequest) -> Figure:
    """How many rows of a class are found at the price of so many false alarms."""
    return roc_curves(ranked_answers(request))


def draw_precision_recall(request: PictureRequest) -> Figure:
    """How many of those named are right, where so many rows of a class are found."""
    return precision_recall_curves(ranked_answers(request))


def draw_learning_curve(request: PictureRequest) -> Figure:
    """How answers got better with the number of rows."""
    if request.quality is None or not request.quality.curve:
        raise OptionRefused(
            "The model keeps no learning curve: it was fitted plain, from few rows, or row by row.",
            advice=("Draw one from rows with labels: ", UseVerb("compare"), "."),
        )
    return own_curve(request.quality)


def measured_answers(request: PictureRequest) -> Any:
    """What was found about answers, on rows given or by the model itself."""
    if request.measured is None:
        raise OptionRefused(
            "The model keeps no measure of how good its answers are: it was fitted plain, from few rows, or row by "
            "row.",
            advice="Give rows with labels to measure it on.",
        )
    return request.measured


def ranked_answers(request: PictureRequest) -> Any:
    """The same, where it tells how rows are ranked."""
    found = measured_answers(request)
    if not found.ranking:
        raise OptionRefused(
            "How well rows are ranked is not known: the model was fitted by an earlier release, or there is only one "
            "class.",
            advice="Give rows with labels, of two classes or more, to measure it on.",
        )
    return found


PICTURES: dict[str, Callable[[PictureRequest], Figure]] = {
    "nomogram": lambda request: nomogram(request.subject, request.of, request.against),
    "feature": draw_feature,
    "telling": lambda request: telling(request.subject),
    "reliability": draw_reliability,
    "confusion": draw_confusion,
    "roc": draw_roc,
    "precision_recall": draw_precision_recall,
    "learning_curve": draw_learning_curve,
}


def refuse_unknown_picture(
    picture: str, column: str | None = None, of: str | None = None, against: str | None = None
) -> None:
    """Raise where there is no such picture, or where something was asked that it does not know."""
    if picture not in PICTURES:
        raise OptionRefused.of_name(f"There is no picture '{picture}'.", picture, PICTURES)
    if column is not None and picture != "feature":
        raise OptionRefused(NamedOption("column"), f" is for the picture of a feature, not for '{picture}'.")
    if (of, against) != (None, None) and picture != "nomogram":
        raise OptionRefused(
            NamedOption("of"), " and ", NamedOption("against"), f" are for the nomogram, not for '{picture}'."
        )
