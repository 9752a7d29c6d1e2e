"""A search for programs whose results change when an intermediate value is read.

    python -m tests.search.looks --count 1000 --seed 7
    python -m tests.search.looks --only 7.123

Each program computes, writes in place and takes gradients. It runs twice, once with looks
(`numpy()`, `repr`, `realize`) between its steps; values, collected gradients and `requires_grad`
must be equal. Where a step is refused in one of the runs, they are not compared: that is no silent
difference. The exit code is 1 where there is one.
"""

import argparse
import random
import sys
import time
import warnings
from typing import Any, TypeAlias

import numpy as np

import compiler
from compiler import GradientError, Tensor, no_grad

START = np.array([[1.0, 2.0, -3.0], [0.5, -1.5, 2.5]])
OPERATIONS = (
    lambda a, b, c: a * b * c, lambda a, b, c: a + b * c, lambda a, b, c: a * c - b,
    lambda a, b, c: a.abs() * c, lambda a, b, c: a.isnan().where(0.0, a) * c,
    lambda a, b, c: a.tanh() * b * c, lambda a, b, c: a.detach() * b * c,
    lambda a, b, c: a.maximum(b) * c, lambda a, b, c: a[::-1] * c, lambda a, b, c: a.detach(),
    lambda a, b, c: a.max(1, keepdim=True).eq(a).where(a, b) * c, lambda a, b, c: a.clone(),
    lambda a, b, c: a.sum(1, keepdim=True) * b * c, lambda a, b, c: a.cumsum(1) * c,
    lambda a, b, c: a.softmax(1) * b, lambda a, b, c: a.reshape(3, 2).reshape(2, 3) * c,
    lambda a, b, c: compiler.checkpoint(lambda u: u.tanh() * u * c)(a) + b,
    lambda a, b, c: a.sort(1) * c,
)  # fmt: skip
STEPS = {"operation": 0.6, "assign": 0.05, "subtract": 0.05, "write": 0.1, "backward": 0.06,
         "zero": 0.04, "retain": 0.1, "gradient": 0.04}  # fmt: skip
"""The kinds of steps, with their weights in the draw."""
Step: TypeAlias = tuple[str, int, int, int, float]
"""A kind, an operation, two operands and a factor; numbers of tensors are taken modulo."""


def drawn(seed: int, number: int) -> tuple[list[Step], list[list[int]]]:
    """The steps of a program, and what is looked at after each."""
    draw = random.Random(f"{seed}.{number}")
    kinds = draw.choices(list(STEPS), list(STEPS.values()), k=draw.randint(3, 12))
    steps = [(kind, draw.randrange(len(OPERATIONS)), draw.randrange(60), draw.randrange(60),
              1 + draw.random()) for kind in kinds]  # fmt: skip
    return steps, [[draw.randrange(60) for _ in range(draw.choice((0, 0, 1, 2)))] for _ in kinds]


def _done(step: Step, tensors: list[Tensor]) -> None:
    """Do a step: the first two tensors collect gradients, the third is data."""
    kind, operation, first, second, factor = step
    a, b = tensors[first % len(tensors)], tensors[second % len(tensors)]
    match kind:
        case "operation":
            tensors.append(OPERATIONS[operation](a, b, factor))
        case "assign":
            with no_grad():
                tensors[first % 2].assign(b * 0.5 + 0.1)
        case "subtract":
            with no_grad():
                tensors[first % 2] -= b * 0.1
        case "write":
            tensors[2][first % 2] = b[1] * factor
        case "backward" if a.requires_grad:
            a.sum().backward()
        case "zero":
            for each in tensors:
                each.grad = None
        case "retain" if a.requires_grad:
            a.retain_grad()
        case "gradient" if b.requires_grad:  # without, what was looked at has no history
            tensors.append(a.sum().gradient(b, allow_unused=True).detach())


def _look(tensor: Tensor, way: int) -> None:
    match way % 3:
        case 0:
            tensor.numpy()
        case 1:
            repr(tensor)
        case 2:
            tensor.realize()
            if tensor.grad is not None:
                tensor.grad.numpy()


def ran(steps: list[Step], looks: list[list[int]]) -> list[Any] | None:
    """All values, gradients and flags at the end; None where a step was refused."""
    tensors = [Tensor(START.copy(), requires_grad=True),
               Tensor(START * 0.7 + 1, requires_grad=True), Tensor(START * -0.3)]  # fmt: skip
    try:
        for step, seen in zip(steps, looks, strict=True):
            _done(step, tensors)
            for each in seen:
                _look(tensors[each % len(tensors)], each)
        sum((each.sum() for each in tensors), tensors[0].sum()).backward()
    except GradientError:
        return None
    found: list[Any] = []
    for tensor in tensors:
        grad = tensor.grad
        found += [tensor.numpy(), None if grad is None else grad.numpy(), tensor.requires_grad]
    return found


def failure(seed: int, number: int) -> str | None:
    """The difference that looks make in a program; "" for none, None where a step was refused."""
    steps, looks = drawn(seed, number)
    try:
        without, with_looks = ran(steps, [[] for _ in steps]), ran(steps, looks)
    except Exception as error:
        return f"{seed}.{number}: {type(error).__name__}: {error}"
    if without is None or with_looks is None:
        return None
    for place, (one, other) in enumerate(zip(without, with_looks, strict=True)):
        is_array = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
        if not (np.allclose(one, other, 1e-9, equal_nan=True) if is_array else one is other):
            rows = "\n  ".join(f"{s} {seen}" for s, seen in zip(steps, looks, strict=True))
            what = ("the value", "the gradient", "requires_grad")[place % 3]
            return (f"{seed}.{number}: {what} of tensor {place // 3}\n  {rows}\n"
                    f"  without looks {one}\n  with looks    {other}")  # fmt: skip
    return ""


def main(given: list[str]) -> int:
    """Search as the arguments say; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.search.looks", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="the name of a program, e.g. 7.123")
    asked = parser.parse_args(given)
    if asked.only:
        seed, number = map(int, asked.only.split("."))
        print({None: "refused", "": "equal"}.get(found := failure(seed, number), found))
        return 0
    start = time.monotonic()
    warnings.simplefilter("ignore", compiler.RecompiledWarning)
    found = [failure(asked.seed, number) for number in range(asked.count)]
    failed = [each for each in found if each]
    print(*failed, sep="\n")
    minutes = (time.monotonic() - start) / 60
    print(f"seed {asked.seed}: {found.count('') + len(failed)} programs, {found.count(None)} "
          f"refused, {minutes:.1f} min, {len(failed)} failed")  # fmt: skip
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
