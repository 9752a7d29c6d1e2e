"""A scalar's line is one on which its own kernel computes, though its node stands in others too."""

import numpy as np
import pytest

import compiler
from compiler import Compilation, Options, Tensor
from compiler.core.origin import Origin
from compiler.stages.listings import Generated


@pytest.fixture(scope="module")
def made() -> Compilation:
    x, w = (Tensor(np.ones((64, 64), np.float32), name=name) for name in "xw")
    a = (x @ w).maximum(0.0)  # first
    b = (a @ w).clip(0.0, 1.0)  # second
    rows = a.sum(axis=1).sigmoid()  # third
    return compiler.compile(b, rows, options=Options(threads=1))


def word(line: Origin) -> str:
    return line.text.rpartition("#")[2].strip()


def descended(made: Compilation, generated: Generated) -> set[str]:
    """The lines of all that the scalars of a kernel descend from."""
    kernel, origins = generated.kernel, made._scheduled.outlined.origins
    bodies = {it for scalar in kernel.linear.origins for it in kernel.provenance.of(scalar)}
    return {word(line) for body in bodies for node in origins.of(body)
            for line in made.lines_of(node)}  # fmt: skip


def test_what_kernels_share_has_the_line_of_each(made: Compilation) -> None:
    words = ["first", "second", "third"]
    assert len(made._generated) == len(words)
    for generated, own in zip(made._generated, words, strict=True):
        found = made._latest(generated.kernel)
        assert {word(line) for line in found.values()} == {own}
        assert len(descended(made, generated) & {*words}) > 1, "as nodes are shared"


def test_hardly_an_instruction_is_without_a_line(made: Compilation) -> None:
    for generated in made._generated:
        found, scalars = made._latest(generated.kernel), generated.kernel.linear.origins
        assert sum(it in found for it in scalars) > 0.95 * len(scalars)
