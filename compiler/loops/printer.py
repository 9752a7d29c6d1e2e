"""The printed form and the picture of a kernel's loops.

    k0(out f32[640], in1 f32[50176], in2 f32[7840])
    for i0 in 64, i1 in 10
      acc %9 = 0.0
      for r2 in 784
        %5 = in1[i0*784 + r2]
        %8 = in2[i1 + r2*10]
        %9 = sum(%9, %5 * %8)
      out[i0*10 + i1] = %9

Scratch memory, and ranges without a loop (unrolled or lanes), are listed first:

      local0 f32[48]   scratch
      i0.1 in 4   unrolled
      i1.1 in 16   lanes
      for i0.0 in 2   over 2 tasks
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.node import toposort
from compiler.core.stage import Stage
from compiler.core.trace import Line, Numbering, empty_graph
from compiler.graph.bits import literal
from compiler.loops.nodes import (
    After,
    Alu,
    Argument,
    Bitcast,
    Body,
    Cast,
    Const,
    Custom,
    DefineVar,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Scan,
    Store,
    Update,
    memory,
)
from compiler.loops.placement import Begin, Fold, Item, LoopBlock, fused_products, is_loop, place
from compiler.ops.table import OPS, REDUCTIONS
from compiler.ops.updates import UPDATES

if TYPE_CHECKING:
    import networkx as nx

LEVELS = {"loop": "loop", "unroll": "unrolled", "vector": "vector", "dot": "dot", "core": "cores"}
"""The kind of a range in graph pictures."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Loops(Stage):
    """Stage 5: the loops of one kernel. `parents` maps each scalar to tensor-graph entities."""

    body: Body
    kernel: int
    numbers: Numbering
    parents: dict[ScalarNode, tuple[str, ...]]

    @cached_property
    def nodes(self) -> list[ScalarNode]:
        """All nodes, sources first."""
        return toposort([self.body])

    def entity(self, node: ScalarNode) -> str:
        """The entity string of a node."""
        return f"loops:{self.kernel}:{self.numbers[node]}"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The loop nest, one line per loop, value and store."""
        arguments = sorted(
            (n for n in self.nodes if isinstance(n, Argument)), key=lambda a: a.slot
        )
        names = [f"{a.name} {a.element.short}[{a.size}]" for a in arguments]
        names += [f"{n.name} {n.dtype.short}" for n in self.nodes if isinstance(n, DefineVar)]
        inside = ", ".join(names)
        rows = [Line(f"{self.name}({inside})", self.entity(self.body), self._from(self.body))]
        rows += [self._line(n, 0, declared(n)) for n in self.nodes if _is_declared(n)]
        silent = fused_products(self.body)
        silent |= {n for n in self.nodes if isinstance(n, Const | Reduce)}
        stack: list[tuple[Item, int]] = [(place(self.body), 0)]
        while stack:
            item, depth = stack.pop()
            if isinstance(item, LoopBlock):
                if item.range is not None:
                    rows.append(self._line(item.range, depth, _loop(item.range)))
                    depth += 1
                stack.extend((each, depth) for each in reversed(item.items))
            elif item not in silent and not self._is_address(item):
                rows.append(self._row(item, depth, silent))
        return tuple(rows)

    @property
    def links(self) -> dict[str, tuple[str, ...]]:
        """The origins of each scalar; index arithmetic has no lines of its own."""
        return {self.entity(node): self._from(node) for node in self.nodes}

    def _line(self, node: ScalarNode, depth: int, text: str) -> Line:
        return Line("  " * depth + text, self.entity(node), self._from(node))

    def _from(self, node: ScalarNode) -> tuple[str, ...]:
        return self.parents.get(node, ())

    def _is_address(self, item: Item) -> bool:
        """True if the item is used in addresses only; these are printed where they are used."""
        return isinstance(item, Alu) and item.bounds is not None

    def _row(self, item: Item, depth: int, products: set[ScalarNode]) -> Line:
        match item:
            case Begin(reduce=node):
                start = REDUCTIONS[node.op].identity(node.dtype)
                return self._line(node, depth, f"acc %{self.numbers[node]} = {start}")
            case Fold(reduce=node):
                name, value = f"%{self.numbers[node]}", node.sources[0]
                text = self.definition(value) if value in products else self.text(value)
                return self._line(node, depth, f"{name} = {node.op}({name}, {text})")
            case Store():
                return self._line(item, depth, self._store(item))
            case Custom(result=None):
                return self._line(item, depth, self.definition(item))
            case Update():
                return self._line(item, depth, self._update(item))
            case _:
                assert isinstance(item, ScalarNode)
                text = f"%{self.numbers[item]} = {self.definition(item)}"
                return self._line(item, depth, f"{text:<{50 - 2 * depth}} {item.dtype.short}")

    def _store(self, node: Store) -> str:
        """`out[i0*8 + i1] = %4 if i1 < 5`"""
        text = f"{self.text(node.sources[0])}[{self.address(node.sources[1])}]"
        text += f" = {self.text(node.sources[2])}"
        text += f" if {self.address(node.predicate)}" if node.predicate else ""
        return f"{text}   streamed" if node.is_streamed else text

    def _update(self, node: Update) -> str:
        """`out[%5] = add(out[%5], %4) if %6 < 10`"""
        target, where, value, predicate = node.sources[:4]
        place, new = f"{self.text(target)}[{self.address(where)}]", self.text(value)
        combined = new if UPDATES[node.op].combine is None else f"{node.op}({place}, {new})"
        return f"{place} = {combined} if {self.address(predicate)}"

    def definition(self, node: ScalarNode) -> str:
        """The right-hand side of the line that computes `node`."""
        match node:
            case Load():
                where = f"{self.text(node.sources[0])}[{self.address(node.sources[1])}]"
                predicate = f" if {self.address(node.predicate)} else 0" if node.predicate else ""
                text = where + predicate
                return f"{text} fetch {node.ahead:+}" if node.ahead else text
            case Cast() | Bitcast():
                inner = node.sources[0]
                text = self.address(inner) if inner.bounds else self.text(inner)
                return f"{type(node).__name__.lower()}({text}, {node.target.short})"
            case Scan():
                return f"scan {node.op}({self.text(node.sources[0])}) along {node.axis.name}"
            case Custom():
                return f"{node.name}({', '.join(self.text(s) for s in node.sources)})"
            case Alu() if (infix := OPS[node.op].infix.strip()):
                left, right = (self.text(s) for s in node.sources)
                return f"{left} {infix} {right}"
            case Alu():
                return f"{node.op}({', '.join(self.text(s) for s in node.sources)})"
            case _:
                return self.text(node)

    def text(self, node: ScalarNode) -> str:
        """A value as an operand: a constant, a range, an argument or `%n`."""
        match node:
            case Const():
                return literal(node.bits, node.dtype)
            case Range() | Argument() | Local() | DefineVar():
                return node.name
            case After():
                return memory(node).name
            case Alu() if node.bounds is not None:
                return f"({self.address(node)})"
            case _:
                return f"%{self.numbers[node]}"

    def address(self, node: ScalarNode) -> str:
        """An index expression or condition in full: `i0*784 + r2`."""
        done: dict[ScalarNode, str] = {}
        for each in toposort([node]):
            done[each] = _infix(each, done) if _is_inline(each) else self.text(each)
        return done[node]

    def network(self) -> "nx.DiGraph[Any]":
        """The scalar DAG; loops are groups."""
        graph: nx.DiGraph[Any] = empty_graph()
        for node in self.nodes:
            graph.add_node(self.entity(node), **scalar_facts(node) | {"parents": self._from(node)})
        for node in self.nodes:
            for position, source in enumerate(node.sources):
                is_loop = isinstance(source, Range) and isinstance(node, Store | Update | Reduce)
                graph.add_edge(
                    self.entity(source),
                    self.entity(node),
                    operand=position,
                    kind="loop" if is_loop else "data",
                )
        return graph


def _is_declared(node: ScalarNode) -> bool:
    """True if a node is declared at the top: scratch memory, or a range without a loop."""
    return isinstance(node, Local) or (isinstance(node, Range) and not is_loop(node))


def declared(node: ScalarNode) -> str:
    """`i0.1 in 8   unrolled`, `local0 f32[10]   scratch`"""
    if isinstance(node, Range):
        return f"{node.name} in {bound(node)}{how_run(node)}"
    assert isinstance(node, Local)
    return f"{node.name} {node.element.short}[{node.size}]   scratch"


def _loop(node: Range) -> str:
    """`for r2 in 784   reduction`, `for i0 in n   (at most 1024)`"""
    limit = "" if isinstance(node.sources[0], Const) else f"   (at most {node.extent})"
    return f"for {node.name} in {bound(node)}{how_run(node)}{limit}"


def how_run(node: Range) -> str:
    """`   reduction   lanes`: the role of a range, and how its iterations run."""
    return ("" if node.role == "normal" else f"   {node.role}") + level_words(node)


def level_words(node: Range) -> str:
    """`   unroll 4`, `   over 2 tasks`: how the iterations of a range run; "" for a plain loop."""
    levels = {"loop": "", "unroll": "   unrolled", "vector": "   lanes", "dot": "   dot",
              "core": f"   over {node.tasks} tasks"}  # fmt: skip
    return (f"   unroll {node.unroll}" if node.unroll else "") + levels[node.level]


def bound(node: Range) -> str:
    """The extent of a range: a number, or an expression of variables."""
    done: dict[ScalarNode, str] = {}
    for each in toposort([node.sources[0]]):
        match each:
            case Const():
                done[each] = str(each.value)
            case DefineVar():
                done[each] = each.name
            case _:
                done[each] = _infix(each, done)
    return done[node.sources[0]]


def _is_inline(node: ScalarNode) -> bool:
    return isinstance(node, Alu) and node.bounds is not None


def _infix(node: ScalarNode, done: dict[ScalarNode, str]) -> str:
    """An operation of an index expression; products need no spaces, sums inside need brackets."""
    assert isinstance(node, Alu)
    infix = OPS[node.op].infix
    if not infix:
        return f"{node.op}({', '.join(done[s] for s in node.sources)})"
    tight = not infix.startswith(" ")
    parts = [f"({done[s]})" if tight and " " in done[s] else done[s] for s in node.sources]
    return infix.join(parts)


def scalar_facts(node: ScalarNode) -> dict[str, Any]:
    """The properties of a scalar node in a graph picture."""
    kinds = {Const: "const", DefineVar: "const", Argument: "buffer",
             Local: "local", After: "control",
             Load: "memory", Store: "memory", Update: "memory", Cast: "cast",
             Bitcast: "cast", Reduce: "reduce", Scan: "reduce",
             Body: "control"}  # fmt: skip
    is_index = isinstance(node, Alu) and node.bounds is not None
    op, argument = type(node).__name__.lower(), ""
    kind = "index" if is_index else kinds.get(type(node), "elementwise")
    match node:
        case Const():
            argument = literal(node.bits, node.dtype)
        case Range():
            kind = LEVELS[node.level]
            op, argument = node.name, " ".join(f"{bound(node)}{how_run(node)}".split())
        case DefineVar():
            op, argument = "variable", f"{node.name} {node.low} … {node.high}"
        case Argument() | Local():
            op, argument = node.name, f"{node.element.short}[{node.size}]"
        case Alu():
            op = node.op
        case Custom():
            argument = node.name
        case Update():
            op = f"update {node.op}"
        case Scan():
            op, argument = f"scan {node.op}", node.axis.name
        case Reduce():
            op, argument = f"reduce {node.op}", " ".join(r.name for r in node.ranges)
        case _:
            pass
    return {
        "op": op,
        "kind": kind,
        "argument": argument,
        "dtype": "" if isinstance(node, Body | Store | Update | After) else node.dtype.short,
        "shape": "",
        "name": "",
        "parents": (),
        "group": "",
    }
