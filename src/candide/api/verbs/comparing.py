"""compare: naive Bayes beside other methods on the same rows; or two models, and what moved between them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Unpack

from candide import store
from candide.api.verbs.drifting import drift_of, models_among
from candide.api.verbs.fitting import refuse_nested, refuse_numbers_as_labels
from candide.api.verbs.reading import SourceOptions, labelled_source, left_out_notes
from candide.data.advice import Message, SetOption
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.progress import Watch, unwatched
from candide.evaluation.comparison import FOLDS, Comparison, Contest
from candide.evaluation.drift import Drift
from candide.model.row_sample import Reservoir
from candide.model.schema import Families
from candide.sources import Size, Source
from candide.store.overwriting import kind_written

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS = 20_000


def compare(
    data: Any,
    label: str | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    families: Families = "auto",
    folds: int = FOLDS,
    rows: int = ROWS,
    seed: int = 0,
    force: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Comparison | Drift:
    """Set methods side by side on the same folds: how good, how honest, how fast, and with how many rows.

    `output` is where the picture of the learning curves goes, .svg or .png. Of more rows than `rows` so many are picked
    by chance. `families` goes for naive Bayes; a column that is to be ignored is ignored by all.

    Of two models, `compare(["monday.candide", "tuesday.candide"])`, it tells the drift: which classes, columns and
    words moved from the first to the second beyond chance. It is in their counts, so no rows are read.

    >>> table = {"weather": ["sun", "rain", "rain", "sun"] * 6, "plan": ["beach", "home", "home", "walk"] * 6}
    >>> found = compare(table, "plan", folds=2)
    >>> round(found["naive Bayes"].best.accuracy, 2), round(found["logistic regression"].best.accuracy, 2)
    (0.75, 0.75)
    >>> from candide import fit
    >>> monday, tuesday = (fit({"x": ["a"] * n + ["b"] * 20, "y": ["u", "v"] * (n // 2 + 10)}, "y") for n in (20, 180))
    >>> [column.sentence for column in compare([monday, tuesday]).moved]
    ['a 90%, was 50%; b 10%, was 50%']
    """
    if models_among(data):
        asked = {"label": label, "output": output, "families": families, "folds": folds, "rows": rows, "seed": seed}
        return drift_of(data, {**asked, **reading})
    if output is not None:
        refuse_no_picture(output, data, force)
    store.refuse_rejects(reading.get("rejects"), [data, output])
    source = labelled_source(data, label, None, reading)
    batch, notes = some_rows(source, rows, watch)
    refuse_numbers_as_labels(batch, source)
    refuse_nested(batch, source, families)
    contest = Contest.of(batch, families, folds, seed)
    with watch(f"Comparing {len(contest.methods)} methods", Size(contest.amount, "rows")) as report:
        found = contest.run(source.label, [*notes, *left_out_notes(source)], report)
    if output is not None:
        from candide.show.pictures.learning_curves import learning_curves
        from candide.show.pictures.theme import save_figure

        save_figure(learning_curves(found), output)
    return found


def some_rows(source: Source, most: int, watch: Watch) -> tuple[Batch, Sequence[str]]:
    """All rows where there are few, else so many picked by chance, and a sentence on that."""
    if not (isinstance(most, int) and most > 0):
        raise OptionRefused.of_option("rows", "a whole number from 1 up", most)
    reservoir = Reservoir(most)
    with watch("Reading", source.size) as report:
        for _ in reservoir.watched(source.batches(report)):
            pass
    batch = reservoir.rows()
    if reservoir.seen <= most:
        return batch, []
    said = f"Compared on {most:,} of {reservoir.seen:,} rows, picked by chance. More take longer: "
    return batch, [Message(said, SetOption("rows"), ".")]


def refuse_no_picture(output: str | os.PathLike[str], data: Any, force: bool) -> None:
    """What cannot be drawn or saved is known before the work, not after."""
    from candide.show.pictures.theme import ending_of, matplotlib_or_advice

    ending = ending_of(output)
    matplotlib_or_advice()
    store.refuse_overwriting(output, kind_written(output, ending), [data], force)
    with store.locked(output):
        pass
