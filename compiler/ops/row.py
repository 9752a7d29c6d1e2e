"""One row of the operation tables: all properties of an operation, and which of them are required.

    names       name, arity, meaning in words, sign between operands in print
    types       the kinds it accepts and returns; NumPy's conversion of the others
    meaning     on NumPy arrays, on Python integers, on bounds of integers; a domain for tests
    algebra     the laws that rewrites may use; derivatives
    code        an expansion into other rows; or LLVM IR, C, and support for vectors
    figures     relative cost, measured time, rounding error

Every stage reads rows, so a row depends on no stage: it emits code through the protocols below. A
row that lacks a property which some stage needs is refused when it is created, by its name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from compiler.core.dtypes import DType, Kind, Scalar, bool_
from compiler.core.errors import InternalError
from compiler.ops.bounds import BoundsRule

T = TypeVar("T")
Result = Literal["same", "bool"]
Law = Literal["associative", "commutative", "idempotent", "involution"]
Vectors = Literal["all", "floats", "floats and constant divisors"]

ANY: frozenset[Kind] = frozenset(("bool", "int", "uint", "float"))
NUMBER: frozenset[Kind] = frozenset(("int", "uint", "float"))
INTEGER: frozenset[Kind] = frozenset(("int", "uint"))
BITS: frozenset[Kind] = frozenset(("bool", "int", "uint"))
FLOAT: frozenset[Kind] = frozenset(("float",))
NO_DOMAIN = (0.0, 0.0)


class Build(Protocol[T]):
    """The builder of an expansion: it applies operations by name and makes constants."""

    def op(self, name: str, *sources: T) -> T:
        """The operation `name` applied to `sources`."""
        ...

    def const(self, value: Scalar, like: T) -> T:
        """`value` with the shape and type of `like`."""
        ...


class Folds(Build[T], Protocol[T]):
    """The builder of the derivative of a reduction or scan over certain axes."""

    def fold(self, name: str, node: T) -> T:
        """The reduction `name` over the axes, broadcast to every element."""
        ...

    def shared(self, g: T, is_it: T) -> T:
        """`g` divided by the number of chosen elements, counted in a type wide enough."""
        ...

    def run(self, name: str, node: T, backwards: bool = False) -> T:
        """The scan `name` along the axis, or from its end if `backwards`."""
        ...

    def of_runs(self, value: T, g: T) -> T:
        """`value`, differentiated as the running products of all other elements, times `g`,
        summed."""
        ...

    def of_others(self, value: T) -> T:
        """`value`, differentiated as the product of all other elements."""
        ...

    def number(self) -> T:
        """The index of each element among those that are reduced together, int32."""
        ...


class Instructions(Protocol):
    """The writer of LLVM IR for one operation, on `lanes` elements of `dtype` at once.

    `t` is LLVM's type of the operands, and `truth` that of as many truth values. `flags` are the
    fast-math flags for floats in a product or a reduction; `divisor` is a known second operand.
    """

    dtype: DType
    lanes: int
    t: str
    truth: str
    flags: str
    is_reduction: bool
    divisor: int | None

    def value(self, expression: str) -> str:
        """Emit an intermediate instruction; returns its name."""
        ...

    def result(self, expression: str) -> str:
        """Emit the last instruction; returns its name."""
        ...

    def constant(self, value: Scalar) -> str:
        """A constant of the type, in all lanes."""
        ...

    def known(self, operand: str) -> int | None:
        """The integer that an operand has in all lanes, if it is a constant."""
        ...

    def call(
        self, function: str, operands: Sequence[str], more: Sequence[tuple[str, str]] = ()
    ) -> str:
        """The result of an LLVM intrinsic of this type; `more` are further types and operands."""
        ...

    def routine(self, name: str, operands: Sequence[str]) -> str:
        """The result of a routine that has a file of its own in `llvm/`."""
        ...

    def in_single(self, form: "LLVM", operands: Sequence[str]) -> str:
        """The result of `form` on operands converted to float32, for 16-bit floats."""
        ...


Expansion: TypeAlias = Callable[..., Any]
LLVM: TypeAlias = Callable[[Instructions, Sequence[str]], str]
Unit: TypeAlias = Callable[[Any], Any]
"""One unit in the last place (ulp) of each element of an array."""
Rounding: TypeAlias = Callable[[Unit, Any, Sequence[Any]], Any]
"""The rounding error of a result in ulps, from the unit, the result and the operands."""


def by_kind(
    every: T | None = None,
    *,
    floats: T | None = None,
    integers: T | None = None,
    signed: T | None = None,
    unsigned: T | None = None,
    bools: T | None = None,
) -> dict[Kind, T]:
    """An entry for each kind of element; `every` and `integers` are defaults for kinds not
    given."""
    said: tuple[tuple[Kind, T | None], ...] = (
        ("float", floats or every),
        ("int", signed or integers or every),
        ("uint", unsigned or integers or every),
        ("bool", bools or every),
    )
    return {kind: entry for kind, entry in said if entry is not None}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Op:
    """One elementwise operation; see the module docstring for the groups of fields."""

    name: str
    arity: int
    meaning: str
    reference: Callable[..., Any]
    """The meaning on NumPy arrays of one shape and type."""
    accepts: frozenset[Kind] = frozenset()
    result: Result = "same"
    has_condition: bool = False
    """True if the first operand is a truth value; the others have the type of the result."""

    cost: int = 0
    """The estimated cost of one element; 1 is one simple instruction."""
    ns: float | None = None
    """Nanoseconds per element for operations of several instructions, vectorised, in float32.
    Measured on one core with 512-bit vectors (2026-11-21); `device/calibration.py` measures it
    again."""
    counts_as: int = 1
    """The number of operations it counts as."""
    is_alone: bool = False
    """True if it prevents vectorisation of a loop: then `ns` is the time of one scalar element."""

    rounding: float | Rounding | None = None
    """The rounding error of a float result, in units in the last place; 0.5 is an exact result,
    rounded once. For a row with an expansion: relative to its reference."""
    domain: tuple[float, float] = NO_DOMAIN
    """The range that tests draw operands from, next to special values."""
    expansion: Expansion | None = None
    """The operation in terms of others, built with a `Build`; its docstring is the formula."""
    llvm: Mapping[Kind, LLVM] = field(default_factory=dict)
    c: Mapping[Kind, str] = field(default_factory=dict)
    """Templates; `c_text.py` lists the placeholders."""
    c_helpers: Mapping[Kind, str] = field(default_factory=dict)
    vectors: Vectors | None = None
    """The element types for which a vector of operands takes few instructions."""
    derivative: tuple[Callable[..., Any], ...] | None = None
    """For each operand a function as in `derivatives.py`, or one for all; () for a piecewise
    constant operation; None if gradients cannot pass."""

    bounds: BoundsRule | None = None
    """The rule for bounds of integer results, if any."""
    whole: Callable[..., int] | None = None
    """The meaning on integers of any size, if there is one."""
    is_size: bool = False
    """True if it may occur in a launch size."""
    laws: frozenset[Law] = frozenset()
    identity: Callable[[DType], Scalar] | None = None
    """The operand that leaves the first unchanged, bit for bit; for a commutative row, also the
    second."""
    takes_numbers: bool = False
    """True if a known operand allows no better code."""
    infix: str = ""
    """The sign between operands in print; with spaces if it binds less than a product."""

    unchanged: frozenset[Kind] = frozenset()
    """Kinds of operands that NumPy's function returns unchanged."""
    bools_as_int8: bool = False
    """True if NumPy converts truth values to int8 first."""
    is_double: bool = False
    """True if NumPy converts integers of any size to float64 first, not to floats of similar
    size."""
    bool_hint: str = ""
    """A hint for truth values, which the row does not accept."""

    def __post_init__(self) -> None:
        missing = next(_missing(self), "")
        if missing:
            raise InternalError(f"operation {self.name}", f"its row has no {missing}")

    def result_dtype(self, operands: tuple[DType, ...]) -> DType:
        """The element type of the result for operands of these types."""
        return bool_ if self.result == "bool" else operands[-1]

    def derivative_of(self, place: int) -> Callable[..., Any] | None:
        """The derivative by operand number `place`; None if there is none. A condition has none."""
        if not self.derivative:
            return None
        functions = (None, *self.derivative) if self.has_condition else self.derivative
        return functions[place] if len(functions) > 1 else functions[0]

    def has_vectors(self, dtype: DType, divisor: int | None = None) -> bool:
        """True if a vector of operands of `dtype` takes few instructions.

        Integers have no vector division: by a constant it becomes a product, for 64 bits only by a
        power of two.
        """
        if self.vectors == "all" or not dtype.is_integer:
            return True
        if self.vectors == "floats" or divisor in (None, 0):
            return False
        return dtype.bits < 64 or abs(divisor).bit_count() == 1


def _missing(row: Op) -> Iterator[str]:
    """The properties that a row lacks and some stage needs, in words."""
    if not row.meaning:
        yield "meaning in words"
    if not callable(row.reference):
        yield "NumPy meaning"
    if row.arity not in (1, 2, 3):
        yield "arity of 1, 2 or 3"
    if not row.accepts:
        yield "types that it accepts"
    if row.cost < 1:
        yield "cost"
    if not row.domain[0] < row.domain[1]:
        yield "domain for tests"
    if row.rounding is None and row.result == "same" and "float" in row.accepts:
        yield "rounding bound"
    if row.expansion is None:
        yield from _missing_code(row)
    numbers = row.arity - row.has_condition
    if row.derivative and len(row.derivative) != numbers:
        yield f"derivative for each of its {numbers} operands"


def _missing_code(row: Op) -> Iterator[str]:
    for kind in sorted(row.accepts):
        if kind not in row.llvm:
            yield f"expansion, and no LLVM text for {kind}"
        if kind not in row.c:
            yield f"C text for {kind}"
    if row.vectors is None:
        yield "word on whether vectors have it"
    if row.is_size and row.whole is None:
        yield "meaning on integers of any size"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reduction:
    """One reduction: `combine` is the elementwise operation that combines two partial results."""

    name: str
    combine: str
    meaning: str
    reference: Callable[..., Any]
    accepts: frozenset[Kind]
    start: Callable[[DType], Scalar]
    rounding: Literal["none", "each", "sum"]
    derivative: Callable[..., Any]
    """The derivative, as in `derivatives.py`; likewise `running`, that of a scan, unless elements
    are only selected."""
    running: Callable[..., Any] | None = None
    """None; half a unit for each element; or as `ask/sums.py` follows sums."""
    has_identity: bool = True
    better: str = ""
    """The comparison that holds for the selected value, if the result is one of the elements."""

    def identity(self, dtype: DType) -> Scalar:
        """The value that leaves every partial result unchanged."""
        value = self.start(dtype)
        if dtype.is_float:
            return float(value)
        return bool(value) if dtype.kind == "bool" else value

    def check(self, rows: Mapping[str, Op]) -> None:
        """Refuse a reduction that cannot be split, reordered, or computed in all of its types."""
        missing = next(self._missing(rows.get(self.combine)), "")
        if missing:
            raise InternalError(f"reduction {self.name}", f"its row has no {missing}")

    def _missing(self, combine: Op | None) -> Iterator[str]:
        if not self.meaning:
            yield "meaning in words"
        if combine is None:
            yield f"operation {self.combine} to combine with"
        elif not self.accepts <= combine.accepts:
            yield f"types that {self.combine} accepts"
        elif not {"associative", "commutative"} <= combine.laws:
            yield f"order that is free: {self.combine} is not associative and commutative"


def table(rows: Sequence[Op], reductions: Sequence[Reduction] = ()) -> dict[str, Op]:
    """The rows by name. Raises `InternalError` for two of one name, and for wrong reductions."""
    found: dict[str, Op] = {}
    for row in rows:
        if row.name in found:
            raise InternalError(f"operation {row.name}", "its row has no name of its own")
        found[row.name] = row
    for reduction in reductions:
        reduction.check(found)
    return found
