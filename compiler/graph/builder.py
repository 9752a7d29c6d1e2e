"""builder: builds tensor graphs by hand, to learn what each kind of node does and to test it.

Example: a transposed window of a buffer, summed in a loop that is unrolled four times:

    g = GraphBuilder()
    x = Tensor(np.arange(24.0), name="x")
    window = g.view(x, Strided(shape=(3, 8), strides=(1, 3)))
    total = g.unroll(g.reduce(window, "sum", (1,)), 4)
    print(compile(total))                  # all stages of the compilation
    Tensor.from_node(total).numpy()

Operands are nodes or tensors; each method returns a node of the kind it is named after. Operands
that do not fit raise a `GraphError` at once, which states what was passed and what is expected.
Operands are never converted or broadcast: `Tensor` does that.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from compiler.core.dtypes import Scalar, parse
from compiler.core.errors import CompileError, GraphError, InternalError
from compiler.core.origin import caller, state
from compiler.graph import nodes
from compiler.graph.bits import to_bits
from compiler.graph.kinds import by_hand
from compiler.graph.kinds.composite import checked
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.joins import Cat, Contract, Gather
from compiler.graph.kinds.kernel import Kernel, plain
from compiler.graph.kinds.markers import ContiguousBackward, Detach, Fuse, Placeholder, Unroll
from compiler.graph.kinds.scan import Scan
from compiler.graph.kinds.views import Strided, View
from compiler.graph.nodes import Pairs, Shape, TensorNode
from compiler.graph.verify import verify_node

Operand: TypeAlias = Any
"""A node, or a tensor, which stands for its node."""


def _node(value: Operand) -> TensorNode:
    """The node of an operand; `GraphError` for anything else."""
    node = getattr(value, "node", value)
    if isinstance(node, TensorNode):
        return node
    raise GraphError("graph builder", "an operand is no node", got=type(value).__name__,
                     expected="a node or a Tensor")  # fmt: skip


def _build(kind: type[TensorNode], operands: Sequence[Operand], *arguments: Any) -> TensorNode:
    """A node of this kind with the user's line as its origin; `GraphError` if it is not valid."""
    word = kind.__name__.lower()
    held, state.origin = state.origin, state.origin or caller(word)
    try:
        built = checked(kind(tuple(map(_node, operands)), *arguments))
        verify_node(built)
    except InternalError as error:
        raise GraphError(word, error.problem, got=error.got, expected=error.expected) from None
    except CompileError:
        raise
    except (IndexError, KeyError, TypeError, ValueError) as error:
        what = "the operands or arguments do not fit"
        got = f"{type(error).__name__} {error}"
        meaning = (kind.__doc__ or "").partition("\n")[0]
        raise GraphError(word, what, got=got, expected=meaning) from None
    finally:
        state.origin = held
    return built


class GraphBuilder:
    """Builds nodes of the tensor graph, with one method per kind."""

    # -- leaves --------------------------------------------------------------------------------

    def placeholder(self, name: str, shape: Shape, dtype: object) -> TensorNode:
        """Data passed by name at run time: `compile(…).run(inputs={name: array})`."""
        return _build(Placeholder, (), tuple(shape), parse(dtype), name)

    def parameter(self, slot: int, shape: Shape, dtype: object) -> TensorNode:
        """Input number `slot`, from 1 on, of a kernel body."""
        return _build(nodes.Param, (), slot, tuple(shape), parse(dtype))

    def constant(self, value: Scalar, dtype: object, shape: Shape = ()) -> TensorNode:
        """A constant: the same value in every element."""
        wanted = parse(dtype)
        return _build(nodes.Const, (), to_bits(value, wanted), wanted, tuple(shape))

    def vconst(self, values: Sequence[Scalar], dtype: object) -> TensorNode:
        """A vector of at most 64 constants."""
        wanted = parse(dtype)
        return _build(by_hand.VConst, (), tuple(to_bits(v, wanted) for v in values), wanted)

    def variable(self, name: str, low: int, high: int) -> TensorNode:
        """An integer known at run time, in `low` … `high`."""
        return _build(nodes.Variable, (), name, low, high)

    def iota(self, extent: int, dtype: object = "int64") -> TensorNode:
        """0, 1, 2, … along one axis."""
        return _build(nodes.Iota, (), extent, parse(dtype))

    # -- computation ---------------------------------------------------------------------------

    def op(self, name: str, *operands: Operand) -> TensorNode:
        """Elementwise operation `name` of `ops.OPS`; operands have equal shapes and types."""
        return _build(nodes.Elementwise, operands, name)

    def cast(self, x: Operand, dtype: object) -> TensorNode:
        """The value converted to another type."""
        return _build(nodes.Cast, (x,), parse(dtype))

    def bitcast(self, x: Operand, dtype: object) -> TensorNode:
        """The same bits, read as another type of the same width."""
        return _build(nodes.Bitcast, (x,), parse(dtype))

    def reduce(self, x: Operand, op: str, axes: Shape) -> TensorNode:
        """Reduction over `axes` by "sum", "prod", "max" or "min"; reduced axes keep extent 1."""
        return _build(nodes.Reduce, (x,), op, tuple(axes))

    def contract(self, a: Operand, b: Operand, pairs: Pairs, batch: int = 0) -> TensorNode:
        """Tensor contraction: sums products over `pairs` (axis of a, axis of b).

        The first `batch` axes of both are batch axes and stay in front.
        """
        return _build(Contract, (a, b), tuple(map(tuple, pairs)), batch)

    def wmma(self, a: Operand, b: Operand, c: Operand, m: int, n: int, k: int) -> TensorNode:
        """c + a @ b on tiles of (…, m, k), (…, k, n) and (…, m, n)."""
        return _build(by_hand.Wmma, (a, b, c), m, n, k)

    def threefry(self, counter: Operand, key: Operand) -> TensorNode:
        """64 random bits per counter; both are uint64 of one shape."""
        return _build(nodes.Threefry, (counter, key))

    # -- movement ------------------------------------------------------------------------------

    def reshape(self, x: Operand, shape: Shape) -> TensorNode:
        """The same elements in row-major order, with another shape."""
        return _build(nodes.Reshape, (x,), tuple(shape))

    def permute(self, x: Operand, order: Shape) -> TensorNode:
        """Axes reordered."""
        return _build(nodes.Permute, (x,), tuple(order))

    def expand(self, x: Operand, shape: Shape) -> TensorNode:
        """Axes of extent 1 broadcast to `shape`."""
        return _build(nodes.Expand, (x,), tuple(shape))

    def pad(self, x: Operand, widths: Pairs) -> TensorNode:
        """Zero padding: one (before, after) per axis."""
        return _build(nodes.Pad, (x,), tuple(map(tuple, widths)))

    def shrink(self, x: Operand, bounds: Pairs) -> TensorNode:
        """The slice [begin, end) of each axis."""
        return _build(nodes.Shrink, (x,), tuple(map(tuple, bounds)))

    def flip(self, x: Operand, axes: Shape) -> TensorNode:
        """These axes reversed."""
        return _build(nodes.Flip, (x,), tuple(axes))

    def cat(self, *parts: Operand, axis: int = 0) -> TensorNode:
        """The operands concatenated along `axis`."""
        return _build(Cat, parts, axis)

    def view(self, x: Operand, *views: Strided) -> TensorNode:
        """The operand read through a shape tracker, innermost view first."""
        return _build(View, (x,), views)

    def valid(self, x: Operand, size: int, *views: Strided) -> TensorNode:
        """The operand where the mask of a shape tracker over `size` elements is true, else 0."""
        return _build(by_hand.Valid, (x,), views, size)

    def buffer_view(
        self, buffer: Operand, size: int, offset: int = 0, dtype: object = None
    ) -> TensorNode:
        """`size` elements of a buffer's memory, starting at element `offset`, read as `dtype`."""
        target = _node(buffer).dtype if dtype is None else parse(dtype)
        return _build(by_hand.BufferView, (buffer,), size, offset, target)

    def gep(self, x: Operand, *lanes: int) -> TensorNode:
        """The selected lanes of the last axis."""
        return _build(by_hand.Gep, (x,), lanes)

    def vectorize(self, *lanes: Operand) -> TensorNode:
        """The operands stacked as the lanes of a new last axis."""
        return _build(by_hand.Vectorize, lanes)

    # -- positions -----------------------------------------------------------------------------

    def index(self, x: Operand, *positions: Operand, validity: Operand | None = None) -> TensorNode:
        """x at int64 positions, one tensor per axis; where `validity` is false, 0 without a read.
        """
        operands = positions if validity is None else (*positions, validity)
        return _build(nodes.Index, (x, *operands))

    def gather(self, x: Operand, indices: Operand, axis: int = 0) -> TensorNode:
        """x at `indices` along one axis; 0 where an index is out of bounds."""
        return _build(Gather, (x, indices), axis)

    def scatter_axis(
        self, indices: Operand, updates: Operand, axis: int, shape: Shape
    ) -> TensorNode:
        """Zeros of `shape` with `updates` written at `indices` along one axis; the last one wins.
        """
        return _build(by_hand.ScatterAxis, (indices, updates), axis, tuple(shape))

    def scatter(
        self, x: Operand, updates: Operand, *positions: Operand, op: str = "replace"
    ) -> TensorNode:
        """x with `updates` applied at int64 positions, one tensor per axis, in row-major order."""
        return _build(Scatter, (x, updates, *positions), op)

    def scan(self, x: Operand, op: str, axis: int) -> TensorNode:
        """Inclusive scan: element t of the axis is reduction `op` of x's elements 0 to t."""
        return _build(Scan, (x,), op, axis)

    # -- marks ---------------------------------------------------------------------------------

    def contiguous(self, x: Operand) -> TensorNode:
        """x, written to memory."""
        return _build(nodes.Contiguous, (x,))

    def detach(self, x: Operand) -> TensorNode:
        """x; gradients stop here."""
        return _build(Detach, (x,))

    def contiguous_backward(self, x: Operand) -> TensorNode:
        """x; its gradient is written to memory."""
        return _build(ContiguousBackward, (x,))

    def noop(self, *x: Operand) -> TensorNode:
        """x itself, or false of rank 0."""
        return _build(by_hand.Noop, x)

    def fuse(self, x: Operand) -> TensorNode:
        """x, fused into all its users (recomputed in each)."""
        return _build(Fuse, (x,))

    def unroll(self, x: Operand, factor: int) -> TensorNode:
        """x, a reduction, with its innermost loop unrolled `factor` times."""
        return _build(Unroll, (x,), factor)

    # -- programs ------------------------------------------------------------------------------

    def kernel(self, name: str, function: Callable[..., Operand], *inputs: Operand) -> TensorNode:
        """One kernel called `name`. `function` gets a Param for each input and returns the body.

        `Tensor.kernel` does the same with tensors.
        """
        operands = tuple(map(_node, inputs))
        parameters = [nodes.Param((), i + 1, x.shape, x.dtype) for i, x in enumerate(operands)]
        return _build(Kernel, operands, plain(_node(function(*parameters))), name)

    def store(self, parameter: Operand, value: Operand) -> TensorNode:
        """Writes a value to a Param."""
        return _build(nodes.Store, (parameter, value))

    def sink(self, *roots: Operand) -> TensorNode:
        """The roots of a program, or of a kernel body."""
        return _build(nodes.Sink, roots)
