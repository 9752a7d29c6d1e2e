"""JAX's traced programs, as far as they are read here: jaxprs, their equations and values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast


class Described(Protocol):
    """The type and shape of a value."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        ...

    @property
    def dtype(self) -> Any:
        """NumPy's element type, or JAX's of a key."""
        ...


class Atom(Protocol):
    """A variable of a jaxpr; a literal also has a `val`."""

    aval: Described


class Primitive(Protocol):
    """An operation of JAX."""

    name: str


class Equation(Protocol):
    """One operation with its operands and results."""

    primitive: Primitive
    params: Mapping[str, Any]
    invars: Sequence[Atom]
    outvars: Sequence[Atom]
    source_info: Any


class Jaxpr(Protocol):
    """Equations in order; the operands of the first, the results of the last."""

    eqns: Sequence[Equation]
    invars: Sequence[Atom]
    outvars: Sequence[Atom]
    constvars: Sequence[Atom]
    debug_info: Any

    def replace(self, *, outvars: Sequence[Atom]) -> "Jaxpr":
        """The same with other results."""
        ...


class ClosedJaxpr(Protocol):
    """A jaxpr with its constants."""

    jaxpr: Jaxpr
    consts: Sequence[Any]


Body: TypeAlias = Jaxpr | ClosedJaxpr


def opened(body: Body) -> tuple[Jaxpr, Sequence[Any]]:
    """A jaxpr and its constants, of which only a closed jaxpr has any."""
    if hasattr(body, "consts"):
        closed = cast(ClosedJaxpr, body)
        return closed.jaxpr, closed.consts
    return body, ()


def inner(parameters: Mapping[str, Any]) -> Iterator[Body]:
    """The jaxprs among the parameters of an equation."""
    for value in parameters.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if hasattr(each, "eqns") or hasattr(each, "jaxpr"):
                yield each


def is_literal(atom: Atom) -> bool:
    """True for a constant that is written in the equation, with its `val`."""
    return hasattr(atom, "val")


def value_of(literal: Atom) -> Any:
    """The value of a literal."""
    return cast(Any, literal).val
