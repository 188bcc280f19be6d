"""report: a model on one page, or one picture of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from candide import store
from candide.api.verbs.evaluating import evaluate
from candide.api.verbs.fitted import Fitted, opened_model
from candide.api.verbs.reading import SourceOptions
from candide.data.advice import NamedOption, SetOption
from candide.data.errors import Location, OptionRefused
from candide.data.progress import Watch, unwatched
from candide.evaluation import Evaluation
from candide.show.pictures.gallery import PICTURES, PictureRequest, refuse_unknown_picture
from candide.show.pictures.subject import Subject
from candide.show.pictures.theme import ending_of, matplotlib_or_advice, save_figure
from candide.show.report.findings import Findings
from candide.show.report.page import amount, report_page
from candide.sources import Size
from candide.store.atomic import replace_file
from candide.store.overwriting import kind_written
from candide.store.refusals import not_written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGES = (".html", ".htm")


@dataclass(frozen=True)
class Written:
    """What was written where."""

    output: str
    size: int
    """In bytes."""


def report(
    model: Any,
    output: str | os.PathLike[str] | None = None,
    data: Any = None,
    label: str | None = None,
    *,
    picture: str | None = None,
    column: str | None = None,
    of: str | None = None,
    against: str | None = None,
    tested: Evaluation | None = None,
    strict: bool = False,
    force: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Written:
    """Write a page that shows what a model has learned: it opens from disk and needs no network.

    Reliability and mistakes are those of `data`, rows with labels that the model has not learned, or else those that
    `fit` measured by leaving out rows; `tested` is what `evaluate` found before. With `picture` only that one is drawn,
    as .svg or .png: "nomogram", "feature" (of a `column`), "telling", "reliability", "confusion", "roc",
    "precision_recall" or "learning_curve".
    The nomogram sets one class `of` the label `against` another. Without `output` the file is named after the model.
    """
    output = output_for(model, picture) if output is None else os.fspath(output)
    refuse_before_work(output, picture, column, of, against)
    kind = kind_written(output, "html" if picture is None else ending_of(output))
    store.refuse_overwriting(output, kind, [data, model], force)
    store.refuse_rejects(reading.get("rejects"), [data, model, output])
    fitted = opened_model(model)
    if data is not None:
        tested = evaluate(fitted, data, label, strict=strict, watch=watch, **reading)
    if picture is not None:
        save_figure(drawn(fitted, picture, tested, column, of, against), output)
        return Written(output, os.path.getsize(output))
    findings = Findings(
        fitted.trained, fitted.provenance, tested, file_name(model), () if tested is None else tested.notes, of, against
    )
    if (of, against) != (None, None):
        findings.subject.pair(of, against)
    with watch("Drawing", Size(amount(findings), "pictures")) as told:
        content = report_page(findings, told).encode()
    try:
        replace_file(output, [content])
    except OSError as problem:
        raise not_written(f"'{output}'", problem) from problem
    return Written(output, len(content))


def plot(
    model: Any,
    picture: str,
    column: str | None = None,
    of: str | None = None,
    against: str | None = None,
) -> Figure:
    """One picture of a model as a matplotlib figure."""
    refuse_unknown_picture(picture, column, of, against)
    matplotlib_or_advice()
    return drawn(opened_model(model), picture, None, column, of, against)


def drawn(
    fitted: Fitted, picture: str, tested: Any, column: str | None, of: str | None, against: str | None
) -> Figure:
    """The picture, from the model or from what was found on rows."""
    quality = fitted.trained.tuning.quality
    subject = Subject.of(fitted.trained.predictor, fitted.label)
    return PICTURES[picture](PictureRequest(subject, tested or quality, quality, column, of, against))


def output_for(model: Any, picture: str | None) -> str:
    """Where to write: beside nothing, named after the model.

    >>> output_for("models/titanic.candide", None), output_for("titanic.candide", "nomogram")
    ('titanic.html', 'titanic-nomogram.svg')
    """
    stem = file_name(model).removesuffix(".candide") or "report"
    return f"{stem}.html" if picture is None else f"{stem}-{picture}.svg"


def file_name(model: Any) -> str:
    """The name of a model file; nothing where it is no file."""
    return Path(model).name if isinstance(model, (str, os.PathLike)) else ""


def refuse_before_work(
    output: str, picture: str | None, column: str | None, of: str | None, against: str | None
) -> None:
    """What cannot be drawn or saved is known before the work, not after."""
    matplotlib_or_advice()
    if picture is not None:
        refuse_unknown_picture(picture, column, of, against)
        ending_of(output)
    elif column is not None:
        raise OptionRefused(
            NamedOption("column"), " is for one picture.", advice=("Add ", SetOption("picture", "feature"), ".")
        )
    elif not output.lower().endswith(PAGES):
        raise OptionRefused(
            f"A report is a page, so '{output}' should end in .html.",
            advice=("A single picture is asked for by ", SetOption("picture"), "."),
            where=Location(str(output)),
            expected="a name that ends in .html",
        )
    with store.locked(output):
        pass
