"""obstacle: why a kernel cannot run on a workbench, if so."""

from collections.abc import Sequence

from compiler.core.node import toposort
from compiler.device import device
from compiler.device.cpu import physical_memory
from compiler.graph.nodes import Sink
from compiler.loops.nodes import Argument, Custom
from compiler.schedule.items import Kernel, ScheduleItem
from compiler.settings.options import Options
from compiler.tune.workbench import Workbench


def obstacle(
    bench: Workbench, body: Sink, items: Sequence[ScheduleItem], options: Options
) -> str:
    """Why a kernel cannot be tried; "" where it can."""
    run = [i.operation for i in items if isinstance(i.operation, Kernel)]
    kinds = {options.device or op.device for op in run if op.body is body}
    if any(device.get(kind).base_key != "CPU" for kind in kinds):
        return "it does not run as machine code"
    order = toposort([bench.default.loops])
    if any(isinstance(node, Custom) for node in order):
        return "it calls a function of the user's"
    sizes = {n.slot: n.size * n.element.itemsize for n in order if isinstance(n, Argument)}
    most = (options.memory_limit or physical_memory()) // 4
    if sum(sizes.values()) > most:
        return f"data of its own would take more than {most:,} bytes"
    return ""
