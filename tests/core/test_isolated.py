"""Processes of their own load nothing from the folder that they are started in."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.core import isolated

ROOT = Path(__file__).parents[2]
HIDDEN = ("pygraphviz", "llvmlite", "json", "types", "runpy", "signal", "networkx", "compiler",
          "sitecustomize", "usercustomize")  # fmt: skip
PROGRAM = """
import sys
sys.path[:] = [each for each in sys.path if each not in ("", {here!r})]
import numpy as np
import compiler
from svodviz.drawing import layout, layout_jobs
from svodviz.exporting import save
from compiler.llvm import apart
made = compiler.compile(compiler.Tensor(np.ones(5)).exp(), compiler.Options(cache=False))
assert made.llvm_passes("k0") and str(made.assembly_for("arm-neon"))
assert save.rasterize("digraph {{ a -> b }}").startswith(b"\\x89PNG")
box = {{"boxes": [[10, 10, ""]] * 2, "edges": [[0, 1]]}}
assert len(layout._in_a_worker({{**box, "quick": True}}, 60.0)["places"]) == 2
job = layout_jobs.start(None, box, None)
found = layout_jobs.look(None, job, None)
while found["state"] == "running":
    found = layout_jobs.look(None, job, None)
assert found["state"] == "done", found
print("done")
"""


@pytest.mark.parametrize("paths", ("{root}", ":{root}", ".:{root}", "{root}:{here}"))
def test_no_process_loads_what_is_in_the_current_folder(paths: str, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    program = tmp_path / "elsewhere" / "program.py"
    here = tmp_path / "here"
    program.parent.mkdir()
    here.mkdir()
    program.write_text(PROGRAM.format(here=str(here)), "utf-8")
    customs = ("sitecustomize", "usercustomize")  # Python itself loads them in the first process
    for name in HIDDEN:
        if paths == "{root}" or name not in (*customs, "types", "signal", "json", "runpy"):
            text = f"open({str(tmp_path / 'was_run')!r}, 'a').write({name!r})"
            (here / f"{name}.py").write_text(text, "utf-8")
    settings = {**os.environ, "PYTHONPATH": paths.format(root=ROOT, here=here)}
    ended = subprocess.run(
        [sys.executable, str(program)], cwd=here, env=settings, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert ended.stdout == "done\n", ended.stderr
    assert not (tmp_path / "was_run").exists()


def test_a_process_finds_what_this_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra, here = tmp_path / "extra", tmp_path / "here"
    extra.mkdir()
    here.mkdir()
    (extra / "only_there.py").write_text("answer = 42", "utf-8")
    (here / "only_here.py").write_text("answer = 43", "utf-8")
    monkeypatch.setattr(sys, "path", ["", str(here), *sys.path, str(extra)])
    monkeypatch.chdir(here)
    asked = """
import importlib.util, json, sys
import only_there, numpy
known = importlib.util.find_spec("only_here") is not None
print(json.dumps([only_there.answer, known, sys.argv[1:], sys.flags.isolated]))
"""
    for command in (isolated.command(asked, "a"), isolated.script(str(tmp_path / "s.py"), "a")):
        (tmp_path / "s.py").write_text(asked, "utf-8")
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert json.loads(ended.stdout or "0") == [42, False, ["a"], 1], ended.stderr


def test_python_is_started_in_one_way() -> None:
    """No other file of the packages names the interpreter."""
    found = [
        file.relative_to(ROOT)
        for folder in ("compiler", "svodviz")
        for file in (ROOT / folder).rglob("*.py")
        if any(isinstance(node, ast.Attribute) and node.attr == "executable"
               for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    ]  # fmt: skip
    assert found == [Path("compiler/core/isolated.py")]
