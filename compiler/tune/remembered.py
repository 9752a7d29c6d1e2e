"""Searches remembered, kernel by kernel: in this process, and on disk for the next ones.

An entry is JSON, kept as object code is (`llvm/cache.py`). Its key stands for all that decides what
is fastest: the loops without choices, the choices by default, the processor with its features, how
many cores may be used, LLVM, and the version of this package and of the format.

    {"asked": 5.0, "is_complete": false, "spent": 4.8, "best": 9, "duel": [first, second, …],
     "trials": [[parent, change, choices, seconds, refused], …]}
"""

import hashlib
import json
from dataclasses import astuple
from importlib import metadata
from typing import Any

import llvmlite.binding as llvm

from compiler.core.errors import CompileError
from compiler.core.node import toposort
from compiler.llvm import jit
from compiler.llvm.cache import TUNING, TUNINGS, folder_of
from compiler.loops.choices import Choices, parse, text
from compiler.loops.nodes import Body, ScalarNode
from compiler.machines.system import core_count
from compiler.settings.options import Cache, Options
from compiler.tune.duel import Duel
from compiler.tune.trials import Trial
from compiler.tune.tuning import Found

FORMAT = 1
"""The version of entries; increase it if their content or the meaning of choices changes."""


def structure(body: Body) -> str:
    """A body as text: equal for bodies of equal structure, and for no others."""
    order: list[ScalarNode] = toposort([body])
    places = {node: place for place, node in enumerate(order)}
    rows = (
        f"{type(node).__name__} {list(node.arguments.items())} {[places[s] for s in node.sources]}"
        for node in order
    )
    return "\n".join(rows)


def machine(options: Options) -> dict[str, str]:
    """The machine of a measurement, in words: its choices are valid only for equal machines."""
    return {
        "processor": jit.host_name(),
        "features of the processor": jit.host_features(),
        "threads of a kernel": str(options.threads or core_count()),
        "LLVM": ".".join(map(str, llvm.llvm_version_info)),
        "svodviz": metadata.version("svodviz"),
    }


def key_of(body: Body, default: Choices, options: Options) -> bytes:
    """The key of a kernel whose loops without choices are `body`."""
    machine = jit.host_name(), jit.host_features(), options.threads or core_count()
    versions = FORMAT, metadata.version("svodviz"), *llvm.llvm_version_info, options.optimize
    # passes of a user's are known by what they are in this process: nothing is found on disk
    passes = [] if options.passes is None else [(r.place, hash(r)) for r in options.passes]
    parts = map(str, (*versions, *machine, text(default), structure(body), *passes))
    return hashlib.sha256("\n".join(parts).encode()).digest()


def remembered(key: bytes, cache: Cache) -> Found | None:
    """The entry that is kept for a key; None where that is nothing, or no such entry."""
    content = TUNINGS.get(key, folder_of(cache, TUNING))
    if content is None:
        return None
    try:
        return read(json.loads(content))
    except (ValueError, TypeError, KeyError, IndexError, CompileError):
        return None


def remember(key: bytes, result: Found, cache: Cache) -> None:
    """Keep what a search found."""
    TUNINGS.put(key, json.dumps(written(result)).encode(), folder_of(cache, TUNING))


def written(result: Found) -> dict[str, Any]:
    """A search as JSON has it."""
    return {
        "asked": result.asked,
        "is_complete": result.is_complete,
        "spent": result.spent,
        "best": result.best,
        "duel": list(astuple(result.duel)),
        "trials": [
            [t.parent, t.change, text(t.choices), t.seconds, t.refused] for t in result.trials
        ],
    }


def read(entry: dict[str, Any]) -> Found:
    """The search of an entry, remembered; some `Exception` where it is none."""
    trials = tuple(
        Trial(number, parent, change, parse(choices), seconds, refused)
        for number, (parent, change, choices, seconds, refused) in enumerate(entry["trials"])
    )
    result = Found(
        trials=trials,
        best=int(entry["best"]),
        duel=Duel(*entry["duel"]),
        asked=float(entry["asked"]),
        spent=float(entry["spent"]),
        is_complete=bool(entry["is_complete"]),
        is_remembered=True,
    )
    if result.best not in range(len(trials)):
        raise IndexError(result.best)
    return result
