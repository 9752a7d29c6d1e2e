"""The host taken for another processor, in every process: by name, refused where it has not all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.core.errors import DeviceError
from compiler.llvm import jit
from compiler.machines.processors import VARIABLE, X86, named

ROOT = Path(__file__).resolve().parents[2]
HASWELL = dict.fromkeys((*X86["haswell"], "sse4a"), True) | dict.fromkeys(("avx512f", "amx"), False)
ABLE = dict.fromkeys({each for row in X86.values() for each in row}, True)
on_x86 = pytest.mark.skipif(not jit.is_x86(), reason="the names are those of x86")

PROGRAM = """
import json, re, sys
import numpy as np
from compiler import Options, Tensor, compile
from compiler.llvm import jit

x = Tensor((np.arange(6400) % 7).astype(np.float32).reshape(64, 100))
made = compile((x @ x.T).relu(), Options(cache=sys.argv[1]))
assert np.array_equal(made.run()[0], np.maximum(x.numpy() @ x.numpy().T, 0))
whole = Tensor(np.arange(6400, dtype=np.int32))
plain = compile((whole + 1) * 2, Options(loops="plain", cache=sys.argv[1]))
changes = plain.llvm_passes("k0").changes
passes = " ".join(row for change in changes for row in change.after.rows)
text = "".join(map(str, made.assembly))
print(json.dumps({
    "name": jit.host_name(), "features": jit.host_features(), "has_avx512": jit.has_avx512(),
    "zmm": "zmm" in text, "fma": "vfmadd" in text,
    "in another process": sorted(set(re.findall("<[0-9]+ x i32>", passes))),
}))
"""


def run(name: str | None, folder: Path) -> subprocess.CompletedProcess[str]:
    """The program in a process that takes the host for a processor; its own where None."""
    surroundings = {key: value for key, value in os.environ.items() if key != VARIABLE}
    surroundings |= {"PYTHONPATH": str(ROOT)} | ({VARIABLE: name} if name else {})
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        capture_output=True, text=True, env=surroundings, check=False,
    )  # fmt: skip


@on_x86
def test_code_is_made_for_the_processor_named(tmp_path: Path) -> None:
    """The narrowest one shows it on every host; the run's processes get it as well."""
    found = json.loads(run("ivybridge", tmp_path).stdout)
    assert not found["fma"] and not found["zmm"]
    assert found["name"] == "ivybridge" and not found["has_avx512"]
    assert {"+avx", "-avx2", "-fma", "-avx512f"} <= set(found["features"].split(","))
    assert found["in another process"] == ["<4 x i32>"]


@on_x86
@pytest.mark.skipif(
    not jit.is_x86() or "+avx2" not in jit.host_features().split(","), reason="no AVX2 here"
)
def test_machine_code_on_disk_is_that_of_its_processor(tmp_path: Path) -> None:
    """Three processes share a folder: none takes what was made for another."""
    counts = []
    for name in ("ivybridge", "haswell", "haswell"):
        done = run(name, tmp_path)
        assert not done.returncode, done.stderr
        found = json.loads(done.stdout)
        assert found["fma"] == (name == "haswell")
        assert not found["zmm"] and not found["has_avx512"] and "-avx512f" in found["features"]
        widest = "<8 x i32>" if name == "haswell" else "<4 x i32>"
        assert found["in another process"][-1] == widest
        counts.append(len(list(tmp_path.glob("*.object"))))
    assert counts[0] > 0 and counts[1] == counts[2] == 2 * counts[0]


@on_x86
def test_an_unknown_name_is_answered_by_a_page(tmp_path: Path) -> None:
    done = run("hasvell", tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "compiler.core.errors.DeviceError: SVODVIZ_CPU: no such processor\n"
        "  got:      'hasvell'\n"
        "  expected: ivybridge, haswell, znver3, skylake-avx512, icelake-server, znver4\n"
        "  line:     <string>:8\n"
        "  hint:     did you mean haswell?\n"
    ), done.stderr


def test_a_processor_with_more_than_the_host_is_refused() -> None:
    with pytest.raises(DeviceError) as caught:
        named("skylake-avx512", HASWELL, is_x86=True)
    assert str(caught.value) == (
        "SVODVIZ_CPU: this host cannot run code for that processor\n"
        "  got:      skylake-avx512; the host lacks avx512bw, avx512cd, avx512dq, avx512f, "
        "avx512vl\n"
        "  expected: ivybridge, haswell, znver3"
    )


def test_only_what_is_in_the_row_is_switched_on() -> None:
    made = named("haswell", HASWELL, is_x86=True)
    assert made.has("avx2", "fma") and not made.has("avx512f") and not made.has("avx2", "sse4a")
    assert {"-sse4a", "-avx512f", "-amx"} <= set(made.features.split(","))
    assert named("skylake-avx512", ABLE, is_x86=True).has("avx512f", "avx512vl")


def test_other_architectures_have_their_baseline() -> None:
    assert named("generic", {"neon": True}, is_x86=False).features == ""
    with pytest.raises(DeviceError) as caught:
        named("haswell", {"neon": True}, is_x86=False)
    assert str(caught.value) == (
        "SVODVIZ_CPU: no such processor\n  got:      'haswell'\n  expected: generic"
    )


@on_x86
@pytest.mark.parametrize("name", X86)
def test_llvm_knows_every_name_and_feature(name: str) -> None:
    """LLVM ignores what it does not know, with a line on standard error."""
    program = (
        "import llvmlite.binding as llvm\n"
        "llvm.initialize_native_target()\n"
        "llvm.initialize_native_asmprinter()\n"
        "target = llvm.Target.from_default_triple()\n"
        f"machine = target.create_target_machine(cpu={name!r}, "
        f"features={','.join('+' + each for each in X86[name])!r})\n"
        "machine.emit_assembly(llvm.parse_assembly('define void @f() {\\n  ret void\\n}'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
