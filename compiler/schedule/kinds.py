"""The nodes of the kernel graph: calls, their buffers, their order, loops around them.

    node    = storage | Call | CustomCall | Transfer | Synchronize | After | End | MStack | MSelect
            | Range | Bind | DefineVar | KernelSink
    storage = Buffer                           from the tensor graph: an input or a result
            | Param                            from the tensor graph: a buffer given from outside
            | DefineLocal(number, size, dtype) scratch memory of the program
    Call(arguments…; body, name, fixed)        run kernel `body` on these arguments
    CustomCall(arguments…; name, outputs)      call the registered function `name`
    Transfer(destination, source; region)      copy one buffer, or a region of it, to another
    Synchronize(waits…; name, kind, …)         a barrier, a fence or an event behind `waits`
    After(value, waits…)                       `value`, once the calls in `waits` have run
    MStack(lanes…) | MSelect(stack; lane)      one buffer per device | one of them
    Range(number, low, high)                   a loop counter: low, low + 1, … high - 1
    End(call, range)                           `call`, repeated for every value of `range`
    DefineVar(name, low, high)                 a named integer, low … high, both possible
    Bind(variable, value)                      a call argument: the variable's value
    KernelSink(results…)                       what the program gives back

The body of a call is a tensor graph over `Param`s under `Sink(Store(Param, …), …)`. It is an
argument of the call, not a source: traversals of the kernel graph never enter a body. Arguments
that are no `Bind` are passed as `Param` 0, 1, 2, … in their order; a `Variable` of the body has the
value of the `DefineVar` of its name, or its value in `fixed`.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from compiler.core.dtypes import DType
from compiler.core.node import Node
from compiler.graph.nodes import Buffer, Param, Shape, Sink
from compiler.schedule.access import Scope, Slots, SynchronizationKind, slots_of

Fixed: TypeAlias = tuple[tuple[str, int], ...]
"""Values of variables, by name."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Call(Node):
    """Runs kernel `body` on its buffers; the targets of the body's Stores are written.

    `fixed` has values of variables of the body, by name.
    """

    body: Sink
    name: str
    fixed: Fixed = ()


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class CustomCall(Node):
    """Calls the function registered as `name` on its buffers.

    It writes the arguments at the positions `outputs` and reads the others; where these are
    None it may read and write all of them.
    """

    name: str
    outputs: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """`dims` elements of two buffers: strides and offsets in elements, None is row-major."""

    dims: Shape
    source_strides: Shape | None = None
    destination_strides: Shape | None = None
    source_offset: int = 0
    destination_offset: int = 0
    destination_step: int = 0
    """The distance by which the destination moves with each step of the transfer's counter."""

    @property
    def size(self) -> int:
        """The number of elements that are copied."""
        return math.prod(self.dims)

    @property
    def taken(self) -> "Region":
        """The region that packs the elements of the source contiguously."""
        return Region(self.dims, self.source_strides, None, self.source_offset)

    @property
    def placed(self) -> "Region":
        """The region that writes packed elements to the destination."""
        return Region(self.dims, None, self.destination_strides, 0, self.destination_offset)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Transfer(Node):
    """Copies buffer `sources[1]`, or a region of it, to the buffer `sources[0]`.

    In a loop the region may move with the counter: then a third source is the Bind of the counter.
    """

    name: str = "copy"
    region: Region | None = None
    is_async: bool = False
    stream: int | None = None


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Synchronize(Node):
    """A synchronisation that runs after all `sources`: Calls, Ends and Afters.

    An event is signalled, or, with `is_wait`, waited for.
    """

    name: str
    kind: SynchronizationKind
    event: int | None = None
    is_wait: bool = False
    scope: Scope = "device"
    devices: tuple[str, ...] = ("CPU",)
    stream: int | None = None


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class After(Node):
    """`sources[0]`, valid once `sources[1:]` have run."""

    @property
    def buffer(self) -> Buffer:
        """The buffer of the value."""
        return buffer_of(self)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class KernelSink(Node):
    """The results of the program, and calls that are run for their effect."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class DefineLocal(Node):
    """Scratch memory of `size` elements; `number` distinguishes them."""

    number: int
    size: int
    dtype: DType

    @property
    def shape(self) -> Shape:
        """One axis of `size` elements."""
        return (self.size,)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class MStack(Node):
    """The buffers of one value on several devices, one lane per device."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class MSelect(Node):
    """Lane `lane` of the stack `sources[0]`; a plain buffer is a stack of one lane."""

    lane: int


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class DefineVar(Node):
    """An integer known when the program runs: at least `low`, at most `high`."""

    name: str
    low: int
    high: int


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Range(Node):
    """The counter of a loop around calls: `low` ≤ counter < `high`; `number` distinguishes them.

    A bound may be a `DefineVar`, but a loop can be scheduled only if both bounds are integers.
    """

    number: int
    low: "int | DefineVar"
    high: "int | DefineVar"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class End(Node):
    """The call `sources[0]` (or an inner End of it), repeated for each value of its range."""

    @property
    def call(self) -> Node:
        """The node that is repeated, below inner `End`s."""
        node: Node = self
        while isinstance(node, End):
            node = node.sources[0]
        return node

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges among the other sources; the scheduler requires exactly one."""
        return tuple(s for s in self.sources[1:] if isinstance(s, Range))


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Bind(Node):
    """Binds `sources[0]`, a DefineVar, to `sources[1]`: a Range, or a value known at run time."""


Callable: TypeAlias = Call | CustomCall | Transfer | Synchronize
CALLABLE = (Call, CustomCall, Transfer, Synchronize)
EFFECTS = (*CALLABLE, End)
"""Nodes in a sink that are no results but run for their effect."""
Storage: TypeAlias = Buffer | Param | DefineLocal
STORAGE = (Buffer, Param, DefineLocal)
KernelNode: TypeAlias = (
    Storage | Callable | After | End | MStack | MSelect | Range | Bind | DefineVar | KernelSink
)


def buffer_of(node: Node) -> Buffer:
    """The buffer of an argument or result, below Afters and lane selections."""
    chosen: list[int] = []
    while isinstance(node, After | MSelect | MStack):
        if isinstance(node, MSelect):
            chosen.append(node.lane)
        lane = chosen.pop() if isinstance(node, MStack) and chosen else 0
        node = node.sources[lane]
    assert isinstance(node, Buffer)
    return node


def arguments_of(call: Callable) -> tuple[Node, ...]:
    """The sources of a call that are memory: not Binds, and not nodes that it only waits for."""
    if isinstance(call, Synchronize):
        return ()
    return tuple(source for source in call.sources if not isinstance(source, Bind))


def access(call: Callable, count: int) -> Slots:
    """The positions of the arguments that a call reads, and of those that it writes."""
    everything = frozenset(range(count))
    match call:
        case Call():
            return slots_of(call.body)
        case CustomCall(outputs=None):
            return everything, everything
        case CustomCall(outputs=outputs):
            written = frozenset(outputs or ())
            return everything - written, written
        case Transfer():
            return frozenset((1,)), frozenset((0,))
        case Synchronize():
            return frozenset(), frozenset()
