"""One row of the operation tables: every fact of an operation, and what a row cannot be without.

    names       name, arity, meaning in words, sign between operands in print
    types       which kinds it takes and gives; what NumPy does to the others first
    meaning     on NumPy arrays, on Python's integers, on bounds of integers; a domain for tests
    algebra     the laws that rewrites may use; derivatives
    code        an expansion into other rows; or LLVM IR, C, and what vectors have of it
    figures     relative cost, measured time, how far rounding takes the result

A row is read by every stage, so it knows none of them: code is written through the protocols
below. A row that lacks what some stage would ask for is refused when it is made, by its name.
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
    """The builder of an expansion: operations by name and constants of an operand's type."""

    def op(self, name: str, *sources: T) -> T:
        """The operation `name` applied to `sources`."""
        ...

    def const(self, value: Scalar, like: T) -> T:
        """`value` with the shape and type of `like`."""
        ...


class Folds(Build[T], Protocol[T]):
    """The builder of a derivative of a reduction, or of a scan, over certain axes."""

    def fold(self, name: str, node: T) -> T:
        """The reduction `name` over the axes, given to every element."""
        ...

    def shared(self, g: T, is_it: T) -> T:
        """`g` divided by how many elements are chosen, counted in a type that holds the count."""
        ...

    def run(self, name: str, node: T, backwards: bool = False) -> T:
        """The scan `name` along the axis, or one from its end."""
        ...

    def of_runs(self, value: T, g: T) -> T:
        """`value`, differentiated as the running products of all others, times `g`, summed up."""
        ...

    def of_others(self, value: T) -> T:
        """`value`, the product of all other elements: as that it is differentiated again."""
        ...

    def number(self) -> T:
        """The number of each element among those that are folded together, int32."""
        ...


class Instructions(Protocol):
    """The writer of LLVM IR for one operation, on `lanes` elements of `dtype` at once.

    `t` is the type of operands and `truth` that of as many truth values, as LLVM calls them.
    `flags` are what LLVM may change of floats in a product or a reduction; `divisor` is a known
    second operand.
    """

    dtype: DType
    lanes: int
    t: str
    truth: str
    flags: str
    is_reduction: bool
    divisor: int | None

    def value(self, expression: str) -> str:
        """The name of an instruction on the way."""
        ...

    def result(self, expression: str) -> str:
        """The name of the last instruction."""
        ...

    def constant(self, value: Scalar) -> str:
        """A number of the type, in all lanes."""
        ...

    def known(self, operand: str) -> int | None:
        """The integer that an operand is in all lanes, if it is a constant."""
        ...

    def call(
        self, function: str, operands: Sequence[str], more: Sequence[tuple[str, str]] = ()
    ) -> str:
        """The result of LLVM's own `function` of this type; `more` are types and operands."""
        ...

    def routine(self, name: str, operands: Sequence[str]) -> str:
        """The result of instructions that take a file of their own."""
        ...

    def in_single(self, form: "LLVM", operands: Sequence[str]) -> str:
        """The result of `form` on the operands as float32, for halves, which are converted."""
        ...


Expansion: TypeAlias = Callable[..., Any]
LLVM: TypeAlias = Callable[[Instructions, Sequence[str]], str]
Unit: TypeAlias = Callable[[Any], Any]
"""One unit in the last place of each element of an array."""
Rounding: TypeAlias = Callable[[Unit, Any, Sequence[Any]], Any]
"""How far a result may be off by itself: of a unit, the result and the operands."""


def by_kind(
    every: T | None = None,
    *,
    floats: T | None = None,
    integers: T | None = None,
    signed: T | None = None,
    unsigned: T | None = None,
    bools: T | None = None,
) -> dict[Kind, T]:
    """An entry for each kind of element; `every` and `integers` are for those not said apart."""
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
    """On NumPy arrays of one shape and type."""
    accepts: frozenset[Kind] = frozenset()
    result: Result = "same"
    has_condition: bool = False
    """The first operand is a truth value, and the others are of the type."""

    cost: int = 0
    """Weight of one element where it is estimated; 1: one simple instruction."""
    ns: float | None = None
    """Nanoseconds per element of what is several instructions, vectorised, in float32; as measured
    on one core with 512-bit vectors (2026-11-21), which `device/calibration.py` does again."""
    counts_as: int = 1
    """Operations where they are counted."""
    is_alone: bool = False
    """It keeps a loop from being vectorised: `ns` is the time of one element."""

    rounding: float | Rounding | None = None
    """Units in the last place that the result may be off by itself, where it is a float; 0.5: the
    exact result, rounded once. Of a row that expands: from its reference."""
    domain: tuple[float, float] = NO_DOMAIN
    """Where tests draw operands from, beside telling values."""
    expansion: Expansion | None = None
    """The row in terms of others, built with a `Build`; its docstring is the algebra."""
    llvm: Mapping[Kind, LLVM] = field(default_factory=dict)
    c: Mapping[Kind, str] = field(default_factory=dict)
    """Templates: `ops_c.py` says what stands for what."""
    c_helpers: Mapping[Kind, str] = field(default_factory=dict)
    vectors: Vectors | None = None
    """For which elements several lanes take few instructions together."""
    derivative: tuple[Callable[..., Any], ...] | None = None
    """For each operand a function as `derivatives.py` has them; one for all; () where a change
    of the operands changes nothing but for jumps; None: gradients cannot pass."""

    bounds: BoundsRule | None = None
    """The bounds that are known of integer results; None: none."""
    whole: Callable[..., int] | None = None
    """The meaning on integers of any size, where it is one."""
    is_size: bool = False
    """It may stand in a launch size."""
    laws: frozenset[Law] = frozenset()
    identity: Callable[[DType], Scalar] | None = None
    """The operand that leaves the first as it is, to the bit; where it commutes, the second too."""
    takes_numbers: bool = False
    """Its result gets no better where an operand is known when it is compiled."""
    infix: str = ""
    """The sign between operands in print; with spaces where it binds less than a product."""

    unchanged: frozenset[Kind] = frozenset()
    """Kinds of operands that NumPy's function leaves as they are."""
    bools_as_int8: bool = False
    """NumPy turns truth values into int8 first."""
    is_double: bool = False
    """NumPy turns integers of any size into float64 first, not into floats of about their size."""
    bool_hint: str = ""
    """The words for what to write instead for truth values, which the row does not take."""

    def __post_init__(self) -> None:
        missing = next(_missing(self), "")
        if missing:
            raise InternalError(f"operation {self.name}", f"its row has no {missing}")

    def result_dtype(self, operands: tuple[DType, ...]) -> DType:
        """The element type of the result for operands of these types."""
        return bool_ if self.result == "bool" else operands[-1]

    def derivative_of(self, place: int) -> Callable[..., Any] | None:
        """The derivative by operand number `place`; None where there is none. The condition of
        a row that has one is no number."""
        if not self.derivative:
            return None
        functions = (None, *self.derivative) if self.has_condition else self.derivative
        return functions[place] if len(functions) > 1 else functions[0]

    def has_vectors(self, dtype: DType, divisor: int | None = None) -> bool:
        """Whether several lanes of operands of `dtype` take few instructions together.

        Integers have no vector division: by a constant it is a product, of 64 bits only by a power
        of two.
        """
        if self.vectors == "all" or not dtype.is_integer:
            return True
        if self.vectors == "floats" or divisor in (None, 0):
            return False
        return dtype.bits < 64 or abs(divisor).bit_count() == 1


def _missing(row: Op) -> Iterator[str]:
    """The things that a row lacks and some stage asks for, in words."""
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
    """One reduction: `combine` is the elementwise operation that folds two partial results."""

    name: str
    combine: str
    meaning: str
    reference: Callable[..., Any]
    accepts: frozenset[Kind]
    start: Callable[[DType], Scalar]
    rounding: Literal["none", "each", "sum"]
    derivative: Callable[..., Any]
    """As `derivatives.py` has them; so is `running`, of a scan, where no element is just kept."""
    running: Callable[..., Any] | None = None
    """None; half a unit for each element; or as `ask/sums.py` follows sums."""
    has_identity: bool = True
    better: str = ""
    """The comparison that holds for the value kept, where it is one of the elements."""

    def identity(self, dtype: DType) -> Scalar:
        """The value that leaves every partial result unchanged."""
        value = self.start(dtype)
        if dtype.is_float:
            return float(value)
        return bool(value) if dtype.kind == "bool" else value

    def check(self, rows: Mapping[str, Op]) -> None:
        """Refuse what cannot be folded in any order, in parts, or on all of its types."""
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
