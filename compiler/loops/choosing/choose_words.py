"""Choices for sums of products of small types, by dot-product instructions on words.

    out[i0, i1] = Σ r2  int32(rows[i0, r2]) * int32(columns[r2, i1])      both of int8

The tiles are those of any product (`choose_products.py`), but an iteration of the sum is a word of
4 or 2 elements. The columns are packed so that the elements of a word are adjacent, for as many
columns as a vector has lanes; all of them share a word of a row. If words of rows are not
contiguous either, rows are packed too.

The machine model lists the pairs of types with such an instruction. x86 has one for unsigned by
signed integers: rows with the columns' type are shifted to the other, and the sums of columns
correct for it (`transforms/dot.py`). An instruction that multiplies only as many elements as a
vector has lanes of 32 bits takes as long: on an EPYC (Zen 4) all of vfmadd, vpdpbusd, vpdpwssd and
vdpbf16ps of 512 bits take 0.272 ns, so that bytes are at most 4 times as fast as float32 and
bfloat16 2 times. 1024³ takes 20.6 ms in float32, 10.5 in bfloat16, 10.7 in int16, 5.7 as uint8 by
int8 and 5.8 as int8 by int8, whose rows are shifted, with columns in order, and 20.4, 11.4, 11.4,
5.8 and 6.0 with the columns transposed (the same EPYC, one thread, least processor time of 16
interleaved runs, on a busy machine). 3×3 convolutions of bytes, 64 channels of 56² to 512 of 7²,
were 1.6 to 2.1 times as fast as float32's there, by processor time.
"""

from compiler.core.dtypes import DType, bfloat16
from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Form, chosen
from compiler.loops.choosing.accesses import Accesses, extents
from compiler.loops.choosing.choose_products import on_one_core, tiled
from compiler.loops.choosing.lanes import is_worth_threads, lane_count
from compiler.loops.choosing.product_plans import Words, plans
from compiler.loops.choosing.products import Product, product_of
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import obstacle
from compiler.machines.model import MachineModel
from compiler.ops.words import are_small, in_a_word

FEWEST = 4
"""The fewest rows for which packing the columns pays: each is read that often."""
SHORTEST = 4
"""The fewest words of a sum for which their layout pays: an estimate."""


def words(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Register tiles of sums of words, with packed columns."""
    if not model.dots:
        return Reason("the machine multiplies no words of small types")
    product = product_of(seen, is_any=True)
    if product is None:
        return Reason("it is no sum of products")
    in_words = _words(seen, product, model)
    if isinstance(in_words, Reason):
        return in_words
    against = obstacle(seen.order, product.columns, seen.needs)
    if against:
        return Reason(against)
    cores = model.cores if is_worth_threads(seen, model) else 1
    of = plans(product, lane_count(seen, model), cores, model, in_words)
    best = min(of, key=lambda plan: plan.cycles)
    rows = tiled(product, best, model, in_words)
    return chosen((*rows, *on_one_core(seen, best, cores, model)))


def _words(seen: Accesses, product: Product, model: MachineModel) -> Words | Reason:
    """The words of the sum, or the reason why there are none."""
    a, b = product.other.argument.element, product.panel.argument.element
    total = seen.reductions[0].dtype
    if not are_small(a, b, total):
        return Reason(f"no instruction sums products of {a} and {b} in {total}")
    form = _form(a, b, model)
    if form is None:
        return Reason(f"the machine multiplies no words of {a} and {b}")
    if product.zeros[1]:
        return Reason("the columns have a zero point")
    parts = in_a_word(a)
    fold = _fold(product, parts)
    if fold is None:
        trips = Number("trip count of the sum", extents(product.folded), "", "at least",
                       parts * SHORTEST)  # fmt: skip
        return Reason("the sum is too short for words, or not even", trips)
    if product.rows.extent < FEWEST:
        rows = Number("rows", product.rows.extent, "", "at least", FEWEST)
        return Reason("so few rows are not worth a copy of the columns", rows)
    is_in_order = product.other.step(fold) == 1
    if not is_in_order and product.is_open:
        return Reason("a variable number of rows cannot be copied")
    return Words(fold, parts, form, is_in_order)


def _form(a: DType, b: DType, model: MachineModel) -> Form | None:
    """The form of the instruction for factors of these types; None without."""
    if _kind(a, b) in model.dots:
        return "plain"
    is_byte = a.bits == 8
    other = "u8i8" if a.kind == b.kind else b.short
    return "shifted" if is_byte and other in model.dots else None


def _kind(a: DType, b: DType) -> str:
    """The name of the instruction for two types in machine models."""
    if a == bfloat16 or a.bits == 16:
        return a.short
    return a.short if a.kind == b.kind else "u8i8"


def _fold(product: Product, parts: int) -> Range | None:
    """The axis of the sum whose iterations are the elements of words."""
    if extents(product.folded) < parts * SHORTEST:
        return None
    long = [r for r in product.folded if r.extent >= parts]
    moved = [r for r in long if product.other.step(r) and product.panel.step(r)]
    in_order = [r for r in moved if product.other.step(r) == 1]
    return next(iter([*in_order[::-1], *moved[::-1]]), None)
