"""The invariants of a kernel's loops, which `verify.py` checks. A broken one is a bug in this
compiler.

 1. Every node stands where it may: Stores and Updates under the Body or an After, memory only as
    what a Load, Store or Update accesses, and only Ranges (and a Store's one predicate, which is
    bool) as the loops of a Reduce, Store or Update. An After is of memory, and its effects are on
    it.
 2. The operands of an Alu have the number and types its row accepts, and it is a machine
    operation: it has no expansion. Bitcast keeps the width.
 3. The index of a Load, Store or Update is int64, and a predicate is bool.
 4. One Argument per slot. Slot 0 is stored to and updated, and nothing else is; it is loaded from
    only where the Store that takes the value writes, so that each element is read before it is
    written, and then nothing updates it. A Store or Update writes the type of its memory, an
    Update by a row of `updates.UPDATES` that there is, and after a Store to its memory: it reads
    what it joins.
 5. The extent of a range is an int64 expression of constants and variables, 0 or more; no two
    ranges have one number and one part, and no two variables one name. The ranges of one number
    have one role, and none is a part of another: an axis that is tiled is tiled everywhere.
 6. Normal ranges are the loops of Stores, serial ranges of Updates, reduction ranges of Reduces; a
    Store whose value is a Scan has the serial range of that as well, and no other Scan.
    No nest has a range twice, or one that a nest inside it has. A Reduce has at least one, and its
    row accepts the type.
 7. No value depends on a range outside the nests that the range belongs to.
 8. Every access is inside its memory for all values of the ranges: its index has bounds within
    0 … size - 1, or it is a predicated load, or it depends on a range of extent 0 and so never
    happens. The predicate of a store counts where it bounds axes of the store:
    `i0.0*8 + i0.1 < 22`. (An Update is predicated and yet has such bounds: its predicate decides
    which elements, not whether they are there.)
 9. The stores to a buffer write each element exactly once (updates may hit one never or often):
    the index of one is a sum of multiples of its ranges, each multiple the product of the
    extents of those below it; several write as many elements as there are, none of which two of
    them write. Those that are `is_part` write no element twice: the index may begin anywhere, and
    each multiple is more than what those below it reach together.
10. A Custom has a registered name. An inline one is a value, of scalars of its operands' types; any
    other stands under the Body, alone, and writes the first of its arguments.
11. `unroll` and `vector` ranges have a constant trip count, at most `MOST_SIDE_BY_SIDE`. A value
    depends on at most one vector range. In an Update no loop is inside these, so that the order of
    its iterations stays, and no two lanes hit one element.
12. A core range is the outermost one of a nest under the Body, normal, or of an Update whose
    iterations hit elements of their own. All have one number of tasks, 2 or more; no other range
    has.
13. One Local per number, of 1 element or more. It is first stored to; what loads from it comes
    after all its effects.
14. An effect on scratch memory depends on no unroll or vector range but its own: the memory is
    there once.
15. A dot range is one of a Reduce: of a sum of products of two factors of small types (`dots.py`),
    of which one iteration has as many as a word has elements. What depends on it are loads of
    elements that follow each other along it, and along lanes, if there are any, words do; and what
    is computed of these in their type.

Where an extent is a variable, 8 and 9 hold for its greatest value, and so for the others: a range
that ends earlier reaches less, and writes the elements that are meaningful.

Not checked: that a predicate keeps its load inside the buffer, that an element of scratch memory
was written before it is read (the interpreter checks each access), and that bounds are right (they
are computed when the node is created, and tested in `simplify`'s tests).
"""

from typing import NoReturn

from compiler.core.errors import InternalError
from compiler.loops import nodes
from compiler.loops.nodes import ScalarNode, memory

MOST_SIDE_BY_SIDE = 64
"""The most iterations of an unrolled or vector range: the limits of `unroll` and `vectorize`."""


def broken(node: ScalarNode, number: int, what: str, got: object, expected: object) -> NoReturn:
    """Raise the error that names the invariant and the node."""
    raise InternalError(
        "loops",
        f"invariant {number}: {what}, at {describe(node)}",
        got=str(got),
        expected=str(expected),
    )


def describe(node: ScalarNode) -> str:
    """A short name for a node in messages: `load in1`, `store out`, `add`, `i0`."""
    match node:
        case nodes.Range() | nodes.Argument() | nodes.Local():
            return node.name
        case nodes.Load() | nodes.Store() | nodes.Update() if node.sources and _is_memory(
            node.sources[0]
        ):
            return f"{type(node).__name__.lower()} {memory(node).name}"
        case nodes.Alu() | nodes.Reduce():
            return node.op if isinstance(node, nodes.Alu) else f"reduce {node.op}"
        case _:
            return type(node).__name__.lower()


def _is_memory(node: ScalarNode) -> bool:
    while node.sources:
        node = node.sources[0]
    return isinstance(node, nodes.Argument | nodes.Local)
