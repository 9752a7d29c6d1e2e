"""Work of the host between kernels: copies, synchronisations, registered functions.

Items run one after the other, so that barriers, fences and events need no action. Waiting for an
event that was not signalled would never end, and is an error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from compiler.core.dtypes import Array
from compiler.core.errors import CompileError, ScheduleError
from compiler.ops.functions import registered
from compiler.schedule.items import HostCallback, MemoryTransfer, Synchronization
from compiler.schedule.regions import copy

Functions: TypeAlias = Mapping[str, Callable[..., object]]
"""The functions of custom calls, by name. They take flat arrays, which they may write."""


@dataclass(slots=True)
class Host:
    """The state of the host during one run: functions, signalled events, finished synchronisations.
    """

    functions: Functions = field(default_factory=dict)
    signalled: set[int] = field(default_factory=set)
    synchronized: list[Synchronization] = field(default_factory=list)
    """The synchronisations that ran, in order."""
    bytes_moved: int = 0

    def run(
        self, operation: MemoryTransfer | Synchronization | HostCallback, arrays: Sequence[Array]
    ) -> None:
        """Run one operation on the flat arrays of its arguments.

        Raises `ScheduleError` for an unknown function and for an event that was not signalled, and
        `CompileError` if a function fails; both name it.
        """
        match operation:
            case MemoryTransfer():
                copy(operation.region, *arrays)
                self.bytes_moved += operation.nbytes
            case Synchronization():
                self.synchronize(operation)
            case HostCallback():
                self.call(operation.function, arrays, dict(operation.fixed))
            case _:
                assert_never(operation)

    def synchronize(self, operation: Synchronization) -> None:
        """Signal an event, or check that one was signalled; record the operation."""
        if operation.kind == "event" and operation.event is not None:
            if operation.is_wait and operation.event not in self.signalled:
                signals = ", ".join(map(str, sorted(self.signalled))) or "none"
                what = f"{operation.name} waits for event {operation.event}, which nobody signalled"
                raise ScheduleError("synchronize", what, got=signals, expected=str(operation.event))
            if not operation.is_wait:
                self.signalled.add(operation.event)
        self.synchronized.append(operation)

    def call(self, name: str, arrays: Sequence[Array], counters: Mapping[str, int]) -> None:
        """Call the function registered as `name`."""
        function = self.functions.get(name) or registered(name)
        if function is None:
            names = ", ".join(sorted(self.functions)) or "none"
            what = f"custom call {name}: no function of this name is registered"
            raise ScheduleError("schedule", what, got=name, expected=names)
        try:
            function(*arrays, **counters)
        except CompileError:
            raise
        except Exception as error:
            what = f"the function {name} failed: {type(error).__name__}: {error}"
            raise CompileError("callback", what) from error
