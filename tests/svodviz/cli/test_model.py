"""Models at the command line: read by their suffix, given inputs, and followed module by module."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from svodviz.cli import model as models
from svodviz.cli.main import main
from svodviz.cli.model import Given, arrays, extents
from tests.models import LENGTH, WORDS, convolutions, transformer

onnx = pytest.importorskip("onnx")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A transformer whose batch may differ."""
    path = tmp_path_factory.mktemp("models") / "transformer.onnx"
    onnx.save(transformer(1, batch="batch"), path)
    return str(path)


class Program:
    """The parts of a model that are compared."""

    def __init__(self, **inputs: Any) -> None:
        from compiler.core import dtypes

        kinds = {"f": dtypes.float32, "i": dtypes.int64, "b": dtypes.bool_}
        self.inputs = {name: (kinds[kind], shape) for name, (kind, *shape) in inputs.items()}

    def __call__(self, **arrays: Any) -> Any:
        return self.run(**arrays)


def test_a_page_opens_with_the_modules(file: str, tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "page.html"
    assert main(["explore", file, "-o", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"{page}: ")
    text = page.read_text("utf-8")
    assert "<title>transformer · svodviz" in text and "encoder.layer.0.attention" in text


def test_stages_are_shown_and_exported(file: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["show", file, "--stage", "source", "--dim", "batch=3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(it.startswith("transformer.onnx: OnnxProgram(ids: i64[batch,8] -> ") for it in lines)
    assert "v0 = Gather(table, ids)" in lines
    assert main(["show", file, "--stage", "modules"]) == 0
    head, whole, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("module ") and whole.startswith("(whole program)")
    assert rows[0].startswith("  embeddings ")
    assert main(["export", file, "--stage", "modules", "-o", str(tmp_path / "tree.dot")]) == 0
    assert "layer.0" in (tmp_path / "tree.dot").read_text("utf-8")


def test_a_module_is_followed(file: str, capsys: Capture) -> None:
    assert main(["trace", file, "--module", "layer.0.act", "--to", "loops"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("encoder.layer.0.act\n") and "== loops " in text
    assert "assembly" not in text
    assert main(["trace", file, "--module", "decoder"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("trace: no such module") and "frozen" not in said


def test_two_models_are_compared(file: str, tmp_path: Path, capsys: Capture) -> None:
    other = str(tmp_path / "two.onnx")
    onnx.save(transformer(2, batch="batch"), other)
    assert main(["diff", file, other, "--dim", "batch=2"]) == 1
    assert "scheduled items" in capsys.readouterr().out


def test_inputs_come_from_files(file: str, tmp_path: Path, capsys: Capture) -> None:
    ids = np.arange(2 * LENGTH).reshape(2, LENGTH)
    np.save(tmp_path / "ids.npy", ids)
    np.savez(tmp_path / "all.npz", ids=ids)
    program = Program(ids=("i", "batch", LENGTH))
    for said in ("ids.npy", "all.npz"):
        found = arrays(program, Given((str(tmp_path / said),)), {})
        assert np.array_equal(found["ids"], ids)
    assert np.array_equal(arrays(program, Given((f"ids={tmp_path}/ids.npy",)), {})["ids"], ids)
    assert main(["show", file, "--stage", "graph", "--input", str(tmp_path / "all.npz")]) == 0
    assert "i64[2,8]" in capsys.readouterr().out


def test_others_are_made_the_same_every_time() -> None:
    program = Program(ids=("i", "batch", "sequence"), attention_mask=("i", "batch", "sequence"),
                      x=("f", "N", 3, "height", "?"), flag=("b",))  # fmt: skip
    found = arrays(program, Given(dims={"height": 5}), {"ids": 7})
    assert {name: it.shape for name, it in found.items()} == {
        "ids": (1, 16), "attention_mask": (1, 16), "x": (1, 3, 5, 64), "flag": (),
    }  # fmt: skip
    assert found["ids"].max() < 7 and found["ids"].dtype == np.int64
    assert (found["attention_mask"] == 1).all() and found["x"].dtype == np.float32
    again = arrays(program, Given(dims={"height": 5}), {"ids": 7})
    assert all(np.array_equal(found[name], again[name]) for name in found)
    other = arrays(program, Given(dims={"height": 5}, seed=1), {"ids": 7})
    assert not np.array_equal(found["x"], other["x"])
    assert extents(("rows", "frames"), {}) == (1, 64)


def test_an_extent_that_a_file_has_is_so_in_all_inputs(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((5, 2), np.float32))
    program = Program(a=("f", "n", 2), b=("f", "n"))
    found = arrays(program, Given((f"a={tmp_path}/a.npy",)), {})
    assert found["b"].shape == (5,)


def test_integers_stay_within_the_table_that_they_choose_from(file: str) -> None:
    assert models._tables(file) == {"ids": WORDS}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dim", "bach=2"], "--dim: no extent is called bach; it has batch"),
        (["--dim", "batch=0"], "--dim batch=0: expected NAME=NUMBER, as in batch=4"),
        (["--input", "none.npz"], "--input none.npz: no such file"),
        (["--input", "x={folder}/text.npy"], "--input {folder}/text.npy: no arrays are in it: "),
        (["--input", "y={folder}/y.npy"], "--input: the model has no input y; it has ids"),
        (["--input", "ids={folder}/y.npz"], "--input {folder}/y.npz: there is no ids in it; "),
        (["7"], "{file}: a model takes no arguments; its inputs are --input"),
    ],
)
def test_wrong_inputs_are_said(
    file: str, tmp_path: Path, capsys: Capture, arguments: list[str], words: str
) -> None:
    (tmp_path / "text.npy").write_text("no array")
    np.save(tmp_path / "y.npy", np.ones(3))
    np.savez(tmp_path / "y.npz", y=np.ones(3))
    names = {"folder": str(tmp_path), "file": file}
    assert main(["show", file, *(it.format(**names) for it in arguments)]) == 1
    assert capsys.readouterr().err.startswith(words.format(**names))


def test_which_input_a_file_is_for_must_be_clear(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(2))
    with pytest.raises(ValueError, match=r"which input is it\? Write NAME=.*the model has a, b"):
        arrays(Program(a=("f", 2), b=("f", 2)), Given((f"{tmp_path}/x.npy",)), {})


def test_what_is_missing_is_said(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(convolutions(), path)

    def absent(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'onnx'")

    monkeypatch.setattr(models, "_read", absent)
    assert main(["show", str(path)]) == 1
    assert capsys.readouterr().err.strip() == (
        f"{path}: .onnx files need onnx, which is not installed here: pip install 'svodviz[onnx]'"
    )
    assert main(["show", __file__, "--dim", "n=2"]) == 1
    assert "--input and --dim are for models" in capsys.readouterr().err


def test_other_models_are_read_by_their_suffix(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module of PyTorch gives what it gives: results in each other, of which all are compiled."""
    path = tmp_path / "net.pt2"
    path.touch()
    program = Program(x=("f", "batch", 3))
    program.run = lambda x: ({"a": Tensor(x).exp()}, [Tensor(x, name="weight").sin()])
    read: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        compiler, "from_torch", lambda file, *, trust: (read.append((file, trust)), program)[1]
    )
    assert main(["show", str(path), "--stage", "graph", "--dim", "batch=2"]) == 0
    assert main(["show", str(path), "--trust", "--stage", "graph", "--dim", "batch=2"]) == 0
    assert read == [(str(path), False), (str(path), True)]
    text = capsys.readouterr().out
    assert "= exp " in text and "= sin " in text and "f32[2,3]" in text


def test_a_broken_file_is_a_page_of_error(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"\x08\x07garbage")
    assert main(["show", str(path)]) == 1
    assert capsys.readouterr().err.startswith("from_onnx: this is not an ONNX model")
