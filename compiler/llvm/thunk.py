"""thunk: one signature for all kernels, so that one driver can run any of them.

    define void @k.task(ptr %args, i64 %core, ptr %scratch)

`args` holds 8 bytes for each argument: the buffers' addresses, in order of slot, then the value
of each DefineVar and Special, in program order. `core_id` is not among them: it is `core`.
`scratch` is passed on, as the last argument, to a kernel that takes it.

The thunk is not part of the kernel's source: `ProgramSpec.text` adds it, so that hand-written
programs have one too.

    Before:  define void @k(ptr %data0, ptr %data1, i64 %var.n, i64 %var.core_id)
    After:   define void @k.task(ptr %args, i64 %core, ptr %scratch) {
             entry:
               %data0 = load ptr, ptr %args
               …
               call void @k(ptr %data0, ptr %data1, i64 %n, i64 %core) noinline
               ret void
             }
"""

from collections.abc import Sequence

CORE = "core_id"
"""The variable that numbers the tasks among which a kernel's work is divided."""


def thunk_name(name: str) -> str:
    """The name of the thunk of kernel `name`."""
    return f"{name}.task"


def thunk(
    name: str, buffers: int, parameters: Sequence[str], has_scratch: bool = False
) -> list[str]:
    """The lines of the thunk of kernel `name`; `parameters` follow its `buffers` pointers."""
    lines = [
        f"define void @{thunk_name(name)}(ptr %args, i64 %core, ptr %scratch) nounwind {{",
        "entry:",
    ]
    arguments: list[str] = []
    for number in range(buffers):
        arguments.append(_argument(lines, "ptr", number))
    place = buffers
    for parameter in parameters:
        if parameter == CORE:
            arguments.append("i64 %core")
            continue
        arguments.append(_argument(lines, "i64", place))
        place += 1
    arguments += ["ptr %scratch"] * has_scratch
    # inlined, the kernel would be compiled twice
    lines += [f"  call void @{name}({', '.join(arguments)}) noinline", "  ret void", "}"]
    return lines


def _argument(lines: list[str], kind: str, place: int) -> str:
    """Load the argument at `place`; returns it with its type."""
    lines.append(f"  %at{place} = getelementptr i8, ptr %args, i64 {8 * place}")
    lines.append(f"  %a{place} = load {kind}, ptr %at{place}")
    return f"{kind} %a{place}"
