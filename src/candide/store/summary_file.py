"""A summary alone, in the model file's own form: how one travels from where rows are to where they are added up.

>>> from candide import families
>>> from candide.data.batch import Batch
>>> from candide.families.base.family import Block
>>> blocks = (Block(families.named("gaussian"), ("age",)),)
>>> summary = Summary.of(blocks, Batch.of({"age": [31.0, 64.5]}, ["no", "yes"]))
>>> summary_from_bytes(summary_to_bytes(summary), blocks) == summary
True
"""

from __future__ import annotations

from collections.abc import Sequence

from candide.families.base.family import Block
from candide.model.summary import Summary
from candide.store.container import Buffer, container_pieces, contents, from_json, to_json
from candide.store.forms import form_of
from candide.store.model_file import read_summary, summary_arrays
from candide.store.parts import Parts
from candide.store.refusals import ModelFileRefused


def summary_to_bytes(summary: Summary) -> bytes:
    """The arrays of a summary, and which blocks they belong to, every byte under a checksum."""
    forms = [form_of(block) for block in summary.blocks]
    head = {"blocks": summary.fingerprint, "statistics": [form.name for form in forms]}
    newest = max([1, *(form.version for form in forms)])
    return b"".join(container_pieces({"summary": to_json(head)}, summary_arrays(summary), newest))


def summary_from_bytes(data: Buffer, blocks: Sequence[Block]) -> Summary:
    """The summary of these blocks in some bytes, checked as a model file is."""
    texts, arrays = contents(data)
    head = from_json(texts["summary"])
    summary = read_summary(Parts(arrays), tuple(blocks), head["statistics"])
    if head["blocks"] != summary.fingerprint:
        raise ModelFileRefused("it is a summary of other columns or families")
    return summary
