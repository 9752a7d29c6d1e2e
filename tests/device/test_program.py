"""Rulings 25 to 27: what is derived from a program, what is refused, and what is given."""

import ctypes
import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest

import compiler
from compiler.core.dtypes import float32, float64, int64, uint8
from compiler.device import cpu, device
from compiler.device.launch_sizes import ProgramError, Size, size_of
from compiler.device.metadata import (
    Given,
    Metadata,
    Variable,
    derive,
    derive_instructions,
    merge,
    same,
)
from compiler.device.program import (
    CompiledSpec,
    ProgramSpec,
    Stages,
    from_stages,
    program_spec,
    runs,
)
from compiler.loops import nodes
from compiler.loops.by_hand import Special
from compiler.loops.nodes import Body, ScalarNode, alu, const, index
from compiler.lowered import by_hand, machine
from compiler.lowered import instructions as lowered
from compiler.pipeline.kernels import CompiledKernel
from compiler.tensor import Tensor

N, CORE = nodes.DefineVar((), "n", 1, 100), nodes.DefineVar((), "core_id", 0, 3)


def pointer(slot: int) -> nodes.Argument:
    return nodes.Argument((), slot, float32, 64, slot == 0)


def body(*values: ScalarNode, target: ScalarNode | None = None) -> Body:
    """A store of 1.0 at the sum of the values, which are whole numbers."""
    at: ScalarNode = index(0)
    for value in values:
        at = alu("add", at, value)
    return Body((nodes.Store((target or pointer(0), at, const(1.0, float32))),))


def special(name: str, extent: int | ScalarNode) -> Special:
    return Special((index(extent) if isinstance(extent, int) else extent,), name)


def sizes(size: Size | None) -> list[object] | None:
    return None if size is None else [getattr(each, "value", each) for each in size]


# --- ruling 25: launch axes -------------------------------------------------------------------


def test_ruling_25_core_id_gives_the_global_size() -> None:
    made = derive([body(CORE, N)])
    assert sizes(made.global_size) == [4, 1, 1]
    assert sizes(made.local_size) == [1, 1, 1]
    assert made.vars == (Variable("core_id", 0, 3), Variable("n", 1, 100))


@pytest.mark.parametrize("low", [-1, 1])
def test_ruling_25_core_id_starts_at_0(low: int) -> None:
    with pytest.raises(ProgramError, match="core_id does not start at 0"):
        derive([body(nodes.DefineVar((), "core_id", low, 3))])
    with pytest.raises(ProgramError, match="core_id does not start at 0"):
        merge(Metadata(), Given(vars=(Variable("core_id", low, 3),)))


def test_ruling_25_core_id_plus_one_has_to_fit() -> None:
    with pytest.raises(ProgramError, match="core_id has no usable maximum"):
        derive([body(nodes.DefineVar((), "core_id", 0, 2**63 - 1))])


CONFLICTS = {
    "two groups": [special("gidx0", 4), special("gidx00", 8)],
    "core and group": [CORE, special("gidx0", 8)],
    "core and member": [CORE, special("idx0", 5)],
    "two locals": [special("lidx1", 2), special("lid1", 3)],
    "variable and constant": [special("gidx2", N), special("g2", 100)],
}


@pytest.mark.parametrize("claims", CONFLICTS.values(), ids=CONFLICTS)
def test_ruling_25_two_extents_for_one_axis_are_refused_in_any_order(
    claims: list[ScalarNode],
) -> None:
    messages = set()
    for order in itertools.permutations(claims):
        with pytest.raises(ProgramError, match="is claimed with two extents") as caught:
            derive([body(*order)])
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_ruling_25_one_extent_may_be_claimed_twice() -> None:
    made = derive([body(CORE, special("gidx0", 4), special("gidx1", 8), special("gid1", 8))])
    assert sizes(made.global_size) == [4, 8, 1]
    twice = alu("mul", N, index(2))
    made = derive([body(special("gidx2", twice), special("g2", alu("mul", N, index(2))))])
    assert same(made.global_size[2], twice)


@pytest.mark.parametrize("name", ["gidx3", "lidx3", "idx12"])
def test_ruling_25_an_axis_over_2_is_refused(name: str) -> None:
    with pytest.raises(ProgramError, match=f"{name} is on an axis that does not exist"):
        derive([body(special(name, 4))])


@pytest.mark.parametrize("name", ["x0", "gidx", "", "0"])
def test_a_launch_index_of_unknown_kind_is_refused(name: str) -> None:
    with pytest.raises(ProgramError, match="a launch index has an unknown name"):
        derive([body(special(name, 4))])


@pytest.mark.parametrize("axes", [("idx0", "lidx0"), ("idx0", "lidx1")])
def test_ruling_25_direct_and_local_axes_do_not_mix(axes: tuple[str, str]) -> None:
    for order in itertools.permutations(axes):
        with pytest.raises(ProgramError, match="direct and local launch indices in one program"):
            derive([body(*(special(name, 4) for name in order))])


def test_direct_axes_have_no_local_size_and_local_axes_have_one() -> None:
    direct = derive([body(special("idx1", 7))])
    assert (sizes(direct.global_size), direct.local_size) == ([1, 7, 1], None)
    grouped = derive([body(special("gidx0", 7), special("lidx0", 32))])
    assert sizes(grouped.global_size) == [7, 1, 1]
    assert sizes(grouped.local_size) == [32, 1, 1]


# --- ruling 26: arguments and variables -------------------------------------------------------


def test_ruling_26_slots_are_sorted_and_unique_and_one_may_be_in_both() -> None:
    loads = [nodes.Load((pointer(slot), index(i))) for slot in (5, 2, 0) for i in (0, 1)]
    stores = [nodes.Store((pointer(slot), index(0), each)) for slot in (7, 0) for each in loads]
    made = derive([Body(tuple(stores))])
    assert made.globals == (0, 2, 5, 7)
    assert made.outs == (0, 7)
    assert made.ins == (0, 2, 5)


def test_ruling_26_casts_of_any_depth_are_seen_through() -> None:
    def wrapped(slot: int, depth: int) -> ScalarNode:
        node: ScalarNode = pointer(slot)
        for number in range(depth):
            node = (
                nodes.Cast((node,), uint8),
                nodes.Bitcast((node,), float32),
                nodes.After((node, index(0))),
            )[number % 3]
        return node

    for depth in (0, 1, 2, 3, 7):
        value = nodes.Cast((nodes.Load((wrapped(3, depth), index(0))),), float32)
        made = derive([Body((nodes.Store((wrapped(1, depth), index(0), value)),))])
        assert (made.globals, made.outs, made.ins) == ((1, 3), (1,), (3,)), depth


def test_ruling_26_casts_of_pointers_among_instructions_are_seen_through() -> None:
    rows = [
        lowered.DefineGlobal(0, 4, float32, 8, True),
        lowered.DefineGlobal(1, 2, float32, 8, False),
        lowered.Const(2, 0, int64),
        lowered.Cast(3, 0, uint8),
        lowered.Bitcast(4, 3, float32),
        lowered.Cast(5, 1, float32),
        lowered.Load(6, 5, 2, None, float32),
        lowered.Store(4, 2, 6, None),
        machine.Local(7, float32, 4),
        lowered.Store(7, 2, 6, None),
        machine.DefineVar(8, "n", 0, 9),
        machine.DefineVar(9, "core_id", 0, 1),
        machine.DefineVar(10, "n", 0, 9),
    ]
    made = derive_instructions(rows)
    assert (made.globals, made.outs, made.ins) == ((2, 4), (4,), (2,))
    assert made.var_names == ("core_id", "n")
    assert sizes(made.global_size) == [2, 1, 1]
    mixed = [by_hand.Special(0, "global", 0, 4), by_hand.Special(1, "local", 1, 4)]
    with pytest.raises(ProgramError, match="direct and local"):
        derive_instructions(mixed)


def test_variables_are_sorted_and_unique_by_name() -> None:
    made = derive([body(nodes.DefineVar((), "z", 0, 1), N, nodes.DefineVar((), "a", 2, 3), N)])
    assert made.var_names == ("a", "n", "z")
    with pytest.raises(ProgramError, match="variable n has two pairs of bounds") as caught:
        derive([body(N, nodes.DefineVar((), "n", 1, 99))])
    assert "1 … 99 and 1 … 100" in str(caught.value)


# --- ruling 27: given metadata ----------------------------------------------------------------

DERIVED = derive([body(CORE, nodes.Load((pointer(1), index(0))))])


def test_ruling_27_given_metadata_wins() -> None:
    given = Given(
        vars=(Variable("n", 1, 9), Variable("core_id", 0, 3)),
        globals=(5, 1, 0, 1),
        outs=(5, 0),
        ins=(5, 1),
        global_size=(index(4), N, index(2)),
        local_size=size_of(16),
    )
    made = merge(DERIVED, given)
    assert made.var_names == ("core_id", "n")
    assert (made.globals, made.outs, made.ins) == ((0, 1, 5), (0, 5), (1, 5))
    assert sizes(made.global_size) == [4, N, 2]
    assert sizes(made.local_size) == [16, 1, 1]
    assert merge(DERIVED, Given()) == DERIVED
    assert merge(Metadata(), Given(is_direct=True)).local_size is None


BAD = {
    "variables": (Given(vars=()), "variables given and those"),
    "bounds": (Given(vars=(Variable("core_id", 0, 4),)), "variables given and those"),
    "globals": (Given(globals=(0,)), "globals given and those"),
    "outs": (Given(outs=()), "outs given and those"),
    "ins": (Given(ins=(0,)), "ins given and those"),
    "size": (Given(global_size=size_of(5)), "global size given and those"),
    "no argument": (Given(outs=(0, 9)), "slots are read or written but no arguments"),
    "local and direct": (Given(local_size=size_of(2), is_direct=True), "a local size is given"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_ruling_27_a_conflict_is_refused(given: Given, message: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(message)):
        merge(DERIVED, given)


def test_ruling_27_direct_and_local_sizes_conflict_too() -> None:
    grouped = derive([body(special("lidx0", 32))])
    with pytest.raises(ProgramError, match="local size given and those"):
        merge(grouped, Given(is_direct=True))
    direct = derive([body(special("idx0", 32))])
    with pytest.raises(ProgramError, match="local size given and those"):
        merge(direct, Given(local_size=size_of(32)))


# --- stages -----------------------------------------------------------------------------------


def kernel() -> CompiledKernel:
    """A kernel with two inputs."""
    x, y = (Tensor(np.arange(6.0) + n) for n in range(2))
    made = compiler.compile(x * y + 1.0)
    (only,) = made._kernels
    return only


@dataclass(frozen=True)
class Text:
    """Source of no language."""

    text: str = ""


def stages(**changes: object) -> Stages:
    made = kernel()
    linear = tuple(made.linear.instructions)
    parts = {"body": made.loops, "device": "CPU", "linear": linear, "source": Text()}
    return Stages(**(parts | changes))


def test_a_program_from_its_stages() -> None:
    made = from_stages(stages(binary=b"code"), "twice")
    assert (made.name, made.device) == ("twice", "CPU")
    assert (made.globals, made.outs, made.ins) == ((0, 1, 2), (0,), (1, 2))
    assert made.launch_dims().global_size == (1, 1, 1)
    assert from_stages(stages()).name == "kernel"


WRONG = {
    "no body": ({"body": None}, "stage body is missing"),
    "other body": ({"body": index(1)}, "stage body is something else"),
    "no device": ({"device": None}, "stage device is missing"),
    "other device": ({"device": 0}, "stage device is something else"),
    "no linear": ({"linear": None}, "stage linear is missing"),
    "other linear": ({"linear": "text"}, "stage linear is something else"),
    "other instruction": ({"linear": (index(0),)}, "stage linear is something else"),
    "no source": ({"source": None}, "stage source is missing"),
    "other source": ({"source": 7}, "stage source is something else"),
    "other binary": ({"binary": "text"}, "stage binary is something else"),
    "other kernel": ({"body": body(N)}, "body and instructions disagree"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_stage_is_refused_by_name(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        from_stages(stages(**changes))


# --- on the CPU -------------------------------------------------------------------------------

BY_CORE = """
define void @by_core(ptr %out, i64 %n, i64 %core) {
  %at = getelementptr double, ptr %out, i64 %core
  %value = sitofp i64 %n to double
  store double %value, ptr %at
  ret void
}
"""


def by_core() -> ProgramSpec:
    rows = [
        lowered.DefineGlobal(0, 0, float64, 4, True),
        lowered.Const(1, 0, int64),
        lowered.Const(2, 0, float64),
        lowered.Store(0, 1, 2, None),
        machine.DefineVar(3, "n", -5, 100),
        machine.DefineVar(4, "core_id", 0, 3),
    ]
    return program_spec("by_core", Text(BY_CORE), "CPU", rows)


def test_a_cpu_program_runs_once_for_each_core() -> None:
    compiled = device.CPU.compile(by_core(), 1)
    assert compiled.var_names == ("core_id", "n") and compiled.buffer_count == 1
    program = device.CPU.load(compiled)
    out = np.zeros(6)
    for value in (7, -5):
        program.execute([out.ctypes.data], (99, value))
        assert out.tolist() == [value] * 4 + [0, 0]


def test_values_of_a_run_are_checked() -> None:
    program = device.CPU.load(CompiledSpec(by_core(), 0))
    out = np.zeros(4)
    for values, message in (((), "one value per"), ((0, 101), "variable n is outside")):
        with pytest.raises(ProgramError, match=message):
            program.execute([out.ctypes.data], values)
    assert not out.any()
    for given, what in (
        (Given(global_size=size_of(1, 2)), "several groups along axis 1"),
        (Given(local_size=size_of(1, 1, 2)), "several members along axis 2"),
    ):
        spec = program_spec("k", Text(), "CPU", [], given)
        with pytest.raises(ProgramError, match=what):
            list(runs(spec, ()))


def test_groups_and_members_run_in_order() -> None:
    rows = [
        by_hand.Special(0, "local", 0, 2),
        machine.DefineVar(1, "n", 0, 9),
        by_hand.Special(2, "workgroup", 1, 3),
    ]
    spec = program_spec("k", Text(), "CPU", rows)
    assert spec.parameters == ("lidx0", "n", "widx1")
    got = [tuple(row[name] for name in spec.parameters) for row in runs(spec, (7,))]
    assert got == [(member, 7, group) for group in range(3) for member in range(2)]
    assert sizes(spec.metadata.global_size) == [1, 3, 1]


def test_the_renderer_of_the_cpu_makes_a_program_that_runs() -> None:
    made = kernel()
    spec = cpu.LlvmRenderer().render(made.linear.instructions, "rendered")
    assert "@rendered(" in spec.source.text
    program = device.CPU.load(device.CPU.compile(spec, 3))
    arrays = [np.zeros(6), np.arange(6.0), np.arange(6.0) + 1]
    program.execute([ctypes.c_void_p(a.ctypes.data).value or 0 for a in arrays])
    np.testing.assert_array_equal(arrays[0], arrays[1] * arrays[2] + 1)
