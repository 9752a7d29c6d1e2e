"""Parameter groups, their state, saving and loading."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from compiler.core.errors import DataError, NameMistake, Renamed, located
from compiler.core.keywords import RENAMED, own_name, renamed_argument
from compiler.core.modules import in_module
from compiler.core.origin import caller
from compiler.nn import initial
from compiler.nn.module import forget_gradients, load_state
from compiler.tensor import Tensor
from compiler.tensors.gradients import no_grad
from compiler.tensors.history import is_collecting
from compiler.tensors.writing import assign_together

NOT_NEGATIVE = ("lr", "betas", "eps", "momentum", "weight_decay")
"""Options whose values are 0 or more."""


def _number(value: Any) -> float:
    """An option as a number; NaN for what is none."""
    try:
        return math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return math.nan


class Group:
    """Parameters that share options. The rate is a tensor, so that it may change."""

    rate = Renamed("lr")

    def __init__(self, parameters: list[Tensor], options: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.options = dict(options)
        self.tensor = initial.state((), float(self.options.pop("lr")), "float64")

    def __setattr__(self, name: str, value: object) -> None:
        """Raises `NameMistake` for the name of an option, today's or an earlier one: an attribute
        would have no effect."""
        options = vars(self).get("options", {})
        names = name, *RENAMED.get(name, "").split()
        if today := next((each for each in names if each in options), ""):
            hint = f'write group.options["{today}"] = …'
            raise NameMistake("Group", f"there is no attribute {name}", got=name, hint=hint,
                              origin=caller(name))  # fmt: skip
        super().__setattr__(name, value)

    @property
    def lr(self) -> float:
        """The learning rate."""
        return float(self.tensor.item())

    @lr.setter
    def lr(self, value: float) -> None:
        self.tensor.assign(np.array(value, np.float64)).realize()  # an input: compiled once


class Optimizer:
    """Base of optimisers. A subclass defines the `names` of its state, and the rule `update`."""

    names: ClassVar[tuple[str, ...]] = ()
    """Names of the state tensors of each parameter; they have its shape and start as 0."""
    rate, decay = Renamed("lr"), Renamed('groups[0].options["weight_decay"]')

    @located
    def __init__(
        self, parameters: Iterable[Tensor] | Sequence[Mapping[str, Any]], **options: Any
    ) -> None:
        """`parameters` are tensors that require gradients, or dicts with these under "params", and
        options for them. Raises `DataError` if there are none, if one occurs twice, or if one does
        not collect gradients."""
        given: list[Any] = list(parameters)
        is_rows = bool(given) and isinstance(given[0], Mapping)
        rows: list[Mapping[str, Any]] = given if is_rows else [{"params": given}]
        self._check_values(options)
        self.groups: list[Group] = []
        self._options = [name for name in options if name != "lr"]
        met: set[int] = set()
        for row in rows:
            if "params" not in row:
                raise self._refusal("a group has no parameters", ", ".join(map(repr, row)),
                                    'the parameters of the group under "params"')  # fmt: skip
            own = list(row["params"])
            self._check(own, met)
            rest = {own_name(n, [*options]): value for n, value in row.items() if n != "params"}
            self._check_options(rest, [*options])
            self._check_values(rest)
            self.groups.append(Group(own, {**options, **rest}))
        if not met:
            raise self._refusal("there are no parameters", "0 tensors", "1 or more")
        self.count = initial.state((), 0.0, "float64")
        """The number of steps in which any parameter had a gradient."""
        several = sum(len(group.parameters) for group in self.groups)
        self.absent, self.late = [False] * several, [False] * several
        """For each parameter: True if it had no gradient in the last step (`absent`), or in an
        earlier one (`late`). Late parameters have made fewer steps."""
        self.steps = [initial.state((), 0.0, "float64") for _ in range(several)]
        """The number of steps that an absent parameter made."""
        self.missed = [initial.state((), 0.0, "float64") for _ in range(several)]
        """The number of steps that a late parameter missed, unless it is absent."""
        self.kept = [
            {name: initial.state(p.shape, 0.0, p.dtype) for name in self.names}
            for group in self.groups
            for p in group.parameters
        ]

    def _check(self, parameters: Sequence[Any], met: set[int]) -> None:
        for place, each in enumerate(parameters):
            if not isinstance(each, Tensor):
                raise self._refusal(f"parameter {place} is not a tensor", type(each).__name__,
                                    "Tensor")  # fmt: skip
            if not is_collecting(each):
                raise self._refusal(f"parameter {place} collects no gradients", repr(each),
                                    "a tensor that requires_grad")  # fmt: skip
            if id(each) in met:
                raise self._refusal(f"parameter {place} occurs twice", repr(each), "each once")
            met.add(id(each))

    def _check_options(self, names: Iterable[str], known: Sequence[str]) -> None:
        """Raise `DataError` for an option that the class does not have."""
        if unknown := sorted(set(names) - set(known)):
            hints = [renamed_argument(name, [*known, "lr"]) for name in unknown]
            hints += ["group.lr = … sets the learning rate"] if "lr" in unknown else []
            raise self._refusal("there is no such option", ", ".join(unknown), ", ".join(known),
                                next(filter(None, hints), ""))  # fmt: skip

    def _check_values(self, options: Mapping[str, Any]) -> None:
        """Raise `DataError` for an option out of its range, which is PyTorch's."""
        for name, value in options.items():
            several = value if name == "betas" and isinstance(value, tuple | list) else (value,)
            if name == "betas" and (len(several) != 2 or not all(_number(v) < 1 for v in several)):
                raise self._refusal("the betas are out of range", f"betas {value}",
                                    "two numbers from 0 to below 1")  # fmt: skip
            if name in NOT_NEGATIVE and not all(_number(each) >= 0 for each in several):
                raise self._refusal(f"{name} is out of range", f"{name} {value!r}",
                                    "a number, 0 or more")  # fmt: skip

    def _refusal(self, what: str, got: str, expected: str, hint: str = "") -> DataError:
        return DataError(type(self).__name__, what, got=got, expected=expected, hint=hint)

    @property
    def lr(self) -> float:
        """The learning rate of the first group. Setting it sets the rate of all groups."""
        return self.groups[0].lr

    @lr.setter
    def lr(self, value: float) -> None:
        new = Tensor(np.array(value, np.float64))
        assign_together([(group.tensor, new) for group in self.groups], is_computed=True)

    def update(
        self, p: Tensor, grad: Tensor, kept: dict[str, Tensor], rate: Tensor, count: Tensor,
        **options: Any,
    ) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
        """The next value of a parameter, and of its state; `count` steps were made, including this
        one."""
        raise NotImplementedError

    @located
    @no_grad()
    def step(self) -> None:
        """Update all parameters that have a gradient, in place, in one program. If an exception
        interrupts it, all of them are updated or none."""
        name = type(self).__name__
        with in_module("", name, kinds=("", name)):  # this part of the program belongs to no model
            self._step()

    def _step(self) -> None:
        rows = [(group, p) for group in self.groups for p in group.parameters]
        if all(p.grad is None for _, p in rows):
            return
        for group in self.groups:
            self._check_options(group.options, self._options)
        count = self.count + 1
        turned = [n for n, (_, p) in enumerate(rows) if (p.grad is None) is not self.absent[n]]
        written = [self._turned(number) for number in turned]
        for number, (group, p) in enumerate(rows):
            if p.grad is None:
                continue
            own, made = self.kept[number], count
            if self.absent[number]:
                made = self.steps[number] + 1
            elif self.late[number]:
                made = count - self.missed[number]
            new, state = self.update(p, p.grad, own, group.tensor, made, **group.options)
            for name, value in state.items():
                written.append((own[name], value.cast(p.dtype)))
            written.append((p, new.cast(p.dtype)))
        assign_together([(self.count, count), *written], is_computed=True)
        for number in turned:
            self.late[number] |= self.absent[number]
            self.absent[number] = not self.absent[number]

    def _turned(self, number: int) -> tuple[Tensor, Tensor]:
        """The counters to write if a parameter has a gradient again, or none any more."""
        steps, missed = self.steps[number], self.missed[number]
        if self.absent[number]:
            return missed, self.count - steps
        return steps, self.count - missed if self.late[number] else self.count + 0

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Delete the collected gradients, or set them to 0."""
        for group in self.groups:
            forget_gradients(group.parameters, set_to_none)

    def state_dict(self) -> dict[str, Tensor]:
        """The rates, the number of steps and all state tensors, by name; also the steps of
        parameters that made fewer."""
        late = {}
        for number, steps in enumerate(self.steps):
            if self.late[number] and not self.absent[number]:
                steps.assign(self.count - self.missed[number]).realize()
            if self.late[number] or self.absent[number]:
                late[f"state.{number}.steps"] = steps
        return {**self._rows(), **late}

    def _rows(self) -> dict[str, Tensor]:
        rows = {f"groups.{n}.rate": group.tensor for n, group in enumerate(self.groups)}
        for n, kept in enumerate(self.kept):
            rows |= {f"state.{n}.{name}": tensor for name, tensor in kept.items()}
        return {"count": self.count, **rows}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state. Raises `DataError` that lists all differences."""
        names = {f"state.{n}.steps": n for n in range(len(self.steps))}
        late = {name: self.steps[number] for name, number in names.items() if name in state}
        load_state(type(self).__name__, {**self._rows(), **late}, state)
        for name, number in names.items():  # treat a late parameter as absent until now
            self.absent[number], self.late[number] = name in late, False

    def __repr__(self) -> str:
        rows = [
            f"{len(g.parameters)} parameters, lr {g.lr:g}"
            + "".join(f", {name} {value}" for name, value in g.options.items())
            for g in self.groups
        ]
        return f"{type(self).__name__}({'; '.join(rows)})"
