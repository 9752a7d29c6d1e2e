"""Machine code from text: what LLVM refuses is an `InternalError`; code runs from many threads."""

import ctypes
import subprocess
import sys
import threading

import numpy as np
import pytest
from llvmlite.binding.newpassmanagers import NewPassManager

from compiler import dtypes
from compiler.device import device
from compiler.device.device import Device
from compiler.errors import DataError, InternalError
from compiler.llvm import jit

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
    jit.shared_machine.cache_clear()
    loaded = [jit.load(DOUBLE, "twice", 2) for _ in range(3)]
    assert made == [3] and len(freed) == 3
    assert len({each.address for each in loaded}) == 3, "each program has its own code"


def test_threads_may_compile_and_run_at_once() -> None:
    results: list[float] = []

    def work(value: float) -> None:
        loaded = jit.load(DOUBLE, "twice", 2)
        out, source = np.zeros(1), np.array([value])
        loaded.entry(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(source.ctypes.data))
        results.append(float(out[0]))

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


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
from compiler.llvm import jit

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
