"""Counterfactuals of one decoder row: another token, or other attention weights.

``alternative_continuation`` forces another token, ``replaced_attention`` replaces the weights of a head.

Shapes: B interventions, S source and T target tokens, Q query and K key positions, V vocabulary.

References:
    Jain & Wallace, "Attention is not Explanation" (NAACL 2019), section 4.2, for replaced attention.
    Wiegreffe & Pinter, "Attention is not not Explanation" (EMNLP 2019).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.activations.drafting import longest_target
from model.analysis.contrasts import Edit, check_row, contrast_of_edit
from model.analysis.edits import changes_in_tokens, in_tokens, standing_positions
from model.correction.answers import Intervenes, Network
from model.text.changes import Change
from model.text.tokenizer import END, END_ID, OUTSIDE_ID, VISIBLE_SPACE
from model.trace.interventions import Contrast, Head, Intervention
from model.trace.trace import AttentionTrace

OBSERVED, UNIFORM, COPY, PERMUTED, PAINTED = "observed", "uniform", "copy", "permuted", "painted"


@dataclass(frozen=True)
class AlternativeContinuation:
    """Two continuations of the same ``row`` tokens.

    ``observed`` is the pass over the given target; ``other``, over the network's own continuation of
    ``candidate``. Both are passes without any intervention: ``log_probabilities`` include that of the forced
    token.
    """

    row: int
    candidate: str
    observed: AttentionTrace
    other: AttentionTrace | None  # None where decoding reaches no end mark
    text: str | None  # of ``other``


def alternative_continuation(
    corrector: Network, source: str, target: str, row: int, candidate: str
) -> AlternativeContinuation:
    """Force another token at one row, and let the network continue from there.

    Args:
        candidate: a token as traces label it, in place of the target's token at ``row``.

    Raises:
        ValueError: for a row that the target does not have, a token that the network cannot write, such as
            ``<outside>``, and for a
            network that takes no interventions.

    Example:
        >>> found = alternative_continuation(corrector, "머거요", "먹어요", row=0, candidate="머")
        >>> found.observed.target_tokens[0], found.other.target_tokens[0]
        ('먹', '머')
    """
    ids = corrector.tokenizer.encode_target(target)
    check_row(row, len(ids))
    token = _token_id(corrector, candidate)
    if token is None:
        # Not the candidate itself: the message may reach a log, where visitors' words do not belong.
        raise ValueError(
            "the candidate should be one token that the network can write, "
            f"received {len(candidate)} characters that are none"
        )
    if token == END_ID:
        text: str | None = target[:row]
    else:
        source_ids = corrector.tokenizer.encode_source(source)
        (written,) = corrector.laboratory.write([source_ids], [Intervention()], [[*ids[:row], token]])
        text = written and corrector.tokenizer.decode(written.ids, source)
    other = None if text is None else corrector.trace(source, text)
    return AlternativeContinuation(row, candidate, corrector.trace(source, target), other, text)


def can_write(corrector: Network, candidate: str) -> bool:
    """Whether the network has a token of its own for this label of a trace; ``<outside>`` is none."""
    return _token_id(corrector, candidate) is not None


def _token_id(corrector: Network, candidate: str) -> int | None:
    if candidate == END:
        return END_ID
    ids = corrector.tokenizer.encode_target(" " if candidate == VISIBLE_SPACE else candidate)[:-1]
    return ids[0] if len(ids) == 1 and ids[0] != OUTSIDE_ID else None


@dataclass(frozen=True)
class ReplacedAttention:
    """One row and the whole text with other weights in one head.

    ``intervened`` is False for the head's own weights (``how`` is OBSERVED), True for all others.
    """

    how: str
    intervened: bool
    weights: np.ndarray  # (Q, K) float32 as the pass over source and target used them; rows sum to 1
    written_probability: float  # of the written token; for an edit, the first token of the fix
    instead_probability: float  # of the other token; for an edit, of the typed text
    text: str | None  # by free decoding; None where it reaches no end mark


def replaced_attention(
    corrector: Intervenes, edit: Edit, head: Head, painted: Mapping[str, np.ndarray] | None = None
) -> tuple[ReplacedAttention, ...]:
    """Replace the weights of one head: uniform, those of a copy, permuted (seed 0), each of ``painted``.

    The first version has the head's own weights.

    Args:
        painted: weights (Q, K) by name, as for ``Intervention.weights``.

    Raises:
        ValueError: for a head that the network does not have, and for weights that do not fit.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> found = replaced_attention(corrector, edit, Head("cross_attention", 3, 0))
        >>> [each.how for each in found]
        ['observed', 'uniform', 'copy', 'permuted']
    """
    source, target, contrast = edit.source, edit.target, contrast_of_edit(corrector, edit)
    trace = corrector.trace(source, target)
    if head not in trace.heads:
        raise ValueError(f"a head should be one of the network's {len(trace.heads)}, received {head}")
    changes = changes_in_tokens(trace, corrector.changes(source, target)) or ()
    others = {
        UNIFORM: uniform_rows(head.kind, len(trace.source_tokens)),
        COPY: copy_rows(trace, head.kind, changes),
        PERMUTED: permuted_rows(trace, head),
        **(painted or {}),
    }
    interventions = [Intervention(), *(Intervention(weights={head: rows}) for rows in others.values())]
    scores = corrector.logit_differences(source, target, contrast, interventions)
    return tuple(
        ReplacedAttention(how, how != OBSERVED, *each)
        for how, *each in zip(
            (OBSERVED, *others),
            corrector.attention_under(source, target, head, interventions),  # (B, Q, K)
            np.exp(scores.log_written).tolist(),
            np.exp(scores.log_instead).tolist(),
            corrector.written_under(source, interventions),
            strict=True,
        )
    )


def replaced_for_change(
    corrector: Intervenes, edit: Edit, head: Head, painted: Sequence[int] = ()
) -> tuple[Contrast, tuple[ReplacedAttention, ...]]:
    """``replaced_attention`` with one row of painted keys, and the contrast of the change.

    Args:
        painted: keys that share the weight of the row ``row_of_contrast`` between them, one named twice gets
            two shares; without any there is no such version. Keys that the row cannot see are left out.

    Raises:
        ValueError: as ``replaced_attention`` and ``contrast_of_edit`` do, and for an edit about no change.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> contrast, found = replaced_for_change(corrector, edit, Head("cross_attention", 3, 0))
        >>> contrast.written_token, found[0].intervened
        ('먹', False)
    """
    contrast = contrast_of_edit(corrector, edit)
    versions = {}
    trace = corrector.trace(edit.source, edit.target)
    placed, _ = in_tokens(trace, edit.change, corrector.changes(edit.source, edit.target))
    row = row_of_contrast(head.kind, contrast.row, placed)
    keys = trace.attention(head.kind).shape[3]
    seen = [key for key in painted if 0 <= key < (row + 1 if head.kind == "decoder_attention" else keys)]
    if seen:
        weights = np.bincount(seen, minlength=keys).astype(np.float32)
        versions[PAINTED] = painted_row(trace, head.kind, row, weights)
    return contrast, replaced_attention(corrector, edit, head, versions)


def row_of_contrast(kind: str, row: int, change: Change) -> int:
    """The row of a map that may be painted:

    in the decoder that of the fix, in the encoder that of the first wrong character.
    """
    return change.source_start if kind == "encoder_attention" else row


def uniform_rows(kind: str, source_length: int) -> np.ndarray:
    """(Q, K) float32:

    uniform weights over all visible keys, for S = ``source_length`` and the longest possible correction.

    >>> uniform_rows("encoder_attention", 2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    rows = source_length if kind == "encoder_attention" else longest_target(source_length)
    keys = rows if kind == "decoder_attention" else source_length
    weights = np.ones((rows, keys), np.float32)
    if kind == "decoder_attention":
        weights = np.tril(weights)
    return weights / weights.sum(axis=1, keepdims=True)


def copy_rows(trace: AttentionTrace, kind: str, changes: Sequence[Change]) -> np.ndarray:
    """(Q, K) float32: 1 where a plain copy would attend (``edits.standing_positions``).

    In cross-attention that is the source token at the row's position, of an insertion the token before which
    it goes; in the other kinds, the row's own token. A row without a known position is NaN, and stays as it
    is.
    """
    keys = trace.attention(kind).shape[3]
    positions = standing_positions(trace, kind, changes)
    known = (positions >= 0) & (positions < keys)
    rows = np.full((len(positions), keys), np.nan, np.float32)
    rows[known] = np.eye(keys, dtype=np.float32)[positions[known]]
    return rows


def permuted_rows(trace: AttentionTrace, head: Head, seed: int = 0) -> np.ndarray:
    """(Q, K) float32: the head's own weights, in each row shuffled among the keys that the row may see."""
    rng = np.random.default_rng(seed)
    weights = trace.attention(head.kind)[head.layer, head.head].copy()
    for number, row in enumerate(weights):
        seen = number + 1 if head.kind == "decoder_attention" else len(row)
        row[:seen] = rng.permutation(row[:seen])
    return weights


def painted_row(trace: AttentionTrace, kind: str, row: int, weights: np.ndarray) -> np.ndarray:
    """(Q, K) float32:

    one row with the weights (K,), divided by their sum; all other rows NaN, which leaves them as they are.

    Raises:
        ValueError: for a row that does not exist, for weights of another length, negative ones or nothing but
            zeros, and in decoder
            self-attention for weights of later tokens.
    """
    shape = trace.attention(kind).shape[2:]
    weights = np.asarray(weights, np.float32)
    if not 0 <= row < shape[0] or weights.shape != shape[1:]:
        raise ValueError(f"a row of {shape} should be painted, received row {row} with {weights.shape}")
    if (weights < 0).any() or not weights.sum() > 0:
        raise ValueError(f"weights should be 0 or more and not all 0, received {weights.tolist()}")
    if kind == "decoder_attention" and weights[row + 1 :].any():
        raise ValueError(f"row {row} cannot see what comes later, received {weights.tolist()}")
    painted = np.full(shape, np.nan, np.float32)
    painted[row] = weights / weights.sum()
    return painted
