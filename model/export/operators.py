"""``GraphWriter``: builds an ONNX graph operator by operator.

It needs the package ``onnx``; answering from a graph does not.

B batch, T tokens, K key positions, D width.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from model.stored.config import MASKED_LOGIT
from model.text.tokenizer import PAD_ID

OPSET = 17  # the first with LayerNormalization
IR_VERSION = 8
WEIGHTS = "weights.npz"  # the file that a graph names for its weights; they are handed over when it is loaded
TYPES = {"float": TensorProto.FLOAT, "int": TensorProto.INT32}
Size = int | str  # a number, or the name of an axis that may have any length


class GraphWriter:
    """Collects the operators of one graph.

    A value is known by its name; each method returns the name of its output::

    graph = GraphWriter()
    x = graph.input("x", ("batch", 3))
    graph.output("y", graph("Mul", x, graph.weight("scale", (3,))), ("batch", 3))
    """

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._weights: dict[str, TensorProto] = {}
        self._constants: dict[tuple, TensorProto] = {}

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.several(operator, 1, *inputs, **attributes)[0]

    def several(self, operator: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """An operator with several outputs."""
        names = [f"{operator}_{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def input(self, name: str, shape: Sequence[Size], type: str = "float") -> str:
        self._inputs.append(helper.make_tensor_value_info(name, TYPES[type], shape))
        return name

    def output(self, name: str, value: str, shape: Sequence[Size]) -> None:
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def weight(self, name: str, shape: Sequence[int]) -> str:
        """An array of ``weights.npz`` that is handed over when the graph is loaded."""
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=WEIGHTS)
        self._weights[name] = tensor
        return name

    def constant(self, value: Sequence[int] | float) -> str:
        """A number, or some whole numbers such as axes and shapes."""
        array = np.asarray(value, np.float32 if isinstance(value, float) else np.int64)
        key = (array.dtype.str, array.shape, array.tobytes())
        name = f"constant_{len(self._constants)}"
        return self._constants.setdefault(key, numpy_helper.from_array(array, name)).name

    def dense(self, x: str, name: str, size: tuple[int, int]) -> str:
        """(B, T, D) -> (B, T, width): a linear layer whose weights lie under ``name``."""
        kernel, bias = self.weight(f"{name}/kernel", size), self.weight(f"{name}/bias", size[1:])
        return self("Add", self("MatMul", x, kernel), bias)

    def linear(self, x: str, names: Sequence[str], size: tuple[int, int]) -> str:
        """(N, D) -> (N, names * width): the linear layers under some ``names``, as one product.

        The runtime joins their weights once, when it opens the graph, and adds the bias inside the product.
        """
        kernels = [self.weight(f"{name}/kernel", size) for name in names]
        biases = [self.weight(f"{name}/bias", size[1:]) for name in names]
        if len(names) == 1:
            return self("Gemm", x, *kernels, *biases)
        return self("Gemm", x, self("Concat", *kernels, axis=1), self("Concat", *biases, axis=0))

    def cast(self, x: str, type: str) -> str:
        return self("Cast", x, to=TYPES[type])

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """In ``shape``, 0 keeps an axis and -1 takes the rest."""
        return self("Reshape", x, self.constant(shape))

    def length(self, x: str, axis: int) -> str:
        """How long one axis is, as a scalar."""
        return self("Squeeze", self("Shape", x, start=axis, end=axis + 1))

    def stacked(self, arrays: Sequence[str], axis: int) -> str:
        axes = self.constant([axis])
        return self("Concat", *(self("Unsqueeze", array, axes) for array in arrays), axis=axis)

    def padding(self, ids: str) -> str:
        """(B, K) ids -> (B, 1, 1, K): 0 at real tokens, -1e9 at padding.

        It is added to the logits of attention, whose softmax then is exactly 0 there."""
        is_padding = self("Equal", ids, self.cast(self.constant(PAD_ID), "int"))
        mask = self("Mul", self.cast(is_padding, "float"), self.constant(MASKED_LOGIT))
        return self("Unsqueeze", mask, self.constant([1, 2]))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays that are handed over when the graph is loaded, by their names."""
        return {name: tuple(tensor.dims) for name, tensor in self._weights.items()}

    def model(self, name: str, metadata: dict[str, str]) -> ModelProto:
        initialisers = [*self._weights.values(), *self._constants.values()]
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, initialisers)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="model.export"
        )
        helper.set_model_props(model, metadata)
        return model
