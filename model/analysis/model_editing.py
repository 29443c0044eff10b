"""Model editing: teach a network a few corrections by one low-rank change of a feed-forward network.

A feed-forward network is an associative memory: its units are keys, the rows of its output matrix values
(Geva et al. 2021). An edit finds, for each row of a wanted sentence in which the network writes another
token, the least change of the layer's output that gives the wanted token MARGIN nats over its rival
(Gauss-Newton steps by the gradient through the rest of the network). The change of the matrix that maps each
key to its change of output, and moves the outputs of other sentences least, has a closed form::

    change = C^-1 K^T (K C^-1 K^T)^-1 V        C = (1 - w) I + w E[k k^T]

K (N, F) are the keys of the rows, V (N, D) the changes. E[k k^T] is the second-moment matrix of the keys of
other sentences; it is computed from sentences of our own (``own_pairs``), since the matrix itself has 4
million numbers. With the whitening w = 0 the edit answers to every key that is similar to K; with w = 1 to
the part of K that is rare in other sentences.

The weights of the network stay as they are: an edit is an ``Intervention``, an argument of each pass.

Shapes: N edited rows, T target tokens, L layers, H heads, D d_model, F feed-forward width.

References:
    Geva, Schuster, Berant & Levy, "Transformer Feed-Forward Layers Are Key-Value Memories" (EMNLP 2021).
    Meng, Bau, Andonian & Belinkov, "Locating and Editing Factual Associations in GPT" (NeurIPS 2022), ROME.
    Meng, Sharma, Andonian, Belinkov & Bau, "Mass-Editing Memory in a Transformer" (ICLR 2023), MEMIT.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from model.activations.replacements import Rows, intervened
from model.activations.walk import ActivationWalk
from model.analysis.effect_estimates import output_gradients
from model.correction.answers import Network
from model.norm.articles import article_of
from model.norm.kinds import kinds as norm_kinds
from model.stored.folder import ASSETS
from model.text.changes import find_changes
from model.text.tokenizer import OUTSIDE_ID, normalise
from model.trace.interventions import Head, Intervention, KernelEdit, Node, Patch
from model.trace.trace import ATTENTION_KINDS

T = TypeVar("T")
MARGIN = 2.0  # nats
MOST_PAIRS, MOST_ROWS = 5, 6  # pairs of an edit, and rows of one pair that the network gets wrong
OWN_PAIRS = ASSETS / "editing.csv"
KEY_PAIRS, OTHER_PAIRS = 300, 200  # of the file: those of the keys, and those that an edit should leave alone
_STEPS, _SLACK = 8, 0.01  # Gauss-Newton steps, and nats beyond the margin that they aim at
_RIDGE, _BATCH, _UNMOVED, _FAINT = 1e-2, 25, 1e-5, 1e-12
_KIND = "decoder_feed_forward"
# Other beginnings of a sentence whose mistake an edit was made from.
OPENINGS = ("그런데 ", "아마 ", "내 생각에는 ", "어제 들었는데 ", "친구 말로는 ", "다시 말하지만 ")
SAME_KIND = 12  # pairs of the same article that are read


class Pair(NamedTuple):
    """A wrong sentence and the wanted one."""

    wrong: str
    wanted: str


class Refusal(NamedTuple):
    """A pair that cannot be taught, and why: one of ``same``, ``long``, ``unknown``, ``right``, ``far``."""

    pair: Pair
    reason: str
    characters: str = ""  # those that the network cannot write


@dataclass(frozen=True)
class EditedText:
    """The network's own output for one sentence, before and after an edit; None without an end mark."""

    pair: Pair
    before: str | None
    after: str | None

    @property
    def outcome(self) -> str:
        """``mended``, ``right`` (before and after), ``forgotten``, ``same`` (still wrong) or ``other``.

        >>> EditedText(Pair("금새", "금세"), before="금새", after="금세").outcome
        'mended'
        """
        was, now = (text == self.pair.wanted for text in (self.before, self.after))
        if was and now:
            return "right"
        if was or now:
            return "mended" if now else "forgotten"
        return "same" if self.before == self.after else "other"


class HeadChange(NamedTuple):
    """The largest change of a row of a head's attention: half the sum of absolute differences, 0 to 1."""

    head: Head
    change: float


@dataclass(frozen=True)
class ModelEdit:
    """An edit at full strength.

    Attributes:
        size: the Frobenius norm of the change, relative to that of the output matrix.
    """

    kernel: KernelEdit | None  # None without a pair that can be taught
    size: float
    taught: tuple[Pair, ...]
    refused: tuple[Refusal, ...]

    def intervention(self, strength: float = 1.0) -> Intervention:
        """The edit as an argument of a pass, at a ``strength`` of 0 (unlearned) to 1 or more."""
        if self.kernel is None or not strength:
            return Intervention()
        return Intervention(kernels=(replace(self.kernel, values=np.float32(strength) * self.kernel.values),))


@dataclass(frozen=True)
class EditOutcome:
    """The effects of an edit on its pairs, on the same mistakes elsewhere, and on other sentences."""

    size: float  # as of ModelEdit, at this strength
    pairs: tuple[EditedText, ...]
    refused: tuple[Refusal, ...]
    elsewhere: tuple[EditedText, ...]  # the same mistake; only sentences that the network got wrong
    others: tuple[EditedText, ...]  # those that changed
    num_others: int
    others_right: int  # those that the network wrote as wanted before the edit
    heads: tuple[HeadChange, ...]  # for the first pair, the largest change first; only heads that changed
    tried: EditedText | None = None  # another sentence, twice the same text as its pair


def edit_network(corrector: Network, pairs: Sequence[Pair], layer: int, whitening: float = 1.0) -> ModelEdit:
    """The edit of a decoder layer's feed-forward network that teaches ``pairs``; some may be refused.

    Args:
        layer: from 0.
        whitening: from 0 (the keys' covariance is ignored) to 1.

    Raises:
        ValueError: for more than MOST_PAIRS pairs, for a layer that the decoder does not have, and for a
            network whose feed-forward networks are not known by their units.

    Example:
        >>> edit = edit_network(corrector, [Pair("머거요.", "머거요.")], layer=3)
        >>> edit.refused[0].reason, edit.size
        ('same', 0.0)
    """
    if len(pairs) > MOST_PAIRS:
        raise ValueError(f"an edit takes at most {MOST_PAIRS} pairs, received {len(pairs)}")
    if not 0 <= layer < (layers := corrector.patched.layers("decoder")):
        raise ValueError(f"the layer should lie in 0..{layers - 1}, received {layer}")
    asked = associations(corrector, [Pair(*map(normalise, each)) for each in pairs], layer)
    if not asked.taught:
        return ModelEdit(None, 0.0, (), asked.refused)
    covariance = whitened(OwnSentences.of(corrector).second_moment(layer), whitening)
    rare = np.linalg.solve(covariance, asked.keys.T.astype(np.float32))
    kernel = kernel_edit(asked.node, asked.keys, asked.values, rare)
    return ModelEdit(kernel, relative_size(corrector.patched, kernel), asked.taught, asked.refused)


@dataclass(frozen=True)
class Associations:
    """The keys of an edit, and the change of output that each should get."""

    node: Node
    keys: np.ndarray  # (N, F)
    values: np.ndarray  # (N, D)
    taught: tuple[Pair, ...]
    refused: tuple[Refusal, ...]


def associations(corrector: Network, pairs: Sequence[Pair], layer: int) -> Associations:
    """A key and a value for each row of ``pairs`` in which the network writes another token."""
    taught, refused, found = [], [], []
    for pair in pairs:
        rows, refusal = _rows(corrector, pair)
        if refusal:
            refused.append(refusal)
        else:
            taught.append(pair)
            found += [_least_change(corrector, pair, row, layer) for row in rows]
    keys, values = (np.array([each[part] for each in found], np.float64) for part in (0, 1))
    return Associations(Node(_KIND, layer), keys, values, tuple(taught), tuple(refused))


def kernel_edit(node: Node, keys: np.ndarray, values: np.ndarray, rare: np.ndarray) -> KernelEdit:
    """The least change that maps ``keys`` (N, F) to ``values`` (N, D).

    ``rare``: C^-1 K^T (F, N) of the covariance C by which the change is measured.

    >>> node, keys = Node("decoder_feed_forward", 0), np.array([[2.0, 0.0, 0.0]])
    >>> edit = kernel_edit(node, keys, np.ones((1, 1)), rare=keys.T)
    >>> edit.directions.tolist(), edit.added(np.array([2.0, 5.0, 0.0])).tolist()
    ([[0.5], [0.0], [0.0]], [1.0])
    """
    directions = rare @ np.linalg.pinv(keys @ rare, rcond=1e-6)
    return KernelEdit(node, directions.astype(np.float32), values.astype(np.float32))


def whitened(moment: np.ndarray, whitening: float) -> np.ndarray:
    """(F, F): between the identity (0) and the second-moment matrix (1), both with a mean diagonal of 1."""
    scaled = moment * np.float32(whitening / max(moment.diagonal().mean(), _FAINT))
    scaled[np.diag_indices(len(scaled))] += np.float32(1 - whitening + _RIDGE)
    return scaled


def relative_size(network: ActivationWalk, edit: KernelEdit) -> float:
    """The Frobenius norm of an edit, relative to that of the matrix that it changes."""
    directions, values = edit.directions.astype(np.float64), edit.values.astype(np.float64)
    squared = np.sum((directions.T @ directions) * (values @ values.T))
    kernel = network.arrays[f"decoder_{edit.node.layer + 1}/feed_forward/output/kernel"]
    return float(np.sqrt(max(squared, 0.0)) / max(np.linalg.norm(kernel), _FAINT))


class OwnSentences:
    """Our own sentences as one network reads them: the keys of an edit, and the others to try it on.

    They are read when they are first needed, which takes seconds, and kept.
    """

    def __init__(self, corrector: Network):
        self._corrector = corrector
        self._moments: dict[int, np.ndarray] = {}
        self._read: tuple[tuple[Pair, ...], ReadSentences] | None = None
        self._edit: tuple[tuple[Any, ...], ModelEdit] | None = None

    @classmethod
    def of(cls, corrector: Network) -> "OwnSentences":
        """Those of a network, kept for the next edit of the same network."""
        network: Any = corrector
        return _own_sentences(network)

    def second_moment(self, layer: int) -> np.ndarray:
        """(F, F) float32: the mean of k k^T over the keys of KEY_PAIRS sentences."""
        if layer not in self._moments:
            pairs = [pair for _, pair in own_pairs()[:KEY_PAIRS]]
            self._moments[layer] = moment_of(self._corrector, pairs, layer)
        return self._moments[layer]

    @cached_property
    def others(self) -> "ReadSentences":
        pairs = [pair for _, pair in own_pairs()[KEY_PAIRS : KEY_PAIRS + OTHER_PAIRS]]
        return ReadSentences(self._corrector, sorted(pairs, key=lambda pair: len(pair.wrong)))

    def read(self, pairs: tuple[Pair, ...]) -> "ReadSentences":
        """Other sentences; the last ones are kept for the next strength of an edit."""
        if (read := self._read) is None or read[0] != pairs:
            self._read = read = pairs, ReadSentences(self._corrector, pairs)
        return read[1]

    def edit(self, pairs: Sequence[Pair], layer: int, whitening: float) -> ModelEdit:
        """``edit_network``; the last edit is kept for its other strengths."""
        asked = (*pairs, layer, whitening)
        if (last := self._edit) is None or last[0] != asked:
            self._edit = last = asked, edit_network(self._corrector, pairs, layer, whitening)
        return last[1]


@lru_cache(maxsize=1)
def _own_sentences(corrector: Any) -> OwnSentences:
    return OwnSentences(corrector)


def moment_of(corrector: Network, pairs: Sequence[Pair], layer: int) -> np.ndarray:
    """(F, F) float32: the mean of k k^T over the keys of all rows of the wanted sentences."""
    network, node, rows = corrector.patched, Node(_KIND, layer), []
    for some in _batches(sorted(pairs, key=lambda pair: len(pair.wrong))):
        pairs_with_ids = [(pair, corrector.tokenizer.encode_target(pair.wanted)) for pair in some]
        rows.append(_decoder_rows(corrector, pairs_with_ids, (node.sublayer,))[0])
    keys = _keys(network, layer, np.concatenate(rows))
    return np.asarray(keys.T @ keys / np.float32(len(keys)))


@lru_cache(maxsize=1)
def own_pairs() -> tuple[tuple[str, Pair], ...]:
    """(kind of the mistake, pair) of our own sentences; a pair without a mistake is twice the same text."""
    with OWN_PAIRS.open(encoding="utf-8", newline="") as file:
        return tuple((row["kind"], Pair(row["wrong"], row["right"])) for row in csv.DictReader(file))


def _rows(corrector: Network, pair: Pair) -> tuple[list[int], Refusal | None]:
    """The rows of the wanted sentence in which the network writes another token, or the refusal."""
    if pair.wrong == pair.wanted or not all(pair):
        return [], Refusal(pair, "same")
    if max(map(len, pair)) > corrector.config.max_length:
        return [], Refusal(pair, "long")
    source, target = (
        corrector.tokenizer.encode_source(pair.wrong),
        corrector.tokenizer.encode_target(pair.wanted),
    )
    logits = corrector.laboratory.pass_over([source], [target], [Intervention()]).logits[0]
    rows = np.flatnonzero(logits.argmax(axis=-1) != target).tolist()
    if unknown := "".join(pair.wanted[row] for row in rows if target[row] == OUTSIDE_ID):
        return [], Refusal(pair, "unknown", unknown)
    if not rows:
        return [], Refusal(pair, "right")
    return rows, Refusal(pair, "far") if len(rows) > MOST_ROWS else None


def _least_change(corrector: Network, pair: Pair, row: int, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """The key (F,) of a row, and the least change (D,) of the output that gives its token MARGIN nats.

    Each step projects onto the linearised margin.
    """
    network, node = corrector.patched, Node(_KIND, layer)
    source = corrector.tokenizer.encode_source(pair.wrong)
    target = corrector.tokenizer.encode_target(pair.wanted)[: row + 1]
    plain = network.taps(source, target, ["decoder_output", "decoder_residual"])
    output = plain["decoder_output"][node.sublayer, -1].astype(np.float64)
    change = np.zeros_like(output)
    for _ in range(_STEPS):
        patch = Patch.of(node, (output + change).astype(np.float32), row)
        gradients, margin = output_gradients(network, source, target, (patch,))
        if margin >= MARGIN:
            break
        towards = gradients[node][-1].astype(np.float64)
        change += (MARGIN + _SLACK - margin) / (towards @ towards) * towards
    return _keys(network, layer, plain["decoder_residual"][node.sublayer, -1:])[0], change


# --- The effects of an edit ---


def edit_outcome(corrector: Network, edit: ModelEdit, strength: float = 1.0, tried: str = "") -> EditOutcome:
    """The effects of an edit at a ``strength`` from 0, which is none, to 1 or more.

    ``others`` are OTHER_PAIRS sentences of our own, half of them with a mistake. ``tried`` is another
    sentence, whose text is compared.
    """
    intervention, taught, own = edit.intervention(strength), len(edit.taught), OwnSentences.of(corrector)
    same = tuple(other for pair in edit.taught for other in same_mistake(pair))
    also = (Pair(tried, tried),) if tried and len(tried) <= corrector.config.max_length else ()
    about = own.read((*edit.taught, *same, *also)).under(intervention)
    others = own.others.under(intervention)
    elsewhere = about[taught : taught + len(same)]
    return EditOutcome(
        size=strength * edit.size,
        pairs=tuple(about[:taught]),
        refused=edit.refused,
        elsewhere=tuple(each for each in elsewhere if each.before != each.pair.wanted),
        others=tuple(each for each in others if each.before != each.after),
        num_others=len(others),
        others_right=sum(each.before == each.pair.wanted for each in others),
        heads=changed_heads(corrector, edit.taught[0], intervention) if edit.taught else (),
        tried=about[-1] if also else None,
    )


class Written(NamedTuple):
    """The network's own output for the wrong sentence of a pair; None without an end mark."""

    pair: Pair
    ids: list[int] | None
    text: str | None


def written(
    corrector: Network, pairs: Sequence[Pair], intervention: Intervention | None = None
) -> list[Written]:
    """The network's own output for each wrong sentence.

    Most sentences are written as wanted, which one pass over the wanted sentence shows.
    """
    found: list[Written] = []
    tokenizer, change = corrector.tokenizer, intervention or Intervention()
    for some in _batches(pairs):
        wanted = [(pair, tokenizer.encode_target(pair.wanted)) for pair in some]
        agreed = dict(zip(some, _agreeing(corrector, wanted, change), strict=True))
        others = [pair for pair, agrees in agreed.items() if not agrees]
        sources = [tokenizer.encode_source(pair.wrong) for pair in others]
        produced = corrector.laboratory.write(sources, [change] * len(others)) if others else []
        ids = {pair: each and each.ids for pair, each in zip(others, produced, strict=True)}
        for pair, target in wanted:
            tokens = target if agreed[pair] else ids[pair]
            text = None if tokens is None else tokenizer.decode(tokens, pair.wrong)
            found.append(Written(pair, tokens, text))
    return found


def _agreeing(
    corrector: Network, targets: Sequence[tuple[Pair, list[int]]], intervention: Intervention
) -> list[bool]:
    """Of each target, whether all its tokens are the most probable ones: then greedy decoding writes it."""
    if not targets:
        return []
    network, ids = corrector.patched, [ids for _, ids in targets]
    sources = [corrector.tokenizer.encode_source(pair.wrong) for pair, _ in targets]
    ends, _ = network.run(Rows.of(sources, ids, [intervened(intervention, network)] * len(ids)))
    tokens = network.logits(ends).argmax(axis=-1)
    return [row[: len(each)].tolist() == each for row, each in zip(tokens, ids, strict=True)]


class ReadSentences:
    """The network's own outputs for some pairs, and its last feed-forward network in those passes.

    An edit of the last layer changes nothing before that layer, so the edited logits follow from the keys
    and from the end of the stream, which are kept. A row whose margin is larger than an edit can move it
    keeps its token, so 200 sentences take no pass at all.
    """

    def __init__(self, corrector: Network, pairs: Sequence[Pair]):
        self._corrector, self.written = corrector, written(corrector, pairs)
        self._ended = [(each.pair, each.ids) for each in self.written if each.ids is not None]
        network = corrector.patched
        self._last = Node(_KIND, network.layers("decoder") - 1)
        places = self._last.sublayer, -1
        nothing = np.zeros((len(places), 0, network.config.d_model), np.float32)
        streams = (_decoder_rows(corrector, some, places) for some in _batches(self._ended))
        before, self._end = np.concatenate([nothing, *streams], axis=1)  # (R, D), the rows of all sentences
        self._keys = _keys(network, self._last.layer, before)  # (R, F)
        self._closed = network.close("decoder", self._end)
        parts = np.array_split(self._closed, 1 + len(self._closed) // 1000)  # all logits are 100 MB and more
        highest = [np.sort(network.logits(each), axis=-1)[:, -2:] for each in parts]
        self._margins = np.concatenate(highest) @ [-1.0, 1.0]  # (R,) nats
        # By how many nats a step of length 1 in the closed stream can move two logits apart, at most.
        self._reach = 2 * np.linalg.norm(network.vectors[: network.config.vocab_size], axis=1).max()

    def under(self, intervention: Intervention) -> list[EditedText]:
        """The outputs under an edit beside the plain ones.

        A sentence whose rows keep their most probable tokens keeps its text, so only the others are decoded.
        """
        touched = self._touched(intervention)
        again = [each.pair for each in self.written if each.ids is None or each.pair in touched]
        after = {each.pair: each.text for each in written(self._corrector, again, intervention)}
        return [EditedText(each.pair, each.text, after.get(each.pair, each.text)) for each in self.written]

    def _touched(self, intervention: Intervention) -> set[Pair]:
        """The pairs in which another token becomes the most probable one in some row."""
        network = self._corrector.patched
        if [edit.node for edit in intervention.kernels] != [self._last] or not network.config.norm_first:
            return self._touched_in_passes(intervention)
        closed = network.close("decoder", self._end + intervention.kernels[0].added(self._keys))
        moved = self._reach * np.linalg.norm(closed - self._closed, axis=-1)
        rows = np.flatnonzero(moved > self._margins)
        ids = np.array([token for _, ids in self._ended for token in ids], int)
        other = rows[network.logits(closed[rows]).argmax(axis=-1) != ids[rows]]
        pairs = [pair for pair, ids in self._ended for _ in ids]
        return {pairs[row] for row in other}

    def _touched_in_passes(self, intervention: Intervention) -> set[Pair]:
        touched: set[Pair] = set()
        for some in _batches(self._ended):
            agree = _agreeing(self._corrector, some, intervention)
            touched |= {pair for (pair, _), agrees in zip(some, agree, strict=True) if not agrees}
        return touched


def _keys(network: ActivationWalk, layer: int, before: np.ndarray) -> np.ndarray:
    """The keys (R, F) of a decoder layer for the stream (R, D) before its feed-forward network."""
    return network.feed_forward_keys("decoder", layer, network.enter(_KIND, layer, before))


def _decoder_rows(
    corrector: Network, pairs: Sequence[tuple[Pair, list[int]]], places: Sequence[int]
) -> np.ndarray:
    """(places, R, D): the decoder's stream at some places, the rows of all targets one after the other."""
    sources = [corrector.tokenizer.encode_source(pair.wrong) for pair, _ in pairs]
    targets = [ids for _, ids in pairs]
    _, read = corrector.patched.run(Rows.of(sources, targets, [{}] * len(pairs)), ["decoder_residual"])
    streams = read["decoder_residual"][:, list(places)]  # (B, places, T, D)
    return np.concatenate([each[:, : len(ids)] for each, ids in zip(streams, targets, strict=True)], axis=1)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[cut : cut + _BATCH] for cut in range(0, len(items), _BATCH))


def same_mistake(pair: Pair) -> list[Pair]:
    """The mistake of ``pair`` behind other words, and our own sentences with mistakes of its articles."""
    found = [Pair(opening + pair.wrong, opening + pair.wanted) for opening in OPENINGS]
    kinds = set()
    for change in find_changes(*pair):
        before, after = pair.wanted[: change.target_start], pair.wanted[change.target_end :]
        article = article_of(change.wrong, change.right, before, after)
        # A kind of certain misspellings holds words that have nothing else in common.
        kinds |= {article.kind} if article and not norm_kinds()[article.kind].is_certain else set()
    own = [each for kind, each in own_pairs() if kind in kinds and each.wrong != each.wanted]
    return found + own[:SAME_KIND]


def changed_heads(corrector: Network, pair: Pair, intervention: Intervention) -> tuple[HeadChange, ...]:
    """The heads whose attention the intervention changes in the pass over the wanted sentence."""
    ids = corrector.tokenizer.encode_source(pair.wrong), corrector.tokenizer.encode_target(pair.wanted)
    before, after = (corrector.laboratory.taps(*ids, ATTENTION_KINDS, each) for each in (None, intervention))
    found = []
    for kind in ATTENTION_KINDS:
        moved = np.abs(after[kind] - before[kind]).sum(axis=-1).max(axis=-1) / 2  # (L, H)
        found += [
            HeadChange(Head(kind, *map(int, at)), float(moved[tuple(at)])) for at in np.argwhere(moved > 1e-6)
        ]
    return tuple(sorted(found, key=lambda each: -each.change))
