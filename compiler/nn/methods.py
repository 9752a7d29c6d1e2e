"""Tensor methods as modules, under PyTorch's names: activation functions, pooling, losses.

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


class OfMethod(Module):
    """Base of these modules: `method`, called with `tensors` tensor arguments."""

    method: ClassVar[str]
    tensors: ClassVar[int] = 1
    usual: ClassVar[dict[str, Any]] = {}
    """Arguments whose default differs between PyTorch's module and the method."""

    @located
    def __init__(self, *args: Any, **given: Any) -> None:
        """Raises `DataError` for arguments that the method does not have, except `inplace`, which
        is ignored: the compiler chooses which memory is written."""
        kind = type(self)
        given.pop("inplace", None)
        call = Call(kind.__name__, _signature(kind))
        try:
            args, given = call.checked(args, given)
            bound = call.signature.bind(*args, **given)
        except TypeError as error:
            raise call.misfit(args, given, str(error)) from None
        self._given = {**self.usual, **bound.arguments}

    def forward(self, x: Tensor, *others: Any) -> Any:
        """The result of the method."""
        return getattr(x, self.method)(*others, **self._given)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._given.items())
        return f"{type(self).__name__}({given})"


def _signature(kind: type[OfMethod]) -> inspect.Signature:
    """The signature of the method without the tensors."""
    whole = inspect.signature(getattr(Tensor, kind.method))
    rows = list(whole.parameters.values())[kind.tensors :]
    return whole.replace(parameters=[
        row.replace(default=kind.usual.get(row.name, row.default)) for row in rows
    ])  # fmt: skip


class Identity(Module):
    """Returns its input. Arguments are ignored, so that it can replace another module."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """x."""
        return x


class Flatten(OfMethod):
    """`Tensor.flatten`, by default from axis 1 on."""

    method, usual = "flatten", {"start": 1}


class Unflatten(OfMethod):
    """`Tensor.unflatten`."""

    method = "unflatten"


class ReLU(OfMethod):
    """`Tensor.relu`."""

    method = "relu"


class ReLU6(OfMethod):
    """`Tensor.relu6`."""

    method = "relu6"


class LeakyReLU(OfMethod):
    """`Tensor.leaky_relu`."""

    method = "leaky_relu"


class ELU(OfMethod):
    """`Tensor.elu`."""

    method = "elu"


class GELU(OfMethod):
    """`Tensor.gelu`; by default with erf, "tanh" selects the approximation."""

    method, usual = "gelu", {"approximate": "none"}


class SiLU(OfMethod):
    """`Tensor.silu`."""

    method = "silu"


class Mish(OfMethod):
    """`Tensor.mish`."""

    method = "mish"


class Sigmoid(OfMethod):
    """`Tensor.sigmoid`."""

    method = "sigmoid"


class Softplus(OfMethod):
    """`Tensor.softplus`."""

    method = "softplus"


class Softsign(OfMethod):
    """`Tensor.softsign`."""

    method = "softsign"


class Tanh(OfMethod):
    """`Tensor.tanh`."""

    method = "tanh"


class Hardtanh(OfMethod):
    """`Tensor.hardtanh`."""

    method = "hardtanh"


class Softmax(OfMethod):
    """`Tensor.softmax`."""

    method = "softmax"


class LogSoftmax(OfMethod):
    """`Tensor.log_softmax`."""

    method = "log_softmax"


class MaxPool1d(OfMethod):
    """`Tensor.max_pool1d`."""

    method = "max_pool1d"


class MaxPool2d(OfMethod):
    """`Tensor.max_pool2d`."""

    method = "max_pool2d"


class MaxPool3d(OfMethod):
    """`Tensor.max_pool3d`."""

    method = "max_pool3d"


class AvgPool1d(OfMethod):
    """`Tensor.avg_pool1d`."""

    method = "avg_pool1d"


class AvgPool2d(OfMethod):
    """`Tensor.avg_pool2d`."""

    method = "avg_pool2d"


class AvgPool3d(OfMethod):
    """`Tensor.avg_pool3d`."""

    method = "avg_pool3d"


class AdaptiveAvgPool1d(OfMethod):
    """`Tensor.adaptive_avg_pool1d`."""

    method = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(OfMethod):
    """`Tensor.adaptive_avg_pool2d`."""

    method = "adaptive_avg_pool2d"


class AdaptiveMaxPool2d(OfMethod):
    """`Tensor.adaptive_max_pool2d`."""

    method = "adaptive_max_pool2d"


class CrossEntropyLoss(OfMethod):
    """`Tensor.cross_entropy` of logits and classes."""

    method, tensors = "cross_entropy", 2


class NLLLoss(OfMethod):
    """`Tensor.nll_loss` of log probabilities and classes."""

    method, tensors = "nll_loss", 2


class MSELoss(OfMethod):
    """`Tensor.mse_loss`."""

    method, tensors = "mse_loss", 2


class L1Loss(OfMethod):
    """`Tensor.l1_loss`."""

    method, tensors = "l1_loss", 2


class SmoothL1Loss(OfMethod):
    """`Tensor.smooth_l1_loss`."""

    method, tensors = "smooth_l1_loss", 2


class HuberLoss(OfMethod):
    """`Tensor.huber_loss`."""

    method, tensors = "huber_loss", 2


class KLDivLoss(OfMethod):
    """`Tensor.kl_div`."""

    method, tensors = "kl_div", 2


class BCELoss(OfMethod):
    """`Tensor.binary_cross_entropy`."""

    method, tensors = "binary_cross_entropy", 2


class BCEWithLogitsLoss(OfMethod):
    """`Tensor.binary_cross_entropy_with_logits`."""

    method, tensors = "binary_cross_entropy_with_logits", 2
