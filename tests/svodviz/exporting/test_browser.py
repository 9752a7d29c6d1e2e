"""Which browser is asked to show a page. None is: what would ask it is replaced."""

import webbrowser
from pathlib import Path

import pytest

from svodviz.exporting.browser import SCREENS, open_page


class Browser(webbrowser.BaseBrowser):
    """Notes what it is asked to show."""

    def __init__(self) -> None:
        super().__init__("noting")
        self.asked: list[str] = []

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        self.asked.append(url)
        return True


class InTerminal(webbrowser.GenericBrowser):
    """A browser that would take the terminal over."""

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        raise AssertionError("it was asked")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine with a screen, and no choice of a browser."""
    for name in SCREENS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("svodviz.exporting.browser.sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    return monkeypatch


def test_the_page_is_opened_by_its_address(screen: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser = Browser()
    screen.setattr(webbrowser, "get", lambda: browser)
    assert open_page(tmp_path / "a page.html")
    assert browser.asked == [(tmp_path / "a page.html").as_uri()]


def test_without_a_screen_nothing_is_asked(screen: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser = Browser()
    screen.setattr(webbrowser, "get", lambda: browser)
    screen.delenv("DISPLAY")
    assert not open_page(tmp_path / "page.html")
    assert browser.asked == []


def test_the_terminal_is_not_taken_over(screen: pytest.MonkeyPatch, tmp_path: Path) -> None:
    screen.setattr(webbrowser, "get", lambda: InTerminal("lynx"))
    assert not open_page(tmp_path / "page.html")


def test_where_there_is_no_browser(screen: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    screen.setattr(webbrowser, "get", missing)
    assert not open_page(tmp_path / "page.html")
