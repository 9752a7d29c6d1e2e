"""Who reads a buffer: the quick answer is the long one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Tensor
from compiler.tensors.readers import READERS

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
