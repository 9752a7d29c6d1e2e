"""Facts that passes rely on: each has a text, and a check that names the first violation.

    DIFFERENTIATED  gradients are operations                  given by differentiate
    MERGED       lines are recorded apart from nodes             given by cse
    DECOMPOSED   only machine operations and core kinds          given by decompose
    SHARDED      no value is in shards                           given by shard
    SIMPLE       no rule of `loops/simplify.py` matches          given by simplify on loops
    WHOLE        no axis is split                                given by index, ended by tile
    CUT          axes are split as the choices say               given by tile
    LOOPS        every axis is a loop                            given by index, ended by unroll,
                                                                 vectorize and parallelize
    LANES        the axes of vector lanes are decided            given by vectorize
"""

from typing import Any

from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.core.passes import Fact
from compiler.graph import verify as verify_graph
from compiler.graph.kinds.gradient import Gradient
from compiler.graph.kinds.placement import Multi
from compiler.graph.nodes import Sink
from compiler.graph.words import operation, short
from compiler.loops.invariants import describe
from compiler.loops.nodes import Body, Range
from compiler.loops.simplify import RULES


def _gradient_left(root: Sink) -> str:
    """The first gradient that is not an operation yet."""
    gradient = next((n for n in toposort([root]) if isinstance(n, Gradient)), None)
    return "" if gradient is None else f"{operation(gradient)} {short(gradient)}"


def _with_lines(root: Sink) -> str:
    """The first node that still carries its own line."""
    node = next((n for n in toposort([root]) if n.origin is not None), None)
    where = node.origin.place if node is not None and node.origin else ""
    return f"{operation(node)} still carries its line, {where}" if node is not None else ""


def _undecomposed(root: Sink) -> str:
    """The first node that is no machine operation, as invariants 11 and 15 have it."""
    try:
        verify_graph.verify(root, is_decomposed=True)
    except InternalError as error:
        return error.problem
    return ""


def _in_shards(root: Sink) -> str:
    """The first value in shards."""
    joint = next((n for n in toposort([root]) if isinstance(n, Multi)), None)
    return "" if joint is None else f"a value on {len(joint.sources)} devices: {operation(joint)}"


def _not_simple(body: Body) -> str:
    """The first rule that still matches."""
    for node in toposort([body]):
        match = RULES.match(node)
        if match is not None:
            return f"rule {match[0].name} still matches {describe(node)}"
    return ""


def _ranges(body: Body) -> list[Range]:
    nodes: list[Any] = toposort([body])
    return [node for node in nodes if isinstance(node, Range)]


def _cut(body: Body) -> str:
    """The first axis that was split."""
    return next((f"{r.name} is a part of an axis" for r in _ranges(body) if r.part), "")


def _no_loop(body: Body) -> str:
    """The first axis that is not a serial loop."""
    words = {"unroll": "unrolled", "vector": "lanes of a vector", "dot": "elements of a word",
             "core": "distributed over cores"}
    axis = next((r for r in _ranges(body) if r.level != "loop"), None)
    return "" if axis is None else f"{axis.name} is {words[axis.level]}"


DIFFERENTIATED = Fact("gradients are operations", _gradient_left)
MERGED = Fact("lines of the program are recorded apart from its nodes, and equal nodes are one",
              _with_lines)  # fmt: skip
DECOMPOSED = Fact("only machine operations and core kinds are left (invariants 11 and 15)",
                  _undecomposed)  # fmt: skip
SHARDED = Fact("no value is in shards (invariant 22)", _in_shards)
SIMPLE = Fact("indices are in simplest form", _not_simple)
WHOLE = Fact("no axis is split", _cut)
CUT = Fact("axes are split as the choices say")
LOOPS = Fact("every axis is a loop: none is unrolled, in lanes or on cores", _no_loop)
LANES = Fact("the axes that choices name are lanes, so loads and stores are those of whole vectors")
