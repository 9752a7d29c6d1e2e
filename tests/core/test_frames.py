"""The user's call stacks: what is in them, and what is left out."""

import builtins
import threading
from types import CodeType

import numpy as np

from compiler import Tensor, compile
from compiler.core import frames
from compiler.core.frames import Whose
from compiler.core.node import toposort
from compiler.core.origin import Origin, caller
from compiler.core.user_source import UNTOUCHED


class Scaled:
    def __call__(self, x: Tensor) -> Tensor:
        return x * 2.0

    def forward(self, x: Tensor) -> Tensor:
        return self(x)


def helper(x: Tensor) -> Tensor:
    return x.exp()


def tensor() -> Tensor:
    return Tensor(np.ones(3, np.float32), name="x")


def origin_of(x: Tensor) -> Origin:
    origin = x.node.origin
    assert origin is not None
    return origin


def test_a_stack_leads_from_the_program_to_the_line_that_made_the_call() -> None:
    made = origin_of(Scaled().forward(tensor()))
    assert made.method == "mul" and made.text == "return x * 2.0"
    assert [Origin(f.file, f.line, "").text for f in made.frames] == [
        "made = origin_of(Scaled().forward(tensor()))", "return self(x)",
    ]  # fmt: skip
    assert made.inside == (
        "test_a_stack_leads_from_the_program_to_the_line_that_made_the_call/Scaled.forward/Scaled"
    )


def test_what_runs_the_program_is_left_out_and_so_are_libraries_in_between() -> None:
    seen: list[Origin] = []
    thread = threading.Thread(target=lambda: seen.append(caller("add", 1)))
    thread.start()
    thread.join()
    assert seen[0].outer is None and seen[0].file == __file__
    through_numpy = np.apply_along_axis(lambda row: [origin_of(helper(tensor()))], 0, np.zeros(1))
    files = {frame.file for frame in through_numpy[0].frames}
    assert files == {__file__}


def test_two_calls_of_a_helper_are_two_places_and_one_node_once_merged() -> None:
    x = tensor()
    a, b = helper(x), helper(x)
    assert origin_of(a) != origin_of(b) and a.node is not b.node
    again = [helper(x) for _ in range(2)]
    assert again[0].node is again[1].node
    compilation = compile([a, b])
    merged = [n for n in toposort([compilation.simplest]) if type(n).__name__ == "Elementwise"]
    assert len(merged) == 1
    assert {origin.outer for origin in compilation.provenance.of(merged[0])} == {
        origin_of(a).outer, origin_of(b).outer,
    }  # fmt: skip


def test_the_line_of_a_call_leads_to_the_nodes_made_below_it() -> None:
    x = tensor()
    hidden = helper(x)
    made = compile(hidden + 1.0)
    lines = {line.text.strip(): line for line in made.user_source.lines}
    called, direct = lines["hidden = helper(x)"], lines["return x.exp()"]
    assert called.entity and not called.alone
    exp = next(n for n in made.graph.nodes if made.graph.definition(n).split()[2] == "exp")
    # Those that made it come first, those that led there follow.
    assert made.graph.parents[exp] == (direct.entity, called.entity)
    assert lines["class Scaled:"].alone == UNTOUCHED


def test_stacks_are_interned_and_calls_are_numbered() -> None:
    places = [caller("add", 1) for _ in range(2)]
    assert places[0].outer is places[1].outer
    assert places[0] == places[1] and places[0].call < places[1].call


def test_deep_recursion_keeps_the_innermost_frames() -> None:
    def deep(levels: int) -> Origin:
        return caller("add", 1) if levels == 0 else deep(levels - 1)

    assert len(deep(200).frames) == frames.MOST_FRAMES - 1


def test_whose_a_file_is() -> None:
    code = compile_code("<ipython-input-1-abc>")
    assert frames.whose(code) is Whose.USERS
    assert frames.whose(threading.Thread.run.__code__) is Whose.HOST
    assert frames.whose(np.vectorize.__call__.__code__) is Whose.LIBRARY
    assert frames.whose(compile.__code__) is Whose.OURS


def compile_code(file: str) -> CodeType:
    code: CodeType = builtins.compile("1", file, "eval")
    return code


def test_places_of_one_line_are_in_the_order_of_those_that_called_it() -> None:
    x = tensor()
    first = origin_of(helper(x))
    second = origin_of(helper(x))
    assert sorted([second, first]) == [first, second]
