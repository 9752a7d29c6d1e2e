"""Readers of a buffer: the cached answer equals the full search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Tensor
from compiler.tensors.readers import READERS, Alone, Readers

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "detach", "compute", "forget", "both"]), st.integers(0, 9),
        st.integers(0, 9),
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(STEPS, st.sets(st.integers(0, 15)))
def test_are_all_is_true_only_where_of_finds_no_other(
    steps: list[tuple[str, int, int]], own: set[int]
) -> None:
    tensors = [Tensor(np.ones(n + 1)).realize() for n in range(3)]
    numbers = {tensor.node.unique for tensor in tensors}  # type: ignore[attr-defined]
    first = second = tensors[0]
    for what, one, other in steps:
        first, second = tensors[one % len(tensors)], tensors[other % len(tensors)]
        match what:
            case "add":
                tensors.append(first + 1)
            case "detach":
                tensors.append(first.detach())
            case "compute":
                first.realize()
            case "forget" if len(tensors) > 3:
                del tensors[3]
            case "both":
                tensors.append(first.sum() * second.sum())
    del first, second  # each would be one more that holds a tensor which the list forgot
    known = {id(tensor) for place, tensor in enumerate(tensors) if place in own}
    quick = READERS.are_all(numbers, known)
    found = {id(tensor) for tensor in READERS.of(numbers)}
    assert not quick or found <= known
    if not any(tensor.node.sources for tensor in tensors):
        assert quick == (found <= known)


@settings(max_examples=150, deadline=None)
@given(STEPS, st.integers(1, 3))
def test_alone_is_what_are_all_finds(steps: list[tuple[str, int, int]], count: int) -> None:
    """Asked again and again, while tensors come, change and go."""
    tensors = [Tensor(np.ones(n + 1)).realize() for n in range(3)]
    numbers = frozenset(t.node.unique for t in tensors[:count])  # type: ignore[attr-defined]
    known = frozenset(map(id, tensors))
    alone = Alone(numbers, known)
    for what, one, other in steps:
        match what:
            case "add":
                tensors.append(tensors[one % len(tensors)] + 1)
            case "detach":
                tensors.append(tensors[one % len(tensors)].detach())
            case "compute":
                tensors[one % len(tensors)].realize()
            case "forget" if len(tensors) > 3:
                del tensors[3 + one % (len(tensors) - 3)]
            case "both":
                pair = [tensors[n % len(tensors)].sum() for n in (one, other)]
                tensors.append(pair[0] * pair[1])
                del pair
        assert alone.holds() == READERS.are_all(numbers, known)


def test_buffers_are_looked_at_again_only_after_additions(monkeypatch: pytest.MonkeyPatch) -> None:
    state = Tensor(np.ones(3)).realize()
    number: int = state.node.unique  # type: ignore[attr-defined]
    alone = Alone(frozenset({number}), frozenset({id(state)}))
    looks: list[object] = []
    are_all = READERS.are_all
    monkeypatch.setattr(Readers, "are_all", lambda self, *a: (looks.append(a), are_all(*a))[1])
    for _ in range(3):
        assert alone.holds()
        Tensor(np.ones(3)).realize()
    assert len(looks) == 1
    other = state + 1
    assert not alone.holds() and len(looks) == 2
    del other
    assert alone.holds() and alone.holds() and len(looks) == 3
