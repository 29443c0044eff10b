"""What becomes of a change in a pass that is changed: heads off, other weights, another token."""

import numpy as np

from engine.questions.declared import question
from engine.spans import ChangeSpan, change_at
from model.analysis.counterfactuals import ReplacedAttention, alternative_continuation, replaced_for_change
from model.analysis.head_effects import (
    AblatedText,
    HeadEffects,
    ablate_heads,
    ablated_fix_probability,
    head_effects,
)
from model.correction.answers import Intervenes
from model.stored.config import INSIDE, INTERVENTIONS
from model.trace.interventions import Contrast, Head

Means = tuple[tuple[str, tuple], ...]  # (kind of attention, (L, H, D/H) numbers as nested tuples), …
Sets = tuple[tuple[tuple, ...], ...]  # of heads: (kind, layer, head)


@question("head_effects", INTERVENTIONS, is_long=True, in_numpy=True)
def _head_effects(
    corrector: Intervenes, source: str, target: str, span: ChangeSpan, means: Means = ()
) -> HeadEffects:
    """What becomes of the change at ``span`` without each head; its part of ``means``, or zero, stands in for it."""
    change = change_at(corrector, source, target, span)
    return head_effects(corrector, source, target, change, _arrays(means))


@question("ablate_heads", INTERVENTIONS, is_long=True, in_numpy=True)
def _ablate_heads(
    corrector: Intervenes, source: str, sets: Sets, means: Means = ()
) -> tuple[AblatedText, ...]:
    """What is written without each of these sets of heads; ``means`` as for ``head_effects``."""
    return ablate_heads(corrector, source, _heads(sets), _arrays(means))


@question("ablated_fix_probability", INTERVENTIONS, is_long=True, in_numpy=True)
def _ablated_fix_probability(
    corrector: Intervenes, source: str, target: str, span: ChangeSpan, sets: Sets, means: Means = ()
) -> tuple[float, ...]:
    """How probable the change at ``span`` is without each of these sets of heads; ``means`` as for ``head_effects``."""
    change = change_at(corrector, source, target, span)
    return ablated_fix_probability(corrector, source, target, change, _heads(sets), _arrays(means))


def _heads(sets: Sets) -> list[list[Head]]:
    return [[Head(*head) for head in each] for each in sets]


def _arrays(means: Means) -> dict[str, np.ndarray] | None:
    return {kind: np.array(rows, np.float32) for kind, rows in means} or None


@question("replaced", INTERVENTIONS, is_long=True, in_numpy=True)
def _replaced(
    corrector: Intervenes,
    source: str,
    target: str,
    span: ChangeSpan,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
) -> tuple[Contrast, tuple[ReplacedAttention, ...]]:
    """(question, versions) of the change at ``span`` with other weights in ``head``."""
    change = change_at(corrector, source, target, span)
    return replaced_for_change(corrector, source, target, change, Head(*head), painted)


question("alternative_continuation", INSIDE, is_long=True, in_numpy=True)(alternative_continuation)
