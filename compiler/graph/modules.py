"""The modules of a program, as a tree: the named layers of a model and how they are nested.

    (whole program)            412 nodes
      embeddings                31 nodes   BertEmbeddings
      encoder                  381 nodes
        layer.0                190 nodes   BertLayer

For a model these are its author's modules; for a program written in Python, the functions that
created nodes. All runs of a module count together. A node of the graph as written is in one
module; nodes after passes, kernels and instructions may come from several.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compiler.core.errors import DataError
from compiler.core.origin import Origin
from compiler.core.stage import Stage
from compiler.core.text import aligned, counted
from compiler.core.trace import Line, empty_graph
from compiler.graph.nodes import TensorNode

if TYPE_CHECKING:
    import networkx as nx

WHOLE = "(whole program)"
OUTSIDE = 0
"""The position of the whole program. Nodes in no module belong to it."""
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """A module: `path` is its full name, `parent` the position of its parent, -1 for none.

    `nodes` is the number of nodes of the graph as written in it and in its submodules.
    """

    path: str
    name: str
    kind: str
    parent: int
    depth: int
    nodes: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Modules(Stage):
    """The tree of modules as rows in pre-order: parents before their submodules."""

    rows: tuple[ModuleRow, ...]
    positions: dict[Path, int]
    is_model: bool
    """True if the rows are modules of a model, false if they are functions."""
    has_several: bool
    """True if there are models of several names; paths then begin with the model's name."""
    _known: dict[object, int] = field(default_factory=dict, repr=False)

    @property
    def is_tree(self) -> bool:
        """True if there is any module besides the whole program."""
        return len(self.rows) > 2

    def entity(self, position: int) -> str:
        """The entity string of a row."""
        return f"modules:{position}"

    def position(self, origin: Origin) -> int:
        """The row of the innermost module around a place, or that of the whole program."""
        key = origin.module if self.is_model else origin.inside
        row = self._known.get(key)
        if row is None:
            path = _path(origin, is_model=self.is_model, has_several=self.has_several)
            row = self._known[key] = self.positions.get(path, OUTSIDE)
        return row

    def around(self, position: int) -> tuple[int, ...]:
        """A row and its ancestors, innermost first."""
        rows = [position]
        while self.rows[rows[-1]].parent >= 0:
            rows.append(self.rows[rows[-1]].parent)
        return tuple(rows)

    def is_inside(self, position: int, outer: int) -> bool:
        """True if a row is `outer` or a descendant of it."""
        return outer in self.around(position)

    def find(self, name: str, by: str = "modules") -> int:
        """The row of a module by its full name. Raises `DataError` where there is none."""
        wanted = name.strip().strip("./").replace("/", ".")
        paths = [row.path for row in self.rows]
        if not wanted or name == WHOLE:
            return OUTSIDE
        if wanted in paths:
            return paths.index(wanted)
        ends = [path for path in paths if path.endswith(f".{wanted}")]
        if len(ends) == 1:
            return paths.index(ends[0])
        close = ends or difflib.get_close_matches(wanted, paths, 5, 0.4) or paths[1:6]
        what = "several modules end in that" if ends else "no such module"
        raise DataError(by, what, got=repr(name), expected=", ".join(close) or "no module at all")

    @property
    def lines(self) -> tuple[Line, ...]:
        """One line per module, indented by its depth."""
        texts = aligned(
            [("  " * row.depth + row.name, counted(row.nodes, "node"), row.kind)
             for row in self.rows], (1,),
        )  # fmt: skip
        return tuple(
            Line(text, self.entity(at), () if row.parent < 0 else (self.entity(row.parent),))
            for at, (text, row) in enumerate(zip(texts, self.rows, strict=True))
        )

    def network(self) -> "nx.DiGraph[Any]":
        """The tree as a graph; edges run from a module to its submodules."""
        graph: nx.DiGraph[Any] = empty_graph()
        for at, row in enumerate(self.rows):
            above = () if row.parent < 0 else (self.entity(row.parent),)
            graph.add_node(self.entity(at), op=row.name, kind="control", argument=row.kind,
                           dtype="", shape="", name=row.path, parents=above, group="")  # fmt: skip
            for outer in above:
                graph.add_edge(outer, self.entity(at), operand=-1, kind="order")
        return graph


def modules_of(nodes: Iterable[TensorNode]) -> Modules:
    """The modules of nodes of the graph as written, in the order in which they first ran."""
    # Data may come from an earlier call of a model: computed nodes determine the order.
    ordered = [(not n.sources, n.origin.call, n.origin) for n in nodes if n.origin is not None]
    origins = [origin for *_, origin in sorted(ordered, key=lambda it: it[:2])]
    chains = {it.module: it.module.chain() for it in origins if it.module is not None}
    # Compared by name: nodes shared by two calls of one model were created by the first call.
    models = {model.name for model, *_ in chains.values() if model.name}
    has_several = len(models) > 1
    is_model = has_several or any(inner for model, *inner in chains.values() if model.name)
    tree = _Branch(WHOLE, "", ())
    for origin in origins:
        path = _path(origin, is_model=is_model, has_several=has_several)
        kinds = _kinds(origin, len(path)) if is_model else ()
        tree.grow(path, kinds)
    rows: list[ModuleRow] = []
    positions: dict[Path, int] = {}
    _number(tree, -1, 0, rows, positions)
    return Modules(title="modules", name="modules", rows=tuple(rows), positions=positions,
                   is_model=is_model, has_several=has_several)  # fmt: skip


def _path(origin: Origin, *, is_model: bool, has_several: bool) -> Path:
    """The names of the modules, or functions, from the outermost."""
    if not is_model:
        return tuple(origin.inside.split("/")) if origin.inside else ()
    chain = origin.module.chain() if origin.module is not None else ()
    return tuple(it.name for it in (chain if has_several else chain[1:]) if it.name)


def _kinds(origin: Origin, count: int) -> Sequence[str]:
    chain = origin.module.chain() if origin.module is not None else ()
    return [it.kind for it in chain[len(chain) - count :]]


@dataclass(slots=True, eq=False)
class _Branch:
    """A module while the tree grows."""

    name: str
    kind: str
    path: Path
    nodes: int = 0
    inner: "dict[str, _Branch]" = field(default_factory=dict)

    def grow(self, path: Path, kinds: Sequence[str]) -> None:
        """Count one more node at this path."""
        branch = self
        branch.nodes += 1
        for depth, name in enumerate(path):
            kind = kinds[depth] if depth < len(kinds) else ""
            branch = branch.inner.setdefault(name, _Branch(name, kind, path[: depth + 1]))
            branch.nodes += 1


def _number(
    branch: _Branch, parent: int, depth: int, rows: list[ModuleRow], positions: dict[Path, int]
) -> None:
    at = positions[branch.path] = len(rows)
    name = ".".join(branch.path)
    rows.append(ModuleRow(name, branch.name, branch.kind, parent, depth, branch.nodes))
    for inner in branch.inner.values():
        _number(inner, at, depth + 1, rows, positions)
