"""Where rows come from: files of any size, folders of text, databases, standard input, frames."""

from candide.sources.opening import open_source
from candide.sources.refused import SourceRefused, ValueMisfit
from candide.sources.source import Size, Source

__all__ = ["Size", "Source", "SourceRefused", "ValueMisfit", "open_source"]
