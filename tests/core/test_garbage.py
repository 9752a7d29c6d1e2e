"""No search for garbage while a program is compiled, and afterwards as it was before."""

import gc
import threading
from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core import garbage
from compiler.lowered.linearize import linearize
from tests.rows import replace_row


def test_nested_and_refused() -> None:
    assert gc.isenabled()
    with garbage.put_off():
        with garbage.put_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), garbage.put_off():
        raise ValueError("inside")
    assert gc.isenabled()


def test_who_turned_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with garbage.put_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_that_overlap() -> None:
    first, second = threading.Event(), threading.Event()

    def other() -> None:
        with garbage.put_off():
            first.set()
            second.wait(10)

    thread = threading.Thread(target=other)
    with garbage.put_off():
        thread.start()
        first.wait(10)
    assert not gc.isenabled()
    second.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.parametrize("run", (compiler.compile, Tensor.numpy))
def test_compiling_searches_for_no_garbage(
    run: Callable[[Tensor], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    enabled: list[bool] = []
    replace_row(
        monkeypatch, "lowered.linearize",
        lambda body: enabled.append(gc.isenabled()) or linearize(body),
    )  # fmt: skip
    compiler.cache_clear()
    run(Tensor(np.ones((8, 8), np.float32)).softmax(1))
    assert enabled and not any(enabled)
    assert gc.isenabled()
