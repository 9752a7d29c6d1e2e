"""States from files that were cut, damaged or made to do harm: a clear error, nothing changed."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor, nn

Header = dict[str, Any]
NAME = "0.weight"


def network() -> nn.Module:
    Tensor.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))


def written(path: Path) -> tuple[Header, bytes]:
    """Header and data of a state."""
    compiler.save(path, network().state_dict())
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def with_header(header: Header | bytes, body: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def assert_refused(path: Path, content: bytes, match: str = "") -> None:
    """Loading is refused with a page that shows nothing odd, and the network is what it was."""
    path.write_bytes(content)
    model = network()
    before = {name: value.numpy().copy() for name, value in model.state_dict().items()}
    with pytest.raises(DataError, match=match) as caught:
        model.load_state_dict(Tensor.load(path))
    assert "\x1b" not in str(caught.value)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])


def test_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    written(path)
    raw = path.read_bytes()
    for length in range(len(raw)):
        assert_refused(path, raw[:length], "longer than the file|not as long as the file")


def changed(**row: Any) -> Callable[[Header], Header]:
    return lambda header: {**header, NAME: {**header[NAME], **row}}


ODD: dict[str, tuple[Callable[[Header], Header | bytes], str]] = {
    "no JSON": (lambda header: b"hello", "no JSON"),
    "a list": (lambda header: b"[1, 2]", "not a JSON object"),
    "deep": (lambda header: b'{"a":' * 100_000, "no JSON"),
    "deep lists": (lambda header: b"[" * 100_000 + b"]" * 100_000, "no JSON"),
    "before the data": (changed(data_offsets=[-4, 20]), "does not fit"),
    "behind the data": (changed(data_offsets=[0, 1 << 40]), "does not fit"),
    "another's data": (lambda header: {
        **header, "0.bias": {**header["0.bias"], **{k: header[NAME][k] for k in (
            "data_offsets", "shape")}}}, "overlaps another"),
    "no such type": (changed(dtype="X9"), "unknown element type"),
    "another type": (changed(dtype="I32"), "does not fit"),
    "below 0": (changed(shape=[-1, -6]), "no shape"),
    "huge": (changed(shape=[1 << 40, 1 << 40]), "too large"),
    "no whole numbers": (changed(shape=[2.0, 3.0]), "no shape"),
    "truth values": (changed(shape=[True, 6]), "no shape"),
    "words": (changed(data_offsets=["0", "24"]), "incomplete"),
    "no place": (lambda header: {**header, NAME: {"dtype": "F32", "shape": [2, 3]}}, "incomplete"),
    "twice": (lambda header: json.dumps(header).encode()[:-1] + b", "
              + json.dumps({NAME: header[NAME]}).encode()[1:], "twice"),
    "another name": (lambda header: {
        ("../../etc/passwd\x1b[2J" if name == NAME else name): row
        for name, row in header.items()}, "does not fit"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_headers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    header, body = written(path)
    change, match = ODD[name]
    assert_refused(path, with_header(change(header), body), match)


def test_lengths_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    written(path)
    raw = path.read_bytes()
    assert_refused(path, struct.pack("<Q", 1 << 62) + raw[8:], "longer than the file")
    assert_refused(path, struct.pack("<Q", 0) + raw[8:], "no JSON")
    assert_refused(path, raw + b"more", "not as long as the file")


def test_every_difference_is_listed(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        nn.Sequential(nn.Linear(4, 2), nn.RMSNorm(2)).load_state_dict(network().state_dict())
    words = str(caught.value)
    assert "1.bias is unknown" in words and "0.weight is f32[2,3], not f32[2,4]" in words
