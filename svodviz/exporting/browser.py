"""Shows a page in the reader's browser, where there is one to show it in."""

import os
import sys
import webbrowser
from pathlib import Path

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Variables that say where there is a screen, or which browser to ask for."""


def has_screen() -> bool:
    """True if this process can open a window."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(it) for it in SCREENS)


def open_page(path: Path) -> bool:
    """Asks for a browser with the page at `path`; False where nobody would see one.

    A browser within the terminal is asked only by who chose it: it would take the terminal over.
    """
    if not has_screen():
        return False
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    is_text = isinstance(browser, webbrowser.GenericBrowser)
    is_text = is_text and not isinstance(browser, webbrowser.BackgroundBrowser)
    if is_text and not os.environ.get("BROWSER"):
        return False
    return bool(browser.open(path.resolve().as_uri()))
