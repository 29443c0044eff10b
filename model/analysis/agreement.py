"""How well a person's guess agrees with attention: do the tokens that a person marked get most of the weight?"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from model.analysis.edits import focus
from model.text.changes import Change
from model.trace.trace import AttentionTrace


@dataclass(frozen=True)
class Agreement:
    """``marks`` tokens were marked among K candidates; arrays have the leading shape of the weights.

    ``share`` says how much attention lies on the marks. It means little alone, so it stands beside two other guesses of
    as many tokens: ``random`` is what a blind guess reaches on average, ``best`` is the most that any guess reaches. Always
    ``random <= best`` and ``share <= best``; ``share`` may be below ``random``.
    """

    marks: int
    share: np.ndarray  # (...) sum of the weights of the marked tokens
    best: np.ndarray  # (...) sum of the largest weights, as many as there are marks
    random: np.ndarray  # (...) marks / K of the sum of all weights
    hits: np.ndarray  # (...) int, how many of the k most attended tokens are marked, for k marks

    @property
    def precision(self) -> np.ndarray:
        """(...) precision at k, k being the number of marks: the share of the top k that is marked."""
        return self.hits / self.marks


def agreement(weights: np.ndarray, marked: Collection[int]) -> Agreement:
    """Compare ``weights`` (..., K), each row the attention over K candidate tokens, with a set of marks.

    The candidates may be a part of what a head sees: then a row sums to less than 1, and the shares keep
    the scale of the whole. Of equal weights, the earlier token counts as the more attended.

    Raises ValueError for no marks and for a mark that is no candidate.
    """
    candidates = weights.shape[-1]
    marks = sorted(set(marked))
    if not marks or marks[0] < 0 or marks[-1] >= candidates:
        raise ValueError(f"marks should be some of 0..{candidates - 1}, received {sorted(marked)}")
    order = np.argsort(-weights, axis=-1, kind="stable")[..., : len(marks)]
    return Agreement(
        marks=len(marks),
        share=weights[..., marks].sum(axis=-1),
        best=np.take_along_axis(weights, order, axis=-1).sum(axis=-1),
        random=weights.sum(axis=-1) * len(marks) / candidates,
        hits=np.isin(order, marks).sum(axis=-1),
    )


def attention_of_change(trace: AttentionTrace, change: Change) -> np.ndarray:
    """(L, H, S) float32: where each head looks while the network writes ``change``, the mean over its rows."""
    rows = focus(trace, "cross_attention", change).rows
    return trace.attention("cross_attention")[:, :, list(rows)].mean(axis=2)


def agreeing_head(found: Agreement) -> tuple[int, int]:
    """(layer, head), counted from 0, of the head with most attention on the marks; ``found`` is (L, H)."""
    layer, head = np.unravel_index(int(found.share.argmax()), found.share.shape)
    return int(layer), int(head)
