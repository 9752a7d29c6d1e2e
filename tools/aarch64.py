"""Tests of machine code on AArch64 where there is no such processor: `make aarch64`.

    python -m tools.aarch64 --seconds 240 -- tests/threads    what follows -- goes to pytest

An environment is made in a folder, build/aarch64 unless it is named, without being root:

    apt/     Debian's lists and packages for arm64, of an apt with folders of its own; for a while
    qemu/    qemu-user-static, unless there is a qemu-aarch64-static on PATH
    root/    Python for arm64 and what it needs, unpacked, and wheels for AArch64 of what the
             compiler and these tests need; usr/bin/python runs it, emulated

Loops are chosen for the machine at hand (SVODVIZ_MACHINE=host). Where the environment cannot be
had, it says why and ends well: nothing is found wrong. After `--seconds` no further test begins.
"""

import argparse
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEM = ("python3", "libstdc++6")
"""Debian's packages, for arm64; apt finds what they need."""
QEMU = "qemu-aarch64-static"
NEEDED = ("numpy", "llvmlite", "ml-dtypes", "networkx", "graphviz", "pygments", "hypothesis",
          "mpmath", "pytest", "pytest-xdist")  # fmt: skip
"""The requirements in pyproject.toml that the compiler and its tests import."""
PLATFORMS = tuple(f"manylinux{age}_aarch64" for age in ("2014", "_2_17", "_2_27", "_2_28", "_2_34"))
"""Wheels that a system of 2022 and later runs."""
TESTS = (
    "tests/benchmarks/test_at_hand.py",
    "tests/threads/test_workers.py",
    "tests/test_engines_agree.py",
    "tests/llvm/test_operations.py",
    "tests/test_operations.py::test_every_operation_equals_its_reference",
    "tests/test_operations.py::test_every_cast_equals_its_reference",
)
"""The tests that run by default: the benchmark's programs at small sizes, the workers, every
operation on every element type, in machine code of 1 to 16 lanes and as users get it."""
ONLY = "not (" + " or ".join(("graph", "kernels", "schedule", "loops", "lowered")) + ")"
"""A pytest expression for the engines that generate machine code; the others do not depend on
the processor."""
GRACE = 180
"""Seconds after which a test under way when the time was up is taken to hang."""


class UnavailableError(Exception):
    """The environment cannot be built; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A folder with an arm64 system in it."""

    folder: Path

    @property
    def root(self) -> Path:
        """The root folder / of the emulated programs."""
        return self.folder / "root"

    @property
    def site(self) -> Path:
        """The folder of Debian's Python packages, also for processes that tests start."""
        return self.root / "usr/lib/python3/dist-packages"

    @property
    def python(self) -> Path:
        """A script that runs Python, emulated. It lies where Python looks for its library, and so
        that what a test starts by `sys.executable` is emulated as well."""
        return self.root / "usr/bin/python"


def main(arguments: Sequence[str]) -> int:
    """Make the environment and run the tests; 1 where one of them failed."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    chosen = _parser().parse_args(arguments[:end])
    tests = list(arguments[end + 1 :]) or usual()
    if is_at_hand(platform.machine()):
        print("AArch64: this host is one", flush=True)
        return run([sys.executable], surroundings(os.environ, None, chosen.seconds), tests,
                   chosen.seconds)  # fmt: skip
    try:
        environment = made(Environment(chosen.folder.resolve()))
        print(f"AArch64, emulated: {versions(environment)}", flush=True)
    except UnavailableError as why:
        print(f"AArch64 was not tested: {why}", flush=True)
        return 0
    variables = surroundings(os.environ, environment, chosen.seconds)
    return run([str(environment.python)], variables, tests, chosen.seconds)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.aarch64", usage="%(prog)s … [-- tests]")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/aarch64")
    parser.add_argument("--seconds", type=float, default=0.0, help="0: no limit")
    return parser


def is_at_hand(machine: str) -> bool:
    """True if a processor, as Python names it, is an AArch64."""
    return machine.lower() in ("aarch64", "arm64")


# --- the environment --------------------------------------------------------------------------


def made(environment: Environment) -> Environment:
    """The environment, made anew where it is not there whole. Raises `UnavailableError`."""
    stamp, wanted = environment.folder / "made", key(requirements())
    if stamp.is_file() and stamp.read_text() == wanted:
        return environment
    for each in ("apt", "qemu", "root", "made"):
        place = environment.folder / each
        place.unlink() if place.is_file() else shutil.rmtree(place, ignore_errors=True)
    unpack_system(environment)
    install_wheels(environment)
    stamp.write_text(wanted)
    return environment


def key(required: Iterable[str]) -> str:
    """A key of the environment: the hash of this file, which builds it."""
    made_by = Path(__file__).read_text("utf-8")
    return hashlib.sha256("\n".join((made_by, *required)).encode()).hexdigest()


def requirements() -> list[str]:
    """The rows of pyproject.toml for what is `NEEDED`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = (*project["dependencies"], *project["optional-dependencies"]["dev"])
    names = {row: row.partition(">")[0].partition("=")[0].strip() for row in rows}
    return [row for row in rows if names[row] in NEEDED]


def apt(folder: Path, *command: str) -> list[str]:
    """A command of apt for arm64, with lists, packages and locks in a folder of its own, so that
    nothing of this system changes and nobody has to be root."""
    settings = (
        f"Dir::State={folder}/state", f"Dir::State::status={folder}/status",
        f"Dir::Cache={folder}/cache", "APT::Architecture=arm64", "APT::Architectures::=arm64",
        f"APT::Architectures::={_debian_name(platform.machine())}", "APT::Sandbox::User=root",
        "APT::Update::Error-Mode=any",
    )  # fmt: skip
    return ["apt-get", *(word for it in settings for word in ("-o", it)), "-q", "-y", *command]


def _debian_name(machine: str) -> str:
    """Debian's name of a processor."""
    return {"x86_64": "amd64", "i686": "i386", "ppc64le": "ppc64el"}.get(machine, machine)


def unpack_system(environment: Environment) -> None:
    """qemu and an arm64 Python, from Debian's packages."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise UnavailableError("this system has no apt-get")
    folder = environment.folder / "apt"
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    _done(apt(folder, "update"), "Debian's lists of packages for arm64")
    packages = "--download-only", "--no-install-recommends", "install", *SYSTEM
    _done(apt(folder, *packages), "Debian's Python for arm64")
    for archive in sorted((folder / "cache/archives").glob("*.deb")):
        _unpack(archive, environment.root)
    qemu = shutil.which(QEMU) or _downloaded_qemu(folder, environment.folder / "qemu")
    interpreter = sorted((environment.root / "usr/bin").glob("python3.*[0-9]"))
    if not interpreter:
        raise UnavailableError("Debian's packages brought no Python")
    environment.python.write_text(script(qemu, environment, interpreter[-1]))
    environment.python.chmod(0o755)
    shutil.rmtree(folder)


def _downloaded_qemu(apt_folder: Path, folder: Path) -> str:
    name = _debian_name(platform.machine())
    command = apt(apt_folder, "download", f"qemu-user-static:{name}")
    _done(command, "qemu-user-static", apt_folder)
    folder.mkdir()
    for archive in apt_folder.glob("qemu-user-static*.deb"):
        _unpack(archive, folder / "all")
    place = shutil.move(folder / "all/usr/bin" / QEMU, folder / QEMU)
    shutil.rmtree(folder / "all")  # a processor each, 370 MB
    return str(place)


def script(qemu: str, environment: Environment, interpreter: Path) -> str:
    """A script that runs Python under emulation and passes its own path as the interpreter's."""
    words = qemu, "-0", str(environment.python), "-L", str(environment.root), str(interpreter)
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'


def install_wheels(environment: Environment) -> None:
    """Install Python's requirements as wheels for AArch64."""
    (standard,) = (environment.root / "usr/lib").glob("python3.*[0-9]")
    version = standard.name.removeprefix("python")
    _done(pip(environment.site, version, requirements()), f"wheels for AArch64, Python {version}")


def pip(folder: Path, version: str, required: Iterable[str]) -> list[str]:
    """The call that puts wheels for that Python on AArch64 into a folder."""
    kinds = [word for it in PLATFORMS for word in ("--platform", it)]
    return [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--only-binary=:all:", "--python-version", version, *kinds, "--target", str(folder),
        *required,
    ]  # fmt: skip


def _unpack(archive: Path, folder: Path) -> None:
    _done(["dpkg-deb", "-x", str(archive), str(folder)], archive.name)


def _done(command: Sequence[str], what: str, folder: Path | None = None) -> None:
    """Run a command. Raises `UnavailableError` with its last line of output if it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=600
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{what} did not come within 600 s") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
        raise UnavailableError(f"cannot get {what}: {lines[-1]}")


def versions(environment: Environment) -> str:
    """The environment as Python there describes it. Raises `UnavailableError` if it fails."""
    program = (
        "import platform as p, numpy, llvmlite as l; print(p.machine(), 'Python', "
        "p.python_version(), 'numpy', numpy.__version__, 'llvmlite', l.__version__)"
    )
    command = [str(environment.python), "-c", program]
    variables = surroundings(os.environ, environment, 0.0)
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(f"the emulated Python does not run: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


# --- the tests --------------------------------------------------------------------------------


def usual() -> list[str]:
    """The default arguments of pytest."""
    workers = str(min(os.cpu_count() or 1, 8))
    return ["-n", workers, "--dist", "worksteal", "-k", ONLY, *TESTS]


def surroundings(
    before: "os._Environ[str] | dict[str, str]", environment: Environment | None, seconds: float
) -> dict[str, str]:
    """The environment variables of the tests."""
    variables = {**before, "SVODVIZ_MACHINE": "host", "PYTHONPATH": str(ROOT)}
    if seconds:
        variables["SVODVIZ_DEADLINE"] = str(time.time() + seconds)
    if environment is not None:
        variables["PYTHONNOUSERSITE"] = "1"
    return variables


def run(
    python: Sequence[str], variables: dict[str, str], tests: Sequence[str], seconds: float
) -> int:
    """Run pytest; 1 where a test failed, or hung."""
    command = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tools.deadline"]
    limit = seconds + GRACE if seconds else None
    try:
        done = subprocess.run(
            [*command, *tests], cwd=ROOT, env=variables, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        print(f"AArch64: a test still ran {GRACE} s after the time was up", flush=True)
        return 1
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
