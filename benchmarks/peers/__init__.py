"""One adapter per peer: each library's own words for the programs of the workloads.

An adapter is a module with

    NAME                              what the peer is called in results
    version()                         of the library
    programs(workload, inputs)        the calls to measure by the name of the entry
    array(result)                     a call's result as a NumPy array
    uses()                            the instruction set that its code has: "avx2", "avx512", or ""

A call takes nothing and returns its result once it is complete. Whatever a library compiles, it
compiles inside the first call; what `programs` itself does (moving the inputs to where the library
wants them) is not measured.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from benchmarks.workloads import Array, Workload

Call: TypeAlias = Callable[[], Any]

ADAPTERS = {
    "svodviz": "benchmarks.peers.on_svodviz",
    "numpy": "benchmarks.peers.on_numpy",
    "numba": "benchmarks.peers.on_numba",
    "torch": "benchmarks.peers.on_torch",
    "torch.compile": "benchmarks.peers.on_torch_compile",
    "jax": "benchmarks.peers.on_jax",
    "tinygrad": "benchmarks.peers.on_tinygrad",
    "limits": "benchmarks.peers.on_limits",
}
"""The module of each peer; "limits" measures the machine instead of a library."""
PEERS = tuple(name for name in ADAPTERS if name != "limits")
PREALLOCATED = " out="
"""The end of the name of an entry that writes into arrays it is given."""


class Adapter(Protocol):
    """The names that a module of this folder has."""

    def version(self) -> str:
        """The library's version."""

    def programs(self, workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Call]:
        """The calls by entry; empty if the library has no program for the workload."""

    def array(self, result: Any) -> Array:
        """A call's result as a NumPy array."""

    def uses(self) -> str:
        """The name of its instruction set, from the library itself; "" where it does not tell."""


def adapter(name: str) -> Adapter:
    """The adapter of one peer; raises ImportError where its library is not installed."""
    module: Any = importlib.import_module(ADAPTERS[name])
    return module  # type: ignore[no-any-return]
