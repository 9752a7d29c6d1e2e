"""Every case on machine code, against JAX: how many are equal, and each that is not.

python -m tests.imported.jax.table [part of a name]
"""

import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable

from compiler.core.errors import CompileError
from tests.imported.jax import (
    documented,
    test_decompositions,
    test_elementwise,
    test_flow,
    test_folds,
    test_functions,
    test_keys,
    test_loops,
    test_picking,
    test_products,
    test_shapes,
    test_windows,
)
from tests.imported.jax.case import Case, check

MODULES = (
    test_elementwise, test_shapes, test_folds, test_products, test_picking, test_windows,
    test_keys, test_flow, test_loops, test_decompositions, test_functions,
)  # fmt: skip


def outcome(case: Case) -> str:
    """ "equal", "refused: …" or what is wrong."""
    try:
        check(Case(case.name, case.function, case.arguments, case.close), is_compiled=True)
    except CompileError as error:
        problem = " ".join(str(error).split("\n")[0:2])
        return f"{'refused' if case.refused else 'WRONGLY REFUSED'}: {' '.join(problem.split())}"
    except AssertionError as error:
        return f"WRONG: {' '.join(str(error).split())[:200]}"
    return "equal"


def show(title: str, cases: Iterable[Case], part: str) -> None:
    """One line for a group of cases, and one for each that is not equal."""
    begin, count, told = time.perf_counter(), Counter[str](), []
    for case in cases:
        if part not in case.name:
            continue
        found = outcome(case)
        count[found.partition(":")[0]] += 1
        told += [] if found == "equal" else [f"    {case.name}: {found}"]
    numbers = ", ".join(f"{number} {what}" for what, number in sorted(count.items()))
    print(f"{title}: {numbers}  ({time.perf_counter() - begin:.0f} s)", *told, sep="\n", flush=True)


def main() -> None:
    """Both tables."""
    warnings.simplefilter("ignore")
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    for module in MODULES:
        show(str(module.__doc__).partition(".")[0], module.CASES, part)
    for topic, cases in documented.TOPICS.items():
        show(f"documentation: {topic}", cases(), part)


if __name__ == "__main__":
    main()
