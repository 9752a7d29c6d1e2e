"""The contracts with hosts that no test can open: Colab and VS Code. See docs/hosts.md."""

import re
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import anywidget
import pytest

from svodviz.exporting.script import widget_module
from svodviz.quizzes.quiz import quiz
from svodviz.widget.explorer import Explorer
from tests.svodviz.sample import sample

MANAGER = "https://ssl.gstatic.com/manager.min.js"
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def colab(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Colab's module for widgets as it says that it is; how often its manager was asked for."""
    from anywidget import _util

    asked: list[str] = []
    output = ModuleType("google.colab.output")
    vars(output).update(
        enable_custom_widget_manager=lambda: asked.append("manager"),
        _widgets=SimpleNamespace(_installed_url=MANAGER),
    )
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    _util.enable_custom_widget_manager_once.cache_clear()
    yield asked
    _util.enable_custom_widget_manager_once.cache_clear()


@pytest.mark.parametrize("make", [Explorer, quiz])
def test_colab_gets_the_address_of_the_widget_manager(colab: list[str], make: Any) -> None:
    data, metadata = make(sample())._repr_mimebundle_()
    assert colab == ["manager"]
    assert VIEW in data and "text/html" in data
    assert metadata[VIEW]["colab"]["custom_widget_manager"] == {"url": MANAGER}


def test_the_module_asks_the_network_for_nothing() -> None:
    """VS Code shows widgets where its own addresses are allowed, and blobs."""
    text = widget_module()
    assert re.findall(r"\bimport\(.*?\)", text) == ["import(url)"]  # a blob of the text it has
    assert "const url = URL.createObjectURL(new Blob(" in text
    for word in ("fetch(", "XMLHttpRequest", "new Worker", "eval(", "new Function"):
        assert word not in text


def test_the_widget_is_anywidgets_own() -> None:
    """So what loads anywidget loads it: no package of ours is looked for on a CDN."""
    assert Explorer._model_module.default_value == "anywidget"
    assert issubclass(Explorer, anywidget.AnyWidget)


@pytest.mark.browser
@pytest.mark.parametrize(("where", "name", "value", "theme"), [
    ("body", "data-vscode-theme-kind", "vscode-dark", "dark"),
    ("body", "data-vscode-theme-kind", "vscode-high-contrast", "dark"),
    ("body", "data-vscode-theme-kind", "vscode-light", "light"),
    ("body", "data-vscode-theme-kind", "vscode-high-contrast-light", "light"),
    ("documentElement", "theme", "dark", "dark"),
    ("documentElement", "theme", "light", "light"),
])  # fmt: skip
def test_themes_of_hosts_are_followed(
    open_page: Any, sample_page: Any, where: str, name: str, value: str, theme: str
) -> None:
    page = open_page(sample_page, scheme="light" if theme == "dark" else "dark",
                     is_kept=False)  # fmt: skip
    page.evaluate(f"document.{where}.setAttribute('{name}', '{value}')")
    page.wait_for_function(f"document.querySelector('.svodviz').dataset.theme === '{theme}'")
