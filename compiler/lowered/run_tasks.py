"""run_tasks: interprets all tasks of a kernel, one after the other."""

from collections.abc import Mapping, Sequence

from compiler.core.dtypes import Array
from compiler.lowered.instructions import Instruction
from compiler.lowered.interpret import LIMIT, Watch, interpret
from compiler.lowered.linearize import CORE
from compiler.lowered.machine import DefineVar


def run_tasks(
    instructions: Sequence[Instruction],
    arguments: Sequence[Array],
    *,
    limit: int = LIMIT,
    variables: Mapping[str, int] | None = None,
    watch: Watch | None = None,
) -> None:
    """Run every task of a kernel on flat arrays, one per slot; raises as `interpret` does.

    A kernel without parallel tasks runs once. `watch` is called with every value.
    """
    given = dict(variables or {})
    cores = [i for i in instructions if isinstance(i, DefineVar) and i.name == CORE]
    counts = [i.maximum + 1 for i in cores if CORE not in given]
    if not counts:
        interpret(instructions, arguments, limit=limit, variables=given, watch=watch)
        return
    for number in range(*counts):
        own = {**given, CORE: number}
        interpret(instructions, arguments, limit=limit, variables=own, watch=watch)
