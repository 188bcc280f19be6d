"""What a user can ask for when learning, in one place for every face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from candide.data.advice import SetOption
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.model.predictor import Priors
from candide.model.schema import Families, Schema, Smoothing, Text, choose


@dataclass(frozen=True)
class Options:
    """What a user can ask for when learning; see `NaiveBayes` for what each means."""

    families: Families = "auto"
    smoothing: Smoothing = "auto"
    priors: Priors = "empirical"
    class_weight: Priors | None = None
    missing: str = "ignore"
    text: Text = None
    calibrate: bool = True
    engine: str = field(default="local", compare=False)
    """Who does the work: no part of what a model is, since all come to the same."""
    ledger: bool = False
    dependence: str = "auto"
    refine: str = "none"
    unlabelled: str = "refuse"

    def __post_init__(self) -> None:
        if self.dependence not in ("auto", "none"):
            raise OptionRefused.of_option("dependence", "'auto' or 'none'", self.dependence)
        if self.refine not in ("none", "linear", "auto"):
            raise OptionRefused.of_option("refine", "'none', 'linear' or 'auto'", self.refine)
        if self.refine == "linear" and not self.calibrate:
            raise OptionRefused(
                SetOption("refine", "linear"),
                " weighs words beside what calibration made of them.",
                advice=("Leave out ", SetOption("calibrate", False), "."),
            )
        if self.unlabelled not in ("refuse", "em"):
            raise OptionRefused.of_option("unlabelled", "'refuse' or 'em'", self.unlabelled)
        if self.missing not in ("ignore", "value"):
            raise OptionRefused.of_option("missing", "'ignore' or 'value'", self.missing)

    def choose(self, batch: Batch) -> Schema:
        """A family for every column of the rows: as given, else by the look of its values."""
        return choose(batch, self.families, self.smoothing, self.missing == "value", self.text)

    def choose_only(self, batch: Batch, new: list[str]) -> Schema:
        """A family for the columns not met before; what was said of others is left aside."""
        narrowed = {name: only(getattr(self, name), new) for name in ("families", "smoothing", "text")}
        return replace(self, **narrowed).choose(batch.only(new))

    @property
    def columns_named(self) -> set[str]:
        """The columns that the user spoke of by name."""
        given = (self.families, self.smoothing, self.text)
        return {str(name) for by_column in given if isinstance(by_column, Mapping) for name in by_column}

    def as_dict(self) -> dict[str, Any]:
        """Every option by name."""
        return {option.name: getattr(self, option.name) for option in fields(self)}


def only(by_column: Any, names: list[str]) -> Any:
    """The part of a mapping by column that speaks of these names; anything else as it is."""
    if not isinstance(by_column, Mapping):
        return by_column
    return {name: value for name, value in by_column.items() if name in names}
