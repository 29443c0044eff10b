"""Roles of attention heads, such as copying, and their development over the training.

Shapes: N snapshots, L layers, H heads, S source and T target tokens, Q query and K key positions, R rows of a
role.

References: Voita et al., "Analyzing Multi-Head Self-Attention" (ACL 2019), and Clark et al., "What Does BERT
Look At?" (BlackboxNLP 2019), in the terms of spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.analysis.edits import changed_rows, copy_positions
from model.analysis.kinds import kind_of
from model.analysis.saving import Result
from model.analysis.statistics import settled_from
from model.text.changes import find_changes
from model.text.hangul import is_syllable

OWN, PREVIOUS, NEXT, LIAISON = "own", "previous", "next", "liaison"
SPACES, PUNCTUATION, MARKS, BREADTH = "spaces", "punctuation", "marks", "breadth"
ROLES = (OWN, PREVIOUS, NEXT, LIAISON, SPACES, PUNCTUATION, MARKS, BREADTH)
COPIED, EDITED = "copied", "edited"
CLASSES = (COPIED, EDITED)


@dataclass(frozen=True)
class Rows:
    """The rows of one kind of attention in one sentence, and their own positions among the keys.

    ``own``: in the encoder the token itself; in decoder self-attention the token just read; in
    cross-attention the source token that a copy would write, and inside an insertion the one that it goes
    before. ``edited``: rows that write a change, in the encoder those of its characters. ``liaison``: the key
    of the next syllable, spaces skipped, for rows of a change in which a coda had moved there, else -1. The
    end mark has no row.
    """

    own: np.ndarray  # (Q - 1,) int
    edited: np.ndarray  # (Q - 1,) bool
    liaison: np.ndarray  # (Q - 1,) int
    keys: str  # K characters; marks are "\0"

    def visible(self, kind: str) -> np.ndarray:
        """(Q - 1, K) bool: the keys that each row may attend to."""
        if kind == "decoder_attention":
            return np.tri(len(self.own), len(self.keys), dtype=bool)
        return np.ones((len(self.own), len(self.keys)), bool)


def rows_of(kind: str, source: str, target: str) -> Rows:
    """The rows of one kind of attention while ``source`` is turned into ``target``.

    >>> rows_of("cross_attention", "머거요", "먹어요").own.tolist()
    [0, 1, 2]
    """
    changes = find_changes(source, target)
    moved = [each for each in changes if kind_of(each, source, target) == "liaison"]
    s, t = len(source), len(target)
    if kind == "encoder_attention":
        edited = np.zeros(s, bool)
        for change in changes:
            edited[change.source_start : change.source_end] = True
        liaison = np.full(s, -1)
        for change in moved:
            for place in range(change.source_start, change.source_end):
                liaison[place] = _next_syllable(source, place)
        return Rows(np.arange(s), edited, liaison, source + "\0")
    edited = changed_rows(changes, t + 1)[:t]
    if kind == "decoder_attention":
        return Rows(np.arange(t), edited, np.full(t, -1), "\0" + target)
    own = copy_positions(changes, s + 1, t + 1)
    liaison = np.full(t, -1)
    for change in changes:
        inside = slice(change.target_start, change.target_end)
        own[inside] = np.where(own[inside] < 0, change.source_end, own[inside])
        if change in moved:
            liaison[inside] = [_next_syllable(source, place) for place in own[inside]]
    return Rows(own[:t], edited, liaison, source + "\0")


def _next_syllable(text: str, place: int) -> int:
    later = (i for i in range(place + 1, len(text)) if not text[i].isspace())
    found = next(later, -1)
    return found if found >= 0 and is_syllable(text[found]) else -1


def measure(kind: str, weights: np.ndarray, rows: Rows) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Measure each role that a kind of attention can have.

    Args:
        weights: (L, H, Q, K), the end mark's row last. Decoder self-attention cannot attend to later tokens.

    Returns:
        By role the rows that it concerns (R,), and the share of their attention that the role takes (R, L,
        H). BREADTH alone is not a share but an entropy in bits (Shannon 1948).
    """
    weights = np.moveaxis(weights[:, :, :-1], 2, 0).astype(np.float32)  # (Q - 1, L, H, K)
    found = {}
    for role, columns in _single_columns(kind, rows).items():
        standing = np.flatnonzero((columns >= 0) & (columns < weights.shape[-1]))
        found[role] = standing, weights[standing, :, :, columns[standing]]
    every = np.arange(len(weights))
    for role, mask in _masks(rows.keys).items():
        found[role] = every, weights @ mask.astype(np.float32)
    logarithms = np.log2(np.where(weights > 0, weights, 1))
    found[BREADTH] = every, -(weights * logarithms).sum(axis=-1)
    return found


def chance(kind: str, rows: Rows) -> dict[str, np.ndarray]:
    """(R,) of each role of ``measure``:

    its share in a head of uniform attention; of BREADTH its entropy in bits.
    """
    visible = rows.visible(kind)
    uniform = visible / visible.sum(axis=1, keepdims=True)
    weights = np.append(uniform, uniform[-1:], axis=0)[None, None]  # the end mark's row is not read
    return {role: values[:, 0, 0] for role, (_, values) in measure(kind, weights, rows).items()}


def _single_columns(kind: str, rows: Rows) -> dict[str, np.ndarray]:
    columns = {OWN: rows.own, PREVIOUS: rows.own - 1}
    if kind != "decoder_attention":
        columns |= {NEXT: rows.own + 1, LIAISON: rows.liaison}
    return columns


def _masks(keys: str) -> dict[str, np.ndarray]:
    def where(test: Callable[[str], bool]) -> np.ndarray:
        return np.array([test(c) for c in keys], bool)

    return {
        SPACES: where(str.isspace),
        PUNCTUATION: where(lambda c: c != "\0" and not c.isalnum() and not c.isspace()),
        MARKS: where(lambda c: c == "\0"),
    }


def leading_role(means: Mapping[str, float], chances: Mapping[str, float], least: float = 0.25) -> str:
    """The role with the largest share beyond chance, or BREADTH where none takes ``least``.

    >>> leading_role({"own": 0.8, "next": 0.1}, {"own": 0.1, "next": 0.1})
    'own'
    """
    beyond = {
        role: means[role] - chances[role]
        for role in ROLES
        if role not in (BREADTH, LIAISON) and np.isfinite(means.get(role, np.nan))
    }
    best = max(beyond, key=beyond.__getitem__, default=BREADTH)
    return best if beyond.get(best, 0.0) >= least else BREADTH


if TYPE_CHECKING:
    from model.trace.trace import AttentionTrace


@dataclass(frozen=True)
class Growth(Result):
    """The roles of the heads of one kind of attention over the training.

    ``shares``: by role (N, L, H) float32 in 0..1, the mean share of a head's attention over the rows of the
    role, nan without such rows. ``leading``: (N, L, H) the ``leading_role`` of each.
    """

    shares: dict[str, np.ndarray]
    leading: np.ndarray

    def settled(self, layer: int, head: int) -> tuple[str, int]:
        """The leading role of a head at the end, and the first snapshot from which on it is constant."""
        roles = self.leading[:, layer, head]
        return str(roles[-1]), settled_from(roles)


def growth(
    kind: str, sources: Sequence[str], texts: Sequence[str], traces: Sequence[AttentionTrace]
) -> Growth:
    """Follow the roles of one kind of attention through N traces of writing ``texts`` for ``sources``.

    Raises:
        ValueError: without any trace.

    Example:
        >>> traces = [corrector.trace("머거요", "먹어요")] * 2  # instead of one trace for each snapshot
        >>> growth("cross_attention", ["머거요"] * 2, ["먹어요"] * 2, traces).leading.shape
        (2, 4, 4)
    """
    if not traces:
        raise ValueError("growth should be followed through at least one trace, received none")
    measured = [_means(kind, *each) for each in zip(sources, texts, traces, strict=True)]
    roles = measured[0][0].keys()
    shares = {role: np.array([means[role] for means, _ in measured], np.float32) for role in roles}
    leading = np.empty(next(iter(shares.values())).shape, dtype=object)
    for number, layer, head in np.ndindex(leading.shape):
        means = {role: float(values[number, layer, head]) for role, values in shares.items()}
        leading[number, layer, head] = leading_role(means, measured[number][1])
    return Growth(shares, leading)


def _means(
    kind: str, source: str, text: str, trace: AttentionTrace
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """({role: (L, H)}, {role: its share in a head of uniform attention}) of one trace."""
    weights, rows = trace.attention(kind), rows_of(kind, source, text)
    of_rows = {
        role: values
        for role, (_, values) in measure(kind, weights, rows).items()
        if role not in (BREADTH, LIAISON)
    }
    nothing = np.full(weights.shape[:2], np.nan, np.float32)
    means = {role: values.mean(axis=0) if len(values) else nothing for role, values in of_rows.items()}
    by_chance = {
        role: float(np.mean(values)) if len(values) else 0.0 for role, values in chance(kind, rows).items()
    }
    return means, by_chance
