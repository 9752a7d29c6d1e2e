"""naming: the user's variables, as names of the nodes that were assigned to them.

    y = (x @ w).relu()      the relu is y: of what the line made, nothing on it reads the relu
    h = layernorm(x)        so is the last value of what the function made, unless it has a name

In a loop that assigns a variable to itself, the last value has its name.
"""

import ast
import functools
import linecache
from collections.abc import Iterator

from compiler.core.frames import Frame
from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.trace import Numbering
from compiler.graph.nodes import Sink, TensorNode

_SEVERAL = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
"""Values that hold others."""


def call_nodes(root: Sink, numbers: Numbering) -> None:
    """Number the nodes below `root`, and call those by their variables that have one."""
    numbers.all(toposort([root]))
    for node, name in names(root).items():
        numbers.call(node, name)


def names(root: Sink) -> dict[TensorNode, str]:
    """The variable that each node below `root` was assigned to, for nodes that one was."""
    order: list[TensorNode] = [n for n in toposort([root]) if not isinstance(n, Sink)]
    inner = {s for n in order for s in n.sources if _line(s.origin) == _line(n.origin)}
    variables = {n: _assigned(*_line(n.origin)) for n in order if n.origin and n not in inner}
    calling = _results(order)
    for node in order:
        for frame in calling[node] if not variables.get(node) else ():
            variables[node] = variables.get(node) or _assigned(frame.file, frame.line)
    return {node: name for node, name in variables.items() if name}


def _results(order: list[TensorNode]) -> dict[TensorNode, list[Frame]]:
    """For each node the calls of functions that it is a result of, the innermost first: nothing
    else that such a call made reads it."""
    around = {n: n.origin.frames[::-1] if n.origin else () for n in order}
    read: dict[TensorNode, set[Frame]] = {n: set() for n in order}
    for node in order:
        for source in node.sources:
            read[source].update(around[node])
    return {n: [frame for frame in around[n] if frame not in read[n]] for n in order}


def _line(origin: Origin | None) -> tuple[str, int]:
    return (origin.file, origin.line) if origin else ("", 0)


def _assigned(file: str, line: int) -> str:
    """The one variable that the statement on a line assigns to; "" where there is none."""
    return _statements("".join(linecache.getlines(file))).get(line, "")


@functools.lru_cache(maxsize=64)
def _statements(text: str) -> dict[int, str]:
    """Variables by the lines of the statements that assign to them."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}  # a notebook's magics, for one: names are a convenience
    return {
        line: target.id
        for statement, target in _assignments(tree)
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.Name]]:
    """The statements that assign one value to one plain name."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name() as target], value=value)
                | ast.AnnAssign(target=ast.Name() as target, value=value)
                | ast.AugAssign(target=ast.Name() as target, value=value)
            ) if not isinstance(value, _SEVERAL):
                yield node, target
