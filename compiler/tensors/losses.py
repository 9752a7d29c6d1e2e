"""Loss functions. Names and meanings are PyTorch's.

`reduction` is "mean", "sum" or "none". Results have the type of the prediction, float64 for
integers. Floats of 16 bits are computed in float32 and rounded once, after the reduction.
"""

from typing import Literal, Self, TypeAlias, TypeVar

from compiler.core.errors import AxisError, DataError, DTypeError, ShapeError
from compiler.device.buffers import data
from compiler.graph.nodes import Buffer
from compiler.ops.composed import of_probability, of_target
from compiler.tensors import watching
from compiler.tensors.apply import apply
from compiler.tensors.arrangement import Arrangement
from compiler.tensors.elementary import Elementary
from compiler.tensors.shapes import written
from compiler.tensors.value import Operand, broadcast_node, traced
from compiler.tensors.variables import refuse_symbolic

Fold: TypeAlias = Literal["mean", "sum", "none"]
L = TypeVar("L", bound="Losses")


@traced
class Losses(Elementary, Arrangement):
    """Loss functions: the quantities that training minimises."""

    __slots__ = ()

    def mse_loss(self, target: Operand, reduction: Fold = "mean") -> Self:
        """Mean squared error: (x - target)², reduced."""
        loss = self._distance("mse_loss", target).square()
        return loss._folded("mse_loss", reduction, self)

    def l1_loss(self, target: Operand, reduction: Fold = "mean") -> Self:
        """Absolute error: |x - target|, reduced."""
        loss = self._distance("l1_loss", target).abs()
        return loss._folded("l1_loss", reduction, self)

    def huber_loss(self, target: Operand, delta: float = 1.0, reduction: Fold = "mean") -> Self:
        """Huber loss: d²/2 for a distance d up to `delta`, else delta * (d - delta/2); reduced.
        Raises `DataError` unless `delta` is above 0."""
        check_scale("huber_loss", "delta", delta)
        return self._huber(target, delta)._folded("huber_loss", reduction, self)

    def smooth_l1_loss(self, target: Operand, beta: float = 1.0, reduction: Fold = "mean") -> Self:
        """`huber_loss` divided by `beta`; with a `beta` of 0 it is `l1_loss`. Raises `DataError`
        for a negative one."""
        check_scale("smooth_l1_loss", "beta", beta)
        loss = (self._huber(target, beta).div(beta) if beta
                else self._distance("smooth_l1_loss", target).abs())  # fmt: skip
        return loss._folded("smooth_l1_loss", reduction, self)

    def _huber(self, target: Operand, delta: float) -> Self:
        distance = self._distance("huber_loss", target).abs()
        far = distance.sub(delta / 2).mul(delta)
        near = distance.square().mul(0.5)
        return distance.le(delta).where(near, far)

    def nll_loss(
        self,
        target: Operand,
        weight: Operand | None = None,
        ignore_index: int = -100,
        reduction: Fold = "mean",
    ) -> Self:
        """Negative log likelihood, -x[i, target[i]], for log probabilities [n, classes, …] and
        integer classes [n, …].

        `weight` [classes] scales each class, and the mean divides by the sum of weights. Elements
        whose target is `ignore_index` contribute neither loss nor count; neither does a computed
        target that is out of range. A known target out of range raises `AxisError`.
        """
        classes = self._lift(target)
        _check_classes("nll_loss", self, classes, ignore_index)
        place = 1 if self.ndim > 1 else 0
        logs = self.cast(self.dtype.accumulator)
        made = logs._scored("nll_loss", classes, place, weight, ignore_index, reduction)
        return made.cast(self.dtype) if self.dtype.is_float else made

    def cross_entropy(
        self,
        target: Operand,
        weight: Operand | None = None,
        ignore_index: int = -100,
        reduction: Fold = "mean",
        label_smoothing: float = 0.0,
    ) -> Self:
        """Cross entropy: -log softmax of logits [n, classes, …] at integer classes [n, …]; or
        against probabilities [n, classes, …], floats. See `nll_loss` for the other arguments, and
        for targets out of range: a known one raises `AxisError`, a computed one is left out.

        `label_smoothing` s mixes the target, 1 - s, with the uniform distribution, s.
        """
        name, goal = "cross_entropy", self._lift(target)
        place = 1 if self.ndim > 1 else 0
        logs = self._as_wide().log_softmax(place)
        target_type = self._statistic_type()
        refuse_symbolic(name, self.node, [place] if self.ndim else [])
        count = self.shape[place] if self.ndim else 1
        if not 0 <= label_smoothing <= 1:
            raise DataError(name, "no such smoothing", got=str(label_smoothing), expected="0 to 1")
        if goal.dtype.is_float:
            soft = logs._against(goal, weight, label_smoothing, reduction)
            return soft.cast(target_type)
        _check_classes(name, self, goal, ignore_index)
        hard = logs._scored(name, goal, place, weight, ignore_index, reduction)
        if not label_smoothing:
            return hard.cast(target_type)
        even = logs._spread(goal, place, weight, ignore_index, reduction).div(float(count))
        made = hard.mul(1 - label_smoothing).add(even.mul(label_smoothing))
        return made.cast(target_type)

    def _scored(
        self, method: str, classes: Self, place: int, weight: Operand | None, ignored: int,
        reduction: Fold,
    ) -> Self:  # fmt: skip
        """Minus the score of the target class, times its weight."""
        hot, share = self._shares(classes, place, weight, ignored)
        loss = hot.where(self.neg(), False).sum(place).mul(share)
        return _folded_by(method, loss, share, reduction)

    def _spread(
        self, classes: Self, place: int, weight: Operand | None, ignored: int, reduction: Fold
    ) -> Self:
        """Minus the sum over all classes, each times its weight, without ignored elements."""
        _, share = self._shares(classes, place, weight, ignored)
        scaled = self.neg() if weight is None else self.neg().mul(self._along(weight, place))
        loss = share.ne(0).where(scaled.sum(place), False)
        return _folded_by("cross_entropy", loss, share, reduction)

    def _shares(
        self, classes: Self, place: int, weight: Operand | None, ignored: int
    ) -> tuple[Self, Self]:
        """A mask of the target classes, [n, classes, …], and the weight of each loss, [n, …]."""
        count = self.shape[place]
        counted = classes.ne(ignored).unsqueeze(place)
        hot = classes.one_hot(count, "bool").movedim(-1, place).logical_and(counted)
        if weight is None:
            return hot, hot.any(place).cast(self.dtype)
        return hot, hot.where(self._along(weight, place), False).sum(place)

    def _along(self, weight: Operand, place: int) -> Self:
        """One number per class, along axis `place`, in this tensor's type."""
        row = self._lift(weight).cast(self.dtype)
        if row.shape != (self.shape[place],):
            raise ShapeError(
                "cross_entropy", "there is one weight per class", got=written(row.shape),
                expected=f"({self.shape[place]},)",
            )  # fmt: skip
        return row.reshape(-1, *(1,) * (self.ndim - place - 1))

    def _against(
        self, goal: Self, weight: Operand | None, smoothing: float, reduction: Fold
    ) -> Self:
        """Cross entropy with probabilities. The mean divides by the number of rows."""
        if goal.shape != self.shape:
            raise ShapeError(
                "cross_entropy", "the probabilities do not fit the logits",
                got=f"{written(goal.shape)} for {written(self.shape)}", expected="equal shapes",
            )  # fmt: skip
        place = 1 if self.ndim > 1 else 0
        even = smoothing / self.shape[place]
        soft = goal.cast(self.dtype).mul(1 - smoothing).add(even)
        scaled = soft if weight is None else soft.mul(self._along(weight, place))
        loss = self.neg().mul(scaled).sum(place)
        return loss._folded("cross_entropy", reduction, self)

    def binary_cross_entropy(self, target: Operand, reduction: Fold = "mean") -> Self:
        """Binary cross entropy: -(t log x + (1 - t) log(1 - x)) for probabilities x, reduced.

        Logarithms are clamped to at least -100.
        """
        name = "binary_cross_entropy"
        goal = self._same_shape(name, target)
        x = self._as_wide()
        yes, no = (log.maximum(-100) for log in (x.log(), x.neg().log1p()))
        loss = yes.mul(goal).add(no.mul(goal.neg().add(1))).neg()
        wide = self._new(broadcast_node(goal.cast(x.dtype).node, x.shape))
        loss = loss._ruled_by_both((of_probability, of_target), x, wide)
        return loss._folded(name, reduction, self)

    def binary_cross_entropy_with_logits(self, target: Operand, reduction: Fold = "mean") -> Self:
        """`binary_cross_entropy` of sigmoid(x), computed without overflow."""
        name = "binary_cross_entropy_with_logits"
        goal = self._same_shape(name, target)
        x = self._as_wide()
        loss = x.softplus().sub(x.mul(goal))
        return loss._folded(name, reduction, self)

    def kl_div(
        self, target: Operand, reduction: Fold | Literal["batchmean"] = "mean",
        log_target: bool = False,
    ) -> Self:  # fmt: skip
        """Kullback-Leibler divergence: target * (log target - x) for log probabilities x; 0 where
        the target is 0. The reduction "batchmean" divides the sum by the extent of axis 0."""
        goal, x = self._same_shape("kl_div", target)._as_wide(), self._as_wide()
        if log_target:
            loss = goal.exp().mul(goal.sub(x))
        else:
            loss = goal.gt(0).where(goal.mul(goal.log().sub(x)), False)
        if reduction == "batchmean":
            count = x._count((0,) if self.ndim else ())
            made = self._new(apply("fdiv", "kl_div", loss.sum().node, count))
            return made.cast(self._statistic_type())
        return loss._folded("kl_div", reduction, self)

    def _distance(self, method: str, target: Operand) -> Self:
        goal = self._same_shape(method, target)
        return self._as_wide().sub(goal._as_wide())

    def _same_shape(self, method: str, target: Operand) -> Self:
        """The target in this tensor's type. Raises `ShapeError` unless it has the same shape."""
        goal = self._lift(target).cast(self._statistic_type())
        if goal.shape == self.shape or not goal.ndim:
            return goal
        raise ShapeError(
            method, "the target does not fit",
            got=f"{written(goal.shape)} for {written(self.shape)}",
            expected="equal shapes, or one number",
        )  # fmt: skip

    def _folded(self, method: str, reduction: str, prediction: Self) -> Self:
        """The reduced loss, in the type for losses of the prediction."""
        target = prediction._statistic_type()
        match reduction:
            case "mean":
                return self.mean().cast(target)
            case "sum":
                return self.sum().cast(target)
            case "none":
                return self._same().cast(target)
        raise _no_reduction(method, reduction)


def check_scale(operation: str, name: str, value: float) -> None:
    """Raise `DataError` for a `delta` or `beta` that PyTorch refuses."""
    if not (value > 0 or (name == "beta" and value == 0)):
        expected = "0 or more" if name == "beta" else "a number above 0"
        raise DataError(operation, f"{name} is out of range", got=f"{name} {value}",
                        expected=expected)  # fmt: skip


def _folded_by(method: str, loss: L, share: L, reduction: Fold) -> L:
    """The reduced loss. The mean is weighted: the sum divided by the sum of shares."""
    if reduction == "mean":
        return loss.sum().div(share.sum())
    return loss._folded(method, reduction, loss)


def _no_reduction(method: str, reduction: str) -> DataError:
    return DataError(
        method, "no such reduction", got=repr(reduction), expected="'mean', 'sum' or 'none'"
    )


def _check_classes(method: str, scores: Losses, classes: Losses, ignored: int) -> None:
    """Check that classes are integers, of the scores' shape without the axis of classes."""
    if not classes.dtype.is_integer:
        raise DTypeError(
            method, "classes are integers", got=str(classes.dtype), expected="an integer type"
        )
    wanted = (*scores.shape[:1], *scores.shape[2:]) if scores.ndim > 1 else ()
    if not scores.ndim or classes.shape != wanted:
        raise ShapeError(
            method, "the classes do not fit the scores",
            got=f"{written(classes.shape)} for {written(scores.shape)}",
            expected="[n, classes, …] with [n, …]",
        )  # fmt: skip
    if not isinstance(classes.node, Buffer) or watching.current():
        return
    known, count = data(classes.node), scores.shape[min(1, scores.ndim - 1)]
    wrong = known[((known < 0) | (known >= count)) & (known != ignored)]
    if wrong.size:
        raise AxisError(
            method, "a target class is out of range", got=str(wrong[0]),
            expected=f"0 to {count - 1}, or {ignored} for what is ignored",
        )  # fmt: skip
