"""Explorers that follow the notebook: after each cell, what a name is bound to is looked at.

    explore(f, x)               the explorer knows that its program is called f
    def f(x): …                 another cell, or the same again: f is another function
    → the explorer compiles it, and shows the next revision

Nothing is executed here but the user's own function, by name, as `explore` did it. What a page
sends is never looked at.
"""

import builtins
import inspect
import linecache
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from IPython import get_ipython

from compiler.core.origin import caller, users_lines
from svodviz.foundation.escape import visible
from svodviz.foundation.subject import compilation_of, is_explorable
from svodviz.widget.cells import cell_id, run_id

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import pages

MOST_WATCHED = 500
"""Functions and values that one program is watched by at most: a choice."""
MOST_FOLLOWERS = 12
"""Explorers that follow at once, those last opened: each makes its own page. A choice."""
Names: TypeAlias = tuple[str, ...]
Watched: TypeAlias = "dict[str, object]"


class Follower(Protocol):
    """An explorer that follows."""

    def follow(self, compilation: "Compilation") -> object:
        """Shows a compilation as the next revision."""

    def stumble(self, problem: "pages.Problem | None") -> None:
        """Shows why there is no next revision; None: no reason any more."""


@dataclass(frozen=True)
class Cell:
    """The call of `explore` that made an explorer: which one of a run of which cell."""

    id: str
    run: str
    call: int


@dataclass(frozen=True, eq=False)
class Program:
    """The arguments of an explore call, and the names that its parts were bound to."""

    subject: object
    inputs: tuple[object, ...]
    names: Names
    input_names: tuple[Names, ...]
    cell: Cell | None
    state: Mapping[str, object]
    call: str = ""
    """The file of the call of `explore`, where it is no part of the program itself."""
    watched: Watched = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The file that its function is written in; "" of what is no function."""
        function = inspect.unwrap(self.subject) if callable(self.subject) else None
        return function.__code__.co_filename if isinstance(function, FunctionType) else ""

    def now(self, namespace: Mapping[str, object]) -> "Program":
        """The same names with what they are bound to now."""
        bound = (namespace.get(it) for it in self.names)
        other = next((it for it in bound if it is not self.subject and may_follow(it)), None)
        subject = self.subject if other is None else other
        inputs = tuple(
            next((namespace[it] for it in names if it in namespace), value)
            for names, value in zip(self.input_names, self.inputs, strict=True)
        )
        # Of several names, the one that was bound anew is followed from now on.
        names = tuple(it for it in self.names if namespace.get(it) is subject) or self.names
        return replace(self, subject=subject, inputs=inputs, names=names,
                       watched=watched(subject, inputs, namespace))  # fmt: skip


def may_follow(value: object) -> bool:
    """True if a value can be the next revision of a program."""
    return is_explorable(value) or callable(value)


# -- which programs differ -------------------------------------------------------------------------


@dataclass(frozen=True)
class Itself:
    """A value that is compared by what it is, not by what it equals: tensors compare elements."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def watched(
    subject: object, inputs: tuple[object, ...], namespace: Mapping[str, object]
) -> Watched:
    """Everything that distinguishes a program: its functions with their text, values they read."""
    objects: Watched = {f"input {number}": Itself(it) for number, it in enumerate(inputs)}
    if is_explorable(subject) or not callable(subject):
        objects[""] = Itself(subject)
    else:
        _watch("", inspect.unwrap(subject), namespace, objects)
    return objects


def _watch(path: str, value: object, namespace: Mapping[str, object], objects: Watched) -> None:
    if path in objects or len(objects) >= MOST_WATCHED:
        return
    if not isinstance(value, FunctionType):
        objects[path] = _token(value)
        return
    code = value.__code__
    is_users = value.__globals__ is namespace
    # Comments say something too: the page shows them, and finds the cell by them.
    text = tuple(linecache.getlines(code.co_filename)) if is_users else ()
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    objects[path] = (code, text, tuple(map(_token, defaults)))
    if not is_users:
        return
    for name in _names(code):
        if name in namespace and not hasattr(builtins, name):
            _watch(name, namespace[name], namespace, objects)
    for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
        try:
            _watch(f"{path}.{name}", cell.cell_contents, namespace, objects)
        except ValueError:
            continue  # it is not filled yet


def _token(value: object) -> object:
    """A key of a value: equal for two values only if they are the same to a program."""
    is_plain = isinstance(value, str | int | float | complex | bool | None)
    return (type(value), repr(value)) if is_plain else Itself(value)


def _names(code: CodeType) -> Iterator[str]:
    """The global names, and those of attributes, that a function and those inside it read."""
    yield from code.co_names
    for inside in code.co_consts:
        if isinstance(inside, CodeType):
            yield from _names(inside)


Made: TypeAlias = "dict[tuple[Itself, ...], Compilation | Exception]"

# -- who follows what ------------------------------------------------------------------------------

_programs: "weakref.WeakKeyDictionary[Any, Program]" = weakref.WeakKeyDictionary()
_shells: "weakref.WeakSet[Any]" = weakref.WeakSet()
_calls: tuple[str, int] = ("", 0)


def program_of(subject: object, inputs: tuple[object, ...], **state: object) -> Program | None:
    """The program of an `explore` call; None where there is no notebook to follow."""
    shell = get_ipython()
    if shell is None:
        return None
    namespace = shell.user_ns
    names = _bound(subject, namespace)
    program = Program(subject, inputs, names, tuple(_bound(it, namespace) for it in inputs),
                      _cell(shell), state, watched=watched(subject, inputs, namespace))  # fmt: skip
    call = caller("explore").file
    if program.file and program.file != call:
        program = replace(program, call=call)
    return program if names or program.cell else None


def _bound(value: object, namespace: Mapping[str, object]) -> Names:
    """The names of the user's that a value is bound to."""
    return tuple(it for it, bound in namespace.items() if bound is value and it[:1] != "_")


def _cell(shell: object) -> Cell | None:
    """This call of `explore`, where the front end says in which cell we are."""
    global _calls
    id, run = cell_id(shell), run_id(shell)
    if not id:
        return None
    _calls = (run, _calls[1] + 1 if _calls[0] == run else 0)
    return Cell(id, run, _calls[1])


def follow(explorer: Follower, program: Program) -> Program | None:
    """From now on an explorer shows what the names of its program are bound to.

    Returns the program that it followed before, if it did. Where the front end does not say which
    cell runs, one that follows the same is taken for that of an earlier run, and follows no more.
    """
    shell = get_ipython()
    before = _programs.pop(explorer, None)
    if program.cell is None:
        names = (program.names, program.input_names)
        same = [it for it, other in _programs.items()
                if other.cell is None and (other.names, other.input_names) == names]  # fmt: skip
        for earlier_one in same:
            leave(earlier_one)
    for oldest in list(_programs)[: max(0, len(_programs) + 1 - MOST_FOLLOWERS)]:
        leave(oldest)
    _programs[explorer] = program
    if shell is not None and shell not in _shells:
        _shells.add(shell)
        shell.events.register("post_run_cell", after_cell)
    return before


def leave(explorer: object) -> None:
    """An explorer follows no more; where none does, cells are not looked at."""
    _programs.pop(explorer, None)
    if _programs:
        return
    for shell in list(_shells):
        _shells.discard(shell)
        shell.events.unregister("post_run_cell", after_cell)


def program_followed(explorer: object) -> Program | None:
    """The program that an explorer follows."""
    return _programs.get(explorer)


def earlier(program: Program) -> Any:
    """The explorer that the same call in the same cell made when it ran before, or None.

    One that was made there under other names is in the page no more: it follows nothing any more.
    """
    if program.cell is None:
        return None
    for explorer, other in list(_programs.items()):
        if other.cell is None or other.cell.run == program.cell.run:
            continue
        if (other.cell.id, other.cell.call) != (program.cell.id, program.cell.call):
            continue
        if other.names == program.names:
            return explorer
        leave(explorer)
    return None


def after_cell(*_: object) -> None:
    """Every explorer whose program is another one now shows that."""
    shell = get_ipython()
    if shell is None:
        return
    compiled: Made = {}
    for explorer, program in list(_programs.items()):
        try:
            _look(explorer, program, shell.user_ns, compiled)
        except KeyboardInterrupt:
            explorer.stumble({"words": "interrupted", "place": "", "text": ""})
            return


def _look(
    explorer: Follower, program: Program, namespace: Mapping[str, object], compiled: Made
) -> None:
    now = program.now(namespace)
    if not program.names or now.watched == program.watched:
        return
    compilation = _compiled(now, compiled)
    # Looked at again: a function may bind names while it runs.
    _programs[explorer] = now.now(namespace)
    if isinstance(compilation, Exception):
        explorer.stumble(problem_of(compilation))
    else:
        explorer.follow(compilation)


def _compiled(program: Program, compiled: Made) -> "Compilation | Exception":
    """The compilation of a program, or why there is none; once for all that follow the same."""
    parts = tuple(map(Itself, (program.subject, *program.inputs)))
    if parts not in compiled:
        try:
            compiled[parts] = compilation_of(program.subject, *program.inputs)
        except Exception as error:
            compiled[parts] = error
    return compiled[parts]


def problem_of(error: BaseException) -> "pages.Problem":
    """An error with the line of the user's program that it came from."""
    lines = users_lines(error.__traceback__)
    origin = getattr(error, "origin", None) or (lines[-1] if lines else None)
    return {
        "words": "\n".join(map(visible, f"{type(error).__name__}: {error}".splitlines())),
        "place": visible(origin.place) if origin else "",
        "text": visible(origin.text) if origin else "",
    }
