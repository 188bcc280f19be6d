"""cluster: groups of rows that have no labels, as a model like any other."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from candide import store
from candide.api.verbs.fitted import Fitted, Path, being_written
from candide.api.verbs.fitting import refuse_nested, with_provenance
from candide.api.verbs.predicting import predict
from candide.api.verbs.reading import SourceOptions, told_how_read, watched
from candide.api.verbs.writing import Output, format_for
from candide.data.progress import Watch, unwatched
from candide.model.options import Options
from candide.model.row_sample import Reservoir
from candide.model.schema import Families, Text
from candide.selection.groups import Grouping
from candide.sources import open_source
from candide.store.overwriting import kind_written, refuse_overwriting
from candide.training.cluster import STARTS, cluster_rows


def cluster(
    data: Any,
    groups: int,
    output: Path | None = None,
    *,
    out: Output | None = None,
    seed: int = 0,
    starts: int = STARTS,
    families: Families = "auto",
    text: Text = None,
    force: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Fitted:
    """Find so many groups among rows that have no labels, by EM from several starts, and learn each row as its own.

    `output` is where the model is saved, `out` where the rows go with the group of each beside them. Another `seed`
    starts from other rows. Families go by the look of values unless they are given. What comes of it is a model, whose
    classes are the groups: `predict`, `explain`, `inspect` and `report` take it as they take any other.

    >>> rows = {"height": [1.0, 1.2, 0.9, 1.1, 5.0, 5.2, 5.1], "sound": ["low"] * 4 + ["high"] * 3}
    >>> found = cluster(rows, 2)
    >>> found.classes, [one["rows"] for one in found.trained.provenance["groups"]["sizes"]]
    (('group 1', 'group 2'), [4.0, 3.0])
    """
    options = Options(families, text=text, calibrate=False)
    store.refuse_rejects(reading.get("rejects"), [data, output])
    if out is not None:
        refuse_overwriting(out, kind_written(out, format_for(out, None)), [data], force)
    with being_written(output, data, force):
        fitted = found_groups(data, groups, options, seed, starts, watch, reading)
        if output is not None:
            fitted.save(output, force)
    if out is not None:
        predict(fitted, data, out, answer=fitted.label, force=force, watch=watch, **reading)
    return fitted


def found_groups(
    data: Any, groups: int, options: Options, seed: int, starts: int, watch: Watch, reading: SourceOptions
) -> Fitted:
    """Look at rows of all over the data, find groups among them, and learn all rows as these."""
    source, reservoir = open_source(data, labelled=False, **reading), Reservoir()
    for _ in reservoir.watched(watched(source, "Reading", watch)):
        pass
    sample = reservoir.rows()
    refuse_nested(sample, source, options.families)
    everything = partial(watched, source, "Learning", watch) if reservoir.seen > len(sample) else None
    name = free_name("group", source.columns)
    found = cluster_rows(options, sample, groups, everything, name, seed, starts, watch)
    trained = told_how_read(found.trained, source, source.names, reading)
    looked = f"Groups were found among {len(sample):,} of {reservoir.seen:,} rows." if everything else ""
    fitted = with_provenance(trained, source, [looked, convergence_in_words(found.grouping, starts)])
    rows = zip(fitted.classes, trained.summary.counts.tolist(), strict=True)
    told = {
        "sizes": [{"group": name, "rows": float(count)} for name, count in rows],
        "seed": seed,
        "starts": list(found.starts),
        "path": list(found.grouping.path),
        "converged": found.grouping.converged,
    }
    return replace(fitted, trained=replace(fitted.trained, provenance={**fitted.provenance, "groups": told}))


def convergence_in_words(found: Grouping, starts: int) -> str:
    """How groups were found."""
    steps, first, end = len(found.path), found.path[0], found.path[-1]
    ended = "until next to no row changed its group" if found.converged else "and rows still change their groups"
    return (
        f"{steps} steps from the best of {starts} starts, {ended}: log likelihood of a row {first:,.2f}, then "
        f"{end:,.2f} nats."
    )


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that no column has.

    >>> free_name("group", ["group", "size"])
    'group_found'
    """
    while name in taken:
        name += "_found"
    return name
