"""Programs as bytes: what arrives elsewhere computes the same."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, custom
from compiler.core.written import Unwritable
from compiler.distributed.shipped import Shipped, run, ship

RNG = np.random.default_rng(3)
WEIGHTS = RNG.standard_normal((5, 4)).astype(np.float32)


def made() -> Shipped:
    x = Tensor.placeholder(3, 5, dtype="float32", name="x")
    y = Tensor.placeholder(3, 4, dtype="float32", name="y")
    result = (x @ Tensor(WEIGHTS)).relu() - y
    return ship([result.node, (result * 2).node, x.node], ["x", "y"])


def test_another_process_computes_the_same(tmp_path: Path) -> None:
    x, y = (RNG.standard_normal(s).astype(np.float32) for s in ((3, 5), (3, 4)))
    path = tmp_path / "program"
    path.write_bytes(pickle.dumps((made(), x, y)))
    code = (
        "import pickle, sys; from compiler import Options;"
        "from compiler.distributed.shipped import run;"
        "made, *given = pickle.load(open(sys.argv[1], 'rb'));"
        "pickle.dump(run(made, given, Options(threads=1)), sys.stdout.buffer)"
    )
    found = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True)
    results = pickle.loads(found.stdout)
    expected = np.maximum(x @ WEIGHTS, 0) - y
    np.testing.assert_allclose(results[0], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(results[1], results[0] * 2)
    np.testing.assert_array_equal(results[2], x)


def test_results_are_the_callers_and_inputs_stay_as_they_are() -> None:
    x, y = np.ones((3, 5), np.float32).T.copy().T, np.ones((3, 4), np.float32)
    results = run(made(), [x, y], Options(threads=1))
    assert not any(np.shares_memory(r, given) for r in results for given in (x, y))
    results[2][:] = 7.0
    assert (x == 1.0).all() and (run(made(), [x, y], Options(threads=1))[2] == 1.0).all()


def test_a_result_that_is_there_twice_is_two_arrays() -> None:
    x = Tensor.placeholder(3, dtype="float32", name="x")
    twice = ship([(y := x.exp()).node, y.node], ["x"])
    first, second = run(twice, [np.zeros(3, np.float32)], Options(threads=1))
    first[:] = 7.0
    assert (second == 1.0).all()


def test_one_graph_is_read_once() -> None:
    first, second = made(), made()
    assert first.digest == second.digest and first.rows == second.rows
    assert first.order == (0, -1, 1) or sorted(first.order) == [-1, 0, 1]


def test_what_one_process_alone_knows_does_not_travel() -> None:
    @custom.host()
    def doubled_elsewhere(x: Any) -> Any:
        return x * 2

    doubled = doubled_elsewhere(Tensor.ones(3))
    with pytest.raises(Unwritable, match="Custom"):
        ship([doubled.node], [])
