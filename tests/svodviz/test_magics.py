"""`%explore` and `%%explore` in a shell."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import svodviz
from svodviz.explorer import Explorer


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
