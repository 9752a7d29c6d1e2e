"""The printed form of loops in tiles, lanes and scratch memory; what a picture of them has."""

import pytest

from compiler.core.node import toposort
from compiler.core.trace import Numbering
from compiler.loops.nodes import Body, Local, Range, Store, const, index
from compiler.loops.printer import Loops, scalar_facts
from tests.loops.bodies import BODIES, f32, out

PRINTED = {
    "matmul in tiles": """
k0(out f32[256], in1 f32[48], in2 f32[192])
i0.1 in 4   unrolled
i1.1 in 16   lanes
for i0.0 in 2   over 2 tasks
  for i1.0 in 2
    acc %26 = 0.0
    for r2 in 6   reduction
      %20 = in1[(i0.0*4 + i0.1)*6 + r2]            f32
      %24 = in2[r2*32 + i1.0*16 + i1.1]            f32
      %26 = sum(%26, %20 * %24)
    out[(i0.0*4 + i0.1)*32 + i1.0*16 + i1.1] = %26
""",
    "masked tail": """
k0(out f32[22], in1 f32[22])
i0.1 in 8   lanes
for i0.0 in 3
  %10 = in1[i0.0*8 + i0.1] if i0.0*8 + i0.1 < 22 else 0 f32
  %12 = %10 * 2.0                                  f32
  out[i0.0*8 + i0.1] = %12 if i0.0*8 + i0.1 < 22
""",
    "peeled row sum": """
k0(out f32[3], in1 f32[63])
r1.1.0 in 2   reduction   unrolled
r1.1.1 in 8   reduction   lanes
for i0 in 3
  acc %19 = 0.0
  for r1.0 in 1   reduction
    %18 = in1[i0*21 + r1.0*16 + r1.1.0*8 + r1.1.1] f32
    %19 = sum(%19, %18)
  acc %25 = 0.0
  for r1.2 in 5   reduction
    %24 = in1[i0*21 + 16 + r1.2]                   f32
    %25 = sum(%25, %24)
  %26 = %19 + %25                                  f32
  out[i0] = %26
""",
    "softmax row": """
k0(out f32[40], in1 f32[40])
local0 f32[10]   scratch
for i0 in 4
  acc %15 = -inf
  for r1 in 10   reduction
    %14 = in1[i0*10 + r1]                          f32
    %15 = max(%15, %14)
  for i2 in 10
    %11 = in1[i0*10 + i2]                          f32
    %16 = %11 - %15                                f32
    %17 = exp(%16)                                 f32
    local0[i2] = %17
  acc %23 = 0.0
  for r3 in 10   reduction
    %22 = local0[r3]                               f32
    %23 = sum(%23, %22)
  for i4 in 10
    %20 = local0[i4]                               f32
    %24 = %20 / %23                                f32
    out[i0*10 + i4] = %24
""",
    "packed panel": """
k0(out f32[64], in1 f32[24], in2 f32[96])
i1.1 in 8   lanes
local0 f32[48]   scratch
for i1.0 in 2   over 2 tasks
  for i3 in 6
    for i4 in 8
      %27 = in2[i3*16 + i1.0*8 + i4]               f32
      local0[i3*8 + i4] = %27
  for i0 in 4
    acc %34 = 0.0
    for r2 in 6   reduction
      %17 = in1[i0*6 + r2]                         f32
      %32 = local0[r2*8 + i1.1]                    f32
      %34 = sum(%34, %17 * %32)
    out[i0*16 + i1.0*8 + i1.1] = %34
""",
    "column sums": """
k0(out f32[12], in1 f32[60])
local0 f32[6]   scratch
for i0.0 in 2
  for i1 in 6
    local0[i1] = 0.0
  for s2 in 5   serial
    for s3 in 6   serial
      %20 = in1[s2*12 + i0.0*6 + s3]               f32
      local0[s3] = add(local0[s3], %20) if True
  for i0.1 in 6
    %24 = local0[i0.1]                             f32
    out[i0.0*6 + i0.1] = %24
""",
    "main and rest": """
k0(out f32[33], in1 f32[33])
i1.1 in 8   lanes
for i0 in 3
  %9 = in1[i0*11 + i1.1]                           f32
  acc %13 = -inf
  for r2 in 11   reduction
    %12 = in1[i0*11 + r2]                          f32
    %13 = max(%13, %12)
  %14 = %9 - %13                                   f32
  out[i0*11 + i1.1] = %14
  for i1.2 in 3
    %19 = in1[i0*11 + 8 + i1.2]                    f32
    %20 = %19 - %13                                f32
    out[i0*11 + 8 + i1.2] = %20
""",
    "variable tiles": """
k0(out f32[20], in1 f32[20], n i64)
i0.1 in 8   lanes
for i0.0 in n//8   (at most 2)
  %9 = in1[i0.0*8 + i0.1]                          f32
  %10 = neg(%9)                                    f32
  out[i0.0*8 + i0.1] = %10
for i0.2 in n%8   (at most 7)
  %16 = in1[n//8*8 + i0.2]                         f32
  %17 = neg(%16)                                   f32
  out[n//8*8 + i0.2] = %17
""",
}


def loops(body: Body) -> Loops:
    numbers = Numbering()
    for node in toposort([body]):
        numbers[node]
    return Loops(title="", name="k0", body=body, kernel=0, numbers=numbers, parents={})


@pytest.mark.parametrize("name", BODIES)
def test_printed(name: str) -> None:
    lines = [line.text.rstrip() for line in loops(BODIES[name]().body).lines]
    assert "\n".join(lines) == PRINTED[name].strip()


@pytest.mark.parametrize("name", BODIES)
def test_every_line_and_every_box_is_of_a_node(name: str) -> None:
    printed = loops(BODIES[name]().body)
    drawn = set(printed.to_networkx())
    assert drawn == {printed.entity(node) for node in printed.nodes}
    assert {line.entity for line in printed.lines} <= drawn


def test_a_streamed_store() -> None:
    body = Body((Store((out(1), index(0), const(1.0, f32)), False, True),))
    assert loops(body).lines[-1].text == "out[0] = 1.0   streamed"


def test_what_a_picture_says_of_ranges_and_memory() -> None:
    facts = {
        str(found["op"]): found["argument"]
        for name in ("matmul in tiles", "softmax row")
        for node in loops(BODIES[name]().body).nodes
        if isinstance(node, Range | Local)
        for found in (scalar_facts(node),)
    }
    assert facts["i0.0"] == "2 over 2 tasks"
    assert facts["i0.1"] == "4 unrolled" and facts["i1.1"] == "16 lanes"
    assert facts["r3"] == "10 reduction"
    assert facts["local0"] == "f32[10]"
