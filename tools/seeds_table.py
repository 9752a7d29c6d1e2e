"""Writes docs/seeds.md: each concept of the seeds, its name here, and the test that runs it.

    python -m tools.seeds_table            write the page
    python -m tools.seeds_table --check    fail where the page, a name or a test is not there

The rows are in `seeds_rows.py`, `seeds_schedule_rows.py` and `seeds_device_rows.py`.
"""

import argparse
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import seeds_device_rows, seeds_rows, seeds_schedule_rows
from tools.seeds_rows import Row, Section

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "seeds.md"
SECTIONS: tuple[Section, ...] = (
    *seeds_rows.SECTIONS,
    *seeds_schedule_rows.SECTIONS,
    *seeds_device_rows.SECTIONS,
)
HEAD = """# The vocabulary of the seeds

The specification of this compiler is five listings: Rune's graph, scheduled and lowered IR
(000, 001), its lowerer (002), Svod's scheduler (003) and its device layer (004). Each concept of
theirs is here under its own name or the field's; the test in the last column runs it, and the
tests named for node kinds, operations and instructions run machine code.

Written by `python -m tools.seeds_table`, which `tests/test_seeds.py` holds to be true: every name
can be imported, every test exists, no row is empty.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_table(section) for section in SECTIONS)])


def _table(section: Section) -> str:
    """One section: a heading and a row per concept."""
    lines = [
        f"## {section.title} ({len(section.rows)})",
        "",
        f"| {section.seed} | here | test |",
        "|---|---|---|",
    ]
    for row in section.rows:
        names = ", ".join(f"`{_short(name)}`" for name in row.names)
        lines.append(f"| {row.concept} | {names} | `{row.test.removeprefix('tests/')}` |")
    return "\n".join([*lines, ""])


def _short(name: str) -> str:
    """`compiler.graph.nodes:Buffer` as people read it: `graph.nodes.Buffer`."""
    return name.removeprefix("compiler.").replace(":", ".")


def rows() -> Iterator[Row]:
    """Every row of every section."""
    return (row for section in SECTIONS for row in section.rows)


def missing_names() -> list[str]:
    """The names of rows that cannot be imported."""
    return [f"{row.concept}: {name}" for row in rows() for name in row.names if not _found(name)]


def _found(name: str) -> bool:
    """Whether `module:attribute.attribute` exists; a dataclass field without default counts."""
    module, _, path = name.partition(":")
    try:
        value: object = importlib.import_module(module)
    except ImportError:
        return False
    for part in path.split("."):
        if isinstance(value, dict):
            if part not in value:
                return False
            value = value[part]
            continue
        if part in getattr(value, "__dataclass_fields__", {}):
            return True
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def missing_tests(collected: Sequence[str] | None = None) -> list[str]:
    """The tests of rows that pytest does not know, in the order of the rows."""
    known = set(collect() if collected is None else collected)
    known |= {re.sub(r"\[.*\]$", "", test) for test in known}
    return [f"{row.concept}: {row.test}" for row in rows() if row.test not in known]


def collect() -> list[str]:
    """Ids of all tests in the files that rows name."""
    files = sorted({row.test.partition("::")[0] for row in rows()})
    present = [file for file in files if (ROOT / file).exists()]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *present], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def main() -> int:
    """The command; 1 where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail where untrue")
    if not parser.parse_args().check:
        PAGE.write_text(page(), "utf-8")
        return 0
    wrong = [*missing_names(), *missing_tests()]
    if not PAGE.exists() or PAGE.read_text("utf-8") != page():
        wrong.append("docs/seeds.md is not what this command writes")
    print("\n".join(wrong) or "every concept has its name and its test")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
