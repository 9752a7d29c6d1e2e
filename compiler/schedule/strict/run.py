"""run: runs a strict schedule item by item on its memory, on NumPy."""

from compiler.core.dtypes import Array
from compiler.schedule.host import Functions, Host
from compiler.schedule.interpret import run_body
from compiler.schedule.kinds import Call, CustomCall, Region, Synchronize, Transfer
from compiler.schedule.operations import synchronization
from compiler.schedule.regions import at, copy
from compiler.schedule.strict.instantiate import ScheduledCall, ScheduleResult


def run_schedule(schedule: ScheduleResult, functions: Functions | None = None) -> list[Array]:
    """The results of a strict schedule as flat arrays: runs every item in order.

    Raises `ScheduleError` for a variable without a value, and for an unknown function.
    """
    host = Host(functions or {})
    for item in schedule.items:
        run_item(item, host)
    return [buffer.array for buffer in schedule.outputs]


def run_item(item: ScheduledCall, host: Host) -> None:
    """Run one item of a strict schedule on its memory."""
    arrays = [buffer.array for buffer in item.buffers]
    match item.kernel:
        case Call(body=body):
            run_body(body, arrays, item.fixed_variables)
        case CustomCall(name=name):
            host.call(name, arrays, item.fixed_variables)
        case Transfer():
            region = item.kernel.region or Region((arrays[1].size,))
            copy(at(region, item.fixed_variables), *arrays)
        case Synchronize():
            host.synchronize(synchronization(item.kernel))
