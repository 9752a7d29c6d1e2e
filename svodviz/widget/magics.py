"""`%explore expression` and `%%explore` over a cell; `--diff` shows what a new run changed."""

import ast
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from traitlets import TraitError

from svodviz.comparing.compare import compare
from svodviz.foundation.stages import BY_ID
from svodviz.foundation.subject import EXPLORABLE, compilation_of, is_explorable
from svodviz.widget.cells import cell_id
from svodviz.widget.explorer import Shown, explore
from svodviz.widget.side_by_side import SideBySide

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation


@magics_class
class ExplorerMagics(Magics):
    """The magics of svodviz."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._in = shell
        self._before: dict[str, Compilation] = {}

    @magic_arguments()
    @argument("--diff", action="store_true",
              help="compared with the previous run of the same cell")  # fmt: skip
    @argument("--stage", choices=list(BY_ID), help="the stage to open at")
    @argument("-o", "--output", help="also write the explorer to this HTML file")
    @argument("expression", nargs="*", help="what to explore (line magic only)")
    @line_cell_magic
    def explore(self, line: str, cell: str | None = None) -> Shown:
        """Explore an expression, or what a cell ends in: its last value or its last tensor.

        With --diff it is compared with the previous run of the cell. The front end identifies the
        cell; if it does not, the previous run is that of the last %%explore.
        """
        chosen = parse_argstring(self.explore, line)
        expression = " ".join(chosen.expression)
        if cell is None:
            if not expression:
                raise UsageError("%explore needs an expression, %%explore a cell")
            subject: object = self._in.ev(expression)
        else:
            if expression:
                raise UsageError(f"%%explore takes no expression, got {expression!r}")
            subject = self._run(cell)
        if not is_explorable(subject) and not callable(subject):
            got = type(subject).__name__
            raise UsageError(f"%explore: {expression} is of type {got}; expected {EXPLORABLE}")
        now = compilation_of(subject)
        before = self._remembered(now, chosen.diff)
        state: dict[str, object] = {"stage": chosen.stage} if chosen.stage else {}
        shown = _alone(now, state) if before is None else _beside(before, now, state)
        if chosen.output:
            shown.export_html(chosen.output)
        return shown

    def _remembered(self, now: "Compilation", is_diff: bool) -> "Compilation | None":
        """The compilation of this cell before, if that is asked for; from now on it is `now`."""
        cell = cell_id(self._in)
        before = self._before.get(cell)
        self._before[cell] = now
        if is_diff and before is None:
            print("%%explore --diff: the first run of this cell; run it again to see what changed")
        return before if is_diff else None

    def _run(self, cell: str) -> object:
        """Runs the cell in the user's names; its last value, else the last tensor that it binds."""
        # The count itself may already stand at the next cell; the history has this one last.
        history = self._in.history_manager
        number = len(history.input_hist_parsed) - 1 if history else 0
        name = self._in.compile.cache(cell, number)
        tree = ast.parse(self._in.transform_cell(cell), name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        names = self._in.user_ns
        exec(compile(tree, name, "exec"), names)
        if isinstance(last, ast.Expr):
            value: object = eval(compile(ast.Expression(last.value), name, "eval"), names)
            if is_explorable(value):
                return value
        results = [names[it] for it in _bound(tree) if is_explorable(names.get(it))]
        if not results:
            raise UsageError("%%explore: the cell neither ends in a tensor nor binds one to a name")
        return results[-1]


def _alone(now: "Compilation", state: dict[str, object]) -> Shown:
    return explore(now, check=False, machine_code=False, measure=False, **state)


def _beside(before: "Compilation", now: "Compilation", state: dict[str, object]) -> SideBySide:
    try:
        return SideBySide(compare(before, now, names=("the run before", "this run")), **state)
    except TraitError as error:
        raise UsageError(str(error)) from error


def _bound(tree: ast.Module) -> list[str]:
    """The names that the statements of a cell bind, in order."""
    return [
        node.id
        for statement in tree.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
