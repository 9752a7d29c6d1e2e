"""The work of a notebook between showing the result of a cell and its end."""

import contextlib
from collections.abc import Callable

from IPython import get_ipython


def after_cell(action: Callable[[], object]) -> bool:
    """Has `action` called when the cell that runs now has shown its result; False without cells.

    The cell is over only then: who runs a notebook from end to end has everything in it.
    """
    shell = get_ipython()
    if getattr(shell, "kernel", None) is None:
        return False

    def once(*_: object) -> None:
        shell.events.unregister("post_run_cell", once)
        with contextlib.suppress(KeyboardInterrupt):  # a page that is looked at asks again
            action()

    shell.events.register("post_run_cell", once)
    return True
