"""The pipeline is the table: what runs is a row, and what is a row runs."""

import json
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, compile, prepare
from compiler.core.errors import InternalError
from compiler.core.node import Node
from compiler.core.passes import Step
from compiler.core.trace import Provenance
from compiler.graph.nodes import Sink
from compiler.graph.simplify import simplify
from compiler.loops import count
from compiler.loops.choices import Choices
from compiler.loops.nodes import Body
from compiler.pipeline import driver, machine_code, rows
from compiler.pipeline.rows import PIPELINE
from compiler.run import building
from compiler.run.realize import realize
from compiler.schedule.analysis import share
from compiler.schedule.kinds import KernelSink
from tests.rows import replace_row, watched

PACKAGE = Path(compiler.__file__).parent
WAYS: dict[str, Callable[[Tensor, Options], object]] = {
    "compile": lambda y, options: compile(y, options).run(),
    "prepare": lambda y, options: prepare(y, options).run(),
    "realise": lambda y, options: realize([y.node], options),
}


def compiled(options: Options) -> Choices:
    """The kernel of a softmax through all its stages."""
    x = Tensor(np.ones((64, 512), np.float32))
    (kernel,) = compile(x.softmax(1), options)._kernels
    return kernel.choices


@pytest.mark.parametrize("verify", (False, True))
@pytest.mark.parametrize("trace", (False, True))
def test_loops_are_verified_once_or_after_each_pass(
    verify: bool, trace: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Node] = []
    replace_row(monkeypatch, "loops.verify", seen.append)
    choices = compiled(Options(verify=verify, trace=trace))
    assert choices
    changes = [row for row in rows.rows("loops") if row.is_pass]
    if not verify:
        assert not seen
    elif trace:
        assert 2 < len(seen) <= len(changes)
    else:
        assert len(seen) == 2


def test_what_the_last_pass_leaves_broken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(body: Body, *rest: object) -> Body:
        return Body((*body.sources, body.sources[0].sources[1]))

    replace_row(monkeypatch, "loops.coalesce", broken)
    with pytest.raises(InternalError):
        compiled(Options())


# --- what is a row runs, what runs is a row -------------------------------------------------------


def ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


def programs() -> list[Tensor]:
    """Programs that have, together, a choice of each kind."""
    wide, square = ones(300, 2048), ones(600, 600)
    bytes_ = Tensor(np.ones((32, 64), np.int8)).cast("int32")
    return [ones(1 << 23).exp(), wide.softmax(1), square @ square.T, wide.sum(0), bytes_ @ bytes_.T]


@pytest.mark.parametrize("way", WAYS)
def test_every_row_runs(way: str) -> None:
    compiler.cache_clear()
    options = Options(threads=2, cache=False, machine="amd-zen4")
    with watched() as ran:
        for y in programs():
            WAYS[way](y, options)
    never = [row.place for row in PIPELINE if row not in ran]
    assert not never


@pytest.mark.parametrize("way", WAYS)
def test_nothing_runs_that_is_no_row(way: str) -> None:
    compiler.cache_clear()
    x = ones(64, 96)
    looped = compiler.repeat(3, lambda i, v: v * 2.0 + x.sum(), x)
    y = (looped.softmax(1) @ x.T).sum(0)
    calls = stage_calls(lambda: WAYS[way](y, Options(cache=False)))
    assert {caller for caller, *_ in calls} == {driver.__name__}
    found = {(module, name) for _, module, name in calls}
    rows = {(row.function.__module__, row.function.__name__) for row in PIPELINE}
    assert found <= rows
    chosen = {(row.function.__module__, row.function.__name__) for row in PIPELINE if row.is_chosen}
    assert rows - found <= chosen


FOLDERS = "graph", "schedule", "loops", "lowered", "llvm", "device"
STAGES = (*(f"compiler.{folder}." for folder in FOLDERS), machine_code.__name__)
ASIDE = share.__name__, count.__name__
"""Where buffers are is planned for a way to run, and the work of loops is counted for an estimate:
neither changes a program."""


def stage_calls(work: Callable[[], object]) -> set[tuple[str, str, str]]:
    """Caller, module and name of each function that `work` calls to change or check a program.

    That is what stands in a file that says what it ensures, as that of each pass must; what is
    called `verify`; what makes or loads machine code; and whatever gives another graph or body.
    Stages call one another as they like.
    """
    found: set[tuple[str, str, str]] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        is_root = event == "return" and has_root(argument)
        if (event == "call" or is_root) and frame.f_back is not None:
            caller = str(frame.f_back.f_globals.get("__name__"))
            if caller.startswith("compiler.") and not caller.startswith(STAGES):
                module, name = str(frame.f_globals.get("__name__")), frame.f_code.co_name
                if (is_root and is_of_a_stage(module, name)) or changes(module, name):
                    found.add((caller, module, name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def has_root(made: object) -> bool:
    """True if what a function gives is, or holds, the root of a graph or of a kernel."""
    parts = made if isinstance(made, tuple) else (made,)
    return any(isinstance(part, Sink | KernelSink | Body) for part in parts)


def is_of_a_stage(module: str, name: str) -> bool:
    """True if a function is one of a stage's that could change a program."""
    return (
        module.startswith(STAGES) and module not in ASIDE and not name.startswith(("<", "__"))
    )


def changes(module: str, name: str) -> bool:
    """True if a function changes or checks a program."""
    if not is_of_a_stage(module, name):
        return False
    words = sys.modules[module].__doc__ or ""
    return (
        "\nEnsures: " in words
        or name in ("verify", "compile_spec", "load")
        or module == machine_code.__name__
    )


def test_a_call_other_the_driver_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = building.scheduled

    def other(unit: Any, seconds: dict[str, float]) -> Any:
        simplify(unit.graph, Provenance(), None)
        return usual(unit, seconds)

    other.__globals__["__name__"], own = "compiler.other", __name__
    monkeypatch.setattr(building, "scheduled", other)
    try:
        calls = stage_calls(lambda: compile(ones(4) + 1.0))
    finally:
        other.__globals__["__name__"] = own
    assert ("compiler.other", "compiler.graph.simplify", "simplify") in calls


# --- a pass is a file and a row -------------------------------------------------------------------

PASS = '''"""{name}: leaves everything as it is, and counts how often it was asked.

    Before:  %0 = buffer x             f32[4]
    After:   %0 = buffer x             f32[4]

Relies on: nothing.
Ensures: what was true.
"""

COUNT = []


def {name}(root, provenance, matches=None):
    """`root`."""
    COUNT.append(root)
    return root
'''
ROW = """    Step("{stage}", "{name}", {name}, "nowhere in particular", True),
"""
USED = """
import json, sys
import numpy as np
import compiler
from compiler import Options, Tensor
from compiler.graph.counted import COUNT as on_graph
from compiler.loops.numbered import COUNT as on_loops
assert compiler.__file__.startswith(sys.argv[1])
x = Tensor(np.ones((8, 8), np.float32))
made = compiler.compile((x * 2.0).softmax(1))
assert made.check().ok
found = {"recorded": [record.name for record in made.passes], "counts": []}
def counted(run):
    before = len(on_graph), len(on_loops)
    run()
    found["counts"].append([len(on_graph) - before[0], len(on_loops) - before[1]])
counted(lambda: compiler.compile((x * 3.0).sum(1)))
counted(lambda: compiler.prepare((x * 4.0).sum(1)).run())
counted(lambda: (x * 5.0).sum(1).numpy())
print(json.dumps(found))
"""


def test_a_pass_is_a_file_and_a_row(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(PACKAGE, tmp_path / "compiler", ignore=ignored)
    table = package / Path(rows.__file__).relative_to(PACKAGE)
    text = table.read_text("utf-8")
    for stage, name, before in (
        ("graph", "counted", "simplify"), ("loops", "numbered", "vectorize"),
    ):  # fmt: skip
        (package / stage / f"{name}.py").write_text(PASS.format(name=name), "utf-8")
        row, place = ROW.format(stage=stage, name=name), f'    Step("{stage}", "{before}"'
        assert text.count(place) == 1
        text = text.replace(place, row + place)
        text = text.replace("\nfrom ", f"\nfrom compiler.{stage}.{name} import {name}\nfrom ", 1)
    table.write_text(text, "utf-8")
    ran = subprocess.run([sys.executable, "-c", USED, str(tmp_path)], cwd=tmp_path,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert not ran.returncode, ran.stderr
    found = json.loads(ran.stdout)
    names = Counter(found["recorded"])
    assert names["counted"] == 1 and names["numbered"] >= 1
    assert found["recorded"].index("counted") < found["recorded"].index("simplify")
    assert all(on_graph == 1 and on_loops >= 1 for on_graph, on_loops in found["counts"])


def drawing(rows: tuple[Step, ...]) -> str:
    """The rows by stage, passes in one word: as `compiler/README.md` draws them."""
    columns: dict[str, list[str]] = {}
    for row in rows:
        column = columns.setdefault(row.stage, [])
        word = "passes" if row.is_pass else row.name
        if not column or word != "passes" or column[-1] != word:
            column.append(word)
    titles = {stage: f"{stage}/" for stage in columns} | {"machine": "device/"}
    widths = {s: max(len(titles[s]) + 4, *(len(w) + 3 for w in c)) for s, c in columns.items()}
    height = max(map(len, columns.values()))
    head = "".join(f" ─▶ {titles[s]:<{widths[s] - 3}}" for s in columns)
    lines = [
        "".join(f"    {(c[n] if n < len(c) else ''):<{widths[s] - 3}}" for s, c in columns.items())
        for n in range(height)
    ]
    return "\n".join(line.rstrip() for line in (head, *lines))


def test_the_page_draws_the_rows() -> None:
    page = (PACKAGE / "README.md").read_text("utf-8")
    assert drawing(PIPELINE) in page, f"compiler/README.md should draw:\n{drawing(PIPELINE)}"


def test_another_pass_is_drawn_as_the_others_are() -> None:
    place = next(n for n, row in enumerate(PIPELINE) if row.name == "simplify")
    more = replace(PIPELINE[place], name="another")
    assert drawing((*PIPELINE[:place], more, *PIPELINE[place:])) == drawing(PIPELINE)
