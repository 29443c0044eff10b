"""Ablation values, and the total and direct effects of nodes.

An ablated node puts out its mean over the positions of a corpus, which disturbs a network less than zeros do,
or its output in a corrupted run, which keeps everything that both sentences share. ``reference_values`` has
all REFERENCES by name.

The total effect of a node is the loss of the score when all later parts read its ablation value; the direct
effect, when only the answer does. The difference is mediated by later parts.

Shapes: N nodes, L layers, H heads, Q positions, D d_model.

References:
    Wang et al., "Interpretability in the Wild" (2023), section 2, for means.
    Conmy et al., "Towards Automated Circuit Discovery" (2023), for corrupted runs.
    Pearl, "Direct and Indirect Effects" (2001).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from model.activations.sublayers import Stream
from model.activations.walk import ActivationWalk, LastRows
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.patching import CorruptedRun, exchanges
from model.analysis.residual_stream import stream_taps
from model.analysis.saving import SEED, Result
from model.correction.answers import Network
from model.stored.config import INSIDE
from model.stored.folder import ASSETS
from model.text.tokenizer import Tokenizer
from model.trace.interventions import ATTENTIONS, Contrast, Node, Patch, Patches, tap

SENTENCES = "everyday.json"
REFERENCES = "zero", "mean", "mean by position", "resample", "corrupted", "mean of corrupted"
ZERO, MEAN, BY_POSITION, RESAMPLED, CORRUPTED, CORRUPTED_MEAN = REFERENCES
_SIDES = tuple(ATTENTIONS)


_MEAN_TAPS = stream_taps("heads")
_DIRECT_TAPS = ("decoder_residual", "decoder_output", "decoder_heads", "cross_heads")


@dataclass(frozen=True)
class AblationValues(Result):
    """The outputs of all nodes, and the embeddings, under ablation, and the ``reference`` they come from.

    An array without positions is the same at all of them.

    >>> node = Node("encoder_feed_forward", 0)
    >>> AblationValues({node: np.zeros(4)}, {}, "zero").patches([node])[0].place
    1
    """

    # (D/H,) or (Q, D/H) of a head, before the output projection; else (D,) or (Q, D)
    nodes: dict[Node, np.ndarray]
    embeddings: dict[str, np.ndarray]  # by side (D,) or (Q, D)
    reference: str  # in words, such as "mean of 46 sentences"

    def of(self, at: Node | str) -> np.ndarray:
        """The value of a node, or of the embeddings of a side, of the shapes above such as (D/H,)."""
        return self.nodes[at] if isinstance(at, Node) else self.embeddings[at]

    def patches(self, nodes: Iterable[Node]) -> Patches:
        """The patches that ablate these nodes at all positions."""
        return tuple(Patch.of(node, self.nodes[node]) for node in nodes)


@cache
def everyday_pairs() -> tuple[tuple[str, str], ...]:
    """(as typed, corrected) of each everyday sentence that ships with the product.

    >>> len(everyday_pairs()) > 30
    True
    """
    return tuple((wrong, right) for wrong, right in json.loads((ASSETS / SENTENCES).read_text("utf-8")))


def corpus_means(
    network: ActivationWalk, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]] | None = None
) -> AblationValues:
    """The mean of each node over the positions of ``pairs``, by default ``everyday_pairs``.

    They take a fifth of a second, and are cached.

    >>> means = corpus_means(corrector.patched, corrector.tokenizer)
    >>> means.nodes[Node("cross_attention", 3, 0)].shape, means.embeddings["decoder"].shape
    ((32,), (128,))
    """
    return _means(network, tokenizer, tuple(pairs or everyday_pairs()))


def mean_values(corrector: Network, source: str, target: str) -> AblationValues:
    """The means of ablated nodes for one pair: ``corpus_means`` of its ``known_pairs``.

    >>> mean_values(corrector, "머거요", "먹어요") is mean_values(corrector, "바비", "밥이")
    True
    """
    return corpus_means(corrector.patched, corrector.tokenizer, known_pairs(corrector, source, target))


def known_pairs(corrector: Network, source: str, target: str) -> tuple[tuple[str, str], ...]:
    """The corpus of a shipped network, ``everyday_pairs``; another network is known by this pair alone."""
    return everyday_pairs() if INSIDE in corrector.config.abilities else ((source, target),)


@lru_cache(maxsize=4)
def _means(
    network: ActivationWalk, tokenizer: Tokenizer, pairs: tuple[tuple[str, str], ...]
) -> AblationValues:
    sums: dict[str, np.ndarray] = {}
    positions = dict.fromkeys(_SIDES, 0)
    for wrong, right in pairs:
        found = network.taps(tokenizer.encode_source(wrong), tokenizer.encode_target(right), _MEAN_TAPS)
        for name, array in found.items():
            sums[name] = sums.get(name, 0) + array.sum(axis=-2, dtype=np.float64)  # over positions
        for side in _SIDES:
            positions[side] += found[tap(side, "embedding")].shape[0]

    def mean(at: Node | str) -> np.ndarray:
        return (_of(sums, at) / max(positions[_side(at)], 1)).astype(np.float32)

    return _values(network, mean, f"mean of {len(pairs)} sentences")


def corrupted_values(network: ActivationWalk, tokenizer: Tokenizer, *runs: CorruptedRun) -> AblationValues:
    """The outputs of all nodes in a corrupted run, or their means over several, as ablation values.

    Args:
        runs: with the positions of the clean run, as ``exchanges`` and ``corrupted_by_exchange`` give them.

    Raises:
        ValueError: for a run with other positions.

    Example:
        >>> from model.analysis import corrupted_by_exchange
        >>> run = corrupted_by_exchange(corrector, *edits_of("머거요", "먹어요"))
        >>> values = corrupted_values(corrector.patched, corrector.tokenizer, run)
        >>> values.nodes[Node("cross_attention", 3, 0)].shape
        (1, 32)
    """
    read = []
    for run in runs:
        ids = run.ids(tokenizer)
        if (run.source_places, run.target_places) != tuple(tuple(range(len(each))) for each in ids):
            raise ValueError("the corrupted run should have the positions of the clean run")
        read.append(network.taps(*ids, _MEAN_TAPS))
    found = {name: np.mean([each[name] for each in read], axis=0) for name in _MEAN_TAPS}
    reference = "corrupted sentence" if len(runs) == 1 else f"mean of {len(runs)} corrupted sentences"
    return _values(network, partial(_of, found), reference)


class Character(NamedTuple):
    """A character that was read: of the source, or of the text before the row, whose first is the start mark.

    >>> Character("encoder", 1).position
    1
    """

    side: str  # "encoder" or "decoder"
    position: int


class Edge(NamedTuple):
    """The loss of the score when the receiver does not read the sender."""

    sender: Node | Character
    receiver: Node | None  # None: the answer itself
    nats: float  # positive in favour of the fix


def reference_values(
    corrector: Network, edit: Edit, reference: str, pairs: Sequence[tuple[str, str]] | None = None
) -> AblationValues:
    """The ablation values of one edit by the name of their reference, one of REFERENCES.

    Resampled are the outputs in one sentence (seed 0), at a random position for each position of the edit.

    Args:
        pairs: (source, target) of the corpus, by default ``everyday_pairs``.

    Raises:
        ValueError: for another name, and as ``exchanges`` does for corrupted sentences.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> values = reference_values(corrector, edit, "mean by position")
        >>> values.reference, values.nodes[Node("encoder_feed_forward", 0)].shape
        ('mean by position of 32 sentences', (4, 128))
    """
    if reference not in REFERENCES:
        raise ValueError(f"a reference should be one of {REFERENCES}, received {reference!r}")
    network, tokenizer = corrector.patched, corrector.tokenizer
    if reference in (CORRUPTED, CORRUPTED_MEAN):
        found = exchanges(corrector, edit)
        runs = (found.median,) if reference == CORRUPTED else found.runs
        return corrupted_values(network, tokenizer, *runs)
    pairs, rng = pairs or everyday_pairs(), np.random.default_rng(SEED)
    means = corpus_means(network, tokenizer, pairs)
    if reference == MEAN:
        return means
    if reference == ZERO:
        return _values(network, lambda at: np.zeros_like(means.of(at)), ZERO)
    clean = CleanRun(corrector, edit).taps([tap(side, "embedding") for side in _SIDES])
    if reference == RESAMPLED:
        pairs = [pairs[int(rng.integers(len(pairs)))]]
    ids = [(tokenizer.encode_source(wrong), tokenizer.encode_target(right)) for wrong, right in pairs]
    read = [network.taps(*each, _MEAN_TAPS) for each in ids]
    places = {
        side: rng.integers(max(len(_of(read[0], side)), 1), size=len(_of(clean, side))) for side in _SIDES
    }

    def values(at: Node | str) -> np.ndarray:
        chosen = places[_side(at)]
        if reference == RESAMPLED:
            return _of(read[0], at)[chosen]
        outputs = [_of(each, at) for each in read]
        columns = [[each[place] for each in outputs if place < len(each)] for place in range(len(chosen))]
        filled = [np.mean(each, axis=0) if each else means.of(at) for each in columns]
        return np.array(filled, np.float32).reshape(len(chosen), -1)

    return _values(network, values, f"{reference} of {len(pairs)} sentences")


def _of(found: Mapping[str, np.ndarray], at: Node | str) -> np.ndarray:
    """(Q, ...): the outputs of a node, or the embeddings of a side."""
    return found[at.tap][at.place] if isinstance(at, Node) else found[tap(at, "embedding")]


def _side(at: Node | str) -> str:
    return at.side if isinstance(at, Node) else at


def _values(
    network: ActivationWalk, value: Callable[[Node | str], np.ndarray], reference: str
) -> AblationValues:
    """The values of all nodes, and of the embeddings of both sides."""
    nodes = {node: value(node) for node in network.nodes}
    return AblationValues(nodes, {side: value(side) for side in _SIDES}, reference)


@dataclass(frozen=True)
class NodeEffects(Result):
    """The effects of N nodes on log p(written) - log p(instead), in nats.

    Positive in favour of the written token.

    >>> contrast, node = Contrast(0, 5, 7, "먹", "머"), Node("cross_attention", 3, 0)
    >>> effects = NodeEffects(contrast, "zero", 8.5, (node,), np.array([4.5]), np.array([3.0]))
    >>> float(effects.total[0] - effects.direct[0])  # mediated by later parts
    1.5
    """

    contrast: Contrast
    reference: str  # of the ablation values
    score: float  # of the whole network
    nodes: tuple[Node, ...]  # (N,) in the order in which data passes them
    total: np.ndarray  # (N,) float32
    direct: np.ndarray  # (N,) float32; 0 of the encoder's parts, which the answer does not read


def node_effects(corrector: Network, edit: Edit, ablation: AblationValues | None = None) -> NodeEffects:
    """The total and direct effect of every head and feed-forward network of both sides.

    Args:
        ablation: the values of ablated nodes, by default ``mean_values``.

    Raises:
        ValueError: for a network without a residual stream.

    Example:
        >>> effects = node_effects(corrector, *edits_of("머거요", "먹어요"))
        >>> last = effects.nodes.index(Node("decoder_feed_forward", 3))  # only the answer reads it
        >>> bool(np.isclose(effects.total[last], effects.direct[last], atol=1e-3))
        True
    """
    run = CleanRun(corrector, edit)
    values = ablation or mean_values(corrector, edit.source, edit.target)
    scores = run.scores([(), *(values.patches([node]) for node in run.network.nodes)])
    return NodeEffects(
        contrast=run.contrast,
        reference=values.reference,
        score=float(scores[0]),
        nodes=run.network.nodes,
        total=(scores[0] - scores[1:]).astype(np.float32),
        direct=_direct(run, values),
    )


def _direct(run: CleanRun, values: AblationValues) -> np.ndarray:
    """(N,): the loss of the score when the end of the stream alone holds a node's ablation value."""
    network, found = run.network, run.taps(_DIRECT_TAPS)
    stream = Stream("decoder", *(found[name][:, -1:] for name in _DIRECT_TAPS[:2]))  # Q = 1
    _, residual, output = stream
    writing = [number for number, node in enumerate(network.nodes) if node.side == "decoder"]
    ends = [residual[-1]]
    for node in (network.nodes[number] for number in writing):
        mean = np.atleast_2d(values.nodes[node])[-1:]
        added = network.written(node, mean - found[node.tap][node.place][-1:])
        ends.append(network.resumed(stream, len(output), node.sublayer, added))
    closed = network.close("decoder", np.stack(ends))[:, 0]  # (1 + writing, D)
    scores = run.scored(LastRows(network, closed))
    effects = np.zeros(len(network.nodes), np.float32)
    effects[writing] = scores[0] - scores[1:]
    return effects
