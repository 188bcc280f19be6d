"""How a source becomes a summary, and rows become answers: a protocol and one file for each engine.

A file dropped into this folder is an engine, found by its name. That of a cluster may have an address behind it.

>>> names(), named().name, named("dask:tcp://10.0.0.1:8786").name
(['dask', 'local', 'spark'], 'local', 'dask')
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from candide.data.errors import OptionRefused
from candide.engines.protocol import Engine
from candide.model.trained_model import TrainedModel

DEFAULT = "local"
WORTH_THREADS = 60_000
"""Of fewer rows, times the square of the other classes, a column is work for the interpreter, whose lock threads would
only hand to and fro: so it is for two classes, however many rows are looked at."""


def names() -> list[str]:
    """Every engine there is, by name."""
    found = (module for module in iter_modules(__path__) if not module.ispkg)
    return sorted(module.name for module in found if module.name != "protocol")


def refuse_unknown_engine(name: str) -> None:
    """Raise unless there is an engine of that name; it is not imported yet."""
    name = name.partition(":")[0]
    if name != DEFAULT and name not in names():
        raise OptionRefused.of_name(f"There is no engine {name!r}.", name, names())


def named(name: str = DEFAULT) -> Engine:
    """The engine that lives in the file of that name."""
    refuse_unknown_engine(name)
    name, _, address = name.partition(":")
    module = import_module(f"{__name__}.{name}")
    kind = getattr(module, "".join(part.capitalize() for part in name.split("_")))
    if address and not hasattr(kind, "address"):
        raise OptionRefused(f"The engine '{name}' has no address, so '{address}' says nothing to it.")
    found: Engine = kind(address) if address else kind()
    return found


def engine_of(trained: TrainedModel) -> Engine:
    """The engine that a model's options name, for the work over its rows."""
    return named(trained.options.engine)


def engine_by_column(trained: TrainedModel, rows: int) -> Engine:
    """The engine for work on so many rows, column by column: one thread where a column is next to no work."""
    is_little = rows * (len(trained.summary.classes) - 1) ** 2 < WORTH_THREADS
    engine, is_text = engine_of(trained), any(block.family.has_recipe for block in trained.summary.blocks)
    return engine.on_one_thread() if is_little and not is_text else engine
