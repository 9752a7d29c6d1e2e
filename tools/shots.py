"""The subjects of the pictures of docs/features.md: programs, and the shots of their pages."""

import runpy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import compiler
import svodviz
from compiler import Options
from compiler.graph.nodes import elementwise

READY = ".svodviz[data-ready=true]"


def _nothing(page: Any) -> None:
    """Nothing: most pictures need no more done before the shot."""


@dataclass(frozen=True)
class Shot:
    """A page, the state it is brought into, what else is done there, and the part that is shot."""

    subject: str
    state: dict[str, Any] = field(default_factory=dict)
    act: Callable[[Any], None] = _nothing
    size: tuple[int, int] = (1400, 800)
    scheme: str = "light"
    part: str = ""
    ready: str = READY


# --- programs -------------------------------------------------------------------------------------

PROGRAMS = {
    "network.py": """import numpy as np
from compiler import Tensor

def data(*shape):
    return np.random.default_rng(7).normal(size=shape).astype("float32")

x = Tensor(data(64, 20), name="x")
w1 = Tensor(data(20, 32), name="w1")
b1 = Tensor(data(32), name="b1")
w2 = Tensor(data(32, 10), name="w2")

hidden = (x @ w1 + b1).relu()
logits = hidden @ w2 * 1.0
probabilities = logits.softmax(1)
results = probabilities
""",
    "model.py": """import numpy as np
from compiler import Tensor
from compiler.core.modules import in_module

random = np.random.default_rng(7)

def linear(name, x, width):
    with in_module(name, kinds=["Linear"]):
        weight = Tensor(random.normal(size=(x.shape[-1], width)).astype("float32") / 8)
        return x @ weight + Tensor(np.zeros(width, "float32"))

def attention(x):
    query, key, value = (linear(name, x, 64) for name in ("query", "key", "value"))
    mixed = (query @ key.T * 0.125).softmax(-1) @ value
    return linear("output", mixed, 64)

def layer(x):
    with in_module("attention", kinds=["Attention"]):
        x = x + attention(x)
    with in_module("feed_forward", kinds=["FeedForward"]):
        return x + linear("down", linear("up", x, 256).relu(), 64)

x = Tensor(random.normal(size=(128, 64)).astype("float32"), name="x")
with in_module("Transformer", kinds=["Transformer"]):
    for number in range(2):
        with in_module("encoder", f"layer.{number}", kinds=["Encoder", "Layer"]):
            x = layer(x)
    results = linear("head", x, 10)
""",
    "branches.py": """import numpy as np
from compiler import Tensor, repeat

def data(*shape):
    return np.random.default_rng(7).normal(size=shape).astype("float32")

x = Tensor(data(128, 128), name="x")
w = Tensor(data(128, 128), name="w")
v = Tensor(data(128), name="v")

first = (x @ w).relu()
second = (first @ w).relu()
third = (second @ w).softmax(1)
elsewhere = first.to("CPU:1").exp().sum(1)
steps = repeat(3, lambda i, it: (w @ it).tanh(), v)
results = [third, elsewhere, steps, x.sum(0)]
""",
    "product.py": """import numpy as np
from compiler import Tensor

a, b = (Tensor(np.random.default_rng(7).random((64, 64), "float32"), name=it)
        for it in ("a", "b"))
results = a @ b
""",
}


def results(name: str) -> Any:
    """The results of a program. It stays on disk: the explorer shows its lines."""
    path = Path(tempfile.mkdtemp()) / name
    path.write_text(PROGRAMS[name])
    return runpy.run_path(str(path))["results"]


@svodviz.rule("sub")
def turned(node: Any) -> Any:
    """a - b = b - a, which is wrong"""
    left, right = node.sources
    return elementwise("add", right, elementwise("neg", left))


def _network_page(path: Path) -> None:
    svodviz.explore(results("network.py")).export_html(path, machine_code=True)


def _model_page(path: Path) -> None:
    svodviz.explore(results("model.py")).export_html(path)


def _branches_page(path: Path) -> None:
    svodviz.explore(compiler.compile(results("branches.py")), measure=True).export_html(path)


def _wrong_page(path: Path) -> None:
    passes = svodviz.PASSES.after("simplify", turned)
    compilation = compiler.compile(results("network.py"), passes=passes)
    svodviz.explore(compilation, check=True).export_html(path)


def _transformer_page(path: Path) -> None:
    from benchmarks.transformer import transformer

    svodviz.explore(compiler.compile(transformer(12))).export_html(path)


def _large_page(path: Path) -> None:
    from svodviz.widget.explorer import Explorer
    from tests.svodviz.sample import large

    Explorer(large(100_000)).export_html(path)


def _playground_page(path: Path) -> None:
    compilation = compiler.compile(results("product.py"), Options(threads=2))
    tiled = "tile i0 4; tile i1 16; reorder i0.0 i1.0 i0.1 i1.1; vectorize i1.1; unroll i0.1"
    svodviz.playground(compilation, choices=[tiled]).export_html(path)


def _compare_page(path: Path) -> None:
    options = Options(loops="plain", trace=True)
    plain = compiler.compile(results("network.py"), options, name="plain")
    tuned = compiler.compile(results("network.py"), name="as it is")
    svodviz.explore(plain, tuned).export_html(path)


def _quiz_page(path: Path) -> None:
    svodviz.quiz(results("network.py")).export_html(path)


SUBJECTS: dict[str, Callable[[Path], None]] = {
    "network": _network_page,
    "model": _model_page,
    "branches": _branches_page,
    "wrong": _wrong_page,
    "transformer": _transformer_page,
    "large": _large_page,
    "playground": _playground_page,
    "compare": _compare_page,
    "quiz": _quiz_page,
}


# --- what is done on the pages --------------------------------------------------------------------


def _select(words: str) -> Callable[[Any], None]:
    """Selects the first node that says `words`."""
    return lambda page: page.locator(".node", has_text=words).first.dispatch_event("click")


def _press(*keys: str) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        page.locator(".svodviz").focus()
        for key in keys:
            page.keyboard.press(key)

    return act


def _then(*steps: Callable[[Any], None]) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        for step in steps:
            step(page)
            page.wait_for_timeout(60)

    return act


def _step_of(rule: str) -> Callable[[Any], None]:
    """Goes to the first rewrite by a rule."""
    return lambda page: page.evaluate(
        """(rule) => {
            const { model } = window.svodviz;
            const { passes, rules } = model.get("wire");
            const pass = passes.findIndex((it) =>
                it.rewrites.some(([number]) => rules[number][0] === rule));
            const step = 1 + passes[pass].rewrites.findIndex(([number]) =>
                rules[number][0] === rule);
            model.set("state", { stage: "passes", view: "graph", pass, step });
        }""",
        rule,
    )


def _line(words: str, column: int = 0) -> Callable[[Any], None]:
    """Selects a line in one of the three columns."""
    return lambda page: page.locator(".column").nth(column).locator(
        ".line", has_text=words).first.locator(".number").click()


def _search(words: str) -> Callable[[Any], None]:
    return lambda page: page.get_by_label("Search", exact=True).fill(words)


def _machine(page: Any) -> None:
    page.get_by_label("Machine", exact=True).select_option("arm-neon")
    page.wait_for_selector(".block-head")
    page.locator(".machine-code .line.linked").nth(6).click()


def _vectoriser(page: Any) -> None:
    page.wait_for_selector(".llvm-pass")
    page.locator(".llvm-pass").nth(3).click()


def _replay(page: Any) -> None:
    page.locator(".replay-play").scroll_into_view_if_needed()
    for _ in range(5):
        page.get_by_label("Step", exact=True).click()


def _tab(words: str) -> Callable[[Any], None]:
    return lambda page: page.get_by_role("button", name=words, exact=True).first.click()


COLUMNS = {"view": "columns", "columns": ["source", "loops", "asm"]}
SHOTS: dict[str, Shot] = {
    "modules": Shot("model", {"selected": "modules:9"}),
    "graph": Shot("network", act=_select("relu")),
    "passes": Shot("network", act=_step_of("relu")),
    "columns": Shot("network", COLUMNS, _line("hidden =")),
    "kernels": Shot("network", {"stage": "kernels"}, _press(" ")),
    "timeline": Shot("branches", {"stage": "schedule", "view": "timeline"}),
    "memory": Shot("branches", {"stage": "schedule", "view": "memory"}),
    "fusion": Shot("branches", {"stage": "schedule", "view": "fusion"}),
    "schedule": Shot("branches", {"stage": "schedule", "view": "graph"}, _press(" ", "c")),
    "run": Shot("branches", {"stage": "run"}),
    "inspector": Shot("network", act=_select("relu"), size=(1400, 1500), part=".inspector"),
    "only": Shot("network", act=_then(_select("relu"), _press("s", " "))),
    "search": Shot("network", act=_search("op:reduce")),
    "folded": Shot("transformer", {"folding": "module", "overlay": "ns"}),
    "large": Shot("large"),
    "checked": Shot("wrong", {"stage": "passes", "pass": 4, "step": 1}),
    "llvm_passes": Shot("network", {"stage": "llvm_passes"}, _vectoriser),
    "machine": Shot("network", {"stage": "asm", "view": "machine"}, _machine),
    "playground": Shot("playground"),
    "replay": Shot("playground", act=_replay),
    "compare": Shot("compare", ready=".svodviz"),
    "compared_graphs": Shot("compare", act=_tab("Graphs"), ready=".svodviz"),
    "quiz": Shot("quiz", size=(1000, 620), ready=".svodviz"),
    "keys": Shot("network", act=_press("?")),
    "dark": Shot("network", COLUMNS, _line("hidden ="), scheme="dark"),
    "narrow": Shot("network", act=_select("relu"), size=(700, 800)),
    "narrow_dark": Shot("branches", {"stage": "schedule"}, size=(700, 800), scheme="dark"),
}
