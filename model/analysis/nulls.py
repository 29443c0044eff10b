"""Null distributions of claims: effects of random parts of the same kinds in random rows.

A claim holds where its change is larger than those by random parts (``model.analysis.claims``). The rows are
those of a corpus, the parts as many of each kind as the decoder has layers in a row, and all draws follow
``SEED``.

Shapes: L layers, T target tokens, K key positions, D d_model, d = D/H.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from model.activations.walk import ActivationWalk
from model.analysis.ablation import corpus_means, everyday_pairs
from model.analysis.attention_scores import KEY, ReadSides
from model.analysis.contrasts import Ids, Metric, scores_of
from model.analysis.residual_stream import KINDS, stream_taps
from model.analysis.saving import SEED
from model.correction.answers import Network
from model.text.tokenizer import Tokenizer
from model.trace.interventions import Contrast, Node, Patch, tap

ATTENTION_TAPS = (*KINDS, *(tap(kind, part) for kind in KINDS for part in ("value", "heads")))
DRAWS = 200  # random parts of each kind, so that p can be as low as 1/201
Pairs = tuple[tuple[str, str], ...]


def _random_rows(tokenizer: Tokenizer, pairs: Pairs, count: int) -> Iterator[Ids]:
    """The ids of ``count`` random rows (seed 0), targets cut behind them; every row where they are fewer."""
    ids = [(tokenizer.encode_source(one), tokenizer.encode_target(other)) for one, other in pairs]
    if sum(len(target) for _, target in ids) <= count:
        yield from ((source, target[: n + 1]) for source, target in ids for n in range(len(target)))
        return
    rng = np.random.default_rng(SEED)
    for at in rng.integers(len(ids), size=count):
        source, target = ids[at]
        yield source, target[: 1 + int(rng.integers(len(target)))]


@lru_cache(maxsize=4)
def null_losses(
    network: ActivationWalk, tokenizer: Tokenizer, pairs: Pairs, metric: Metric | None = None
) -> dict[tuple[str, Node], list[float]]:
    """The losses of the score without random parts, by claim and node: what a part takes away by chance.

    In random rows of ``pairs``, whose score is the metric, or that of the written token against the
    likeliest other, as many nodes of each kind are drawn as the decoder has layers, and are ablated ("wrote",
    "fed"), or the value at a head's key with the largest weight is taken from it ("looked").

    Example:
        >>> null = null_losses(corrector.patched, corrector.tokenizer, everyday_pairs())
        >>> sum(len(some) for (_, node), some in null.items() if node.head is None)  # 4 networks in 50 rows
        200
    """
    rng, losses = np.random.default_rng(SEED), defaultdict[tuple[str, Node], list[float]](list)
    means, kinds, layers = corpus_means(network, tokenizer, pairs), _decoder_nodes(network), network.layers
    for source, target in _random_rows(tokenizer, pairs, -(-DRAWS // layers("decoder"))):
        drawn = [
            some[at] for some in kinds.values() for at in rng.permutation(len(some))[: layers("decoder")]
        ]
        heads = [node for node in drawn if node.head is not None]
        names = ["fed" if node.head is None else "wrote" for node in drawn] + ["looked"] * len(heads)
        found = network.taps(source, target, ["logits", *ATTENTION_TAPS])
        row, others = len(network.inputs(source, target)[1]) - 1, found["logits"][-1]
        others[target[-1]] = -np.inf
        keys = [int(found[node.kind][node.place][row].argmax()) for node in heads]
        looks = [(without_key(found, node, row, key),) for node, key in zip(heads, keys, strict=True)]
        variations = [(), *(means.patches([node]) for node in drawn), *looks]
        passed = network.passes(source, target, variations)
        contrast = Contrast(len(target) - 1, target[-1], int(others.argmax()), "", "")
        score, *less = scores_of(passed, contrast, metric).tolist()
        for name, node, each in zip(names, [*drawn, *heads], less, strict=True):
            losses[name, node].append(score - each)
    return losses


def _decoder_nodes(network: ActivationWalk) -> dict[str, list[Node]]:
    kinds = defaultdict[str, list[Node]](list)
    for node in network.nodes:
        if node.side == "decoder":
            kinds[node.kind].append(node)
    return kinds


@lru_cache(maxsize=8)
def null_weights(
    network: ActivationWalk, tokenizer: Tokenizer, pairs: Pairs, kind: str
) -> dict[str, list[float]]:
    """By how much a head's largest weight falls without a random part of the key, by the kind of the part.

    Heads of one ``kind`` of attention are drawn in random rows of ``pairs``, and at the key with the largest
    weight one part of each kind ("embedding", "position", that of a node) is ablated.

    Example:
        >>> null = null_weights(corrector.patched, corrector.tokenizer, everyday_pairs(), "cross_attention")
        >>> len(null["embedding"]), sorted(null)
        (200, ['embedding', 'encoder_attention', 'encoder_feed_forward', 'position'])
    """
    rng, falls = np.random.default_rng(SEED), defaultdict[str, list[float]](list)
    means, heads = corpus_means(network, tokenizer, pairs), _decoder_nodes(network)[kind]
    layers = network.layers("decoder")
    for ids in _random_rows(tokenizer, pairs, -(-DRAWS // layers)):
        found = network.taps(*ids, {*stream_taps("heads"), kind})
        for node in (heads[at] for at in rng.permutation(len(heads))[:layers]):
            sides, weights = ReadSides(network, found, node), found[kind][node.place][-1]
            cell = len(found[kind][node.place]) - 1, int(weights.argmax())
            parts = sides.key_parts()
            by_kind = {kind_of_part(parts[at]): parts[at] for at in rng.permutation(len(parts))}
            tested = [(KEY, part) for part in by_kind.values()]
            left = sides.weights_without(ids, cell, tested, means)
            for name, each in zip(by_kind, left, strict=True):
                falls[name].append(float(weights.max()) - each)
    return falls


def kind_of_part(part: Node | str) -> str:
    """The kind of a node; the name of another part, such as "position"."""
    return part.kind if isinstance(part, Node) else part


def nulls(corrector: Network) -> Iterator[object]:
    """Draw the nulls of a shipped network before a question needs them, but for the weights of few claims."""
    corpus = corrector.patched, corrector.tokenizer, everyday_pairs()
    yield null_losses(*corpus, None)
    yield null_streams(*corpus)
    yield null_weights(*corpus, "cross_attention")


@lru_cache(maxsize=4)
def null_streams(network: ActivationWalk, tokenizer: Tokenizer, pairs: Pairs) -> np.ndarray:
    """(N, 3L+1, D): the decoder's stream at DRAWS random rows of ``pairs``."""
    rows = _random_rows(tokenizer, pairs, DRAWS)
    return np.stack([network.taps(*ids, ["decoder_residual"])["decoder_residual"][:, -1] for ids in rows])


def without_key(found: Mapping[str, np.ndarray], node: Node, row: int, key: int) -> Patch:
    """The patch of a head's output in one row of a pass without the value at one key."""
    lost = found[node.kind][node.place][row, key] * found[tap(node.kind, "value")][node.place][key]
    return Patch.of(node, found[node.tap][node.place][row] - lost, row)
