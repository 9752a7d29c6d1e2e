"""Programs and their text: what is computed on a term is written down as well, and reads back.

    x0 = float32[8, 1, 28, 28]; x1 = float32[16, 1, 3, 3]; x0.conv2d(x1).relu().flatten(1)

Inputs are placeholders, so that a program of any size takes no memory; those whose first extent is
a variable, `float32[n<=40, 7]`, hold data. `program` makes the tensor of such a text: what a search
found is repeated, and kept, as one line.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from compiler import Tensor, Variable
from compiler.core.dtypes import DType

INPUT = re.compile(r"(\w+) = (\w+)\[(n<=)?([\d, ]*)\]")


class Term:
    """A tensor, and the text that computes it."""

    def __init__(self, tensor: Tensor, text: str) -> None:
        self.tensor = tensor
        self.text = text

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self.tensor.shape

    @property
    def ndim(self) -> int:
        """How many axes."""
        return self.tensor.ndim

    @property
    def size(self) -> int:
        """How many elements."""
        return self.tensor.size

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.tensor.dtype

    def __getattr__(self, name: str) -> Any:
        """A method of the tensor as one that returns a term, or an attribute as a term."""
        found = getattr(self.tensor, name)
        if isinstance(found, Tensor):
            return Term(found, f"{self.text}.{name}")
        return _recorded(found, f"{self.text}.{name}")

    def __getitem__(self, key: Any) -> "Term":
        parts = key if isinstance(key, tuple) else (key,)
        inside = ", ".join(map(_written, parts))
        found = tuple(part.tensor if isinstance(part, Term) else part for part in parts)
        return Term(self.tensor[found], f"{self.text}[{inside}]")

    def __add__(self, other: Any) -> "Term":
        return self._joined("+", other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> "Term":
        return self._joined("-", other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> "Term":
        return self._joined("*", other, lambda a, b: a * b)

    def __matmul__(self, other: Any) -> "Term":
        return self._joined("@", other, lambda a, b: a @ b)

    def __lt__(self, other: Any) -> "Term":
        return self._joined("<", other, lambda a, b: a < b)

    def __xor__(self, other: Any) -> "Term":
        return self._joined("^", other, lambda a, b: a ^ b)

    def _joined(self, sign: str, other: Any, join: Callable[[Any, Any], Tensor]) -> "Term":
        right = other.tensor if isinstance(other, Term) else other
        return Term(join(self.tensor, right), f"({self.text} {sign} {_written(other)})")


def called(name: str, *given: Any, **named: Any) -> Term:
    """A function of the class `Tensor`, e.g. `called("einsum", "ij,jk->ki", x, y)`."""
    made: Term = _recorded(getattr(Tensor, name), f"Tensor.{name}")(*given, **named)
    return made


def _recorded(function: Callable[..., Any], text: str) -> Callable[..., Term]:
    def call(*given: Any, **named: Any) -> Term:
        words = [*map(_written, given), *(f"{k}={_written(v)}" for k, v in named.items())]
        plain = [v.tensor if isinstance(v, Term) else v for v in given]
        kept = {k: v.tensor if isinstance(v, Term) else v for k, v in named.items()}
        made = function(*plain, **kept)
        place, made = ("[0]", made[0]) if isinstance(made, tuple) else ("", made)
        return Term(made, f"{text}({', '.join(words)}){place}")

    return call


def _written(value: Any) -> str:
    match value:
        case Term():
            return value.text
        case slice():
            parts = ("" if v is None else str(v) for v in (value.start, value.stop, value.step))
            return ":".join(parts)
        case _:
            return repr(value)


def _rows(shape: tuple[int, ...], dtype: str) -> Tensor:
    """Data whose first extent is n, a variable."""
    return Tensor(np.zeros(shape, dtype), symbolic={0: Variable("n", 1, shape[0])})


class Inputs:
    """The inputs of one program, in order."""

    def __init__(self) -> None:
        self.terms: list[Term] = []

    def new(self, shape: tuple[int, ...], dtype: str) -> Term:
        """Another input."""
        name = f"x{len(self.terms)}"
        made = Term(Tensor.placeholder(*shape, dtype=dtype, name=name), name)
        self.terms.append(made)
        return made

    def of_variable_length(self, shape: tuple[int, ...], dtype: str) -> Term:
        """Another input, of 1 to `shape[0]` rows."""
        name = f"x{len(self.terms)}"
        made = Term(_rows(shape, dtype), name)
        self.terms.append(made)
        return made

    def written(self, result: Term) -> str:
        """The whole program of a term over these inputs."""
        extents = (", ".join(map(str, t.shape)) for t in self.terms)
        marks = ("n<=" * bool(t.tensor.node.extents) for t in self.terms)
        lines = (
            f"{t.text} = {t.dtype.name}[{mark}{inside}]"
            for t, mark, inside in zip(self.terms, marks, extents, strict=True)
        )
        return "; ".join([*lines, result.text])


def program(text: str) -> Tensor:
    """The tensor of a text."""
    *lines, result = text.split("; ")
    names: dict[str, Any] = {"Tensor": Tensor}
    for line in lines:
        found = INPUT.fullmatch(line)
        assert found is not None, f"no input: {line}"
        name, dtype, mark, extents = found.groups()
        shape = tuple(int(n) for n in extents.split(",") if n.strip())
        whole = Tensor.placeholder(*shape, dtype=dtype, name=name) if not mark else None
        names[name] = _rows(shape, dtype) if whole is None else whole
    made: Tensor = eval(result, names)
    return made
