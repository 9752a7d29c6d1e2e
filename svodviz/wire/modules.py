"""The modules of a model as data for the page: the nodes left of each at every stage, the share of
each item of the schedule, and, once LLVM is done, the code.

The page adds up times by itself, as they are estimated or measured: `parts` has for each item the
innermost modules with their parts of it, `roofs` what it would take at the machine's best.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.scene import rounded

if TYPE_CHECKING:
    from compiler.ask.by_module import Account, KernelPart
    from compiler.program.compilation import Compilation
    from svodviz.data import records


def has_modules(compilation: "Compilation") -> bool:
    """True if a program has modules of its own."""
    modules = compilation.modules
    return modules.is_model and modules.is_tree


def module_table(compilation: "Compilation", entities: Entities) -> "records.Modules":
    """The tree with what is known before LLVM is asked."""
    from compiler.ask.by_module import by_module, roofs

    table = by_module(compilation, with_code=False)
    return {
        "passes": [visible(it) for it in table.passes],
        "rows": [
            _row(it, entities.number(compilation.modules.entity(at)))
            for at, it in enumerate(table.rows)
        ],
        "parts": [
            [(at, _part(it.time), _part(it.operations), _part(it.moved)) for at, it in row.items()]
            for row in table.parts
        ],
        "roofs": [None if it is None else rounded(it) for it in roofs(compilation)],
    }


def module_codes(compilation: "Compilation") -> "list[records.ModuleCode]":
    """The code of each module. It waits for LLVM."""
    from compiler.ask.by_module import codes

    return [
        (it.instructions, it.shared_instructions, it.assembly, it.shared_assembly,
         round(it.nbytes))
        for it in codes(compilation)
    ]  # fmt: skip


def _row(it: "Account", entity: int) -> "records.ModuleRow":
    return {
        "e": entity,
        "name": visible(it.row.name),
        "path": visible(it.row.path),
        "kind": visible(it.row.kind),
        "parent": it.row.parent,
        "nodes": it.row.nodes,
        "alive": list(it.alive),
        "shared": it.shared,
        "kernels": [_kernel(kernel) for kernel in it.kernels],
    }


def _kernel(it: "KernelPart") -> "records.ModuleKernel":
    return visible(it.name), list(it.items), [_part(share) for share in it.shares], list(it.others)


def _part(share: float) -> float:
    return float(f"{share:.4g}")
