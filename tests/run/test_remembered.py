"""Programs remembered on disk: a second process makes nothing again, and gets the same results."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import MachineModel, Options, Tensor, custom
from compiler.core.errors import CompileError, SizeError
from compiler.device.described import DescribedProgram
from compiler.llvm import jit
from compiler.llvm.cache import PROGRAM, Folder, folder_of
from compiler.run import plans, remembered
from compiler.run.execution_plan import RememberedCount

RNG = np.random.default_rng(17)


def array(*shape: int) -> np.ndarray:  # type: ignore[type-arg]
    return RNG.standard_normal(shape).astype(np.float32)


def network(x: Tensor) -> Tensor:
    w = Tensor(np.linspace(-1, 1, x.shape[1] ** 2, dtype=np.float32).reshape(x.shape[1], -1))
    return ((x @ w).relu() + 0.5).softmax(1)


def key(value: Tensor, options: Options) -> bytes | None:
    root, _ = plans.without_data([value.node])
    return remembered.key_of(root, options)


def counts(cache: Path) -> tuple[int, int, int]:
    """Hits, misses and files."""
    found = compiler.cache_info(cache).remembered
    return found.hits, found.misses, found.files


def refuse(*given: object, **named: object) -> None:
    raise AssertionError("the program is cached: nothing should be compiled")


def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process, in which nothing can be compiled."""
    compiler.cache_clear()
    monkeypatch.setattr(plans, "_build", refuse)


def test_a_known_program_goes_through_no_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler.cache_clear()
    options, data, other = Options(cache=tmp_path), array(32, 48), array(32, 48)
    first = compiler.prepare(network(Tensor(data)), options=options)
    expected = first.run([data]), first.run([other])
    assert counts(tmp_path) == (0, 1, 1)
    forgotten(monkeypatch)
    again = compiler.prepare(network(Tensor(data)), options=options)
    assert counts(tmp_path) == (1, 0, 1)
    for given, (wanted,) in zip((data, other), expected, strict=True):
        np.testing.assert_array_equal(again.run([given])[0], wanted)
    assert again.explain() == first.explain()
    assert again.structure.items == first.structure.items  # bodies are the same nodes
    assert all(isinstance(it, DescribedProgram) for it in again.structure.programs.values())


def states(x: Tensor) -> list[Tensor]:
    return [compiler.repeat(5, lambda i, s: s * 0.5 + 1.0, x), x.cumsum(1)]


def shards(x: Tensor) -> list[Tensor]:
    parts = x.shard(("CPU", "CPU:1"), axis=0)
    return [(parts * 2.0).sum(1), x.to("CPU:1") + 1.0]


def places(x: Tensor) -> list[Tensor]:
    order = x.argsort(1)
    return [x[[3, 0, 1]], order, x[Tensor(np.array([1, 1, 2]))].max(0), x.reshape(-1).sort()[0]]


def numbers(x: Tensor) -> list[Tensor]:
    return [x * float("nan"), x / 0.0, -0.0 * x, (x > 0).any(0), x.cast("int8"), x.exp().sum()]


PROGRAMS = (states, shards, places, numbers)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_kind_of_program_is_the_same_again(
    program: Callable[[Tensor], list[Tensor]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, data = Options(cache=tmp_path), array(6, 8)
    compiler.cache_clear()
    first = compiler.prepare(program(Tensor(data)), options=options)
    wanted = first.run()
    assert not remembered.COUNT.left
    forgotten(monkeypatch)
    again = compiler.prepare(program(Tensor(data)), options=options)
    assert again.structure.items == first.structure.items
    assert again.memory == first.memory and again.levels == first.levels
    for mine, theirs in zip(again.run(), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_tensor_that_is_realised_is_known_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = array(5, 7)
    expected = (Tensor(data) * 1.625).numpy()
    forgotten(monkeypatch)
    np.testing.assert_array_equal((Tensor(data) * 1.625).numpy(), expected)


def test_variables_take_other_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options, data, n = Options(cache=tmp_path), array(40, 8), compiler.Variable("n", 1, 64)

    def plan() -> compiler.ExecutionPlan:
        return compiler.prepare(Tensor(data, symbolic={0: n}).sum(1), options=options)

    compiler.cache_clear()
    wanted = plan().run([data[:17]])
    forgotten(monkeypatch)
    np.testing.assert_array_equal(plan().run([data[:17]])[0], wanted[0])


def test_files_are_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options, path = Options(cache=tmp_path / "cache"), tmp_path / "x.npy"
    for number in range(3):
        np.save(path, np.full((4, 4), number, np.float32))
        held = Tensor.load(path)
        assert isinstance(held, Tensor)
        compiler.cache_clear()
        (out,) = compiler.prepare(held.exp().sum(), options=options).run()
        assert out == pytest.approx(16 * np.exp(number))
        monkeypatch.setattr(plans, "_build", refuse)


def test_what_is_written_in_place_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def written() -> np.ndarray:  # type: ignore[type-arg]
        x = Tensor(np.zeros(16, np.float32))
        x[3:9] = Tensor(np.arange(6, dtype=np.float32)) + 1.75
        return x.numpy()

    compiler.cache_clear()
    first = written()
    forgotten(monkeypatch)
    np.testing.assert_array_equal(written(), first)


OTHERS: dict[str, Callable[[Options], Options]] = {
    "optimize": lambda it: replace(it, optimize=1),
    "mode": lambda it: replace(it, mode="explain"),
    "threads": lambda it: replace(it, threads=1),
    "loops": lambda it: replace(it, loops="plain"),
    "loops by name": lambda it: replace(it, loops={"k0": "vectorize i1 8"}),
    "machine": lambda it: replace(it, machine=MachineModel(launch_ns=251.0)),
    "plan_memory": lambda it: replace(it, plan_memory=False),
    "kernel_operations": lambda it: replace(it, kernel_operations=3),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_options_are_another_program(
    other: Callable[[Options], Options], tmp_path: Path
) -> None:
    options, value = Options(cache=tmp_path), network(Tensor(array(4, 8)))
    keys = {key(value, options), key(value, other(options))}
    assert len(keys) == 2 and None not in keys


def test_only_data_and_lines_are_no_part_of_the_key(tmp_path: Path) -> None:
    options = Options(cache=tmp_path)
    made = key(network(Tensor(array(4, 8))), options)
    assert made == key(network(Tensor(array(4, 8), name="x")), replace(options, trace=True))
    x = Tensor(array(4, 8))
    others = [
        network(Tensor(array(5, 8))), network(Tensor(array(4, 8).astype(np.float64))),
        network(x) + 0.0, network(x) * 2.0, network(x) * 3.0, x.softmax(1), x.softmax(0),
        x.log_softmax(1),
    ]  # fmt: skip
    keys = [key(value, options) for value in others]
    assert len({made, *keys}) == len(others) + 1 and None not in keys


def test_another_machine_or_compiler_is_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, value = Options(cache=tmp_path), network(Tensor(array(4, 8)))
    keys = {key(value, options)}
    for module, name, stands_in in (
        (jit, "maker", lambda: "another processor"),
        (remembered, "core_count", lambda: 77),
        (remembered, "_versions", lambda: ("another compiler",)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, stands_in)
            keys.add(key(value, options))
    assert len(keys) == 4


def test_sources_are_known_by_what_changes_with_them(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "pass.py"
    file.write_text("a = 1\n")
    seen = [remembered.sources(tmp_path), remembered.sources(tmp_path)]
    file.write_text("a = 11\n")
    seen.append(remembered.sources(tmp_path))
    (tmp_path / "new.py").write_text("")
    seen.append(remembered.sources(tmp_path))
    assert seen[0] == seen[1] and len(set(seen)) == 3
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "new.pyc").write_text("")
    assert remembered.sources(tmp_path) == seen[-1]
    assert remembered.sources(tmp_path / "pass.zip")


def host_function(x: Tensor) -> Tensor:
    @custom.host(shape=x.shape, dtype="float32")
    def twice(values: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return values * 2

    made = twice(x)
    assert isinstance(made, Tensor)
    return made + 1.0


LEFT: dict[str, tuple[Callable[[Tensor], Tensor], Options, str]] = {
    "function": (host_function, Options(), "functions of the user's"),
    "passes": (network, Options(passes=compiler.PASSES.without("simplify")), "known to one"),
    "tune": (network, Options(tune=0.01), "by itself"),
    "device": (network, Options(device="INTERPRET"), "not all of it is machine code"),
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_is_not_remembered_says_why(kind: str, tmp_path: Path) -> None:
    program, options, reason = LEFT[kind]
    compiler.cache_clear()
    compiler.prepare(program(Tensor(array(4, 8))), options=replace(options, cache=tmp_path))
    found = compiler.cache_info(tmp_path).remembered
    assert found.files == 0 and len(found.left) == 1 and reason in found.left[0][0]


def test_without_a_cache_nothing_is_kept(tmp_path: Path) -> None:
    assert key(network(Tensor(array(4, 8))), Options(cache=False)) is None


def entry(cache: Path) -> Path:
    (found,) = cache.glob("*.program")
    return found


def foreign(content: bytes) -> Callable[[Path], None]:
    """Puts other content, whole and under the right key, into the only entry."""

    def put(path: Path) -> None:
        Folder(path.parent, kind=PROGRAM).put(bytes.fromhex(path.stem), content)

    return put


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "empty": lambda path: path.write_bytes(b""),
    "short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "a bit": lambda path: path.write_bytes(path.read_bytes()[:-9] + b"?" + path.read_bytes()[-8:]),
    "no JSON": foreign(b"\x80\x00 no JSON"),
    "other JSON": foreign(b'{"rows": 7}'),
    "unknown kind": foreign(
        json.dumps({"rows": [["os.system", [], "x"]], "items": ["t"], "results": ["t"],
                    "programs": ["t"]}).encode()
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_a_miss_and_replaced(
    damage: Callable[[Path], Any], tmp_path: Path
) -> None:
    options, data = Options(cache=tmp_path), array(4, 8)
    compiler.cache_clear()
    (wanted,) = compiler.prepare(network(Tensor(data)), options=options).run()
    damage(entry(tmp_path))
    compiler.cache_clear()
    with pytest.warns(UserWarning, match="compiling again"):
        plan = compiler.prepare(network(Tensor(data)), options=options)
    np.testing.assert_array_equal(plan.run()[0], wanted)
    assert counts(tmp_path) == (0, 1, 1)
    compiler.cache_clear()
    compiler.prepare(network(Tensor(data)), options=options)
    assert counts(tmp_path) == (1, 0, 1)


def test_without_the_code_of_a_kernel_all_is_compiled(tmp_path: Path) -> None:
    options, data = Options(cache=tmp_path), array(4, 8)
    compiler.cache_clear()
    (wanted,) = compiler.prepare(network(Tensor(data)), options=options).run()
    next(iter(tmp_path.glob("*.object"))).unlink()
    compiler.cache_clear()
    (out,) = compiler.prepare(network(Tensor(data)), options=options).run()
    np.testing.assert_array_equal(out, wanted)
    assert counts(tmp_path) == (0, 1, 1)


def test_code_that_was_only_in_memory_is_kept_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = array(4, 8)
    compiler.cache_clear()
    compiler.prepare(network(Tensor(data)), options=Options(cache=False))
    compiler.prepare(network(Tensor(data)), options=Options(cache=tmp_path))
    forgotten(monkeypatch)
    compiler.prepare(network(Tensor(data)), options=Options(cache=tmp_path))


def test_a_folder_that_is_refused_is_no_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    compiler.cache_clear()
    with pytest.warns(UserWarning, match="others may write to"):
        plan = compiler.prepare(network(Tensor(array(4, 8))), options=Options(cache=tmp_path))
    assert plan.run()[0].shape == (4, 8)


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr("compiler.llvm.cache.write", refused)
    compiler.cache_clear()
    with pytest.warns(UserWarning, match="could not be kept: read-only"):
        plan = compiler.prepare(network(Tensor(array(4, 8))), options=Options(cache=tmp_path))
    assert plan.run()[0].shape == (4, 8)


def test_what_does_not_fit_is_refused_again(tmp_path: Path) -> None:
    options = Options(cache=tmp_path, memory_limit=1_000)
    for _ in range(2):
        compiler.cache_clear()
        with pytest.raises(SizeError, match="does not fit in memory"):
            compiler.prepare(network(Tensor(array(64, 64))), options=options)
    assert counts(tmp_path)[2] == 0


def test_choices_that_are_wrong_are_refused_as_without_a_cache(tmp_path: Path) -> None:
    options = Options(cache=tmp_path, loops={"k0": "no choice"})
    assert key(network(Tensor(array(4, 8))), options) is None
    with pytest.raises(CompileError, match="choices"):
        compiler.prepare(network(Tensor(array(4, 8))), options=options)


def test_all_is_cleared(tmp_path: Path) -> None:
    compiler.prepare(network(Tensor(array(4, 8))), options=Options(cache=tmp_path))
    compiler.cache_clear(tmp_path)
    assert compiler.cache_info(tmp_path).remembered == RememberedCount(0, 0, 0, 0)
    folder = folder_of(tmp_path, PROGRAM)
    assert folder is not None and folder.count() == (0, 0)


PROCESS = """
import sys
import numpy as np
import compiler
from compiler.pipeline import driver
from compiler.run import remembered

runs = []
run = driver.run
def counted(*given, **named):
    runs.append(given)
    return run(*given, **named)
driver.run = counted
x = compiler.Tensor(np.arange(24, dtype=np.float32).reshape(4, 6))
total = ((x @ x.T).softmax(1).cumsum(0) + 1.25).numpy().sum()
print(total, remembered.COUNT.hits, len(runs))
"""


def processes(cache: Path, count: int) -> list[Sequence[str]]:
    """The words that so many processes print which work at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        command = [sys.executable, "-W", "error", "-c", PROCESS]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running = [subprocess.Popen(command, **pipes) for _ in range(count)]
    found = []
    for process in running:
        out, problem = process.communicate(timeout=60)
        assert process.returncode == 0, problem
        found.append(out.split())
    return found


def test_a_second_process_runs_no_row_and_processes_share_a_folder(tmp_path: Path) -> None:
    first = processes(tmp_path, 3)
    ((total, hits, rows),) = processes(tmp_path, 1)
    assert {words[0] for words in first} == {total}
    assert (hits, rows) == ("1", "0")
    assert any(words[1] == "0" and int(words[2]) > 0 for words in first)


LOADED = """
import sys
import numpy as np
from compiler import Tensor

x = Tensor(np.arange(24, dtype=np.float32).reshape(4, 6))
(x.softmax(1) + 2.75).numpy()
print(*sorted(name for name in sys.modules if name.startswith("compiler.")))
"""


def test_a_second_process_loads_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = [sys.executable, "-W", "error", "-c", LOADED]
    first, second = (
        set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
        for _ in range(2)
    )
    passes = {"compiler.pipeline.rows", "compiler.loops.simplify", "compiler.lowered.linearize",
              "compiler.llvm.emit", "compiler.graph.simplify"}  # fmt: skip
    assert passes < first and second < first and not passes & second
