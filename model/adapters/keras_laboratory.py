"""The laboratory for a Transformer in Keras: heads off, weights replaced, tokens left out, gradients.

While a pass of the laboratory runs, every softmax and embedding of Keras is replaced, and put back afterwards. Passes wait for each
other, because the whole process shares them. They run eagerly and one row at a time, because many networks of courses run only so.

S source tokens, T tokens that the decoder reads; L layers, H heads, Q query and K key positions, V vocabulary.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from itertools import pairwise
from threading import RLock
from typing import Any

import numpy as np

from model.adapters.altering import Altering, altering, embedding_factors
from model.adapters.heard import MASKED
from model.adapters.keras import (
    Inputs,
    arguments_of,
    asked_for_scores,
    by_name,
    eager_functions,
)
from model.adapters.keras_finding import Recorded
from model.adapters.keras_parts import recorded
from model.adapters.keras_stream import KerasStream, stream_of
from model.adapters.listening import SOFTMAXES, loaded, of_softmax, replaced
from model.adapters.outputs import probabilities
from model.adapters.own_mixing import insides_of_stream, zeroed_of_stream
from model.adapters.own_network import OwnNetwork, Sizes, WithoutTaps, one_length
from model.adapters.vocabulary import Vocabulary
from model.plain.drafting import Pass, Produced, longest_target
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING, STREAM
from model.trace.interventions import Intervention
from model.trace.laboratory_data import Insides, Slopes, Zeroed
from model.trace.trace import ATTENTION_KINDS, AttentionTrace

_PROBE = 3, 2  # S and T of the pass that shows which softmax is which kind of attention
_FAR = 1e30  # below every score
_LOCK = RLock()  # one pass at a time, because all threads share what it replaces


def laboratory_of_keras(model: Any, vocabulary: Vocabulary, inputs: Inputs | None = None) -> OwnNetwork:
    """The laboratory of a network. Raises ValueError for one without the three kinds of attention of a Transformer."""
    passes = KerasPasses(model, vocabulary, inputs)
    try:
        stream = passes.stream = stream_of(passes, vocabulary.start)
    except Exception as reason:  # noqa: BLE001  it is built otherwise, or takes no other lengths, for which each library has its own kind
        why = str(reason) if isinstance(reason, ValueError) else f"{type(reason).__name__}: {reason}"
        return OwnNetwork(
            model.name, _VocabularyTexts(vocabulary), passes, [INTERVENTIONS, GRADIENTS], why=why
        )
    abilities = [INTERVENTIONS, GRADIENTS, MIXING, STREAM]
    return OwnNetwork(model.name, _VocabularyTexts(vocabulary), passes, abilities, stream)


class _VocabularyTexts:
    """A ``Vocabulary`` as ``own_network.Texts``."""

    def __init__(self, vocabulary: Vocabulary):
        self.encode_source, self.encode_target = vocabulary.encode_source, vocabulary.encode_target
        self.decode, self.labels = vocabulary.decode_written, vocabulary.labels


class KerasPasses(WithoutTaps):
    """Passes over ids; see ``own_network.OwnPasses``."""

    def __init__(self, model: Any, vocabulary: Vocabulary, inputs: Inputs | None):
        self.model, self.vocabulary, self._inputs = model, vocabulary, inputs
        self.stream: KerasStream | None = None  # where it is known
        self._order: list[tuple[str, int] | None] = []  # of the softmaxes of a pass: kind and layer
        source, read = ([vocabulary.end] * length for length in _PROBE)
        pass_ = _KerasPass(None, {}, source, read, None)
        self._run(pass_)
        self._order = _order(pass_.heard)
        self.sizes: dict[str, Sizes] = {}
        for kind in ATTENTION_KINDS:
            maps = [maps for maps, at in zip(pass_.heard, self._order, strict=True) if at and at[0] == kind]
            if not maps:
                raise ValueError(f"the network should be a Transformer, but its pass has no {kind}")
            self.sizes[kind] = Sizes(len(maps), maps[0].shape[1], maps[0].shape[1])

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over each of B rows: a source, T produced ids and an intervention. Sources have one length, and
        targets have one. Raises ValueError for others, and for an intervention that the network does not have."""
        one_length(sources, targets)
        found = [self._look(*each) for each in zip(sources, targets, interventions, strict=True)]
        attention = {kind: np.stack([each.attention[kind] for each in found]) for kind in self.sizes}
        return Pass(np.stack([each.logits for each in found]), attention)

    def _written(
        self, source: Sequence[int], intervention: Intervention, forced: Sequence[int]
    ) -> Produced | None:
        ids, end = list(forced), self.vocabulary.end
        while not ids or ids[-1] != end:
            if len(ids) >= longest_target(len(source)):
                return None
            # The last token of a target is not read, so ``end`` only makes room for the row that writes the next one.
            ids.append(int(self._look(source, [*ids, end], intervention).logits[-1].argmax()))
        return self._look(source, ids, intervention)

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """As ``Laboratory.slopes`` says: the derivatives of logit(written) - logit(instead)."""
        row, written, instead = contrast
        read = [self.vocabulary.start, *target[:-1]]

        def score(*factors: Any) -> Any:
            logits = self._run(_KerasPass(self._order, {}, source, read, factors, keeps=False))[0, row]
            return logits[written] - logits[instead]

        found = []
        for share in shares:
            ones = [np.full((1, len(ids)), share, np.float32) for ids in (source, read)]
            value, slopes = _with_slopes(score, ones)
            found.append((value, *(each[0] for each in slopes)))
        return Slopes(*(np.stack(part).astype(np.float32) for part in zip(*found, strict=True)))

    def recorded(self, source: Sequence[int], read: Sequence[int]) -> Recorded:
        """One pass with the calls of its layers. ``read``: what the decoder reads, the start mark first."""
        pass_ = _KerasPass(self._order, {}, source, read, None)
        with _LOCK, recorded(lambda: len(pass_.heard)) as calls:
            logits = self._run(pass_)
        weights = [each[0] for each in pass_.heard]
        return Recorded(list(source), list(read), calls, weights, self._order, _array(logits)[0])

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds. Raises ValueError for a network without a residual stream."""
        return insides_of_stream(self._known_stream(), source, target)

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """As ``Laboratory.zeroed`` says. Raises ValueError for a network without a residual stream."""
        return zeroed_of_stream(self._known_stream(), source, target)

    def _known_stream(self) -> KerasStream:
        if self.stream is None:
            raise ValueError("what the layers of this network hold inside is not known from outside")
        return self.stream

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        words = self.vocabulary
        ids, written = words.encode_source(source), words.encode_target(target)
        looked = self._look(ids, written, Intervention() if intervention is None else intervention)
        attention: dict[str, Any] = looked.attention
        return AttentionTrace(
            source_tokens=words.labels(ids),
            target_tokens=words.labels(written),
            decoder_input_tokens=words.labels([words.start, *written[:-1]]),
            source_text=source,
            target_text=target,
            source_spans=_spans(words, ids, source),
            target_spans=_spans(words, written, target),
            **attention,
            **probabilities(looked.logits, np.array(written), lambda each: words.labels([each])[0]),
        )

    def _look(self, source: Sequence[int], target: Sequence[int], intervention: Intervention) -> Produced:
        read = [self.vocabulary.start, *target[:-1]]
        changes = altering([intervention], self.sizes, len(source), len(read))
        factors = None
        if (left := embedding_factors([intervention], len(read))) is not None:
            factors = np.ones((1, len(source)), np.float32), left
        pass_ = _KerasPass(self._order, changes, source, read, factors)
        logits = _array(self._run(pass_))[0]
        layers: dict[str, list[np.ndarray]] = {kind: [] for kind in self.sizes}
        for maps, at in zip(pass_.heard, self._order, strict=True):
            if at is not None:
                layers[at[0]].append(maps[0])
        return Produced(list(target), logits, {kind: np.stack(maps) for kind, maps in layers.items()})

    def _run(self, pass_: "_KerasPass") -> Any:
        """(1, T, V), the logits, or the logarithms where the network puts out probabilities."""
        import keras

        tensors = [
            keras.ops.convert_to_tensor(np.array([ids], np.int32)) for ids in (pass_.source, pass_.read)
        ]
        given, named = by_name(self.model, arguments_of(self.model, tensors, self._inputs))
        if not self.model.built:
            self.model(*given, **named)
        with _LOCK, pass_.running():
            returned = self.model(*given, **named)
        if isinstance(returned, dict):
            returned = returned["logits"]
        many = returned if isinstance(returned, list | tuple) else [returned]
        shaped = [each for each in many if tuple(each.shape[:2]) == (1, len(pass_.read))]
        if not shaped or len(shaped[0].shape) != 3:
            raise ValueError(
                f"the network should put out (1, T, V), received {[each.shape for each in many]}"
            )
        return keras.ops.log(shaped[0] + 1e-30) if pass_.ends_in_softmax else shaped[0]


class _KerasPass:
    """One pass: what is replaced while it runs, and what it recorded: ``heard`` has the weights (1, H, Q, K) of each softmax."""

    def __init__(
        self,
        order: list[tuple[str, int] | None] | None,
        changes: dict[str, list[Altering]],
        source: Sequence[int],
        read: Sequence[int],
        factors: Sequence[Any] | None,
        keeps: bool = True,
    ):
        self.source, self.read, self.heard = source, read, []  # type: ignore[var-annotated]
        self.ends_in_softmax = False  # whether the last softmax makes the output
        self._order, self._changes, self._keeps = order, changes, keeps
        self._waiting = [] if factors is None else list(zip((source, read), factors, strict=True))
        self._inside = self._number = 0
        self._is_innermost = False

    @contextmanager
    def running(self) -> Iterator[None]:
        import keras

        layers = keras.layers
        with ExitStack() as stack:
            for owner, name in loaded(SOFTMAXES):
                stack.enter_context(replaced(owner, name, self._taking(getattr(owner, name))))
            softmax = self._taking(layers.Softmax.call)
            stack.enter_context(replaced(layers.Softmax, "call", softmax))
            for layer in (layers.MultiHeadAttention, layers.GroupQueryAttention):
                asked = asked_for_scores(layer._compute_attention)
                stack.enter_context(replaced(layer, "_compute_attention", asked))
            if self._waiting:
                looked_up = self._scaling(layers.Embedding.call)
                stack.enter_context(replaced(layers.Embedding, "call", looked_up))
            stack.enter_context(eager_functions(keras.backend.backend()))
            yield

    def _taking(self, softmax: Callable) -> Callable:
        """``softmax`` with its result changed. If one softmax calls another, only the result of the outer one is changed."""

        @wraps(softmax)
        def taken(*args, **kwargs):
            self._inside += 1
            self._is_innermost = True
            try:
                weights = softmax(*args, **kwargs)
                if self._is_innermost:  # its scores hold all masks
                    weights = self._of_seen(softmax, weights, args, kwargs)
                self._is_innermost = False
            finally:
                self._inside -= 1
            return weights if self._inside else self._changed(weights)

        return taken

    def _of_seen(self, softmax: Callable, weights: Any, args: tuple, kwargs: dict) -> Any:
        """``weights`` without what nobody may look at; the softmax is taken of the other scores."""
        from keras import ops

        at = self._order[self._number] if self._order else None
        seen = self._changes[at[0]][at[1]].seen if at and self._changes else None
        if seen is None or not args or tuple(getattr(args[0], "shape", ())) != tuple(weights.shape):
            return weights
        if of_softmax(weights, *args, **kwargs)[1] not in (-1, len(weights.shape) - 1):
            return weights
        scores, *rest = args
        may = ops.reshape(ops.convert_to_tensor(seen[0, 0, 0] > 0), (1,) * (len(scores.shape) - 1) + (-1,))
        may = ops.logical_and(scores > ops.max(scores, axis=-1, keepdims=True) - MASKED, may)
        return softmax(ops.where(may, scores, -_FAR), *rest, **kwargs) * ops.cast(may, weights.dtype)

    def _changed(self, weights: Any) -> Any:
        import keras

        shape = tuple(weights.shape)
        at = self._order[self._number] if self._order else None
        self._number += 1
        self.ends_in_softmax = len(shape) == 3 and shape[1] == len(self.read) and at is None
        if len(shape) < 3:
            weights_of_heads = keras.ops.reshape(weights, (1, 1, 1, -1))
        else:
            weights_of_heads = keras.ops.reshape(weights, (1, -1, *shape[-2:]))
        change = self._changes[at[0]][at[1]] if at and self._changes else None

        def tensor(array: np.ndarray) -> Any:
            return keras.ops.convert_to_tensor(array.astype(np.float32), weights.dtype)

        used = weights_of_heads if change is None else change.used(weights_of_heads, tensor)
        if self._keeps:
            self.heard.append(_array(used))
        return weights if change is None else keras.ops.reshape(change.working(used, tensor), shape)

    def _scaling(self, look_up: Callable) -> Callable:
        """Embeddings times their factors, first those of the source, which is looked up before the target."""

        @wraps(look_up)
        def scaled(layer, ids, *args, **kwargs):
            import keras

            output = look_up(layer, ids, *args, **kwargs)
            if self._waiting and _array(ids).tolist() == [list(self._waiting[0][0])]:
                factors = keras.ops.convert_to_tensor(self._waiting.pop(0)[1])
                return output * keras.ops.cast(factors, output.dtype)[..., None]
            return output

        return scaled


def _order(heard: Sequence[np.ndarray]) -> list[tuple[str, int] | None]:
    """The kind and the layer of each softmax of the first pass, by the shape of its weights."""
    source, target = _PROBE
    kinds = dict(zip([(source, source), (target, target), (target, source)], ATTENTION_KINDS, strict=True))
    counted = dict.fromkeys(ATTENTION_KINDS, 0)
    order: list[tuple[str, int] | None] = []
    for maps in heard:
        kind = kinds.get(maps.shape[2:])
        order.append(None if kind is None else (kind, counted[kind]))
        if kind is not None:
            counted[kind] += 1
    return order


def _with_slopes(score: Callable[..., Any], factors: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
    """A score and its derivatives by ``factors``, computed by the backend that Keras has."""
    import keras

    name = keras.backend.backend()
    if name == "jax":
        import jax

        value, slopes = jax.value_and_grad(score, tuple(range(len(factors))))(*factors)
    elif name == "torch":
        import torch

        given = [torch.tensor(each, requires_grad=True) for each in factors]
        value = score(*given)
        slopes = torch.autograd.grad(value, given)
    else:
        import tensorflow as tf

        watched = [tf.constant(each) for each in factors]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            value = score(*watched)
        slopes = tape.gradient(value, watched)
    return float(_array(value)), [_array(each) for each in slopes]


def _spans(words: Vocabulary, ids: Sequence[int], text: str) -> tuple[tuple[int, int], ...]:
    """Where each token stands in ``text``: its span is what it adds to the decoded text. No span goes beyond the end of ``text``."""
    ends = [min(len(words.decode_written(ids[:count])), len(text)) for count in range(len(ids) + 1)]
    return tuple(pairwise(np.maximum.accumulate(ends).tolist()))


def _array(tensor: Any) -> np.ndarray:
    import keras

    return np.asarray(keras.ops.convert_to_numpy(tensor))
