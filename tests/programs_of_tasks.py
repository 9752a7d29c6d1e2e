"""Programs of several tasks, written by hand: task i negates every element k with k % tasks = i."""

from compiler.core.dtypes import float32, int64, uint8
from compiler.device import cpu, device
from compiler.device.program import CompiledSpec, Program, program_spec
from compiler.lowered import instructions as lowered
from compiler.lowered import machine

TEXT = """
define void @by_core(ptr %out, ptr %in, i64 %core{argument}) {{
entry:
  {scratch}
  br label %head
head:
  %i = phi i64 [ %core, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, {size}
  br i1 %more, label %body, label %exit
body:
  %from = getelementptr float, ptr %in, i64 %i
  %to = getelementptr float, ptr %out, i64 %i
  %old = load float, ptr %from
  %new = fneg float %old
  store float %new, ptr %to
  %next = add i64 %i, {tasks}
  br label %head
exit:
  ret void
}}
"""


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text


def threaded(tasks: int = 3, size: int = 4, scratch: int = 0) -> Program:
    """The program; one that takes `scratch` bytes, more than a stack has, writes to the last."""
    rows = [
        lowered.DefineGlobal(0, 0, float32, size, True),
        lowered.DefineGlobal(1, 1, float32, size, False),
        lowered.Const(2, 0, int64),
        lowered.Load(3, 1, 2, None, float32),
        lowered.Store(0, 2, 3, None),
        machine.DefineVar(4, "core_id", 0, tasks - 1),
        *[machine.Local(5, uint8, scratch)] * (scratch > 0),
    ]
    write = f"%last = getelementptr i8, ptr %scratch, i64 {scratch - 1}\n  store i8 7, ptr %last"
    text = TEXT.format(
        size=size, tasks=tasks, argument=", ptr %scratch" * (scratch > 0),
        scratch=write if scratch else "",
    )  # fmt: skip
    spec = program_spec("by_core", _Text(text), "CPU", rows)
    return device.CPU.load(CompiledSpec(spec, 1))


def streaming(lines: int = 4) -> Program:
    """A program that copies `lines` cache lines and streams them."""
    size = 16 * lines
    rows: list[lowered.Instruction] = [
        lowered.DefineGlobal(0, 0, float32, size, True),
        lowered.DefineGlobal(1, 1, float32, size, False),
    ]
    for n in range(lines):
        at, value = 2 + 2 * n, 3 + 2 * n
        rows += [
            lowered.Const(at, 16 * n, int64),
            lowered.Load(value, 1, at, None, float32, 16),
            lowered.Store(0, at, value, None, 16, True),
        ]
    return device.CPU.load(device.CPU.compile(cpu.LlvmRenderer().render(rows, "copy"), 1))
