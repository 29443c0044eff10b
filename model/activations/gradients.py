"""``BackwardPass``: gradients of a score in the NumPy walk, by backpropagation.

``BackwardPass`` goes from the score back to the output of each node, to the stream that each node reads, and
to the beginning of both streams. ``embedding_slopes`` computes the derivatives for gradient × input and
integrated gradients. No library with automatic differentiation is loaded.

Shapes: B passes, N points of a path, L layers, H heads, Q query and K key positions, S source and T target
tokens, D d_model, d = D/H.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from model.activations.replacements import Rows
from model.activations.walk import ONE_CORE, ActivationWalk, LastRows
from model.trace.interventions import ATTENTIONS, Node, Slopes, sublayer_at, tap

_KINDS = tuple(kind for kinds in ATTENTIONS.values() for kind in kinds)
BACKWARD_TAPS = (
    *(tap(side, part) for side in ATTENTIONS for part in ("residual", "output")),
    *(tap(kind, part) for kind in _KINDS for part in ("query", "key", "value")),
    *_KINDS,  # the weights
)
_AT_ONCE = 32  # points of a path: the weights of all heads are kept

Graded = Callable[[LastRows], tuple[np.ndarray, np.ndarray]]  # scores (N,), and gradients (N, D) or (D,)


def embedding_slopes(
    network: ActivationWalk,
    ids: tuple[Sequence[int], Sequence[int]],
    shares: Sequence[float],
    graded: Graded,
    row: int | None = None,
) -> Slopes:
    """``laboratory.Passes.slopes`` of any score: its derivatives by a factor of each token's embedding.

    Args:
        ids: (S,) of the source and (T,) of the target.
        graded: the scores of passes, and their gradients at the end of the decoder's stream in ``row``.
        row: of the decoder; by default its last.
    """
    source, target = ids
    at = -1 if row is None else row - len(target)
    begun = {
        side: network.stream_start(read, side) - network.positions(len(read), side)
        for side, read in zip(ATTENTIONS, network.inputs(source, target), strict=True)
    }
    scores, slopes = [], {side: list[np.ndarray]() for side in begun}
    for cut in range(0, len(shares), _AT_ONCE):
        factors = [partial(np.multiply, np.float32(share)) for share in shares[cut : cut + _AT_ONCE]]
        changes = [{f"{side}.embedding": factor for side in begun} for factor in factors]
        ends, found = network.run(Rows([source], [target], changes, {}), BACKWARD_TAPS)
        score, directions = graded(LastRows(network, ends[:, at]))
        backward = BackwardPass(network, found, directions, at)
        scores.append(score)
        for side, embedding in begun.items():
            towards = backward.begun.get(side, np.zeros((len(score), *embedding.shape), np.float32))
            slopes[side].append(np.einsum("nqd,qd->nq", towards, embedding))
    by_source, before = (np.concatenate(each) for each in slopes.values())
    if not network.layers("encoder"):  # one sequence, without a start mark
        by_source, before = np.split(before, [len(source)], axis=1)
        before = np.pad(before, ((0, 0), (1, 0)))
    return Slopes(*(part.astype(np.float32) for part in (np.concatenate(scores), by_source, before)))


class BackwardPass:
    """The gradients of one score in each of B passes.

    ``found``: ``BACKWARD_TAPS`` of the passes. ``direction`` (B, D) or (D,): the gradient of the score at the
    closed end of the decoder's stream in position ``row``.

    ``outputs``: by node (B, Q, d) or (B, Q, D), with respect to its output. ``inputs``: by node, side and
    place of the stream, (B, Q, D) or (B, S, D) with respect to the stream that this node alone reads there.
    ``begun``: by side (B, Q, D), with respect to the beginning of its stream. One pass without B has results
    without B.
    """

    def __init__(
        self, network: ActivationWalk, found: Mapping[str, np.ndarray], direction: np.ndarray, row: int = -1
    ):
        self.network, self.found = network, found
        self.outputs: dict[Node, np.ndarray] = {}
        self.inputs: dict[tuple[Node | None, str, int], np.ndarray] = {}
        self.begun: dict[str, np.ndarray] = {}
        end = np.zeros_like(found["decoder_residual"][..., -1, :, :])
        end[..., row, :] = direction
        with ONE_CORE.products():
            self._through("decoder", self._closed("decoder", end, None))
            if read := [each for (_, side, _), each in self.inputs.items() if side == "encoder"]:
                self._through("encoder", np.sum(read, axis=0))

    def edges(self) -> Iterator[tuple[Node, Node | None, np.ndarray]]:
        """Each sender and receiver, and the gradient (B, Q, D) with respect to the sender's addition."""
        for (receiver, side, place), towards in self.inputs.items():
            for sublayer in reversed(range(place)):
                towards = self._left(side, sublayer, towards)
                for node in self.network.nodes:
                    if (node.side, node.sublayer) == (side, sublayer):
                        yield node, receiver, towards

    def _through(self, side: str, towards: np.ndarray) -> None:
        """From the gradient (B, Q, D) at the end of a stream to its beginning."""
        network = self.network
        stream = np.moveaxis(self.found[tap(side, "residual")], -3, 0)  # (places, B, Q, D)
        for sublayer in reversed(range(len(stream) - 1)):
            kind, layer = sublayer_at(side, sublayer)
            if not network.has(kind):
                continue
            towards = self._left(side, sublayer, towards)
            entered = network.enter(kind, layer, stream[sublayer])
            if kind in ATTENTIONS[side]:
                read = self._attention(kind, layer, entered, towards)
            else:
                self.outputs[Node(kind, layer)] = towards
                read = {Node(kind, layer): network.feed_forward_gradient(side, layer, entered, towards)}
            for node, gradient in read.items():
                if network.config.norm_first:
                    gamma, _ = network.norm_weights(kind, layer)
                    gradient = network.normalisation.gradient(gradient, stream[sublayer], gamma)
                self.inputs[node, side, sublayer] = gradient
                towards = towards + gradient
        self.begun[side] = towards

    def _attention(
        self, kind: str, layer: int, entered: np.ndarray, towards: np.ndarray
    ) -> dict[Node, np.ndarray]:
        """By head: the gradient (B, Q, D) with respect to its input, in the stream that asks."""
        network, found = self.network, {}
        (kernels,), _ = network.output_projections(kind, [layer])  # (H, d, D)
        for head, kernel in enumerate(kernels):
            node = Node(kind, layer, head)
            weights = self.found[kind][..., layer, head, :, :]  # (B, Q, K)
            query, key, value = (
                self.found[tap(kind, part)][..., layer, head, :, :] for part in ("query", "key", "value")
            )
            self.outputs[node] = of_head = towards @ kernel.T
            of_weights = of_head @ value.swapaxes(-1, -2)
            of_scores = weights * (of_weights - (weights * of_weights).sum(axis=-1, keepdims=True))
            of_scores /= network.scale(key.shape[-1])
            asked = self._projected(node, "query", of_scores @ key)
            read = self._projected(node, "key", of_scores.swapaxes(-1, -2) @ query)
            read += self._projected(node, "value", weights.swapaxes(-1, -2) @ of_head)
            if kind == "cross_attention":
                end = self.found["encoder_residual"].shape[-3] - 1
                self.inputs[node, "encoder", end] = self._closed("encoder", read, node)
            else:
                asked = asked + read
            found[node] = asked
        return found

    def _projected(self, node: Node, part: str, towards: np.ndarray) -> np.ndarray:
        """The gradient with respect to the input of a projection, from that (B, Q, d) of its result."""
        if part != "value":
            towards = self.network.turned_gradient(self.network.projection_name(node, part), towards)
        return towards @ self.network.projection(node, part)[0].T

    def _closed(self, side: str, towards: np.ndarray, receiver: Node | None) -> np.ndarray:
        """The gradient before the last normalisation of a side, whose end ``receiver`` reads."""
        stream = self.found[tap(side, "residual")]
        if self.network.config.norm_first and self.network.layers(side):
            gamma, _ = self.network.closing_norm(side)
            towards = self.network.normalisation.gradient(towards, stream[..., -1, :, :], gamma)
        self.inputs[receiver, side, stream.shape[-3] - 1] = towards
        return towards

    def _left(self, side: str, sublayer: int, towards: np.ndarray) -> np.ndarray:
        """The gradient with respect to the sum of stream and output, where a normalisation follows it."""
        network, (kind, layer) = self.network, sublayer_at(side, sublayer)
        if network.config.norm_first or not network.has(kind):
            return towards
        residual, output = (
            self.found[tap(side, part)][..., sublayer, :, :] for part in ("residual", "output")
        )
        return network.normalisation.gradient(
            towards, residual + output, network.norm_weights(kind, layer)[0]
        )
