"""The host's own work between kernels: copies, synchronisations, registered functions.

Items run one after the other, so that what a barrier, a fence or an awaited event promises holds
already; an event that is waited for before it was signalled would never come, and is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

import numpy as np

from compiler.core.errors import CompileError, ScheduleError
from compiler.ops.functions import registered
from compiler.schedule.items import HostCallback, MemoryTransfer, Synchronization
from compiler.schedule.regions import copy

Array: TypeAlias = "np.ndarray[Any, Any]"
Functions: TypeAlias = Mapping[str, Callable[..., object]]
"""Functions that custom calls call, by name: of flat arrays, which they may write."""


@dataclass(slots=True)
class Host:
    """The host during one run: its functions, the events signalled, what ran."""

    functions: Functions = field(default_factory=dict)
    signalled: set[int] = field(default_factory=set)
    synchronized: list[Synchronization] = field(default_factory=list)
    """The synchronisations that ran, in order."""
    bytes_moved: int = 0

    def run(
        self, operation: MemoryTransfer | Synchronization | HostCallback, arrays: Sequence[Array]
    ) -> None:
        """Do one operation on the flat arrays of its arguments.

        Raises `ScheduleError` for an unknown function and for an event nobody signalled, and
        `CompileError` where a function fails, both with its name.
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
        """Signal an event, or see that one was; note that the operation ran."""
        if operation.kind == "event" and operation.event is not None:
            if operation.is_wait and operation.event not in self.signalled:
                known = ", ".join(map(str, sorted(self.signalled))) or "none"
                what = f"{operation.name} waits for event {operation.event}, which nobody signalled"
                raise ScheduleError("synchronize", what, got=known, expected=str(operation.event))
            if not operation.is_wait:
                self.signalled.add(operation.event)
        self.synchronized.append(operation)

    def call(self, name: str, arrays: Sequence[Array], counters: Mapping[str, int]) -> None:
        """Call the function registered as `name`."""
        function = self.functions.get(name) or registered(name)
        if function is None:
            known = ", ".join(sorted(self.functions)) or "none"
            what = f"custom call {name}: no function of this name is registered"
            raise ScheduleError("schedule", what, got=name, expected=known)
        try:
            function(*arrays, **counters)
        except CompileError:
            raise
        except Exception as error:
            what = f"the function {name} failed: {type(error).__name__}: {error}"
            raise CompileError("callback", what) from error
