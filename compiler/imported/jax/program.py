"""`from_jax`: a function that JAX traces, as a callable program of tensors.

The function is traced once, for the shapes and types of the examples. All primitives of the jaxpr
and its inner jaxprs are looked up first, so that everything unsupported is reported at once. A call
of the program walks the equations and builds lazy tensors.
"""

import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from compiler.core.errors import DataError, DTypeError, InternalError, ShapeError, located
from compiler.core.modules import Line, called_at, in_module
from compiler.core.origin import short_name, user_call
from compiler.graph.nodes import TensorNode
from compiler.imported.call import unsupported
from compiler.imported.constants import constant, leaves
from compiler.imported.inputs import short, signature
from compiler.imported.jax import (  # noqa: F401 (they fill the table)
    decompositions,
    elementwise,
    flow,
    folds,
    keys,
    loops,
    picking,
    products,
    shapes,
    windows,
)
from compiler.imported.jax.call import PRIMITIVES, Call
from compiler.imported.jax.element_types import dtype_of, is_key, jax_itself, problem_of
from compiler.imported.jax.jaxprs import (
    Atom,
    Body,
    ClosedJaxpr,
    Described,
    Equation,
    inner,
    is_literal,
    opened,
    value_of,
)
from compiler.imported.jax.lines import lines_of, scopes_of
from compiler.imported.jax.unread import check_unread
from compiler.tensor import Tensor

MOST_PLACES = 3
"""The number of source lines that are listed for an unsupported primitive."""


class JaxProgram:
    """A JAX function: `program(*args, **kwargs)` returns the results of the function, with lazy
    tensors in place of arrays."""

    def __init__(
        self, name: str, jaxpr: ClosedJaxpr, structure: Any, outputs: Any, names: list[str]
    ) -> None:
        self.name = name
        self.jaxpr = jaxpr
        """The traced function, a `ClosedJaxpr`."""
        self.outputs = outputs
        """The shapes and types of the results, in the structure that the function returns."""
        self._structure = structure
        self._results = jax_itself().tree_util.tree_structure(outputs)
        _check(jaxpr)
        self.inputs = {
            path: (dtype_of(v.aval.dtype, path), tuple(v.aval.shape))
            for path, v in zip(names, opened(jaxpr)[0].invars, strict=True)
        }
        """Path to (element type, shape), in the order of the operands: "params.w", "x"."""
        self._constants: dict[int, tuple[Any, Tensor]] = {}
        self._called([Tensor.placeholder(*shape, dtype=dtype, name=path)
                      for path, (dtype, shape) in self.inputs.items()])  # fmt: skip

    def __repr__(self) -> str:
        results = [short(dtype_of(v.aval.dtype, "result"), v.aval.shape)
                   for v in opened(self.jaxpr)[0].outvars]  # fmt: skip
        count = loops.equations_in(self.jaxpr)
        call = f"{self.name}({signature(self.inputs)})"
        return f"JaxProgram({call} -> {', '.join(results)}; {count} equations)"

    @user_call
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results of the function for these arguments. Nothing is computed yet."""
        values, structure = jax_itself().tree_util.tree_flatten((args, kwargs))
        if structure != self._structure:
            raise DataError("JaxProgram", "the arguments are not like the examples",
                            got=str(structure), expected=str(self._structure))  # fmt: skip
        described = zip(self.inputs, opened(self.jaxpr)[0].invars, values, strict=True)
        tensors = [_input(path, v.aval, value) for path, v, value in described]
        results = self._called(tensors)
        return jax_itself().tree_util.tree_unflatten(self._results, results)

    def _called(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results as a list. It is called once in advance, so that unsupported cases raise
        early."""
        walk = _Walk(self, frozenset(leaf for t in tensors for leaf in leaves(t)))
        with in_module(self.name):
            return walk.walk(self.jaxpr, tensors)

    def constant(self, value: Any) -> Tensor:
        """A constant of a jaxpr as a tensor, shared by all calls, on JAX's memory."""
        if id(value) not in self._constants:
            self._constants[id(value)] = value, _tensor_of(value, "")
        return self._constants[id(value)][1]


class _Walk:
    """One call of a program."""

    def __init__(self, program: JaxProgram, inputs: frozenset[TensorNode]) -> None:
        self.program = program
        self.inputs = inputs
        self._lines: tuple[Line, ...] = ()
        self._runs: Counter[tuple[str, ...]] = Counter()

    def walk(self, jaxpr: Body, operands: Sequence[Tensor]) -> list[Tensor]:
        """The results of a jaxpr; its equations are called in order."""
        body, constants = opened(jaxpr)
        tensors: dict[Atom, Tensor] = dict(zip(body.invars, operands, strict=True))
        for v, c in zip(body.constvars, constants, strict=True):
            tensors[v] = self.program.constant(c).cast(dtype_of(v.aval.dtype, "a constant"))

        def value(of: Atom) -> Tensor:
            return _literal(of) if is_literal(of) else tensors[of]

        for equation in body.eqns:
            results = self._called(equation, [value(v) for v in equation.invars])
            tensors.update(zip(equation.outvars, results, strict=True))
        return [value(v) for v in body.outvars]

    def _called(self, equation: Equation, operands: Sequence[Tensor]) -> list[Tensor]:
        name = equation.primitive.name
        outer = self._lines
        self._lines = lines_of(equation) or outer
        scopes, run = self._scopes(equation)
        call = Call(name, equation.params, [v.aval for v in equation.invars],
                    [v.aval for v in equation.outvars], self)  # fmt: skip
        try:
            with in_module(*scopes, run=run), called_at(name, self._lines):
                result = PRIMITIVES[name](call, *operands)
                check_unread(call)
                results = [result] if isinstance(result, Tensor) else list(result)
                return _checked(call, results)
        finally:
            self._lines = outer

    def _scopes(self, equation: Equation) -> tuple[tuple[str, ...], int]:
        """The scopes of an equation. A call of a user's function adds one."""
        scopes, name = scopes_of(equation), equation.params.get("name")
        body = equation.params.get("jaxpr")
        if not isinstance(name, str) or body is None or not name.isidentifier():
            return scopes, 0
        if not any(lines_of(each) for each in opened(body)[0].eqns):
            return scopes, 0  # JAX's own
        scopes = (*scopes, name)
        self._runs[scopes] += 1
        return scopes, self._runs[scopes]


def _checked(call: Call, results: list[Tensor]) -> list[Tensor]:
    """The results, checked against JAX's types and shapes."""
    for tensor, described in itertools.zip_longest(results, call.results):
        got = "nothing" if tensor is None else short(tensor.dtype, tensor.shape)
        expected = "nothing" if described is None else short(
            dtype_of(described.dtype, call.op), described.shape)  # fmt: skip
        if got != expected:
            raise InternalError("from_jax", f"{call.op} has another type or shape than in JAX",
                                got=got, expected=expected)  # fmt: skip
    return results


def _literal(literal: Atom) -> Tensor:
    return _tensor_of(value_of(literal), "", literal.aval.dtype)


def _tensor_of(value: Any, name: str, dtype: Any = None) -> Tensor:
    """A JAX array or number as a tensor; a single number is a constant of the program."""
    if is_key(getattr(value, "dtype", None)):
        words = np.asarray(jax_itself().random.key_data(value)).astype(np.uint64)
        return Tensor(words[..., 0] << np.uint64(32) | words[..., 1], name=name)
    array = np.asarray(value, dtype)
    return Tensor(array, name=name) if name else constant(array)


def _input(path: str, aval: Described, value: Any) -> Tensor:
    """The argument for an operand, checked against the type and shape of its example."""
    wanted, shape = dtype_of(aval.dtype, path), tuple(aval.shape)
    tensor = value if isinstance(value, Tensor) else _tensor_of(value, path)
    if tensor.shape != shape:
        raise ShapeError("JaxProgram", f"{path} has another shape than its example",
                         got=str(tensor.shape), expected=str(shape))  # fmt: skip
    if tensor.dtype == wanted:
        return tensor
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    usual = jax_itself().dtypes.canonicalize_dtype(tensor.dtype.numpy)
    if dtype_of(usual, path) == wanted:  # 64-bit types as JAX converts them
        return tensor.cast(wanted)
    if is_number and (wanted.is_float or isinstance(value, int)):
        return Tensor(np.asarray(value, wanted.numpy), name=path)
    raise DTypeError("JaxProgram", f"{path} has another type than its example",
                     got=str(tensor.dtype), expected=str(wanted))  # fmt: skip


def _check(jaxpr: Body) -> None:
    """Raise `DataError` that lists every unsupported primitive and type, with its count and
    lines."""
    count: Counter[str] = Counter()
    places: dict[str, dict[str, None]] = {}
    for equation, lines in _equations(jaxpr):
        if equation.primitive.name not in PRIMITIVES:
            problems = {equation.primitive.name}
        else:
            values = (v.aval for v in (*equation.invars, *equation.outvars))
            problems = {p for a in values if (p := _problem(a))}
        where = f"{short_name(lines[-1].file)}:{lines[-1].line}" if lines else ""
        for problem in problems:
            count[problem] += 1
            places.setdefault(problem, {})[where] = None
    ends = (v.aval for v in (*opened(jaxpr)[0].invars, *opened(jaxpr)[0].outvars))
    for problem in {p for a in ends if (p := _problem(a))}:
        count[problem] += 1
        places.setdefault(problem, {})
    if count:
        rows = (_problem_words(problem, n, places[problem]) for problem, n in sorted(count.items()))
        raise unsupported("from_jax", "primitives", "; ".join(rows), len(PRIMITIVES))


def _problem(aval: Described) -> str:
    """The reason why a value is not supported; effect tokens have none."""
    return problem_of(aval.dtype) if hasattr(aval, "dtype") else ""


def _problem_words(problem: str, count: int, places: dict[str, None]) -> str:
    shown = [place for place in places if place]
    more = ", …" if len(shown) > MOST_PLACES else ""
    where = f" ({', '.join(shown[:MOST_PLACES])}{more})" if shown else ""
    return f"{count} × {problem}{where}"


def _equations(jaxpr: Body) -> Iterator[tuple[Equation, tuple[Line, ...]]]:
    """Every equation, including those inside supported ones, with the user's lines."""
    stack: list[tuple[Body, tuple[Line, ...]]] = [(jaxpr, ())]
    while stack:
        body, outer = stack.pop()
        for equation in opened(body)[0].eqns:
            lines = lines_of(equation) or outer
            yield equation, lines
            if equation.primitive.name in PRIMITIVES:
                stack += ((each, lines) for each in inner(equation.params))


@located
def from_jax(function: Callable[..., Any], *examples: Any, **named: Any) -> JaxProgram:
    """A JAX function as a program, traced for arguments like the examples.

    Examples are arrays, numbers, `jax.ShapeDtypeStruct`s, tensors, and containers of them.
    Transformed functions such as `jax.grad(f)` and `jax.vmap(f)` can be imported, too. Run-time
    printing (`jax.debug.print`) is omitted. If a condition is not known in advance, both branches
    are computed; a `while_loop` needs a known bound. Raises `DataError` that lists all unsupported
    primitives and types.
    """
    jax = jax_itself()
    if not callable(function):
        raise DataError("from_jax", "this is not a function", got=type(function).__name__,
                        expected="a function of arrays that JAX can trace")  # fmt: skip
    described = jax.tree_util.tree_map(_described, (examples, named))
    jaxpr, outputs = jax.make_jaxpr(function, return_shape=True)(*described[0], **described[1])
    paths, structure = jax.tree_util.tree_flatten_with_path((examples, named))
    names = _names(function, [path for path, _ in paths])
    return JaxProgram(_name_of(function), jaxpr, structure, outputs, names)


def _described(value: Any) -> Any:
    """A tensor as JAX's description of an array."""
    if not isinstance(value, Tensor):
        return value
    jax = jax_itself()
    return jax.ShapeDtypeStruct(value.shape, jax.dtypes.canonicalize_dtype(value.dtype.numpy))


def _name_of(function: Any) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    return name if name.isidentifier() else "function"


def _names(function: Any, paths: Sequence[Sequence[Any]]) -> list[str]:
    """A path for each operand: the name of the parameter, and the position in it."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: dict[str, None] = {}
    for kind, first, *rest in paths:
        begin = _key(first) if kind.idx else _parameter(parameters, int(_key(first)))
        name = ".".join([begin, *map(_key, rest)])
        while name in names:
            name += "'"
        names[name] = None
    return list(names)


def _parameter(parameters: Sequence[inspect.Parameter], place: int) -> str:
    """The name of the parameter for a positional argument: "x", "args.2"."""
    for at, each in enumerate(parameters):
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            return f"{each.name}.{place - at}"
        if at == place:
            return each.name
    return f"arg{place}"


def _key(entry: Any) -> str:
    """The key in brackets or the attribute after the dot."""
    for name in ("key", "idx", "name"):
        if hasattr(entry, name):
            return str(getattr(entry, name))
    return str(entry)
