"""The card of a model, as people read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from candide.api.verbs.looks import short
from candide.cli.tables import heading, shell_command, show_table
from candide.cli.wording import in_shell
from candide.data.visible import visible
from candide.data.written_numbers import percent, three_digits

COLUMNS_SHOWN, CLASSES_SHOWN = 20, 20
"""So many columns and classes are shown; JSON has them all."""

LONGEST_NAME = 34
WIDTH = 80
"""What classes look like is shown side by side where a screen of this width has room for it."""

LINES = 40
"""Where it has not, so many lines are spent on the most telling columns."""

FAR_FROM_ONE, WEIGHTS_SHOWN = 1.25, 10
"""Calibration is told of where it multiplies by more than this, or divides; up to so many columns."""

ALL_QUANTILES = ("min", "5%", "25%", "50%", "75%", "95%", "max")
QUARTILES, MIDDLE = ("min", "25%", "50%", "75%", "max"), ("min", "50%", "max")
"""So much is told of where numbers lie, as much as fits."""

SOURCES_NAMED = 4
"""Up to so many files are named."""


def model_in_a_line(card: dict[str, Any]) -> str:
    """One line about a model."""
    columns = sum(1 for column in card["columns"] if column["family"])
    return (
        f"{card['rows']:,} rows: {card['label'] or 'the label'}, one of {len(card['classes']):,} classes, from "
        f"{columns:,} column{'s' if columns != 1 else ''}"
    )


FLATTERING = "Leave-one-out under choices made from the same rows"
HONEST = "Rows judged by choices made without them"


def how_good(quality: dict[str, Any]) -> str:
    """One line about what `fit` measured."""
    how = FLATTERING if quality["kind"] == "leave-one-out" else HONEST
    return (
        f"{how}: accuracy {three_digits(quality['accuracy'])} "
        f"(always the commonest class: {three_digits(quality['baseline'])}), "
        f"log loss {three_digits(quality['log_loss'])}"
    )


def features_of(card: dict[str, Any]) -> list[dict[str, Any]]:
    """What speaks, the most telling first: columns, those that share a total as one, and further readings of texts."""
    speaking = [column for column in card["columns"] if column["information"] is not None]
    found = [{**column, "name": column["together"] or column["column"]} for column in speaking]
    for column in card["columns"]:
        found += [
            {**reading, "name": reading["reading"], "family": column["family"]}
            for reading in column["further"]
        ]
    return sorted(found, key=lambda one: -one["information"])


def show_decisions(card: dict[str, Any]) -> None:
    """Each column with what it tells and its family, the most telling first; then how each was chosen."""
    features = features_of(card)
    silent = [column for column in card["columns"] if column["information"] is None and not column["together"]]
    rows = [
        (short_name(one["name"]), bits(one), one["family"], smoothing(one), words_known(one))
        for one in features[:COLUMNS_SHOWN]
    ]
    rows += [(short_name(one["column"]), "", one["family"] or "left out", "", "") for one in silent[:COLUMNS_SHOWN]]
    header, cells = without_empty(("column", "bits", "family", "smoothing", "vocabulary"), rows)
    heading("Columns, the most telling first" if features else "Columns")
    show_table(header, cells, right=[index for index, name in enumerate(header) if name not in ("column", "family")])
    more(len(features) - COLUMNS_SHOWN, "tells less", "tell less")
    more(len(silent) - COLUMNS_SHOWN, "is left out", "are left out")
    if features:
        print(f"bits: what one value tells about the class, of the {card['bits']:.2f} there are to know")
    show_reasons([*features[:COLUMNS_SHOWN], *silent[:COLUMNS_SHOWN]])


def show_pairs(card: dict[str, Any]) -> None:
    """Columns that speak together, with the values that say most."""
    if not card["pairs"]:
        return
    heading("Together, beyond what each column says")
    rows = [
        (short_name(" and ".join(one["columns"])), pair_in_words(one["cells"][0]) if one["cells"] else "")
        for one in card["pairs"][:COLUMNS_SHOWN]
    ]
    show_table(("columns", "such as"), rows, flexible=1)
    more(len(card["pairs"]) - COLUMNS_SHOWN, "says less", "say less")


def pair_in_words(cell: dict[str, Any]) -> str:
    """What one cell of a pair says.

    >>> pair_in_words({"values": ["3", "female"], "says": "no", "lead": 0.5, "rows": 144.0})
    '3 and female: for no by 0.50 nats (144 rows)'
    """
    values = visible(" and ".join(cell["values"]))
    return f"{values}: for {visible(str(cell['says']))} by {cell['lead']:.2f} nats ({cell['rows']:,.0f} rows)"


def show_holdings(card: dict[str, Any]) -> None:
    """What columns hold that were left open: how much is missing, how many values, and where numbers lie."""
    order = {one["name"]: rank for rank, one in enumerate(features_of(card))}
    known = [column for column in card["columns"] if column["held"] and column["held"]["missing"] < 1]
    known.sort(key=lambda column: order.get(column["together"] or column["column"], len(order)))
    if not known:
        return
    heading("What each column holds")
    for numbers in (ALL_QUANTILES, QUARTILES, MIDDLE):
        header, rows = without_empty(
            ("column", "missing", "different", *numbers), [holding(column, numbers) for column in known[:COLUMNS_SHOWN]]
        )
        if sum(max(map(len, cells)) + 2 for cells in zip(header, *rows, strict=True)) <= WIDTH:
            break
    show_table(header, rows, right=range(1, len(header)))
    more(len(known) - COLUMNS_SHOWN, "tells less", "tell less")


def holding(column: dict[str, Any], numbers: Sequence[str]) -> tuple[str, ...]:
    """One line of what columns hold."""
    held, quantiles = column["held"], column["held"]["quantiles"] or {}
    different = "many" if held["different"] is None else f"{held['different']:,}"
    missing = percent(held["missing"]) if held["missing"] else ""
    shown = (short(quantiles[name]) if name in quantiles else "" for name in numbers)
    return (short_name(column["column"]), missing, different, *shown)


def show_warnings(card: dict[str, Any]) -> None:
    """Columns that should be looked at twice, with what was done about it."""
    rows = [(short_name(one["column"]), in_shell(one["warning"])) for one in card["columns"] if one["warning"]]
    if rows:
        heading("Columns to look at twice")
        show_table(("", ""), rows[:COLUMNS_SHOWN], flexible=1)
        if len(rows) > COLUMNS_SHOWN:
            print(f"and {len(rows) - COLUMNS_SHOWN:,} more, which --format json tells of")


def show_reasons(columns: list[dict[str, Any]]) -> None:
    """How the family of each column was chosen."""
    rows = [(short_name(one["column"]), one["reason"]) for one in columns if "column" in one]
    if rows:
        heading("How each was chosen")
        show_table(("column", "because"), rows, flexible=1)


def short_name(name: str) -> str:
    """A name that leaves room for others beside it."""
    name = visible(name)
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def bits(one: dict[str, Any]) -> str:
    """What a feature tells; words and events are taken one by one.

    >>> bits({"information": 0.25, "per": "value"}), bits({"information": 0.25, "per": "event"})
    ('0.250', '0.250 an event')
    """
    of = {"word": " a word", "term": " a term", "event": " an event"}
    return three_digits(one["information"]) + of.get(one["per"], "")


def smoothing(one: dict[str, Any]) -> str:
    """The smoothing in use, if any."""
    return f"{one['smoothing']:g}" if one["smoothing"] else ""


def words_known(one: dict[str, Any]) -> str:
    """How many different words, or columns of counts, there are."""
    return f"{one['vocabulary']:,}" if one["vocabulary"] else ""


def show_calibration(card: dict[str, Any]) -> None:
    """What calibration makes of the evidence, where that is far from leaving it as it is."""
    if card["calibration"] is None or not card["classes"]:
        return
    weighed = [one for one in features_of(card) if not 1 / FAR_FROM_ONE < one["factor"] < FAR_FROM_ONE]
    shown = sorted(weighed, key=lambda one: -abs(math.log(max(one["factor"], 1e-9))))[:WEIGHTS_SHOWN]
    heading("Calibration")
    show_age(card)
    if not shown:
        print("The evidence of all columns counts about as it is.")
        return
    print("What these columns say is multiplied, as left-out rows advise, by")
    usual = {"word": "in a text of usual length", "term": "in a text of usual length"}
    rows = [(short_name(one["name"]), f"{one['factor']:.2g}", usual.get(one["per"], "")) for one in shown]
    show_table(("", "", ""), rows, right=(1,))
    if len(weighed) > len(shown):
        print(f"and {len(weighed) - len(shown):,} more")


def show_age(card: dict[str, Any]) -> None:
    """When calibration was fitted, where the model has learned or forgotten since."""
    rows = card["calibration"]["rows"]
    if rows and rows != card["rows"]:
        print(f"Calibrated when the model held {rows:,} rows; now it holds {card['rows']:,}.")


def show_layer(card: dict[str, Any]) -> None:
    """What a linear layer weighs, and when it was fitted."""
    found = card["layer"]
    if found is None:
        return
    heading("Linear layer")
    terms = " and ".join(f"{count:,} words and pairs of {short_name(name)}" for name, count in found["terms"].items())
    if found["terms"]:
        print(f"Weights of {terms} are added to what naive Bayes says.")
    if "table" in found:
        columns, beside = len(found["table"]["columns"]), found["table"]["beside"]
        kept = "" if beside == 1 else f", of which {beside:.0%} count"
        print(f"Weights of values of {columns:,} columns, and of products of two, join what naive Bayes says{kept}.")
    if found["rows"] != card["rows"]:
        print(f"Fitted when the model held {found['rows']:,} rows; now it holds {card['rows']:,}.")


def show_expected(card: dict[str, Any]) -> None:
    """What became of rows without a label, where there were some, and whether labelled ones changed since."""
    found = card["expected"]
    if found is None:
        return
    heading("Rows without a label")
    print(f"{found['rows']:,} rows count as {found['counted']:,.0f}, apart from labelled ones.")
    if found["labelled"] != card["rows"]:
        print(f"That was found when the model held {found['labelled']:,} labelled rows; now it holds {card['rows']:,}.")


def without_empty(
    header: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The table without columns in which nothing is said."""
    kept = [index for index in range(len(header)) if any(row[index] for row in rows)]
    return tuple(header[index] for index in kept), [tuple(row[index] for index in kept) for row in rows]


def more(count: int, one: str, many: str) -> None:
    """What is not shown."""
    if count > 0:
        print(f"and {count:,} more, which {one if count == 1 else many}")


def show_class_priors(card: dict[str, Any]) -> None:
    """Each class with its rows and prior, the commonest first where there are many."""
    heading("Classes")
    classes = commonest_classes(card)
    rows = [(str(one["class"]), f"{one['rows']:,}", percent(one["prior"])) for one in classes]
    show_table((str(card["label"] or "class"), "rows", "prior"), rows, right=(1, 2))
    if len(classes) < len(card["classes"]):
        print(f"and {len(card['classes']) - len(classes):,} more")


def commonest_classes(card: dict[str, Any], most: int = CLASSES_SHOWN) -> list[dict[str, Any]]:
    """All classes, or the commonest where there are many."""
    classes = card["classes"]
    return classes if len(classes) <= most else sorted(classes, key=lambda one: -one["rows"])[:most]


def show_quality(card: dict[str, Any], model: str) -> None:
    """How well the rows fared that were left out, or how to find out."""
    heading("Quality")
    found = card["quality"]
    if found is None:
        sources = card["provenance"].get("sources", [])
        data = sources if 0 < len(sources) <= SOURCES_NAMED else ["data.csv"]
        print("Not measured when it was fitted. To measure it:")
        print(visible(f"  {shell_command('evaluate', model, *data, '--leave-one-out')}"))
        return
    low, high = found["interval"]
    rows = [
        ("accuracy", three_digits(found["accuracy"]), f"95%: {low:.3f} to {high:.3f}; always the commonest: "
         f"{found['baseline']:.3f}"),
        ("balanced accuracy", three_digits(found["balanced_accuracy"]), "mean recall of the classes"),
        ("log loss", three_digits(found["log_loss"]), "mean surprise in nats; "
         f"{three_digits(found['raw_log_loss'])} before calibration"),
        ("calibration error", three_digits(found["calibration_error"]), "probability against share that is right; by "
         f"chance up to {found['calibration_error_by_chance']:.3f}"),
        ("ROC area", three_digits(found["roc_area"]), "how often a row of a class ranks above another; 0.5 is chance"),
        ("rows", f"{found['rows']:,}", "judged in fit, when each was left out"),
    ]  # fmt: skip
    show_table(("", "", ""), rows, right=(1,), flexible=2)


def show_values(card: dict[str, Any]) -> None:
    """What the values of the most telling columns look like in each class."""
    features = [one for one in features_of(card) if one["values"]]
    features.sort(key=lambda one: "reading" in one)
    if not features:
        return
    names = [str(one["class"]) for one in card["classes"]]
    heading("What each class looks like")
    side_by_side = [
        (short_name(one["name"]), *(one["values"].get(name, "") for name in names)) for one in features[:COLUMNS_SHOWN]
    ]
    widths = [max(map(len, column)) for column in zip(("", *names), *side_by_side, strict=True)]
    if sum(widths) + 2 * len(widths) <= WIDTH:
        show_table(("column", *names), side_by_side)
        more(len(features) - COLUMNS_SHOWN, "tells less", "tell less")
        return
    kept = [str(one["class"]) for one in commonest_classes(card)]
    room = max(LINES // len(kept), 1)
    for index, one in enumerate(features[:room]):
        print("\n" * (index > 0), end="")
        show_feature(one, kept)
    if len(features) > room:
        print(f"and {len(features) - room:,} more columns, which --format json tells of")


def show_feature(one: dict[str, Any], names: list[str]) -> None:
    """One column, class by class: the numbers of a curve side by side, values and words in a line."""
    numbers = one["parameters"] if one["per"] == "value" and not one["telling"] else {}
    called = list(next(iter(numbers.values()))) if numbers else []
    if called:
        rows = [(name, *(short(numbers[name][word]) for word in called)) for name in names]
        show_table((short_name(one["name"]), *called), rows, right=range(1, len(called) + 1))
        return
    print(visible(one["name"]))
    show_table(("", ""), [(f"  {name}", one["values"].get(name, "")) for name in names], flexible=1)


def listed_sources(sources: list[str]) -> str:
    """Some files in words.

    >>> listed_sources(["a.csv", "b.csv"]), listed_sources([f"{day}.csv" for day in range(31)])
    ('a.csv, b.csv', '0.csv, 1.csv, 2.csv, 3.csv and 27 more')
    """
    more = f" and {len(sources) - SOURCES_NAMED:,} more" if len(sources) > SOURCES_NAMED else ""
    return ", ".join(sources[:SOURCES_NAMED]) + more
