"""No search for garbage while a program is compiled, and afterwards as it was before."""

import gc
import subprocess
import sys
import textwrap
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
    assert not garbage.is_put_off()
    with garbage.put_off():
        with garbage.put_off():
            assert garbage.is_put_off()
        assert garbage.is_put_off()
    assert not garbage.is_put_off()
    with pytest.raises(ValueError, match="inside"), garbage.put_off():
        raise ValueError("inside")
    assert not garbage.is_put_off()


def test_it_stays_as_the_user_has_it() -> None:
    before = gc.get_threshold()
    gc.set_threshold(500, 7, 3)
    try:
        with garbage.put_off():
            assert gc.isenabled() and gc.get_threshold()[1:] == (7, 3)
        assert gc.get_threshold() == (500, 7, 3)
        gc.disable()
        with garbage.put_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.set_threshold(*before)


def test_a_library_that_is_loaded_meanwhile_finds_it_enabled() -> None:
    """Dask looks at it when its functions are defined."""
    program = """
        import gc
        from compiler import Tensor
        from compiler.core.lazy import loading
        with loading():
            import dask.array as da
        da.ones((8, 2), chunks=(4, 2))[1:3].compute(scheduler="sync")
        assert gc.isenabled()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


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
    assert garbage.is_put_off()
    second.set()
    thread.join()
    assert not garbage.is_put_off()


@pytest.mark.parametrize("run", (compiler.compile, Tensor.numpy))
def test_compiling_searches_for_no_garbage(
    run: Callable[[Tensor], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bool] = []
    replace_row(
        monkeypatch, "lowered.linearize",
        lambda body: found.append(garbage.is_put_off()) or linearize(body),
    )  # fmt: skip
    compiler.cache_clear()
    run(Tensor(np.ones((8, 8), np.float32)).softmax(1))
    assert found and all(found)
    assert not garbage.is_put_off()
