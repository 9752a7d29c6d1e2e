"""Calls of the nodes of an imported program, and tables of the functions that implement them.

    @operator("Relu")
    def relu(call, x): return x.relu()

A function takes the call and the operands as tensors, and returns a tensor, or several.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar

from compiler.core.errors import DataError
from compiler.imported.arguments import Reads
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable

Number: TypeAlias = Tensor | Variable | int | float
"""An operand: a tensor, or a number for all elements."""
Extent: TypeAlias = int | Variable
VariableShape: TypeAlias = Sequence[Extent]
"""A shape, in which extents may be variable."""
Results: TypeAlias = Tensor | Sequence[Tensor | None] | None
"""The result of a node, or its results: None for one that nobody needs."""
Key = TypeVar("Key")
Function = TypeVar("Function", bound=Callable[..., Any])


def adding_to(
    table: dict[Key, Callable[..., Any]],
) -> Callable[..., Callable[[Function], Function]]:
    """A decorator with names: the function implements the operators of these names."""

    def decorator(*names: Key) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            table.update(dict.fromkeys(names, function))
            return function

        return register

    return decorator


def unsupported(importer: str, kind: str, got: str, count: int) -> DataError:
    """The error that lists all nodes without a function in a table of `count` functions."""
    return DataError(importer, f"{kind} are not supported", got=got,
                     expected=f"some of {count} {kind}")  # fmt: skip


class Call:
    """A node of an imported program."""

    importer: ClassVar[str]

    @property
    def where(self) -> str:
        """The node in an error message."""
        raise NotImplementedError

    def refused(self, problem: str, got: object, expected: str, hint: str = "") -> DataError:
        """The error for this node."""
        return DataError(self.importer, f"{self.where}: {problem}", got=str(got),
                         expected=expected, hint=hint)  # fmt: skip


@dataclass(frozen=True)
class AttributeCall(Call):
    """A node that records which of its attributes are read."""

    op: str
    attributes: Mapping[str, Any]
    reads: Reads = field(default_factory=Reads, kw_only=True)
    """The attributes and inputs that were read."""

    missing: ClassVar[str] = "there is no attribute {}"

    def __getitem__(self, name: str) -> Any:
        """An attribute that the node must have."""
        if name in self.attributes:
            return self.get(name)
        raise self.refused(self.missing.format(name), ", ".join(self.attributes) or "none", name)

    def get(self, name: str, usual: Any = None) -> Any:
        """An attribute, or its default."""
        self.reads.names.add(name)
        return self.attributes.get(name, usual)
