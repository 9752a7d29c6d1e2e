"""Mistakes of learners in a notebook: what the cell shows is a page, with no line of ours."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.lib.pretty import pretty

import svodviz

START = """
import numpy as np
import compiler, svodviz
from compiler import Options, PASSES, Tensor, compile
from svodviz import explore
a = Tensor(np.ones((3, 4), np.float32), name="a")
b = Tensor(np.ones(5, np.float32), name="b")
"""
RULE = '@svodviz.rule("mul")\ndef mine({arguments}):\n    {body}\n'
USE = 'compile(a * 2.0, passes=PASSES.after("simplify", mine))'
MISTAKES: tuple[tuple[str, str, str, str], ...] = (
    # the cell; what is wrong, what was got; the line of the cell
    ("a @ b", "matmul: the axes to sum over differ: 4 and 5", "(3, 4) and (5,)", "cell 2:1"),
    ("c = 1\na + b", "add: the shapes do not fit together: axis -1 is 4 and 5",
     "(3, 4) and (5,)", "cell 2:2"),
    ("if a:\n    pass", "bool: the truth of a tensor needs exactly one element", "shape (3, 4)",
     "cell 2:1"),
    ("a.sum(axis=2)", "sum: axis 2 is out of range", "a tensor of rank 2", "cell 2:1"),
    ("a.sum(axis='rows')", "sum: extents and axes are integers", "('rows',)", "cell 2:1"),
    ("Tensor.stack([3, 4])", "stack: none of the arguments is a tensor", "list", "cell 2:1"),
    ("Tensor.cat([])", "cat: none of the arguments is a tensor", "list", "cell 2:1"),
    ("a.sum(axs=1)", "sum: there is no argument axs", "axs=1", "cell 2:1"),
    ("c = 1\na.permut(1, 0)", "Tensor: there is no attribute permut", "permut", "cell 2:2"),
    ("svodviz.explor(a)", "svodviz: there is no attribute explor", "explor", "cell 2:1"),
    ("np.histogram(a)", "np.histogram: this would leave the graph", "a Tensor", "cell 2:1"),
    ("explore(3)", "explore: there is nothing to explore in this", "int", "cell 2:1"),
    ("explore([1, 2])", "explore: there is nothing to explore in this", "list", "cell 2:1"),
    ("explore(None)", "explore: there is nothing to explore in this", "NoneType", "cell 2:1"),
    ("explore(np.ones(3))", "explore: there is nothing to explore in this", "ndarray",
     "cell 2:1"),
    ("explore(lambda x: x + 1)", "explore: the function needs other inputs:",
     "0 inputs for the function(x)", "cell 2:1"),
    ("explore(lambda x: 3, a)", "explore: the function gives nothing to explore", "int",
     "cell 2:1"),
    ("explore(a, 3)", "explore: example inputs are for functions", "Tensor and more", "cell 2:1"),
    ("svodviz.measure(3)", "measure: there is nothing to explore in this", "int", "cell 2:1"),
    ("svodviz.bisect(3)", "bisect: there is nothing to explore in this", "int", "cell 2:1"),
    ("svodviz.quiz(3)", "quiz: there is nothing to explore in this", "int", "cell 2:1"),
    ("svodviz.summary(3)", "summary: there is nothing to explore in this", "int", "cell 2:1"),
    ("svodviz.effect(compile(a + 1), 3)", "effect: this is no compilation", "int", "cell 2:1"),
    ("compile(3)", "compile: only tensors can be compiled", "int", "cell 2:1"),
    ("compile(a + 1, 5)", "compile: these are no options", "int", "cell 2:1"),
    ("compile(a + 1, passes='simplify')", "Options: these are no passes", "str", "cell 2:1"),
    ("compile(a + 1, passes=['simplify'])", "Options: these are no passes", "list", "cell 2:1"),
    ("PASSES.without('simplfy')", "passes: there is no pass simplfy", "simplfy", "cell 2:1"),
    ("compile(a + 1).run(a.numpy())", "run: these are no inputs",
     "ndarray", "cell 2:1"),
    (RULE.format(arguments="node", body="return elementwise('add', node, node)") + USE,
     "mine: the rule's own code fails on mul f32[3,4]",
     "NameError: name 'elementwise' is not defined", "cell 2:3"),
    (RULE.format(arguments="node", body="return node.nothing") + USE,
     "mine: the rule's own code fails on mul f32[3,4]",
     "AttributeError: 'Elementwise' object has no attribute 'nothing'", "cell 2:3"),
    (RULE.format(arguments="node", body="return 3") + USE,
     "mine: a rule returns a node, or None", "int", "cell 2:4"),
    (RULE.format(arguments="", body="return None"), "rule: a rule is called with one node",
     "mine()", "cell 2:1"),
    (RULE.format(arguments="node, other", body="return None"),
     "rule: a rule is called with one node", "mine(node, other)", "cell 2:1"),
)  # fmt: skip


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    made = InteractiveShell.instance()
    svodviz.load_ipython_extension(made)
    made.history_manager.enabled = False  # cells are counted anew for each test
    made.reset()
    made.run_line_magic("colors", "nocolor")
    made.run_cell(START, store_history=True)
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(started: Any) -> Any:
    """A shell whose next cell is the second."""
    started.execution_count = 2
    return started


def shown(shell: Any, cell: str) -> str:
    """The output of a cell that ends in an error."""
    chunks: list[str] = []
    shell._showtraceback = lambda kind, error, told: chunks.extend(told)
    shell.run_cell(cell, store_history=True)
    return "\n".join(chunks)


@pytest.mark.parametrize(("cell", "what", "got", "line"), MISTAKES)
def test_a_mistake_is_a_page(shell: Any, cell: str, what: str, got: str, line: str) -> None:
    first, *rows = shown(shell, cell).splitlines()
    assert first.split(": ", 1)[1].startswith(what)
    parts = {row[2:12].strip(): row[12:] for row in rows}
    assert parts["got:"] == got
    assert parts["expected:"]
    place, text = parts["line:"].split("  ", 1)
    assert place == line
    assert text == cell.splitlines()[int(line.split(":")[1]) - 1].strip()
    assert not any("compiler/" in row or "svodviz/" in row for row in rows)


def test_the_cells_that_led_there_are_named(shell: Any) -> None:
    shell.run_cell("def layer(x):\n    y = x.T\n    return y @ b", store_history=True)
    told = shown(shell, "c = 1\nlayer(a)")
    calls = "  calls:    cell 3:2  layer(a)\n  line:     cell 2:3  return y @ b\n"
    assert calls in told and told.count("cell 3:2") == 1


def test_errors_of_ours_come_with_all_their_lines(shell: Any) -> None:
    told = shown(shell, "raise compiler.core.errors.InternalError('p', 'q')")
    assert "Cell In[2], line 1" in told and "InternalError: p: q" in told


@pytest.mark.parametrize("state", ["stage='grap'", "foo=3", "view='pies'", "overlay='pounds'"])
def test_a_wrong_state_is_told_without_how_traits_are_set(shell: Any, state: str) -> None:
    told = shown(shell, f"explore(a + 1, {state})")
    assert "TraitError: state: " in told.splitlines()[-1]
    assert "traitlets.py" not in told


def test_magics_name_what_was_given(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("number = 3", store_history=True)
    shell.run_cell("%explore number", store_history=True)
    said = "".join(capsys.readouterr())
    assert "UsageError: %explore: number is of type int; expected a Tensor" in said


def test_arrays_for_a_function_become_tensors(shell: Any) -> None:
    made = shell.run_cell("explore(lambda x: x + 1, np.ones(3))", store_history=True).result
    assert made.compilation.run()[0].tolist() == [2, 2, 2]


ENDS = ("c.graph", "c.schedule", "c.loops[0]", "c.check()", "compiler.bisect(c)",
        "compiler.why_not(c, 'add_zero', 'graph:1')", "c.schedule.memory_plan",
        "svodviz.measure(c, seconds=0.01)", "svodviz.effect(c, c, measured=False)", "PASSES",
        "svodviz.compare(c, c)", "c.options.model", "c.llvm_passes('k0')")  # fmt: skip


@pytest.mark.parametrize("ends", ENDS)
def test_a_cell_that_ends_in_a_stage_shows_its_printed_form(shell: Any, ends: str) -> None:
    shell.run_cell("c = compile((a @ a.T).softmax())", store_history=True)
    value = shell.ev(ends)
    assert pretty(value) == str(value)
    assert type(value).__name__ + "(" not in str(value)
