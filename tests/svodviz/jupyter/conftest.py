"""One server and one page of JupyterLab for all tests of this folder."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import pytest

from tests.svodviz.lab import Server, Shown, opened, serve

Open: TypeAlias = Callable[[str, Sequence[str]], AbstractContextManager[Shown]]


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of JupyterLab and Notebook."""
    with serve(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="session")
def application(jupyter: Server, chromium: Any) -> Iterator[Shown]:
    """JupyterLab in a page, with an empty notebook in front."""
    jupyter.write("empty.ipynb", ())
    with opened(chromium, jupyter.url("lab/tree/empty.ipynb") + "&reset") as shown:
        yield shown


@pytest.fixture(scope="session")
def notebook(jupyter: Server, application: Shown) -> Open:
    """Opens a new notebook with these cells in front of the others, its kernel idle; closes it."""

    @contextmanager
    def opened_in_front(name: str, cells: Sequence[str]) -> Iterator[Shown]:
        jupyter.write(name, cells)
        application.open(name)
        yield application
        application.close(name)

    return opened_in_front
