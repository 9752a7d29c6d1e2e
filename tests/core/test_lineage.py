"""Links: how many lines of each stage lead back to the program, and why the others do not."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.lineage import coverage, lineage
from compiler.core.stage import Stage
from compiler.core.trace import Line
from compiler.program.compilation import Compilation


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).random(shape, dtype=np.float32))


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "softmax": lambda: data(64, 100).softmax(),
    "layer": lambda: (data(64, 784) @ data(784, 10) + data(10)).softmax(),
    "packed product": lambda: data(128, 128) @ data(128, 128),
    "movement": lambda: (data(30, 40).permute(1, 0).reshape(20, 60).flip(0) + 1).sum(1),
    "padded": lambda: data(30, 30).pad(((1, 2), (3, 1))) * 2,
    "windows": lambda: data(2, 3, 16, 16).conv2d(data(4, 3, 3, 3)),
    "columns": lambda: data(300, 200).sum(0),
    "gathered": lambda: data(64, 100)[Tensor(np.array([1, 2, 5]))],
    "sorted": lambda: data(64).sort(),
    "scan": lambda: data(64, 100).cumsum(1),
}
LEAST = {"loops": 1.0, "lowered": 1.0, "LLVM": 1.0, "optimised": 0.95, "assembly": 0.97}
"""The share of lines that must lead back to the program, by what the title of a stage says."""


def compiled(name: str, loops: str) -> Compilation:
    return compile(PROGRAMS[name](), Options(trace=True, loops="plain" if loops else "auto"))


@pytest.mark.parametrize("loops", ["", "plain"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_lines_lead_back_to_the_program_or_say_why_not(name: str, loops: str) -> None:
    compilation = compiled(name, loops)
    for row in compilation.coverage:
        assert row.linked + len(row.alone) == row.lines
        least = next((it for word, it in LEAST.items() if word in row.title), 0.0)
        assert row.share >= least, str(row)
        assert all(line.alone for line in row.alone), [it for it in row.alone if not it.alone]


def test_index_arithmetic_leads_to_each_movement_that_took_part() -> None:
    x = data(6, 4)
    compilation = compile(x.permute(1, 0).reshape(3, 8).flip(1), Options(trace=True, loops="plain"))
    (loops,) = compilation.loops
    index = next(node for node in loops.nodes if node.bounds and "mod" in repr(node))
    found = {line.text.split()[2] for line in lineage(loops.entity(index), compilation.stages)
             if (line.entity or "").startswith("graph:")}  # fmt: skip
    assert {"reshape", "flip"} <= found  # permute only renames the indices


def test_arithmetic_without_a_line_of_its_own_is_on_the_way() -> None:
    """An address is computed by instructions whose scalars are printed where they are used."""
    compilation = compile(data(6, 4).permute(1, 0).contiguous(), Options(trace=True, loops="plain"))
    multiply = next(it for it in compilation.lowered[0].lines if " mul " in it.text)
    story = compilation.lineage(multiply.entity or "")
    found = {(line.entity or "").partition(":")[0] for line in story}
    assert {"source", "graph", "lowered", "llvm"} <= found


def test_masks_and_tiles_come_from_what_they_are_for() -> None:
    compilation = compiled("softmax", "")
    masks = [it for loops in compilation.loops for it in loops.lines if "where(" in it.text]
    assert masks and all(line.parents for line in masks)


class Text(Stage):
    """A stage of given lines."""

    rows: tuple[Line, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.rows


def stage(*rows: Line) -> Stage:
    made = Text(title="text")
    object.__setattr__(made, "rows", rows)
    return made


def test_coverage_counts_what_leads_back_and_names_the_rest() -> None:
    first = stage(Line("x", "source:1"), Line("", None), Line("# note", alone="a remark"))
    second = stage(Line("a", "b:1", ("source:1",)), Line("c", "b:2", ("b:9",)))
    one, two = coverage((first, second))
    assert (one.lines, one.linked, two.lines, two.linked) == (2, 1, 2, 1)
    assert [line.text for line in two.alone] == ["c"] and two.share == 0.5
    assert str(one) == f"{'text':<18}     1 of     2 lines linked   the others: a remark"
    assert coverage((stage(),))[0].share == 1.0
