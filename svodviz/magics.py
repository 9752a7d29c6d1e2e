"""`%explore expression` and `%%explore` over a cell."""

import ast
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from svodviz.explorer import Explorer, explore
from svodviz.stages import BY_ID
from svodviz.subject import is_explorable


@magics_class
class ExplorerMagics(Magics):
    """The magics of svodviz."""

    @magic_arguments()
    @argument("--stage", choices=list(BY_ID), help="the stage to open at")
    @argument("-o", "--output", help="also write the explorer to this HTML file")
    @argument("expression", nargs="*", help="what to explore (line magic only)")
    @line_cell_magic
    def explore(self, line: str, cell: str | None = None) -> Explorer | None:
        """Explore an expression, or what a cell ends in: its last value or its last tensor."""
        chosen = parse_argstring(self.explore, line)
        expression = " ".join(chosen.expression)
        if cell is None:
            if not expression:
                raise UsageError("%explore needs an expression, %%explore a cell")
            subject = self.shell.ev(expression)
        else:
            if expression:
                raise UsageError(f"%%explore takes no expression, got {expression!r}")
            subject = self._run(cell)
        state = {"stage": chosen.stage} if chosen.stage else {}
        explorer = explore(subject, **state)
        if chosen.output:
            explorer.export_html(chosen.output)
        return explorer

    def _run(self, cell: str) -> Any:
        """Runs the cell in the user's names; its last value, else the last tensor that it binds."""
        # The count itself may already stand at the next cell; the history has this one last.
        number = len(self.shell.history_manager.input_hist_parsed) - 1
        name = self.shell.compile.cache(cell, number)
        tree = ast.parse(self.shell.transform_cell(cell), name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        names = self.shell.user_ns
        exec(compile(tree, name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            if is_explorable(value):
                return value
        found = [names[it] for it in _bound(tree) if is_explorable(names.get(it))]
        if not found:
            raise UsageError("%%explore: the cell neither ends in a tensor nor binds one to a name")
        return found[-1]


def _bound(tree: ast.Module) -> list[str]:
    """The names that the statements of a cell bind, in order."""
    return [
        node.id
        for statement in tree.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
