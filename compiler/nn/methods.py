"""Tensor methods as functions, `nn.relu`, and as modules, `nn.ReLU`, under PyTorch's names.

    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    loss = criterion(model(x), labels)

A module takes the arguments of the method that follow its tensors.
"""

import inspect
from typing import Any, ClassVar

from compiler.core.errors import located
from compiler.core.keywords import Call
from compiler.nn.module import Module
from compiler.tensor import Tensor
from compiler.tensors.losses import check_scale
from compiler.tensors.windows import numbers_of, refuse_wide_padding

relu = Tensor.relu
gelu = Tensor.gelu
silu = Tensor.silu
sigmoid = Tensor.sigmoid
tanh = Tensor.tanh
softmax = Tensor.softmax
cross_entropy = Tensor.cross_entropy
nll_loss = Tensor.nll_loss
mse_loss = Tensor.mse_loss
l1_loss = Tensor.l1_loss
huber_loss = Tensor.huber_loss
smooth_l1_loss = Tensor.smooth_l1_loss
binary_cross_entropy = Tensor.binary_cross_entropy
binary_cross_entropy_with_logits = Tensor.binary_cross_entropy_with_logits


class OfMethod(Module):
    """Base of these modules: `method`, called with the tensors and the arguments of the module."""

    method: ClassVar[str]
    usual: ClassVar[dict[str, Any]]
    """Arguments whose default differs between PyTorch's module and the method."""
    __signature__: ClassVar[inspect.Signature]

    @located
    def __init__(self, *args: Any, **given: Any) -> None:
        """Raises `DataError` for arguments that the method does not have, except `inplace`, which
        is ignored: the compiler chooses which memory is written."""
        kind = type(self)
        given.pop("inplace", None)
        call = Call(kind.__name__, kind.__signature__)
        try:
            args, given = call.checked(args, given)
            bound = call.signature.bind(*args, **given)
        except TypeError as error:
            raise call.misfit(args, given, str(error)) from None
        self._given = {**self.usual, **bound.arguments}
        self._check()

    def _check(self) -> None:
        """Raise the errors of the method that its arguments alone lead to."""
        name, bound = type(self).__name__, self._given
        for scale in ("delta", "beta"):
            if scale in bound and self.method.endswith("_loss"):
                check_scale(name, scale, bound[scale])
        if "kernel_size" in bound:
            axes = int(self.method[-2])
            gaps = numbers_of(name, bound.get("dilation", 1), axes, 1)
            sizes = numbers_of(name, bound["kernel_size"], axes, 1)
            refuse_wide_padding(name, bound.get("padding", 0), sizes, gaps)

    def forward(self, x: Tensor, *others: Any) -> Any:
        """The result of the method."""
        return getattr(x, self.method)(*others, **self._given)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._given.items())
        return f"{type(self).__name__}({given})"


def _module(name: str, method: str, tensors: int = 1, **usual: Any) -> type[OfMethod]:
    """The module `name` of a method with so many tensor arguments, the first of them itself."""
    function = getattr(Tensor, method)
    whole = inspect.signature(function)
    rows = list(whole.parameters.values())[tensors:]
    signature = whole.replace(
        parameters=[row.replace(default=usual.get(row.name, row.default)) for row in rows],
        return_annotation=whole.empty,
    )
    defaults = "".join(f", by default with {key}={value!r}" for key, value in usual.items())
    return type(name, (OfMethod,), {
        "__doc__": f"`Tensor.{method}`{defaults}. {inspect.getdoc(function)}",
        "__module__": __name__, "__signature__": signature, "method": method, "usual": usual,
    })  # fmt: skip


class Identity(Module):
    """Returns its input. Arguments are ignored, so that it can replace another module."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """x."""
        return x


Flatten = _module("Flatten", "flatten", start_dim=1)
Unflatten = _module("Unflatten", "unflatten")
ReLU = _module("ReLU", "relu")
ReLU6 = _module("ReLU6", "relu6")
LeakyReLU = _module("LeakyReLU", "leaky_relu")
ELU = _module("ELU", "elu")
GELU = _module("GELU", "gelu", approximate="none")
SiLU = _module("SiLU", "silu")
Mish = _module("Mish", "mish")
Sigmoid = _module("Sigmoid", "sigmoid")
Softplus = _module("Softplus", "softplus")
Softsign = _module("Softsign", "softsign")
Tanh = _module("Tanh", "tanh")
Hardtanh = _module("Hardtanh", "hardtanh")
Softmax = _module("Softmax", "softmax")
LogSoftmax = _module("LogSoftmax", "log_softmax")
MaxPool1d = _module("MaxPool1d", "max_pool1d")
MaxPool2d = _module("MaxPool2d", "max_pool2d")
MaxPool3d = _module("MaxPool3d", "max_pool3d")
AvgPool1d = _module("AvgPool1d", "avg_pool1d")
AvgPool2d = _module("AvgPool2d", "avg_pool2d")
AvgPool3d = _module("AvgPool3d", "avg_pool3d")
AdaptiveAvgPool1d = _module("AdaptiveAvgPool1d", "adaptive_avg_pool1d")
AdaptiveAvgPool2d = _module("AdaptiveAvgPool2d", "adaptive_avg_pool2d")
AdaptiveMaxPool2d = _module("AdaptiveMaxPool2d", "adaptive_max_pool2d")
CrossEntropyLoss = _module("CrossEntropyLoss", "cross_entropy", tensors=2)
NLLLoss = _module("NLLLoss", "nll_loss", tensors=2)
MSELoss = _module("MSELoss", "mse_loss", tensors=2)
L1Loss = _module("L1Loss", "l1_loss", tensors=2)
SmoothL1Loss = _module("SmoothL1Loss", "smooth_l1_loss", tensors=2)
HuberLoss = _module("HuberLoss", "huber_loss", tensors=2)
KLDivLoss = _module("KLDivLoss", "kl_div", tensors=2)
BCELoss = _module("BCELoss", "binary_cross_entropy", tensors=2)
BCEWithLogitsLoss = _module("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", tensors=2)
