"""The page's data of kernels: choices that read back, levels, tasks, scratch memory."""

import numpy as np

import compiler
from compiler import Options, Tensor
from compiler.loops.choices import parse
from svodviz.wire.payload import wire
from tests.svodviz.sample import sample

CHOSEN = """
tile i0 8        # rows for a core
tile i1 16
reorder i0.0 i1.0 i0.1 i1.1
pack 2 i0.0
unroll i0.1      # 8 accumulators
vectorize i1.1
parallelize i0.0 2
"""


def product(loops: str) -> compiler.Compilation:
    a = Tensor(np.ones((16, 40), np.float32), name="a")
    b = Tensor(np.ones((40, 32), np.float32), name="b")
    return compiler.compile(a @ b, Options(trace=True, loops={"k0": loops}))


def test_a_kernel_with_choices() -> None:
    made = product(CHOSEN)
    data = wire(made)
    (row,) = data["kernels"]
    assert row["choices"][0] == ("tile", "tile i0 8 peel", "rows for a core", [])
    assert parse(row["text"]) == parse(repr(made.choices["k0"])[9:-2])
    assert row["tasks"] == 2 and row["scratch"] == 40 * 32 * 4
    assert (row["level"], row["because"]) == (made.levels["k0"].done, made.levels["k0"].because)
    assert data["entities"][row["e"]] == made.loops[0].entity(made.loops[0].body)
    (item,) = data["schedule"]["items"]
    assert item["tasks"] == 2
    names = [it["name"] for it in data["passes"] if it["kernel"] == "k0"]
    chosen = ["tile", "reorder", "pack", "unroll", "vectorize", "parallelize"]
    assert names[3:] == [*chosen, "cascade"]


def test_levels_are_told_apart() -> None:
    (unit,) = next(it for it in wire(product(CHOSEN))["stages"] if it["id"] == "loops")["units"]
    kinds = {row["kind"] for row in unit["scene"]["nodes"]}
    assert {"loop", "unrolled", "vector", "cores", "local"} <= kinds


def test_a_plain_kernel() -> None:
    (row,) = wire(product(""))["kernels"]
    assert (row["choices"], row["text"], row["tasks"], row["scratch"]) == ([], "", 1, 0)


def test_compilations_that_say_nothing_of_kernels() -> None:
    assert wire(sample())["kernels"] == []


def test_values_that_are_too_large_are_counted() -> None:
    x = Tensor(np.ones((200, 200), np.float32), name="x")
    notes = wire(compiler.compile(x @ x))["notes"]
    assert [it for it in notes if it.startswith("no values of") and "or follow from" in it]
    assert not [it for it in wire(compiler.compile(x * 2))["notes"] if "or follow from" in it]
