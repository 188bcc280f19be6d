"""A stream of Spark teaches a model, each batch once: `foreachBatch` learns, and the file remembers which was the last.

    python examples/streaming.py FOLDER_OF_PARQUET LABEL MODEL

Spark promises each batch at least once: after a failure the last one may come again. So the number of the batch is kept
in the model file itself, which is replaced whole or not at all: either both are there, rows and number, or neither.
The first batch chooses families and calibration; `candide refit MODEL ROWS` makes such choices anew.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

from candide import store
from candide.api import verbs


class Learner:
    """What a stream calls with every batch."""

    def __init__(self, path: str, label: str) -> None:
        self.path, self.label = path, label

    def __call__(self, rows: Any, number: int) -> None:
        """Learn a batch, unless the model has learned it already."""
        if rows.isEmpty():
            return
        with store.locked(self.path):
            if not os.path.exists(self.path):
                fitted = verbs.fit(rows, self.label, engine="spark")
            else:
                before = verbs.load(self.path)
                if before.provenance.get("batch", -1) >= number:
                    return
                fitted = verbs.learn(before, rows, engine="spark")
            noted = {**fitted.provenance, "batch": number}
            store.save(replace(fitted.trained, provenance=noted), self.path)


def main(folder: str, label: str, model: str) -> None:
    """Learn whatever is in a folder, then stop; run it again when there is more."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("candide").getOrCreate()
    schema = spark.read.parquet(folder).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)
    writing = stream.writeStream.foreachBatch(Learner(model, label)).option("checkpointLocation", f"{model}.checkpoint")
    writing.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:4])
