"""The titles of kernels, and that code does not depend on them."""

import itertools
import re
from dataclasses import replace

import numpy as np

from compiler import compile
from compiler.core.origin import Origin
from compiler.llvm import jit
from compiler.program.compilation import Compilation
from compiler.schedule.titles import KernelTitle, title
from tests.programs_of_users import tensor


def titles(compiled: Compilation) -> list[str]:
    """The titles without their lines, which are those of this file."""
    return [re.sub(r", lines? [\d–]+$", ", line …", str(it)) for it in compiled.titles.values()]


def test_a_kernel_is_called_by_the_operators_in_it() -> None:
    x, w = tensor(64, 16, name="x"), tensor(16, 32, name="w")
    assert titles(compile((x @ w).relu())) == ["k0 matmul+relu 64×32, line …"]


def test_the_operators_of_a_title_are_in_the_order_of_their_first_calls() -> None:
    node = tensor(4).exp().node
    first = Origin("a.py", 1, "exp", call=1)
    lines = [replace(first, call=9), Origin("a.py", 1, "sin", call=2), first]
    for order in itertools.permutations(lines):
        named = title("k0", (node,), {node: order}.__getitem__, (4,))
        assert named.operators == ("exp", "sin")
        assert named.lines == ("a.py:1",)


def test_of_many_operators_the_ends_are_named() -> None:
    title = KernelTitle("k3", ("exp", "sin", "cos", "add", "div"), (4, 1, 3), ("a.py:2", "a.py:9"))
    assert str(title) == "k3 exp+sin+…+div 4×3, lines 2–9"
    assert title.symbol == "k3_exp_sin_cos_add"


def test_lines_of_several_files_are_named_with_them() -> None:
    title = KernelTitle("k0", ("exp",), (), ("a.py:2", "b.py:9"))
    assert str(title) == "k0 exp 1, a.py:2 … b.py:9"
    assert KernelTitle("k0", (), (2, 2), ()).where == "2×2"


def test_what_only_moves_says_so_and_what_computes_says_that_alone() -> None:
    x = tensor(8, 4, name="x")
    assert titles(compile(x.T.contiguous()))[0].startswith("k0 contiguous 4×8")
    moved = x.reshape(4, 8).exp().T.astype(np.float16)
    assert titles(compile(moved)) == ["k0 exp 8×4, line …"]


def test_a_symbol_holds_no_more_than_assembly_allows() -> None:
    title = KernelTitle("k0", ("naïve name", "matmul"), (2,), ())
    assert re.fullmatch(r"[\w.]+", title.symbol, re.ASCII)


def test_the_symbol_says_what_a_kernel_does_and_its_code_is_the_same_without() -> None:
    x, w = tensor(64, 16, name="x"), tensor(16, 32, name="w")
    compiled = compile((x @ w).relu())
    (source,) = compiled.source
    assert "define void @k0_matmul_relu(" in source.text
    assert compiled.assembly[0].rows[0].startswith("k0_matmul_relu")
    plain = source.text.replace("@k0_matmul_relu", "@k0")
    level = compiled.levels["k0"]
    assert jit.object_code(source.text, "k0_matmul_relu", level) == jit.object_code(
        plain, "k0", level
    )


def test_each_call_of_one_kernel_has_the_lines_it_comes_from() -> None:
    x, y = tensor(32, 32, name="x"), tensor(32, 32, name="y")
    first = (x @ y).softmax(-1)
    second = (y @ x).softmax(-1)
    compiled = compile([first, second])
    found = [(it.name, it.lines) for it in compiled.titles.values()]
    assert len(found) == len(compiled.schedule.items)
    assert len({name for name, _ in found}) < len(found), "a kernel that runs twice"
    assert len(set(found)) == len(found), "is called by the lines of each run"


def test_iterations_of_a_loop_are_called_by_what_is_done_in_them() -> None:
    from compiler import repeat

    looped = repeat(3, lambda i, v: (v @ v).tanh(), tensor(8, 8))
    compiled = compile(looped)
    assert {it.work for it in compiled.titles.values()} == {"matmul+tanh"}
