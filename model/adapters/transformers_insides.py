"""What attribution methods need to know of a layer of transformers: where its output projection and its normalisation are.

L layers, H heads, K key positions, T target tokens, D d_model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from model.adapters.transformers_pass import TorchTensors, to_array
from model.trace.interventions import Intervention
from model.trace.laboratory_data import Insides

# Of Marian, BART and their like; of T5 and its like; of Llama and its like; of GPT-2.
_PROJECTIONS = ("out_proj", "o", "o_proj", "c_proj")
# Of T5, Llama and GPT-2; BART's are named after what they stand behind.
_NORMS = (
    "layer_norm",
    "input_layernorm",
    "ln_1",
)


_CLOSE = 1e-4  # of the largest number of a stream


class _Parts(NamedTuple):
    attention: Any
    projection: Any
    norm: Any


def has_insides(model: Any, modules: Mapping[str, Sequence[Any]]) -> bool:
    """Whether all parts are found by the names that BART, T5, GPT-2, Llama and their relatives give them."""
    return all(_parts(model, each) for some in modules.values() for each in some)


def adds_up(model: Any, modules: Sequence[Any], run: Callable[[], object]) -> bool:
    """Whether each layer of a decoder alone adds to the stream what its attention and its feed-forward network put out, and no more or
    less: some scale that, or normalise it."""
    layers = layers_of(model, modules)
    if not all(hasattr(layer, "mlp") for layer in layers):
        return False
    parts = [
        part for layer, module in zip(layers, modules, strict=True) for part in (layer, module, layer.mlp)
    ]
    with _order(parts) as seen, _outputs(parts) as put_out:
        run()
    entered = {id(module): value for module, value in seen}
    for layer, module in zip(layers, modules, strict=True):
        stream, *added = (put_out[id(part)] for part in (layer, module, layer.mlp))
        off = stream - entered[id(layer)] - sum(added)
        if not off.abs().max() < _CLOSE * stream.abs().max():
            return False
    return True


def insides_of(model: Any, modules: Mapping[str, Sequence[Any]], run: Callable[[], TorchTensors]) -> Insides:
    """``Insides`` of the pass that ``run`` makes. Raises ValueError for layers that are built otherwise."""
    parts = {kind: [_parts(model, each) for each in some] for kind, some in modules.items()}
    known = [each for some in parts.values() for each in some if each is not None]
    if len(known) < sum(map(len, modules.values())):
        raise ValueError(
            f"the layers of {type(model).__name__} are not built like those of BART, T5, GPT-2 or Llama"
        )
    with _order([module for each in known for module in (each.attention, each.norm)]) as seen:
        looked = run()
    places = [[id(module) for module, _ in seen].index(id(known[0][n])) for n in (0, 2)]
    norm_first = places[1] < places[0]
    entered = {id(module): value for module, value in seen}
    kernels, biases, entering, scales = {}, {}, {}, {}
    for kind, some in parts.items():
        heads = looked.attention[kind][0].shape[1]
        layers = [each for each in some if each is not None]
        kernels[kind] = np.stack([_kernel(each.projection, heads) for each in layers])
        biases[kind] = np.stack([_bias(each.projection) for each in layers])
        entering[kind] = np.stack(
            [to_array(entered[id(each.norm if norm_first else each.attention)][0]) for each in layers]
        )
        scales[kind] = np.stack([to_array(each.norm.weight) for each in layers])
    return Insides(
        {kind: np.stack([to_array(each[0]) for each in some]) for kind, some in looked.attention.items()},
        {
            kind: np.stack([_values(each, looked.attention[kind][0].shape[1]) for each in some])
            for kind, some in looked.calls.items()
        },
        entering,
        kernels,
        biases,
        None if norm_first else scales,
    )


def layers_of(model: Any, modules: Sequence[Any]) -> list[Any]:
    """The layer of each attention module: the outermost entry of a list of modules that holds it."""
    names = {id(module): name for name, module in model.named_modules()}
    found = []
    for module in modules:
        parts = names[id(module)].split(".")
        number = next(place for place, part in enumerate(parts) if part.isdigit())
        found.append(model.get_submodule(".".join(parts[: number + 1])))
    return found


def distances(
    layer: Any,
    run: Callable[[Sequence[Intervention]], None],
    gone: Sequence[Intervention],
    batch: int,
) -> np.ndarray:
    """(T, N) cosine distances between what ``layer`` puts out plainly and under each of N interventions."""
    outputs: list[np.ndarray] = []

    def keep(module: Any, given: Any, output: Any) -> None:
        outputs.append(to_array(output[0] if isinstance(output, tuple) else output))

    hook = layer.register_forward_hook(keep)
    try:
        run([Intervention()])
        for first in range(0, len(gone), batch):
            run(gone[first : first + batch])
    finally:
        hook.remove()
    # Distances are differences of nearly equal numbers.
    plain, *varied = (each.astype(np.float64) for each in outputs)
    unit = [each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (plain, np.concatenate(varied))]
    return np.maximum(1 - (unit[0] * unit[1]).sum(-1), 0).T.astype(np.float32)


def _parts(model: Any, attention: Any) -> _Parts | None:
    path = next(name for name, module in model.named_modules() if module is attention)
    above, _, name = path.rpartition(".")
    owner = model.get_submodule(above)
    projection = next(
        (getattr(attention, each, None) for each in _PROJECTIONS if hasattr(attention, each)), None
    )
    norm = next(
        (getattr(owner, each) for each in (f"{name}_layer_norm", *_NORMS) if hasattr(owner, each)), None
    )
    return None if projection is None or norm is None else _Parts(attention, projection, norm)


@contextmanager
def _outputs(modules: Sequence[Any]) -> Iterator[dict[int, Any]]:
    """What each of ``modules`` puts out, or the first of what it puts out."""
    found: dict[int, Any] = {}

    def keep(module: Any, given: Any, output: Any) -> None:
        found[id(module)] = output[0] if isinstance(output, tuple) else output

    hooks = [each.register_forward_hook(keep) for each in modules]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def _order(modules: Sequence[Any]) -> Iterator[list[tuple[Any, Any]]]:
    """Each of ``modules`` with the first tensor that it is given, in the order in which they are called."""
    seen: list[tuple[Any, Any]] = []

    def remember(module: Any, given: tuple, named: dict) -> None:
        seen.append((module, given[0] if given else named["hidden_states"]))

    hooks = [each.register_forward_pre_hook(remember, with_kwargs=True) for each in modules]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _kernel(projection: Any, heads: int) -> np.ndarray:
    """(H, D/H, D). GPT-2 holds its kernels the other way round."""
    kernel = to_array(projection.weight)
    kernel = kernel if hasattr(projection, "nf") else kernel.T
    return kernel.reshape(heads, -1, kernel.shape[-1])


def _values(call: tuple, heads: int) -> np.ndarray:
    """(H, K, D/H). Heads that share their values get one copy each."""
    values = to_array(call[2][0])
    return values.repeat(heads // len(values), axis=0)


def _bias(projection: Any) -> np.ndarray:
    return (
        np.zeros(projection.out_features, np.float32)
        if projection.bias is None
        else to_array(projection.bias)
    )
