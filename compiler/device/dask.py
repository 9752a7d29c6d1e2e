"""The workers of a Dask cluster: memory and processors of other processes, or other machines.

    DASK, DASK:1, …     worker 0, worker 1, … of the cluster in use

A program for one of them is compiled here up to LLVM IR; the worker compiles it to machine code.
The cluster in use is an `Engine`: it runs items on workers, and fetches their results
(`remote.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from compiler.core.dtypes import Array, DType
from compiler.core.effects import Effects
from compiler.core.errors import DataError
from compiler.device.launch_sizes import LaunchDims
from compiler.device.program import CompiledSpec, OfSpec, Program, ProgramSpec
from compiler.device.remote import Data
from compiler.graph.nodes import Buffer
from compiler.llvm.level import level_of
from compiler.settings.options import Cache, Mode

HINT = 'with compiler.cluster(): …, or compiler.cluster("tcp://…")'


class Timed(Protocol):
    """The timeline of the workers in one run; `str` is a table."""

    @property
    def ns(self) -> int:
        """Nanoseconds of the run."""
        ...

    @property
    def by_item(self) -> Mapping[int, int]:
        """Nanoseconds of each recorded item, by its id."""
        ...


class Engine(Protocol):
    """A cluster in use."""

    def run(
        self, items: Sequence[Any], results: Sequence[Buffer], inputs: Mapping[Buffer, Data],
        programs: Mapping[Any, Program], values: Mapping[str, int],
        effects: Effects | None = None,
    ) -> list[Data]:  # fmt: skip
        """Run items of a schedule; the flat data of each result, remote if it is on a worker. If
        `effects` is given, the caller applies them."""
        ...

    def map(
        self, function: Callable[[Any], Any], rows: Sequence[Any], per_host: int = 0
    ) -> Iterator[Any]:
        """Apply `function` to each row on workers, starting at once; yields results in order.

        The function is sent once to each worker. `per_host` limits the rows that run on one host
        at the same time. An exception is raised when the result of its row is requested; dropping
        the iterator cancels the remaining rows.
        """
        ...

    def timelines(self, runs: int) -> Sequence[Timed]:
        """The timelines of the workers in the latest runs, oldest first."""
        ...


_USED: list[Engine] = []


def use(engine: Engine) -> Callable[[], None]:
    """Have programs for DASK devices run by `engine`; the function returned ends that."""
    _USED.append(engine)

    def end() -> None:
        if engine in _USED:
            _USED.remove(engine)

    return end


def used() -> Engine | None:
    """The cluster in use: the one started last that has not ended."""
    return _USED[-1] if _USED else None


def engine() -> Engine:
    """The cluster in use; `DataError` if there is none."""
    if not _USED:
        what = "no cluster is in use: nothing can run on its workers"
        raise DataError("device DASK", what, got="a program for DASK", hint=HINT)
    return _USED[-1]


def allocate(size: int, dtype: DType, name: str = "") -> Array:
    """Refused: workers have memory of their own (`DataError`)."""
    got = f"{name or 'a tensor'} of {size:,} {dtype}"
    raise DataError("device DASK", "memory of a worker is not here", got=got, hint=HINT)


class DescribedThere(OfSpec):
    """A program for workers: its source, which each of them compiles to machine code."""

    task = None
    tasks = 1
    aligned: tuple[int, ...] = ()

    def __init__(self, compiled: CompiledSpec) -> None:
        super().__init__(compiled.spec)
        self.compiled = compiled
        """The program compiled up to LLVM IR."""

    def unstreamed(self) -> Program:
        """The same program."""
        return self

    def bound(self, buffers: Sequence[int], values: Sequence[int] = ()) -> Callable[[], None]:
        """Refused as `execute` is."""
        self._refuse()

    def execute(
        self, buffers: Sequence[int], values: Sequence[int] = (), dims: LaunchDims | None = None
    ) -> None:
        """Refused: it runs on workers (`DataError`)."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise DataError("device DASK", f"kernel {self.name} runs on workers", got="a run here",
                        hint=HINT)  # fmt: skip


def compile_spec(
    spec: ProgramSpec, level: int, mode: Mode = "fast", cache: Cache = False
) -> CompiledSpec:
    """The program as it is sent: its source, and LLVM's level."""
    return CompiledSpec(spec, level, b"", level_of(spec.instructions, level, mode))


def load(compiled: CompiledSpec) -> Program:
    """The program, ready to be sent."""
    return DescribedThere(compiled)
