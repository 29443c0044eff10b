"""A Transformer with weights written by hand, so that the function of every head is known.

It copies, and writes 먹 for 머 where 거 follows: the coda of 먹 had moved to the next syllable. Three things
are planted, nothing else does anything:

* ``COPY``, a head of cross-attention: row t looks at source position t and copies its token.
* ``CODA``, a head of cross-attention: row t looks at source position t + 1; if it holds 거, it speaks
  for 먹 and against 머.
* ``DECOY``, a head of cross-attention that looks where CODA looks, and writes nothing.

Each of the other heads looks at its own place or at all places alike, and writes nothing.

On request a feed-forward network writes, too: that of layer 2 sees that 먹 is about to be written, and speaks
for it.

Or a circuit of three parts takes the place of ``CODA``: ``MARK``, a head of the encoder, looks at the
next character and marks its own place where that is 거; ``CARRY``, a head of cross-attention, carries the
mark to the row of the same place; ``WRITER``, a feed-forward network, speaks for 먹 and against 머 where it
sees the mark. If one of the three is missing, the others do nothing.
"""

import numpy as np

from model.analysis.contrasts import Edit
from model.text.changes import find_changes
from model.trace.interventions import Head, Node

CHARACTERS = "가나다라머먹거어요."
WRONG, RIGHT = "나머거요.", "나먹거요."
(CHANGE,) = find_changes(WRONG, RIGHT)
EDIT = Edit(WRONG, RIGHT, CHANGE)
ROW, CAUSE = 1, 2  # the row that writes 먹, and the position of 거
LAYERS, HEADS, WIDTH = 2, 2, 64
DEPTH = WIDTH // HEADS
COPY = Head("cross_attention", 0, 0)
DECOY = Head("cross_attention", 0, 1)
CODA = Head("cross_attention", 1, 1)
MARK, CARRY, WRITER = (
    Node("encoder_attention", 1, 0),
    Node("cross_attention", 1, 1),
    Node("decoder_feed_forward", 1),
)
FEED_FORWARD = 1  # the decoder layer whose feed-forward network writes, where one does

_TOKENS = 24  # a token's own dimension is this + 2 * id, where the sinusoid has a sine near 0
_NOTHING = WIDTH - 2  # a dimension that is 0 everywhere: behind a normalisation it holds minus the mean
_MARKED, _CARRIED = (
    WIDTH - 12,
    WIDTH - 10,
)  # dimensions of the encoder's and the decoder's stream for the mark
_TURNING = 8  # pairs of dimensions that tell positions apart
_SHARP = 40.0  # logits of a head fall by more than this from its place to the next
_TOKEN_SIZE, _COPIED, _CODA = 2.0, 6.0, 4.5
# Of the circuit. The mark is small: a large one would change the scale at its place, and where others look
# with it.
_MARK, _CARRY, _WRITE = 0.4, 4.0, 9.0
_THRESHOLD, _ADDED = 1.0, 0.5  # of the feed-forward network that writes, and how strongly


def planted_network(feed_forward: bool = False, circuit: bool = False):
    """(network, tokenizer): built, with the weights described above; ``feed_forward``: whether one of these
    writes; ``circuit``: whether the circuit takes the place of CODA.
    """
    from model.network.networks import Transformer
    from model.stored.config import TransformerConfig
    from model.text.tokenizer import Tokenizer

    tokenizer = Tokenizer(CHARACTERS)
    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=WIDTH,
        num_layers=LAYERS,
        num_heads=HEADS,
        dff=8,
        dropout_rate=0.0,
        norm_first=True,
        max_length=40,
    )
    network = Transformer(config, tokenizer.features())
    network.build()
    for variable in network.weights:
        variable.assign(np.full(variable.shape, variable.name == "gamma", np.float32))
    _plant_tokens(network, tokenizer)
    for kind, layer, head in (
        (k, n, h) for k in ("encoder", "decoder", "cross") for n in (0, 1) for h in (0, 1)
    ):
        attention = _attention(network, kind, layer)
        if (kind, layer, head) in {("cross", 0, 0), ("cross", 0, 1), ("cross", 1, 1)}:
            _look_at(attention, head, ahead=0 if (layer, head) == COPY[1:] else 1)
        elif head == 0:
            _look_at(attention, head, ahead=0)  # head 1 looks at all places alike
    _plant_values(network, tokenizer)
    if feed_forward:
        _plant_feed_forward(network, tokenizer)
    if circuit:
        _plant_circuit(network, tokenizer)
    return network, tokenizer


def planted_corrector(feed_forward: bool = False, circuit: bool = False):
    """It answers as a shipped one does: from a graph, and passes under interventions in NumPy."""
    from model import Corrector
    from model.activations.walk import ActivationWalk
    from model.export.graphs import graph_of
    from model.graph.network import GraphNetwork, GraphWeights, given_arrays, open_halves
    from model.network.keras_network import KerasNetwork

    network, tokenizer = planted_network(feed_forward, circuit)
    config, features, space = network.config, tokenizer.features(), tokenizer.encode_target(" ")[0]
    arrays = given_arrays(config, features, {each.path: each.numpy() for each in network.weights})
    shapes = {each.path: tuple(each.shape) for each in network.weights}
    weights = GraphWeights(
        arrays["embedding/vectors"], shapes, lambda: ActivationWalk(config, features, arrays)
    )
    halves = open_halves(graph_of(config), arrays, "planted")
    answering = GraphNetwork(config, space, halves, weights, lambda: KerasNetwork(network, space))
    return Corrector("planted", answering, tokenizer, fingerprint="planted")


def _attention(network, kind: str, layer: int):
    blocks = network.encoder_blocks if kind == "encoder" else network.decoder_blocks
    return blocks[layer].attentions[f"{kind}_attention"]


def _plant_tokens(network, tokenizer) -> None:
    table = np.zeros((tokenizer.vocab_size, WIDTH), np.float32)
    ids = np.arange(tokenizer.vocab_size)
    table[ids, _TOKENS + 2 * ids] = _TOKEN_SIZE / np.sqrt(WIDTH)
    network.embedding.tables[0].assign(table)
    network.decoder_norm.gamma.assign(np.full(WIDTH, 10, np.float32))


def _turn(ahead: int) -> np.ndarray:
    """(D, D/H): from a position's sinusoid to that of the position ``ahead`` places later."""
    matrix = np.zeros((WIDTH, DEPTH), np.float32)
    for pair in range(_TURNING):
        angle = ahead * 10000.0 ** (-2 * pair / WIDTH)
        sine, cosine = 2 * pair, 2 * pair + 1
        matrix[sine, sine], matrix[cosine, sine] = np.cos(angle), np.sin(angle)
        matrix[sine, cosine], matrix[cosine, cosine] = -np.sin(angle), np.cos(angle)
    matrix[_NOTHING] = -matrix.sum(axis=0)  # takes the mean out again, which differs between positions
    return matrix


def _look_at(attention, head: int, ahead: int) -> None:
    """Let each query look at the position ``ahead`` places later than its own."""
    part = slice(head * DEPTH, (head + 1) * DEPTH)
    for projection, matrix in (
        (attention.query_projection, _SHARP * _turn(ahead)),
        (attention.key_projection, _turn(0)),
    ):
        kernel = projection.kernel.numpy()
        kernel[:, part] = matrix
        projection.kernel.assign(kernel)


def _plant_values(network, tokenizer) -> None:
    tokens = range(tokenizer.vocab_size)
    copying = _attention(network, "cross", 0)
    _connect(copying, COPY.head, [(_TOKENS + 2 * i, i, _TOKENS + 2 * i, _COPIED) for i in tokens])
    meo, meok, geo = (_TOKENS + 2 * tokenizer.encode_target(c)[0] for c in "머먹거")
    coda = _attention(network, "cross", 1)
    _connect(coda, CODA.head, [(geo, 0, meok, _CODA), (geo, 0, meo, -_CODA)])


def _plant_circuit(network, tokenizer) -> None:
    meo, meok, geo = (_TOKENS + 2 * tokenizer.encode_target(c)[0] for c in "머먹거")
    marking, carrying = _attention(network, "encoder", 1), _attention(network, "cross", 1)
    _look_at(marking, MARK.head, ahead=1)
    _connect(marking, MARK.head, [(geo, 0, _MARKED, _MARK)])
    _look_at(carrying, CARRY.head, ahead=0)
    for projection in (carrying.value_projection, carrying.output_projection):
        projection.kernel.assign(np.zeros(projection.kernel.shape, np.float32))
    _connect(carrying, CARRY.head, [(_MARKED, 0, _CARRIED, _CARRY)])
    feed_forward = network.decoder_blocks[WRITER.layer].feed_forward
    for layer, places in (
        ("hidden", {(_CARRIED, 0): 1, (_NOTHING, 0): -1}),
        ("output", {(0, meok): _WRITE, (0, meo): -_WRITE}),
    ):
        dense = feed_forward.get_layer(layer)
        kernel = dense.kernel.numpy()
        for place, size in places.items():
            kernel[place] = size
        dense.kernel.assign(kernel)


def _plant_feed_forward(network, tokenizer) -> None:
    """Its first hidden unit is above 0 only where CODA has spoken for 먹 or 먹 was written before."""
    meok = _TOKENS + 2 * tokenizer.encode_target("먹")[0]
    for layer, places in (("hidden", {(meok, 0): 1, (_NOTHING, 0): -1}), ("output", {(0, meok): _ADDED})):
        dense = network.decoder_blocks[FEED_FORWARD].feed_forward.get_layer(layer)
        kernel = dense.kernel.numpy()
        for place, size in places.items():
            kernel[place] = size
        dense.kernel.assign(kernel)
        if layer == "hidden":
            dense.bias.assign(np.eye(1, kernel.shape[1], dtype=np.float32)[0] * -_THRESHOLD)


def _connect(attention, head: int, links) -> None:
    """Each link: a dimension that is read, the head's own that carries it, one that is written, and how
    strongly."""
    values, outputs = (p.kernel.numpy() for p in (attention.value_projection, attention.output_projection))
    for read, carrier, written, size in links:
        values[read, head * DEPTH + carrier] = 1
        values[_NOTHING, head * DEPTH + carrier] = -1
        outputs[head * DEPTH + carrier, written] = size
    attention.value_projection.kernel.assign(values)
    attention.output_projection.kernel.assign(outputs)
