"""A function with its captures.

    @compiler.jit
    def step(x, y, rate):
        loss = model(x).cross_entropy(y)
        loss.backward()
        for p in parameters:
            p.assign(p - rate * p.grad)
        return loss
"""

import functools
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from compiler.core import forking
from compiler.core.errors import DataError, JitError, located
from compiler.replay import arguments
from compiler.replay.arguments import Call
from compiler.replay.program import ANOTHER, DECIDES, USUAL, Captured
from compiler.replay.walk import Unguarded
from compiler.settings.options import Options
from compiler.tensors import running, trees, watching
from compiler.tensors.traced_numbers import NumberIsFixed, token
from compiler.tensors.value import TensorValue
from compiler.tensors.watching import NotCapturedError

WRITES = 2
"""After this many consecutive calls that change Python state a function is no longer captured; the
first one may create state that later calls only read."""
OFTEN = 16
"""Captures of one signature after which there are no more, if that was most of its calls."""
KEPT = 64
"""Captures kept per function; the least recently used is dropped first."""


_NONE: frozenset[int] = frozenset()
VARIANTS = 4
"""Captures kept per signature that differ in surrounding state, such as training and evaluation
mode; the last one is tried first."""


class NotCapturedWarning(UserWarning):
    """A function is called without `jit`, because it reads or writes state that cannot be
    compared."""


class JitInfo(NamedTuple):
    """The numbers of captures and replays, the number of captures kept, and the reasons for
    captures, each with a count."""

    captures: int
    replays: int
    kept: int
    reasons: dict[str, int]


class JitFunction:
    """A function of tensors, captured once per signature: call it like the original function.

    The signature contains the shapes, types, devices and variables of tensors and arrays, the
    nesting of arguments, and everything else by value. A Python number is part of it until an
    otherwise equal call passes another number. From then on Python computes with the number in each
    call, and the results are inputs of the program; where the function branches on it (`if`, an
    index, a key, text), it is captured for each answer. In a function that calls `type`, numbers
    are always part of the signature. Slices, sets and dataclass instances are compared by content;
    tensors in them, and other objects, by identity. Boolean tensors that the function reads
    (`x[mask]`, `if flag`) are compared by their elements.

    Tensors from outside are read where they are; one that the function assigns is written in place.
    If it returns an outside tensor or an argument, the result is that tensor itself. Python state
    that it may read (globals, closures, attributes, lists, arrays, training mode) is compared
    before each call, by the table in `surroundings.py`; after a change the function is captured
    again. A function that reads state which cannot be compared (a file, the time, Python's random
    numbers), or that writes Python state (a counter, a list), is called without `jit`, with a
    `NotCapturedWarning`; so is one that changes a list or dictionary among its arguments, or
    returns an object that it creates. The compiler's random numbers are new in each call. Text that
    the function prints is printed only when it is captured.

    A `grad` that the function reads is the current one of each call; a `grad` that it sets is set
    after each call. Gradients pass through its results as without `jit`. If a derivative inside
    would continue through the history of an argument, the function is called without a capture.
    Raises `JitError` if the function requests values, and for arguments that share memory with
    memory that it writes.

    Threads may call it at once. During a capture, other threads that call it, or read a tensor
    which it has assigned, wait until it has returned, because its changes are undone before it is
    replayed. So do not take a lock inside that such a thread may hold: both would wait forever.
    Take it around the call. A replay takes no locks of the function.
    """

    def __init__(
        self, function: Callable[..., Any], static: Iterable[str | int] = (),
        options: Options | None = None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, function)  # first: it copies all attributes
        self.function = function
        self.static = _static(function, static)
        self.options = options or USUAL
        self._lock = forking.lock()
        self._kept: OrderedDict[Hashable, list[Captured]] = OrderedDict()
        self._moving: dict[Hashable, frozenset[int]] = {}
        self._numbers: dict[Hashable, tuple[Any, ...]] = {}
        self._fixed: dict[Hashable, frozenset[int]] = {}
        """The places of numbers that the function branches on."""
        self._known: dict[Hashable, frozenset[int]] = {}
        """The places of boolean arguments whose elements it reads."""
        self._last: tuple[Hashable, Captured] | None = None
        """The last capture that was replayed, if the call had no numbers, with its signature."""
        self._captures = self._replays = 0
        self._reasons: dict[str, int] = {}
        self._open: dict[Hashable, str] = {}
        """Signatures that are not captured, with the reason."""
        self._writes: dict[Hashable, int] = {}
        """The number of consecutive calls of a signature that changed Python state."""
        self._count: dict[Hashable, int] = {}
        """The number of captures of each signature."""

    def __get__(self, instance: object, owner: type) -> Any:
        """As a method: captured separately for each object, by identity."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The result of the function, computed."""
        call = arguments.in_memory(args, named)
        if watching.current() or (call is None and arguments.is_differentiated((args, named))):
            return self.function(*args, **named)  # inside another capture or derivative
        call = call or arguments.read(args, named, self.static)
        is_captured = True
        while is_captured:
            with self._lock:
                captured = self._captured(call)
                is_captured = captured is not None and captured.serves(call)
                result_of = captured.run(call) if captured is not None and is_captured else None
                if result_of is not None or not is_captured:
                    self._replays += 1
            if result_of is not None:
                return result_of[0]
            if is_captured:
                running.wait()  # without the lock: the thread it waits for may call this function
        plain, before = arguments.as_given(call), arguments.as_given(call)
        result = _computed(self.function(*plain[0], **plain[1]))
        if not arguments.is_same_tree(plain, before):
            raise JitError("jit", "an argument, a list or dictionary of arrays, is changed",
                           expected="tensors in it: they change as without jit")  # fmt: skip
        return result

    def compilation(self, *args: Any, **named: Any) -> Any:
        """The `Compilation` of the program for these arguments; nothing is run."""
        call = arguments.read(args, named, self.static)
        with self._lock:
            captured = self._captured(call)
        if captured is None:
            raise JitError("jit", "this function is not captured", got=self._open[_kind(call)],
                           expected="a function that can be replayed")  # fmt: skip
        return captured.compilation()

    def cache_info(self) -> JitInfo:
        """The numbers of captures and replays, and the reasons for captures."""
        kept = sum(map(len, self._kept.values()))
        return JitInfo(self._captures, self._replays, kept, dict(self._reasons))

    def cache_clear(self) -> None:
        """Delete all captures; counts are kept."""
        with self._lock:
            self._kept.clear()
            self._open.clear()
            self._writes.clear()
            self._count.clear()
            self._known.clear()
            self._last = None

    def _captured(self, call: Call) -> Captured | None:
        """The program for this call; None if the function is called without a capture."""
        kind = key = _kind(call)
        if self._open and kind in self._open:
            return None
        truths = self._known.get(kind, _NONE) if self._known else _NONE
        if truths:
            key = call.key(frozenset(call.numbers), truths)
        # equal parts are mostly identical: comparing them is quicker than hashing
        if self._last is not None and key == self._last[0] and not self._last[1].stale(call):
            return self._last[1]
        moving = frozenset[int]()
        if call.numbers:
            moving = self._moving_in(call, kind)
            key = call.key(moving, truths)
        variants = self._kept.get(key, [])
        captured, why = self._serving(call, key, variants)
        if captured is not None:
            return captured
        if why == DECIDES and len(variants) >= VARIANTS:
            self._fix(kind, variants[-1].asked)
            return self._captured(call)
        why = why or ("another signature" if self._captures else "the first call")
        return self._new(call, kind, moving, why)

    def _serving(
        self, call: Call, key: Hashable, variants: list[Captured]
    ) -> tuple[Captured | None, str]:
        """The capture that serves a call, else the reason why the first one does not."""
        why = ""
        for each in tuple(variants):
            now = each.stale(call)
            if not now:
                self._kept.move_to_end(key)
                self._last = None if call.numbers else (key, each)
                return each, ""
            why = why or now
            if now.startswith(ANOTHER):
                variants.remove(each)
        return None, why

    def _new(
        self, call: Call, kind: Hashable, moving: frozenset[int], why: str
    ) -> Captured | None:
        """A new capture, kept unless it serves only this call; None if there cannot be one."""
        try:
            captured = self._capture(call, kind, moving)
        except Unguarded as reason:
            self._leave_open(kind, str(reason))
            return None
        except NotCapturedError as reason:
            self._leave_open(kind, str(reason), reason.hint)
            return None
        if captured.wrote:
            self._writes[kind] = self._writes.get(kind, 0) + 1
            if self._writes[kind] >= WRITES:
                self._leave_open(kind, f"it writes state in Python: {captured.wrote}")
        else:
            self._keep(call, kind, captured, why)
        return captured

    def _keep(self, call: Call, kind: Hashable, captured: Captured, why: str) -> None:
        """Keep a capture for later calls, and count it."""
        self._writes.pop(kind, None)
        self._captures += 1
        self._count[kind] = self._count.get(kind, 0) + 1
        if self._count[kind] >= OFTEN and self._count[kind] * 4 > self._replays:
            self._leave_open(kind, f"it is captured again in most calls: {why}")
        self._reasons[why] = self._reasons.get(why, 0) + 1
        variants = self._kept.setdefault(call.key(captured.moving, captured.known), [])
        variants[:] = [captured, *variants[: VARIANTS - 1]]
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _leave_open(
        self, kind: Hashable, reason: str,
        hint: str = "pass what it reads as an argument, or keep it in a tensor",
    ) -> None:  # fmt: skip
        """Call the function without a capture for this signature from now on."""
        self._open[kind] = reason
        self._reasons[f"not captured: {reason}"] = 1
        name = getattr(self.function, "__qualname__", repr(self.function))
        warnings.warn_explicit(
            f"jit does not capture {name}: {reason}\n"
            "  so:       it is called as without jit, each time\n"
            f"  hint:     {hint}",
            NotCapturedWarning, *_line_of(self.function),
        )  # fmt: skip

    def _moving_in(self, call: Call, kind: Hashable) -> frozenset[int]:
        """The places of numbers that differed between calls of the same kind."""
        now = tuple(token(call.leaves[place]) for place in call.numbers)
        before = self._numbers.setdefault(kind, now)
        moved = self._moving.get(kind, frozenset())
        if before != now:
            pairs = zip(call.numbers, before, now, strict=True)
            moved |= {place for place, old, new in pairs if old != new}
            self._moving[kind] = moved
        if kind in self._writes:  # a capture may call it twice, as in `_capture`
            return frozenset()
        return moved - self._fixed.get(kind, frozenset())

    def _fix(self, kind: Hashable, places: frozenset[int]) -> None:
        """Make these numbers part of the signature from now on."""
        self._fixed[kind] = self._fixed.get(kind, frozenset()) | places

    def _capture(self, call: Call, kind: Hashable, moving: frozenset[int]) -> Captured:
        """The capture of a call. If the compiler needs the value of a number, or if something fails
        that may only accept plain numbers, these are fixed and the function is called again."""
        left, truths = moving, self._known.get(kind, _NONE)
        while True:
            try:
                captured = Captured(self.function, call, left, self.options, truths)
                break
            except NumberIsFixed as fixed:
                left -= fixed.places
                truths |= fixed.places.difference(call.numbers)
            except (Unguarded, NotCapturedError):
                raise
            except Exception:
                if not left:
                    raise
                left = frozenset()
        self._fix(kind, moving - captured.moving)
        if truths:
            self._known[kind] = truths
        return captured

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        why = ", ".join(f"{count} × {reason}" for reason, count in self._reasons.items())
        kernels = [each.kernels for variants in self._kept.values() for each in variants]
        return (
            f"jit({name}): {self._captures} captures ({why or 'none yet'}), "
            f"{self._replays} calls; items {kernels}"
        )


def _kind(call: Call) -> Hashable:
    """The signature of a call without the values of its numbers."""
    return call.key(frozenset(call.numbers) if call.numbers else _NONE)


def _computed(result: Any) -> Any:
    """The result with all its tensors computed."""
    tensors: list[Any] = [e for e in trees.flat(result) if isinstance(e, TensorValue)]
    if tensors:
        tensors[0].realize(*tensors[1:])
    return result


def _line_of(function: Any) -> tuple[str, int]:
    """The file and line where a function begins."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return ("<jit>", 0) if code is None else (code.co_filename, code.co_firstlineno)


def _static(function: Callable[..., Any], names: Iterable[str | int]) -> tuple[str | int, ...]:
    """The places and names of static arguments: each may be passed either way."""
    parameters = list(inspect.signature(function).parameters)
    parameters_of: list[str | int] = []
    for name in (names,) if isinstance(names, str | int) else names:
        place = parameters.index(name) if name in parameters else name
        if not isinstance(place, int) or not 0 <= place < len(parameters):
            raise DataError("jit", "there is no such argument", got=repr(name),
                            expected=", ".join(parameters))  # fmt: skip
        parameters_of += (place, parameters[place])
    return tuple(parameters_of)


@located
def jit(
    function: Callable[..., Any] | None = None, *, static: Iterable[str | int] = (),
    options: Options | None = None,
) -> Any:  # fmt: skip
    """`function`, captured once per signature and replayed from then on: see `JitFunction`.

    `static` has names or places of arguments whose numbers are always part of the signature.
    """
    if function is None:
        return functools.partial(jit, static=static, options=options)
    if not callable(function):
        raise DataError("jit", "this is not a function", got=type(function).__name__,
                        expected="a function of tensors")  # fmt: skip
    return JitFunction(function, static, options)
