"""The model file: `NAME.candide`, data only, checked on load, replaced whole or not at all.

One safetensors file. Its head holds the format version, a checksum of the head, one of each array, and two JSON texts:
`model` (schema, options, label column, and which statistic each block keeps) and `provenance` (which is outside
equality). Then come plain arrays, the summary: class keys, label counts, and the parts of each block's statistic.
Parameters are derived, never stored. Equal models give equal bytes, provenance apart.

>>> import tempfile, pathlib
>>> from candide import families
>>> from candide.data.batch import Batch
>>> from candide.model.options import Options
>>> from candide.model.schema import Choice, Schema
>>> from candide.model.trained_model import TrainedModel
>>> schema = Schema((Choice("age", families.named("gaussian"), "numbers"),))
>>> summary = schema.summarize(Batch.of({"age": [31.0, 64.5]}, ["no", "yes"]))
>>> model = TrainedModel(Options(priors="uniform"), schema, summary, label="survived")
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "titanic.candide")
...     save(model, path)
...     load(path) == model
True
"""

from __future__ import annotations

from candide.store.atomic import locked
from candide.store.files import load, save
from candide.store.model_file import canonical_bytes, from_bytes, provenance, to_bytes
from candide.store.overwriting import refuse_overwriting, refuse_rejects
from candide.store.refusals import ModelFileNotWritten, ModelFileRefused, OverwritingRefused

__all__ = [
    "ModelFileNotWritten",
    "ModelFileRefused",
    "OverwritingRefused",
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
