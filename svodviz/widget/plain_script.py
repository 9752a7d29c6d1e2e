"""`explore` in a plain script: there is no notebook to show it in, so it becomes a page."""

import os
import sys
import tempfile
from pathlib import Path

from IPython import get_ipython

from compiler.core.origin import caller
from svodviz.exporting.browser import open_page
from svodviz.exporting.page_widget import PageWidget
from svodviz.foundation.escape import terminal_text


def is_script() -> bool:
    """True if the current user call is in the file that Python was started with.

    Not in notebooks, of whatever make, whose cells have no such file; nor in consoles.
    """
    file: str | None = getattr(sys.modules.get("__main__"), "__file__", None)
    if get_ipython() is not None or not file:
        return False
    return os.path.realpath(caller("explore").file) == os.path.realpath(file)


def show_page(shown: PageWidget, name: str) -> Path:
    """Writes the page of what is shown, opens it where there is a screen, and says where it is."""
    stem = "".join(it if it.isalnum() or it in "-_" else "_" for it in Path(name).stem)
    path = Path(tempfile.mkdtemp(prefix="svodviz-")) / f"{stem or 'page'}.html"
    shown.export_html(path)
    how = "opened in the browser, from" if open_page(path) else "a page, to be opened:"
    print(terminal_text(f"svodviz: the explorer of {name} is {how} {path}"), file=sys.stderr)
    return path
