"""Tensors that are computed in one program and have one value: each keeps its own history."""

import numpy as np
import pytest

from compiler import GradientError, Tensor

DATA = np.linspace(0.5, 2, 6, dtype=np.float32)
PAIRS = {
    "detached": (lambda a, b: a * b, lambda a, b: (a * b).detach(), (True, True), (False, False)),
    "of a detached operand": (
        lambda a, b: a * b, lambda a, b: a.detach() * b, (True, True), (False, True)),
    "each of another": (
        lambda a, b: a * b.detach(), lambda a, b: a.detach() * b, (True, False), (False, True)),
    "the same": (lambda a, b: a * b, lambda a, b: b * a, (True, True), (True, True)),
}  # fmt: skip


@pytest.mark.parametrize("order", [1, -1], ids=["in order", "swapped"])
@pytest.mark.parametrize("name", PAIRS)
def test_each_has_its_own_gradients(name: str, order: int) -> None:
    first, second, *reached = PAIRS[name]
    for number in (0, 1):
        a, b = (Tensor(DATA + k).requires_grad_() for k in (0, 3))
        made = [first(a, b), second(a, b)]
        together = made[::order]
        together[0].realize(*together[1:])
        assert [t.requires_grad for t in made] == [any(each) for each in reached]
        if not any(reached[number]):
            continue
        made[number].sum().backward()
        expected = [b.numpy(), a.numpy()]
        for leaf, is_reached, right in zip((a, b), reached[number], expected, strict=True):
            assert (leaf.grad is not None) is is_reached
            if is_reached:
                np.testing.assert_array_equal(leaf.grad.numpy(), right)


@pytest.mark.parametrize("detached_first", [True, False])
def test_what_was_made_of_memory_that_was_written_is_refused(detached_first: bool) -> None:
    """Of two tensors of one value both are computed before their operand is assigned."""
    w, v = (Tensor(DATA + k).requires_grad_() for k in (0, 1))
    makers = [lambda: (w.detach() * v).sum(), lambda: (w * v).sum()]
    made = [make() for make in (makers if detached_first else makers[::-1])]
    z, y = made if detached_first else made[::-1]
    w.assign(w.detach() + 1)
    z.backward()
    np.testing.assert_array_equal(v.grad.numpy(), DATA)
    with pytest.raises(GradientError, match="was overwritten"):
        y.backward()
