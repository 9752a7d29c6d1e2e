"""The command line: what it finds in a program, what it writes, and how it fails."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from svodviz.cli import main as cli
from svodviz.cli.main import main
from svodviz.exporting.save import ENDINGS
from tests.svodviz.exporting.test_save import STARTS
from tests.svodviz.texts.test_summary import SUMMARY

ROOT = Path(__file__).parents[3]
HEAD = "import svodviz\nfrom tests.svodviz.sample import sample\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "network.py"
    path.write_text(f"{HEAD}svodviz.explore(sample(), stage='schedule')\n")
    return path


def test_explore_writes_a_page(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["explore", str(program), "-o", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"{page}: ")
    assert '"stage":"schedule"' in page.read_text("utf-8")


def test_every_explorer_gets_a_page(tmp_path: Path) -> None:
    program = tmp_path / "two.py"
    program.write_text(f"{HEAD}svodviz.explore(sample('a'))\nsvodviz.explore(sample('b'))\n")
    assert main(["explore", str(program), "-o", str(tmp_path / "page.html")]) == 0
    assert "<title>a · svodviz" in (tmp_path / "page.html").read_text("utf-8")
    assert "<title>b · svodviz" in (tmp_path / "page-2.html").read_text("utf-8")


def test_show_prints_a_stage(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(program)]) == 0
    assert capsys.readouterr().out.startswith(f"{SUMMARY}\n  optimised  ")
    assert main(["show", str(program), "--stage", "loops"]) == 0
    assert "acc = mulacc(x[i*20 + k], w1[k*32 + j], acc)" in capsys.readouterr().out


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [sys.executable, "-m", "svodviz", "--version"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout == f"svodviz {project['version']}\n"


WRONG = """\
import numpy as np, svodviz
from compiler import PASSES, Tensor, compile
from tests.svodviz.wire.test_checks import turned
x = Tensor(np.linspace(-2, 2, 64, dtype=np.float32))
y = compile((x * 2.0 - 1.0).exp(), passes=PASSES.after("simplify", turned))
"""
RIGHT = "import numpy as np\nfrom compiler import Tensor\ny = Tensor([1.0, -2.0]).exp() + 1.0\n"


def written(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text)
    return str(folder / "program.py")


@pytest.mark.parametrize("command", ["explore", "export"])
def test_a_page_speaks_to_who_made_it_at_the_command_line(tmp_path: Path, command: str) -> None:
    page = tmp_path / "page.html"
    assert main([command, written(tmp_path, RIGHT), "-o", str(page)]) == 0
    assert '<body data-maker="command line"' in page.read_text("utf-8")


def test_show_prints_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.py"
    path.write_text(
        "import numpy as np\nfrom compiler import Tensor\n"
        "x = Tensor(np.ones((512, 512), np.float32), name='x')\ny = (x * np.float64(2)) @ x\n"
    )
    assert main(["show", str(path), "--findings"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("1  float64   about ")
    assert text.splitlines()[1] == "   wide.py:4  y = (x * np.float64(2)) @ x"
    assert "Instead: write a Python number or np.float32(…)" in text
    assert main(["show", str(path), "--stage", "findings"]) == 0
    assert capsys.readouterr().out == text


def test_show_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--check", written(tmp_path, RIGHT)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("compilation program.py")
    assert re.match("  ✓ graph simplify +right", next(it for it in lines if "simplify" in it))
    assert next(it for it in lines if it.startswith("  – llvm")).endswith("made from it")
    assert re.fullmatch(r"all \d+ that ran are right", lines[-1])


def test_show_finds_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = written(tmp_path, WRONG)
    assert main(["show", "--check", "--stage", "graph", program]) == 1
    lines = capsys.readouterr().out.splitlines()
    first = next(it for it in lines if "✗" in it and "turned" in it)
    assert first.startswith("  ✗ graph turned") and "instead of" in first
    below = lines[lines.index(first) + 1]
    assert below.startswith("    ✗ from rewrite 1 of 1 on, by turned: wrong: ")
    assert any(it.startswith("  ✓ graph simplify") for it in lines)
    assert any(it.startswith("  ✗ asm") for it in lines)
    assert re.fullmatch(r"\d+ wrong of \d+ that ran", lines[-1])
    assert main(["show", "--stage", "graph", program]) == 0


def test_explore_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    program = written(tmp_path, WRONG + "svodviz.explore(y, stage='loops')\n")
    assert main(["explore", "--check", program, "-o", str(page)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{page}: ") and "✗ graph turned" in out
    text = page.read_text("utf-8")
    assert '"stage":"loops"' in text
    assert main(["explore", program, "-o", str(page)]) == 0
    assert "✗" not in capsys.readouterr().out


def test_what_cannot_be_checked_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "import compiler\ny = compiler.Tensor.placeholder(4, dtype='float32', name='x') * 2.0\n"
    assert main(["show", "--check", written(tmp_path, text)]) == 1
    out = capsys.readouterr().out
    assert "nothing was checked: " in out and out.endswith("nothing ran\n")


def test_two_at_once_have_no_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{RIGHT}import svodviz\nsvodviz.explore(y, y * 2.0)\n"
    assert main(["explore", "--check", written(tmp_path, text)]) == 1
    assert "two programs side by side have no marks" in capsys.readouterr().err


def test_help_says_what_the_exit_code_means(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("explore", "show"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        words = " ".join(capsys.readouterr().out.split())
        assert "--check run every pass and stage" in words and "exit code is 1" in words


def test_export_writes_a_stage(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(program), "--stage", "kernels"]) == 0
    assert capsys.readouterr().out.startswith("<svg ")
    path = tmp_path / "loops.txt"
    wish = ["export", str(program), "--stage", "loops", "--format", "txt", "--kernel", "k3"]
    assert main([*wish, "-o", str(path)]) == 0
    assert path.read_text("utf-8").startswith("k3(x)\n")


@pytest.mark.parametrize("form", ENDINGS)
def test_the_ending_says_the_format(program: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"x.{form}"
    assert main(["export", str(program), "-o", str(path)]) == 0
    assert path.read_bytes().startswith(STARTS[form])


def test_an_ending_without_format(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(program), "-o", str(tmp_path / "x.gif")]) == 1
    assert "its ending says no format" in capsys.readouterr().err
    assert not (tmp_path / "x.gif").exists()


@pytest.mark.parametrize(("arguments", "words"), [
    (["export", "{program}", "-o", "{folder}/x.gif"], "its ending says no format"),
    (["export", "{program}", "-o", "{folder}/no/x.svg"], "No such file or directory"),
    (["explore", "{program}", "-o", "{folder}"], "Is a directory"),
    (["explore", "{program}", "-o", "{folder}/no/x.html"], "No such file or directory"),
    (["diff", "{program}", "{program}", "-o", "{folder}/no/x.html"], "No such file or directory"),
    (["diff", "{program}", "{program}", "--open"], "name one with -o"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused_before_the_program_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    mark = tmp_path / "it ran"
    program = written(tmp_path, f"open({str(mark)!r}, 'w').close()\n{RIGHT}")
    assert main([it.format(program=program, folder=tmp_path) for it in arguments]) != 0
    assert words in capsys.readouterr().err
    assert not mark.exists()


def test_pages_are_opened_when_that_is_asked_for(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    opened: list[Path] = []
    monkeypatch.setattr(cli, "open_page", lambda path: not opened.append(path))
    page = tmp_path / "page.html"
    assert main(["explore", str(program), "-o", str(page)]) == 0
    assert opened == []
    assert main(["explore", str(program), "-o", str(page), "--open"]) == 0
    assert opened == [page] and page.exists()
    assert main(["diff", str(program), str(program), "-o", str(page), "--open"]) == 0
    assert opened == [page, page]
    monkeypatch.setattr(cli, "open_page", lambda path: False)
    assert main(["explore", str(program), "-o", str(page), "--open"]) == 0
    assert capsys.readouterr().err.endswith(f"{page}: there is no browser here to open it in\n")


def test_show_prints_one_kernel(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(program), "--stage", "loops", "--kernel", "k3"]) == 0
    assert capsys.readouterr().out.startswith("k3(x)\n")


@pytest.mark.parametrize(("more", "words"), [
    (["--measure"], "--measure is for --stage modules, not for summary"),
    (["--stage", "decisions", "--kernel", "k0"], "stage decisions has no kernels of its own"),
])  # fmt: skip
def test_show_ignores_no_option(
    program: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert main(["show", str(program), *more]) != 0
    assert words in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["show", str(program), "--findings", "--stage", "loops"])
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.fixture
def programs(tmp_path: Path) -> list[str]:
    """Two programs that differ in one operation, and one that is the first again."""
    made = []
    for name, text in (("a", "x * 2.0"), ("b", "(x * 2.0).relu()"), ("c", "x * 2.0")):
        path = tmp_path / f"{name}.py"
        path.write_text(f"from compiler import Tensor\nx = Tensor([1.0, -2.0])\ny = {text}\n")
        made.append(str(path))
    return made


def test_diff_says_what_differs(programs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *programs[:2]]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[:2] == [f"a  {programs[0]}", f"b  {programs[1]}"]
    assert "+1 relu" in out


def test_diff_of_the_same(programs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", programs[0], programs[2]]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no difference"
    assert main(["diff", programs[0], programs[2], "--stage", "asm"]) == 0
    assert capsys.readouterr().out == ""


def test_diff_of_one_stage(programs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *programs[:2], "--stage", "graph"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"--- {programs[0]}\tgraph as written"
    assert lines[1] == f"+++ {programs[1]}\tgraph as written"
    assert next(it.split()[2] for it in lines if it.startswith("+%")) == "relu"
    assert not [it for it in lines if it.startswith("-%")]


def test_diff_measures(programs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *programs[:2], "--measure"]) == 1
    assert "measured, one run" in capsys.readouterr().out


@pytest.mark.parametrize(("more", "words"), [
    (["nowhere.py"], "nowhere.py: no such file"),
    (["{b}", "--stage", "loops", "--kernel", "k9"], "no kernel 'k9'; expected one of k0"),
])  # fmt: skip
def test_diff_in_trouble(
    programs: list[str], capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    given = [it.format(b=programs[1]) for it in more]
    assert main(["diff", programs[0], *given]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("asked", ["show '{program}' --stage llvm", "show --help", "--version"])
def test_output_ends_where_nobody_reads_on(program: Path, asked: str) -> None:
    reader = "head -1" if "llvm" in asked else "head -0"
    asked = asked.format(program=program)
    line = f'"{sys.executable}" -m svodviz.cli.main {asked} | {reader}'
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == int(reader[-1])


def test_without_explore_the_last_name_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "names.py"
    program.write_text(f"{HEAD}first = sample('first')\nsecond = sample('second')\nx = 3\n")
    assert main(["show", str(program)]) == 0
    assert capsys.readouterr().out.startswith("compilation second\n")


def test_programs_get_their_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "arguments.py"
    program.write_text(f"import sys\n{HEAD}y = sample(sys.argv[1])\n")
    assert main(["show", str(program), "given"]) == 0
    assert capsys.readouterr().out.startswith("compilation given\n")


def test_a_program_may_leave_early(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "early.py"
    program.write_text(f"{HEAD}svodviz.explore(sample())\nraise SystemExit(0)\n")
    assert main(["show", str(program)]) == 0
    assert capsys.readouterr().out.startswith(f"{SUMMARY}\n  optimised  ")


def test_a_program_that_raises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(f"{HEAD}def inner():\n    svodviz.explore(3)\n\ninner()\n")
    assert main(["show", str(program)]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.splitlines()[0] == "Traceback (most recent call last):"
    assert f'File "{program}", line 6, in <module>' in error
    assert f'File "{program}", line 4, in inner' in error
    assert "explorer.py" not in error
    assert "runpy" not in error
    assert "explore: there is nothing to explore in this\n  got:      int\n" in error
    assert error.splitlines()[-1] == f"  line:     {program}:4  svodviz.explore(3)"


@pytest.mark.parametrize(("text", "words"), [
    ("x = 1\n", "nothing to explore"),
    ("raise SystemExit('stop')\n", "exit with 'stop'"),
    ("x = (\n", "SyntaxError"),
])  # fmt: skip
def test_programs_with_nothing_to_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(text)
    assert main(["explore", str(program), "-o", str(tmp_path / "page.html")]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_program_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "nowhere.py"]) == 1
    assert capsys.readouterr().err == "nowhere.py: no such file\n"


def test_the_program_leaves_no_traces(program: Path) -> None:
    before = sys.argv[:], sys.path[:]
    main(["show", str(program)])
    assert (sys.argv, sys.path) == before


def test_as_a_command(tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text("1 / 0\n")
    done = subprocess.run(
        [sys.executable, "-m", "svodviz.cli.main", "show", str(program)],
        capture_output=True, text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(("arguments", "words"), [
    (["show", "{folder}"], "{folder}: a folder; expected a Python program or a model\n"),
    (["export", "{program}", "-o", "{folder}/no/x.svg"],
     "{folder}/no/x.svg: cannot be written: No such file or directory\n"),
    (["explore", "{program}", "-o", "{folder}/no/x.html"],
     "{folder}/no/x.html: cannot be written: No such file or directory\n"),
])  # fmt: skip
def test_what_cannot_be_read_or_written_is_said_in_a_sentence(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    arguments: list[str], words: str,
) -> None:  # fmt: skip
    names = {"folder": tmp_path, "program": program}
    assert main([it.format(**names) for it in arguments]) == 1
    assert capsys.readouterr().err == words.format(**names)


def test_only_what_is_missing_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show"])
    told = capsys.readouterr().err
    assert told.endswith("error: the following arguments are required: program\n")
    assert max(map(len, told.split("\n"))) <= 80


def test_help_shows_how_each_command_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    for words in ("svodviz explore program.py -o page.html ", "svodviz diff a.py b.py "):
        assert words in told
