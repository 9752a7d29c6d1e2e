"""A visual explorer of the tensor compiler: every stage of one compilation, linked.

import svodviz
svodviz.explore(y)              # a Tensor, a Compilation, or a function with example inputs
svodviz.explore(a, b)           # two side by side; print(svodviz.compare(a, b)) in words
svodviz.save(y, "graph.png")    # a stage in a file: svg, png, dot, graphml, json, txt, html
svodviz.quiz(y)                 # predict, then reveal: questions about what was recorded
svodviz.explore(y, check=True)  # every pass run and marked ✓ or ✗
svodviz.measure(y)              # the measured time of each item, next to its estimate
svodviz.simulate(f, Cluster(workers=64))      # on machines that are not there
svodviz.bisect(y)               # opened at the first wrong pass and rewrite
%load_ext svodviz               # then %explore expression, and %%explore over a cell
svodviz explore program.py -o page.html       # on the command line

In order: each imports only what stands before it.

    data/        the data of a page as types: schemas and types of modules are made of them
    foundation/  underneath everything: what is explored, its entities, escapes
    drawing/     graphs as boxes and arrows: palette, labels, and where each stands
    wire/        one compilation as data for the page
    exporting/   pages and pictures as files
    comparing/   two compilations side by side
    texts/       the same in words, for the command line
    widget/      the explorer in a notebook, and the calls that open it
    cli/         the command line
    __main__.py  `python -m svodviz`
    quizzes/     predict, then reveal: questions about a compilation
    offline.py   an executed notebook as a page that stays interactive without a kernel
"""

from typing import TYPE_CHECKING

from compiler import roots
from compiler.core.frames import count_as_ours

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from compiler import PASSES, Cluster, effect, rule, simulate, why_not
    from svodviz.comparing.compare import compare
    from svodviz.exporting.export import FORMATS, export_stage, graph_of
    from svodviz.exporting.save import save
    from svodviz.quizzes.quiz import Quiz, quiz
    from svodviz.quizzes.results import quiz_results
    from svodviz.texts.summary import summary
    from svodviz.widget.explorer import Explorer, bisect, explore
    from svodviz.widget.playground import playground, simulate_cache, try_loops
    from svodviz.wire.measured import measure

__all__ = [
    "FORMATS", "PASSES", "Cluster", "Explorer", "Quiz", "bisect", "compare", "effect", "explore",
    "export_stage", "graph_of", "load_ipython_extension", "measure", "playground", "quiz",
    "quiz_results", "rule", "save", "simulate", "simulate_cache", "summary", "try_loops", "why_not",
]  # fmt: skip

_PLACES = {
    "compiler.pipeline.rows": "PASSES",
    "compiler.program.effect": "effect",
    "compiler.pipeline.user_rule": "rule",
    "compiler.distributed.simulation.cluster": "Cluster",
    "compiler.distributed.simulation.simulate": "simulate",
    "compiler.ask.why_not": "why_not",
    "svodviz.comparing.compare": "compare",
    "svodviz.exporting.export": "export_stage FORMATS graph_of",
    "svodviz.exporting.save": "save",
    "svodviz.quizzes.quiz": "Quiz quiz",
    "svodviz.quizzes.results": "quiz_results",
    "svodviz.texts.summary": "summary",
    "svodviz.widget.explorer": "bisect explore Explorer",
    "svodviz.widget.playground": "playground simulate_cache try_loops",
    "svodviz.wire.measured": "measure",
}  # fmt: skip
"""The module of each name: it is imported at first use, so `import svodviz` is quick."""

count_as_ours(__file__)

__getattr__, __dir__ = roots.names(__name__, _PLACES, __all__)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Registers `%explore` and `%%explore`; IPython calls this for `%load_ext svodviz`."""
    from svodviz.widget.magics import ExplorerMagics

    shell.register_magics(ExplorerMagics)
