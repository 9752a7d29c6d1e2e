"""Mutants of a folder: small faults planted one by one, and whether its tests notice them.

    python -m tools.mutants compiler/loops/transforms --count 20 --seed 1
    python -m tools.mutants compiler/loops/transforms/pack.py --line 191

Each mutant changes one operator, condition or number of one function in a copy of the project. Its
tests run in two steps: those of the mirrored module (`compiler/a/b.py` has `tests/a/test_b.py`),
then, if all pass, those of the mirrored folder. A mutant that no test fails for survives, and is
printed with its line. The tests of each folder run once without a mutant first, and have to pass.
A mutant is killed by a failing test, by an error while tests are collected, or by a run that takes
three times as long as without it: each line says which.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
"""The operator that stands in for another."""


LEFT_OUT = (
    ast.Raise, ast.Assert, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.pattern,
)  # fmt: skip
"""Statements that raise, assert or define, and patterns, which are no expressions to run."""


@dataclass(frozen=True)
class Mutant:
    """A change: of `path`, at `line`, what was there and what is there instead."""

    path: Path
    line: int
    was: str
    now: str
    source: str
    """The whole text of the file with the change."""

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.was}  →  {self.now}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of the functions of a file."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                for node in _changeable(statement):
                    yield from _mutants_of(node, path, text)


def _changeable(statement: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement and below, those of cases and handlers, too.

    Not of what raises, asserts or defines, nor the `strict` of a `zip`, which asserts.
    """
    if isinstance(statement, LEFT_OUT):
        return
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.expr):
            yield from _changeable(child)
        else:
            strict = {id(it.value) for it in ast.walk(child)
                      if isinstance(it, ast.keyword) and it.arg == "strict"}  # fmt: skip
            yield from (it for it in ast.walk(child)
                        if isinstance(it, ast.expr) and id(it) not in strict)  # fmt: skip


def _mutants_of(node: ast.expr, path: Path, text: str) -> Iterator[Mutant]:
    for changed in _changes(node):
        was, now = ast.unparse(node), ast.unparse(changed)
        yield Mutant(path, node.lineno, was, now, _replaced(text, node, f"({now})"))


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """The replacements of an expression."""
    match node:
        case ast.Compare(left, [op], right) if type(op) in OTHER:
            yield ast.Compare(left, [OTHER[type(op)]()], right)  # type: ignore[list-item]
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OTHER[type(op)](), values)  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in OTHER and not _is_text(left, right):
            yield ast.BinOp(left, OTHER[type(op)](), right)  # type: ignore[arg-type]
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)


def _is_text(*operands: ast.expr) -> bool:
    """True if an operand is a text: its sum has no difference."""
    return any(
        isinstance(it, ast.JoinedStr) or isinstance(getattr(it, "value", None), str)
        for it in operands
    )


def _replaced(text: str, node: ast.expr, new: str) -> str:
    """The text of a file with `new` in the place of a node."""
    lines = text.encode().splitlines(keepends=True)
    assert node.end_lineno is not None and node.end_col_offset is not None
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + new.encode() + after).decode()


WAYS = {0: "", 1: "a test fails", 2: "tests cannot be collected"}
"""The exit codes of pytest that say something about a mutant."""


def tests_of(path: Path) -> list[str]:
    """The tests of a file, in steps: those of its mirrored module, then of the mirrored folder."""
    inner = path.relative_to(ROOT)
    parts = inner.parts[1:] if inner.parts[0] == "compiler" else inner.parts
    folder = Path("tests", *parts[:-1])
    module = folder / f"test_{path.stem}.py"
    steps = [str(module)] if (ROOT / module).exists() else []
    if (ROOT / folder).is_dir():
        steps.append(str(folder))
    return steps


def outcome(mutant: Mutant, copy: Path, seconds: Mapping[str, float]) -> str:
    """The way in which a mutant is killed in a copy of the project; "" if it survives.

    `seconds` has the limit for the tests of each place.
    """
    place = copy / mutant.path.relative_to(ROOT)
    was = place.read_text("utf-8")
    place.write_text(mutant.source, "utf-8")
    try:
        ways = (ran(tests, copy, seconds[tests]) for tests in tests_of(mutant.path))
        return next((way for way in ways if way), "")
    finally:
        place.write_text(was, "utf-8")


def ran(tests: str, copy: Path, seconds: float) -> str:
    """The way in which tests fail in a copy; "" if all pass. Raises `SystemExit` if none ran."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", tests]
    surroundings = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=surroundings, timeout=seconds,
                              capture_output=True, text=True)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no end in {seconds:.0f} s"
    if done.returncode not in WAYS:
        raise SystemExit(f"{tests}: pytest ended with {done.returncode}\n{done.stdout[-2000:]}")
    return WAYS[done.returncode]


def limits(wanted: Sequence[Mutant], copy: Path, least: float) -> dict[str, float]:
    """The limits in seconds of the tests of each place: three times a run without a mutant.

    Raises `SystemExit` if tests fail without one.
    """
    found: dict[str, float] = {}
    for tests in dict.fromkeys(it for mutant in wanted for it in tests_of(mutant.path)):
        began = time.monotonic()
        if way := ran(tests, copy, 3600.0):
            raise SystemExit(f"{tests}: fails without a mutant: {way}")
        found[tests] = max(least, 3 * (time.monotonic() - began))
    return found


def copied(folder: Path) -> Path:
    """A copy of the project in `folder`."""
    copy = folder / "project"
    left_out = shutil.ignore_patterns(".*", "build", "dist", "node_modules", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=left_out)
    return copy


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """The mutants that are asked for: some of all, by a seed, or those of a line."""
    place = ROOT / arguments.place
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    all_of_them = [it for path in paths for it in mutants(path)]
    if arguments.line:
        return [it for it in all_of_them if it.line == arguments.line]
    return random.Random(arguments.seed).sample(all_of_them, min(arguments.count, len(all_of_them)))


def main() -> int:
    """Run the mutants, print those that survive; the exit code is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("place", help="a folder or a file, from the root of the project")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--line", type=int, default=0, help="only mutants of this line")
    parser.add_argument("--seconds", type=float, default=20.0, help="the least limit of a run")
    arguments = parser.parse_args()
    wanted, survivors = chosen(arguments), []
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        seconds = limits(wanted, copy, arguments.seconds)
        for number, mutant in enumerate(wanted, 1):
            way = outcome(mutant, copy, seconds)
            if not way:
                survivors.append(mutant)
            print(f"{number}/{len(wanted)}", f"killed, {way}:" if way else "SURVIVES",
                  mutant, flush=True)  # fmt: skip
    print(f"{len(wanted) - len(survivors)} of {len(wanted)} killed")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
