"""`%explore` and `%%explore` in a shell."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import svodviz
from svodviz.widget.explorer import Explorer
from svodviz.widget.side_by_side import SideBySide


@pytest.fixture
def shell() -> Iterator[Any]:
    made = InteractiveShell.instance()
    svodviz.load_ipython_extension(made)
    made.user_ns.clear()
    made.run_cell("from tests.svodviz.sample import sample", store_history=False)
    yield made
    InteractiveShell.clear_instance()


def test_an_expression(shell: Any) -> None:
    explorer = shell.run_line_magic("explore", "--stage schedule sample('a name')")
    assert isinstance(explorer, Explorer)
    assert explorer.compilation.name == "a name"
    assert explorer.state["stage"] == "schedule"


def test_a_cell_ends_in_a_value(shell: Any) -> None:
    explorer = shell.run_cell_magic("explore", "", "first = sample('1')\nsample('2')\n")
    assert explorer.compilation.name == "2"
    assert shell.user_ns["first"].name == "1"


def test_a_cell_binds_names(shell: Any) -> None:
    cell = "first = sample('1')\nsecond, third = sample('2'), sample('3')\nprint('x')\n"
    assert shell.run_cell_magic("explore", "", cell).compilation.name == "3"


def test_a_cell_may_hold_other_magics(shell: Any) -> None:
    explorer = shell.run_cell_magic("explore", "", "%precision 3\ny = sample('m')\n")
    assert explorer.compilation.name == "m"


def test_the_page_is_written_too(shell: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    shell.run_line_magic("explore", f"-o {path} sample()")
    assert path.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("line", ["", "--stage nowhere x", "--unknown x"])
def test_wrong_lines(shell: Any, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        shell.run_line_magic("explore", line)


@pytest.mark.parametrize(("line", "cell"), [("x", "y = 1"), ("", "y = 1"), ("", "")])
def test_wrong_cells(shell: Any, line: str, cell: str) -> None:
    with pytest.raises(UsageError):
        shell.run_cell_magic("explore", line, cell)


def test_errors_of_the_cell_are_its_own(shell: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("explore", "", "1 / 0")


DIFF = "from compiler import Tensor\nx = Tensor([1.0, 2.0], name='x')\ny = x * {}\n"


def test_a_cell_is_compared_with_its_run_before(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = shell.run_cell_magic("explore", "--diff", DIFF.format("2.0"))
    assert isinstance(first, Explorer)
    assert "the first run of this cell" in capsys.readouterr().out
    second = shell.run_cell_magic("explore", "--diff", DIFF.format("x"))
    assert isinstance(second, SideBySide)
    assert second.comparison.names == ("the run before", "this run")
    assert second.comparison.a is first.compilation
    assert second.comparison.differs("graph")
    third = shell.run_cell_magic("explore", "--diff --stage graph", DIFF.format("x"))
    assert third.comparison.is_same
    assert third.state["stage"] == "graph"


def test_runs_belong_to_their_cells(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Kernel:
        cell = "one"

        def get_parent(self, channel: str) -> dict[str, Any]:
            return {"metadata": {"cellId": self.cell}}

    kernel = Kernel()
    monkeypatch.setattr(shell, "kernel", kernel, raising=False)
    first = shell.run_cell_magic("explore", "", DIFF.format("2.0"))
    kernel.cell = "two"
    assert isinstance(shell.run_cell_magic("explore", "--diff", DIFF.format("x")), Explorer)
    kernel.cell = "one"
    again = shell.run_cell_magic("explore", "--diff", DIFF.format("3.0"))
    assert again.comparison.a is first.compilation


def test_a_stage_that_cannot_be_compared(shell: Any) -> None:
    shell.run_cell_magic("explore", "", DIFF.format("2.0"))
    with pytest.raises(UsageError, match="stage is 'source'"):
        shell.run_cell_magic("explore", "--diff --stage source", DIFF.format("x"))
