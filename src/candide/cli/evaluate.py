"""candide evaluate"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Folds, LabelOfRows, ModelOptions, ReadingOptions, Seed, Shape, ShapeOption, Strict

CONFUSION_WIDTH = 10
CONFUSIONS_SHOWN = 10


@with_groups
def evaluate(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] DATA",
            help="A model file and rows with labels; or only rows, and --label. Rows are whatever fit reads.",
            show_default=False,
        ),
    ],
    label: LabelOfRows = None,
    leave_one_out: Annotated[
        bool,
        typer.Option("--leave-one-out", help="The model has learned these rows: judge each by what the others taught."),
    ] = False,
    folds: Annotated[int | None, Folds] = None,
    seed: Seed = None,
    *,
    asked: ModelOptions,
    reading: ReadingOptions,
    strict: Strict = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Say how good the answers are.

    With a model, on rows it has not learned. Without one, a model is fitted to the rows and each is judged by choices
    and a calibration made without it, so no test set is needed; --folds fits anew without the rows it judges. What
    that model is to be is said as for fit.

    Example: candide evaluate titanic.candide test.csv

    Example: candide evaluate titanic.csv --label survived
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb

    run = verb("evaluate")
    found = run(
        *model_and_data(given),
        label,
        leave_one_out=leave_one_out,
        folds=folds,
        seed=seed,
        strict=strict,
        watch=watch,
        **asked.for_verb(),
        **reading.for_verb(),
    )
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json(found.to_dict())
        return
    show_evaluation(found)


def model_and_data(given: list[str]) -> tuple[Any, Any]:
    """A model and rows, or rows alone: the first file tells."""
    from candide.api.verbs.evaluating import is_model

    if not is_model(given[0]):
        if any(map(is_model, given[1:])):
            raise typer.BadParameter("The model comes first: candide evaluate MODEL DATA.")
        return options.one_or_all(given), None
    return given[0], options.one_or_all(given[1:]) if len(given) > 1 else None


def show_evaluation(found: Any) -> None:
    """The measures, each class, which classes are taken for which, what probabilities mean, and labels to look at."""
    from candide.cli.tables import notes, show_table
    from candide.data.written_numbers import percent, three_digits

    low, high = found.interval
    print(f"{percent(found.accuracy)} of {found.rows:,} rows are right ({found.kind})\n")
    rows = [
        ("accuracy", three_digits(found.accuracy), f"95% interval {low:.3f} to {high:.3f}; always the commonest: "
         f"{found.baseline:.3f}"),
        ("balanced accuracy", three_digits(found.balanced_accuracy), "mean recall of the classes"),
        ("log loss", three_digits(found.log_loss), "mean surprise in nats; 0 is perfect"),
        ("Brier", three_digits(found.brier), "mean squared error of the probabilities; 0 is perfect"),
        ("calibration error", three_digits(found.calibration_error), "probability against share that is right; "
         f"by chance up to {found.calibration_error_by_chance:.3f}"),
        ("macro F1", three_digits(found.macro_f1), "mean F1 of the classes"),
        *ranking_rows(found),
    ]  # fmt: skip
    show_table(("", "", ""), rows, right=(1,), flexible=2)
    show_classes(found)
    show_confusion(found)
    show_reliability(found)
    show_suspicious(found)
    if found.notes:
        print()
        notes(found.notes)


def ranking_rows(found: Any) -> list[tuple[str, str, str]]:
    """Areas under curves, with what they mean; nothing where there is only one class to rank."""
    from candide.data.written_numbers import three_digits

    if not found.ranking:
        return []
    areas = three_digits(found.roc_area), three_digits(found.average_precision)
    if len(found.ranking) == 1:
        (one,) = found.ranking
        about = f"how often a row of '{one.name}' ranks above another; 0.5 is chance", (
            f"mean precision over the rows of '{one.name}'; by chance {one.share:.3f}"
        )
    else:
        lowest = min(found.ranking, key=lambda one: one.roc_area)
        least = min(found.ranking, key=lambda one: one.average_precision)
        about = f"mean of the classes; the worst, '{lowest.name}': {lowest.roc_area:.3f}; 0.5 is chance", (
            f"mean of the classes; the worst, '{least.name}': {least.average_precision:.3f}, by chance "
            f"{least.share:.3f}"
        )
    return [("ROC area", areas[0], about[0]), ("average precision", areas[1], about[1])]


def show_classes(found: Any) -> None:
    """How well each class is found, and ranked above all others where there are more than two."""
    from candide.cli.tables import heading, show_table
    from candide.data.written_numbers import three_digits

    heading("Classes")
    ranked = {one.name: one for one in found.ranking} if len(found.ranking) > 1 else {}
    areas = [("ROC area", "roc_area"), ("av. precision", "average_precision")] if ranked else []
    lines = [
        (name, f"{s.rows:,}", *map(three_digits, (s.precision, s.recall, s.f1)),
         *(three_digits(getattr(ranked.get(name), area, None)) for _, area in areas))
        for name, s in found.by_class.items()
    ]  # fmt: skip
    header = (str(found.label or "class"), "rows", "precision", "recall", "F1", *(title for title, _ in areas))
    show_table(header, lines, right=range(1, len(header)))


def show_confusion(found: Any) -> None:
    """The whole matrix where it is small, else the commonest mistakes."""
    from candide.cli.tables import heading, show_table

    if len(found.classes) <= CONFUSION_WIDTH:
        heading("Truth in rows, answer in columns")
        rows = [
            (truth, *(f"{count:,}" for count in found.confusion[index].tolist()))
            for index, truth in enumerate(found.truths)
        ]
        show_table(("", *found.classes), rows, right=range(1, len(found.classes) + 1))
        return
    heading("Commonest mistakes")
    mistakes = [
        (count, truth, answer)
        for index, truth in enumerate(found.truths)
        for answer, count in zip(found.classes, found.confusion[index].tolist(), strict=True)
        if count and truth != answer
    ]
    mistakes.sort(key=lambda one: (-one[0], one[1], one[2]))
    rows = [(f"{count:,}", truth, answer) for count, truth, answer in mistakes[:CONFUSIONS_SHOWN]]
    show_table(("rows", "truth", "answer"), rows, right=(0,))


def show_reliability(found: Any) -> None:
    """How often answers of about the same probability are right."""
    from candide.cli.tables import heading, show_table
    from candide.data.written_numbers import percent
    from candide.show.report.calibration_words import calibration_in_words

    heading("Do probabilities mean what they say?")
    rows = [
        (f"{part.low:.0%} to {part.high:.0%}", f"{part.rows:,}", percent(part.probability), percent(part.accuracy))
        for part in found.reliability
        if part.rows
    ]
    show_table(("probability", "rows", "mean", "right"), rows, right=(0, 1, 2, 3))
    print(calibration_in_words(found))


def show_suspicious(found: Any) -> None:
    """Rows to look at."""
    from candide.cli.tables import heading, show_table
    from candide.data.written_numbers import percent

    if not found.suspicious:
        return
    heading("Rows whose label looks wrong")
    rows = [
        (f"{s.row:,}", s.label, percent(s.label_probability), s.answer, percent(s.answer_probability))
        for s in found.suspicious
    ]
    show_table(("row", "label", "probability", "answer", "probability"), rows, right=(0, 2, 4))
