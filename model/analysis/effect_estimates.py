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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.activations.gradients import BACKWARD_TAPS, BackwardPass
from model.activations.walk import ActivationWalk
from model.analysis.ablation import AblationValues, Edge, mean_values
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.residual_stream import stream_taps
from model.analysis.saving import Result
from model.correction.answers import Network
from model.trace.interventions import ATTENTIONS, Contrast, Node, Patch, Patches, tap

CHECKED = 5  # nodes whose exact effects stand beside their estimates
_TAPS = (*BACKWARD_TAPS, *stream_taps("heads"))


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
        backward = BackwardPass(run.network, found, run.direction(run.ended(found)))
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
    backward = BackwardPass(network, found, network.difference(wanted, rival))
    return backward.outputs, float(logits[wanted] - logits[rival])


def _between(
    clean: Mapping[str, np.ndarray], embeddings: Mapping[str, np.ndarray], share: float
) -> tuple[Patch, ...]:
    """The patches that begin both streams between the ablated embeddings and, at ``share`` 1, clean ones."""
    patches = []
    for side in ATTENTIONS:
        embedding = clean[tap(side, "embedding")]
        moved = (1 - share) * (embeddings[side] - embedding)
        if len(embedding):
            patches.append(Patch(tap(side, "residual"), 0, clean[tap(side, "residual")][0] + moved))
    return tuple(patches)
