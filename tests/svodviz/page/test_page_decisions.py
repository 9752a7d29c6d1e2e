"""Decisions in the page: their numbers, what was refused, and what the page remembers of views."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

from compiler import PASSES, Options, Tensor, compile, rule
from compiler.core.reason import Decision
from compiler.graph.nodes import elementwise
from compiler.program.compilation import Compilation
from svodviz.widget.explorer import Explorer
from svodviz.wire.machine_code import recorded
from tests.svodviz.answering import answered_page
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state

pytestmark = pytest.mark.browser


def values(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).normal(size=shape).astype(np.float32))


@pytest.fixture(scope="module")
def compilation() -> Compilation:
    x = values(64, 256)
    for _ in range(3):
        x = (x - x.mean(1, keepdim=True)).exp().contiguous()
    mean = values(512, 64).mean(0)
    results = [(x @ values(256, 48)).relu(), mean + 1.0, (mean * 2.0).expand(32, 64).sum(0)]
    return compile(results, Options(threads=2), name="chain")


@pytest.fixture(scope="module")
def answers(compilation: Compilation) -> Any:
    """All that the page can ask of LLVM, with the answers."""
    return recorded(compilation)


@pytest.fixture(scope="module")
def chain_page(compilation: Compilation, exported: Exported) -> Path:
    return exported(Explorer(compilation))


def shown(page: Any) -> list[tuple[str, list[str]]]:
    """The decisions in the inspector: the sentence, and the rows of its numbers."""
    return [
        (it.locator("p").first.inner_text(),
         [" ".join(row.inner_text().split()) for row in it.locator(".looked-at tr").all()])
        for it in page.locator(".inspector .decision").all()
    ]  # fmt: skip


def rows_of(each: Decision) -> list[str]:
    return [
        " ".join(filter(None, (*cells, against and f"({against})")))
        for *cells, against in (number.cells for number in each.numbers)
    ]


@pytest.mark.parametrize(("kind", "taken"), [("fuse", True), ("fuse", False), ("inline", True)])
def test_a_node_shows_its_decision_with_the_numbers(
    open_page: Open, chain_page: Path, compilation: Compilation, kind: str, taken: bool
) -> None:
    found = [d for d in compilation.decisions if (d.kind, d.taken) == (kind, taken) and d.numbers]
    assert found
    page = open_page(chain_page)
    set_state(page, stage="graph", selected=found[0].subject)
    sign = "✓" if taken else "✗"
    assert (f"{sign} {kind} {found[0].reason}", rows_of(found[0])) in shown(page)


def test_a_kernel_shows_what_was_refused(
    open_page: Open, chain_page: Path, compilation: Compilation
) -> None:
    page = open_page(chain_page)
    loops = compilation.loops[0]
    set_state(page, stage="loops", unit=0, selected=loops.entity(loops.body))
    refused = [d for d in compilation.decisions
               if d.subject == loops.entity(loops.body) and not d.taken]  # fmt: skip
    assert refused
    for each in refused:
        assert (f"✗ {each.kind} {each.reason}", rows_of(each)) in shown(page)
    assert page.locator(".choices .looked-at").count() >= 1


def test_a_buffer_shows_whose_memory_it_cannot_use(
    open_page: Open, chain_page: Path, compilation: Compilation
) -> None:
    page = open_page(chain_page)
    set_state(page, stage="schedule", view="memory")
    told = {f"✗ share {d.reason}" for d in compilation.decisions
            if d.kind == "share" and d.reason.startswith("not with")}  # fmt: skip
    found = set()
    for place in page.locator(".place").all():
        place.dispatch_event("click")
        found |= {words for words, _ in shown(page) if words.startswith("✗ share not with")}
        assert page.locator(".inspector").get_by_text("Memory plan").count() == 1
    assert told and found == told


def test_the_state_has_machine_level_and_critical_path(
    open_page: Open, compilation: Compilation, answers: Any, tmp_path: Path
) -> None:
    wanted = {"stage": "asm", "view": "machine", "machine": "wasm", "level": 2, "llvm_pass": 3,
              "critical": True}  # fmt: skip
    explorer = Explorer(compilation, **wanted)
    assert {name: explorer.state[name] for name in wanted} == wanted
    for name, wrong in (("machine", "abacus"), ("level", 7), ("llvm_pass", -1), ("critical", 2)):
        with pytest.raises(traitlets.TraitError, match=name):
            explorer.state = {name: wrong}
    explorer.recorded = answers
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert {name: state(page)[name] for name in wanted} == wanted
    assert page.get_by_label("Machine", exact=True).input_value() == "wasm"
    page.get_by_label("Machine", exact=True).select_option("riscv-v")
    assert state(page)["machine"] == "riscv-v"
    set_state(page, stage="llvm_passes", level=-1, llvm_pass=2)
    page.wait_for_selector('.llvm-pass[aria-current="true"]')
    current = page.locator('.llvm-pass[aria-current="true"]')
    assert current.get_attribute("data-position") == "2"
    page.locator(".llvm-pass").nth(1).click()
    assert state(page)["llvm_pass"] == 1
    set_state(page, stage="schedule", view="timeline")
    page.locator(".svodviz").focus()
    page.keyboard.press("c")
    assert state(page)["critical"] is False
    page.keyboard.press("c")
    assert state(page)["critical"] is True
    page.keyboard.press("Escape")
    assert state(page)["critical"] is False


def test_webassembly_has_blocks_and_loops(
    open_page: Open, compilation: Compilation, answers: Any, tmp_path: Path
) -> None:
    explorer = Explorer(compilation, stage="asm", view="machine", machine="wasm")
    explorer.recorded = answers
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    page.wait_for_selector(".block-head")
    heads = page.locator(".block-head").all_inner_texts()
    assert any(it.startswith(".LBB") and "head of a loop" in it for it in heads)
    assert page.locator(".jump.back").count() >= 1
    words = page.locator(".machine-words").inner_text()
    assert "blocks" in words and "loop" in words and "only blocks" in words


@pytest.fixture(scope="module")
def wide_page(exported: Exported) -> Path:
    """Many chains side by side: where one looks closely at their middle, nodes are all around."""
    x = values(4, 4)
    results = []
    for n in range(2, 14):
        results.append(x * float(n))
        for _ in range(3):
            results[-1] = results[-1].exp().sqrt().neg().abs()
    return exported(Explorer(compile(results), stage="graph", folding="none"))


@pytest.mark.parametrize("width", [993, 1440])
def test_nothing_lies_over_the_nodes(open_page: Open, wide_page: Path, width: int) -> None:
    page = open_page(wide_page, width=width)
    for _ in range(4):
        page.get_by_label("Zoom in").click()
        page.wait_for_timeout(60)
    assert page.locator(".minimap").is_visible()
    graph = page.locator(".graph").bounding_box()
    for selector in (".minimap", ".zoom", ".graph-tools"):
        box = page.locator(selector).bounding_box()
        is_beside = (box["x"] >= graph["x"] + graph["width"] - 1
                     or box["y"] + box["height"] <= graph["y"] + 1
                     or box["y"] >= graph["y"] + graph["height"] - 1)  # fmt: skip
        assert is_beside, selector


def test_the_minimap_moves_the_view(open_page: Open, wide_page: Path) -> None:
    page = open_page(wide_page, width=1000)
    for _ in range(4):
        page.get_by_label("Zoom in").click()
        page.wait_for_timeout(60)
    world, box = page.locator(".graph > g"), page.locator(".minimap-view").bounding_box()
    before = world.get_attribute("transform")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 12, box["y"] + 6, steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    assert world.get_attribute("transform") != before
    assert state(page)["selected"] == "", "a drag selects nothing"


def test_the_page_says_which_values_were_not_computed(open_page: Open, tmp_path: Path) -> None:
    made = compile(values(300, 300) @ values(300, 300))
    Explorer(made).export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    sheet = page.locator(".inspector").inner_text()
    assert "No values inside kernels: the program computes" in sheet
    line = next(line.entity for line in made.lowered[0].lines if "load" in line.text)
    set_state(page, stage="lowered", selected=line)
    words = page.locator(".inspector").inner_text()
    assert "Not computed: the program computes 54,000,000 operations" in words


@rule("mul")
def halve(node: Any) -> Any:
    """x * 0.5 = x / 2"""
    value, factor = node.sources
    if node.dtype.is_integer:
        return None
    return elementwise("div", value, factor) if type(value).__name__ == "Never" else None


@pytest.fixture(scope="module")
def ruled() -> Explorer:
    x = values(6, 9)
    passes = PASSES.after("simplify", halve)
    return Explorer(compile((x * 3.0).exp().sum(1) + 1.0, Options(passes=passes), name="ruled"))


@pytest.fixture
def live(ruled: Explorer, chromium: Any, tmp_path: Path) -> Iterator[Any]:
    with answered_page(ruled, chromium, tmp_path) as page:
        yield page


def ask(page: Any, name: str) -> str:
    page.get_by_label("Rule", exact=True).select_option(name)
    page.get_by_role("button", name="Why not?").click()
    page.wait_for_selector(".why-not .verdict")
    return str(page.locator(".why-not").inner_text())


def test_why_not_answers_for_own_rules_and_those_of_the_compiler(
    live: Any, ruled: Explorer
) -> None:
    made = ruled.compilation
    product = next(line.entity for line in made.optimized_graph.lines if "mul" in line.text)
    for stage in ("graph", "passes"):
        set_state(live, stage=stage, selected=product)
        words = ask(live, "halve")
        assert "this does not hold" in words and "Never" in words
        groups = live.locator(".rule-choice optgroup").first
        assert groups.get_attribute("label") == "look at mul"
        assert "multiply_by_one" in groups.locator("option").all_inner_texts()
        words = ask(live, "multiply_by_one")
        assert "_is_const(right, 1)" in words and "const 3.0" in words
    record = next(r for r in made.passes if r.stage == "loops" and r.name == "simplify")
    loops = made.loops[0]
    set_state(live, stage="loops", unit=0, selected=loops.entity(loops.body))
    names = live.get_by_label("Rule", exact=True).locator("option").all_inner_texts()
    assert set(names) >= {each.name for each in rules(record, made)}


def rules(record: Any, made: Compilation) -> tuple[Any, ...]:
    from compiler.ask.why_not import rules_of

    return rules_of(record, made.options)


@pytest.mark.parametrize("width", [700, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(
    open_page: Open, chain_page: Path, compilation: Compilation, width: int, scheme: str
) -> None:
    page = open_page(chain_page, width=width, scheme=scheme)
    subjects = [next(d.subject for d in compilation.decisions if d.kind == kind and d.numbers)
                for kind in ("fuse", "tile", "share")]  # fmt: skip
    for subject in subjects:
        set_state(page, selected=subject)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.locator(".looked-at").evaluate_all(
            "(all) => all.filter((it) => it.scrollWidth > it.parentElement.clientWidth + 1).length"
        )
        assert wide == 0
