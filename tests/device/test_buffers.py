"""The data behind Buffer nodes: found by node, freed with it, refused if laid out otherwise."""

import gc
import weakref

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.node import Node
from compiler.core.origin import no_origin
from compiler.device.buffers import data, new_buffer
from compiler.graph.nodes import Buffer
from compiler.tensor import Tensor


def test_a_buffer_holds_the_array_itself() -> None:
    array = np.arange(6, dtype="u2").reshape(2, 3)
    node = new_buffer(array, "x")
    assert (node.shape, node.dtype, node.name, node.device) == ((2, 3), dtypes.uint16, "x", "CPU")
    assert data(node) is array
    assert new_buffer(array) is not node


def test_an_array_is_freed_with_its_node() -> None:
    array = np.zeros(4)
    alive = weakref.ref(array)
    node = new_buffer(array)
    del array
    gc.collect()
    assert alive() is not None
    del node
    gc.collect()
    assert alive() is None


def test_a_node_made_again_without_its_line_has_the_same_data() -> None:
    tensor = Tensor(np.arange(3.0))
    node = tensor.node
    assert isinstance(node, Buffer)
    with no_origin():
        again: Node = Buffer((), node.unique, node.shape, node.dtype, node.name)
    assert again is not node
    assert isinstance(again, Buffer)
    assert data(again) is data(node)
    del tensor, node
    gc.collect()
    assert data(again).tolist() == [0, 1, 2]


def test_refusals() -> None:
    with pytest.raises(InternalError, match="row-major"):
        new_buffer(np.zeros((2, 3)).T)
    with pytest.raises(InternalError, match="row-major"):
        new_buffer(np.zeros(2, ">f4"))
    with pytest.raises(InternalError, match="no data for buffer -1 ghost"):
        data(Buffer((), -1, (2,), dtypes.float32, "ghost"))
