"""What stands in for a part of a network where the part is taken away: its mean, or what it puts out in a twin.

A mean disturbs a network less than zeros, which it may never meet (Wang et al., "Interpretability in the Wild", 2023, section 2).
It is taken over the positions of the everyday sentences that ship with the product, as typed and as they are right. A twin is a sentence
in which the character is not corrected. What a part puts out there leaves all in place that both sentences share (Conmy et al., "Towards
Automated Circuit Discovery", 2023).

L layers, H heads, D d_model.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from model.activations.walk import PatchedTransformer
from model.analysis.twin_runs import CorruptedRun
from model.correction.answers import Network
from model.stored.config import INSIDE
from model.stored.folder import ASSETS
from model.text.tokenizer import Tokenizer
from model.trace.patches import ATTENTIONS, Node, Patch, Patches
from model.trace.taps import tap

SENTENCES = "everyday.json"
_SIDES = tuple(ATTENTIONS)
_TAPS = tuple(
    name
    for side, kinds in ATTENTIONS.items()
    for name in (tap(side, "output"), tap(side, "embedding"), *(tap(kind, "heads") for kind in kinds))
)


@dataclass(frozen=True)
class AblationValues:
    """What stands in for every part and for the tokens' embeddings. An array without positions is the same at all of them.

    >>> node = Node("encoder_feed_forward", 0)
    >>> AblationValues({node: np.zeros(4)}, {}).patches([node])[0].place
    1
    """

    # (D/H,) or (Q, D/H) of a head, before the output projection; (D,) or (Q, D) of the others
    nodes: dict[Node, np.ndarray]
    embeddings: dict[str, np.ndarray]  # by side (D,) or (Q, D)

    def patches(self, nodes: Iterable[Node]) -> Patches:
        """What is put in the place of these parts, at all positions."""
        return tuple(Patch.of(node, self.nodes[node]) for node in nodes)


@cache
def everyday_pairs() -> tuple[tuple[str, str], ...]:
    """(as typed, as it is right) of each shipped sentence.

    >>> len(everyday_pairs()) > 30
    True
    """
    return tuple((wrong, right) for wrong, right in json.loads((ASSETS / SENTENCES).read_text("utf-8")))


def corpus_means(
    network: PatchedTransformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]] | None = None
) -> AblationValues:
    """The means of a network over ``pairs``, by default over ``everyday_pairs``. They take a fifth of a second, and are kept.

    >>> means = corpus_means(corrector.patched, corrector.tokenizer)
    >>> means.nodes[Node("cross_attention", 3, 0)].shape, means.embeddings["decoder"].shape
    ((32,), (128,))
    """
    return _means(network, tokenizer, tuple(pairs or everyday_pairs()))


def mean_values(corrector: Network, source: str, target: str) -> AblationValues:
    """``corpus_means`` of a network of ours. Nobody knows what sentences another network is made for, so its means are taken over the
    positions of this sentence.

    >>> mean_values(corrector, "머거요", "먹어요") is mean_values(corrector, "바비", "밥이")
    True
    """
    ours = INSIDE in corrector.config.abilities
    return corpus_means(corrector.patched, corrector.tokenizer, None if ours else ((source, target),))


@lru_cache(maxsize=4)
def _means(
    network: PatchedTransformer, tokenizer: Tokenizer, pairs: tuple[tuple[str, str], ...]
) -> AblationValues:
    sums: dict[str, np.ndarray] = {}
    positions = dict.fromkeys(_SIDES, 0)
    for wrong, right in pairs:
        found = network.taps(tokenizer.encode_source(wrong), tokenizer.encode_target(right), _TAPS)
        for name, array in found.items():
            sums[name] = sums.get(name, 0) + array.sum(axis=-2, dtype=np.float64)  # over positions
        for side in _SIDES:
            positions[side] += found[tap(side, "embedding")].shape[0]
    nodes = {
        node: (sums[node.tap][node.place] / positions[node.side]).astype(np.float32) for node in network.nodes
    }
    embeddings = {
        side: (sums[tap(side, "embedding")] / positions[side]).astype(np.float32) for side in _SIDES
    }
    return AblationValues(nodes, embeddings)


def corrupted_values(network: PatchedTransformer, tokenizer: Tokenizer, twin: CorruptedRun) -> AblationValues:
    """What every part puts out in a twin. Its positions have to be those of the typed sentence, as in ``corrupted_by_exchange``.

    Raises ValueError for a twin with other positions.

    >>> from model.analysis.twin_runs import corrupted_by_exchange
    >>> from model.text.changes import find_changes
    >>> twin = corrupted_by_exchange(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> corrupted_values(corrector.patched, corrector.tokenizer, twin).nodes[Node("cross_attention", 3, 0)].shape
    (1, 32)
    """
    shifted = (
        (twin.source_places, range(len(twin.source) + 1)),
        (twin.target_places, range(len(twin.written) + 1)),
    )
    if any(places != tuple(same) for places, same in shifted):
        raise ValueError("the twin should have the positions of the typed sentence")
    found = network.taps(tokenizer.encode_source(twin.source), tokenizer.encode_target(twin.written), _TAPS)
    nodes = network.nodes
    return AblationValues(
        {node: found[node.tap][node.place] for node in nodes},
        {side: found[tap(side, "embedding")] for side in _SIDES},
    )
