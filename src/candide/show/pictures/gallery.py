"""Any picture of a model by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from candide.data.advice import NamedOption, SetOption
from candide.data.errors import OptionRefused, suggestion
from candide.show.pictures.confusion import confusion
from candide.show.pictures.features import feature
from candide.show.pictures.informative import telling
from candide.show.pictures.nomogram import nomogram
from candide.show.pictures.own_curve import own_curve
from candide.show.pictures.reliability import reliability
from candide.show.pictures.subject import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNMEASURED = (
    "The model keeps no measure of how good its answers are: it was fitted plain, from few rows, or row by row. Give "
    "rows with labels to measure it on."
)


@dataclass(frozen=True)
class Wish:
    """What is to be drawn: a model, how good its answers were, and what to look at."""

    subject: Subject
    measured: Any = None
    quality: Any = None
    column: str | None = None
    of: str | None = None
    against: str | None = None


def drawn_feature(wish: Wish) -> Figure:
    """One column in each class."""
    if wish.column is None:
        raise OptionRefused("A picture of a feature needs its name: ", SetOption("column"), ".")
    return feature(wish.subject, wish.column)


def drawn_reliability(wish: Wish) -> Figure:
    """Whether probabilities mean what they say."""
    return reliability(measured(wish))


def drawn_confusion(wish: Wish) -> Figure:
    """What is taken for what."""
    return confusion(measured(wish))


def drawn_curve(wish: Wish) -> Figure:
    """How answers got better with the number of rows."""
    if wish.quality is None or not wish.quality.curve:
        raise OptionRefused(
            "The model keeps no learning curve: it was fitted plain, from few rows, or row by row. Draw one from rows "
            "with labels: candide compare."
        )
    return own_curve(wish.quality)


def measured(wish: Wish) -> Any:
    """What was found about answers, on rows given or by the model itself."""
    if wish.measured is None:
        raise OptionRefused(UNMEASURED)
    return wish.measured


PICTURES: dict[str, Callable[[Wish], Figure]] = {
    "nomogram": lambda wish: nomogram(wish.subject, wish.of, wish.against),
    "feature": drawn_feature,
    "telling": lambda wish: telling(wish.subject),
    "reliability": drawn_reliability,
    "confusion": drawn_confusion,
    "learning_curve": drawn_curve,
}


def refuse_unknown(picture: str, column: str | None = None, of: str | None = None, against: str | None = None) -> None:
    """Raise where there is no such picture, or where something was asked that it does not know."""
    if picture not in PICTURES:
        raise OptionRefused(f"There is no picture '{picture}'. {suggestion(picture, PICTURES)}")
    if column is not None and picture != "feature":
        raise OptionRefused(NamedOption("column"), f" is for the picture of a feature, not for '{picture}'.")
    if (of, against) != (None, None) and picture != "nomogram":
        raise OptionRefused(
            NamedOption("of"), " and ", NamedOption("against"), f" are for the nomogram, not for '{picture}'."
        )
