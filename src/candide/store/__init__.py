"""The model file: `NAME.candide`, data only, checked on load, replaced whole or not at all.

One safetensors file. Its head holds the format version, a checksum of the head, one of each array, and two JSON texts:
`model` (schema, options, label column, and which statistic each block keeps) and `provenance` (which is outside
equality). Then come plain arrays, the summary: class keys, label counts, and the parts of each block's statistic.
Parameters are derived, never stored. Equal models give equal bytes, provenance apart.

>>> import tempfile, pathlib
>>> from candide import families
>>> from candide.data.batch import Batch
>>> from candide.model.schema import Choice, Schema
>>> schema = Schema((Choice("age", families.named("gaussian"), "numbers"),))
>>> summary = schema.summarize(Batch.of({"age": [31.0, 64.5]}, ["no", "yes"]))
>>> model = Saved(schema, summary, options={"priors": "uniform"}, label="survived")
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "titanic.candide")
...     save(model, path)
...     load(path) == model
True
"""

from __future__ import annotations

from candide.store.atomic import locked
from candide.store.files import load, save
from candide.store.overwriting import refuse_overwriting, refuse_rejects
from candide.store.refusals import ModelFileNotWritten, ModelFileRefused, OverwritingRefused
from candide.store.saved import Saved, canonical_bytes, from_bytes, provenance, to_bytes

__all__ = [
    "ModelFileNotWritten",
    "ModelFileRefused",
    "OverwritingRefused",
    "Saved",
    "canonical_bytes",
    "from_bytes",
    "load",
    "locked",
    "provenance",
    "refuse_overwriting",
    "refuse_rejects",
    "save",
    "to_bytes",
]
