"""The page's pure modules, by Node's own test runner, and their types by TypeScript's checker.

Both are skipped, with the reason, where Node (or npm, or the network to fetch TypeScript) is not
there; with CI set in the environment they are not: then what is missing fails.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from svodviz.exporting.script import FOLDER, imported, modules
from svodviz.wire.payload import opening, wire
from tests.svodviz.sample import sample

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.test.mjs"))
TYPESCRIPT = "typescript@5.9.3"
CACHE = HERE.parent.parent / "build" / "typescript"
MODULES = dict(modules())
# Signs of a module that touches a page: it makes elements, or works and paints on those that it is
# given.
OF_PAGES = re.compile(
    r"\bdocument\.|\bwindow\.|createElement|querySelector|addEventListener|getRootNode|getContext"
    r'|import \{[^}]*\b(h|s|button)\b[^}]*\} from "(?:[./]+/kit|\.)/dom\.js"'
)
TESTED = re.compile(r'from "[./]+/svodviz/js/([\w/]+\.js)"')


def found(program: str) -> str:
    """The path of a program; without it the test is skipped."""
    path = shutil.which(program)
    if path is None:
        missing(f"no {program} on the path")
    return str(path)


def missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample compilation as pages get it, in one piece and in two."""
    folder = tmp_path_factory.mktemp("data")
    begun, rest = opening(sample())
    (folder / "sample.json").write_text(json.dumps(wire(sample())))
    (folder / "parts.json").write_text(json.dumps([begun, rest.made()]))
    return folder


@pytest.mark.parametrize("path", FILES, ids=lambda it: it.name.removesuffix(".test.mjs"))
def test_modules(path: Path, data: Path) -> None:
    where = {"SVODVIZ_SAMPLE": str(data / "sample.json"), "SVODVIZ_PARTS": str(data / "parts.json")}
    done = subprocess.run(
        [found("node"), "--test-reporter=tap", str(path)],
        capture_output=True, text=True, env={**os.environ, **where},
    )  # fmt: skip
    assert "# pass 0" not in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


def says_pure(text: str) -> bool:
    """True if the comment that a module begins with says that it touches no page."""
    head = re.match(r"(//.*\n)+", text)
    return bool(head and re.search(r"\bPure\b", head[0]))


def touches_pages(name: str) -> bool:
    """True if a module makes or changes elements, itself or by modules that it imports."""
    text = MODULES[name]
    below = (it for it in imported(name, text) if it != "kit/dom.js")
    return bool(OF_PAGES.search(text)) or any(touches_pages(it) for it in below)


PURE = [name for name, text in MODULES.items() if says_pure(text)]


def test_modules_that_touch_no_page_say_so() -> None:
    assert [name for name in MODULES if says_pure(MODULES[name]) == touches_pages(name)] == []


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_are_tested_and_typed(name: str) -> None:
    tested = {it for path in FILES for it in TESTED.findall(path.read_text("utf-8"))}
    assert name in tested, f"no test in {HERE.name}/ imports {name}"
    typed = json.loads((HERE / "tsconfig.json").read_text("utf-8"))["files"]
    assert f"../../{FOLDER.parent.name}/{FOLDER.name}/{name}" in typed


def compiler() -> str:
    """TypeScript's compiler, fetched once into build/."""
    path = CACHE / "node_modules" / ".bin" / "tsc"
    if not path.exists():
        command = [found("npm"), "install", "--silent", "--no-audit", "--no-fund",
                   "--prefix", str(CACHE), TYPESCRIPT]  # fmt: skip
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            missing(f"npm could not fetch {TYPESCRIPT}: {done.stderr[-200:]}")
    return str(path)


def test_types() -> None:
    done = subprocess.run(
        [compiler(), "-p", str(HERE / "tsconfig.json")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


NAMELESS = re.compile(r"error TS(2304|2305|2307|2552|2614|2724|18004): .*")
"""A name, a module, or what a module exports, that is nowhere."""


def nameless(folder: Path) -> list[str]:
    """Names that modules of a folder, those without types too, use and that are nowhere."""
    options = ["--allowJs", "--checkJs", "--noEmit", "--skipLibCheck", "--strict", "false",
               "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler",
               "--lib", "es2023,dom,dom.iterable"]  # fmt: skip
    modules = [str(path) for path in sorted(folder.rglob("*.js"))]
    done = subprocess.run([compiler(), *options, *modules], capture_output=True, text=True)
    return [match[0] for match in NAMELESS.finditer(done.stdout)]


def test_every_name_is_somewhere(tmp_path: Path) -> None:
    assert nameless(FOLDER) == []
    (tmp_path / "wrong.js").write_text("export const late = (row) => time(row.ns);\n")
    assert nameless(tmp_path) == ["error TS2304: Cannot find name 'time'."]


def test_types_are_checked_for_real(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.js"
    wrong.write_text("/** @param {number} it */\nexport const twice = (it) => it.length;\n")
    done = subprocess.run(
        [compiler(), "--allowJs", "--checkJs", "--noEmit", "--strict", str(wrong)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0 and "length" in done.stdout
