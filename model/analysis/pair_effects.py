"""What each head does for one sentence: for each of its edits, for the characters that are copied, and for the whole text."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from model.activations.replacements import every_head
from model.analysis.contrasts import contrast_of_change
from model.analysis.edits import attention_to_edit, changed_rows
from model.correction.answers import Network
from model.text.changes import Change, find_changes
from model.trace.interventions import Head, Intervention
from model.trace.odds import Contrast


@dataclass(frozen=True)
class PairEffects:
    """N heads in the order of ``heads``; each is taken away alone. ``attention`` and ``written`` are observed, the rest is in nats and
    comes from these passes.

    ``changes``: those of the pair that change a token.
    ``edits``: how log p(fix) - log p(keep) changes where each of E changes begins, as ``HeadEffects.effect``.
    ``copied``: how log p changes, for each of the C target characters that are copied from the source.
    ``whole``: how log p of the whole target given the source changes.
    """

    heads: tuple[Head, ...]
    changes: tuple[Change, ...]
    attention: np.ndarray  # (E, N) float32, observed: the share each head gives to the edit
    written: np.ndarray  # (E,) bool, observed: whether the fix is more probable than keeping what was typed
    edits: np.ndarray  # (E, N) float32
    copied: np.ndarray  # (C, N) float32
    whole: np.ndarray  # (N,) float32


def pair_effects(corrector: Network, source: str, target: str) -> PairEffects:
    """All of ``PairEffects`` for one sentence, from one batch of teacher-forced passes.

    Raises ValueError for a network that takes no interventions and for a source that is longer than it can read.

    >>> effects = pair_effects(corrector, "머거요", "먹어요")
    >>> effects.edits.shape, effects.copied.shape  # one edit and one copied character, without each of 48 heads
    ((1, 48), (1, 48))
    """
    heads = every_head(corrector.config)
    ids = corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    interventions = [Intervention(), *(Intervention(off=frozenset([head])) for head in heads)]
    count = len(interventions)
    looked = corrector.laboratory.pass_over([ids[0]] * count, [ids[1]] * count, interventions)
    logits = looked.logits  # (1 + N, T, V)
    written = np.take_along_axis(logits, np.array(ids[1])[None, :, None], axis=-1)[..., 0]  # (1 + N, T)
    highest = logits.max(axis=-1, keepdims=True)
    logs = written - highest[..., 0] - np.log(np.exp(logits - highest).sum(axis=-1))
    changes = find_changes(source, target)
    asked = list(_contrasts(corrector, source, target, changes))
    copied = ~changed_rows(changes, len(ids[1]))
    copied[-1] = False  # the end mark is no character
    lost = logs[1:] - logs[0]  # (N, T)
    odds = np.zeros((len(asked), len(interventions)), np.float32)
    for number, (_, contrast) in enumerate(asked):
        odds[number] = logits[:, contrast.row, contrast.written] - logits[:, contrast.row, contrast.instead]
    return PairEffects(
        heads,
        tuple(change for change, _ in asked),
        _attention(corrector, source, target, [change for change, _ in asked], len(heads)),
        odds[:, 0] > 0,
        odds[:, 1:] - odds[:, :1],
        lost[:, copied].T,
        lost.sum(axis=1),
    )


def _contrasts(
    corrector: Network, source: str, target: str, changes: Iterable[Change]
) -> Iterator[tuple[Change, Contrast]]:
    """Each change with the contrast that is asked about it. A change that writes the same tokens as the source, such as one emoji for
    another, has no contrast and is left out.
    """
    for change in changes:
        with suppress(ValueError):
            yield change, contrast_of_change(corrector, source, target, change)


def _attention(corrector: Network, source: str, target: str, asked: list[Change], count: int) -> np.ndarray:
    if not asked:
        return np.zeros((0, count), np.float32)
    trace, changes = corrector.trace(source, target), find_changes(source, target)
    return np.stack(
        [
            np.concatenate(
                [attention_to_edit(trace, kind, change, changes).share.ravel() for kind in trace.kinds]
            )
            for change in asked
        ]
    )


def mean_outputs(corrector: Network, source: str, target: str) -> dict[str, np.ndarray]:
    """What each head puts out in one sentence, the mean over its rows: (L, H, D/H) float32 by kind.

    Averaged over a corpus it can stand in for a head that is switched off (``Intervention.means``).
    """
    insides = corrector.laboratory.insides(
        corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    )
    return {
        kind: np.einsum("lhqk,lhkd->lhd", weights, insides.values[kind]) / weights.shape[2]
        for kind, weights in insides.attention.items()
    }
