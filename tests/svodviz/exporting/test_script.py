"""The browser's part: bundled in the order of its imports, never parsing text as markup."""

import re

import pytest

from svodviz.exporting.bundle import imported
from svodviz.exporting.script import FOLDER, MAIN, modules, page_script, style_sheet, widget_module

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
