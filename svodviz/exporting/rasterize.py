"""A graph's DOT text as a PNG picture, drawn by Graphviz in a process of its own.

Graphviz can neither be interrupted nor told to be quiet about fonts: so it runs beside us, with a
limit of time.
"""

import subprocess

from compiler.core import isolated

SECONDS = 60.0  # a choice of patience
_PROGRAM = """\
import sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.read())
graph.graph_attr.update(dpi="96", bgcolor="white", fontname="monospace")
sys.stdout.buffer.write(graph.draw(format="png", prog="dot"))
"""


def rasterize(dot: str, seconds: float = SECONDS) -> bytes:
    """The picture; ValueError where Graphviz cannot draw the graph, or not within `seconds`."""
    try:
        done = subprocess.run(
            isolated.command(_PROGRAM), input=dot.encode(), capture_output=True, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ValueError(
            f"png: the graph is too large to be laid out in {seconds:g} s; svg and html of it "
            "can be written"
        ) from error
    if done.returncode or not done.stdout.startswith(b"\x89PNG"):
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no picture"])[-1]
        raise ValueError(f"png: Graphviz cannot draw the graph: {last}")
    return done.stdout
