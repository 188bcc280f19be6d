"""sample: new rows drawn from what a model learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from candide.store.overwriting import kind_written, refuse_overwriting
from candide.values import key_of
from candide.verbs.fitted import class_named, opened
from candide.verbs.writing import Output, column_of, encoded, format_for, refuse_unsafe, write


def sample(
    model: Any,
    n: int = 10,
    label: Any = None,
    seed: int | None = None,
    output: Output | None = None,
    *,
    safe: bool = False,
    output_format: str | None = None,
    force: bool = False,
) -> Any:
    """Draw `n` rows as an Arrow table, label first: of one class, or of all in proportion to their priors.

    In csv and tsv, `safe` puts an apostrophe before fields that a spreadsheet would run.
    """
    format = None if output is None else format_for(output, output_format)
    refuse_unsafe(safe, format)
    fitted = opened(model)
    refuse_overwriting(output, kind_written(output, format), [model], force)
    parameters = fitted.learned.model
    wanted = None if label is None else key_of(class_named(label, parameters.classes))
    columns, labels = parameters.sample(n, wanted, np.random.default_rng(seed))
    names = [choice.column for choice in fitted.learned.schema.choices if choice.family is not None]
    answers = [fitted.classes[place] for place in labels.tolist()]
    drawn = {fitted.label or "label": pa.array(answers), **{name: column_of(columns[name].tolist()) for name in names}}
    table = pa.table(drawn)
    if output is not None and format is not None:
        write(encoded([table], format, safe), output)
    return table
