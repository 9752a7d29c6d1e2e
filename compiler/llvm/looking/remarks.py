"""LLVM's remarks about its decisions, in plain words: vectors, unrolling, registers.

LLVM's original sentence is kept next to ours. A remark without a translation stays as it is.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from compiler.llvm.writer import SourceLine

_NOT_DONE = "not vectorised"
PASSES = "loop-vectorize|slp-vectorizer|loop-unroll|regalloc|licm|prologepilog|asm-printer"
"""The passes whose remarks are asked for, as LLVM's options take it."""
_PRINTED = re.compile(r"remark: (?:[^:\s]*kernel\.ll|<unknown>):(\d+):\d+: (.*)")
_LOOP = re.compile(
    r"%(?P<name>\w+(?:\.\d+)*)\.(?P<n>\d+) = phi i64 .*%(?P=name)\.(?P=n)\.next\b"
    r"|br label %(?P<entered>\w+(?:\.\d+)*)\.\d+\.(?:body|head)\b"
)

Words: TypeAlias = str | Callable[["re.Match[str]"], str]


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence on line `line` of the generated IR (0: on all of it), in loop `loop` if known.

    `taken` is True if something was done, False if it was not, None for a mere observation.
    """

    words: str
    original: str
    line: int
    loop: str
    taken: bool | None

    def __str__(self) -> str:
        where = f"loop {self.loop}, line {self.line}" if self.loop else f"line {self.line}"
        mark = {True: "✓", False: "✗", None: "·"}[self.taken]
        return f"{mark} {where if self.line else 'kernel'}: {self.words}"


def is_remark(line: str) -> bool:
    """True if a line that LLVM printed is a remark."""
    return line.startswith("remark: ")


def remarks(printed: Sequence[str], rows: Sequence[SourceLine]) -> tuple[Remark, ...]:
    """The remarks among lines that LLVM printed, each once; `rows` is the generated IR."""
    unique: dict[Remark, None] = {}
    for line in printed:
        match = _PRINTED.match(line)
        number = int(match[1]) if match else 0
        if match and match[2] and not _IGNORED.search(match[2]):
            words, taken = in_words(match[2])
            if not number and taken is not None:
                continue  # about code that LLVM added itself
            unique[Remark(words, match[2], number, _loop_at(number, rows), taken)] = None
    explained = {it.line for it in unique if it.words.startswith(f"{_NOT_DONE}:")}
    kept = (it for it in unique if it.words != _NOT_DONE or it.line not in explained)
    return tuple(sorted(kept, key=lambda it: (it.taken is None, it.line)))


def _loop_at(line: int, rows: Sequence[SourceLine]) -> str:
    """The loop whose head or test is on a line, as the lowered program calls it."""
    match = _LOOP.search(rows[line - 1].text) if 0 < line <= len(rows) else None
    return (match["name"] or match["entered"]) if match else ""


def in_words(original: str) -> tuple[str, bool | None]:
    """A remark of LLVM in plain words, and whether something was done."""
    for pattern, words, taken in _TABLE:
        match = pattern.search(original)
        if match:
            return (words if isinstance(words, str) else words(match)), taken
    return f"LLVM says: {original}", None


def _vectorized(match: "re.Match[str]") -> str:
    width, count = match["width"], int(match["count"])
    if width.startswith("vscale"):
        each = width.rpartition(" ")[2]
        what = f"in vectors as long as the processor's, a multiple of {each} elements"
    else:
        what = f"{width} elements at a time"
    more = f", {count} such vectors in each iteration" if count > 1 else ""
    return f"vectorised by LLVM: {what}{more}"


def _not_vectorized(match: "re.Match[str]") -> str:
    reason = match["reason"].strip()
    reasons = (words for part, words in REASONS.items() if part in reason)
    return f"{_NOT_DONE}: {next(reasons, reason)}"


def _registers(match: "re.Match[str]") -> str:
    kinds = {
        "spills": "spills: values stored to the stack because registers ran out",
        "folded spills": "instructions with a folded spill (a store to the stack)",
        "reloads": "reloads of spilled values",
        "folded reloads": "instructions with a folded reload (a load from the stack)",
        "zero cost folded reloads": "reloads at no cost",
        "virtual registers copies": "copies between registers",
    }
    counted = re.findall(
        r"(\d+) (virtual registers copies|(?:zero cost )?folded reloads|folded spills|spills"
        r"|reloads)\b",
        match[0],
    )
    where = "in this loop" if "loop" in match[0] else "in the kernel"
    return f"{'; '.join(f'{n} {kinds[kind]}' for n, kind in counted)} ({where})"


REASONS = {
    "explicitly disabled": "it is already vectorised, or the remainder of a vectorised loop",
    "cost-model indicates": "by LLVM's cost model that would not be faster",
    "reorder floating-point": "floats would have to be added in another order",
    "return type cannot": "an instruction in it has no vector form",
    "instruction cannot be vectorized": "an instruction in it has no vector form",
    "induction variable could not": "LLVM found no induction variable with a constant step",
    "uncountable loop": "the trip count is not known before it begins",
    "number of loop iterations": "the trip count is not known before it begins",
    "control flow is not understood": "LLVM cannot handle its branches",
    "not be identified as reduction": "a value leaves it that is no reduction LLVM knows",
    "call instruction": "it calls a function that has no vector form",
    "array bounds": "the bounds of its accesses are not known",
    "unsafe dependent memory": "an iteration may read what an earlier one writes",
    "loop is not the innermost": "another loop is inside",
    "not in simplified form": "it is not in LLVM's simplified form",
    "optimization for size": "the code is optimised for size",
}
_IGNORED = re.compile(r"instruction count changed|^BasicBlock:|Instruction count changed")
_TABLE: tuple[tuple["re.Pattern[str]", Words, bool | None], ...] = tuple(
    (re.compile(pattern), words, taken)
    for pattern, words, taken in (
        (r"^vectorized (?:outer )?loop \(vectorization width: (?P<width>[^,]+), "
         r"interleaved count: (?P<count>\d+)\)", _vectorized, True),
        (r"^interleaved loop \(interleaved count: (\d+)\)",
         lambda m: f"{m[1]} iterations are interleaved, without vectors", True),
        (r"^loop not vectorized: (?P<reason>.*)", _not_vectorized, False),
        (r"^loop not vectorized$", _NOT_DONE, False),
        (r"cost-model indicates that interleaving is not beneficial",
         "not interleaved: more than one vector in each iteration would not be faster", None),
        (r"cost-model indicates that vectorization is not beneficial",
         "not vectorised: by LLVM's cost model that would not be faster", False),
        (r"^Vectorized horizontal reduction with cost (-?\d+)",
         lambda m: f"a reduction was vectorised (saves {_saved(m)})", True),
        (r"^(?:Stores )?SLP vectorized with cost (-?\d+)",
         lambda m: f"independent equal operations were combined into vectors (saves {_saved(m)})",
         True),
        (r"^(?:List vectorization was possible|Vectorizing horizontal reduction is possible).*"
         r"(?:not beneficial|cost)", "vectors were possible, but by LLVM's cost model not faster",
         False),
        (r"[Cc]annot SLP vectorize (?:list|type)", "not vectorised: no independent equal "
         "operations were found", False),
        (r"^completely unrolled loop with (\d+) iterations",
         lambda m: f"no loop is left: its {_iterations_were(int(m[1]))} written out", True),
        (r"^unrolled loop by a factor of (\d+)",
         lambda m: f"unrolled: {m[1]} iterations are written one after another", True),
        (r"^.*(?:spills|reloads|virtual registers copies).* generated in.*", _registers, None),
        (r"^hoisting (.*)", lambda m: f"hoisted out of the loop: {m[1]}", True),
        (r"^sinking (.*)", lambda m: f"sunk below the loop: {m[1]}", True),
        (r"failed to (?:move|hoist) (?:load|call)[^.]*(?:may|because)",
         "a load stays in the loop: the loop may overwrite its memory", False),
        (r"^(\d+) stack bytes in function", lambda m: f"{m[1]} bytes of the stack", None),
        (r"^(\d+) instructions in function",
         lambda m: f"{m[1]} instructions in the kernel", None),
    )
)  # fmt: skip


def _iterations_were(count: int) -> str:
    return "only iteration was" if count == 1 else f"{count} iterations were"


def _saved(match: "re.Match[str]") -> str:
    """The saving that LLVM prints as a negative cost."""
    saved = -int(match[1])
    return f"{saved} of LLVM's units of cost"
