"""The faces every stage shows: its lines of text, its graph, its title and the time it took."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.core.plain_graph import plain
from compiler.core.printable import ShownAsText
from compiler.core.trace import Line

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage(ShownAsText):
    """Base of the stage objects of a compilation.

    It has no slots: subclasses keep there what they have printed once.
    """

    title: str
    seconds: float = 0.0
    name: str = ""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The printed form; each line names the entity it shows and those it comes from."""
        raise NotImplementedError

    @property
    def line_count(self) -> int:
        """The number of lines of the printed form."""
        return len(self.lines)

    @property
    def links(self) -> dict[str, tuple[str, ...]]:
        """For each entity of the stage those it comes from, those that no line shows included."""
        return {line.entity: line.parents for line in self.lines if line.entity}

    def network(self) -> "nx.DiGraph[Any]":
        """The stage as a new graph; node keys are entities, attributes of any kind: `parents` as in
        `trace.Line`, tables of costs."""
        raise NotImplementedError

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """The stage as a new networkx graph, for files of graphs and for other libraries: node keys
        are entities, attributes are text, numbers and truth values (`plain_graph.py`)."""
        return plain(self.network())

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines)
