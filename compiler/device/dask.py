"""The workers of a Dask cluster: memory and processors of other processes, or other machines.

    DASK, DASK:1, …     worker 0, worker 1, … of the cluster in use

A program for one of them is compiled here as far as LLVM IR; machine code is made where it runs.
The cluster in use is an `Engine`: it runs items on workers, and fetches what they hold
(`remote.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from compiler.core.dtypes import DType
from compiler.core.effects import Effects
from compiler.core.errors import DataError
from compiler.device.allocator import Array
from compiler.device.launch_sizes import LaunchDims
from compiler.device.program import CompiledSpec, OfSpec, Program, ProgramSpec
from compiler.device.remote import Data
from compiler.graph.nodes import Buffer
from compiler.llvm.level import level_of
from compiler.settings.options import Cache, Mode

HINT = 'with compiler.cluster(): …, or compiler.cluster("tcp://…")'


class Timed(Protocol):
    """The activity of workers in one run; `str` is a table."""

    @property
    def ns(self) -> int:
        """Nanoseconds of the run."""
        ...

    @property
    def by_item(self) -> Mapping[int, int]:
        """Nanoseconds of each item that was seen, by its id."""
        ...


class Engine(Protocol):
    """A cluster in use."""

    def run(
        self, items: Sequence[Any], results: Sequence[Buffer], inputs: Mapping[Buffer, Data],
        programs: Mapping[Any, Program], values: Mapping[str, int],
        effects: Effects | None = None,
    ) -> list[Data]:  # fmt: skip
        """Run items of a schedule; flat data per result, of those on workers remote. Who gives
        `effects` applies them."""
        ...

    def map(
        self, function: Callable[[Any], Any], rows: Sequence[Any], per_host: int = 0
    ) -> Iterator[Any]:
        """`function` of each row, on workers, begun at once: results in order, as they come.

        The function is sent once to each worker. With `per_host` so many rows run at once on one
        host at most. What a row raises is raised where its result is asked for; letting go of the
        iterator cancels what is left.
        """
        ...

    def timelines(self, runs: int) -> Sequence[Timed]:
        """The activity of workers in the latest `count` runs, the oldest first."""
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
    """The cluster in use: the last that was begun and not ended."""
    return _USED[-1] if _USED else None


def engine() -> Engine:
    """The cluster in use; `DataError` where there is none."""
    if not _USED:
        what = "no cluster is in use: nothing can run on its workers"
        raise DataError("device DASK", what, got="a program for DASK", hint=HINT)
    return _USED[-1]


def allocate(size: int, dtype: DType, name: str = "") -> Array:
    """Refused: workers have memory of their own (`DataError`)."""
    got = f"{name or 'a tensor'} of {size:,} {dtype}"
    raise DataError("device DASK", "memory of a worker is not here", got=got, hint=HINT)


class DescribedThere(OfSpec):
    """A program for workers: its source, which each of them makes machine code of."""

    task = None
    tasks = 1
    aligned: tuple[int, ...] = ()

    def __init__(self, compiled: CompiledSpec) -> None:
        super().__init__(compiled.spec)
        self.compiled = compiled
        """The compiled program, up to LLVM IR."""

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
    """The program as it travels: its source, and how much LLVM has to do."""
    return CompiledSpec(spec, level, b"", level_of(spec.instructions, level, mode))


def load(compiled: CompiledSpec) -> Program:
    """The program, ready to travel."""
    return DescribedThere(compiled)
