"""Explorers that follow the names of their programs in a shell."""

import gc
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import traitlets
from IPython.core.interactiveshell import InteractiveShell

from svodviz.widget import following
from svodviz.widget.explorer import Explorer
from svodviz.widget.revisions import MOST_REVISIONS
from svodviz.wire import later

PREPARE = """\
import numpy as np, svodviz
from compiler import Tensor, compile
x = Tensor(np.ones((8, 4), 'float32'))
"""
FIRST = "def f(x):\n    return (x + 1.0).relu()"
SECOND = "def f(x):\n    return (x * 3.0 + 1.0).relu()"


RUNS = itertools.count()  # each run of a cell has a name of its own


class Notebook:
    """A shell that gets the id of the running cell, as from JupyterLab."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.parent: dict[str, Any] = {}
        shell.kernel = None

    def get_parent(self, channel: str) -> dict[str, Any]:
        return self.parent

    def run(self, text: str, cell: str = "") -> Any:
        """Runs a cell; where it has an id the front end says so."""
        header = {"msg_id": f"run {next(RUNS)}"}
        self.parent = {"metadata": {"cellId": cell}, "header": header}
        self.shell.kernel = self if cell else None
        return self.shell.run_cell(text, store_history=True)

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    shell = InteractiveShell.instance()
    made = Notebook(shell)
    made.run(PREPARE)
    yield made
    for explorer in list(following._programs):
        explorer.close()
    InteractiveShell.clear_instance()


@pytest.fixture
def explorer(notebook: Notebook) -> Explorer:
    notebook.run(FIRST)
    notebook.run("e = svodviz.explore(f, x)")
    found: Explorer = notebook["e"]
    return found


def ops(explorer: Explorer) -> list[str]:
    """The operations of the graph on screen."""
    return [str(it) for _, it in explorer.compilation.graph.to_networkx().nodes(data="op")]


def test_a_function_defined_anew_is_the_next_revision(
    notebook: Notebook, explorer: Explorer
) -> None:
    assert "mul" not in ops(explorer)
    notebook.run(SECOND)
    assert explorer.revision == 2 and "mul" in ops(explorer)
    live = explorer.live
    assert (live["first"], live["count"], live["names"]) == (1, 2, ["f"])
    assert live["words"].startswith("1 line of source, ") and "assembly changed" in live["words"]
    assert explorer.wire["entities"] == explorer.revisions[1].data["entities"]


def test_marks_are_of_what_changed(notebook: Notebook, explorer: Explorer) -> None:
    notebook.run(SECOND)
    (source,) = explorer.changes["source"]["units"]
    lines = explorer.wire["stages"][0]["units"][0]["lines"]
    assert [(lines[at][0].strip(), sign) for at, sign in source["lines"]] == [
        ("return (x * 3.0 + 1.0).relu()", "~")
    ]
    nodes = {
        explorer.wire["entities"][entity]: mark
        for entity, mark in explorer.changes["graph"]["units"][0]["nodes"]
    }
    marked = {explorer.compilation.graph.to_networkx().nodes[it]["op"]: mark
              for it, mark in nodes.items()}  # fmt: skip
    assert marked["mul"] == "added" and marked["add"] == "changed"


@pytest.mark.parametrize("again", [FIRST, "y = 3", "g = f"])
def test_what_is_the_same_is_no_revision(
    notebook: Notebook, explorer: Explorer, again: str
) -> None:
    notebook.run(again)
    assert explorer.revision == 1 and len(explorer.revisions) == 1


def test_a_comment_is_a_revision(notebook: Notebook, explorer: Explorer) -> None:
    """The page shows it, and finds the cell by its text."""
    notebook.run(FIRST.replace("\n", "  # a\n"))
    assert explorer.revision == 2
    assert explorer.live["words"] == "1 line of source changed"


def test_helpers_constants_and_inputs_are_followed(notebook: Notebook) -> None:
    notebook.run("SCALE = 2.0")
    notebook.run("def g(x):\n    return x * SCALE")
    notebook.run("def f(x):\n    return g(x).relu()")
    notebook.run("e = svodviz.explore(f, x)")
    explorer = notebook["e"]
    notebook.run("def g(x):\n    return x * SCALE + 1.0")
    assert explorer.revision == 2 and "add" in ops(explorer)
    notebook.run("SCALE = 5.0")
    assert explorer.revision == 3
    notebook.run("x = Tensor(np.ones((2, 4), 'float32'))")
    assert explorer.revision == 4
    assert explorer.compilation.results[0].shape == (2, 4)


@pytest.mark.parametrize("how", ["explore(y)", "explore([y])", "explore(c)", "explore(f, x)"])
def test_every_subject_with_a_name_is_followed(notebook: Notebook, how: str) -> None:
    made = "y = f(x); c = compile(y)"
    notebook.run(FIRST)
    notebook.run(made)
    notebook.run(f"e = svodviz.{how}")
    explorer = notebook["e"]
    notebook.run(SECOND)
    notebook.run(made)
    assert explorer.revision == (1 if "[" in how else 2)  # a list that has no name is not followed


def test_the_place_is_kept(notebook: Notebook, explorer: Explorer) -> None:
    relu = next(it for it, op in explorer.compilation.graph.to_networkx().nodes(data="op")
                if op == "relu")  # fmt: skip
    position = len(explorer.compilation.passes) - 1
    name = explorer.compilation.passes[position].name
    explorer.state = {"stage": "passes", "pass": position, "selected": relu, "folding": "none"}
    notebook.run(SECOND)
    state = explorer.state
    assert (state["stage"], state["folding"]) == ("passes", "none")
    assert explorer.compilation.passes[state["pass"]].name == name
    chosen = explorer.compilation.graph.to_networkx().nodes[state["selected"]]
    assert chosen["op"] == "relu"
    assert explorer.selected is not None
    explorer.revision = 1
    assert explorer.state["selected"] == relu


def test_an_error_leaves_the_last_good_revision(notebook: Notebook, explorer: Explorer) -> None:
    notebook.run("def f(x):\n    y = x.T\n    return x @ x")
    problem = explorer.live["problem"]
    assert explorer.revision == 1
    assert problem["words"].startswith("ShapeError: matmul")
    assert problem["text"] == "return x @ x" and problem["place"].endswith(":3")
    notebook.run("print('nothing')")
    assert explorer.live["problem"] == problem
    notebook.run(SECOND)
    assert explorer.live["problem"] is None and explorer.revision == 2


def test_revisions_are_shown_again_and_bounded(notebook: Notebook, explorer: Explorer) -> None:
    first = weakref.ref(explorer.compilation)
    for number in range(MOST_REVISIONS):
        notebook.run(f"def f(x):\n    return x + {number}.5")
    numbers = [it.number for it in explorer.revisions]
    assert numbers == list(range(2, MOST_REVISIONS + 2))
    assert (explorer.live["first"], explorer.live["count"]) == (2, MOST_REVISIONS + 1)
    explorer.revision = 2
    assert explorer.compilation is explorer.revisions[0].compilation
    assert "0.5" in "\n".join(it[0] for it in explorer.wire["stages"][0]["units"][0]["lines"])
    with pytest.raises(traitlets.TraitError, match="revision: 1; there are"):
        explorer.revision = 1
    gc.collect()
    assert first() is None


@pytest.mark.parametrize("today", ["revision", "revisions"])
def test_earlier_names_are_refused_with_todays(explorer: Explorer, today: str) -> None:
    name = today.replace("revis", "edit")
    with pytest.raises(AttributeError, match=f"{name} was renamed: write {today}$"):
        getattr(explorer, name)
    with pytest.raises(AttributeError, match=f"{name} was renamed: write {today}$"):
        setattr(explorer, name, 1)


def test_the_same_cell_gives_the_same_explorer_with_what_is_new(notebook: Notebook) -> None:
    notebook.run(FIRST)
    call = "e = svodviz.explore(f, x, stage='loops')"
    notebook.run(call, cell="a")
    explorer = notebook["e"]
    explorer.state = {"stage": "schedule"}
    notebook.run(f"{SECOND}\n{call}", cell="a")
    assert notebook["e"] is explorer
    assert explorer.revision == 2 and explorer.state["stage"] == "schedule"
    assert explorer.changes["graph"]["count"]
    notebook.run(call.replace("loops", "asm"), cell="a")
    assert notebook["e"] is explorer and explorer.state["stage"] == "asm"
    notebook.run(call, cell="b")
    assert notebook["e"] is not explorer
    explorer.close()
    notebook.run(call, cell="a")
    assert notebook["e"] is not explorer


def test_what_is_tried_more_is_shown(notebook: Notebook) -> None:
    """The same program, compiled again, has the additional requests."""
    notebook.run(FIRST)
    notebook.run("e = svodviz.explore(f, x)", cell="a")
    explorer = notebook["e"]
    notebook.run("e = svodviz.explore(f, x, check=True)", cell="a")
    assert notebook["e"] is explorer and explorer.revision == 1
    assert explorer.wire["checks"] and explorer.checks
    notebook.run("c = compile(f(x))")
    notebook.run("p = svodviz.playground(c)", cell="b")
    before = str(notebook["p"].wire["playground"])
    notebook.run("p = svodviz.playground(c, choices=['unroll i0'])", cell="b")
    assert str(notebook["p"].wire["playground"]) != before
    assert len(notebook["p"].revisions) == 1


def test_a_cell_under_the_magic_is_followed(notebook: Notebook) -> None:
    notebook.run("%load_ext svodviz")
    cell = "%%explore\ny = (x + 1.0).relu()"
    explorer = notebook.run(cell, cell="a").result
    assert [it["text"] for it in explorer.live["cells"]][-1] == cell
    assert notebook.run(cell.replace("1.0", "2.0"), cell="a").result is explorer
    assert explorer.revision == 2


def test_the_call_is_no_part_of_the_program(notebook: Notebook) -> None:
    """Its cell is shown where it ran, and not where a revision followed another cell."""
    call = "e = svodviz.explore(f, x)"
    notebook.run(FIRST)
    notebook.run(call, cell="a")
    notebook.run(SECOND)
    assert notebook["e"].revision == 2
    notebook.run(call, cell="a")
    assert notebook["e"].revision == 2
    notebook.run(call + "  # again", cell="a")
    assert notebook["e"].revision == 2


def test_calls_of_one_run_are_several_explorers(notebook: Notebook) -> None:
    notebook.run(FIRST)
    notebook.run("all = [svodviz.explore(f, x) for _ in range(2)]", cell="a")
    first, second = notebook["all"]
    assert first is not second
    notebook.run("all = [svodviz.explore(f, x) for _ in range(2)]", cell="a")
    assert [it is other for it, other in zip(notebook["all"], (first, second), strict=True)] == [
        True, True
    ]  # fmt: skip


def test_without_names_of_cells_the_last_one_follows(
    notebook: Notebook, explorer: Explorer
) -> None:
    notebook.run("other = svodviz.explore(f, x)")
    notebook.run("third = svodviz.explore(f(x))")
    notebook.run(SECOND)
    assert (explorer.revision, notebook["other"].revision) == (1, 2)


def test_nothing_is_looked_at_once_all_are_closed(notebook: Notebook, explorer: Explorer) -> None:
    callbacks = notebook.shell.events.callbacks["post_run_cell"]
    assert following.after_cell in callbacks
    notebook.run("y = f(x)")
    notebook.run("other = svodviz.explore(y)")
    assert callbacks.count(following.after_cell) == 1
    explorer.close()
    notebook["other"].close()
    assert following.after_cell not in callbacks
    notebook.run(SECOND)
    assert explorer.revision == 1


def test_cells_are_as_the_notebook_has_them(notebook: Notebook) -> None:
    text = f"%precision 3\n{FIRST}"
    notebook.run(text)
    notebook.run("from tests.svodviz.conftest import softmax_layer\n"
                 "def g(x):\n    return softmax_layer() + f(x).sum()\n"
                 "e = svodviz.explore(g, x)")  # fmt: skip
    rows = notebook["e"].live["cells"]
    by_file = {it["name"]: it for it in rows}
    assert by_file["conftest.py"]["text"] == ""
    assert by_file["conftest.py"]["why"].startswith("it is a file")
    ours = next(it for it in rows if it["text"] == text)
    assert ours["why"] == ""
    lines = [it[0] for it in notebook["e"].wire["stages"][0]["units"][0]["lines"]]
    shown = lines[ours["first"] : ours["first"] + ours["lines"]]
    assert FIRST.splitlines() == [it for it in shown if it][-2:]
    assert rows[notebook["e"].live["cell"]]["text"].startswith("from tests")


def test_what_takes_long_follows(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "LARGE", 0)
    notebook.run(FIRST)
    notebook.run("e = svodviz.explore(f, x)", cell="a")
    explorer = notebook["e"]
    arrived = []
    explorer.observe(lambda change: arrived.append("asm" in explorer.changes), "later")
    notebook.run(SECOND, cell="b")
    assert arrived == [False, True]  # the page had the rest before
    assert explorer.changes["asm"]["units"] and "assembly" in explorer.live["words"]
    explorer.revision = 1
    assert explorer.later["stages"] and not explorer.changes


def test_a_page_cannot_say_what_is_compiled(notebook: Notebook, explorer: Explorer) -> None:
    """All that a page sends of revisions is a number: no text of it is compiled or executed."""
    text = "hacked = 1"
    cell = {"name": "f", "first": 0, "lines": 1, "text": text, "why": ""}
    live = {**explorer.live, "names": [text], "cells": [cell]}
    for state in ({"live": live}, {"revision": 1}, {"changes": {"source": text}}):
        explorer.set_state(state)
    for name in ("edit", "run", "execute", "revision", "follow"):
        sent: list[Any] = []
        explorer.send = lambda content, *_, sent=sent: sent.append(content)
        message = {"kind": "request", "id": 1, "name": name, "arguments": {"text": text}}
        explorer._handle_custom_msg(message, [])
        assert [it["kind"] for it in sent] == ["failure"]
    notebook.run(SECOND)
    assert "hacked" not in notebook.shell.user_ns
    assert explorer.live["names"] == ["f"]
    with pytest.raises(traitlets.TraitError):
        explorer.set_state({"revision": 7})
