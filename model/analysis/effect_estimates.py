"""Attribution patching: fast estimates of the effects of all nodes and edges from gradients.

The effect of an ablation is estimated to first order: the ablated change of an output times the gradient of
the score. One forward and one backward pass estimate all nodes and edges, where exact effects
(``node_effects``, ``circuit_edges``) need a pass each. With several ``steps`` the gradient is averaged over
passes whose embeddings lie between the ablated and the clean ones (EAP-IG). An estimate can be far off, so
every result has the exact effects of its largest nodes beside it.

Shapes: N nodes, C checked nodes, L layers, H heads, Q query and K key positions, S source tokens, D d_model,
d = D/H.

References:
    Nanda, "Attribution Patching: Activation Patching At Industrial Scale" (2023).
    Syed, Rager & Conmy, "Attribution Patching Outperforms Automated Circuit Discovery" (2023).
    Hanna, Pezzelle & Belinkov, "Have Faith in Faithfulness" (2024), for EAP-IG.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.activations.walk import ActivationWalk
from model.analysis.ablation import AblationValues, Edge, mean_values
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.residual_stream import stream_taps
from model.analysis.saving import Result
from model.correction.answers import Network
from model.trace.interventions import ATTENTIONS, SUBLAYERS, Contrast, Node, Patch, Patches, Slopes, tap

CHECKED = 5  # nodes whose exact effects stand beside their estimates
_WEIGHTS = tuple(kind for kinds in ATTENTIONS.values() for kind in kinds)
_TAPS = (*stream_taps("query", "key", "value", "heads"), *_WEIGHTS)


@dataclass(frozen=True)
class EffectEstimates(Result):
    """Estimates of effects in nats, positive in favour of the written token; never the effects themselves."""

    contrast: Contrast
    reference: str  # of the ablation values
    method: str
    nodes: tuple[Node, ...]  # (N,) in the order in which data passes them
    total: np.ndarray  # (N,) float32, of the total effects
    edges: tuple[Edge, ...]  # between nodes, and from nodes to the answer, in the whole network
    checked: tuple[Node, ...]  # (C,) the nodes with the largest estimates
    exact: np.ndarray  # (C,) float32: their exact total effects

    @property
    def error(self) -> float:
        """The mean distance in nats between estimates and exact effects of the checked nodes."""
        places = [self.nodes.index(node) for node in self.checked]
        return float(np.abs(self.total[places] - self.exact).mean())


def attribution_patching(
    corrector: Network, edit: Edit, ablation: AblationValues | None = None, steps: int = 1
) -> EffectEstimates:
    """Estimate the total effect of each node and the effect of each edge by gradients.

    Args:
        ablation: the values of ablated nodes, by default ``mean_values``.
        steps: gradients that are averaged: 1 is attribution patching, more are EAP-IG (5 in its paper).

    Raises:
        ValueError: as ``contrast_of_edit`` does, and for a network without a residual stream.

    Example:
        >>> found = attribution_patching(corrector, *edits_of("머거요", "먹어요"))
        >>> found.method, found.total.shape, found.error > 0
        ('attribution patching (estimate)', (56,), True)
    """
    run, values = CleanRun(corrector, edit), ablation or mean_values(corrector, edit.source, edit.target)
    clean = run.taps(_TAPS)
    lost = {
        node: clean[node.tap][node.place] - np.broadcast_to(value, clean[node.tap][node.place].shape)
        for node, value in values.nodes.items()
    }
    total, edges = dict.fromkeys(run.network.nodes, 0.0), defaultdict[tuple[Node, Node | None], float](float)
    for step in range(1, steps + 1):
        found = clean if step == steps else run.taps(_TAPS, _between(clean, values.embeddings, step / steps))
        backward = _Backward(run.network, found, run.direction(found))
        for node, gradient in backward.outputs.items():
            total[node] += float((lost[node] * gradient).sum()) / steps
        for sender, receiver, towards in backward.edges():
            written = run.network.written(sender, lost[sender])
            edges[sender, receiver] += float((written * towards).sum()) / steps
    checked = sorted(total, key=lambda node: -abs(total[node]))[:CHECKED]
    score, *less = run.scores([(), *(values.patches([node]) for node in checked)])
    how = "attribution patching" if steps == 1 else f"EAP-IG over {steps} steps"
    return EffectEstimates(
        contrast=run.contrast,
        reference=values.reference,
        method=f"{how} (estimate)",
        nodes=tuple(total),
        total=np.array([*total.values()], np.float32),
        edges=tuple(Edge(*ends, nats) for ends, nats in edges.items()),
        checked=tuple(checked),
        exact=(score - np.array(less)).astype(np.float32),
    )


def output_gradients(
    network: ActivationWalk, source: Sequence[int], target: Sequence[int], patches: Patches = ()
) -> tuple[dict[Node, np.ndarray], float]:
    """The gradients of the margin of the last token of ``target`` with respect to the output of each node.

    Returns:
        The gradients in the patched pass by node, (Q, D/H) of a head and (Q, D) of a feed-forward network;
        and the margin: the logit of the token minus that of its most probable rival, in nats.
    """
    found = network.taps(source, target, (*_TAPS, "logits"), patches)
    logits, wanted = found["logits"][-1].astype(np.float64), target[-1]
    rivals = logits.copy()
    rivals[wanted] = -np.inf
    rival = int(rivals.argmax())
    backward = _Backward(network, found, network.difference(wanted, rival))
    return backward.outputs, float(logits[wanted] - logits[rival])


def embedding_slopes(run: CleanRun, shares: Sequence[float]) -> Slopes:
    """``Passes.slopes`` of any question, by the walk: the derivatives of its score by the embeddings.

    >>> run = CleanRun(corrector, *edits_of("머거요", "먹어요"))
    >>> exact = corrector.laboratory.slopes(*run.ids, (0, run.contrast.written, run.contrast.instead), [0.5])
    >>> bool(np.allclose(embedding_slopes(run, [0.5]).source, exact.source, atol=1e-3))
    True
    """
    clean, nothing = run.taps(_TAPS), dict.fromkeys(ATTENTIONS, np.float32(0))
    scores, sides = [], {side: list[np.ndarray]() for side in ATTENTIONS}
    for share in shares:
        found = run.taps(_TAPS, _between(clean, nothing, share))
        backward = _Backward(run.network, found, run.direction(found))
        scores += run.scored(run.ended(found)).tolist()
        for side, slopes in sides.items():
            embedding = clean[tap(side, "embedding")]
            towards = backward.begun.get(side, np.zeros_like(embedding))
            slopes.append((towards * embedding).sum(axis=-1))
    source, before = (np.array(each, np.float32) for each in sides.values())
    if not run.network.layers("encoder"):  # one sequence, without a start mark
        source, before = np.split(before, [len(run.ids[0])], axis=1)
        before = np.pad(before, ((0, 0), (1, 0)))
    return Slopes(np.array(scores, np.float32), source, before)


def _between(
    clean: Mapping[str, np.ndarray], embeddings: Mapping[str, np.ndarray | np.float32], share: float
) -> tuple[Patch, ...]:
    """The patches that begin both streams between the ablated embeddings and, at ``share`` 1, clean ones."""
    patches = []
    for side in ATTENTIONS:
        embedding = clean[tap(side, "embedding")]
        moved = (1 - share) * (embeddings[side] - embedding)
        if len(embedding):
            patches.append(Patch(tap(side, "residual"), 0, clean[tap(side, "residual")][0] + moved))
    return tuple(patches)


class _Backward:
    """The gradients of one score in one pass.

    ``outputs``: by node (Q, d) or (Q, D), with respect to its output. ``inputs``: by node, side and place of
    the stream, (Q, D) or (S, D) with respect to the stream that this node alone reads there. ``begun``: by
    side (Q, D), with respect to the beginning of its stream.
    """

    def __init__(self, network: ActivationWalk, found: Mapping[str, np.ndarray], direction: np.ndarray):
        self.network, self.found = network, found
        self.outputs: dict[Node, np.ndarray] = {}
        self.inputs: dict[tuple[Node | None, str, int], np.ndarray] = {}
        self.begun: dict[str, np.ndarray] = {}
        end = np.zeros_like(found["decoder_residual"][-1])
        end[-1] = direction
        self._through("decoder", self._closed("decoder", end, None))
        if read := [each for (_, side, _), each in self.inputs.items() if side == "encoder"]:
            self._through("encoder", np.sum(read, axis=0))

    def edges(self) -> Iterator[tuple[Node, Node | None, np.ndarray]]:
        """Each sender and receiver, and the gradient (Q, D) with respect to the sender's addition."""
        for (receiver, side, place), towards in self.inputs.items():
            for sublayer in reversed(range(place)):
                towards = self._left(side, sublayer, towards)
                for node in self.network.nodes:
                    if (node.side, node.sublayer) == (side, sublayer):
                        yield node, receiver, towards

    def _through(self, side: str, towards: np.ndarray) -> None:
        """From the gradient (Q, D) at the end of a stream to its beginning."""
        network, residual = self.network, self.found[tap(side, "residual")]
        kinds = SUBLAYERS[side]
        for sublayer in reversed(range(len(residual) - 1)):
            layer, kind = sublayer // len(kinds), kinds[sublayer % len(kinds)]
            if not network.has(kind):
                continue
            towards = self._left(side, sublayer, towards)
            entered = network.enter(kind, layer, residual[sublayer])
            if kind in ATTENTIONS[side]:
                read = self._attention(kind, layer, entered, towards)
            else:
                self.outputs[Node(kind, layer)] = towards
                read = {Node(kind, layer): network.feed_forward_gradient(side, layer, entered, towards)}
            for node, gradient in read.items():
                if network.config.norm_first:
                    gamma, _ = network.norm_weights(kind, layer)
                    gradient = network.normalisation.gradient(gradient, residual[sublayer], gamma)
                self.inputs[node, side, sublayer] = gradient
                towards = towards + gradient
        self.begun[side] = towards

    def _attention(
        self, kind: str, layer: int, entered: np.ndarray, towards: np.ndarray
    ) -> dict[Node, np.ndarray]:
        """By head: the gradient (Q, D) with respect to the input that asks, and in its own stream is read."""
        network, found = self.network, {}
        (kernels,), _ = network.output_projections(kind, [layer])  # (H, d, D)
        for head, kernel in enumerate(kernels):
            node = Node(kind, layer, head)
            weights = self.found[kind][layer, head]  # (Q, K)
            query, key, value = (
                self.found[tap(kind, part)][layer, head] for part in ("query", "key", "value")
            )
            self.outputs[node] = of_head = towards @ kernel.T
            of_weights = of_head @ value.T
            of_scores = weights * (of_weights - (weights * of_weights).sum(axis=-1, keepdims=True))
            of_scores /= network.scale(key.shape[-1])
            asked = self._projected(node, "query", of_scores @ key)
            read = self._projected(node, "key", of_scores.T @ query)
            read += self._projected(node, "value", weights.T @ of_head)
            if kind == "cross_attention":
                end = len(self.found["encoder_residual"]) - 1
                self.inputs[node, "encoder", end] = self._closed("encoder", read, node)
            else:
                asked = asked + read
            found[node] = asked
        return found

    def _projected(self, node: Node, part: str, towards: np.ndarray) -> np.ndarray:
        """The gradient with respect to the input of a projection, from that (Q, d) of its result."""
        if part != "value":
            towards = self.network.turned_gradient(self.network.projection_name(node, part), towards)
        return towards @ self.network.projection(node, part)[0].T

    def _closed(self, side: str, towards: np.ndarray, receiver: Node | None) -> np.ndarray:
        """The gradient before the last normalisation of a side, whose end ``receiver`` reads."""
        stream = self.found[tap(side, "residual")]
        if self.network.config.norm_first and self.network.layers(side):
            gamma, _ = self.network.closing_norm(side)
            towards = self.network.normalisation.gradient(towards, stream[-1], gamma)
        self.inputs[receiver, side, len(stream) - 1] = towards
        return towards

    def _left(self, side: str, sublayer: int, towards: np.ndarray) -> np.ndarray:
        """The gradient with respect to the sum of stream and output, where a normalisation follows it."""
        network, kinds = self.network, SUBLAYERS[side]
        kind, layer = kinds[sublayer % len(kinds)], sublayer // len(kinds)
        if network.config.norm_first or not network.has(kind):
            return towards
        residual, output = (self.found[tap(side, part)][sublayer] for part in ("residual", "output"))
        return network.normalisation.gradient(
            towards, residual + output, network.norm_weights(kind, layer)[0]
        )
