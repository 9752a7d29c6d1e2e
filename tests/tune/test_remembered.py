"""Remembered searches come back as they were, by what decides them; damage is a miss."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.llvm.cache import TUNING, TUNINGS, folder_of
from compiler.loops.choices import PLAIN, parse
from compiler.loops.nodes import Body
from compiler.tune import remembered as memory
from compiler.tune.duel import Duel
from compiler.tune.remembered import key_of, remember, remembered, structure
from compiler.tune.trials import Trial
from compiler.tune.tuning import Found

KEY = bytes([1]) * 32
FOUND = Found(
    trials=(
        Trial(0, None, "the default", parse("tile i0 16; vectorize i0.1"), 2e-6),
        Trial(1, 0, "plain", PLAIN, None, "estimated to be slower"),
        Trial(2, 0, "tile i0 16 → 32", parse("tile i0 32 mask; reorder i0.1 i0.0"), 1e-6),
    ),
    best=2,
    duel=Duel(2e-6, 1e-6, 1e-6, 1e-7, 9),
    asked=5.0,
    spent=4.5,
)


@pytest.fixture(autouse=True)
def empty() -> None:
    TUNINGS.clear()


def kept(folder: Path) -> Path:
    (path,) = folder.glob("*.tuning")
    return path


def test_it_comes_back_from_memory_and_from_disk(tmp_path: Path) -> None:
    assert remembered(KEY, tmp_path) is None
    remember(KEY, FOUND, tmp_path)
    for _ in range(2):
        back = remembered(KEY, tmp_path)
        assert back is not None and back.is_remembered
        assert back.trials == FOUND.trials and back.duel == FOUND.duel
        assert (back.best, back.asked, back.is_complete) == (2, 5.0, False)
        TUNINGS.clear()
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600


def test_without_a_folder_the_process_remembers() -> None:
    remember(KEY, FOUND, False)
    assert remembered(KEY, False) is not None
    TUNINGS.clear()
    assert remembered(KEY, False) is None


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b + b"x"])
def test_a_damaged_file_is_a_miss(damage: Any, tmp_path: Path) -> None:
    remember(KEY, FOUND, tmp_path)
    TUNINGS.clear()
    path = kept(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match="is damaged: tuning again"):
        assert remembered(KEY, tmp_path) is None
    remember(KEY, FOUND, tmp_path)
    TUNINGS.clear()
    assert remembered(KEY, tmp_path) is not None


WHOLE = memory.written(FOUND)
OTHERS = {
    "no JSON": b"{",
    "no object": b"[]",
    "nothing in it": b"{}",
    "a best that was never tried": json.dumps(WHOLE | {"best": 7}).encode(),
    "choices that are none": json.dumps(
        WHOLE | {"trials": [[None, "", "knit i0", 1.0, ""]], "best": 0}
    ).encode(),
    "a trial too short": json.dumps(WHOLE | {"trials": [[None, ""]], "best": 0}).encode(),
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
def test_an_entry_of_another_form_is_a_miss(content: bytes, tmp_path: Path) -> None:
    TUNINGS.put(KEY, content, folder_of(tmp_path, TUNING))
    assert remembered(KEY, tmp_path) is None


def body_of(value: Tensor) -> Body:
    kernel = compiler.compile(value, Options(cache=False))._kernels[0]
    return kernel.loops


def ones(*shape: int, dtype: type = np.float32) -> Tensor:
    return Tensor(np.ones(shape, dtype))


BODIES = {
    "another size": lambda: ones(65) * 2.0,
    "another constant": lambda: ones(64) * 3.0,
    "another operation": lambda: ones(64) + 2.0,
    "another type": lambda: ones(64, dtype=np.float64) * 2.0,
}


def test_equal_structure_has_one_key() -> None:
    one, two = body_of(ones(64) * 2.0), body_of(ones(64) * 2.0)
    assert structure(one) == structure(two)
    assert key_of(one, PLAIN, Options()) == key_of(two, PLAIN, Options())


@pytest.mark.parametrize("other", BODIES.values(), ids=BODIES)
def test_another_kernel_has_another_key(other: Any) -> None:
    assert structure(body_of(ones(64) * 2.0)) != structure(body_of(other()))


def test_what_decides_the_time_decides_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    body, usual = body_of(ones(64) * 2.0), key_of(body_of(ones(64) * 2.0), PLAIN, Options())
    assert key_of(body, parse("tile i0 16"), Options()) != usual
    assert key_of(body, PLAIN, Options(threads=7)) != usual
    assert key_of(body, PLAIN, Options(trace=True)) == usual
    monkeypatch.setattr("compiler.tune.remembered.jit.host_features", lambda: "+other")
    assert key_of(body, PLAIN, Options()) != usual


def test_both_kinds_share_a_folder(tmp_path: Path) -> None:
    remember(KEY, FOUND, tmp_path)
    objects = folder_of(tmp_path)
    assert objects is not None and objects.count() == (0, 0)
    objects.clear()
    TUNINGS.clear()
    assert remembered(KEY, tmp_path) is not None
    compiler.cache_clear(disk=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert remembered(KEY, tmp_path) is None
