"""The set-up: the content of the wheel, its requirements, and the output of `make`."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PACKAGES = ("compiler", "svodviz")
TARGETS = ("setup", "lab", "test", "test-all", "cpus", "aarch64", "arrayapi", "demo", "check",
           "bench", "models", "opinfo", "notebooks", "pictures", "types", "wheel", "clean",
           "help")  # fmt: skip

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")


# --- the distribution -------------------------------------------------------------------------


def test_wheel_holds_both_packages_whole_and_nothing_else() -> None:
    shipped = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    sources = (path for package in PACKAGES for path in (ROOT / package).rglob("*"))
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        if path.suffix in {".py", ".js", ".css"}
    }
    assert wanted - shipped == set()
    assert {path.split("/")[0] for path in shipped} == set(PACKAGES)


def test_console_script_exists() -> None:
    module, function = PROJECT["scripts"]["svodviz"].split(":")
    assert callable(getattr(importlib.import_module(module), function))


def _names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(it).name) for it in requirements}


def _foreign_imports(package: str) -> set[str]:
    """The top-level modules from outside Python and this project that a package imports."""
    nodes = (
        node
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
    )
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names - {*PACKAGES}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_import_is_a_declared_dependency(package: str) -> None:
    declared = _names(PROJECT["dependencies"])
    for extra in ("notebooks", "onnx", "torch", "jax", "dask"):
        declared |= _names(EXTRAS[extra])
    homes = packages_distributions()
    undeclared = {
        module
        for module in _foreign_imports(package)
        if not declared & {canonicalize_name(name) for name in homes.get(module, [module])}
    }
    assert undeclared == set(), f"{package}/ imports what pyproject.toml does not declare"


# --- make and CI ------------------------------------------------------------------------------


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    command = ["make", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@needs_make
def test_make_lists_its_targets() -> None:
    listing = _make()
    assert listing.returncode == 0, listing.stderr
    assert set(re.findall(r"^ +make ([\w-]+)", listing.stdout, re.MULTILINE)) == set(TARGETS)


@needs_make
@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "not found"),
        ("exit 1", "too old: svodviz needs Python 3.11 or newer"),
        ('case "$2" in *version_info*) exit 0;; *) exit 1;; esac', "apt install python3-venv"),
    ],
    ids=["absent", "old", "without venv"],
)
def test_make_says_what_is_wrong_with_python(
    tmp_path: Path, script: str | None, message: str
) -> None:
    python = tmp_path / "python3"
    if script:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    environment = tmp_path / "environment"
    attempt = _make("setup", f"PYTHON={python}", f"VENV={environment}")
    assert attempt.returncode != 0
    assert f"make: {python}" in attempt.stderr
    assert message in attempt.stderr
    assert not environment.exists()


def test_ci_script_is_sound() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    lines = {line.strip() for line in script.read_text("utf-8").splitlines()}
    assert {'make test TEST_SEED="$seed"', "make cpus CPUS=haswell", "make wheel"} <= lines
    assert any(line.startswith("make aarch64 LIMIT=") for line in lines), "it says where it ended"


def test_binder_installs_this_project() -> None:
    runtime = (ROOT / "binder" / "runtime.txt").read_text("utf-8").strip()
    assert runtime.removeprefix("python-") in SpecifierSet(PROJECT["requires-python"])
    requirements = (ROOT / "binder" / "requirements.txt").read_text("utf-8").split()
    assert requirements == [".[notebooks]"]
    assert "jupyterlab" in _names(EXTRAS["notebooks"])


# --- the front page ---------------------------------------------------------------------------


def _page(name: str = "README.md") -> str:
    return (ROOT / name).read_text("utf-8")


def _code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", _page(), re.MULTILINE | re.DOTALL)


def test_front_page_is_short() -> None:
    assert len(_page().split()) <= 700


def test_front_page_commands_are_targets() -> None:
    commands = re.findall(r"^make (\w+)", "".join(_code_blocks("sh")), re.MULTILINE)
    assert commands == ["lab", "test"]


def test_front_page_examples_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    first, *rest = _code_blocks("python")
    assert len(first.splitlines()) <= 10
    for block in (first, *rest):
        exec(compile(block, "README.md", "exec"), names)
        assert capsys.readouterr().out.strip()


def test_links_of_pages_lead_somewhere() -> None:
    pages = ["README.md", *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))]
    missing = []
    for name in pages:
        links = [it for it in re.findall(r"\]\(([^)#]+)\)", _page(name)) if "://" not in it]
        folder = (ROOT / name).parent
        missing += [f"{name}: {link}" for link in links if not (folder / link).exists()]
    assert missing == []


def test_front_page_leads_to_every_page() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", _page())
    pages = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")]
    assert [page for page in [*pages, "compiler/README.md"] if page not in links] == []


ALONE = """
import os, pytest
class Printed:
    def pytest_collection_finish(self, session):
        names = [os.environ.get(it) for it in ("SVODVIZ_MACHINE", "SVODVIZ_DROPPED")]
        print(len(session.items) > 5, *names, "svodviz-caches" in os.environ["XDG_CACHE_HOME"])
pytest.main(["-q", "--nbval", "--collect-only", "notebooks/03_the_schedule.ipynb"], [Printed()])
"""


def test_a_notebook_that_is_tried_alone_runs_in_the_same_surroundings() -> None:
    pytest.importorskip("nbval")
    names = ("SVODVIZ_MACHINE", "SVODVIZ_DROPPED", "XDG_CACHE_HOME")
    bare = {name: it for name, it in os.environ.items() if name not in names}
    printed = subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, env=bare, text=True,
                             capture_output=True, timeout=100).stdout  # fmt: skip
    assert "True x86-avx512 error True" in printed
