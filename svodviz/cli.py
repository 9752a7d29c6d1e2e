"""The command line: the same explorer, texts and pictures without a notebook.

    svodviz explore program.py -o page.html     one HTML page, zero requests
    svodviz show program.py --stage lowered     a stage as text; --stage summary for all in short
    svodviz export program.py --stage graph --format svg -o graph.svg

The program is run like a script. What it passes to `svodviz.explore(...)` is explored; where it
calls that never, its last module-level Tensor or Compilation. A program that raises has its
exception printed with the traceback of its own frames, and the command exits with 1.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from svodviz.export import FORMATS, export_html, export_stage
from svodviz.machine_code import recorded
from svodviz.picture import still
from svodviz.program import Found, NothingFound, ProgramError, run
from svodviz.stages import BY_ID, WITH_GRAPHS
from svodviz.summary import full_summary, text_of
from svodviz.wire import wire

EPILOG = (
    "What the program passes to svodviz.explore(...) is explored; where it calls that never, "
    "its last module-level Tensor or Compilation."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    if not Path(chosen.program).is_file():
        return _fail(f"{chosen.program}: no such file")
    try:
        found = run(chosen.program, chosen.arguments)
        _COMMANDS[chosen.command](found, chosen)
    except (ProgramError, NothingFound, ValueError, OSError) as error:
        return _fail(str(error))
    return 0


def _fail(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="svodviz", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    explore = commands.add_parser("explore", help="write the explorer as one HTML page")
    explore.add_argument("-o", "--output", help="the page (default: the program's name with .html)")
    explore.add_argument("--machine-code", action="store_true",
                         help="with LLVM's passes and the assembly of other machines")  # fmt: skip
    show = commands.add_parser("show", help="print a stage")
    show.add_argument("--stage", choices=[*BY_ID, "summary"], default="summary")
    export = commands.add_parser("export", help="write a stage in another format")
    export.add_argument("--stage", choices=WITH_GRAPHS, default="graph")
    export.add_argument("--format", choices=FORMATS, default="svg", dest="form")
    export.add_argument("--kernel", default="", help="one kernel of a stage that has several")
    export.add_argument("-o", "--output", help="the file (default: standard output)")
    for command in (explore, show, export):
        command.epilog = EPILOG
        command.add_argument("program", help="a Python program")
        command.add_argument("arguments", nargs="*", help="its arguments")
    return parser


def _explore(found: list[Found], chosen: argparse.Namespace) -> None:
    first = Path(chosen.output or Path(chosen.program).with_suffix(".html").name)
    for position, it in enumerate(found):
        # The first page has the name asked for, the others a number.
        path = first.with_stem(f"{first.stem}-{position + 1}") if position else first
        data = wire(it.compilation)
        if chosen.machine_code:
            data["recorded"] = recorded(it.compilation)
        page = export_html(data, path, state=it.state, picture=still(it.compilation))
        print(f"{path}: {len(page.encode()) / 1000:.0f} kB")


def _show(found: list[Found], chosen: argparse.Namespace) -> None:
    texts = (
        full_summary(it.compilation)
        if chosen.stage == "summary"
        else text_of(it.compilation, chosen.stage)
        for it in found
    )
    print("\n\n".join(texts))


def _export(found: list[Found], chosen: argparse.Namespace) -> None:
    text = "".join(
        export_stage(it.compilation, chosen.stage, chosen.form, kernel=chosen.kernel)
        for it in found[-1:]
    )
    if chosen.output:
        Path(chosen.output).write_text(text, "utf-8")
    else:
        print(text, end="")


_COMMANDS = {"explore": _explore, "show": _show, "export": _export}

if __name__ == "__main__":
    sys.exit(main())
