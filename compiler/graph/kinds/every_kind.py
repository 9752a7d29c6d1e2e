"""The composite kinds, a row each: whoever adds one writes its class and names it here."""

from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.joins import Cat, Contract, Gather, ScatterAxis
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import ContiguousBackward, Detach, Fuse, Noop, Placeholder, Unroll
from compiler.graph.kinds.vectors import Gep, VConst, Vectorize, Wmma
from compiler.graph.kinds.views import BufferView, Valid, View

EXPANDED: tuple[type[Composite], ...] = (
    BufferView, View, Valid, VConst, Gep, Vectorize, Wmma, Cat, Contract, Gather,
    ScatterAxis, Detach, ContiguousBackward, Noop, Unroll, Placeholder,
)  # fmt: skip
"""The kinds that `decompose` replaces."""

SCHEDULED: tuple[type[Composite], ...] = (Fuse, Kernel)
"""The kinds that the schedule knows."""
