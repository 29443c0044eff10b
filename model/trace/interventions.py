"""Interventions, activation names and patches of a forward pass, as plain data.

* ``Intervention``: heads off, weights replaced, tokens left out, matrices edited. It is an argument of a pass
  (``Laboratory.pass_over``), never a state of a network, so two threads cannot disturb each other.
  ``model/activations/replacements.py`` turns it into arrays.
* ``TAPS``: the activations of a pass by name.
* ``Node`` and ``Patch``: the parts of a network that can be replaced, and the values that replace them.
* ``Contrast``: two tokens that could be produced in one row; ``LogitDifferences``: how much likelier the one
  is, in nats.
* ``OutputWeights``: the weights between the residual streams and the logits (unembedding).
* ``Projections``, ``Slopes``, ``Insides``, ``Zeroed``: results of further passes.

Shapes: B interventions or sentences, L layers, H heads, S source and T target tokens, Q query and K key
positions, D d_model, V vocabulary. Arrays of a single sentence have no B. A sub-layer is one attention or one
feed-forward network: an encoder layer has two (self-attention, feed-forward), a decoder layer three
(self-attention, encoder-decoder attention, feed-forward).

The activations:

* query, key, value: projected and split into heads, before an intervention zeroes any value.
* heads: weights times values, or their replacement by an intervention, before the output projection.
  Multiplied by a head's rows of the output kernel (D/H, D), it is the head's output; the output bias belongs
  to no head.
* embedding: token embeddings times sqrt(D), without positions.
* output: the addition of each sub-layer to the residual stream, its biases included.
* residual: the stream before the first sub-layer, which is embedding + position, then the stream after each
  sub-layer.

With ``norm_first`` each sub-layer reads a normalised copy of the stream and adds to the stream itself, which
therefore is an exact sum (Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021)::

    residual[:, n] = residual[:, 0] + output[:, :n].sum(axis=1)
    memory = encoder_norm(encoder_residual[:, -1])
    logits = output_layer(decoder_norm(decoder_residual[:, -1]))

Without it each sum is normalised at once, and nothing follows the last one: ``residual[:, n + 1] =
norm(residual[:, n] + output[:, n])``. All of it holds for passes as they are used; in training, dropout falls
on residual[:, 0] and on each output before it is added.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Any, NamedTuple, SupportsIndex

import numpy as np


class Head(NamedTuple):
    """One head of one kind of attention; layer and head are counted from 0."""

    kind: str
    layer: int
    head: int


class ZeroedValue(NamedTuple):
    """The value vectors of one key position, in all heads of one layer."""

    kind: str
    layer: int
    position: int


def tap(of: str, part: str) -> str:
    """The name of a tap of one kind of attention, or of a side: the encoder or the decoder.

    >>> tap("cross_attention", "query"), tap("encoder", "residual")
    ('cross_query', 'encoder_residual')
    """
    return f"{of.removesuffix('_attention')}_{part}"


ATTENTIONS = {"encoder": ("encoder_attention",), "decoder": ("decoder_attention", "cross_attention")}
FEED_FORWARDS = {"encoder": "encoder_feed_forward", "decoder": "decoder_feed_forward"}
SUBLAYERS = {side: (*kinds, FEED_FORWARDS[side]) for side, kinds in ATTENTIONS.items()}
EVERYWHERE = slice(None)


def kind_side(kind: str) -> str:
    """The side of a kind of sub-layer, "encoder" or "decoder".

    >>> kind_side("cross_attention")
    'decoder'
    """
    return "encoder" if kind.startswith("encoder") else "decoder"


def sublayer_at(side: str, number: int) -> tuple[str, int]:
    """The kind and the layer of a sub-layer by its number in a side, as ``Node.sublayer`` counts.

    >>> sublayer_at("decoder", 4)
    ('cross_attention', 1)
    """
    layer, place = divmod(number, len(SUBLAYERS[side]))
    return SUBLAYERS[side][place], layer


class Node(NamedTuple):
    """A head of attention, or a feed-forward network, which has no ``head``.

    Layers and heads are counted from 0.

    >>> Node("cross_attention", 3, 0).place, Node("decoder_feed_forward", 3).sublayer
    ((3, 0), 11)
    """

    kind: str  # a kind of attention, or one of FEED_FORWARDS
    layer: int
    head: int | None = None

    @property
    def side(self) -> str:
        return kind_side(self.kind)

    @property
    def sublayer(self) -> int:
        """Its number among the sub-layers of its side, in which ``decoder_output`` and ``encoder_output``
        count.
        """
        kinds = SUBLAYERS[self.side]
        return self.layer * len(kinds) + kinds.index(self.kind)

    @property
    def tap(self) -> str:
        """The name of its output."""
        return tap(self.side, "output") if self.head is None else tap(self.kind, "heads")

    @property
    def place(self) -> int | tuple[int, int]:
        """Its index in its activation."""
        return self.sublayer if self.head is None else (self.layer, self.head)


@dataclass(frozen=True, eq=False)
class KernelEdit:
    """A change of rank N of the output matrix (F, D) of a feed-forward network: ``directions @ values``.

    F is the width of the feed-forward network, whose units (F,) are the keys of Geva et al. (2021).

    >>> edit = KernelEdit(Node("decoder_feed_forward", 3), np.ones((4, 1)), np.ones((1, 2)))
    >>> edit.added(np.ones((3, 4), np.float32)).tolist()
    [[4.0, 4.0], [4.0, 4.0], [4.0, 4.0]]
    """

    node: Node
    directions: np.ndarray  # (F, N) float32
    values: np.ndarray  # (N, D) float32

    def added(self, keys: np.ndarray) -> np.ndarray:
        """The addition (..., D) to the output of the network for its keys (..., F)."""
        return (keys @ self.directions) @ self.values


@dataclass(frozen=True, eq=False, kw_only=True)
class Intervention:
    """The changes in one pass; ``Intervention()`` changes nothing.

    Interventions with the same contents are equal and have the same hash, so one can be part of a cache key.
    Do not change its arrays afterwards.

    ``off``: heads whose output, before the output projection, is replaced: by zero (Michel et al. 2019,
    section 2.3), or by the head's part of ``means``, which are by kind (L, H, D/H), such as the mean over a
    corpus. ``weights``: by head (Q, K), the replacement of its attention weights (Jain & Wallace 2019). A row
    of NaN keeps the head's own weights; so does every row beyond Q. In decoder self-attention nothing may be
    right of the diagonal. ``zeroed``: value vectors that are multiplied by zero; the weights stay as they are
    (Mohebbi et al. 2023). ``without_source``: source positions that no row may attend to, as if they were
    padding; the other tokens keep their positions. ``without_target``: the same for the tokens that the
    decoder reads; 0 is the start mark. The embedding of such a token is zero, too, because a row of the
    decoder starts from the embedding of the token it read last. ``kernels``: low-rank changes of the output
    matrices of feed-forward networks; the stored weights stay as they are.

    >>> intervention = Intervention(off=frozenset({("cross_attention", 3, 0)}))
    >>> intervention.off
    frozenset({Head(kind='cross_attention', layer=3, head=0)})
    """

    off: frozenset[Head] = frozenset()
    means: Mapping[str, np.ndarray] | None = None
    weights: Mapping[Head, np.ndarray] = field(default_factory=dict)
    zeroed: frozenset[ZeroedValue] = frozenset()
    without_source: frozenset[int] = frozenset()
    without_target: frozenset[int] = frozenset()
    kernels: tuple[KernelEdit, ...] = ()

    def __post_init__(self) -> None:
        """NumPy's integers become Python's, and plain tuples heads: equal interventions have one fingerprint.

        Raises ValueError for a place of another form.
        """
        places = {
            "off": frozenset(Head(*_place("off", each)) for each in self.off),
            "weights": {Head(*_place("weights", head)): rows for head, rows in self.weights.items()},
            "zeroed": frozenset(ZeroedValue(*_place("zeroed", each)) for each in self.zeroed),
            "without_source": frozenset(_whole("without_source", each) for each in self.without_source),
            "without_target": frozenset(_whole("without_target", each) for each in self.without_target),
        }
        for name, value in places.items():
            object.__setattr__(self, name, value)

    @property
    def fingerprint(self) -> str:
        """20 hexadecimal digits, equal for the same contents: for the key of a cache."""
        digest = hashlib.sha256()
        sets = (self.off, self.zeroed, self.without_source, self.without_target)
        digest.update(repr([sorted(each) for each in sets]).encode())
        means: list[tuple[Any, np.ndarray]] = sorted((self.means or {}).items(), key=lambda item: item[0])
        for name, array in (*means, *sorted(self.weights.items(), key=lambda item: item[0])):
            values = np.ascontiguousarray(array, np.float32)
            digest.update(repr((name, values.shape)).encode() + values.tobytes())
        for edit in self.kernels:
            digest.update(repr((edit.node, edit.directions.shape)).encode())
            digest.update(edit.directions.tobytes() + edit.values.tobytes())
        return digest.hexdigest()[:20]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervention) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _place(name: str, value: object) -> tuple[str, int, int]:
    """(kind, layer, head or position) of a Head or a ZeroedValue, which may be a plain tuple."""
    if not isinstance(value, tuple) or len(value) != 3:
        raise ValueError(f"{name} should name a kind, a layer and a number, received {value!r}")
    kind, layer, number = value
    return str(kind), _whole(name, layer), _whole(name, number)


def _whole(name: str, value: SupportsIndex) -> int:
    try:
        return int(index(value))
    except TypeError:
        raise ValueError(f"{name} should count in whole numbers, received {value!r}") from None


TAPS = {
    "encoder_attention": "(B, L, H, S, S)",
    "decoder_attention": "(B, L, H, T, T)",
    "cross_attention": "(B, L, H, T, S)",
    "encoder_query": "(B, L, H, S, D/H)",
    "encoder_key": "(B, L, H, S, D/H)",
    "encoder_value": "(B, L, H, S, D/H)",
    "encoder_heads": "(B, L, H, S, D/H)",
    "decoder_query": "(B, L, H, T, D/H)",
    "decoder_key": "(B, L, H, T, D/H)",
    "decoder_value": "(B, L, H, T, D/H)",
    "decoder_heads": "(B, L, H, T, D/H)",
    "cross_query": "(B, L, H, T, D/H)",
    "cross_key": "(B, L, H, S, D/H)",
    "cross_value": "(B, L, H, S, D/H)",
    "cross_heads": "(B, L, H, T, D/H)",
    "encoder_embedding": "(B, S, D)",
    "encoder_output": "(B, 2L, S, D)",
    "encoder_residual": "(B, 2L+1, S, D)",
    "decoder_embedding": "(B, T, D)",
    "decoder_output": "(B, 3L, T, D)",
    "decoder_residual": "(B, 3L+1, T, D)",
    "memory": "(B, S, D)",
    "logits": "(B, T, V)",
}


class Found:
    """The activations of one pass: it keeps the tensors of the requested names and drops all others.

    >>> found = Found(["encoder_residual"])
    >>> found.add("encoder", residual=1, output=2)
    >>> found.stacked(lambda tensors, axis: tensors)
    {'encoder_residual': [1]}
    """

    def __init__(self, names: Iterable[str] = ()):
        self._layers: dict[str, list[Any]] = {name: [] for name in names}
        self._whole: dict[str, Any] = {}
        self.names = tuple(self._layers)

    def add(self, of: str, **parts: object) -> None:
        """One more layer, or sub-layer, of the taps ``tap(of, part)``."""
        for part, tensor in parts.items():
            if (name := tap(of, part)) in self._layers:
                self._layers[name].append(tensor)

    def put(self, name: str, tensor: Any) -> None:
        """Keep an activation that is not stacked over layers (L)."""
        if name in self._layers:
            self._whole[name] = tensor

    def stacked(self, stack: Callable[..., Any]) -> dict[str, Any]:
        """The collected activations, by name.

        ``stack(tensors, axis=1)`` puts the axis of layers behind B.
        """
        stacks = {name: stack(tensors, axis=1) for name, tensors in self._layers.items() if tensors}
        return stacks | self._whole


class Computed(NamedTuple):
    """A mark in place of a value: the activation as it is computed, despite a replacement of all passes."""


COMPUTED = Computed()


class Patch(NamedTuple):
    """The replacement of an activation, before anything reads it.

    >>> Patch.of(Node("cross_attention", 3, 0), np.zeros(32)).tap
    'cross_heads'
    """

    tap: str  # "..._heads", "..._output" or "..._residual", see ``model.trace.interventions``
    place: int | tuple[int, int]  # of the tap: a sub-layer, a place of the stream, or (layer, head)
    value: np.ndarray | Computed  # of one position, or of each of ``positions``
    positions: int | slice = EVERYWHERE

    @classmethod
    def of(cls, node: Node, value: np.ndarray | Computed, positions: int | slice = EVERYWHERE) -> "Patch":
        return cls(node.tap, node.place, value, positions)


Patches = tuple[Patch, ...]  # of one pass


def every_node(layers: int, heads: int) -> tuple[Node, ...]:
    """All nodes of a Transformer in the order in which data passes them.

    >>> len(every_node(layers=4, heads=4))
    56
    """
    return nodes_of(lambda side: layers, lambda kind: heads)


def nodes_of(layers: Callable[[str], int], heads: Callable[[str], int]) -> tuple[Node, ...]:
    """``every_node`` of a network whose sides have different ``layers``, or whose kinds of attention have
    different ``heads``.

    >>> len(nodes_of({"encoder": 1, "decoder": 2}.get, lambda kind: 4))
    23
    """
    return tuple(
        node
        for side, kinds in ATTENTIONS.items()
        for layer in range(layers(side))
        for node in (
            *(Node(kind, layer, head) for kind in kinds for head in range(heads(kind))),
            Node(FEED_FORWARDS[side], layer),
        )
    )


NO_ID = -1  # the id of a token that is known by its label alone


@dataclass(frozen=True)
class Contrast:
    """Why does row ``row`` write one token and not another? For an edit: why the fix and not what was
    typed?
    """

    row: int
    written: int  # token id, or NO_ID
    instead: int  # token id, or NO_ID
    written_token: str  # as traces label them
    instead_token: str
    # A target that has ``instead_token`` in this row; None where only the id is known.
    other: str | None = None


@dataclass(frozen=True)
class LogitDifferences:
    """The log probabilities of both tokens of a contrast under B interventions.

    >>> LogitDifferences(np.log([0.8, 0.5]), np.log([0.2, 0.5])).differences.round(2).tolist()
    [1.39, 0.0]
    """

    log_written: np.ndarray  # (B,) float32
    log_instead: np.ndarray  # (B,) float32

    @property
    def differences(self) -> np.ndarray:
        """(B,) float32: log p(written) - log p(instead), in nats."""
        return self.log_written - self.log_instead


EPSILON = 1e-6  # of layer normalisation in our networks


@dataclass(frozen=True)
class Normalisation:
    """Layer normalisation (Ba, Kiros & Hinton 2016), or the one that only scales (Zhang & Sennrich, "Root
    Mean Square Layer Normalization", 2019), as T5 has it.

    >>> Normalisation().deviation(np.array([3.0, -3.0])).round(3).tolist()
    [3.0]
    >>> Normalisation(is_centred=False).of(np.array([2.0, 2.0]), np.ones(2), np.zeros(2)).round(3).tolist()
    [1.0, 1.0]
    """

    epsilon: float = EPSILON
    is_centred: bool = True  # whether the mean is taken away first

    def deviation(self, stream: np.ndarray) -> np.ndarray:
        """(..., D) -> (..., 1): the divisor."""
        return np.sqrt((self._centred(stream) ** 2).mean(axis=-1, keepdims=True) + self.epsilon)

    def of(self, stream: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """(..., D) normalised."""
        # The mean is taken once and arrays are changed in place, because this is a fifth of a patched pass.
        centred = self._centred(stream)
        square = np.einsum("...d,...d->...", centred, centred)[..., None] / centred.shape[-1]
        found = np.divide(centred, np.sqrt(square + self.epsilon), out=centred if self.is_centred else None)
        found *= gamma
        found += beta
        return found

    def before(self, towards: np.ndarray, entering: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """(N, D) directions behind a normalisation as directions before it, with the scale of its input,
        ``entering`` (N, D).
        """
        return self._centred(towards * gamma) / self.deviation(entering)

    def gradient(self, towards: np.ndarray, entering: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """(..., D) gradients behind a normalisation as those before it, at ``entering`` (..., D)."""
        towards, deviation = towards * gamma, self.deviation(entering)
        unit = self._centred(entering) / deviation
        return self._centred(towards - unit * (towards * unit).mean(axis=-1, keepdims=True)) / deviation

    def _centred(self, vectors: np.ndarray) -> np.ndarray:
        if not self.is_centred:
            return vectors
        # einsum adds along the last axis three times faster than ``mean``.
        return vectors - np.einsum("...d->...", vectors)[..., None] / vectors.dtype.type(vectors.shape[-1])


@dataclass(frozen=True)
class OutputWeights:
    """The weights that, with the taps of a pass (``model.trace.interventions``), give the addition of each
    part of the decoder to each logit.

    ``Corrector.output_weights`` returns a network's; they are the same for all sentences. A logit is the dot
    product of a token's vector with the normalised end of the residual stream, plus a bias (Vaswani et al.
    2017, section 3.4)::

        weights = corrector.output_weights()
        logits = corrector.taps("머거요", "먹어요", ["decoder_residual"])["decoder_residual"][-1]  # (T, D)
        logits = weights.read("decoder", logits) @ weights.vocabulary.T + weights.bias  # (T, V)

    ``norms`` holds gamma and beta of the normalisations between a sub-layer's output and the end. With
    ``norm_first`` that is one for each side, behind its last layer. Without it one comes behind each
    sub-layer, in their order.
    """

    norm_first: bool
    # By kind of the decoder's attention (L, H, D/H, D): the rows of a head
    kernels: dict[str, np.ndarray]
    # By the same (L, D): biases of the output projections, which belong to no head
    biases: dict[str, np.ndarray]
    norms: dict[str, np.ndarray]  # by side, "encoder" or "decoder": (norms, 2, D)
    vocabulary: np.ndarray  # (V, D): for a syllable the sum of the vectors of itself and of its jamo
    bias: np.ndarray  # (V,)
    # "initial", "medial", "final": (jamo, D) in the order of ``model.text.hangul``; none of other people's
    # networks
    jamo: dict[str, np.ndarray]
    normalisation: Normalisation = Normalisation()

    def read(self, side: str, stream: np.ndarray) -> np.ndarray:
        """A residual stream (..., D) of "encoder" or "decoder" as the output layer would read it at this
        place.

        With ``norm_first`` it is normalised as the end of the stream is; else each place is normalised
        already.

        >>> ones = np.ones((1, 2, 4), np.float32) * [[[1], [0]]]
        >>> none = np.zeros((0, 4), np.float32)
        >>> weights = OutputWeights(True, {}, {}, {"decoder": ones}, none, none[:, 0], {})
        >>> weights.read("decoder", np.array([0.0, 2.0, 0.0, 2.0])).round(3).tolist()
        [-1.0, 1.0, -1.0, 1.0]
        """
        if not self.norm_first:
            return stream
        return self.normalisation.of(stream, *self.norms[side][-1])


@dataclass(frozen=True)
class Projections:
    """The projected queries, keys and values of one kind of attention (Vaswani et al. 2017, section 3.2.2).

    The weights of a trace are ``softmax(query · keyᵀ / sqrt(d))`` over the keys that the mask allows, with
    d = D/H. Shapes: L layers, H heads, Q query and K key positions.
    """

    query: np.ndarray  # (L, H, Q, d) float32
    key: np.ndarray  # (L, H, K, d) float32
    value: np.ndarray  # (L, H, K, d) float32


class Slopes(NamedTuple):
    """The gradients for integrated gradients.

    All token embeddings are multiplied by a factor that goes from 0 to 1 in N points; at each point come the
    score and its derivatives by the factor of each token.
    """

    score: np.ndarray  # (N,) float32
    source: np.ndarray  # (N, S) float32, d score / d factor of each source token's embedding
    target: np.ndarray  # (N, T) float32, of each token the decoder has read


class Insides(NamedTuple):
    """The inner activations of one pass over one sentence, by kind of attention."""

    attention: dict[str, np.ndarray]  # (L, H, Q, K)
    values: dict[str, np.ndarray]  # (L, H, K, D/H) value vectors
    entering: dict[str, np.ndarray]  # (L, Q, D) the residual stream before each attention
    output_kernels: dict[str, np.ndarray]  # (L, H, D/H, D) each head's part of the output projection
    output_biases: dict[str, np.ndarray]  # (L, D)
    # (L, D) of the normalisation behind each; None where none follows.
    norm_scales: dict[str, np.ndarray] | None


class Zeroed(NamedTuple):
    """How much the output of each decoder layer changes if the values of one position are zeroed: cosine
    distances in 0..2.
    """

    decoder: np.ndarray  # (L, T, T): the change of row t, by the position that the decoder has read
    cross: np.ndarray  # (L, T, S): the change of row t, by the source position
