"""RNN, GRU and LSTM with many steps: a loop gives the same results as unrolled steps."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import compiler
from compiler import Tensor
from compiler.imported import steps
from compiler.program.compilation import Compilation

STEPS, BATCH, INNER, HIDDEN = 20, 2, 3, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
RNG = np.random.default_rng(5)


def model(op: str, **attributes: Any) -> Any:
    """One layer in both directions, of sequences of different lengths."""
    width = GATES[op] * HIDDEN
    shapes = {"x": (STEPS, BATCH, INNER), "w": (2, width, INNER), "r": (2, width, HIDDEN),
              "b": (2, 2 * width)}  # fmt: skip
    node = helper.make_node(op, [*shapes, "lengths"], ["y", "last"], hidden_size=HIDDEN,
                            direction="bidirectional", **attributes)  # fmt: skip
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, (BATCH,)))
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "last")]
    graph = helper.make_graph([node], "layer", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])


@pytest.mark.parametrize("op", GATES)
def test_a_loop_gives_what_written_out_steps_give(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compiler.from_onnx(model(op))
    width = GATES[op] * HIDDEN
    shapes = ((STEPS, BATCH, INNER), (2, width, INNER), (2, width, HIDDEN), (2, 2 * width))
    given = [Tensor(RNG.standard_normal(s).astype(np.float32)) for s in shapes]
    given.append(Tensor(np.array([STEPS, 7], np.int32)))
    looped = [*program(*given).values()]
    made: Compilation = compiler.compile(looped)
    assert len({name for name, _ in _calls(made)}) < STEPS < len(_calls(made))
    monkeypatch.setattr(steps, "MOST_WRITTEN_OUT", STEPS)
    for got, want in zip(looped, program(*given).values(), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)


def _calls(made: Compilation) -> list[tuple[str, str]]:
    """Kernels as they run, by name and word."""
    found = [(i.operation.name, type(i.operation).__name__) for i in made.schedule.items]
    return [each for each in found if each[1] == "Kernel"]
