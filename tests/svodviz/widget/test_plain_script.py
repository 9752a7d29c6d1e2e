"""`explore` in a plain script."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import svodviz
from svodviz.exporting.browser import SCREENS
from svodviz.widget import plain_script as script
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import state
from tests.svodviz.sample import sample

ROOT = Path(__file__).parents[3]
PROGRAM = """\
import svodviz
from tests.svodviz.sample import sample

def main():
    print(svodviz.explore(sample("network.py"), stage="schedule"))

if __name__ == "__main__":
    main()
"""


def ran(program: Path, *before: str) -> "subprocess.CompletedProcess[str]":
    """A program run without a screen, its temporary files next to it."""
    surroundings = {key: it for key, it in os.environ.items() if key not in SCREENS}
    return subprocess.run(
        [sys.executable, *before, str(program)], capture_output=True, text=True, check=True,
        env={**surroundings, "PYTHONPATH": str(ROOT), "TMPDIR": str(program.parent)},
    )  # fmt: skip


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_it_says_where_it_wrote_a_page(program: Path) -> None:
    done = ran(program)
    told = re.fullmatch(
        r"svodviz: the explorer of network.py is a page, to be opened: (\S+/network.html)\n",
        done.stderr,
    )
    assert told
    page = Path(told[1]).read_text("utf-8")
    assert '"stage":"schedule"' in page
    assert done.stdout.startswith("Explorer of compilation network.py")


@pytest.mark.browser
def test_the_page_of_a_script_opens(program: Path, open_page: Open) -> None:
    page = open_page(Path(ran(program).stderr.split()[-1]))
    assert state(page)["stage"] == "schedule"
    assert page.locator(".item").count() == 4


def test_the_command_line_shows_it_in_its_own_way(program: Path) -> None:
    done = ran(program, "-m", "svodviz", "show", "--stage", "summary")
    assert "svodviz:" not in done.stderr
    assert not list(program.parent.glob("svodviz-*"))


def test_an_imported_module_is_no_script(program: Path) -> None:
    other = program.with_name("other.py")
    other.write_text("import program\nprogram.main()\n")
    assert ran(other).stderr == ""


def test_neither_are_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "show_page", lambda *_: pytest.fail("a page was written"))
    svodviz.explore(sample())
    assert not script.is_script()


@pytest.mark.parametrize(("name", "file"), [
    ("cell 3", "cell_3.html"), ("../\x1b[31m/evil.py", "evil.html"), ("", "page.html"),
])  # fmt: skip
def test_hostile_names_stay_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    name: str, file: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(script, "open_page", lambda path: True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = script.show_page(svodviz.Explorer(sample()), name)
    assert path.name == file and path.parent.parent == tmp_path
    told = capsys.readouterr().err
    assert "is opened in the browser, from" in told and "\x1b" not in told
