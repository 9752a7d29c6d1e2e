"""The browser's part: bundled in the order of its imports, never parsing text as markup."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from svodviz.script import FOLDER, loader, modules, style_sheet, widget_module

PARSERS = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser",
           "createContextualFragment", "eval(", "new Function", "srcdoc", "setHTML")  # fmt: skip
NAMES = [name for name, _ in modules()]


@pytest.mark.parametrize(("name", "text"), modules(), ids=NAMES)
def test_text_is_never_parsed_as_markup(name: str, text: str) -> None:
    assert not [it for it in PARSERS if it in text]


@pytest.mark.parametrize(("name", "text"), modules(), ids=NAMES)
def test_nothing_is_named_for_the_whole_page(name: str, text: str) -> None:
    assert not re.search(r"\bid:|getElementById|setAttribute\(\"id\"", text)


@pytest.mark.parametrize(("name", "text"), modules(), ids=NAMES)
def test_imports_are_written_as_the_loader_reads_them(name: str, text: str) -> None:
    lines = [it for it in text.splitlines() if re.search(r'from "|^import ', it)]
    code = [it for it in lines if not it.lstrip().startswith(("*", "//", "/*"))]
    assert all(re.search(r' from "\./\w+\.js";$', it) for it in code)


def test_a_module_comes_after_what_it_imports() -> None:
    for position, (_, text) in enumerate(modules()):
        needed = set(re.findall(r'from "\./(\w+\.js)"', text))
        assert needed <= set(NAMES[:position])
    assert NAMES[-1] == "main.js"
    assert set(NAMES) == {path.name for path in FOLDER.glob("*.js")}


def test_the_loader_may_stand_in_a_page() -> None:
    assert "</script" not in loader()
    assert widget_module().endswith("export default { render };\n")


def test_every_rule_stays_inside_the_explorer() -> None:
    text = re.sub(r"/\*.*?\*/", "", style_sheet(), flags=re.DOTALL)
    selectors = re.findall(r"(?:^|[{}])\s*([^{}@;]+?)\s*\{", text)
    outside = [one.strip() for it in selectors for one in it.split(",")
               if not one.strip().startswith(".svodviz") and one.strip() != "from"]  # fmt: skip
    assert len(selectors) > 100
    assert outside == []


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node on the path: the page's pure modules are tested through pages only")
    return found


def run(node: str, folder: Path, imports: str, expression: str) -> Any:
    """The value of a JavaScript expression over the explorer's modules."""
    script = folder / "test.mjs"
    for path in FOLDER.glob("*.js"):
        shutil.copy(path, folder / path.name)
    (folder / "package.json").write_text('{"type": "module"}')
    script.write_text(f"{imports}\nconsole.log(JSON.stringify({expression}));\n")
    done = subprocess.run([node, str(script)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def closure_of(node: str, folder: Path, start: str, parents: dict[str, list[str]]) -> set[str]:
    names = list(parents)
    numbers = [[names.index(it) for it in parents[name]] for name in names]
    found = run(
        node, folder, 'import { childrenOf, closure } from "./links.js";\n'
        f"const names = {json.dumps(names)};\nconst parents = {json.dumps(numbers)};\n"
        'const stageOf = (it) => names[it].split(":")[0];',
        f"[...closure({names.index(start)}, parents, childrenOf(parents), stageOf)]",
    )  # fmt: skip
    return {names[it] for it in found}


CHAIN = {
    "source:1": [], "source:2": [],
    "graph:1": ["source:1"], "graph:2": ["source:2"],
    "kernels:1": ["graph:1", "graph:2"], "schedule:0": ["kernels:1"],
    "loops:0:1": ["schedule:0", "graph:1"], "loops:0:2": ["schedule:0", "graph:2"],
    "loops:0:head": ["schedule:0"], "llvm:0:1": ["loops:0:1"],
}  # fmt: skip


@pytest.mark.parametrize(("start", "missing"), [
    # A line that names its own node is not linked to the others of its kernel, nor back.
    ("llvm:0:1", {"source:2", "graph:2", "loops:0:2", "loops:0:head"}),
    ("graph:2", {"source:1", "graph:1", "loops:0:1", "loops:0:head", "llvm:0:1"}),
    # What names only the whole kernel is linked to all of it above, and a kernel to everything.
    ("loops:0:head", {"loops:0:1", "loops:0:2", "llvm:0:1"}),
    ("schedule:0", set()),
    ("kernels:1", set()),
])  # fmt: skip
def test_links_take_the_finest_way(
    node: str, tmp_path: Path, start: str, missing: set[str]
) -> None:
    assert closure_of(node, tmp_path, start, CHAIN) == set(CHAIN) - missing


def test_frames_go_forward_back_and_whole(node: str, tmp_path: Path) -> None:
    film = {"passes": [
        {"start": {"n+": [0, 1], "e+": [0]}, "layout": 0,
         "steps": [{"n+": [2], "n-": [1], "e+": [1], "e-": [0]}, {"set": [[0, {"op": "b"}]]}]},
        {"start": {"n-": [0]}, "steps": [], "layout": 1},
    ]}  # fmt: skip
    answers = run(
        node, tmp_path,
        f'import {{ stepOf }} from "./frames.js";\nconst film = {json.dumps(film)};',
        "[[0, 0], [0, 1], [0, 2], [0, -1], [1, 0]].map(([shot, step]) => {"
        " const it = stepOf(film, shot, step);"
        " return [[...it.frame.nodes], [...it.added], [...it.removed], [...it.changed]]; })",
    )  # fmt: skip
    assert answers == [
        [[0, 1], [], [], []],
        [[0, 2], [2], [1], []],
        [[0, 2], [], [], [0]],
        [[0, 2], [2], [1], [0]],
        [[2], [], [], []],
    ]


def test_zoom_keeps_the_point_under_the_pointer(node: str, tmp_path: Path) -> None:
    x, y, scale = run(
        node, tmp_path, 'import { Camera } from "./geometry.js";'
        "const it = new Camera(10, 20, 0.5).zoomed(2, 110, 220);", "[it.x, it.y, it.scale]",
    )  # fmt: skip
    assert scale == 1
    assert ((110 - x) / scale, (220 - y) / scale) == ((110 - 10) / 0.5, (220 - 20) / 0.5)


@pytest.mark.parametrize(("box", "whole"), [
    ([0, 0, 100, 100], False), ([0, 0, 5000, 9000], True), ([-50, 20, 400, 300], False),
])  # fmt: skip
def test_fit_shows_all(node: str, tmp_path: Path, box: list[int], whole: bool) -> None:
    left, top, right, bottom = run(
        node, tmp_path, 'import { fit } from "./geometry.js";',
        f"fit({box}, 800, 600, {json.dumps(whole)}).view(800, 600)",
    )  # fmt: skip
    assert left <= box[0]
    assert top <= box[1]
    assert right >= box[2]
    assert bottom >= box[3]


def test_arrowheads_point_along_their_edge(node: str, tmp_path: Path) -> None:
    made = run(node, tmp_path, 'import { arrow } from "./geometry.js";',
               'arrow("M0 0C0 10 0 20 0 30L0 40")')  # fmt: skip
    assert made["d"] == "M0 0C0 10 0 20 0 30L0 40M2.9 33.6L0 40L-2.9 33.6"
    assert made["box"] == [0, 0, 0, 40]


@pytest.mark.parametrize("line", [
    "%v1 = load <8 x float>, ptr %p, align 32  ; lowered 10", "x = y # 1", "store out[i*32] = h",
    "    vfmadd231ps zmm0, zmm8, dword ptr [rsi + 4*rax]{1to16}", "", "</script>", '"open',
])  # fmt: skip
def test_tokens_lose_nothing(node: str, tmp_path: Path, line: str) -> None:
    imports = 'import { tokens } from "./tokens.js";'
    pieces = run(node, tmp_path, imports, f"tokens({json.dumps(line)})")
    assert "".join(text for text, _ in pieces) == line


def test_ticks_of_the_axis_are_round(node: str, tmp_path: Path) -> None:
    imports = 'import { niceStep } from "./timeline.js";'
    wishes = "[[17600, 7], [1, 4], [99, 10]]"
    steps = run(node, tmp_path, imports, f"{wishes}.map((it) => niceStep(...it))")
    assert steps == [5000, 0.5, 10]
