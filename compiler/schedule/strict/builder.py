"""builder: builds kernel graphs by hand, to learn how scheduling works and to test it.

Example: a loop of three iterations that adds 0, then 1, then 2 to each element of `x`, in place:

    b = KernelGraphBuilder()
    x = b.input("x", np.zeros(4))
    loop, i = b.loop(3), b.variable("i", 0, 2)
    old = b.parameter(0, (4,), float64)
    number = Expand((Reshape((Cast((b.read(i),), float64),), (1,)),), (4,))
    body = b.body((old, elementwise("add", old, number)))
    step = b.call("step", body, x, b.bind(i, loop))
    root = b.sink(b.after(x, b.end(step, loop)))
    print(b.graph(root))
    run_schedule(create_schedule(root, b.inputs))

Every method returns a node of `kinds.py`. Nothing is checked before `create_pre_schedule`, so that
invalid graphs can be built, too. Nodes are immutable: a node can only wait for earlier ones.
"""

from collections.abc import Sequence

from compiler.core.dtypes import Array, DType, parse
from compiler.core.node import Node
from compiler.core.trace import Numbering
from compiler.graph.nodes import Buffer, Param, Shape, Sink, Store, TensorNode, Variable
from compiler.schedule import kinds
from compiler.schedule.access import Scope
from compiler.schedule.calls import KernelGraph
from compiler.schedule.sources import Names
from compiler.schedule.strict.instantiate import DeviceBuffer


class KernelGraphBuilder:
    """Builds the nodes of one kernel graph, and numbers its buffers and ranges.

    `inputs` holds the memory of the inputs, in the form that `instantiate_schedule` takes.
    """

    def __init__(self) -> None:
        self.inputs: dict[kinds.Storage, DeviceBuffer] = {}
        self._made = 0

    def _next(self) -> int:
        self._made += 1
        return self._made

    def input(self, name: str, array: Array, device: str = "CPU") -> Buffer:
        """A buffer with data. A row-major `array` is not copied, and calls may write it in place.
        """
        dtype = parse(array.dtype)
        node = Buffer((), self._next(), array.shape, dtype, name, device)
        self.inputs[node] = DeviceBuffer(device, dtype, array.size, array.reshape(-1))
        return node

    def buffer(self, name: str, shape: Shape, dtype: DType) -> Buffer:
        """A buffer without data: a call has to write it before another one reads it."""
        return Buffer((), -self._next(), shape, dtype, name)

    def local(self, size: int, dtype: DType) -> kinds.DefineLocal:
        """Scratch memory of `size` elements."""
        return kinds.DefineLocal((), self._next(), size, dtype)

    def parameter(self, slot: int, shape: Shape, dtype: DType) -> Param:
        """Parameter number `slot` of a body; as an argument, a buffer passed from outside."""
        return Param((), slot, shape, dtype)

    def body(self, *stores: tuple[Param, TensorNode]) -> Sink:
        """A kernel body that stores each value to its parameter."""
        return Sink(tuple(Store(store) for store in stores))

    def call(self, name: str, body: Sink, *arguments: Node) -> kinds.Call:
        """A call of `body`; arguments that are no Bind are passed as parameters 0, 1, 2, …"""
        return kinds.Call(arguments, body, name)

    def custom(
        self, name: str, *arguments: Node, outputs: tuple[int, ...] | None = None
    ) -> kinds.CustomCall:
        """A call of the function registered as `name`; without arguments, for its effect only.

        It writes the arguments at the positions `outputs`; None means that it may write any.
        """
        return kinds.CustomCall(arguments, name, outputs)

    def transfer(
        self,
        destination: Node,
        source: Node,
        region: kinds.Region | None = None,
        name: str = "copy",
    ) -> kinds.Transfer:
        """A copy of one buffer, or of a region of it, to another."""
        return kinds.Transfer((destination, source), name, region)

    def barrier(self, name: str, *waits: Node, scope: Scope = "device") -> kinds.Synchronize:
        """A barrier: its readers run after all of `waits`, which are calls, Ends and Afters."""
        return kinds.Synchronize(waits, name, "barrier", scope=scope)

    def fence(self, name: str, *waits: Node, scope: Scope = "system") -> kinds.Synchronize:
        """A fence: its readers see all writes of `waits`."""
        return kinds.Synchronize(waits, name, "fence", scope=scope)

    def signal(self, name: str, event: int, *waits: Node) -> kinds.Synchronize:
        """Signals the event with this number once `waits` have run."""
        return kinds.Synchronize(waits, name, "event", event)

    def wait(self, name: str, event: int, *waits: Node) -> kinds.Synchronize:
        """Waits for the event with this number, after `waits`."""
        return kinds.Synchronize(waits, name, "event", event, True)

    def after(self, value: Node, *waits: Node) -> kinds.After:
        """`value` once the calls, Ends and Afters in `waits` have run."""
        return kinds.After((value, *waits))

    def stack(self, *lanes: Node) -> kinds.MStack:
        """A stack of buffers, one per device."""
        return kinds.MStack(lanes)

    def select(self, stack: Node, lane: int) -> kinds.MSelect:
        """One lane of a stack."""
        return kinds.MSelect((stack,), lane)

    def loop(self, high: "int | kinds.DefineVar", low: "int | kinds.DefineVar" = 0) -> kinds.Range:
        """A new loop counter: low, low + 1, … high - 1."""
        return kinds.Range((), self._next(), low, high)

    def end(self, call: Node, *ranges: Node) -> kinds.End:
        """`call` repeated for each value of its range; exactly one range is required."""
        return kinds.End((call, *ranges))

    def variable(self, name: str, low: int, high: int) -> kinds.DefineVar:
        """A named integer, from `low` to `high`."""
        return kinds.DefineVar((), name, low, high)

    def read(self, variable: kinds.DefineVar) -> Variable:
        """The value of a variable inside a body: a tensor of rank 0 and type int64."""
        return Variable((), variable.name, variable.low, variable.high)

    def bind(self, variable: Node, value: Node) -> kinds.Bind:
        """A call argument that binds a variable to a Range (a loop counter) or to a constant."""
        return kinds.Bind((variable, value))

    def sink(self, *results: Node) -> kinds.KernelSink:
        """The root: results, and calls run for their effect."""
        return kinds.KernelSink(results)

    def graph(self, root: kinds.KernelSink) -> KernelGraph:
        """The kernel graph as a stage, to print or draw; error messages use its numbers."""
        numbers = Numbering()
        numbers.all(Names(root).nodes)
        return KernelGraph(title="Kernel graph", root=root, numbers=numbers, parents={})

    def describe(self, root: kinds.KernelSink, ids: Sequence[int]) -> list[str]:
        """Descriptions of the nodes with these ids: `call step (%6)`."""
        names = Names(root)
        return [names.describe(names.nodes[number]) for number in ids]
