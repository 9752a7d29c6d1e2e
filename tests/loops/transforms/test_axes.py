"""The origins and numbers of nodes that a transform puts in the place of others."""

import pytest

from compiler.core.dtypes import float32
from compiler.core.trace import Provenance
from compiler.loops.nodes import ScalarNode, alu, const
from compiler.loops.transforms.axes import copied, inherit, next_number
from tests.loops.transformed import body_of

X, Y, Z = (const(value, float32) for value in (1.0, 2.0, 3.0))
OLD = alu("add", X, Y)


@pytest.mark.parametrize(("made", "is_same"), [
    (alu("add", X, Z), True),
    (alu("mul", X, alu("add", Y, Z)), True),
    (alu("neg", X), False),
    (const(4.0, float32), False),
], ids=["other operands", "new below it", "fewer operands", "another kind"])  # fmt: skip
def test_a_node_of_the_same_form_keeps_the_number(made: ScalarNode, is_same: bool) -> None:
    provenance: Provenance[str] = Provenance()
    for node in (X, Y):
        provenance.add(node, frozenset(("elsewhere",)))
    provenance.add(OLD, frozenset(("line",)))
    number = provenance.numbers[OLD]
    inherit(made, OLD, provenance)
    assert (provenance.numbers[made] == number) is is_same
    assert provenance.of(made) == {"line"}
    assert provenance.of(X) == {"elsewhere"}
    assert all(provenance.of(node) for node in made.sources)


def test_a_copy_has_a_number_of_its_own() -> None:
    provenance: Provenance[str] = Provenance()
    provenance.add(OLD, frozenset(("line",)))
    made = alu("add", Y, X)
    number = provenance.numbers[OLD]
    copied(made, OLD, provenance)
    assert provenance.of(made) == {"line"}
    assert provenance.numbers[made] != number


@pytest.mark.parametrize(("name", "count"), [("elementwise", 2), ("matmul", 3), ("bmm", 4)])
def test_the_next_number_is_that_of_no_axis(name: str, count: int) -> None:
    assert next_number(body_of(name, 4, 5, 6)) == count
