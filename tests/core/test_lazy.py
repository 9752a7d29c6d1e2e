"""Modules and who loads them: `import compiler` is quick, a name is loaded when asked for."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import compiler
import svodviz

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "llvmlite", "networkx", "graphviz", "pygraphviz", "IPython", "ipywidgets",
         "anywidget", "traitlets", "pygments")  # fmt: skip
GRAPHS = "from compiler import Tensor\nx = (Tensor([1.0, 2.0]).exp() @ Tensor([3.0, 4.0])).sum()"


def loaded(program: str) -> tuple[list[str], set[str]]:
    """Our modules that a program loads, and which of the heavy libraries."""
    end = "\nimport sys; print(*sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", program + end], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = ended.stdout.split()
    ours = [name for name in names if name.partition(".")[0] in ("compiler", "svodviz")]
    return ours, {name for name in HEAVY if name in names}


@pytest.mark.parametrize(
    ("program", "most", "libraries"),
    [
        ("import compiler", 8, set()),
        ("import svodviz", 10, set()),
        ("from compiler import Tensor", 118, {"numpy"}),
        (GRAPHS, 118, {"numpy"}),
        (f"{GRAPHS}\nx.numpy()", 341, {"numpy", "llvmlite"}),
        (f"{GRAPHS}\nfrom compiler import compile\ncompile(x)", 361, {"numpy", "llvmlite"}),
    ],
    ids=["compiler", "svodviz", "Tensor", "graphs", "numpy()", "compile"],
)
def test_what_is_loaded(program: str, most: int, libraries: set[str]) -> None:
    ours, heavy = loaded(program)
    assert len(ours) <= most, ours
    assert heavy == libraries


def test_graphs_are_made_without_what_runs_them() -> None:
    ours, _ = loaded(GRAPHS)
    stages = ("schedule", "loops", "lowered", "llvm", "threads", "run", "program")
    assert not [name for name in ours if name.split(".")[1:2] and name.split(".")[1] in stages]


BY_HAND = ("compiler.graph.builder.", "compiler.schedule.strict.", "compiler.device.c.")
"""Graphs and schedules written by hand, and the C text: what only their users load."""


def test_compiling_and_running_load_nothing_that_is_written_by_hand() -> None:
    ours, _ = loaded(f"{GRAPHS}\nfrom compiler import compile\ncompile(x).run()")
    assert not [name for name in ours if f"{name}.".startswith(BY_HAND)]
    builders, _ = loaded("from compiler import GraphBuilder\nimport compiler.schedule.strict.run")
    assert {"compiler.graph.builder", "compiler.schedule.strict.run"} <= set(builders)


@pytest.mark.parametrize("package", [compiler, svodviz])
def test_every_name_has_its_place(package: ModuleType) -> None:
    places = {name for each in package._PLACES.values() for name in each.split()}
    functions = {"load_ipython_extension"}
    assert {*places, *functions} == {*package.__all__, *functions}
    typed = ast.parse(Path(str(package.__file__)).read_text("utf-8"))
    (block,) = (node for node in typed.body if isinstance(node, ast.If))
    shown = {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
        if str(node.module).startswith(("compiler", "svodviz"))
    }  # fmt: skip
    assert set(shown) == places
    for name, (module, other) in shown.items():
        held = importlib.import_module(module)
        expected = getattr(held, other) if hasattr(held, other) else held
        assert getattr(package, name) is expected
        assert name in dir(package)


def test_a_name_that_is_nowhere_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="did you mean compile"):
        _ = compiler.cmpile
    assert not hasattr(compiler, "_ipython_display_") and not hasattr(svodviz, "__wrapped__")
