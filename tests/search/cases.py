"""One case of the search: a program, its kernels, what is chosen for them, and some of them run.

A case is named by the seed of the search and a number, `7.1234`: that makes the program, the
machines, the data and what is run. Everything that goes wrong in it is a failure, with a text that
repeats it.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compiler import Tensor
from compiler.core import dtypes
from compiler.core.origin import no_origin
from compiler.graph.nodes import Sink
from compiler.loops.choices import text
from compiler.loops.nodes import Body
from tests.loops import guarded
from tests.search import running
from tests.search.choosing import (
    Chosen,
    Machine,
    bodies,
    chosen,
    described,
    digest,
    every_machine,
    machines,
    plain_loops,
)
from tests.search.exactness import rounding, settled
from tests.search.families import SHARES, Drawn, drawn
from tests.search.terms import INPUT, program

Key = tuple[str, int, int, str]
"""A family, the bytes of a vector, those of an element, and what was done."""
CHOSEN, PLAIN, RUN, ROUNDED = "chosen", "left plain", "run", "run, rounded"


@dataclass(frozen=True)
class Failure:
    """A failure: its words, and how to see it again."""

    case: str
    text: str
    where: str
    error: str

    def __str__(self) -> str:
        return f"{self.error}\n    {self.text}\n    {self.where}\n    --only {self.case}"


@dataclass
class Outcome:
    """The outcome of some cases."""

    counts: Counter[Key] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    kernels: set[bytes] = field(default_factory=set)
    programs: int = 0
    slowest: tuple[float, str] = (0.0, "none")
    """Seconds of one processor that a case took at most, and its name."""

    def total(self, *what: str) -> int:
        """How often something was done."""
        return sum(count for key, count in self.counts.items() if key[-1] in what)

    def add(self, other: "Outcome") -> None:
        """With what came out of others."""
        self.counts += other.counts
        self.failures += other.failures
        self.kernels |= other.kernels
        self.programs += other.programs
        self.slowest = max(self.slowest, other.slowest)


@dataclass(frozen=True)
class Case:
    """One program of a search."""

    seed: int
    number: int
    run_share: float = 1.0
    """How many of the kernels that are small enough are run."""

    @property
    def name(self) -> str:
        """The name that repeats it."""
        return f"{self.seed}.{self.number}"

    @property
    def program(self) -> Drawn:
        """The program, the same at each time."""
        return drawn(SHARES[self.number % len(SHARES)], self.name)


def case_of(name: str) -> Case:
    """The case of this name, all of it run."""
    seed, _, number = name.partition(".")
    return Case(int(seed), int(number))


def tried(case: Case, known: set[bytes]) -> Outcome:
    """The case tried; kernels that are `known` are left out, new ones are known from then on."""
    made, start = Outcome(programs=1), time.process_time()
    try:
        with no_origin():
            drawn_now = case.program
    except Exception as error:
        failure = Failure(
            case.name, "no program", SHARES[case.number % len(SHARES)], described(error)
        )
        made.failures.append(failure)
        return made
    subject = _Subject(
        drawn_now.family, drawn_now.text, drawn_now.dtype, drawn_now.is_small, case.name, made
    )
    _try_kernels(subject, drawn_now.term.tensor, case, known)
    made.slowest = time.process_time() - start, case.name
    return made


def tried_text(written: str) -> Outcome:
    """The same for the text of a program: all its kernels, on every machine."""
    made = Outcome(programs=1)
    with no_origin():
        tensor = program(written)
    subject = _Subject(
        "as written", written, tensor.dtype.name, _is_little(written), "as written", made
    )
    _try_kernels(subject, tensor, Case(0, 0), set(), every_machine())
    return made


def _is_little(written: str) -> bool:
    """True if the inputs are small enough to run the program."""
    shapes = (found[4] for found in INPUT.finditer(written))
    return all(math.prod(map(int, filter(None, s.split(", ")))) <= 20_000 for s in shapes)


@dataclass(frozen=True)
class _Subject:
    """The program that is tried, and where its outcome is put."""

    family: str
    text: str
    dtype: str
    is_small: bool
    case: str
    outcome: Outcome

    def failed(self, where: str, error: str) -> None:
        self.outcome.failures.append(Failure(self.case, self.text, where, error))

    def count(self, vector_bytes: int, what: str) -> None:
        width = dtypes.parse(self.dtype).itemsize
        self.outcome.counts[self.family, vector_bytes, width, what] += 1


def _try_kernels(
    subject: _Subject, tensor: Tensor, case: Case, known: set[bytes], wanted: Sequence[Machine] = ()
) -> None:
    """Each kernel of a program, on the machines wanted, or else on three at random."""
    source = random.Random(f"machines {case.name}")
    try:
        found = bodies(tensor)
    except Exception as error:
        subject.failed("its kernels", described(error))
        return
    for place, body in enumerate(found):
        name = digest(body)
        if name in known:
            continue
        known.add(name)
        subject.outcome.kernels.add(name)
        try:
            on = wanted or machines(source)
            is_due = subject.is_small and source.random() < case.run_share
            _try_kernel(subject, body, on, f"data {case.name} {place}" if is_due else "")
        except Exception as error:
            subject.failed(f"kernel {place}", described(error))


def _try_kernel(subject: _Subject, body: Sink, on: Sequence[Machine], seed: str) -> None:
    """One kernel on each machine; run, on data of `seed`, where there is a seed."""
    plain = plain_loops(body)
    made: list[Chosen] = []
    for each in chosen(plain, on):
        is_plain = each.loops is plain
        subject.count(each.machine.vector_bytes, PLAIN if is_plain else CHOSEN)
        if each.error:
            subject.failed(_where(each), each.error)
        elif not is_plain and all(each.loops is not other.loops for other in made):
            made.append(each)
    if made and seed and settled(plain) != "open":
        _run(subject, body, plain, made, random.Random(seed))


def _run(
    subject: _Subject, body: Sink, plain: Body, made: list[Chosen], source: random.Random
) -> None:
    """Every different form of a kernel, against its plain loops."""
    how, level = settled(plain), source.choice((0, 0, 0, 2))
    values = running.arguments(plain, source.getrandbits(32))
    given = running.variables(body, source)
    expected = guarded.run(running.machine_code(body, plain, 0), values, "right", given)
    for each in made:
        assert each.loops is not None
        side = source.choice(("left", "right"))
        try:
            code = running.machine_code(body, each.loops, level)
            wrong = running.difference(
                guarded.run(code, values, side, given), expected, how, rounding(plain)
            )
        except Exception as error:
            wrong = described(error)
        subject.count(each.machine.vector_bytes, RUN if how == "exact" else ROUNDED)
        if wrong:
            how_run = f"LLVM at level {level}, memory {side}, {given or 'no variables'}"
            subject.failed(f"{_where(each)}; {how_run}", wrong)


def _where(each: Chosen) -> str:
    return f"{each.machine}: {text(each.choices) or 'nothing chosen'}"


def cases(seed: int, first: int, step: int, run_share: float) -> Iterator[Case]:
    """Every case of a search whose number is `first`, `first + step`, …"""
    number = first
    while True:
        yield Case(seed, number, run_share)
        number += step
