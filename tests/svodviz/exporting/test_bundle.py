"""The browser's modules as one script: imports and exports become constants and results."""

import shutil
import subprocess
from pathlib import Path

import pytest

from svodviz.exporting.bundle import bundle, constant, imported
from svodviz.exporting.script import bundled, modules

DOM = """export function h() { return 1; }
export const s = (x) => x + h();
const hidden = 3;
export async function wait() { return hidden; }
"""
GRAPH = """import { h, s as svg } from "../kit/dom.js";
import * as all from "../kit/dom.js";

export { h };
const hidden = 4;
export class Graph { size() { return svg(10) + all.h() + hidden; } }
export default { Graph };
"""


def test_forms() -> None:
    assert bundle([("views/graph.js", GRAPH)]) == (
        "const $views_graph = (() => {\n"
        "const { h, s: svg } = $kit_dom;\n"
        "const all = $kit_dom;\n\n\n"
        "const hidden = 4;\n"
        "class Graph { size() { return svg(10) + all.h() + hidden; } }\n\n\n"
        "return { Graph, h };\n})();\n"
    )


def test_a_path_leads_from_the_module_that_it_stands_in() -> None:
    text = 'import { a } from "./a.js";\nimport {\n  b,\n} from "../../b.js";\n'
    text += 'import * as c from "../c/d.js";\n'
    assert imported("x/y/z.js", text) == ["x/y/a.js", "b.js", "x/c/d.js"]


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on the path")
def test_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "all.mjs"
    say = "console.log(new $views_graph.Graph().size(), $views_graph.h(), await $kit_dom.wait());\n"
    path.write_text(bundle([("kit/dom.js", DOM), ("views/graph.js", GRAPH)]) + say)
    ran = subprocess.run(["node", path], capture_output=True, text=True, check=True)
    assert ran.stdout == "16 1 3\n"


@pytest.mark.parametrize(
    "text",
    ["export let count = 0;\n", 'import "./dom.js";\n', 'export * from "./dom.js";\n',
     "export default class {}\n", 'import { h } from "./dom.js"\n', "export const [a] = [1];\n"],
)  # fmt: skip
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"x\.js: a form of import or export that no page knows"):
        bundle([("x.js", text)])


@pytest.mark.parametrize("text", ['const a = "</script>";\n', "// <!-- here\n"])
def test_a_script_does_not_end_the_script_of_a_page(text: str) -> None:
    with pytest.raises(ValueError, match=r"x\.js: it would end the script"):
        bundle([("x.js", text)])


def test_a_page_has_every_module_once() -> None:
    script = bundled()
    names = [constant(name) for name, _ in modules()]
    assert len(set(names)) == len(names)
    assert all(script.count(f"const {name} = (() => {{\n") == 1 for name in names)
