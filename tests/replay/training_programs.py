"""Random training programs: sequences of actions, split into functions that `jit` wraps, or not.

The programs know nothing of how functions are captured. Whatever is wrapped, all that can be seen
(results, parameters, gradients, which tensors require them, where an error is raised) is what it is
where nothing is wrapped, but for rounding.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler import Tensor, jit, optim
from compiler.core.errors import CompileError
from compiler.optim.clipping import clip_grad_norm
from compiler.tensors.gradients import no_grad

ROWS = 3
OPTIMIZERS: tuple[Callable[[list[Any]], Any], ...] = (
    lambda p: optim.SGD(p, lr=0.1),
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: optim.Adam(p, lr=0.05),
    lambda p: optim.AdamW(p, lr=0.05),
)


class World:
    """The tensors of a program, and its optimiser."""

    def __init__(self, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        Tensor.manual_seed(seed)
        self.first = Tensor(numbers.standard_normal((2, 4)), requires_grad=True)
        self.second = Tensor(numbers.standard_normal((4, 4)), requires_grad=True)
        self.last = Tensor(numbers.standard_normal((4, 1)), requires_grad=True)
        self.free = Tensor(numbers.standard_normal(4), requires_grad=True)
        self.state = Tensor(numbers.standard_normal(4)).realize()
        self.parameters = [self.first, self.second, self.last, self.free]
        self.optimizer = OPTIMIZERS[seed % len(OPTIMIZERS)](self.parameters)


@dataclass
class Values:
    """The data of a function: `h` has ROWS rows of 4, `loss` one element."""

    world: World
    x: Any
    h: Any
    loss: Any
    out: list[Any]


def first(v: Values) -> None:
    v.h = (v.x @ v.world.first).tanh()


def second(v: Values) -> None:
    v.h = (v.h @ v.world.second).sigmoid()


def scaled(v: Values) -> None:
    v.h = v.h * v.world.free


def with_state(v: Values) -> None:
    v.h = v.h + v.world.state


def noise(v: Values) -> None:
    v.h = v.h + Tensor.randn(ROWS, 4, dtype="float64") * 0.1


def dropout(v: Values) -> None:
    v.h = v.h * (Tensor.rand(ROWS, 4, dtype="float64") > 0.3)


def detached(v: Values) -> None:
    v.h = v.h.detach()


def without_history(v: Values) -> None:
    with no_grad():
        v.h = (v.h @ v.world.second).sin()


def loss(v: Values) -> None:
    v.loss = ((v.h @ v.world.last) ** 2).mean()


def more_loss(v: Values) -> None:
    v.loss = v.loss + (v.world.free**2).sum() * 0.1


def backward(v: Values) -> None:
    v.loss.backward()


def half_backward(v: Values) -> None:
    (v.loss * 0.5).backward()


def steep(v: Values) -> None:
    v.loss = v.loss + (v.loss.gradient(v.world.free, allow_unused=True) ** 2).sum()


def gradient(v: Values) -> None:
    v.out.append(v.loss.gradient(v.world.last, allow_unused=True))


def step(v: Values) -> None:
    v.world.optimizer.step()


def zero(v: Values) -> None:
    v.world.optimizer.zero_grad()


def zeros(v: Values) -> None:
    v.world.optimizer.zero_grad(set_to_none=False)


def clip(v: Values) -> None:
    v.out.append(clip_grad_norm(v.world.parameters, 0.5).cast("float64"))


def forget(v: Values) -> None:
    v.world.free.grad = None


def set_grad(v: Values) -> None:
    v.world.free.grad = v.h.detach().sum(0)


def scale_grad(v: Values) -> None:
    if v.world.free.grad is not None:
        v.world.free.grad = v.world.free.grad * 0.5


def assign_grad(v: Values) -> None:
    if v.world.free.grad is not None:
        v.world.free.grad.assign(v.world.free.grad * 2 + 1)


def show_grad(v: Values) -> None:
    if v.world.second.grad is not None:
        v.out.append(v.world.second.grad)


def swap_grads(v: Values) -> None:
    v.world.free.grad, v.out = None, [*v.out, v.world.free.grad]
    v.out = [each for each in v.out if each is not None]


def descend(v: Values) -> None:
    if v.world.first.grad is not None:
        with no_grad():
            v.world.first -= 0.1 * v.world.first.grad


def shrink(v: Values) -> None:
    with no_grad():
        v.world.second.assign(v.world.second * 0.9)


def count(v: Values) -> None:
    v.world.state.assign(v.world.state * 0.5 + v.h.detach().sum(0))


def seed(v: Values) -> None:
    Tensor.manual_seed(5)


def freeze(v: Values) -> None:
    v.world.second.requires_grad_(False)


def thaw(v: Values) -> None:
    v.world.second.requires_grad_()


def retain(v: Values) -> None:
    if v.h.requires_grad:
        v.h.retain_grad()


def rate(v: Values) -> None:
    v.world.optimizer.lr = 0.02


def look_at_loss(v: Values) -> None:
    v.loss.numpy()


def look_at_grads(v: Values) -> None:
    for each in v.world.parameters:
        if each.grad is not None:
            each.grad.numpy()


def look_at_parameters(v: Values) -> None:
    for each in v.world.parameters:
        each.numpy()


INSIDE = (
    first, first, second, second, scaled, with_state, noise, dropout, detached, without_history,
    loss, loss, loss, more_loss, backward, backward, backward, half_backward, steep, gradient, step,
    step, zero, zero, zeros, clip, forget, set_grad, scale_grad, assign_grad, show_grad, swap_grads,
    descend, shrink, count, seed, retain,
)  # fmt: skip
OUTSIDE = (*INSIDE, rate, look_at_loss, look_at_grads, look_at_parameters, freeze, thaw)
Part = tuple[bool, tuple[Callable[[Values], None], ...], int]
"""Three choices: True if it is wrapped, what it does, and its arguments: 0 only the batch, 1 also
the values before it, 2 these and a parameter."""


def program(number: int) -> list[Part]:
    """The parts of one iteration of a program."""
    choose = random.Random(number)
    parts: list[Part] = []
    for _ in range(choose.randint(1, 4)):
        is_wrapped = choose.random() < 0.7
        actions = INSIDE if is_wrapped else OUTSIDE
        found = tuple(choose.choice(actions) for _ in range(choose.randint(1, 5)))
        parts.append((is_wrapped, found, choose.randint(0, 2)))
    return parts


def _function(world: World, actions: Sequence[Callable[[Values], None]]) -> Callable[..., Any]:
    def part(x: Any, h: Any, loss: Any) -> Any:
        values = Values(world, x, h, loss, [])
        for action in actions:
            action(values)
        return values.h, values.loss, values.out

    return part


def run(number: int, is_wrapping: bool, iterations: int = 3, is_lazy: bool = False) -> list[Any]:
    """All that is seen of a program; it ends with an error where one is raised."""
    world = World(number)
    choose = random.Random(number + 1)
    parts = [(_function(world, actions), is_wrapped) for is_wrapped, actions, _ in program(number)]
    functions = [jit(f) if is_wrapped and is_wrapping else f for f, is_wrapped in parts]
    numbers = np.random.default_rng(number)
    seen: list[Any] = []
    h, loss = Tensor(np.ones((ROWS, 4))), Tensor(np.array(1.0))
    for _ in range(iterations):
        x = Tensor(numbers.standard_normal((ROWS, 2)))
        for f in functions:
            try:
                h, loss, out = f(x, h, loss)
                if not is_lazy:
                    h.realize(loss, *out)
            except CompileError as error:
                return [*seen, type(error).__name__]
            seen += [h.requires_grad, loss.requires_grad]
            if choose.random() < 0.5:
                seen += [each.numpy().copy() for each in (h, loss, *out)]
            if choose.random() < 0.3:
                seen += _state(world)
    return [*seen, *_state(world), h.numpy(), loss.numpy(), None if h.grad is None
            else h.grad.numpy(), Tensor.rand(2, dtype="float64").numpy()]  # fmt: skip


def _state(world: World) -> list[Any]:
    found: list[Any] = [world.state.numpy().copy()]
    for each in world.parameters:
        found += [each.numpy().copy(), each.requires_grad, each.is_leaf]
        found.append(None if each.grad is None else each.grad.numpy().copy())
    return found


def difference(number: int, is_lazy: bool = False) -> str:
    """How a program with `jit` differs from the same without; "" where it does not."""
    with np.errstate(all="ignore"):
        plain, wrapped = (run(number, flag, is_lazy=is_lazy) for flag in (False, True))
    if len(plain) != len(wrapped):
        return f"{len(plain)} values, {len(wrapped)} with jit: {plain[-1]!r}, {wrapped[-1]!r}"
    for place, (one, other) in enumerate(zip(plain, wrapped, strict=True)):
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
            if not np.allclose(one, other, rtol=1e-8, atol=1e-9, equal_nan=True):
                return f"value {place} of {len(plain)}: {one}, {other} with jit"
        elif one is not other and one != other:
            return f"value {place} of {len(plain)}: {one!r}, {other!r} with jit"
    return ""
