"""Arguments of public calls: one mechanism for their names, and the error for wrong arguments.

    x.sum(axis=1, keepdims=True)    NumPy's names
    x.sum(dim=1, keepdim=True)      PyTorch's

A name that the call does not have, but of which it has a synonym, stands for that. What then does
not fit the call (a name, too many arguments, one missing) is a `DataError`, which is a TypeError.
It says which of the names that exist was meant (`nearest`). Types are not checked beforehand: if a
call fails with an error of Python's, an argument that is not of its annotated type is the reason.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, Union, get_args, get_origin

import numpy as np

from compiler.core.errors import AxisError, CompileError, DataError, located, renamed
from compiler.core.origin import caller, public_name, state

P = ParamSpec("P")
R = TypeVar("R")
Args: TypeAlias = tuple[Any, ...]

SYNONYMS = (
    ("axis", "dim", "axes", "dims", "dimension"),
    ("axes", "axis", "dims", "order"),
    ("axis1", "dim1"),
    ("axis2", "dim2"),
    ("classes", "num_classes"),
    ("correction", "ddof"),
    ("counts", "repeats", "reps"),
    ("diagonal", "offset", "k"),
    ("first", "axis1", "dim0"),
    ("index", "indices"),
    ("keepdim", "keepdims"),
    ("lr", "learning_rate"),
    ("max", "a_max"),
    ("min", "a_min"),
    ("num", "steps"),
    ("ord", "p"),
    ("order", "axes", "dims"),
    ("other", "b"),
    ("parameters", "params"),
    ("second", "axis2", "dim1"),
    ("shape", "size", "newshape", "sizes"),
    ("shifts", "shift"),
    ("sizes", "split_size_or_sections", "split_size"),
    ("times", "k"),
    ("value", "fill_value"),
    ("values", "v"),
)
"""Names under which NumPy and PyTorch have one and the same argument."""

MEANT = {
    "device": "x.to(device) says where a tensor is",
    "dtype": "x.cast(dtype) converts",
    "inplace": "operations give a new tensor; x.assign(value) writes",
    "kind": "the order is stable; there is one algorithm",
    "out": "operations give a new tensor; x.assign(value) writes",
    "requires_grad": "x.requires_grad_() collects gradients in x.grad",
    "unbiased": "unbiased=True is correction=1, unbiased=False is correction=0",
    "where": "mask.where(x, 0) takes 0 elsewhere",
}
"""Our spelling of other libraries' arguments."""

RENAMED = {
    "affine": "elementwise_affine",
    "channels": "num_features num_channels",
    "count": "num chunks n total_steps warmup_steps",
    "decay": "weight_decay",
    "end": "end_dim",
    "every": "step_size",
    "factor": "gamma",
    "first": "div_factor",
    "groups": "num_groups",
    "heads": "num_heads",
    "hidden": "hidden_size",
    "inputs": "in_features in_channels input_size",
    "last": "final_factor final_div_factor",
    "layers": "num_layers",
    "most": "max_norm clip_value",
    "outputs": "out_features out_channels",
    "padding": "padding_idx",
    "rate": "lr",
    "rest": "after",
    "rising": "pct_start",
    "rows": "num_embeddings",
    "shape": "normalized_shape",
    "size": "kernel_size output_size",
    "slope": "negative_slope",
    "start": "start_dim",
    "to": "destination",
    "width": "embedding_dim embed_dim normalized_shape",
}
"""Earlier names of arguments, and today's: those of NumPy and PyTorch."""

PYTHONS = (TypeError, ValueError, AttributeError, ArithmeticError)
"""Errors of Python's that an argument of another type leads to."""

_FLAGS = ("keepdim", "descending", "largest")
"""Arguments that are true or false; a number in their place was meant for another argument."""


def own_name(name: str, names: Sequence[str]) -> str:
    """`name`, or its only synonym among `names`."""
    if name in names:
        return name
    rows = [row for row in SYNONYMS if name in row]
    return next((each for row in rows for each in row if each in names), name)


def renamed_argument(name: str, names: Sequence[str]) -> str:
    """The hint for an argument's earlier `name`; "" if none of `names` was called so."""
    today = next((each for each in RENAMED.get(name, "").split() if each in names), "")
    return renamed(name, f"{today}=") if today else ""


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public method: nodes made in it, and its errors, come from its caller's line,
    and its arguments may have the names that NumPy or PyTorch give them."""
    operation = public_name(function.__name__)
    call = Call(operation, inspect.signature(function))
    plain = call.plain

    @functools.wraps(function)
    def wrapper(*args: P.args, **named: P.kwargs) -> R:
        is_inside = state.origin is not None
        if not is_inside:
            state.origin = caller(operation)
        try:
            if named or len(args) > plain:
                args, named = call.checked(args, named)  # type: ignore[assignment]
            result = function(*args, **named)
            if is_inside or state.after is None:
                return result
            return result if args and result is args[0] else state.after(result)
        except PYTHONS as error:
            if reason := call.explanation(args, named, error):
                raise reason from None
            raise
        finally:
            if not is_inside:
                state.origin = None

    return wrapper


def program_call(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function that makes no nodes: as `located`, with errors for wrong
    arguments."""
    is_constructor = function.__name__ == "__init__"
    name = function.__qualname__.split(".")[-2] if is_constructor else function.__name__
    call = Call(name, inspect.signature(function))

    @functools.wraps(function)
    def wrapper(*args: P.args, **named: P.kwargs) -> R:
        try:
            return function(*args, **named)
        except (CompileError, *PYTHONS) as error:
            reason = call.explanation(args, named, error) or error
            if isinstance(reason, CompileError):
                reason.locate(caller(public_name(function.__name__)))
            if reason is error:
                raise
            raise reason from None

    return wrapper


def constructor(function: Callable[P, None]) -> Callable[P, None]:
    """Decorate the `__init__` of a class: its arguments may have the names that PyTorch gives
    them, and the error for wrong arguments names the class."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args: P.args, **named: P.kwargs) -> None:
        try:
            if named:
                call = Call(type(args[0]).__name__, signature)
                args, named = call.checked(args, named)  # type: ignore[assignment]
            function(*args, **named)
        except PYTHONS as error:
            call = Call(type(args[0]).__name__, signature)
            if reason := call.explanation(args, named, error):
                raise reason from None
            raise

    return located(wrapper)


def _is_from_inside(error: TypeError) -> bool:
    """True if the function called raised it, and not the call itself."""
    trace = error.__traceback__
    return trace is None or trace.tb_next is not None


class Call:
    """The signature of one operation: the names of its arguments, and the error for wrong ones."""

    def __init__(self, operation: str, signature: inspect.Signature) -> None:
        self.operation = operation
        self.signature = signature
        self.names = tuple(signature.parameters)
        self.flags = tuple(at for at, name in enumerate(self.names) if name in _FLAGS)
        self.plain = min(self.flags, default=len(self.names))
        """With so many positional arguments, and none by name, there is nothing to check."""
        kinds = {row.kind: name for name, row in signature.parameters.items()}
        self.is_open = inspect.Parameter.VAR_KEYWORD in kinds
        self.many = kinds.get(inspect.Parameter.VAR_POSITIONAL, "")
        """The name of what is given one by one or as a sequence: `shape` of `reshape`."""
        self.bound = 1 if self.names[:1] in (("self",), ("cls",)) else 0
        """The number of arguments that Python passes itself."""

    def checked(self, args: Args, named: Mapping[str, Any]) -> tuple[Args, dict[str, Any]]:
        """The arguments, those given by name under the names that the operation has for them."""
        for at in self.flags:
            if len(args) > at and not isinstance(args[at], bool | np.bool_):
                raise self._no_flag(self.names[at], args[at])
        if self.is_open:
            return args, dict(named)
        arguments: dict[str, Any] = {}
        names: dict[str, str] = {}
        for name, value in named.items():
            ours = own_name(name, self.names)
            if ours not in self.names:
                raise self.misfit(args, named, "")
            if ours in arguments:
                raise self._twice(names[ours], name, arguments[ours], value)
            arguments[ours], names[ours] = value, name
        if "dim" in arguments and "axis" in self.names:
            place = self.names.index("axis")
            axis = args[place] if len(args) > place else arguments.get("axis")
            if axis is not None and arguments["dim"] is not None:
                raise self._twice("axis", "dim", axis, arguments["dim"])
        if self.many in arguments and len(args) <= self.bound:
            several = arguments.pop(self.many)
            args = args if several is None else (*args, several)
        return args, arguments

    def misfit(self, args: Args, passed: Mapping[str, Any], words: str) -> DataError:
        """The error for wrong arguments; `words` is the text of Python's own."""
        named = {own_name(name, self.names): name for name in passed}
        unknown = [name for ours, name in named.items() if ours not in self.names]
        if unknown:
            name = unknown[0]
            names = [name for name in self.names if name not in ("self", "cls")]
            return DataError(
                self.operation, f"there is no argument {name}",
                got=f"{name}={_short(passed[name])}", expected=self.written,
                hint=renamed_argument(name, names) or MEANT.get(name) or nearest(name, names),
            )  # fmt: skip
        try:
            self.signature.bind(*args, **dict.fromkeys(named))
        except TypeError as error:
            words = str(error)
        shown = [*map(_short, args[self.bound :]), *(f"{n}={_short(passed[n])}" for n in passed)]
        return DataError(self.operation, words, got=f"{self.operation}({', '.join(shown)})",
                         expected=self.written)  # fmt: skip

    def explanation(
        self, args: Args, named: Mapping[str, Any], error: Exception
    ) -> DataError | None:
        """The error for arguments that are the reason for an `error` of Python's: they do not fit
        the call, or one is not of its type; None if they are not the reason."""
        if isinstance(error, CompileError):
            return None
        if isinstance(error, TypeError) and not _is_from_inside(error):
            return self.misfit(args, named, str(error))
        try:
            bound = self.signature.bind(*args, **named).arguments
        except TypeError:
            return None
        for name, value in bound.items():
            row = self.signature.parameters[name]
            if row.kind is row.VAR_KEYWORD:
                continue
            for each in value if row.kind is row.VAR_POSITIONAL else (value,):
                if not fits(each, row.annotation):
                    return DataError(
                        self.operation, f"{name} is of another type", got=f"{name}={_short(each)}",
                        expected=_named(row.annotation),
                    )  # fmt: skip
        return None

    @property
    def written(self) -> str:
        """`sum(axis=None, keepdim=False, dtype=None)`"""
        bare = inspect.Parameter.empty
        rows = list(self.signature.parameters.values())[self.bound :]
        plain = [row.replace(annotation=bare) for row in rows]
        return f"{self.operation}{inspect.Signature(plain)}"

    def _no_flag(self, name: str, value: object) -> DataError:
        hint = f"several axes are one tuple: {self.operation}((0, 1))"
        return DataError(
            self.operation, f"{name} is true or false", got=_short(value), expected=self.written,
            hint=hint if name == "keepdim" and isinstance(value, int) else "",
        )  # fmt: skip

    def _twice(self, ours: str, name: str, first: object, second: object) -> AxisError:
        return AxisError(
            self.operation, f"both {ours}= and {name}= are given",
            got=f"{ours}={_short(first)}, {name}={_short(second)}",
            expected="one of them: they mean the same",
        )  # fmt: skip


def fits(value: object, annotation: Any) -> bool:
    """False if `value` is certainly not of the annotated type; True where that is not known."""
    kinds = get_args(annotation)
    match get_origin(annotation):
        case typing_kind if typing_kind in (Union, UnionType):
            return any(fits(value, kind) for kind in kinds)
        case typing_kind if typing_kind is Literal:
            return isinstance(value, tuple({type(kind) for kind in kinds}))
        case kind if isinstance(kind, type):
            return isinstance(value, kind)
    if annotation is None:
        return value is None
    if getattr(annotation, "_is_protocol", False):
        return all(hasattr(type(value), name) for name in vars(annotation) if name[0] != "_")
    if annotation not in (int, float, bool, str, NoneType):
        return not _is_class(annotation) or isinstance(value, annotation)
    # a tensor or an array of rank 0, or a variable, is a number
    is_own = hasattr(value, "shape") or type(value).__module__.startswith("compiler.")
    wider: dict[Any, tuple[type, ...]] = {
        int: (int, np.integer), float: (int, float, np.number), bool: (int, np.bool_),
    }  # fmt: skip
    return isinstance(value, wider.get(annotation, annotation)) or (is_own and annotation in wider)


IN_WORDS = dict.fromkeys(("Asked", "ProgramStages"), "what compiler.compile(…) returns")
"""Types whose names users do not see, by the call that returns them."""


def _is_class(annotation: Any) -> bool:
    """True for a class of this package that `isinstance` can be asked about."""
    return isinstance(annotation, type) and annotation.__module__.startswith("compiler.")


def _named(annotation: Any) -> str:
    """An annotated type in the words of a message: `int or None`."""
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(map(_named, get_args(annotation)))
    if annotation in (None, NoneType):
        return "None"
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return IN_WORDS.get(name, name)


def _short(value: object) -> str:
    """`value` as users write it, cut to one line."""
    if hasattr(value, "shape") and not isinstance(value, type):
        return f"{type(value).__name__}{tuple(value.shape)}"
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 40 else text[:39] + "…"


LEAST = 0.6
"""The least similarity of two names, 0 to 1, for one to be suggested for the other: the default of
`difflib`."""


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean reshape?`, or "" where no known name is like `name`."""
    plain = {each.replace("_", "").lower(): each for each in sorted(names, reverse=True)}
    meant = name.replace("_", "").lower()
    alike = plain.get(meant) or next(
        (plain[each] for each in difflib.get_close_matches(meant, plain, 1, LEAST)), None
    )
    return f"did you mean {alike}?" if alike else ""
