"""values: the value of every node of a program, for a person to look at.

Computed by the graph's interpreter on the program's own inputs, before and after the graph passes.
It computes each value whole, so those that a kernel never makes in one piece, such as all products
of a convolution, may be larger than memory: what has more elements than `MOST_ELEMENTS` is left
out.

Inside kernels the interpreters of loops and of instructions tell what they compute, on the same
inputs. They are slow: `Effort` says how much they may do, and kernels that take more are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.ask.checking import copies
from compiler.ask.seen import Seen
from compiler.core.dtypes import Array, is_floating
from compiler.core.errors import CompileError
from compiler.core.node import Node
from compiler.core.reason import Number, Reason
from compiler.graph.interpret import evaluate_all
from compiler.graph.nodes import Buffer, TensorNode
from compiler.loops import interpret as loops_interpreter
from compiler.lowered.interpret import steps
from compiler.lowered.run_tasks import run_tasks
from compiler.run import bindings
from compiler.schedule import interpret as schedule_interpreter
from compiler.schedule.items import Kernel
from compiler.schedule.kinds import After, End
from compiler.schedule.outlined import Outlined
from compiler.stages.stages import ProgramStages

MOST_ELEMENTS = 1 << 22
"""The most elements of a value that is kept: 32 MB of float64, a bound on memory."""


def values(program: ProgramStages, outlined: Outlined) -> dict[str, Array]:
    """The values of graph and kernel entities; none while data are missing."""
    if not program.can_run:
        return {}
    of_nodes: dict[TensorNode, Array] = {}
    for root in (program.written, program.simplest):
        inputs = bindings.graph_inputs(root, program.values_of_run())
        of_nodes |= evaluate_all(root.sources, inputs, MOST_ELEMENTS)
    named = {program.entity(node): value for node, value in of_nodes.items()}
    in_kernels = set(program.kernels.nodes)
    held = _held(outlined, of_nodes)
    of_kernels = ((it, value) for it, value in held.items() if it in in_kernels)
    return named | {program.kernels.entity(it): value for it, value in of_kernels}


def _held(outlined: Outlined, of_nodes: Mapping[TensorNode, Array]) -> dict[Node, Array]:
    """The nodes of the kernel graph that hold a value: the call that makes it, its own buffer.

    What changes from iteration to iteration of a loop has no value.
    """
    copied = ((node, holder) for (node, _), holder in outlined.copies.items())
    held: dict[Node, Array] = {}
    holders_of: dict[Node, list[Node]] = {}
    for node, holder in (*outlined.buffers.items(), *copied):
        if node not in of_nodes:
            continue
        held[holder] = of_nodes[node]
        if isinstance(holder, After) and not isinstance(holder.sources[1], End):
            held[holder.sources[1]] = of_nodes[node]
            holders_of.setdefault(holder.sources[0], []).append(holder)
    for buffer, holders in holders_of.items():
        if len(holders) == 1 and isinstance(buffer, Buffer) and buffer.unique < 0:
            held[buffer] = held[holders[0]]
    return held


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits of the interpreters: in the program, and in the loops and instructions of each of
    the first kernels. Chosen so that a person hardly waits, not measured."""

    flops: int = 1 << 24
    elements: int = 1 << 20
    steps: int = 1 << 13
    kernels: int = 8


LITTLE = Effort()


@dataclass(frozen=True, slots=True)
class Unseen:
    """A thing not run to see its values: a stage ("" for both) of kernel `number` (-1: of all)."""

    stage: str
    number: int
    reason: Reason


def values_inside(
    program: ProgramStages, effort: Effort = LITTLE, unseen: list[Unseen] | None = None
) -> dict[str, Seen]:
    """The values of loops and instructions, by entity; none of kernels that take too much.

    Of a kernel that runs several times it is the first run. There are none while data or values of
    variables are missing. `unseen` gets what was left out, and why.
    """
    left: list[Unseen] = [] if unseen is None else unseen
    if not program.can_run:
        left.append(Unseen("", -1, Reason("data, or values of variables, are missing")))
        return {}
    flops = sum(it.flops for it in program.schedule.analysis)
    if flops > effort.flops:
        words = f"the program computes {flops:,} operations: interpreters would take long"
        seen = Number("operations of the program", flops, "", "at most", effort.flops)
        left.append(Unseen("", -1, Reason(words, seen)))
        return {}
    inside = _Inside(program, effort, left)
    for number, loops in enumerate(program.loops[effort.kernels :], effort.kernels):
        words = f"{loops.name} is not among the first {effort.kernels} kernels, which are looked at"
        count = Number("kernel", number + 1, "", "looked at", effort.kernels)
        left.append(Unseen("", number, Reason(words, count)))
    items, results = program.schedule.items, program.schedule.results
    schedule_interpreter.interpret(items, results, copies(program), inside.run)
    return inside.found


class _Inside:
    """Runs the kernels of a program, each for the first time on the interpreters of its stages."""

    def __init__(self, program: ProgramStages, effort: Effort, left: list[Unseen]) -> None:
        self.made, self.effort, self.left = program, effort, left
        self.values = program.values_of_run()
        self.found: dict[str, Seen] = {}
        self.waiting = {it.name: n for n, it in enumerate(program.loops[: effort.kernels])}

    def run(self, kernel: Kernel, arguments: Sequence[Array]) -> None:
        """Run one kernel; first on copies of its arguments where somebody watches."""
        number = self.waiting.pop(self.made.kernel(kernel.body).name, None)
        variables = {**self.values, **dict(kernel.fixed)}
        if number is not None:
            for stage, watched in (("loops", self._loops), ("lowered", self._lowered)):
                try:
                    watched(number, [it.copy() for it in arguments], variables)
                except CompileError as error:
                    words = f"its interpreter cannot run it: {error.problem}"
                    self.left.append(Unseen(stage, number, Reason(words)))
        schedule_interpreter.run_kernel(kernel, arguments, self.values)

    def _tell(self, entity: str, value: Array) -> None:
        if value.dtype.kind in "biu" or is_floating(value.dtype):
            self.found.setdefault(entity, Seen(value.dtype.name)).add(value)

    def _leave(self, stage: str, number: int, words: str, seen: Number) -> None:
        self.left.append(Unseen(stage, number, Reason(words, seen)))

    def _loops(self, number: int, arguments: list[Array], variables: dict[str, int]) -> None:
        stage, limit = self.made.loops[number], self.effort.elements
        elements = loops_interpreter.elements(stage.body)
        if elements > limit:
            words = f"its loops compute {elements:,} values, more than are kept"
            self._leave("loops", number, words, Number("values", elements, "", "at most", limit))
            return
        loops_interpreter.interpret(
            stage.body, arguments, variables=variables,
            watch=lambda node, value: self._tell(stage.entity(node), value),
        )  # fmt: skip

    def _lowered(self, number: int, arguments: list[Array], variables: dict[str, int]) -> None:
        stage = self.made.lowered[number]
        count, limit = steps(stage.instructions, variables=variables), self.effort.steps
        if count > limit:
            words = f"its interpreter would take {count:,} steps"
            self._leave("lowered", number, words, Number("steps", count, "", "at most", limit))
            return
        run_tasks(
            stage.instructions, arguments, variables=variables,
            watch=lambda number, value: self._tell(stage.entity(number), value),
        )  # fmt: skip
