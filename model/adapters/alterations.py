"""Interventions on attention weights of foreign networks: hidden keys, replaced weights.

B interventions (or rows of a batch), H heads, S source and T target tokens, Q query and K key positions, D
d_model.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from model.activations.replacements import check_source, given_rows
from model.adapters.capture import MASKED
from model.trace.interventions import Intervention

Ids = Sequence[int]
DECODER_KIND = "decoder_attention"
_TINY = 1e-30  # keeps a row that sees nothing at zeros


def altered(
    at: tuple[str, int],
    interventions: Sequence[Intervention],
    weights: np.ndarray,
    scores: np.ndarray | None,
    keys: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The weights (B, H, Q, K) of the attention ``at`` (kind, layer): those to show, and those to use.

    A value or a head is zeroed by zeroing the weights on it. Columns beyond ``keys`` are attention sinks,
    whose weight falls on no key.
    """
    shown = weights.copy()
    for row, each in enumerate(interventions):
        hidden = each.without_target if at[0] == DECODER_KIND else each.without_source
        if places := [place for place in hidden if place < keys]:
            shown[row] = _without(places, shown[row], None if scores is None else scores[row])
        for head, given in each.weights.items():
            if head[:2] == at:
                shown[row, head.head, :, :keys] = given_rows(given)(shown[row, head.head, :, :keys])
    used = shown.copy()
    for row, each in enumerate(interventions):
        used[row, [head.head for head in each.off if head[:2] == at], :, :keys] = 0
        zeroed = [value.position for value in each.zeroed if value[:2] == at and value.position < keys]
        used[row, :, :, zeroed] = 0
    return shown, used


def _without(places: Sequence[int], weights: np.ndarray, scores: np.ndarray | None) -> np.ndarray:
    """The softmax (H, Q, K) over the keys outside of ``places``, which get 0. Rows of zeros stay so.

    A head with all its weight on a hidden key would have nothing left behind the softmax, so it is computed
    once more from its ``scores``, where they are known.
    """
    seen = np.ones(weights.shape, bool)
    seen[..., places] = False
    if scores is None:
        shares = weights * seen
    else:
        seen &= scores > scores.max(-1, keepdims=True) - MASKED
        lowered = np.where(seen, scores, -np.inf)
        highest = np.nan_to_num(lowered.max(-1, keepdims=True), neginf=0)
        shares = np.exp(lowered - highest) * weights.any(-1, keepdims=True)
    return shares / (shares.sum(-1, keepdims=True) + _TINY)


def in_sequence(intervention: Intervention, prompt: int) -> Intervention:
    """The same intervention where prompt and continuation are one sequence, without the start mark at 0.

    >>> sorted(in_sequence(Intervention(without_source={1}, without_target={0, 2}), prompt=3).without_target)
    [1, 4]
    """
    check_source(intervention, prompt)
    written = {prompt + place - 1 for place in intervention.without_target if place}
    return replace(
        intervention,
        without_source=frozenset(),
        without_target=frozenset(intervention.without_source) | written,
    )
