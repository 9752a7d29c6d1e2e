"""`Kernel(inputs…; body, name)`: a body written by the user that becomes one kernel with a name.

The body is a graph over `Param` 1, 2, … which stand for the inputs in order; Param 0 is the result.
Nothing outside is fused into the kernel, and the kernel is never split.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.core.origin import no_origin
from compiler.graph.kinds.composite import Composite, Problem
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.markers import Fuse
from compiler.graph.kinds.placement import Copy, Multi
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan, stepped
from compiler.graph.nodes import Buffer, Param, Shape, Sink, Store, TensorNode

# Names reserved by C or LLVM: generated code may call these functions, or be printed as C.
_WORDS = """
    abs acos asin atan atan2 cbrt ceil cos cosh erf exp exp2 expm1 fabs floor fma fmax fmin fmod
    frexp ldexp log log10 log1p log2 lrint lround modf nearbyint pow remainder rint round
    roundeven sin sincos sinh sqrt tan tanh trunc memchr memcmp memcpy memmove memset malloc
    calloc realloc free strlen abort exit main printf puts
    auto bool break case char const continue default do double else enum extern float for goto
    if inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while
"""
RESERVED = frozenset(_WORDS.split())
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NOT_INSIDE = (Buffer, Sink, Store)
_OWN_CALLS = (Assign, Copy, Custom, Multi, Repeat, Scatter)


def plain(body: TensorNode) -> TensorNode:
    """`body` without source lines, so that equal bodies of two lines are one object.

    `Fuse` is removed, too: inside one kernel everything is fused. A scan, which would be a kernel
    boundary, becomes log2(n) steps.
    """
    done: dict[TensorNode, TensorNode] = {}
    with no_origin():
        for node in toposort([body]):
            sources = tuple(done[s] for s in node.sources)
            if isinstance(node, Scan):
                done[node] = stepped(sources[0], node.op, node.axis)
                continue
            is_mark = isinstance(node, Fuse)
            done[node] = sources[0] if is_mark else type(node)(sources, *node.arguments.values())
    return done[body]


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Kernel(Composite):
    """The value of `body` on the operands, computed by one kernel called `name`."""

    operands: ClassVar[int | None] = None
    colour: ClassVar[str] = "control"
    body: TensorNode
    name: str

    def result(self) -> tuple[Shape, DType]:
        """The shape and type of the body."""
        return self.body.shape, self.body.dtype

    def problem(self) -> Problem | None:
        """A wrong name, a body that reads more than its Params, inputs that do not match them."""
        is_c = self.name in RESERVED or self.name.rstrip("fl") in RESERVED
        if is_c or not _NAME.fullmatch(self.name):
            return Problem("this cannot be the name of a kernel", repr(self.name),
                           "a letter, then letters, digits and _; no word of C")  # fmt: skip
        order: list[TensorNode] = toposort([self.body])
        for node in order:
            objection = self._inside(node)
            if objection:
                return objection
        slots = {n.slot for n in order if isinstance(n, Param)}
        if slots != set(range(1, len(self.sources) + 1)):
            return Problem("the body's Params are not the inputs", sorted(slots),
                           f"1 to {len(self.sources)}, each")  # fmt: skip
        return None

    def _inside(self, node: TensorNode) -> Problem | None:
        """The problem of one node of the body; None if it has none."""
        kind = type(node).__name__
        if isinstance(node, _OWN_CALLS) or kind == "ScatterAxis":
            what = "the body contains an operation that is a call of its own"
            return Problem(what, kind.lower(), "operations that are computed element by element")
        is_input = isinstance(node, Composite) and node.colour == "buffer" and not node.sources
        if isinstance(node, (Kernel, *_NOT_INSIDE)) or is_input:
            return Problem("the body reads more than its Params", kind.lower(), "Params only",
                           "make it an input of the kernel")  # fmt: skip
        if not isinstance(node, Param) or not 0 < node.slot <= len(self.sources):
            return None
        passed = self.sources[node.slot - 1]
        if (passed.shape, passed.dtype) == (node.shape, node.dtype):
            return None
        return Problem(f"input {node.slot} is not what the body reads",
                       f"{passed.dtype} {passed.shape}", f"{node.dtype} {node.shape}")  # fmt: skip

    def with_body(self, change: Callable[[TensorNode], TensorNode]) -> Self:
        """The same kernel with a changed body; itself if nothing changes."""
        body = change(plain(self.body))
        return self if body is self.body else type(self)(self.sources, body, self.name)

    def inlined(self) -> TensorNode:
        """The body applied to the inputs directly, without a kernel of its own."""
        done: dict[TensorNode, TensorNode] = {}
        for node in toposort([self.body]):
            if isinstance(node, Param):
                done[node] = self.sources[node.slot - 1]
            else:
                done[node] = node.with_sources(tuple(done[source] for source in node.sources))
        return done[self.body]

    def call_body(self) -> Sink:
        """The body of the call, which stores the value to Param 0."""
        return Sink((Store((Param((), 0, self.shape, self.dtype), self.body)),))

    def describe(self) -> str:
        """The name."""
        return self.name
