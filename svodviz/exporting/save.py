"""Writes a stage, or the whole explorer, to a file; its suffix selects the format.

    .svg .png          the graph of a stage as a picture
    .dot .graphml      the same for other programs that draw or analyse graphs
    .json              its nodes and edges as data (docs/schema.json says how)
    .txt               its printed form
    .html              the explorer of all stages, one page

Graphviz draws a .png. It cannot be interrupted, and its warnings about fonts cannot be turned off:
so it runs in a process of its own, with a time limit.
"""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.core import isolated
from compiler.core.replacing import write_file
from svodviz.exporting.export import FORMATS, Maker, export_html, export_stage
from svodviz.exporting.picture import still
from svodviz.foundation.subject import compilation_of
from svodviz.wire.payload import wire

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

ENDINGS = (*FORMATS, "png", "html")
SECONDS = 60.0  # a choice of patience
_PROGRAM = """\
import sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.read())
graph.graph_attr.update(dpi="96", bgcolor="white", fontname="monospace")
sys.stdout.buffer.write(graph.draw(format="png", prog="dot"))
"""


def save(
    subject: object, path: str | Path, *, stage: str = "graph", kernel: str = "", form: str = ""
) -> Path:
    """Writes one stage of a tensor or compilation to `path` and returns the path.

    The format follows from the path's ending unless `form` says it. Raises ValueError for a stage,
    kernel or format that does not exist.
    """
    data = encode(compilation_of(subject, by="save"), stage, form or form_of(path), kernel=kernel)
    write_file(path, data)
    return Path(path)


def form_of(path: str | Path) -> str:
    """The format that a path's ending stands for; ValueError where it stands for none."""
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in ENDINGS:
        endings = " ".join(f".{it}" for it in ENDINGS)
        raise ValueError(f"{path}: its ending says no format; expected one of {endings}")
    return ending


def encode(
    compilation: "Compilation", stage: str, form: str, *, kernel: str = "", maker: Maker = "Python"
) -> bytes:
    """The content of such a file; a page has instructions for its `maker`."""
    match form:
        case "html":
            picture = still(compilation)
            state = {"stage": stage}
            page = export_html(wire(compilation), state=state, picture=picture, maker=maker)
            return page.encode()
        case "png":
            return rasterize(export_stage(compilation, stage, "dot", kernel=kernel))
        case _:
            return export_stage(compilation, stage, form, kernel=kernel).encode()


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
