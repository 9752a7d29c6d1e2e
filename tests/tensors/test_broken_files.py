"""Every kind of broken file raises a clear error."""

import json
import random
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core.errors import CompileError, DataError, InternalError, Mistake, SizeError

HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n"


def npy(header: str, data: bytes = bytes(16)) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def tensors(header: Any, data: bytes = bytes(64)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(shape: Any, first: Any = 0, last: Any = 64, dtype: Any = "F32") -> bytes:
    return tensors({"a": {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}})


PAGES: dict[str, tuple[str, bytes, str]] = {
    "an archive": (".npy", b"PK\x03\x04" + bytes(50), r"""read a.npy: no .npy file
  got:      a file that begins with b'PK\x03\x04\x00\x00'
  expected: b'\x93NUMPY'"""),
    "an empty archive": (".npy", b"PK\x05\x06" + bytes(18), r"""read a.npy: no .npy file
  got:      a file that begins with b'PK\x05\x06\x00\x00'
  expected: b'\x93NUMPY'"""),
    "nothing": (".npy", b"", r"""read a.npy: no .npy file
  got:      a file that begins with b''
  expected: b'\x93NUMPY'"""),
    "an extent that is true": (".npy", npy(HEADER % "(True,)"), """read a.npy: no .npy file
  expected: one array of numbers"""),
    "an extent of 2^63": (".npy", npy(HEADER % f"({2**63},)"), """read a.npy: no .npy file
  expected: one array of numbers"""),
    "nested lists": (".safetensors", tensors(b"[" * 100_000),
                     """read a.safetensors: the header is no JSON
  got:      maximum recursion depth exceeded while decoding a JSON array from a unicode string"""),
    "2^62 elements": (".safetensors", one([2**62]),
                      """read a.safetensors: tensor a is too large
  got:      shape [4611686018427387904]
  expected: at most 281,474,976,710,656 elements"""),
    "2^62 elements and none": (".safetensors", one([0, 2**62], 0, 0),
                               """read a.safetensors: tensor a is too large
  got:      shape [0, 4611686018427387904]
  expected: at most 281,474,976,710,656 elements"""),
    "101 axes": (".safetensors", one([1] * 100 + [16]),
                 """read a.safetensors: tensor a has too many axes
  got:      101 axes
  expected: at most 64 axes"""),
    "a place that is true": (".safetensors", one([], True, 5, "F32"),
                             """read a.safetensors: tensor a has no data offsets
  got:      True, 5
  expected: whole numbers, 0 or more"""),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_broken_file_has_a_page(name: str, tmp_path: Path) -> None:
    suffix, content, page = PAGES[name]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Tensor.load(path)
    found = str(caught.value).split("\n  line:")[0]
    if "  got:" not in page:  # NumPy's own words depend on its version
        found = "\n".join(line for line in found.splitlines() if "  got:" not in line)
    assert found == page


SHAPES = ("(-1,)", "(1.5,)", "('a',)", "[2]", "2", "(2,3", "None", "(1e300,)", "(2**62,)",
          f"({'1,' * 65})", "(0,4611686018427387904,4)", "(2,)", "()")  # fmt: skip
TYPES = ("'<f8'", "'|O'", "'<c16'", "[('a','<f8')]", "'<f16'", "'|S3'", "'<M8[s]'", "5", "'zz'",
         "('<f8',(2,))")  # fmt: skip
TEXTS = ("", "{}", "[" * 5000, "(" * 60_000, "'" * 7, "lambda: 0", "{'descr':'<f8'", "\0\0")
OFFSETS = ((-64, 0), (64, 0), (0, 64.0), ("0", 64), (0, 2**64), (10**30, 10**30 + 64), (0, 4))
EXTENTS: tuple[Any, ...] = ([-1], [1.0], ["a"], [None], [[16]], [2**64], [10**400], [2**62, 4],
                            [True], 5, None, [16])  # fmt: skip
HEADERS = (b"NaN", b"[]", b"\xff\xfe{}", b'{"a":' + b"9" * 6000 + b"}", b'{"a":1,"a":2}', b"",
           b'{"a":' * 50_000)  # fmt: skip


def broken(seed: int) -> list[tuple[str, bytes]]:
    made = [(".npy", npy(f"{{'descr': {t}, 'fortran_order': {f}, 'shape': {s}, }}\n"))
            for t in TYPES for s in SHAPES for f in ("False", "5")]  # fmt: skip
    made += [(".npy", npy(text)) for text in TEXTS]
    made += [(".safetensors", one(s, *o, d)) for s in EXTENTS for o in OFFSETS
             for d in ("F32", "BOOL", "BF16", 5, None)]  # fmt: skip
    made += [(".safetensors", tensors(text)) for text in HEADERS]
    made += [(".safetensors", struct.pack("<Q", n) + b"{}") for n in (3, 2**63, 2**64 - 1)]
    chance = random.Random(seed)
    for suffix, sound in ((".npy", npy(HEADER % "(2,)")), (".safetensors", one([16]))):
        for _ in range(400):
            content = bytearray(sound[: chance.randrange(1, 4 * len(sound))])
            for _ in range(chance.randint(1, 4)):
                content[chance.randrange(len(content))] = chance.randrange(256)
            made.append((suffix, bytes(content)))
    return made


def test_files_broken_at_random_have_pages_too(tmp_path: Path) -> None:
    refused = 0
    for suffix, content in broken(seed=14):
        path = tmp_path / f"b{suffix}"
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loaded = Tensor.load(path)
            each = loaded.values() if isinstance(loaded, dict) else [loaded]
            assert all(np.asarray(tensor).shape == tensor.shape for tensor in each)
        except Mistake as error:
            assert not isinstance(error, InternalError) and error.problem
            refused += 1
    assert refused > 900


@pytest.mark.parametrize("path", (5, None, b"a.npy", ["a.npy"], "a\0.npy"))
def test_what_is_no_path_is_refused(path: Any) -> None:
    for call in (lambda: Tensor.load(path), lambda: compiler.save(path, Tensor([1.0]))):
        with pytest.raises(DataError, match="not a path of a file"):
            call()


@pytest.mark.parametrize(
    "make",
    (lambda x, shape: x.reshape(shape), lambda x, shape: Tensor.zeros(*shape),
     lambda x, shape: x[(None,) * (len(shape) - 1)]),
    ids=("reshape", "zeros", "index"),
)  # fmt: skip
def test_more_axes_than_there_may_be_have_a_page(make: Any) -> None:
    x = Tensor(np.ones(1, np.float32))
    assert make(x, (1,) * 64).numpy().shape == (1,) * 64
    for rank in (65, 70):
        with pytest.raises(SizeError) as caught:
            make(x, (1,) * rank)
        assert caught.value.problem == "the tensor has too many axes"
        assert (caught.value.got, caught.value.expected) == (f"{rank} axes", "at most 64")
        assert isinstance(caught.value, CompileError)
