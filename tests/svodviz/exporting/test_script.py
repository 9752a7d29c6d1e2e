"""The browser's modules as one script, in the order of their imports: imports and exports become
constants and results, and text is never parsed as markup."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from svodviz.exporting.script import (
    FOLDER,
    MAIN,
    bundle,
    bundled,
    constant,
    imported,
    modules,
    page_script,
    style_sheet,
    widget_module,
)

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
def test_imports_are_written_as_the_bundle_reads_them(name: str, text: str) -> None:
    lines = [it for it in text.splitlines() if re.search(r'from "|^import ', it)]
    code = [it for it in lines if not it.lstrip().startswith(("*", "//", "/*"))]
    assert all(re.search(r' from "\.\.?/[\w./]+\.js";$', it) for it in code)


def test_a_module_comes_after_what_it_imports() -> None:
    for position, (name, text) in enumerate(modules()):
        assert set(imported(name, text)) <= set(NAMES[:position])
    assert sum(len(imported(*it)) for it in modules()) > 150
    assert NAMES[-1] == MAIN
    assert set(NAMES) == {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js")}


def test_the_script_may_stand_in_a_page() -> None:
    assert "</script" not in page_script()
    assert widget_module().endswith("export default { initialize, render };\n")


def test_every_rule_stays_inside_the_explorer() -> None:
    text = re.sub(r"/\*.*?\*/", "", style_sheet(), flags=re.DOTALL)
    selectors = re.findall(r"(?:^|[{}])\s*([^{}@;]+?)\s*\{", text)
    inner = re.compile(r"\([^()]*\)")  # of :is(…) and the like, which are parts of a selector
    selectors = [inner.sub("", inner.sub("", it)) for it in selectors]
    ones = [one.strip() for it in selectors for one in it.split(",")]
    outside = [it for it in ones if not it.startswith(".svodviz") and it not in ("from", "to")]
    assert len(selectors) > 100
    assert outside == []
