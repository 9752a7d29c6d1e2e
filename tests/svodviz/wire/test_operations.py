"""Words about operations come from the compiler's tables; every drawn operation is looked up."""

from svodviz.wire.operations import operation_words


def words(*names: str) -> dict[str, str]:
    return operation_words([], [{"nodes": [{"op": name} for name in names]}])


def test_rows_of_the_tables_and_classes_are_quoted() -> None:
    from compiler.ops.table import OPS

    found = words("exp", "reduce sum", "reshape", "define_global", "no such operation")
    assert found["exp"].startswith(OPS["exp"].meaning)
    assert "folded by add" in found["reduce sum"]
    assert found["reshape"] and found["define_global"]
    assert "no such operation" not in found
