"""Activation patching, ablation values, corrupted runs, and total and direct effects of nodes."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from model.activations.walk import PatchedTransformer
from model.analysis.counterfactuals import contrast_of_change
from model.analysis.edits import copy_positions
from model.correction.answers import Network
from model.stored.config import INSIDE
from model.stored.folder import ASSETS
from model.text.changes import Change, find_changes
from model.text.tokenizer import Tokenizer
from model.trace.interventions import ATTENTIONS, Contrast, Node, Patch, Patches, tap

# Frequent open syllables of different sounds; one of them stands in for a character beside the mistake.
SUBSTITUTES = "가나다리마사자하고도이"
NO_PLACE = -1


@dataclass(frozen=True)
class CorruptedRun:
    """The other sentence up to the row that is asked about.

    >>> twin = corrupted_by_sentence("머거요", "먹어요", *find_changes("머거요", "먹어요"), "또 머거")
    >>> twin.written, twin.source_places
    ('또 ', (2, 3, -1, -1))
    """

    source: str
    written: str  # what its decoder has written before the row
    source_places: tuple[int, ...]  # (S,) where each typed token stands in this sentence; NO_PLACE if nowhere
    target_places: tuple[int, ...]  # (row + 1,) the same for the tokens that the decoder has read


def corrupted_by_correction(source: str, target: str, row: int) -> CorruptedRun:
    """The right sentence as a twin: there is nothing to correct in it.

    >>> corrupted_by_correction("머거요", "먹어요", row=0).source
    '먹어요'
    """
    back = copy_positions(find_changes(target, source), len(target) + 1, len(source) + 1)
    return CorruptedRun(target, target[:row], tuple(back.tolist()), tuple(range(row + 1)))


def corrupted_by_sentence(
    source: str, target: str, change: Change, other: str, row: int | None = None
) -> CorruptedRun:
    """``other`` as a twin: any sentence that contains what was typed at the change. The two sentences are aligned there.

    ``row``: the row that is asked about, by default where the change begins.

    Raises ValueError where ``other`` does not contain it.

    >>> corrupted_by_sentence("머거요", "먹어요", *find_changes("머거요", "먹어요"), "머거라").target_places
    (0,)
    """
    row = change.target_start if row is None else row
    at = other.find(change.wrong) if change.wrong else -1
    if at < 0:
        raise ValueError("the other sentence should have what was typed at the change")
    shift = at - change.source_start
    places = tuple(
        place + shift if 0 <= place + shift < len(other) and place < len(source) else NO_PLACE
        for place in range(len(source) + 1)
    )
    read = at + row - change.target_start  # the row of ``other`` that is asked about
    moved = (place + read - row for place in range(1, row + 1))
    written = other[:at] + target[change.target_start : row]
    return CorruptedRun(other, written, places, (0, *(place if place >= 1 else NO_PLACE for place in moved)))


def corrupted_by_exchange(corrector: Network, source: str, target: str, change: Change) -> CorruptedRun:
    """The typed sentence with one character beside the mistake exchanged. Of all exchanges that are tried it is the one after which the fix
    has the lowest score.

    >>> twin = corrupted_by_exchange(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> len(twin.source), twin.source[0]
    (3, '머')

    Raises ValueError as ``contrast_of_change`` does, and where there is no character to exchange.
    """
    contrast, tokenizer = contrast_of_change(corrector, source, target, change), corrector.tokenizer
    if len(tokenizer.encode_source(source)) != len(source) + 1:
        raise ValueError("a twin is made of characters, so each token should be one")
    # The typed character that the fix is compared with has to stay.
    kept = change.source_start + contrast.row - change.target_start
    around = range(max(change.source_start - 1, 0), min(change.source_end + 1, len(source)))
    tried = [
        (place, other)
        for place in around
        if place != kept and not source[place].isspace()
        for other in SUBSTITUTES
        if other != source[place] and not tokenizer.is_outside(other)
    ]
    if not tried:
        raise ValueError("the sentence has no character beside the mistake")
    ids = tokenizer.encode_source(source)
    scores = corrector.patched.passes(
        ids,
        tokenizer.encode_target(target)[: contrast.row + 1],
        [(_exchanged(corrector, ids, place, other),) for place, other in tried],
    ).score(contrast.written, contrast.instead)
    place, other = tried[int(scores.argmin())]
    twin = source[:place] + other + source[place + 1 :]
    return CorruptedRun(
        twin, target[: contrast.row], tuple(range(len(source) + 1)), tuple(range(contrast.row + 1))
    )


def _exchanged(corrector: Network, ids: Sequence[int], place: int, other: str) -> Patch:
    network = corrector.patched
    before, after = (
        network.vectors[each] for each in (ids[place], corrector.tokenizer.encode_source(other)[0])
    )
    start = network.stream_start(ids)[place]
    return Patch(
        tap("encoder", "residual"), 0, start + (after - before) * np.float32(np.sqrt(len(after))), place
    )


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

    >>> from model.analysis.patching import corrupted_by_exchange
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


PARTS = ("residual", "output", "heads")  # of a side, or of a kind of attention
LEAST_DIFFERENCE = 0.5  # nats between the two runs, below which a share of it means nothing


@dataclass(frozen=True)
class ActivationPatching:
    """What becomes of the twin's score when one place at one position is the typed sentence's. Scores in nats."""

    contrast: Contrast
    corrupted: str
    score: float  # of the typed sentence
    corrupted_score: float
    patched: np.ndarray  # (P, N) float32, scores; nan where the position has no counterpart

    @property
    def is_telling(self) -> bool:
        """Whether the two runs differ enough for shares of the difference."""
        return abs(self.score - self.corrupted_score) >= LEAST_DIFFERENCE

    @property
    def restored(self) -> np.ndarray:
        """(P, N) float32: the share of the score that returns. 0 is the twin, 1 the typed sentence."""
        difference = self.score - self.corrupted_score if self.is_telling else np.nan
        return ((self.patched - self.corrupted_score) / difference).astype(np.float32)

    def strongest(self) -> tuple[int, int]:
        """The place and the position at which most returns."""
        found = np.where(np.isnan(self.restored), -np.inf, self.restored)
        place, position = np.unravel_index(found.argmax(), found.shape)
        return int(place), int(position)


def activation_patching(
    corrector: Network, source: str, target: str, change: Change, twin: CorruptedRun, part: str, of: str
) -> ActivationPatching:
    """A map of ``tap(of, part)``: the "residual" stream or the sub-layers' "output" of a side ("encoder" or "decoder"), or the "heads" of a
    kind of attention, layer by layer. Positions are those of the typed sentence; the decoder's end at the row that is asked about.

    Raises ValueError as ``contrast_of_change`` does, and for a network without a residual stream.

    >>> from model.text.changes import find_changes
    >>> from model.analysis.patching import corrupted_by_exchange
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> twin = corrupted_by_exchange(corrector, "머거요", "먹어요", change)
    >>> found = activation_patching(corrector, "머거요", "먹어요", change, twin, "residual", "encoder")
    >>> found.patched.shape, found.corrupted_score < found.score  # places by source tokens
    ((9, 4), True)
    """
    contrast = contrast_of_change(corrector, source, target, change)
    network, name = corrector.patched, tap(of, part)
    typed = _ids(corrector, source, target[: contrast.row])
    other = _ids(corrector, twin.source, twin.written)
    found = network.taps(*typed, [name, "logits"])
    values = found[name]
    if part == "heads":  # (L, H, N, D/H) -> (L·H, N, D/H)
        layers, heads = values.shape[:2]
        places: list = list(np.ndindex(layers, heads))
        values = values.reshape(layers * heads, *values.shape[2:])
    else:
        places = list(range(len(values)))
    matched = twin.source_places if of.startswith("encoder") else twin.target_places
    cells = [
        (row, column) for row in range(len(places)) for column, at in enumerate(matched) if at != NO_PLACE
    ]
    variations = [(Patch(name, places[row], values[row, column], matched[column]),) for row, column in cells]
    answered = network.passes(*other, [(), *variations]).score(contrast.written, contrast.instead)
    patched = np.full((len(places), len(matched)), np.nan, np.float32)
    patched[tuple(zip(*cells, strict=True))] = answered[1:]
    logits = found["logits"][-1].astype(np.float64)
    score = float(logits[contrast.written] - logits[contrast.instead])
    return ActivationPatching(contrast, twin.source, score, float(answered[0]), patched)


def _ids(corrector: Network, source: str, written: str) -> tuple[list[int], list[int]]:
    """(source ids, target ids of ``written`` and one more). The last id is not read; it makes room for the row behind ``written``."""
    return corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(written)


_DIRECT_TAPS = ("decoder_residual", "decoder_output", "decoder_heads", "cross_heads")


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

    >>> from model.analysis.counterfactuals import contrast_of_change
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
    found = network.taps(*ids, _DIRECT_TAPS)
    residual, output = (found[name][:, -1:] for name in _DIRECT_TAPS[:2])  # (places, 1, D)
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
