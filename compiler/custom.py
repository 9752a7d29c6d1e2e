"""User-defined functions in a tensor program: on the host, as a kernel, or inside kernels.

    @custom.host(dtype="int64")
    def ranks(x):                                # NumPy arrays in, a NumPy array out
        return x.argsort(kind="stable").argsort()

    y = ranks(x) + 1                             # runs between two kernels

    twice = custom.inline("twice", "fadd float {0}, {0}", ["float32"], "float32", lambda x: x + x)
    z = twice(y.cast("float32")).exp()           # one kernel

A registered function takes and returns tensors, and is lazy like every method. It must be pure:
equal calls may run once, and unused calls not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeAlias

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import CompileError, DTypeError, GradientError, located
from compiler.core.origin import user_call
from compiler.graph.kinds import effects
from compiler.graph.nodes import TensorNode
from compiler.graph.words import short
from compiler.llvm import foreign
from compiler.llvm.types import register_type
from compiler.lowered import custom as lowered
from compiler.ops import functions
from compiler.ops.functions import Attributes, Function, Instance, Type
from compiler.tensor import Tensor
from compiler.tensors.shapes import broadcast
from compiler.tensors.value import as_node, broadcast_node, operand_of

Reference: TypeAlias = Callable[..., Any]
_SCALARS = (bool, int, float, str)


@dataclass(frozen=True, slots=True, eq=False)
class CustomFunction:
    """A registered function: call it with tensors, and with keyword arguments that are not tensors.

    `shape` and `dtype` of the result are a value, or a function of the operands' shapes (or types)
    and of the keyword arguments. None stands for that of the first operand.
    """

    function: Function
    shape: Any = None
    dtype: Any = None
    operands: tuple[DType, ...] | None = None
    text: Callable[..., str] | None = None

    @property
    def name(self) -> str:
        """The registered name."""
        return self.function.name

    @user_call
    def __call__(self, *tensors: Any, **attributes: Any) -> Tensor:
        """The lazy result for `tensors`, or for values that can become tensors."""
        for key, value in attributes.items():
            if not isinstance(value, _SCALARS):
                what = f"keyword {key} is not a number or text"
                self._refuse(what, type(value).__name__, "a scalar")
        sources = self._sources(tensors)
        types = tuple(Type(node.shape, node.dtype) for node in sources)
        given: Attributes = tuple(sorted(attributes.items()))
        result = self._result(types, attributes)
        text = self.text(result, *types, **attributes) if self.text else self.function.text
        if self.function.kind == "kernel":
            _check_kernel(self.function, text, len(types))
        instance = functions.use(self.function, given, types, result, text)
        _lower(instance)
        made = effects.Custom(sources, instance.symbol, given, result.shape, result.dtype)
        return Tensor._of(made)

    def derivative(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate the derivative: `function(g, y, *tensors, **attributes)` of the change of the
        result (like it), the result and the operands gives, for each operand, what it changes by,
        like that, or None; one alone needs no tuple. It is made of tensors, and so has derivatives
        itself.

            @cube.derivative
            def _(g, y, x):
                return 3 * x * x * g
        """
        functions.DERIVATIVES[self.function] = partial(_own_derivative, self.name, function)
        return function

    def _sources(self, tensors: Sequence[object]) -> tuple[TensorNode, ...]:
        """The operands as nodes. Those of an inline function broadcast to one shape."""
        parts = [operand_of(self.name, value) for value in tensors]
        if not parts:
            self._refuse("no operand", "none", "a tensor")
        if self.operands is None:
            made = (p if isinstance(p, TensorNode) else Tensor(p).node for p in parts)
            return tuple(made)
        if len(parts) != len(self.operands):
            self._refuse("the number of operands is wrong", len(parts), len(self.operands))
        for part, dtype in zip(parts, self.operands, strict=True):
            if isinstance(part, TensorNode) and part.dtype != dtype:
                raise DTypeError(self.name, "an operand has the wrong type", got=str(part.dtype),
                                 expected=str(dtype), hint="cast it first")  # fmt: skip
        typed = zip(parts, self.operands, strict=True)
        whole = [as_node(self.name, part, dtype) for part, dtype in typed]
        shape = broadcast(self.name, *whole)
        return tuple(broadcast_node(node, shape) for node in whole)

    def _result(self, types: tuple[Type, ...], attributes: dict[str, Any]) -> Type:
        """The declared shape and type of the result."""
        shape, dtype = self.shape, self.dtype
        if shape is None:
            shape = types[0].shape
        elif callable(shape):
            shape = shape(*(t.shape for t in types), **attributes)
        if dtype is None:
            dtype = types[0].dtype
        elif callable(dtype) and not isinstance(dtype, type):
            dtype = dtype(*(t.dtype for t in types), **attributes)
        whole = (shape,) if isinstance(shape, int) else tuple(shape)
        if any(not isinstance(n, int) or n < 0 for n in whole):
            self._refuse("the declared shape is not a shape", whole, "extents of 0 or more")
        return Type(whole, dtypes.parse(dtype, self.name))

    def _refuse(self, problem: str, got: object, expected: object) -> NoReturn:
        raise CompileError(f"custom {self.name}", problem, got=str(got), expected=str(expected))


def _own_derivative(
    name: str, function: Callable[..., Any], node: effects.Custom, g: TensorNode
) -> list[TensorNode | None]:
    """The gradients from a user's derivative, checked against the operands."""
    operands = [Tensor._of(each) for each in node.sources]
    given = function(Tensor._of(g), Tensor._of(node), *operands, **dict(node.attributes))
    found = list(given) if isinstance(given, tuple | list) else [given]
    if len(found) != len(operands):
        raise GradientError(f"derivative of {name}", "there is one for each operand",
                            got=f"{len(found)}", expected=f"{len(operands)}")  # fmt: skip
    made: list[TensorNode | None] = []
    for share, operand in zip(found, operands, strict=True):
        if share is None:
            made.append(None)
            continue
        tensor = Tensor(share)
        if tensor.shape != operand.shape:
            raise GradientError(f"derivative of {name}", "it is not like its operand",
                                got=short(tensor.node), expected=short(operand.node))  # fmt: skip
        made.append(tensor.cast(operand.dtype).node)
    return made


def host(
    shape: Any = None, dtype: Any = None, name: str | None = None
) -> Callable[[Reference], CustomFunction]:
    """Decorator for a function that takes read-only NumPy arrays and returns a new one: it runs on
    the host, between kernels.

    `shape` and `dtype` declare the result; see `CustomFunction`.
    """

    def decorate(function: Reference) -> CustomFunction:
        known = _identifier(name or function.__name__)
        return CustomFunction(Function(known, "host", function), shape, dtype)

    return decorate


@located
def kernel(
    name: str,
    text: str | Callable[..., str],
    reference: Reference,
    shape: Any = None,
    dtype: Any = None,
    declarations: Sequence[str] = (),
) -> CustomFunction:
    """A function written in LLVM IR, as a kernel; `reference` is the same function on NumPy arrays.

    `text` defines `void @name(ptr %out, ptr …)`: the result, then each operand, row-major. If the
    text depends on shapes, pass a function of the types of the result and of the operands. The
    kernel must write all of the result and nothing else. Raises `CompileError` if the text does not
    define that function, if LLVM rejects it, or if a declared function does not exist.
    """
    known = _identifier(name)
    if not callable(reference):
        raise CompileError(f"custom {name}", "it needs a reference on NumPy arrays")
    given = text if isinstance(text, str) else ""
    _check_texts(name, given, declarations)
    made = Function(known, "kernel", reference, given, tuple(declarations))
    if given:
        _check_kernel(made, given, None)
    return CustomFunction(made, shape, dtype, None, None if isinstance(text, str) else text)


@located
def inline(
    name: str,
    expression: str,
    operands: Sequence[object],
    result: object,
    reference: Reference,
    declarations: Sequence[str] = (),
) -> CustomFunction:
    """One LLVM IR instruction on scalars, with operands `{0}`, `{1}`, …, applied to each element.

    It is computed inside kernels. `reference` is the same function on NumPy arrays of one shape.
    `declarations` are further lines of LLVM IR that it needs, for intrinsics or functions of loaded
    libraries. Raises `CompileError` if LLVM rejects it, if it is not one instruction, or if a
    declared function does not exist.
    """
    known = _identifier(name)
    if not callable(reference):
        raise CompileError(f"custom {name}", "it needs a reference on NumPy arrays")
    _check_texts(name, expression, declarations)
    types = tuple(dtypes.parse(each, name) for each in operands)
    target = dtypes.parse(result, name)
    try:
        body = expression.format(*(f"%x{i}" for i in range(len(types))))
    except (IndexError, KeyError, ValueError) as error:
        problem = f"the expression names an operand that does not exist: {error}"
        raise CompileError(f"custom {name}", problem, got=expression) from error
    parameters = [register_type(t) for t in types]
    needed = foreign.check_inline(known, body, parameters, register_type(target), declarations)
    made = Function(known, "inline", reference, expression, needed)
    return CustomFunction(made, None, target, types)


def _check_texts(name: str, text: object, declarations: Sequence[object]) -> None:
    is_text = isinstance(text, str) and not isinstance(declarations, str)
    if not is_text or not all(isinstance(line, str) for line in declarations):
        got, expected = f"{text!r}, {declarations!r}", "a text, and declarations as a list of texts"
        raise CompileError(f"custom {name}", "this is not LLVM IR", got=got, expected=expected)


def _identifier(name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise CompileError("custom", "the name is not an identifier", got=repr(name))
    return name


def _check_kernel(function: Function, text: str, count: int | None) -> None:
    """Refuse a text that does not define the function with one pointer for the result and one per
    operand."""
    found = foreign.check_kernel(function.name, text, function.declarations)
    if count not in (None, found - 1):
        problem = "the parameters are not the result and the operands"
        got, expected = f"{found} pointers", f"{(count or 0) + 1} pointers"
        raise CompileError(f"custom {function.name}", problem, got=got, expected=expected)


def _lower(instance: Instance) -> None:
    """Register an instance for use in instructions, unless it is registered or runs on the host."""
    function = instance.function
    if function.kind == "host" or lowered.find(instance.symbol) is not None:
        return
    is_inline = function.kind == "inline"
    operands = tuple(lowered.Operand(t.dtype, not is_inline) for t in instance.operands)
    result = instance.result.dtype
    lowered.register(
        lowered.CustomOperation(
            instance.symbol,
            operands if is_inline else (lowered.Operand(result, True), *operands),
            result if is_inline else None,
            instance.elementwise if is_inline else instance.run,
            function.text if is_inline else _renamed(instance),
            is_inline,
            function.declarations,
        )
    )


def _renamed(instance: Instance) -> str:
    """The text of a kernel function under the name that instructions call."""
    own = f"@{instance.function.name}("
    return instance.text.replace(own, f"@sv.custom.{instance.symbol}(")
