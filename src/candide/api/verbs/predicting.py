"""predict: the rows as they came, with label, probability and decision beside each, in order and in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import pyarrow as pa

from candide import engines
from candide.api.class_names import by_meant_class
from candide.api.verbs.answers import Answers
from candide.api.verbs.digits import digits_for
from candide.api.verbs.fitted import opened_model
from candide.api.verbs.passing import AsObjects, AsRecords, AsTables
from candide.api.verbs.reading import (
    OthersAsText,
    SourceOptions,
    expected_kinds,
    left_out_notes,
    refuse_rows_with_texts,
    texts_alone,
)
from candide.api.verbs.writing import TEXTUAL, Output, format_for, names_format, parquet, refuse_unsafe, write
from candide.data.advice import SetOption
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, Location, OptionRefused
from candide.data.progress import Watch, unwatched
from candide.data.values import shown
from candide.model.decision import RARITY, refuse_no_share
from candide.model.missing_columns import absent_columns_notes, lacking
from candide.model.predictor import Priors
from candide.model.trained_model import TrainedModel
from candide.sources import Source
from candide.sources.delimited import Delimited
from candide.sources.file_source import FileSource
from candide.sources.frame import FrameSource
from candide.store.model_file import from_bytes, to_bytes
from candide.store.overwriting import kind_written, refuse_overwriting, refuse_rejects


@dataclass(frozen=True)
class Predicted:
    """How many rows got which decision; the rows themselves where they were not written anywhere.

    `skipped` rows could not be read, and `notes` name the first of them: they are left out, or have no answer. Of a
    frame of a cluster, nobody has counted rows yet.
    """

    rows: int | None
    decisions: dict[str, int]
    table: Any = None
    skipped: int = 0
    notes: tuple[str, ...] = ()


def predict(
    model: Any,
    data: Any = None,
    output: Output | None = None,
    *,
    text: str | Sequence[str] | None = None,
    priors: Priors | None = None,
    confidence: float = 0.0,
    rarity: float = RARITY,
    probabilities: bool = False,
    answer: str | None = None,
    safe: bool = False,
    digits: int | str | None = None,
    output_format: str | None = None,
    strict: bool = False,
    force: bool = False,
    engine: str = engines.DEFAULT,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Predicted:
    """Answer rows, or texts of your own. Every row comes back as it was, with `label`, `probability` and `decision`.

    The decision is the label, or "unsure" where its probability is below `confidence`, or "unfamiliar" where the row is
    less expected than all but a share `rarity` of those learned. `priors` replaces the learned prior, for rows from a
    world with other proportions. `probabilities` adds the probability of each class.
    With `answer` the new columns are called so: `answer`, `answer_probability`, `answer_decision`; else a name that
    the rows use already gets `_predicted` behind it.

    Rows are written to `output` (csv, tsv, jsonl or parquet, by its name or `output_format`), else they are the
    result's `table`. What was not asked to change does not: see `candide.api.verbs.passing`. `safe` puts an apostrophe
    before fields that a spreadsheet would run. In csv and tsv probabilities have six significant `digits`, or as many
    as asked for, or "all"; JSON, Parquet and tables have all. `on_error="skip"` leaves out rows that cannot be read;
    with "keep" they come back without an answer. Columns that rows lack count as missing in them, which is noted;
    `strict` refuses. With the `engine` of a cluster files are read and answered by its workers; the rows of its own
    frames stay there, and the `table` is such a frame, answered whenever somebody asks for it.
    """
    fitted, runs = opened_model(model), engines.named(engine)
    refuse_no_share("confidence", confidence)
    refuse_no_share("rarity", rarity)
    refuse_rows_with_texts(data, text)
    format = None if output is None else format_for(output, output_format)
    refuse_unsafe(safe, format)
    significant = digits_for(digits, format)
    refuse_overwriting(output, kind_written(output, format), [data, model], force)
    refuse_rejects(reading.get("rejects"), [data, model, output])
    trained = under(fitted.trained, priors)
    expected = expected_kinds(trained)
    source = runs.opened(
        data if text is None else texts_alone(fitted, text), labelled=False, repeatable=False,
        expected=OthersAsText(expected) if format == "parquet" else expected, **reading,
    )  # fmt: skip
    absent = [] if text is not None else lacking(trained.schema, source.columns, strict)
    added = names_of_answers(trained, source, probabilities, answer)
    names = output is not None and names_format(output, output_format)
    thresholds = confidence, rarity
    if isinstance(source, FrameSource):
        refuse_output(output)
        answers = AnsweredPart(RowPredictor(trained, thresholds, probabilities, AnswersAlone(added)))
        notes = tuple(absent_columns_notes(absent, source.columns))
        return Predicted(None, {}, runs.answered(source, answers, trained.predictor.reads), notes=notes)
    passing = passing_for(source, added, format, safe, significant, names)
    row_predictor = RowPredictor(trained, thresholds, probabilities, passing.rows)
    decisions: Counter[str] = Counter()
    table = None
    found = counting_decisions(runs.map(row_predictor, runs.rows(source, "Predicting", watch)), decisions)
    if isinstance(passing, AsTables) and output is None:
        table = pa.concat_tables(list(found), promote_options="permissive")
    elif output is not None:
        write(parquet(found) if isinstance(passing, AsTables) else with_header(found, passing.header), output)
    said = dict(decisions.most_common())
    notes = (*absent_columns_notes(absent, source.columns), *left_out_notes(source))
    return Predicted(sum(said.values()), said, table, source.rejects.count, notes)


def under(trained: TrainedModel, priors: Priors | None) -> TrainedModel:
    """The model under other priors, where there are any; refused before rows are read if they do not fit."""
    if priors is None:
        return trained
    other = trained.with_priors(by_meant_class(priors, trained.summary.classes))
    other.predictor  # noqa: B018
    return other


def passing_for(
    source: Source, added: tuple[str, ...], format: str | None, safe: bool, digits: int | None, names: bool
) -> AsRecords | AsObjects | AsTables:
    """How rows come back in a format. `names` tells whether the format was asked for, by name or otherwise."""
    keeps = source.rejects.keeps
    if format == "jsonl":
        return AsObjects(source, added, keeps)
    if format in TEXTUAL:
        return AsRecords(source, added, keeps, delimiter_for(source, format, names), safe, digits)
    return AsTables(source, added, keeps, format == "parquet")


def delimiter_for(source: Source, format: str, names: bool) -> str:
    """What separates fields: tsv has tabs; csv what the input has, but for tabs where csv was asked for."""
    if format == "tsv":
        return "\t"
    reader = source.reader if isinstance(source, FileSource) else None
    own = reader.delimiter if isinstance(reader, Delimited) else ","
    return "," if own == "\t" and names else own


def with_header(
    found: Iterable[tuple[Sequence[str], bytes]], header: Callable[[Sequence[str]], bytes]
) -> Iterator[bytes]:
    """The rows, with a header before the first."""
    is_first = True
    for names, rows in found:
        yield header(names) + rows if is_first else rows
        is_first = False


def counting_decisions(found: Iterable[tuple[Any, dict[str, int]]], decisions: Counter[str]) -> Iterator[Any]:
    """Pass rows on, counting their decisions."""
    for rows, made in found:
        decisions.update(made)
        yield rows


@dataclass(frozen=True)
class RowPredictor:
    """From a batch to its rows with answers, and how often each decision was made; safe to run on several threads."""

    trained: TrainedModel
    thresholds: tuple[float, float]
    with_chances: bool
    with_answers: Callable[[Batch, Answers], Any]

    def __call__(self, batch: Batch) -> tuple[Any, dict[str, int]]:
        """Answer some rows; there may be none, where all that there were could not be read."""
        if len(batch):
            known = batch.with_missing(self.trained.schema.columns)
            answers = Answers.of(self.trained, known, self.thresholds, self.with_chances)
        else:
            answers = Answers.none(self.trained, self.with_chances)
        return self.with_answers(batch, answers), answers.counted()

    def __reduce__(self) -> Any:
        """Sent elsewhere, the model travels in the form of its file, and is checked there."""
        return sent_predictor, (to_bytes(self.trained), self.thresholds, self.with_chances, self.with_answers)


def sent_predictor(model: bytes, thresholds: tuple[float, float], with_chances: bool, answers: Any) -> RowPredictor:
    """What predicts rows, as it arrives."""
    return RowPredictor(from_bytes(model), thresholds, with_chances, answers)


@dataclass(frozen=True)
class AnswersAlone:
    """Nothing comes back of rows that stay where they are: the answers, under these names."""

    added: tuple[str, ...]

    def __call__(self, batch: Batch, answers: Answers) -> Any:
        """A table of answers."""
        return pa.table(answers.columns(), list(self.added))


@dataclass(frozen=True)
class AnsweredPart:
    """From the rows of a part of a frame to a table of their answers."""

    predictor: RowPredictor

    def __call__(self, part: FrameSource) -> Any:
        """An answer to each row; of none, a table without rows."""
        found = [self.predictor(batch)[0] for batch in part.batches()]
        return pa.concat_tables(found or [self.predictor(part.batch)[0]], promote_options="permissive")


def refuse_output(output: Output | None) -> None:
    """Raise where rows of a cluster are to be written here."""
    if output is not None:
        raise OptionRefused(
            "The rows of a frame of a cluster stay there.",
            advice="Leave the output out, and let the frame that comes back write itself.",
        )


def names_of_answers(trained: TrainedModel, source: Source, probabilities: bool, answer: str | None) -> tuple[str, ...]:
    """What the new columns are called."""
    chances = [f"probability_{shown(key)}" for key in trained.predictor.classes] if probabilities else []
    taken = tuple(dict.fromkeys([*source.columns, *source.returned]))
    if answer is None:
        return unused(["label", "probability", "decision", *chances], taken)
    names = (answer, *(f"{answer}_{name}" for name in ["probability", "decision", *chances]))
    clash = [name for name in names if name in taken]
    if clash or not answer:
        raise ColumnRefused(
            f"{source.name} has a column '{clash[0]}' already." if clash else "A column of answers needs a name.",
            advice=("Choose another name: ", SetOption("answer"), "."),
            where=Location(source.name, column=clash[0] if clash else None),
        )
    return names


def unused(names: list[str], taken: tuple[str, ...]) -> tuple[str, ...]:
    """Names for new columns that the input does not use: `label`, or `label_predicted`, or `label_predicted_2`, ...

    >>> unused(["label", "decision"], ("label", "age"))
    ('label_predicted', 'decision')
    """
    found: list[str] = []
    for name in names:
        options = (f"{name}_predicted{ending}" for ending in ("", *(f"_{n}" for n in range(2, len(taken) + 3))))
        found.append(name if name not in taken else next(o for o in options if o not in taken))
    return tuple(found)
