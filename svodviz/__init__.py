"""A visual explorer of the tensor compiler: every stage of one compilation, linked.

    import svodviz
    svodviz.explore(y)              # a Tensor, a Compilation, or a function with example inputs
    svodviz.explore(y, check=True)  # every pass run and marked ✓ or ✗
    svodviz.bisect(y)               # opened at the first wrong pass and rewrite
    %load_ext svodviz               # then %explore expression, and %%explore over a cell
    svodviz explore program.py -o page.html       # on the command line
"""

from typing import Any

from compiler import PASSES, effect, rule, why_not
from svodviz.bisect import bisect
from svodviz.explorer import Explorer, explore
from svodviz.export import FORMATS, export_stage
from svodviz.summary import summary

__all__ = [
    "FORMATS",
    "PASSES",
    "Explorer",
    "bisect",
    "effect",
    "explore",
    "export_stage",
    "load_ipython_extension",
    "rule",
    "summary",
    "why_not",
]


def load_ipython_extension(shell: Any) -> None:
    """Registers `%explore` and `%%explore`; IPython calls this for `%load_ext svodviz`."""
    from svodviz.magics import ExplorerMagics

    shell.register_magics(ExplorerMagics)
