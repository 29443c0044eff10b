"""What each part is worth to a correction: in all, and by what the answer itself reads of it.

The output of a part is replaced by its mean over a corpus (``stand_ins``). The total effect is what the score loses when all later parts
read the mean. The direct effect is what it loses when only the answer reads it, and all parts between stay as they were. The difference
goes through later parts. Sources: Pearl, "Direct and Indirect Effects" (2001); Vig et al., "Causal Mediation Analysis for Interpreting
Neural NLP" (2020).

N parts, D d_model.
"""

from dataclasses import dataclass

import numpy as np

from model.analysis.stand_ins import AblationValues, mean_values
from model.correction.answers import Network
from model.trace.odds import Contrast
from model.trace.patches import Node

_TAPS = ("decoder_residual", "decoder_output", "decoder_heads", "cross_heads")


@dataclass(frozen=True)
class NodeEffects:
    """In nats, of the score log p(written) - log p(instead). More than 0: the part speaks for what was written.

    >>> contrast = Contrast(0, 5, 7, "먹", "머")
    >>> effects = NodeEffects(contrast, 8.5, (Node("cross_attention", 3, 0),), np.array([4.5]), np.array([3.0]))
    >>> float(effects.total[0] - effects.direct[0])  # what goes through later parts
    1.5
    """

    contrast: Contrast
    score: float  # of the whole network
    nodes: tuple[Node, ...]  # (N,) in the order in which data passes them
    total: np.ndarray  # (N,) float32
    direct: np.ndarray  # (N,) float32; 0 of the encoder's parts, which the answer does not read


def node_effects(
    corrector: Network, source: str, target: str, contrast: Contrast, ablation: AblationValues | None = None
) -> NodeEffects:
    """The effects of every head and feed-forward network of both sides. ``ablation``: what replaces their outputs, by default ``mean_values``.

    Raises ValueError for a network without a residual stream.

    >>> from model.analysis.contrasts import contrast_of_change
    >>> from model.text.changes import find_changes
    >>> contrast = contrast_of_change(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> effects = node_effects(corrector, "머거요", "먹어요", contrast)
    >>> last = effects.nodes.index(Node("decoder_feed_forward", 3))  # only the answer reads it
    >>> bool(np.isclose(effects.total[last], effects.direct[last], atol=1e-3))
    True
    """
    network, tokenizer = corrector.patched, corrector.tokenizer
    ablation = ablation or mean_values(corrector, source, target)
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)[: contrast.row + 1]
    nodes = network.nodes
    asked = contrast.written, contrast.instead
    without = network.passes(*ids, [(), *(ablation.patches([node]) for node in nodes)]).score(*asked)
    return NodeEffects(
        contrast=contrast,
        score=float(without[0]),
        nodes=nodes,
        total=(without[0] - without[1:]).astype(np.float32),
        direct=_direct(corrector, ids, nodes, ablation, contrast),
    )


def _direct(
    corrector: Network,
    ids: tuple[list[int], list[int]],
    nodes: tuple[Node, ...],
    ablation: AblationValues,
    contrast: Contrast,
) -> np.ndarray:
    """(N,): what the score loses when the end of the stream alone holds the mean of a part."""
    network = corrector.patched
    found = network.taps(*ids, _TAPS)
    residual, output = (found[name][:, -1:] for name in _TAPS[:2])  # (places, 1, D)
    writing = [number for number, node in enumerate(nodes) if node.side == "decoder"]
    ends = [residual[-1]]
    for node in (nodes[number] for number in writing):
        mean = np.atleast_2d(ablation.nodes[node])[-1:]
        added = network.written(node, mean - found[node.tap][node.place][-1:])
        ends.append(network.resumed("decoder", residual, output, len(output), node.sublayer, added))
    read = network.close("decoder", np.stack(ends))[:, 0]  # (1 + writing, D)
    scores = read @ network.difference(contrast.written, contrast.instead)
    effects = np.zeros(len(nodes), np.float32)
    effects[writing] = scores[0] - scores[1:]
    return effects
