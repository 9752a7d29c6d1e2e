"""A model as a file: `python -m benchmarks.models.exports NAME FOLDER`.

It writes `NAME.onnx` (weights next to it), `NAME.inputs.npz` and `NAME.expected.npz`: the results
of PyTorch, or of ONNX Runtime for a model of 8 bits.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.models.zoo import MODELS, QUANTISED

OPSET = 20
SAMPLES = 8
"""Images from which the scales of 8 bits are found."""


def export(name: str, folder: Path) -> None:
    """Write the files of a model, if they are not there."""
    if (folder / f"{name}.expected.npz").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if name in QUANTISED:
        _quantised(name, QUANTISED[name], folder)
    else:
        _exported(name, folder)


def _exported(name: str, folder: Path) -> None:
    import torch

    torch.manual_seed(0)
    module, inputs = MODELS[name]()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = module(*inputs)
        torch.onnx.export(module, inputs, folder / f"{name}.onnx", opset_version=OPSET,
                          dynamo=True, external_data=True, verbose=False)  # fmt: skip
    _write(folder / f"{name}.inputs.npz", inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    _write(folder / f"{name}.expected.npz", expected)


def _write(path: Path, tensors: Any) -> None:
    arrays = [np.asarray(each) for each in tensors]
    np.savez(path, *arrays)


def _quantised(name: str, of: str, folder: Path) -> None:
    from onnxruntime import InferenceSession
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    export(of, folder)
    (image,) = read(folder / f"{of}.inputs.npz")
    key = InferenceSession(folder / f"{of}.onnx").get_inputs()[0].name

    class Images(CalibrationDataReader):
        def __init__(self) -> None:
            rng = np.random.default_rng(0)
            images = (rng.standard_normal(image.shape, np.float32) for _ in range(SAMPLES))
            self.rows = iter([{key: each} for each in images])

        def get_next(self) -> Any:
            return next(self.rows, None)

    made = folder / f"{name}.onnx"
    quantize_static(folder / f"{of}.onnx", made, Images(), quant_format=QuantFormat.QOperator)
    expected = InferenceSession(made).run(None, {key: image})
    _write(folder / f"{name}.inputs.npz", [image])
    _write(folder / f"{name}.expected.npz", expected)


def read(path: Path) -> list[Any]:
    """The arrays of a file, in order."""
    with np.load(path) as arrays:
        return [arrays[key] for key in arrays.files]


if __name__ == "__main__":
    export(sys.argv[1], Path(sys.argv[2]))
