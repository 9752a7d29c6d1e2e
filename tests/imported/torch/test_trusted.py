"""Files of exported programs that may run code are refused before they are read."""

import io
import os
import pickle
import zipfile
from pathlib import Path

import pytest

from compiler.core.errors import DataError
from compiler.imported.torch.trusted import refuse_pickles


class _Runs:
    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("exit 1",)


def _saved(content: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("model/data.pkl", content)
    return whole.getvalue()


@pytest.mark.parametrize("content", [pickle.dumps(_Runs()), _saved(pickle.dumps(_Runs()))])
def test_a_pickle_that_runs_something_is_refused(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "model.pt2"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("model/data/sample_inputs/model.pt", content)
    with pytest.raises(DataError, match="may run code in it"):
        refuse_pickles(place)


def test_containers_of_numbers_are_taken(tmp_path: Path) -> None:
    place = tmp_path / "model.pt2"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("model/data/sample_inputs/model.pt", _saved(pickle.dumps(((1,), {}))))
    refuse_pickles(place)
