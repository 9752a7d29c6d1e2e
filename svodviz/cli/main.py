"""The command line: the same explorer, texts and pictures without a notebook.

    svodviz explore program.py -o page.html     one HTML page, zero requests; --open shows it
    svodviz show program.py --stage lowered     a stage as text; also summary, decisions
    svodviz show program.py --findings          possible improvements, and the code to write
    svodviz show program.py --stage run         the measured times of a run
    svodviz export program.py -o graph.png      a stage in a file; its suffix is the format
    svodviz diff a.py b.py                      the differences of two programs
    svodviz explore model.onnx --dim batch=4    models too: .onnx, and .pt2 of PyTorch
    svodviz trace model.onnx --module layer.0   one of its modules through every stage
    svodviz show model.onnx --stage modules     the modules of a model, with times

A model gets inputs: from files (`--input data.npz`, `--input x=x.npy`), others are random, of the
shapes that it declares. A program runs like a script. The arguments of its calls of
`svodviz.explore(...)` are explored, or without such a call its last module-level Tensor or
Compilation. If it raises, the exception is printed with the traceback of its own frames. With
`--check`, `explore` and `show` run every pass and stage on the program's inputs and mark them right
or wrong. The exit code is 0, or 1 after an error; that of `diff` is 0 for no difference, 1 for
some, 2 after an error. Names and texts of a program are printed without control characters.
"""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from compiler.core.errors import CompileError
from compiler.core.printable import printout
from compiler.core.replacing import write_file
from svodviz.cli.model import Given, dim_of, is_model, load
from svodviz.cli.program import Found, NothingFound, ProgramError, run
from svodviz.cli.progress import reported
from svodviz.comparing.compare import compare
from svodviz.comparing.comparison import COMPARED, Comparison
from svodviz.exporting.browser import open_page
from svodviz.exporting.save import ENDINGS, encode, form_of
from svodviz.foundation.escape import terminal_text, visible
from svodviz.foundation.stages import BY_ID, EXPORTED, WITH_GRAPHS
from svodviz.texts.check_text import check_text
from svodviz.texts.decision_text import decision_text
from svodviz.texts.summary import full_summary, text_of
from svodviz.widget.side_by_side import SideBySide
from svodviz.wire.checks import Checks

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

EPILOG = (
    "Explores the arguments of the program's calls of svodviz.explore(...), or without such a call "
    "its last module-level Tensor or Compilation."
)


EXAMPLES = __doc__.partition("\n\n")[2].partition("\n\n")[0]
TRACED = (*(it for it in WITH_GRAPHS if it != "asm"), "assembly")
"""The stages that a module is followed to."""
WHOLE = ("summary", "passes", "decisions", "findings", "modules")
"""Stages without units per kernel."""
RIGHT, WRONG = 0, 1
SAME, DIFFERENT, TROUBLE = 0, 1, 2
OPEN = "show the page in the browser"
CHECK = (
    "run every pass and stage on the program's inputs and mark them right or wrong; the exit code "
    "is 1 if one is wrong or none can run"
)


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages contain no control characters of the terminal."""

    def error(self, message: str) -> NoReturn:
        """Prints what is wrong with the arguments and exits."""
        super().error(terminal_text(message))


class _Version(argparse.Action):
    """`svodviz 0.1.0`, looked up on demand."""

    def __call__(self, parser: argparse.ArgumentParser, *values: object) -> NoReturn:
        """Prints the version and exits."""
        print(f"svodviz {metadata.version('svodviz')}")
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    try:
        try:
            return _run(_parser().parse_args(arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Who read our output has seen enough: `svodviz show … | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return RIGHT


def _run(chosen: argparse.Namespace) -> int:
    is_diff = chosen.command == "diff"
    try:
        _check_outputs(chosen)
        return _diff(chosen) if is_diff else _one(chosen)
    except BrokenPipeError:
        raise
    except (ProgramError, NothingFound, CompileError, ValueError, OSError) as error:
        print(terminal_text(error), file=sys.stderr)
        return TROUBLE if is_diff else WRONG


def _check_outputs(chosen: argparse.Namespace) -> None:
    """Refuses, before any program runs, a file that cannot be written or has no format."""
    output = getattr(chosen, "output", None)
    if chosen.command == "export" and output and not chosen.form:
        form_of(output)
    if getattr(chosen, "is_opened", False) and chosen.command == "diff" and not output:
        raise ValueError("--open: there is no page to open; name one with -o")
    if output:
        _check_output(Path(output))


def _check_output(path: Path) -> None:
    why = (
        errno.EISDIR if path.is_dir()
        else errno.ENOENT if not path.parent.is_dir()
        else 0 if os.access(path if path.exists() else path.parent, os.W_OK)
        else errno.EACCES
    )  # fmt: skip
    if why:
        raise ValueError(f"{path}: cannot be written: {os.strerror(why)}")


def _one(chosen: argparse.Namespace) -> int:
    programs = _found(chosen.program, chosen.arguments, _given(chosen))
    return _COMMANDS[chosen.command](programs, chosen)


def _given(chosen: argparse.Namespace) -> Given:
    return Given(tuple(chosen.input), dict(map(dim_of, chosen.dim)), chosen.seed, chosen.trust)


def _found(program: str, arguments: list[str], inputs: Given) -> list[Found]:
    if Path(program).is_dir():
        raise ValueError(f"{program}: a folder; expected a Python program or a model")
    if not Path(program).is_file():
        raise ValueError(f"{program}: no such file")
    if is_model(program):
        if arguments:
            raise ValueError(f"{program}: a model takes no arguments; its inputs are --input")
        return load(program, inputs)
    if inputs.is_any:
        raise ValueError(f"{program}: --input and --dim are for models")
    with reported(f"running {visible(Path(program).name)}", is_alone=False):
        return run(program, arguments)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="svodviz", description=__doc__.split("\n")[0], epilog=EXAMPLES,
                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True)
    explore = commands.add_parser("explore", help="write the explorer as one HTML page")
    explore.add_argument("-o", "--output", help="the page (default: the program's name with .html)")
    explore.add_argument("--machine-code", action="store_true",
                         help="with LLVM's passes and the assembly of other machines")  # fmt: skip
    explore.add_argument("--measure", action="store_true",
                         help="run the program, and show the measured times")  # fmt: skip
    explore.add_argument("--open", action="store_true", dest="is_opened", help=OPEN)
    show = commands.add_parser("show", help="print a stage")
    stages = [*BY_ID, "decisions", "findings", "summary"]
    which = show.add_mutually_exclusive_group()
    which.add_argument("--stage", choices=stages, default="summary", metavar="STAGE",
                       help=f"{', '.join(stages[:-1])}, or summary (the default)")  # fmt: skip
    which.add_argument("--findings", action="store_const", dest="stage", const="findings",
                       help="possible improvements, with the code to write instead")  # fmt: skip
    show.add_argument("--kernel", default="", help="one kernel of a stage that has several")
    show.add_argument("--measure", action="store_true",
                      help="for stage modules: measured times of a run")  # fmt: skip
    export = commands.add_parser("export", help="write a stage in another format")
    export.add_argument("--stage", choices=EXPORTED, default="graph", metavar="STAGE",
                        help=f"{', '.join(EXPORTED)} (default: graph)")  # fmt: skip
    export.add_argument("--format", choices=ENDINGS, dest="form",
                        help="the format (default: by the output's ending, else svg)")  # fmt: skip
    export.add_argument("--kernel", default="", help="one kernel of a stage that has several")
    export.add_argument("-o", "--output", help="the file (default: standard output)")
    for command in (explore, show):
        command.add_argument("--check", action="store_true", help=CHECK)
    trace = commands.add_parser("trace", help="follow one module through every stage")
    trace.add_argument("--module", required=True, help="its full name, as in layers.0.attention, "
                       "or a unique suffix of it")  # fmt: skip
    trace.add_argument("--to", default="assembly", metavar="STAGE", choices=TRACED,
                       help=f"the last stage: {', '.join(TRACED)} (default: assembly)")  # fmt: skip
    for command in (explore, show, export, trace):
        command.epilog = EPILOG
        command.add_argument("program", help="a Python program, or a model: .onnx, .pt2")
        command.add_argument("arguments", nargs="*", default=[], help="arguments of a program")
        _add_given(command)
    _add_diff(commands)
    return parser


def _add_given(command: argparse.ArgumentParser) -> None:
    """The inputs of a model."""
    command.add_argument("--input", action="append", default=[], metavar="[NAME=]FILE",
                         help="of a model: arrays for its inputs, from .npz or .npy")  # fmt: skip
    command.add_argument("--dim", action="append", default=[], metavar="NAME=NUMBER",
                         help="of a model: the size of a dynamic axis, as in batch=4")  # fmt: skip
    command.add_argument("--trust", action="store_true",
                         help="of a .pt2 file: allow objects that may run code")  # fmt: skip
    command.add_argument("--seed", type=int, default=0, metavar="NUMBER",
                         help="of a model: the seed of random inputs (default: 0)")  # fmt: skip


def _add_diff(commands: "argparse._SubParsersAction[_Parser]") -> None:
    diff = commands.add_parser("diff", help="compare two programs", epilog=EPILOG)
    diff.add_argument("a", help="a Python program, or a model")
    diff.add_argument("b", help="another program or model")
    _add_given(diff)
    diff.add_argument("--stage", choices=COMPARED, metavar="STAGE",
                      help=f"print the unified diff of a stage: {', '.join(COMPARED)}")  # fmt: skip
    diff.add_argument("--kernel", default="", help="one kernel of a stage that has several")
    diff.add_argument("--measure", action="store_true", help="run both, and compare the times too")
    diff.add_argument("-o", "--output", help="also write the page that shows both side by side")
    diff.add_argument("--open", action="store_true", dest="is_opened", help=OPEN)


def _explore(programs: list[Found], chosen: argparse.Namespace) -> int:
    first = Path(chosen.output or Path(chosen.program).with_suffix(".html").name)
    checks = [_checked(it) if chosen.check else None for it in programs]
    for position, (it, checked) in enumerate(zip(programs, checks, strict=True)):
        # The first page has the name asked for, the others a number.
        path = first.with_stem(f"{first.stem}-{position + 1}") if position else first
        with reported(f"making {visible(path.name)}"):
            page = it.page(machine_code=chosen.machine_code, measure=chosen.measure, checks=checked)
        _write_page(path, page, sys.stdout)
        if chosen.is_opened and not position:
            _open(path)
        if checked:
            print(check_text(checked, it.compilation))
    return RIGHT if all(it is None or it.is_right for it in checks) else WRONG


def _checked(program: Found) -> Checks:
    with reported("running every pass and stage"):
        return program.check()


def _open(path: Path) -> None:
    if not open_page(path):
        print(terminal_text(f"{path}: there is no browser here to open it in"), file=sys.stderr)


def _write_page(path: Path, page: str, stream: TextIO) -> None:
    _write(path, page.encode())
    print(f"{visible(path)}: {len(page.encode()) / 1000:.0f} kB", file=stream)


def _write(path: Path, data: bytes) -> None:
    try:
        write_file(path, data)
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror or error}") from error


def _show(programs: list[Found], chosen: argparse.Namespace) -> int:
    checks = [_checked(it) for it in programs] if chosen.check else []
    with reported(f"making stage {chosen.stage}"):
        texts = [_text(it.compilation, chosen) for it in programs]
    for position, checked in enumerate(checks):
        texts[position] += f"\n\n{check_text(checked, programs[position].compilation)}"
    print("\n\n".join(texts))
    return RIGHT if all(it.is_right for it in checks) else WRONG


def _text(compilation: "Compilation", chosen: argparse.Namespace) -> str:
    if chosen.measure and chosen.stage not in ("modules", "run"):
        raise ValueError(f"--measure is for --stage modules, not for {chosen.stage}")
    if chosen.kernel and chosen.stage in WHOLE:
        raise ValueError(f"--kernel: stage {chosen.stage} has no kernels of its own")
    if chosen.kernel:
        return encode(compilation, chosen.stage, "txt", kernel=chosen.kernel).decode().rstrip("\n")
    if chosen.stage == "summary":
        return full_summary(compilation)
    if chosen.stage == "decisions":
        return decision_text(compilation)
    if chosen.stage == "findings":
        return str(compilation.findings)
    if chosen.stage == "modules":
        return str(compilation.by_module(compilation.measure() if chosen.measure else None))
    return text_of(compilation, chosen.stage)


def _trace(programs: list[Found], chosen: argparse.Namespace) -> int:
    for it in programs:
        it.compilation.modules.find(chosen.module, "trace")
    with reported(f"following {visible(chosen.module)}"):
        texts = [str(it.compilation.trace(chosen.module, chosen.to)) for it in programs]
    print("\n\n".join(texts))
    return RIGHT


def _export(programs: list[Found], chosen: argparse.Namespace) -> int:
    form = chosen.form or (form_of(chosen.output) if chosen.output else "svg")
    with reported(f"making stage {chosen.stage} as {form}"):
        data = encode(
            programs[-1].compilation, chosen.stage, form, kernel=chosen.kernel, maker="command line"
        )
    if chosen.output:
        _write(Path(chosen.output), data)
    elif form == "png":
        sys.stdout.buffer.write(data)
    else:
        print(data.decode(), end="")
    return RIGHT


def _diff(chosen: argparse.Namespace) -> int:
    a, b = (
        _found(it, [], _given(chosen) if is_model(it) else Given())[-1].compilation
        for it in (chosen.a, chosen.b)
    )
    with reported("comparing"):
        comparison = compare(a, b, names=(chosen.a, chosen.b), measure=chosen.measure)
    if chosen.output:
        page = SideBySide(comparison).export_html(maker="command line")
        _write_page(Path(chosen.output), page, sys.stderr)
        if chosen.is_opened:
            _open(Path(chosen.output))
    if not chosen.stage:
        print(comparison)
        return SAME if comparison.is_same else DIFFERENT
    lines = _unified(comparison, chosen.stage, chosen.kernel)
    if lines:
        print(printout(lines))
    return DIFFERENT if lines else SAME


def _unified(comparison: Comparison, stage: str, kernel: str) -> list[str]:
    """The unified diffs of the units of a stage, one after another."""
    if stage in comparison.missing:
        raise ValueError(f"diff: stage {stage!r} is missing: {comparison.missing[stage]}")
    units = [it for it in comparison.stages[stage] if kernel in ("", it.name)]
    if kernel and not units:
        names = ", ".join(it.name for it in comparison.stages[stage])
        raise ValueError(f"diff: no kernel {kernel!r}; expected one of {names}")
    titles = [" ".join(filter(None, (stage, it.name))) for it in units]
    first, second = comparison.names
    return [
        line
        for unit, title in zip(units, titles, strict=True)
        for line in unit.unified((f"{first}\t{title}", f"{second}\t{title}"))
    ]


_COMMANDS = {"explore": _explore, "show": _show, "export": _export, "trace": _trace}

if __name__ == "__main__":
    sys.exit(main())
