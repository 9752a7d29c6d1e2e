"""Machine code from text: what LLVM refuses is an `InternalError`; code runs from many threads."""

import ctypes
import subprocess
import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from llvmlite.binding.newpassmanagers import NewPassManager

from compiler.core import dtypes
from compiler.core.errors import DataError, InternalError
from compiler.device import device
from compiler.device.device import Device
from compiler.llvm import jit, unlocked
from compiler.llvm.cache import OBJECTS
from compiler.llvm.level import Level, Passes

DOUBLE = """
define void @twice(ptr %out, ptr %in) {
  %x = load double, ptr %in
  %y = fadd double %x, %x
  store double %y, ptr %out
  ret void
}
"""

MALFORMED = {
    "no text at all": "this is no IR",
    "an undefined value": "define void @k() {\n  %x = add i64 %y, 1\n  ret void\n}",
    "types that differ": "define void @k(i32 %x) {\n  %y = add i64 %x, 1\n  ret void\n}",
    "a block without an end": "define void @k() {\n  %x = add i64 1, 1\n}",
    "a jump to nowhere": "define void @k() {\n  br label %away\n}",
    "a float that is not exact": "define void @k() {\n  %x = fadd float 0.1, 0.1\n  ret void\n}",
    "a phi without its block": (
        "define void @k() {\nentry:\n  br label %next\nnext:\n"
        "  %x = phi i64 [ 0, %next ]\n  ret void\n}"
    ),
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(InternalError) as caught:
        jit.parse(text)
    assert str(caught.value).startswith("llvm: LLVM refuses the generated text\n  got:      ")
    assert caught.value.got, "LLVM's own words"
    with pytest.raises(InternalError):
        jit.load(text, "k", 0)


@pytest.mark.parametrize("level", (0, 1, 2, 3))
def test_code_runs_at_every_level(level: int) -> None:
    loaded = jit.load(DOUBLE, "twice", 2, level)
    out, source = np.zeros(1), np.array([21.0])
    loaded.entry(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(source.ctypes.data))
    assert out[0] == 42.0
    assert loaded.address > 0


def test_one_machine_makes_all_code_and_every_pipeline_is_freed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, freed = [], []
    free, machine = NewPassManager._dispose, jit.target_machine
    monkeypatch.setattr(jit, "target_machine", lambda level: made.append(level) or machine(level))
    monkeypatch.setattr(NewPassManager, "_dispose", lambda it: freed.append(it) or free(it))
    monkeypatch.setattr(jit, "_idle", defaultdict(list))
    OBJECTS.clear()
    texts = [DOUBLE.replace("%y", f"%y{n}") for n in range(3)]
    loaded = [jit.load(text, "twice", 2) for text in texts]
    assert made == [3] and len(freed) == 3
    assert len({each.address for each in loaded}) == 3, "each program has its own code"


@pytest.mark.parametrize("passes", ("few", "pipeline"))
def test_a_pipeline_that_cannot_be_freed_is_closed(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(NewPassManager, "_dispose")
    with jit.parse(DOUBLE) as module, jit.borrowed_machine(2) as machine:
        jit.optimise(module, machine, Level(2, passes, "a test"))
        assert "fadd double" in str(module)


@pytest.mark.parametrize("passes", ("few", "pipeline"))
def test_code_is_the_same_with_and_without_the_lock(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    level = Level(2, passes, "a test")
    OBJECTS.clear()
    assert unlocked.is_parallel()
    free = jit.object_code(DOUBLE, "twice", level)
    OBJECTS.clear()
    monkeypatch.setattr(unlocked, "_functions", lambda: None)
    assert not unlocked.is_parallel()
    assert jit.object_code(DOUBLE, "twice", level) == free


def test_equal_kernels_are_equal_code_whatever_their_name() -> None:
    OBJECTS.clear()
    level = Level(2, "few", "a test")
    task = "define void @twice.task() {\n  ret void\n}\n"
    text = DOUBLE + task
    first = jit.object_code(text, "twice", level)
    assert jit.object_code(text.replace("@twice", "@k.3"), "k.3", level) == first
    assert (OBJECTS.hits, OBJECTS.misses) == (1, 1)
    loaded = jit.load_object(first, "twice", 2)
    assert loaded.address_of("twice") == loaded.address != loaded.address_of("twice.task") > 0
    assert not loaded.address_of("thrice")
    with pytest.raises(InternalError, match="no function of the program's name"):
        jit.load(DOUBLE, "thrice", 2)


def test_few_passes_inline_calls() -> None:
    text = """
define internal double @one(double %x) alwaysinline {
  %y = fadd double %x, 1.0
  ret double %y
}
define void @k(ptr %p) {
  %x = load double, ptr %p
  %y = call double @one(double %x)
  store double %y, ptr %p
  ret void
}
"""
    with jit.parse(text) as module, jit.borrowed_machine(2) as machine:
        jit.optimise(module, machine, Level(2, "few", "a test"))
        assert "call" not in str(module)


def test_threads_may_compile_and_run_at_once() -> None:
    results: list[float] = []
    OBJECTS.clear()

    def work(value: float) -> None:
        loaded = jit.load(DOUBLE.replace("%y", f"%y{value:.0f}"), "twice", 2)
        out, source = np.zeros(1), np.array([value])
        loaded.entry(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(source.ctypes.data))
        results.append(float(out[0]))

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_threads_make_the_code_that_one_makes() -> None:
    """Malformed text among them: what is refused leaves nothing behind that others use."""
    texts = [DOUBLE.replace("twice", "kernel").replace("%y", f"%y{n}") for n in range(40)]
    texts = [text.replace("fadd", "fmul") if n % 2 else text for n, text in enumerate(texts)]
    levels = [Level(1 + n % 3, "few" if n % 4 else "pipeline", "") for n in range(40)]

    def make(text: str, level: Level) -> bytes:
        with pytest.raises(InternalError):
            jit._object_code(MALFORMED["an undefined value"], level)
        return jit._object_code(text, level)

    expected = list(map(make, texts, levels))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(make, texts, levels)) == expected
    assert len(set(expected)) > 2


def test_the_host_has_features() -> None:
    assert "+" in jit.host_features()


def test_a_device_shares_programs_whatever_its_number() -> None:
    numbered = Device("CPU:1", device.CPU.allocate, device.CPU.compile, device.CPU.load)
    assert numbered.base_key == device.CPU.base_key == "CPU"
    assert device.get("CPU") is device.CPU
    with pytest.raises(DataError) as caught:
        device.get("GPU")
    assert str(caught.value).startswith("device: no such device\n  got:      'GPU'")


def test_memory_is_allocated_by_element_type() -> None:
    for dtype in dtypes.ALL:
        made = device.CPU.allocate(3, dtype)
        assert made.dtype == dtype.numpy and made.shape == (3,)


AMONG_LARGE_FILES = """
import mmap, tempfile
import numpy as np
from compiler.llvm import jit, unlocked
from compiler.llvm.cache import OBJECTS
from compiler.llvm.level import Level, Passes

TEXT = '''
define void @k(ptr %out, ptr %in) {
  %x = load double, ptr %in
  %y = fmul double %x, 3.25
  store double %y, ptr %out
  ret void
}
'''
file = tempfile.TemporaryFile()
file.truncate(2**32)
kept = []
for _ in range(300):
    kept.append(mmap.mmap(file.fileno(), 2**32, access=mmap.ACCESS_READ))
    kept.append(jit.load(TEXT, "k", 2))
    out, source = np.zeros(1), np.array([2.0])
    kept[-1].entry(out.ctypes.data, source.ctypes.data)
    assert out[0] == 6.5
print("done")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs files with holes")
def test_code_is_loaded_between_large_files() -> None:
    """Code and constants 2 GiB apart would end the process, about every second time."""
    command = [sys.executable, "-c", AMONG_LARGE_FILES]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout == "done\n", ran.stderr
