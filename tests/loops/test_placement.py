"""Where values are computed: levels, stores that share loops, what fills scratch memory."""

import pytest

from compiler.core.node import toposort
from compiler.loops.nodes import (
    After,
    Argument,
    Body,
    DefineVar,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Store,
    alu,
    const,
    index,
    memory,
)
from compiler.loops.placement import Begin, Fold, LoopBlock, dependencies, fused_products, place
from tests.loops.bodies import BODIES, axis, f32, given, main_and_rest, out, plus, times


def nest(block: LoopBlock) -> list[object]:
    """Loops with what is in them, stores, and where reductions begin, fold and end."""
    found: list[object] = []
    for item in block.items:
        match item:
            case LoopBlock(range=Range() as each):
                found.append((each.name, nest(item)))
            case Begin() | Fold():
                found.append(f"{type(item).__name__.lower()} {item.reduce.op}")
            case Store() | Reduce():
                what = item.op if isinstance(item, Reduce) else memory(item).name
                found.append(f"{type(item).__name__.lower()} {what}")
            case _:
                pass
    return found


PLACED: dict[str, list[object]] = {
    "matmul in tiles": [("i0.0", [("i1.0", [
        "begin sum", ("r2", ["fold sum"]), "reduce sum", "store out"])])],
    "peeled row sum": [("i0", [
        "begin sum", ("r1.0", ["fold sum"]), "reduce sum",
        "begin sum", ("r1.2", ["fold sum"]), "reduce sum", "store out"])],
    "softmax row": [("i0", [
        "begin max", ("r1", ["fold max"]), "reduce max", ("i2", ["store local0"]),
        "begin sum", ("r3", ["fold sum"]), "reduce sum", ("i4", ["store out"])])],
    "packed panel": [("i1.0", [
        ("i3", [("i4", ["store local0"])]),
        ("i0", ["begin sum", ("r2", ["fold sum"]), "reduce sum", "store out"])])],
    "main and rest": [("i0", [
        "begin max", ("r2", ["fold max"]), "reduce max", "store out", ("i1.2", ["store out"])])],
}  # fmt: skip


@pytest.mark.parametrize("name", PLACED)
def test_loops(name: str) -> None:
    assert nest(place(BODIES[name]().body)) == PLACED[name]


@pytest.mark.parametrize("name", BODIES)
def test_what_is_read_is_placed_before(name: str) -> None:
    """Operands, extents and effects come first, whatever is shared."""
    done: set[ScalarNode] = set()
    stack: list[object] = [place(BODIES[name]().body)]
    while stack:
        item = stack.pop()
        if isinstance(item, LoopBlock):
            stack.extend(reversed(item.items))
            reads: list[ScalarNode] = []
            if item.range is not None and item.range.sources[0].sources:
                reads = [item.range.sources[0]]
        elif isinstance(item, Begin | Fold):
            reads = list(item.reduce.sources[:1]) if isinstance(item, Fold) else []
            done |= {item.reduce} if isinstance(item, Fold) else set()
        else:
            assert isinstance(item, ScalarNode)
            reads = [] if isinstance(item, Reduce) else list(item.sources)
            done.add(item)
        for read in reads:
            effects = [n for n in toposort([read]) if isinstance(n, Store)]
            assert set(effects) <= done
            is_given = isinstance(read, Range | Argument | Local | DefineVar | After)
            assert is_given or read in done


def test_a_fold_of_lanes_alone_follows_its_beginning() -> None:
    lane = axis(8, 0, (), "vector", "reduction")
    body = Body((Store((out(1), index(0), Reduce((Load((given(1, 8), lane)), lane), "sum"))),))
    assert nest(place(body)) == ["begin sum", "fold sum", "reduce sum", "store out"]


def test_a_value_of_an_outer_loop_stands_before_the_loop_that_stores_share() -> None:
    items = place(main_and_rest().body).items
    assert isinstance(items[-1], LoopBlock) and sum(isinstance(i, LoopBlock) for i in items) == 1


def test_stores_share_loops_only_from_the_outermost_on() -> None:
    i, j, k = axis(2, 0, (0,)), axis(3, 1), axis(2, 0, (2,))
    one = const(1.0, f32)
    body = Body((Store((out(12), plus(times(i, 3), j), one, i, j)),
                 Store((out(12), plus(6, times(k, 3), j), one, k, j))))  # fmt: skip
    inner = [("i1", ["store out"])]
    assert nest(place(body)) == [("i0.0", inner), ("i0.2", inner)]


def test_scratch_memory_that_is_filled_again_is_begun_again() -> None:
    """A store of 0 to memory depends on nothing, but on what is added to the memory after."""
    body = BODIES["column sums"]().body
    needs = dependencies(body)
    assert {n.name for local in needs if isinstance(local, Local) for n in needs[local]} == {"i0.0"}
    (found,) = nest(place(body))
    assert found[1][0] == ("i1", ["store local0"])  # type: ignore[index]


def test_products_of_main_and_rest_are_fused() -> None:
    main, rest = axis(2, 1, (0,), role="reduction"), axis(1, 1, (2,), role="reduction")
    a, b = given(1, 3), given(2, 3)
    products = [alu("mul", Load((a, i)), Load((b, i))) for i in (main, plus(2, rest))]
    total = alu("add", Reduce((products[0], main), "sum"), Reduce((products[1], rest), "sum"))
    body = Body((Store((out(1), index(0), total)),))
    assert fused_products(body) == set(products)
    still = alu("mul", Load((a, index(0))), Load((b, index(0))))
    total = alu("add", Reduce((still, main), "sum"), Reduce((still, rest), "sum"))
    assert fused_products(Body((Store((out(1), index(0), total)),))) == {still}
