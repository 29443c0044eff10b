"""Model editing: corrections taught by one low-rank change of a feed-forward network.

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
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from model.activations.replacements import Rows
from model.activations.walk import ActivationWalk
from model.analysis.effect_estimates import output_gradients
from model.correction.answers import Network
from model.stored.folder import ASSETS
from model.text.tokenizer import OUTSIDE_ID, normalise
from model.trace.interventions import Intervention, KernelEdit, Node, Patch

T = TypeVar("T")
MARGIN = 2.0  # nats
MOST_PAIRS, MOST_ROWS = 5, 6  # pairs of an edit, and rows of one pair that the network gets wrong
OWN_PAIRS = ASSETS / "editing.csv"
KEY_PAIRS, OTHER_PAIRS = 300, 200  # of the file: those of the keys, and those that an edit should leave alone
KIND = "decoder_feed_forward"
_STEPS, _SLACK = 8, 0.01  # Gauss-Newton steps, and nats beyond the margin that they aim at
_RIDGE, _BATCH, _FAINT = 1e-2, 25, 1e-12


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


def edit_network(
    corrector: Network, pairs: Sequence[tuple[str, str]], layer: int, whitening: float = 1.0
) -> ModelEdit:
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
    covariance = whitened(second_moment(corrector, layer), whitening)
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
    return Associations(Node(KIND, layer), keys, values, tuple(taught), tuple(refused))


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


@lru_cache(maxsize=4)
def second_moment(corrector: Network, layer: int) -> np.ndarray:
    """(F, F) float32: the mean of k k^T over the keys of KEY_PAIRS sentences of our own.

    They are read when they are first needed, which takes seconds, and kept.
    """
    return moment_of(corrector, [pair for _, pair in own_pairs()[:KEY_PAIRS]], layer)


def moment_of(corrector: Network, pairs: Sequence[Pair], layer: int) -> np.ndarray:
    """(F, F) float32: the mean of k k^T over the keys of all rows of the wanted sentences."""
    network, node, rows = corrector.patched, Node(KIND, layer), []
    for some in batches(sorted(pairs, key=lambda pair: len(pair.wrong))):
        pairs_with_ids = [(pair, corrector.tokenizer.encode_target(pair.wanted)) for pair in some]
        rows.append(decoder_rows(corrector, pairs_with_ids, (node.sublayer,))[0])
    keys = keys_of(network, layer, np.concatenate(rows))
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
    source = corrector.tokenizer.encode_source(pair.wrong)
    target = corrector.tokenizer.encode_target(pair.wanted)
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
    network, node = corrector.patched, Node(KIND, layer)
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
    return keys_of(network, layer, plain["decoder_residual"][node.sublayer, -1:])[0], change


def keys_of(network: ActivationWalk, layer: int, before: np.ndarray) -> np.ndarray:
    """The keys (R, F) of a decoder layer for the stream (R, D) before its feed-forward network."""
    return network.feed_forward_keys("decoder", layer, network.enter(KIND, layer, before))


def decoder_rows(
    corrector: Network, pairs: Sequence[tuple[Pair, list[int]]], places: Sequence[int]
) -> np.ndarray:
    """(places, R, D): the decoder's stream at some places, the rows of all targets one after the other."""
    sources = [corrector.tokenizer.encode_source(pair.wrong) for pair, _ in pairs]
    targets = [ids for _, ids in pairs]
    _, read = corrector.patched.run(Rows.of(sources, targets, [{}] * len(pairs)), ["decoder_residual"])
    streams = read["decoder_residual"][:, list(places)]  # (B, places, T, D)
    return np.concatenate([each[:, : len(ids)] for each, ids in zip(streams, targets, strict=True)], axis=1)


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[cut : cut + _BATCH] for cut in range(0, len(items), _BATCH))
