"""sample: new rows drawn from what a model learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.api.class_names import meant_class
from candide.api.verbs.fitted import opened_model
from candide.api.verbs.writing import Output, encoded_tables, format_for, refuse_unsafe, write
from candide.data.values import key_of
from candide.model.sampling import drawn_rows
from candide.store.overwriting import kind_written, refuse_overwriting


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
    """Draw `n` rows as an Arrow table, label last: of one class, or of all in proportion to their priors.

    In csv and tsv, `safe` puts an apostrophe before fields that a spreadsheet would run.
    """
    format = None if output is None else format_for(output, output_format)
    refuse_unsafe(safe, format)
    fitted = opened_model(model)
    refuse_overwriting(output, kind_written(output, format), [model], force)
    parameters = fitted.trained.predictor
    wanted = None if label is None else key_of(meant_class(label, parameters.classes))
    table = drawn_rows(parameters, fitted.trained.schema, fitted.label, n, wanted, np.random.default_rng(seed))
    if output is not None and format is not None:
        write(encoded_tables([table], format, safe), output)
    return table
