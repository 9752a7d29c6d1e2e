"""Decisions carry the numbers that were compared, and these are those of the program."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from compiler import Options, Tensor, Variable, compile
from compiler.core.reason import Decision, Number
from compiler.loops.choosing.lanes import WORTH_THREADS
from compiler.machines.model import DEFAULT
from compiler.program.compilation import Compilation

CORES = 4
OPTIONS = Options(threads=CORES)
LACKING = (
    # what is asked for, and what a result is, follows from no number
    "it is a result: it has to be in memory", "a result: never shared", "movement of elements",
    "asks for memory", "reads it in memory", "it has no elements", "empty",
)  # fmt: skip
"""Words of reasons behind which no numbers were compared."""


def values(*shape: int) -> Tensor:
    """A tensor of that shape with data."""
    return Tensor(np.random.default_rng(1).normal(size=shape).astype(np.float32))


def attention() -> Tensor:
    q, k, v = (values(2, 48, 16) for _ in range(3))
    return (q @ k.mT).softmax() @ v


def chain() -> Tensor:
    x = values(64, 256)
    for _ in range(4):
        x = (x - x.mean(1, keepdim=True)).exp().contiguous()
    return x


def shared_statistic() -> list[Tensor]:
    mean = values(512, 64).mean(0)
    return [mean + 1.0, (mean * 2.0).reshape(1, 64).expand(32, 64).sum(0)]


def variable_rows() -> Tensor:
    n = Variable("n", 1, 64)
    return Tensor(np.ones((16, 8), np.float32), symbolic={0: n}).softmax()


def in_shards() -> Tensor:
    x = values(64, 32).shard(("CPU", "CPU:1"), axis=0)
    return x.sum(0)


CORPUS: dict[str, Callable[[], Tensor | list[Tensor]]] = {
    "one element": lambda: values(1) + 1.0,
    "few elements": lambda: values(7) * 2.0,
    "many elements": lambda: values(1 << 22) + values(1 << 22),
    "rows": lambda: values(64, 100).softmax(),
    "short rows": lambda: values(4096, 7).softmax(),
    "long rows": lambda: values(16, 5000).softmax(),
    "columns": lambda: values(512, 1000).sum(0),
    "few columns": lambda: values(100, 3).sum(0),
    "all": lambda: values(1 << 21).sum(),
    "mean of all": lambda: values(300, 70) - values(300, 70).mean(),
    "product": lambda: (values(130, 70) @ values(70, 97)).relu(),
    "large product": lambda: values(512, 512) @ values(512, 512),
    "vector product": lambda: values(1, 512) @ values(512, 300).contiguous(),
    "dot": lambda: values(3, 600) @ values(2, 600).mT,
    "windows": lambda: values(2, 3, 20, 20).conv2d(values(8, 3, 3, 3), padding=1),
    "groups": lambda: values(1, 32, 12, 12).conv2d(values(32, 8, 3, 3), groups=4, padding=1),
    "transpose": lambda: values(300, 200).mT.contiguous(),
    "large transpose": lambda: values(2048, 1536).mT.contiguous(),
    "borders": lambda: values(30, 30).pad(((1, 1), (1, 1))).contiguous(),
    "attention": attention,
    "chain": chain,
    "shared statistic": shared_statistic,
    "variable rows": variable_rows,
    "shards": in_shards,
    "empty": lambda: values(0, 4) + 1.0,
    "whole numbers": lambda: Tensor(np.arange(100, dtype=np.int32)) // 7,
}


@pytest.fixture(scope="module", params=CORPUS)
def made(request: pytest.FixtureRequest) -> Compilation:
    found = CORPUS[request.param]()
    return compile(found, OPTIONS)


def test_each_has_its_numbers_where_some_were_compared(made: Compilation) -> None:
    assert made.decisions
    for each in made.decisions:
        is_free = any(words in each.reason for words in LACKING)
        assert each.numbers or is_free, str(each)


def test_numbers_hold_what_the_verdict_needs(made: Compilation) -> None:
    for each in made.decisions:
        check = VERDICTS.get(each.kind)
        if check is not None and each.numbers:
            assert check(each, {n.name: n for n in each.numbers}), str(each)


def test_sizes_are_those_of_the_program(made: Compilation) -> None:
    graph = made.optimized_graph.to_networkx()
    for each in made.decisions:
        if each.subject not in graph:
            continue
        node, named = graph.nodes[each.subject], {n.name: n for n in each.numbers}
        size = math.prod(map(int, re.findall(r"\d+", node["shape"].partition("]")[0] + "]")))
        if "evaluations" in named and "variable" not in node:
            assert named["evaluations"].limit in (size, extent_of(made, each.subject))
        if "never written" in named:
            nbytes = named["never written"].value
            assert size == 0 or nbytes % size == 0 or "n" in node["shape"]


def extent_of(made: Compilation, entity: str) -> int:
    """The elements of a graph node, a variable at its most."""
    return next(n.size for n in nodes(made) if made.entity(n) == entity)


def nodes(made: Compilation) -> list[object]:
    from compiler.core.node import toposort

    return [n for n in toposort([made.simplest]) if hasattr(n, "size")]


def test_buffers_of_the_plan_have_the_sizes_and_lives_that_are_told(made: Compilation) -> None:
    plan = made.schedule.memory_plan
    by_entity = {made.kernels.entity(p.buffer): p for p in plan.places
                 if p.buffer in made.kernels.nodes}  # fmt: skip
    told = [d for d in made.decisions if d.kind == "share"]
    assert {d.subject for d in told} == set(by_entity)
    for each in told:
        place, named = by_entity[each.subject], {n.against: n for n in each.numbers}
        if "its size" in named:
            assert named["its size"].limit == place.size
        if "its own" in named:
            assert named["its own"].limit == place.size
        for words, own in (("its own first", place.first), ("its own last", place.last)):
            assert words not in named or named[words].limit == own


def is_below(number: Number) -> bool:
    assert number.limit is not None
    return number.value < number.limit


def fuse(each: Decision, named: dict[str, Number]) -> bool:
    costs = named.get("computed where it is read")
    if each.taken:
        repeats = named.get("times each element is computed")
        return (costs is None or not is_above(costs)) and (repeats is None or not is_above(repeats))
    limits = [n for n in each.numbers if n.limit is not None]
    return any(map(is_above, limits)) or not limits or "operations" in each.reason


def is_above(number: Number) -> bool:
    assert number.limit is not None
    return number.value > number.limit


def split_reduction(each: Decision, named: dict[str, Number]) -> bool:
    took = named.get("one core takes about")
    is_long = took is not None and not is_below(took)
    if each.taken:
        return is_long and is_below(named["rows to share out"])
    return is_long or "too short" in each.reason


def parallelize(each: Decision, named: dict[str, Number]) -> bool:
    work = named.get("work")
    trips = next((n for n in each.numbers if n.against == "cores"), None)
    if each.taken:
        assert work is None or work.limit == WORTH_THREADS
        assert trips is None or trips.limit == CORES
        return (work is None or not is_below(work)) and (trips is None or not is_below(trips))
    is_short = (work is not None and is_below(work)) or (trips is not None and is_below(trips))
    return is_short or "comes out even" in each.reason or "take fewer cycles" in each.reason


def stream(each: Decision, named: dict[str, Number]) -> bool:
    touched = named["bytes touched"]
    assert touched.limit == DEFAULT.cache_bytes[-1] // 2
    return not is_below(touched) if each.taken else is_below(touched) or len(each.numbers) > 1


def share(each: Decision, named: dict[str, Number]) -> bool:
    if each.reason.startswith("not with"):
        return not is_above(each.numbers[0]) and not is_above(each.numbers[1])
    return is_below(each.numbers[0]) if each.taken else "memory of its own" in each.reason


def tile(each: Decision, named: dict[str, Number]) -> bool:
    """A tile of a product is as tall as its numbers say."""
    axis, size = re.match(r"tile (\S+) (\d+)", each.reason).groups()  # type: ignore[union-attr]
    trips = named.get(f"trip count of {axis}")
    sizes = {n.limit for n in each.numbers if n.against.endswith("of a tile")}
    is_of_tile = bool(sizes) and trips is not None and "by" in each.reason
    return not is_of_tile or int(size) in sizes


def pack(each: Decision, named: dict[str, Number]) -> bool:
    uses = named.get("tiles of rows that read a panel")
    return uses is None or is_below(uses) != each.taken


def reorder(each: Decision, named: dict[str, Number]) -> bool:
    """Inside stands what is read again, or moves least; the cheaper side has the lanes."""
    image, tiles = (named.get(name) for name in ("what all channels read of an image",
                                                 "a line of tiles along channels"))  # fmt: skip
    if image is not None:
        return is_above(image) == ("as the image is large" in each.reason)
    moved = [n for n in each.numbers if " moves in " in n.name]
    return all(map(is_below, moved)) and (tiles is None or not is_above(tiles))


def vectorize(each: Decision, named: dict[str, Number]) -> bool:
    return each.taken or any(n.limit is None or n.sign for n in each.numbers)


VERDICTS: dict[str, Callable[[Decision, dict[str, Number]], bool]] = {
    "fuse": fuse, "split_reduction": split_reduction, "parallelize": parallelize, "stream": stream,
    "share": share, "tile": tile, "pack": pack, "vectorize": vectorize,
    "reorder": reorder,
}  # fmt: skip


def of(made: Compilation, kind: str, taken: bool | None = None) -> list[Decision]:
    """The decisions of one kind."""
    return [d for d in made.decisions if d.kind == kind and taken in (None, d.taken)]


def number(each: Decision, name: str) -> Number:
    return next(n for n in each.numbers if n.name == name)


def test_an_addition_of_arrays_larger_than_the_caches() -> None:
    made = compile(values(1 << 22) + values(1 << 22), OPTIONS)
    nbytes = 3 * 4 * (1 << 22)
    (streamed,) = of(made, "stream")
    assert number(streamed, "bytes touched").value == nbytes
    (shared,) = of(made, "parallelize", True)
    took = nbytes / DEFAULT.read[DEFAULT.level(nbytes)]
    assert number(shared, "work").value == pytest.approx(took)
    lanes = DEFAULT.vector_bytes // 4
    turns = [n for d in of(made, "vectorize", True) for n in d.numbers if n.against == "lanes"]
    assert {(n.value, n.limit) for n in turns} == {(1 << 22, lanes)}


def test_what_is_too_small_says_by_how_much() -> None:
    made = compile(values(7) * 2.0, OPTIONS)
    (left,) = of(made, "vectorize")
    lanes = DEFAULT.vector_bytes // 4
    found = number(left, "trip count of i0")
    assert not left.taken and (found.value, found.limit, found.sign) == (7, lanes, "<")


def test_a_row_statistic_is_computed_once_for_each_row() -> None:
    made = compile(values(64, 100).softmax(), OPTIONS)
    taken = of(made, "fuse", True)
    assert taken
    for each in taken:
        if "its only reader" in each.reason:
            assert number(each, "times each element is computed").value == 1
            assert number(each, "kernels that read it").value == 1
            assert number(each, "never written").value == 64 * 4


def test_a_statistic_that_two_kernels_read_is_refused_with_both_counts() -> None:
    made = compile(shared_statistic(), OPTIONS)
    found = [(d, re.search(r"(\d+) kernels read the result", d.reason))
             for d in of(made, "fuse", False)]  # fmt: skip
    assert found
    for each, words in found:
        assert words is not None
        assert number(each, "kernels that read it").value == int(words.group(1)) == 2


def test_a_product_names_its_tile_and_its_panel() -> None:
    made = compile(values(512, 512) @ values(512, 512), Options(threads=1))
    (vector,) = [d for d in of(made, "vectorize", True) if "accumulators" in d.reason][:1]
    rows, vectors, lanes = map(int, re.findall(r"(\d+) rows by (\d+) vectors of (\d+)",
                                               vector.reason)[0])  # fmt: skip
    assert number(vector, "accumulators").value == rows * vectors
    assert number(vector, "trip count of i0").limit == rows
    assert number(vector, "trip count of i1").limit == vectors * lanes
    (pack,) = of(made, "pack")
    panel, ways = number(pack, "panel"), number(pack, "pieces that share a set")
    assert panel.value == 512 * vectors * lanes * 4
    assert panel.limit == DEFAULT.cache_bytes[0] // 2
    uses = number(pack, "tiles of rows that read a panel")
    is_kept = panel.sign in "<=" and ways.sign in "<="
    assert pack.taken == (not is_kept and uses.sign in (">", "="))


def test_a_panel_that_pages_throw_out_is_copied_if_it_is_read_often_enough() -> None:
    made = compile(values(1024, 1024) @ values(1024, 1024), Options(threads=1))
    (pack,) = of(made, "pack")
    (tiled,) = [d for d in of(made, "vectorize", True) if "accumulators" in d.reason][:1]
    height = number(tiled, "trip count of i0").limit
    assert height is not None
    uses = number(pack, "tiles of rows that read a panel")
    assert uses.value == -(-1024 // int(height))
    assert pack.taken == (uses.sign in (">", "="))


def test_a_long_sum_is_cut_in_two() -> None:
    made = compile(values(1 << 21).sum(), OPTIONS)
    (cut,) = of(made, "split_reduction", True)
    assert number(cut, "elements folded").value == 1 << 21
    assert number(cut, "rows to share out").value == 1
    parts = int(re.search(r"in (\d+) parts", cut.reason).group(1))  # type: ignore[union-attr]
    assert number(cut, "parts").value == parts


def test_buffers_that_are_needed_together_say_so() -> None:
    made = compile(chain(), OPTIONS)
    plan = {made.kernels.entity(p.buffer): p for p in made.schedule.memory_plan.places
            if p.buffer in made.kernels.nodes}  # fmt: skip
    shared, refused = of(made, "share", True), of(made, "share", False)
    assert shared and any(d.reason.startswith("not with") for d in refused)
    for each in shared:
        place = plan[each.subject]
        common = number(each, "bytes in common")
        assert common.limit == place.size >= common.value > 0


def test_every_node_of_the_graph_is_told_what_became_of_it() -> None:
    made = compile(attention(), OPTIONS)
    told = {d.subject for d in made.decisions}
    for node in nodes(made):
        is_told = made.entity(node) in told
        assert is_told or type(node).__name__ in ("Buffer", "Const", "Device", "Iota", "Sink")
