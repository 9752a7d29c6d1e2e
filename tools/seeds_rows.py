"""What the seeds name in their graph and lowered IR, and what has that name here.

A row: the concept, where it is (`module:name`), and the test that runs it to machine code.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One concept: its name in the seed, ours, and the id of a test."""

    concept: str
    names: tuple[str, ...]
    test: str


@dataclass(frozen=True, slots=True)
class Section:
    """The concepts of one kind; `seed` is the heading of their column."""

    title: str
    seed: str
    rows: tuple[Row, ...]


def _kind(concept: str, name: str) -> Row:
    """A kind of node of the graph, run by the table of `tests/test_vocabulary.py`."""
    return Row(concept, (name,), f"tests/test_vocabulary.py::test_machine_code[{concept}]")


def _operation(concept: str, op: str, dtype: str = "f32") -> Row:
    """A row of the table of operations: run for each type, of which one is named."""
    test = f"test_every_operation_equals_its_reference[{op}-{dtype}-machine]"
    return Row(concept, (f"compiler.ops.table:OPS.{op}",), f"tests/test_operations.py::{test}")


def _reduction(concept: str, op: str) -> Row:
    """A row of the table of reductions, likewise."""
    test = f"test_every_reduction_equals_its_reference[(0,)-{op}-f32-machine]"
    where = f"compiler.ops.table:REDUCTIONS.{op}"
    return Row(concept, (where,), f"tests/test_operations.py::{test}")


def _instruction(concept: str, name: str, program: str) -> Row:
    """A lowered instruction, in a program written by hand that LLVM compiles."""
    test = f"tests/llvm/test_instructions.py::test_agrees_with_numpy[{program}-3]"
    return Row(concept, (f"compiler.lowered.{name}",), test)


SECTIONS = (
    Section("Node kinds of the graph", "seeds 000, 001: node", (
        _kind("Buffer", "compiler.graph.nodes:Buffer"),
        _kind("Buffer_View", "compiler.graph.kinds.views:BufferView"),
        _kind("Placeholder", "compiler.graph.kinds.markers:Placeholder"),
        _kind("Const_Scalar", "compiler.graph.nodes:Const"),
        _kind("Vconst", "compiler.graph.kinds.vectors:VConst"),
        _kind("Binop", "compiler.graph.nodes:Elementwise"),
        _kind("Unary", "compiler.graph.nodes:Elementwise"),
        _kind("Ternary", "compiler.graph.nodes:Elementwise"),
        _kind("View", "compiler.graph.kinds.views:View"),
        _kind("Reshape", "compiler.graph.nodes:Reshape"),
        _kind("Permute", "compiler.graph.nodes:Permute"),
        _kind("Expand", "compiler.graph.nodes:Expand"),
        _kind("Pad", "compiler.graph.nodes:Pad"),
        _kind("Shrink", "compiler.graph.nodes:Shrink"),
        _kind("Flip", "compiler.graph.nodes:Flip"),
        _kind("Reduce_Axis", "compiler.graph.nodes:Reduce"),
        _kind("Valid", "compiler.graph.kinds.views:Valid"),
        _kind("Index", "compiler.graph.nodes:Index"),
        _kind("Gep", "compiler.graph.kinds.vectors:Gep"),
        _kind("Vectorize", "compiler.graph.kinds.vectors:Vectorize"),
        _kind("Wmma", "compiler.graph.kinds.vectors:Wmma"),
        _kind("Cast", "compiler.graph.nodes:Cast"),
        _kind("Bitcast", "compiler.graph.nodes:Bitcast"),
        _kind("Contiguous", "compiler.graph.nodes:Contiguous"),
        _kind("Copy", "compiler.graph.kinds.placement:Copy"),
        _kind("Assign", "compiler.graph.kinds.effects:Assign"),
        _kind("Define_Var", "compiler.graph.nodes:Variable"),
        _kind("Bind", "compiler.graph.nodes:Bind"),
        _kind("Detach", "compiler.graph.kinds.markers:Detach"),
        _kind("Contiguous_Backward", "compiler.graph.kinds.markers:ContiguousBackward"),
        _kind("Sink", "compiler.graph.nodes:Sink"),
        _kind("Kernel", "compiler.graph.kinds.kernel:Kernel"),
        _kind("Unique", "compiler.graph.kinds.placement:Unique"),
        _kind("Device", "compiler.graph.kinds.placement:Device"),
        _kind("Multi", "compiler.graph.kinds.placement:Multi"),
        _kind("Fuse", "compiler.graph.kinds.markers:Fuse"),
        _kind("Unroll", "compiler.graph.kinds.markers:Unroll"),
        _kind("Contract", "compiler.graph.kinds.joins:Contract"),
        _kind("Cat", "compiler.graph.kinds.joins:Cat"),
        _kind("Threefry", "compiler.graph.nodes:Threefry"),
        _kind("Gather", "compiler.graph.kinds.joins:Gather"),
        _kind("Scatter", "compiler.graph.kinds.joins:ScatterAxis"),
        _kind("Custom", "compiler.graph.kinds.effects:Custom"),
        _kind("Noop", "compiler.graph.kinds.markers:Noop"),
    )),
    Section("Binary operations", "seeds 000, 001: binop_kind", (
        _operation("Add", "add"),
        _operation("Mul", "mul"),
        _operation("Sub", "sub"),
        _operation("Div", "fdiv"),
        _operation("Idiv", "idiv", "i32"),
        _operation("Fdiv", "fdiv"),
        _operation("Mod", "mod", "i32"),
        _operation("Pow", "pow"),
        _operation("Max", "max"),
        _operation("Min", "min"),
        _operation("Cmplt", "lt"),
        _operation("Cmpne", "ne"),
        _operation("Xor", "xor", "i32"),
        _operation("Or", "or", "i32"),
        _operation("And", "and", "i32"),
        _operation("Shl", "shl", "i32"),
        _operation("Shr", "shr", "i32"),
    )),
    Section("Unary operations", "seeds 000, 001: unary_op_kind", (
        _operation("Neg", "neg"),
        _operation("Log2", "log2"),
        _operation("Exp2", "exp2"),
        _operation("Sin", "sin"),
        _operation("Sqrt", "sqrt"),
        _operation("Recip", "recip"),
    )),
    Section("Ternary operations", "seeds 000, 001: ternary_op_kind", (
        _operation("Where", "where"),
        _operation("Mulacc", "mulacc"),
    )),
    Section("Reductions", "seeds 000, 001: reduce_op_kind", (
        _reduction("Reduce_Sum", "sum"),
        _reduction("Reduce_Max", "max"),
        _reduction("Reduce_Prod", "prod"),
    )),
    Section("Lowered instructions", "seeds 000, 001: Lowered", (
        _instruction("L_Buffer", "machine:Buffer", "buffer_between_loops"),
        _instruction("L_Local", "machine:Local", "local_in_a_loop"),
        _instruction("L_Acc", "instructions:Acc", "vector_accumulator"),
        _instruction("L_Define_Global", "instructions:DefineGlobal", "product_of_tiles"),
        _instruction("L_Const", "instructions:Const", "variables"),
        _instruction("L_Vconst", "machine:VConst", "vector_constants"),
        _instruction("L_Special", "machine:Special", "variables"),
        _instruction("L_Define_Var", "machine:DefineVar", "variables"),
        _instruction("L_Range", "instructions:Range", "nested_ifs_with_loops"),
        _instruction("L_EndRange", "instructions:EndRange", "nested_ifs_with_loops"),
        _instruction("L_If", "machine:If", "an_if_guards_memory"),
        _instruction("L_EndIf", "machine:EndIf", "if_carries_accumulators"),
        _instruction("L_Barrier", "machine:Barrier", "markers"),
        _instruction("L_Block", "machine:Block", "markers"),
        _instruction("L_Unroll", "machine:Unroll", "vector_accumulator"),
        _instruction("L_Load", "instructions:Load", "masked_vectors"),
        _instruction("L_Store", "instructions:Store", "masked_vectors"),
        _instruction("L_ALU", "instructions:Alu", "if_carries_accumulators"),
        _instruction("L_Gep", "machine:Gep", "lanes_joined_and_taken"),
        _instruction("L_Vectorize", "machine:Vectorize", "lanes_joined_and_taken"),
        _instruction("L_Ptrcat", "machine:PtrCat", "gather_through_pointers"),
        _instruction("L_Wmma", "machine:Wmma", "product_of_tiles"),
        _instruction("L_Cast", "instructions:Cast", "converted_vectors"),
        _instruction("L_Bitcast", "instructions:Bitcast", "converted_vectors"),
        _instruction("L_Assign", "instructions:Assign", "if_carries_accumulators"),
        _instruction("L_Custom, a statement", "machine:Custom", "custom_statement"),
        _instruction("L_Custom, inline", "machine:Custom", "custom_inline"),
        _instruction("L_Noop", "machine:Noop", "markers"),
    )),
)  # fmt: skip
