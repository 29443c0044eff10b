"""Input attribution of a token by several methods, their agreement, ``three_numbers``.

Contributions are given for the source tokens and for the tokens read before.
``model.analysis.attribution_methods`` declares the methods.

The three numbers are the largest attention weight, the largest direct contribution and the largest effect of
leaving a token out. They may name three different source tokens: attention is one head's weight, direct logit
attribution leaves out the part that other positions passed on, and leaving a token out changes everything
behind it.

Shapes: S source and T target tokens.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.analysis.attribution_methods import METHODS, AttributedRow
from model.analysis.contrasts import Edit, contrasts_of_sentence
from model.analysis.head_effects import HeadEffects
from model.analysis.residual_stream import LogitAttribution
from model.analysis.saving import Result
from model.analysis.statistics import rank_correlation, shared_top
from model.correction.answers import Intervenes, Network
from model.trace.interventions import Head, Intervention
from model.trace.trace import AttentionTrace

REFERENCE = "occlusion"  # the method with which the others are compared


@dataclass(frozen=True)
class Contribution(Result):
    """The scores of one method for one row; ``signed`` as in ``AttributionMethod``."""

    method: str
    source: np.ndarray  # (S,) float32, the end mark last
    before: np.ndarray  # (row + 1,) float32, the start mark first
    signed: bool
    intervened: bool
    gap: float | None = None  # of integrated gradients: the relative error of their sum


@dataclass(frozen=True)
class MethodAgreement:
    """The agreement of a method with the reference over the source characters, by size without sign."""

    correlation: float  # Spearman's rank correlation in -1..1; nan where either does not vary
    top_1: bool  # whether both have the same largest character
    top_3: float  # in 0..1, the share of the three largest that both have


def methods_of(corrector: Intervenes) -> tuple[str, ...]:
    """The names of the methods that work with this network.

    >>> "norms" in methods_of(corrector)
    True
    """
    return tuple(name for name, method in METHODS.items() if method.needs in corrector.config.abilities)


def contributions(
    corrector: Intervenes, edit: Edit, methods: Iterable[str] | None = None
) -> Iterator[Contribution]:
    """Attribute one row by ``methods``, by default all of ``methods_of``, each as soon as it is computed.

    Raises:
        ValueError: for a method that this network does not support.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> found = contributions(corrector, edit, ["attention", "rollout"])
        >>> [each.method for each in found]
        ['attention', 'rollout']
    """
    row, known = AttributedRow(corrector, edit), methods_of(corrector)
    for name in known if methods is None else methods:
        if name not in known:
            raise ValueError(f"the method should be one of {known}, received {name!r}")
        method = METHODS[name]
        scores = method.scores(row)
        sides = scores.source.astype(np.float32), scores.before.astype(np.float32)
        yield Contribution(name, *sides, method.signed, method.intervenes, scores.gap)


def contribution(corrector: Intervenes, edit: Edit, method: str) -> Contribution:
    """Attribute one row by one method.

    >>> found = contribution(corrector, *edits_of("머거요", "먹어요"), "rollout")
    >>> found.source.shape, found.before.shape  # three characters and the end mark; the start mark
    ((4,), (1,))
    """
    return next(contributions(corrector, edit, [method]))


def contribution_rows(
    corrector: Network, source: str, target: str, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """Attribute all produced tokens, each against the likeliest other one.

    Returns:
        By source token (T, S) and by token read before (T, T), the start mark first.

    Example:
        >>> source, before = contribution_rows(corrector, "머거요", "먹어요", "gradient")
        >>> source.shape, before.shape
        ((4, 4), (4, 4))
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)
    logits = corrector.laboratory.pass_over([ids[0]], [ids[1]], [Intervention()]).logits[0]
    contrasts, _ = contrasts_of_sentence(corrector, source, target, (), logits)
    found = [contribution(corrector, Edit(source, target, each), method) for each in contrasts]
    before = np.zeros((len(found), len(found)), np.float32)
    for row, each in enumerate(found):
        before[row, : row + 1] = each.before
    return np.stack([each.source for each in found]), before


def method_agreement(one: Contribution, reference: Contribution) -> MethodAgreement:
    """Compare two methods on the source characters of one row.

    Raises:
        ValueError: for rows of different sentences.
    """
    if one.source.shape != reference.source.shape:
        raise ValueError(
            f"both should be about one sentence, received {one.source.shape} and {reference.source.shape}"
        )
    sizes = np.abs(one.source[:-1]), np.abs(reference.source[:-1])
    if not sizes[0].size:
        return MethodAgreement(float("nan"), False, 0.0)
    return MethodAgreement(rank_correlation(*sizes), bool(shared_top(*sizes, 1)), shared_top(*sizes, 3))


CROSS = "cross_attention"


class Named(NamedTuple):
    """A source token by its position, and the amount that a method gives it."""

    key: int
    amount: float


@dataclass(frozen=True)
class ThreeNumbers:
    """Attention, direct contribution and effect of leaving out: the largest of each.

    ``looked``: the weight of ``head``; ``wrote``: the direct contribution of all heads of the
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
