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
"""Calls in a row that change state in Python before a function is captured no more: the first one
may make what later ones only read."""
OFTEN = 16
"""Captures of one signature after which there are no more, where that was most of its calls."""
KEPT = 64
"""Captures of one function, least recently used first out."""


_NONE: frozenset[int] = frozenset()
VARIANTS = 4
"""Captures of one signature that differ in what stood around the function, as a network that
learns and one that does not; the last one is tried first."""


class NotCapturedWarning(UserWarning):
    """A function is called as without `jit`, since it reads or writes state that cannot be
    compared."""


class JitInfo(NamedTuple):
    """How often a function was captured and replayed, how many captures there are, and why it was
    captured, each reason with a count."""

    captures: int
    replays: int
    kept: int
    reasons: dict[str, int]


class JitFunction:
    """A function of tensors, captured once for each signature: call it as the function.

    The signature is the shapes, types, places and variables of tensors and arrays, how they are
    arranged, and everything else by value. A Python number is part of it until it was another one
    in a call that is equal otherwise. From then on Python computes with it in each call, and
    the results are inputs of the program; where the function decides by it (`if`, an index, a key,
    text), it is captured for each answer. In a function that calls `type`, numbers are always part
    of the signature. Slices, sets and instances of dataclasses are known by what they have, tensors
    in them and other objects as the very ones. Truth values that the function asks for (`x[mask]`,
    `if flag`) are known by their elements.
    A tensor from around the function is read where it is; one that the function assigns is written
    in place. What it returns of these and of its arguments is the very tensor. State in Python
    that it may read (globals, closures, attributes, lists, arrays, the mode of a network) is
    compared before each call, as the table in `surroundings.py` says; where it changed, the
    function is captured again. A function that reads state which cannot be compared (a file, the
    time, Python's random numbers), or that writes state in Python (a counter, a list), is called
    as without `jit`, with a `NotCapturedWarning`; so is one that changes a list or dictionary that
    it is given, or returns an object that it makes. Random numbers of the compiler are new in each
    call. Text that the function prints is printed when it is captured.

    Each `grad` that the function reads is the one that is there in this call, and each that it sets
    is there afterwards. Gradients go through its results as without `jit`. Where a derivative
    inside would go on through the history of an argument, the function is called as it is. Raises
    `JitError` where it asks for values, and for arguments that share memory with what it writes.

    Threads may call it at once. While one calls the function to capture it, others that call it,
    or read a tensor which it has assigned, wait until it has returned: what it changed is undone
    before it is replayed, and nobody may see that. So a lock that such a thread may hold is not to
    be taken inside, where both would wait for ever: take it around the call. A replay takes no
    locks of the function's.
    """

    def __init__(
        self, function: Callable[..., Any], static: Iterable[str | int] = (),
        options: Options | None = None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, function)  # first: of a captured one it copies all
        self.function = function
        self.static = _static(function, static)
        self.options = options or USUAL
        self._lock = forking.lock()
        self._kept: OrderedDict[Hashable, list[Captured]] = OrderedDict()
        self._moving: dict[Hashable, frozenset[int]] = {}
        self._numbers: dict[Hashable, tuple[Any, ...]] = {}
        self._fixed: dict[Hashable, frozenset[int]] = {}
        """The places of numbers that the function decides by."""
        self._known: dict[Hashable, frozenset[int]] = {}
        """The places of truth values that it asks for."""
        self._last: tuple[Hashable, Captured] | None = None
        """The capture that served last, where the call had no numbers, with its signature."""
        self._captures = self._replays = 0
        self._reasons: dict[str, int] = {}
        self._open: dict[Hashable, str] = {}
        """Signatures that are not captured, with the reason."""
        self._writes: dict[Hashable, int] = {}
        """How often in a row a call of a signature changed state in Python."""
        self._count: dict[Hashable, int] = {}
        """How often each signature was captured."""

    def __get__(self, instance: object, owner: type) -> Any:
        """As a method: captured for each object apart, by its identity."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **given: Any) -> Any:
        """The result of the function, computed."""
        call = arguments.in_memory(args, given)
        if watching.current() or (call is None and arguments.is_differentiated((args, given))):
            return self.function(*args, **given)  # a part of what is captured, or differentiated
        call = call or arguments.read(args, given, self.static)
        is_captured = True
        while is_captured:
            with self._lock:
                captured = self._captured(call)
                is_captured = captured is not None and captured.serves(call)
                found = captured.run(call) if captured is not None and is_captured else None
                if found is not None or not is_captured:
                    self._replays += 1
            if found is not None:
                return found[0]
            if is_captured:
                running.wait()  # without the lock: who is waited for may call this function
        own, before = arguments.as_given(call), arguments.as_given(call)
        result = _computed(self.function(*own[0], **own[1]))
        if not arguments.is_same_tree(own, before):
            raise JitError("jit", "a list or dictionary of arrays that is given is changed",
                           expected="tensors in it, which change as without jit")  # fmt: skip
        return result

    def compilation(self, *args: Any, **given: Any) -> Any:
        """The `Compilation` of the program for these arguments, which nothing runs."""
        call = arguments.read(args, given, self.static)
        with self._lock:
            captured = self._captured(call)
        if captured is None:
            raise JitError("jit", "this function is not captured", got=self._open[_kind(call)],
                           expected="a function that can be replayed")  # fmt: skip
        return captured.compilation()

    def cache_info(self) -> JitInfo:
        """How often it was captured and replayed, and why captured."""
        kept = sum(map(len, self._kept.values()))
        return JitInfo(self._captures, self._replays, kept, dict(self._reasons))

    def cache_clear(self) -> None:
        """Forget all captures; counts stay."""
        with self._lock:
            self._kept.clear()
            self._open.clear()
            self._writes.clear()
            self._count.clear()
            self._known.clear()
            self._last = None

    def _captured(self, call: Call) -> Captured | None:
        """The program that serves this call; None where the function is called as it is."""
        kind = key = _kind(call)
        if self._open and kind in self._open:
            return None
        known_places = self._known.get(kind, _NONE) if self._known else _NONE
        if known_places:
            key = call.key(frozenset(call.numbers), known_places)
        # equal parts are mostly the same objects: to compare them is quicker than to hash them
        if self._last is not None and key == self._last[0] and not self._last[1].stale(call):
            return self._last[1]
        moving = frozenset[int]()
        if call.numbers:
            moving = self._moving_in(call, kind)
            key = call.key(moving, known_places)
        why = ""
        known = self._kept.get(key, [])
        for each in tuple(known):
            now = each.stale(call)
            if not now:
                self._kept.move_to_end(key)
                self._last = None if call.numbers else (key, each)
                return each
            why = why or now
            if now.startswith(ANOTHER):
                known.remove(each)
        if why == DECIDES and len(known) >= VARIANTS:
            self._fix(kind, known[-1].asked)
            return self._captured(call)
        why = why or ("another signature" if self._captures else "the first call")
        try:
            made = self._capture(call, kind, moving)
        except Unguarded as reason:
            self._leave_open(kind, str(reason))
            return None
        except NotCapturedError as reason:
            self._leave_open(kind, str(reason), reason.hint)
            return None
        if made.wrote:
            self._writes[kind] = self._writes.get(kind, 0) + 1
            if self._writes[kind] >= WRITES:
                self._leave_open(kind, f"it writes state in Python: {made.wrote}")
            return made
        self._writes.pop(kind, None)
        self._captures += 1
        self._count[kind] = self._count.get(kind, 0) + 1
        if self._count[kind] >= OFTEN and self._count[kind] * 4 > self._replays:
            self._leave_open(kind, f"it is captured again in most calls: {why}")
        self._reasons[why] = self._reasons.get(why, 0) + 1
        variants = self._kept.setdefault(call.key(made.moving, made.known), [])
        variants[:] = [made, *variants[: VARIANTS - 1]]
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return made

    def _leave_open(
        self, kind: Hashable, reason: str,
        hint: str = "pass what it reads as an argument, or keep it in a tensor",
    ) -> None:  # fmt: skip
        """From now on the function is called as it is for this signature."""
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
        """The places of numbers that were others in calls of the same kind."""
        now = tuple(token(call.leaves[place]) for place in call.numbers)
        before = self._numbers.setdefault(kind, now)
        moved = self._moving.get(kind, frozenset())
        if before != now:
            pairs = zip(call.numbers, before, now, strict=True)
            moved |= {place for place, old, new in pairs if old != new}
            self._moving[kind] = moved
        if kind in self._writes:  # it may be called twice to be captured, as in `_capture`
            return frozenset()
        return moved - self._fixed.get(kind, frozenset())

    def _fix(self, kind: Hashable, places: frozenset[int]) -> None:
        """From now on these numbers are part of the signature."""
        self._fixed[kind] = self._fixed.get(kind, frozenset()) | places

    def _capture(self, call: Call, kind: Hashable, moving: frozenset[int]) -> Captured:
        """The capture of a call. Where the compiler itself needs a number, or something fails that
        may only take plain numbers, these are fixed and the function is called again."""
        left, known = moving, self._known.get(kind, _NONE)
        while True:
            try:
                made = Captured(self.function, call, left, self.options, known)
                break
            except NumberIsFixed as fixed:
                left -= fixed.places
                known |= fixed.places.difference(call.numbers)
            except (Unguarded, NotCapturedError):
                raise
            except Exception:
                if not left:
                    raise
                left = frozenset()
        self._fix(kind, moving - made.moving)
        if known:
            self._known[kind] = known
        return made

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        why = ", ".join(f"{count} × {reason}" for reason, count in self._reasons.items())
        kernels = [each.kernels for variants in self._kept.values() for each in variants]
        return (
            f"jit({name}): {self._captures} captures ({why or 'none yet'}), "
            f"{self._replays} calls; items {kernels}"
        )


def _kind(call: Call) -> Hashable:
    """The signature of a call, whatever its numbers are."""
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
    """Names of arguments and their places: each of them may be given either way."""
    parameters = list(inspect.signature(function).parameters)
    found: list[str | int] = []
    for name in (names,) if isinstance(names, str | int) else names:
        place = parameters.index(name) if name in parameters else name
        if not isinstance(place, int) or not 0 <= place < len(parameters):
            raise DataError("jit", "there is no such argument", got=repr(name),
                            expected=", ".join(parameters))  # fmt: skip
        found += (place, parameters[place])
    return tuple(found)


@located
def jit(
    function: Callable[..., Any] | None = None, *, static: Iterable[str | int] = (),
    options: Options | None = None,
) -> Any:  # fmt: skip
    """`function` captured once for each signature and replayed from then on: `JitFunction`.

    `static` names arguments, or their places, whose numbers are always part of the signature.
    """
    if function is None:
        return functools.partial(jit, static=static, options=options)
    if not callable(function):
        raise DataError("jit", "this is not a function", got=type(function).__name__,
                        expected="a function of tensors")  # fmt: skip
    return JitFunction(function, static, options)
