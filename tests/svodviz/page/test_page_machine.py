"""LLVM's passes and machine code in a page without a kernel: what was recorded, what was not."""

from pathlib import Path
from typing import Any

import pytest

from compiler import Options, Tensor, compile
from svodviz.widget.explorer import Explorer
from tests.svodviz.answering import answered_page
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state
from tests.svodviz.sample import hostile

pytestmark = pytest.mark.browser
CHANGED = ".code-pane .line.added, .code-pane .line.removed"


@pytest.fixture(scope="module")
def chain_page(exported: Exported) -> Path:
    """Two kernels left to LLVM's vectoriser, with everything recorded."""
    x = Tensor.arange(512).cast("float32").reshape(8, 64)
    made = compile((x * x + 1.0).relu().softmax(1), Options(loops="plain"), name="chain")
    return exported(Explorer(made), machine_code=True)


@pytest.fixture
def page(open_page: Open, chain_page: Path) -> Any:
    found = open_page(chain_page)
    set_state(found, stage="llvm_passes", view="llvm_passes")
    found.wait_for_selector(".llvm-pass")
    return found


def chosen(page: Any) -> str:
    return str(page.locator('.llvm-pass[aria-current="true"] .pass-name').inner_text())


def test_the_ribbon_and_the_key_lead_there(open_page: Open, chain_page: Path) -> None:
    page = open_page(chain_page)
    entry = page.locator('.stage[data-stage="llvm_passes"]')
    assert "on demand" in entry.inner_text() and "(key l)" in entry.get_attribute("title")
    page.locator(".svodviz").focus()
    page.keyboard.press("l")
    assert state(page)["stage"] == "llvm_passes"
    page.wait_for_selector(".llvm-pass")
    page.keyboard.press("0")
    assert state(page)["stage"] == "asm"  # digits count the stages that are there at once


def test_a_pass_shows_what_it_changed(page: Any) -> None:
    page.locator(".llvm-pass", has_text="Loop Vectorize").first.click()
    counts = page.locator('.llvm-pass[aria-current="true"] .llvm-counts').inner_text()
    removed, added = (int(it[1:].replace(",", "")) for it in counts.split())
    signs = page.locator(".code-pane .sign").all_inner_texts()
    assert (signs.count("−"), signs.count("+")) == (removed, added)
    assert "several elements at a time" in page.locator(".llvm-purpose").inner_text()
    assert page.locator(".code-pane .left-out").count() >= 1
    page.get_by_label("whole text").check()
    assert page.locator(".code-pane .left-out").count() == 0
    signs = page.locator(".code-pane .sign").all_inner_texts()
    assert (signs.count("−"), signs.count("+")) == (removed, added)


def test_arrows_step_through_llvms_passes(page: Any) -> None:
    names = page.locator(".llvm-pass .pass-name").all_inner_texts()
    page.locator(".llvm-pass").first.click()
    assert chosen(page) == names[0]
    for name in names[1:4]:
        page.keyboard.press("ArrowDown")
        assert chosen(page) == name
    page.keyboard.press("ArrowUp")
    assert chosen(page) == names[2]
    assert state(page)["stage"] == "llvm_passes"


def test_a_line_leads_to_the_generated_text(page: Any) -> None:
    page.locator(".llvm-pass", has_text="Loop Vectorize").first.click()
    page.locator(".code-pane .line.linked.added").first.click()
    assert state(page)["selected"].startswith("llvm:")
    assert page.locator(".code-pane .line.selected").count() >= 1
    page.locator('.stage[data-stage="llvm"]').click()
    assert page.locator(".line.selected").count() == 1


def test_what_llvm_says_stands_in_words(page: Any) -> None:
    remarks = page.locator(".llvm-remarks").inner_text()
    assert "vectorised by LLVM" in remarks and "✓" in remarks
    page.locator(".remark .entity-link").first.click()
    assert state(page)["selected"].startswith("llvm:0:")


def test_only_what_was_recorded_is_offered(page: Any, open_page: Open, sample_page: Path) -> None:
    levels = page.get_by_label("Which of LLVM's passes").locator("option")
    assert levels.all_inner_texts() == ["the passes for the code that runs"]
    set_state(page, stage="asm", view="machine")
    assert page.get_by_label("Machine", exact=True).locator("option").count() > 5
    bare = open_page(sample_page)
    for stage in ("llvm_passes", "run"):
        assert bare.locator(f'.stage[data-stage="{stage}"]').is_hidden()
    bare.locator(".svodviz").focus()
    for key in "pm":
        bare.keyboard.press(key)
    assert state(bare)["stage"] == "graph"
    set_state(bare, stage="asm", view="machine")
    assert bare.get_by_label("Machine", exact=True).is_hidden()
    set_state(bare, stage="loops")
    assert "playground" not in bare.locator("[data-view]").evaluate_all(
        "(all) => all.map((it) => it.dataset.view)"
    )
    set_state(bare, selected="graph:13")
    assert bare.locator(".why-row").count() == 0


def test_a_level_that_was_not_recorded_says_what_is_needed(page: Any) -> None:
    set_state(page, level=3)
    words = page.locator(".llvm-words").inner_text()
    assert "what was recorded" in words and "from explore(x, machine_code=True)" in words
    assert page.locator(".llvm-body").is_hidden()
    set_state(page, level=-1)
    page.wait_for_selector(".llvm-pass")


def test_a_page_without_recordings_says_so(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page)
    set_state(page, stage="llvm_passes")
    words = "document.querySelector('.llvm-words').textContent"
    page.wait_for_function(f"{words}.includes('what was recorded')")
    set_state(page, stage="asm", view="machine", machine="riscv-v")
    words = "document.querySelector('.machine-words').textContent"
    page.wait_for_function(f"{words}.includes('what was recorded')")
    assert page.locator(".machine-code .line").count() == 0
    set_state(page, machine="")
    assert page.locator(".machine-code .line").count() > 5


def test_machine_code_as_blocks(open_page: Open, chain_page: Path) -> None:
    page = open_page(chain_page)
    set_state(page, stage="asm", view="machine")
    lines = page.evaluate("svodviz.model.get('wire').stages.find((it) => it.id === 'asm').units[0]")
    heads = page.locator(".block-head").all_inner_texts()
    assert len(heads) == len(lines["flow"]["blocks"])
    assert any("head of a loop" in it for it in heads)
    backs = [it for it in lines["flow"]["jumps"] if it[3]]
    assert page.locator(".jump.back").count() == len(backs) >= 1
    assert page.locator(".loop-band").count() == len({it[1] for it in backs})
    link = page.locator(".block-foot .back").first
    assert link.get_attribute("aria-label").startswith("back to ")
    link.focus()
    page.keyboard.press("Enter")
    shown = page.locator(".machine-code .line code").all_inner_texts()
    code = [row[0] for row in lines["lines"] if not row[0].endswith(":")]
    assert [it.strip() for it in shown] == [it.strip() for it in code]


@pytest.mark.parametrize("width, scheme", [(1400, "light"), (993, "dark")])
def test_instructions_in_loops_say_what_they_cost(
    open_page: Open, chain_page: Path, width: int, scheme: str
) -> None:
    page = open_page(chain_page, width=width, scheme=scheme)
    set_state(page, stage="asm", view="machine")
    recorded = page.evaluate("svodviz.model.get('recorded') ?? svodviz.model.get('wire').recorded")
    (answer,) = [it for key, it in recorded.items() if key.startswith("latencies ")][:1]
    told = [it for it in answer["cycles"] if it >= 0]
    costs = page.locator(".machine-code .line-cost").all_inner_texts()
    shown = [it for it in costs if it]
    assert shown == [f"{it} cy" for it in told[: len(shown)]] and len(shown) > 3
    words = page.locator(".machine-words").inner_text()
    assert "Costs, estimated: cycles until its result can be used: by LLVM's" in words
    assert answer["processor"] in words
    first = page.locator(".machine-code .line-cost:not(:empty)").first
    assert first.get_attribute("title").startswith("estimated: ")
    assert page.get_by_role("button", name="Instruction costs").count() == 0  # they are there
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_costs_are_asked_for_where_python_answers(chromium: Any, tmp_path: Path) -> None:
    explorer = Explorer(compile(Tensor.arange(512).cast("float32").exp().sum(), name="live"))
    with answered_page(explorer, chromium, tmp_path) as page:
        set_state(page, stage="asm", view="machine")
        assert page.locator(".machine-code .line-cost:not(:empty)").count() == 0
        page.get_by_role("button", name="Instruction costs").click()
        page.wait_for_selector(".machine-code .line-cost:not(:empty)", timeout=30_000)
        set_state(page, machine="arm-neon")
        assert page.get_by_role("button", name="Instruction costs").count() == 0


def test_where_the_time_goes_is_asked_for_and_shown(chromium: Any, tmp_path: Path) -> None:
    x = Tensor.arange(4096).cast("float32").reshape(64, 64)
    explorer = Explorer(compile((x @ x).relu(), name="hot"))
    with answered_page(explorer, chromium, tmp_path) as page:
        set_state(page, stage="asm", view="machine")
        assert page.locator(".block-share, .line-share").count() == 0
        page.get_by_role("button", name="Where the time goes").click()
        page.wait_for_selector(".block-share.is-most", state="attached", timeout=30_000)
        found = explorer.recorded['hot {"kernel":"k0"}']
        assert sum(found["blocks"]) == pytest.approx(1, abs=1e-4)
        assert sum(found["rows"]) == pytest.approx(1, abs=1e-3)
        how = page.locator(".machine-words").inner_text()
        assert found["how"] in how and found["how"].startswith(("measured", "estimated"))
        ways = page.locator(".hot-lines li")
        assert "in block" in ways.first.inner_text()
        ways.first.locator("button").click()  # leads to the block that takes most
        most = page.locator(".block-share.is-most")
        assert most.count() == 1 and "of the time, the most" in most.inner_text()
        assert most.is_visible()
        for width in (700, 993, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            box = page.locator(".machine-head").bounding_box()
            inside = page.locator(".hot-lines li").evaluate_all(
                "(all) => Math.max(...all.map((it) => it.getBoundingClientRect().right))")
            assert inside <= box["x"] + box["width"] + 1
        ways.nth(1).locator("button").click()
        now = state(page)
        assert (now["stage"], now["selected"]) == ("source", found["lines"][0][3])


def test_an_export_has_where_the_time_goes_if_it_was_asked(
    open_page: Open, exported: Exported
) -> None:
    x = Tensor.arange(4096).cast("float32").reshape(64, 64)
    explorer = Explorer(compile(x.exp().sum(1), name="hot"))
    explorer.record_hot()
    page = open_page(exported(explorer), scheme="dark")
    set_state(page, stage="asm", view="machine")
    assert page.locator(".block-share").count() > 0
    assert page.get_by_role("button", name="Where the time goes").count() == 0
    shares = page.locator(".line-share:not(:empty)")
    assert shares.count() > 0 and "of the kernel's time, " in shares.first.get_attribute("title")


def test_an_instruction_finds_its_llvm_ir(open_page: Open, chain_page: Path) -> None:
    page = open_page(chain_page)
    set_state(page, stage="asm", view="machine")
    for machine in ("", "arm-sve", "nvptx"):
        page.get_by_label("Machine", exact=True).select_option(machine)
        page.wait_for_selector(".machine-code .line.linked")
        page.locator(".machine-code .line.linked").nth(5).click()
        assert page.locator(".machine-source .line.related, .machine-source .line.selected").count()
        page.keyboard.press("Escape")


@pytest.mark.parametrize("width", [700, 1000, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(open_page: Open, chain_page: Path, width: int, scheme: str) -> None:
    page = open_page(chain_page, width=width, scheme=scheme)
    for stage, view in (("llvm_passes", "llvm_passes"), ("asm", "machine")):
        set_state(page, stage=stage, view=view)
        page.wait_for_selector(".llvm-pass" if stage == "llvm_passes" else ".block-head")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        pane = page.locator(".code-pane:visible").bounding_box()
        assert pane["width"] > 300 and pane["height"] > 60
    cut = page.locator(".stage-label").evaluate_all(
        "(all) => all.filter((it) => it.scrollWidth > it.clientWidth + 1).length"
    )
    assert cut == 0


def test_hostile_words_stay_words(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    Explorer(hostile()).export_html(path, machine_code=True)
    page = open_page(path)
    set_state(page, stage="llvm_passes")
    page.wait_for_selector(".llvm-pass")
    for position in range(page.locator(".llvm-pass").count()):
        page.locator(".llvm-pass").nth(position).click()
    set_state(page, stage="asm", view="machine")
    page.get_by_label("Machine", exact=True).select_option("riscv-v")
    page.wait_for_selector(".block-head")
    page.get_by_label("Machine", exact=True).select_option("arm-neon")
    words = "document.querySelector('.machine-words').textContent"
    page.wait_for_function(f"{words}.includes('cannot write this <b>machine</b>')")
    assert page.locator(".machine-code .line").count() == 0
    assert page.evaluate("window.hacked") is None
    assert page.locator(".llvm-view img, .machine-view img, .llvm-view script").count() == 0
