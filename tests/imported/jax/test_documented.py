"""The topics of JAX's documentation as programs: by the interpreter, larger ones as machine
code."""

import pytest

from tests.imported.jax.case import Case, check
from tests.imported.jax.documented import TOPICS

CASES = [(topic, case) for topic, cases in TOPICS.items() for case in cases()]
COMPILED = "larger programs"


@pytest.mark.parametrize(("topic", "case"), CASES, ids=lambda it: getattr(it, "name", ""))
def test_as_in_jax(topic: str, case: Case) -> None:
    check(case, is_compiled=topic == COMPILED)
