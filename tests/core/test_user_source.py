"""The user's program as a stage: a file, several files, and the cells of a notebook."""

import linecache
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.core.origin import Origin, cell_number, short_name

NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in (
    "import compiler, numpy",
    "x = compiler.Tensor(numpy.ones((2, 3), 'float32'), name='x')",
    "# the second layer\\ny = (x + 1).exp()",
    "z = y * x\\nc = compiler.compile(z)",
    "print(c.graph)",
    "print(c.user_source.title)\\nprint(c.user_source)",
    "entities = {line.entity: line.text for line in c.user_source.lines}",
    "for line in c.graph.lines[:-1]: print(line.text[5:8], *[entities[p] for p in line.parents])",
    "try: x + y.T\\nexcept compiler.ShapeError as error: print(error)",
):
    shell.run_cell(cell, store_history=sys.argv[1] == 'counted').raise_error()
"""


@pytest.fixture(params=["counted", "uncounted"])
def printed(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The output of the cells of `NOTEBOOK`, run by a front end that counts them or does not."""
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK, request.param],
        capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"IPYTHONDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_nodes_of_a_notebook_name_their_cell_by_its_execution_count(printed: list[str]) -> None:
    for operation, place in (("buffer x", "cell 2:1"), ("exp", "cell 3:2"), ("mul", "cell 4:1")):
        row = next(line for line in printed if f"= {operation}" in line)
        assert row.endswith(place), row


def test_an_error_names_the_cell_and_not_the_file_it_is_compiled_under(printed: list[str]) -> None:
    assert [line for line in printed if line.startswith("  line:")] == [
        "  line:     cell 9:1  try: x + y.T"
    ]


def test_cells_are_listed_in_the_order_they_ran_each_under_its_name(printed: list[str]) -> None:
    start = printed.index("cell 2, cell 3, cell 4")
    assert printed[start + 1 : start + 9] == [
        "# cell 2",
        "x = compiler.Tensor(numpy.ones((2, 3), 'float32'), name='x')",
        "# cell 3",
        "# the second layer",
        "y = (x + 1).exp()",
        "# cell 4",
        "z = y * x",
        "c = compiler.compile(z)",
    ]
    assert "exp y = (x + 1).exp()" in printed
    assert "mul z = y * x" in printed


def test_a_single_file_is_listed_without_a_heading() -> None:
    compilation = compile(Tensor(np.ones(3, np.float32)).exp())
    assert compilation.user_source.title == Path(__file__).name
    assert compilation.user_source.lines[0].text == f'"""{__doc__.strip()}"""'


def test_files_are_not_cells() -> None:
    assert cell_number(__file__) is None
    assert short_name(__file__) == Path(__file__).name
    assert short_name("<stdin>") == "cell"


def test_origins_sort_by_file_then_line_then_call() -> None:
    origins = [Origin("b.py", 1, "exp"), Origin("a.py", 10, "exp"), Origin("a.py", 9, "mul")]
    assert [o.place for o in sorted(origins)] == ["a.py:9", "a.py:10", "b.py:1"]


def test_cells_of_marimo_are_numbered_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [f"/tmp/marimo_7/__marimo__cell_{name}_.py" for name in ("Hbol", "MJUe")]
    monkeypatch.setattr(linecache, "cache", dict.fromkeys(["a.py", *files]))
    assert [short_name(it) for it in files] == ["cell 1", "cell 2"]
    assert short_name("/tmp/marimo_7/__marimo__cell_vblA_.py") == "cell"
