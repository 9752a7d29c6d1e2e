"""Passes run in order; what they make is verified as often as it is asked for."""

from dataclasses import replace

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.errors import InternalError
from compiler.core.node import Node
from compiler.loops.choices import Choices
from compiler.loops.nodes import Body
from compiler.pipeline import rows


def compiled(options: Options) -> Choices:
    """The kernel of a softmax through all its stages."""
    x = Tensor(np.ones((64, 512), np.float32))
    (kernel,) = compile(x.softmax(1), options)._kernels
    return kernel.choices


@pytest.mark.parametrize("verify", (False, True))
@pytest.mark.parametrize("trace", (False, True))
def test_loops_are_verified_once_or_after_each_pass(
    verify: bool, trace: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Node] = []
    monkeypatch.setattr(rows.verify_loops, "verify", seen.append)
    choices = compiled(Options(verify=verify, trace=trace))
    assert choices
    changes = [step for step in rows.steps("loops") if step.is_pass]
    if not verify:
        assert not seen
    elif trace:
        assert 2 < len(seen) <= len(changes)
    else:
        assert len(seen) == 2


def test_what_the_last_pass_leaves_broken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(body: Body, *rest: object) -> Body:
        return Body((*body.sources, body.sources[0].sources[1]))

    wrong = (replace(s, function=broken) if s.name == "collapse" else s for s in rows.PIPELINE)
    monkeypatch.setattr(rows, "PIPELINE", tuple(wrong))
    with pytest.raises(InternalError):
        compiled(Options())
