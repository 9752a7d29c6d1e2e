"""The padding of convolutions: stored once if many loads would need predicates, else fused."""

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.graph.nodes import Pad
from tests.evaluate import ENGINES, evaluate
from tests.schedule.test_partition import parts, realized, reasons

RNG = np.random.default_rng(1)


def image(*shape: int) -> Tensor:
    """Random numbers."""
    return Tensor(RNG.standard_normal(shape).astype(np.float32))


def kernels(tensor: Tensor) -> int:
    """How many kernels a run has."""
    return len(compile(tensor).schedule.items)


def test_an_image_that_slides_past_weights_is_written_with_its_zeros() -> None:
    result = parts(image(1, 8, 16, 16).conv2d(image(8, 8, 3, 3), padding=1).node)
    assert realized(result)[0] == "pad 1,8,18,18"
    # 8 × 8 × 256 × 9 loads of 4 comparisons at 0.1 ns; 2 × 10,368 bytes at 0.05 ns, 1 µs to start
    why = (
        "147,456 predicated loads in sums, 4 comparisons each, cost 59.0 µs; "
        "10,368 bytes stored with their padding, then read without predicates, cost 2.0 µs"
    )
    assert reasons(result)[0] == ("pad", False, why)


@pytest.mark.parametrize("make", [
    lambda: image(1, 2, 4, 4).conv2d(image(2, 2, 3, 3), padding=1),
    lambda: image(64, 64).pad(1) + 1.0,
    lambda: (image(64, 64).pad(1) * image(66, 66)).exp(),
    lambda: image(64, 64).pad(1).sum(1),
    lambda: image(4, 8, 32, 32).avg_pool2d(3, 1, 1),
    lambda: image(2, 8, 32, 32).conv2d(image(8, 8, 3, 3), stride=2),
])  # fmt: skip
def test_where_it_does_not_pay_padding_costs_nothing(make: object) -> None:
    tensor = make()  # type: ignore[operator]
    result = parts(tensor.node)
    assert not any(isinstance(node, Pad) for node in result.realized)
    assert len(result.realized) == 1


def test_what_a_reduction_leaves_is_padded_in_a_kernel_of_its_own() -> None:
    first = image(1, 4, 16, 16).conv2d(image(8, 4, 3, 3), padding=1).relu()
    second = first.conv2d(image(4, 8, 3, 3), padding=1)
    result = parts(second.node)
    shapes = ["pad 1,4,18,18", "max 1,8,16,16", "pad 1,8,18,18"]
    assert realized(result)[:3] == shapes
    why = "zeros are put around it: the loads of its reduction would need predicates"
    assert ("max", False, why) in reasons(result)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_convolutions(engine: str) -> None:
    def made(weights: Tensor) -> Tensor:
        return (image_.conv2d(first, padding=1).relu()).conv2d(weights, padding=1)

    image_, first, second = image(1, 4, 12, 16), image(6, 4, 3, 3), image(5, 6, 3, 3)
    assert kernels(made(second)) == 4
    expected = evaluate(made(second), "graph")
    np.testing.assert_allclose(evaluate(made(second), engine), expected, rtol=1e-4, atol=1e-4)


def test_an_epilogue_below_the_zeros_is_computed_with_them() -> None:
    made = (image(1, 4, 16, 16) * 2.0).relu().conv2d(image(8, 4, 3, 3), padding=1)
    assert realized(parts(made.node))[0] == "pad 1,4,18,18"
    assert kernels(made) == 2
