"""The composite kinds, a row each: whoever adds one writes its class and names it here."""

from compiler.graph.composite import Composite
from compiler.graph.joins import Cat, Contract, Gather, ScatterAxis
from compiler.graph.kernel import Kernel
from compiler.graph.markers import (
    ContiguousBackward,
    Detach,
    Fuse,
    Noop,
    Placeholder,
    Unroll,
)
from compiler.graph.vectors import Gep, VConst, Vectorize, Wmma
from compiler.graph.views import BufferView, Valid, View

EXPANDED: tuple[type[Composite], ...] = (
    BufferView, View, Valid, VConst, Gep, Vectorize, Wmma, Cat, Contract, Gather,
    ScatterAxis, Detach, ContiguousBackward, Noop, Unroll, Placeholder,
)  # fmt: skip
"""The kinds that `decompose` replaces."""

SCHEDULED: tuple[type[Composite], ...] = (Fuse, Kernel)
"""The kinds that the schedule knows."""
