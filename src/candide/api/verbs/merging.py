"""merge: one model of what several learned, exactly as if one had learned it all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from candide.api.verbs.fitted import Fitted, Path, being_written, opened_model, with_event
from candide.data.advice import SetOption, UseVerb
from candide.data.errors import Location, OptionRefused, SummariesDisagree
from candide.model.trained_model import TrainedModel
from candide.training.merge import merge_two
from candide.training.reread import reread


def merge(models: Iterable[Any], output: Path | None = None, *, force: bool = False) -> Fitted:
    """Add models, as if one had learned all their rows: families of columns left open are read off the sum.

    Calibration, text recipes and what else was chosen from whole rows are those of the first, as far as both have
    counted what they need. Models whose families were given by hand, and differ, are refused with the reason.

    `output` may be one of them; a file that is no model is written over only by `force`.
    """
    given = list(models)
    if len(given) < 2:
        raise OptionRefused(
            f"Merging takes at least two models, but {len(given)} was given.", expected="two models or more"
        )
    with being_written(output, force=force):
        merged = added_up(given)
        if output is not None:
            merged.save(output, force)
    return merged


def added_up(given: list[Any]) -> Fitted:
    """The sum of models, with where each came from."""
    names = [model_name(model, index) for index, model in enumerate(given, 1)]
    fitted = [opened_model(model) for model in given]
    total, notes = fitted[0].trained, []
    for name, other in zip(names[1:], fitted[1:], strict=True):
        refuse_disagreeing_models(fitted[0].trained, names[0], other.trained, name)
        notes += other_options(fitted[0].trained, names[0], other.trained, name)
        total = merge_two(total, other.trained)
    total = reread(total)
    notes += kept_of_first(fitted[0].trained, total)
    provenance = with_event(fitted[0].provenance, "merge", names, total.summary.rows)
    provenance["sources"] = [s for one in fitted for s in one.provenance.get("sources", [])]
    provenance["rows"] = total.summary.rows
    return Fitted(replace(total, provenance=provenance), tuple(notes))


def model_name(model: Any, index: int) -> str:
    """What errors call a model."""
    return f"'{os.fspath(model)}'" if isinstance(model, (str, os.PathLike)) else f"model {index}"


def refuse_disagreeing_models(first: TrainedModel, name: str, other: TrainedModel, other_name: str) -> None:
    """Raise where two models do not answer the same question."""
    if first.label != other.label:
        raise SummariesDisagree(
            f"{name} learned column '{first.label}' but {other_name} learned '{other.label}', so they do not add.",
            where=Location(other_name, column=other.label),
            expected=f"a model of column '{first.label}'",
        )
    kinds = {kind for kind, _ in (*first.summary.classes, *other.summary.classes)}
    if len(kinds) > 1:
        raise SummariesDisagree(
            f"The labels of {name} and {other_name} are of two kinds ({' and '.join(sorted(kinds))}), so 1 and '1' "
            "would be two classes.",
            advice=("Fit one of them again like the other: ", like_model(name), "."),
        )


def like_model(name: str) -> UseVerb:
    """How to fit rows with the choices of a model that is called so in an error."""
    return UseVerb("fit", (SetOption("like", name.strip("'")) if name.startswith("'") else SetOption("like"),))


def kept_of_first(first: TrainedModel, total: TrainedModel) -> list[str]:
    """What of the first model's choices from whole rows the sum goes on with, and what it had to drop, in one line."""
    said = []
    if total.tuning.calibration is not None:
        what = "calibration is" if total.tuning.layer is None else "calibration and the linear layer are"
        said.append(f"{what} still that of {first.tuning.rows or first.summary.rows:,} rows")
    left = {(choice.column, family.counted_as) for choice in total.schema.choices for family in choice.families}
    dropped = {
        choice.column: family
        for choice in first.schema.choices
        for family in choice.families
        if not family.is_read_off and (choice.column, family.counted_as) not in left
    }
    together = sorted({family.name for family in dropped.values() if family.is_joint})
    readings = sorted({column for column, family in dropped.items() if not family.is_joint})
    said += [f"not every model had learned {name}, so its columns speak one by one" for name in together]
    said += [f"of '{column}' only what all have read is kept" for column in readings]
    lost = len(first.schema.pairs) - len(total.schema.pairs)
    if lost:
        said.append(f"{lost} of {len(first.schema.pairs)} pairs of columns were not counted alike by all, and leave")
    if not said:
        return []
    return [f"Families are read off the sum; {'; '.join(said)}. To choose all anew, refit with the rows."]


def other_options(first: TrainedModel, name: str, other: TrainedModel, other_name: str) -> list[str]:
    """Which options differ, and which are kept."""
    mine, theirs = first.options.as_dict(), other.options.as_dict()
    differing = [key for key in mine if mine[key] != theirs[key]]
    return [f"{other_name} has {key} {theirs[key]!r}; kept is {mine[key]!r} of {name}." for key in differing]
