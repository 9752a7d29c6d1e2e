"""One kernel for several calls: the page says for each where it reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state

pytestmark = pytest.mark.browser


def heads() -> Any:
    """Scores of three heads, written as a loop over them."""
    q = Tensor(np.ones((8, 12), np.float32), name="q")
    k = Tensor(np.ones((8, 12), np.float32), name="k")
    parts = [slice(n, n + 4) for n in (0, 4, 8)]
    return compile([q[:, part] @ k[:, part].T for part in parts])


@pytest.fixture(scope="module")
def heads_page(exported: Exported) -> Path:
    return exported(Explorer(heads()))


def test_each_item_says_where_it_reads(open_page: Open, heads_page: Path) -> None:
    page = open_page(heads_page)
    for item, begin in enumerate((0, 4, 8)):
        set_state(page, stage="schedule", selected=f"schedule:{item}")
        words = page.locator(".inspector").inner_text()
        assert f"{begin}, offset of the part that it reads" in words


def test_the_calls_share_one_kernel(open_page: Open, heads_page: Path) -> None:
    page = open_page(heads_page)
    set_state(page, stage="kernels", view="text")
    lines = page.locator(".line").all_inner_texts()
    calls = [line for line in lines if "call " in line]
    assert len(calls) == 3
    assert len({line.split("call ")[1].split("(")[0] for line in calls}) == 1
    assert [f"at0 = {n}" in "".join(calls) for n in (0, 4, 8)] == [True] * 3
    set_state(page, stage="loops", view="text")
    assert "at0" in page.locator(".line").first.inner_text()
