"""Three numbers about one change: where the network looked, what it wrote from, what mattered.

They may name three different source tokens. Attention is one head's weight, direct logit attribution leaves
out what other positions passed on, and leaving a token out changes everything behind it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.analysis.contributions import Contribution
from model.analysis.head_effects import HeadEffects
from model.analysis.residual_stream import LogitAttribution
from model.trace.interventions import Head
from model.trace.trace import AttentionTrace

CROSS = "cross_attention"


class Named(NamedTuple):
    """A source token by its position, and its number."""

    key: int
    amount: float


@dataclass(frozen=True)
class ThreeNumbers:
    """``looked``: the weight of ``head``; ``wrote``: the direct contribution of all heads of the
    cross-attention in nats; ``mattered``: the logit difference lost without the token, in nats.
    """

    head: Head  # of the cross-attention, the one whose ablation takes most from the change
    looked: Named
    wrote: Named
    mattered: Named
    by_head: float  # nats that ``head`` itself wrote from the token at which it looked
    direct: float  # nats that all heads wrote from the token that mattered

    @property
    def relation(self) -> str:
        """``against``: without the token that mattered the change is more probable. ``agree``: all three name
        one token. ``passed_on``: the token that mattered acts through other positions. ``others``: other
        heads than the one that looked wrote from another token.
        """
        if self.mattered.amount < 0:
            return "against"
        if self.looked.key == self.wrote.key == self.mattered.key:
            return "agree"
        return "passed_on" if self.wrote.key != self.mattered.key else "others"


def three_numbers(
    trace: AttentionTrace, effects: HeadEffects, attribution: LogitAttribution, left_out: Contribution
) -> ThreeNumbers:
    """The three numbers of the change of ``effects``, whose contrast is a question of ``attribution``.

    Raises ValueError for an attribution without this question.
    """
    number = attribution.questions.index(effects.contrast)
    head = head_that_matters(effects)
    weights = trace.attention(CROSS)[head.layer, head.head, effects.contrast.row]  # (S,)
    by_key = attribution.by_key[CROSS][number]  # (L, H, S)
    written = by_key.sum(axis=(0, 1))
    looked, wrote = int(weights.argmax()), int(np.abs(written).argmax())
    mattered = int(np.abs(left_out.source[:-1]).argmax())
    return ThreeNumbers(
        head,
        Named(looked, float(weights[looked])),
        Named(wrote, float(written[wrote])),
        Named(mattered, float(left_out.source[mattered])),
        float(by_key[head.layer, head.head, looked]),
        float(written[mattered]),
    )


def head_that_matters(effects: HeadEffects) -> Head:
    """The head of the cross-attention whose ablation takes most from the change. Raises ValueError without
    one."""
    found = [
        pair for pair in zip(effects.effect.tolist(), effects.heads, strict=True) if pair[1].kind == CROSS
    ]
    return min(found, key=lambda pair: pair[0])[1]
