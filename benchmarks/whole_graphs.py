"""A shipped graph with its weights in it, as runtimes read it that are not given weights apart."""

from collections.abc import Mapping

import numpy as np
import onnx


def whole(graph: bytes, arrays: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """``graph`` with the ``arrays`` that it names, as ``model.graph.sessions.given_arrays`` makes them."""
    model = onnx.load_from_string(graph)
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor.CopyFrom(onnx.numpy_helper.from_array(arrays[tensor.name], tensor.name))
    return model
