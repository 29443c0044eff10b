"""Which tokens does one produced token come from? Eight attribution methods answer the same question.

S source tokens, T target tokens. Each method is asked about one row of the decoder. It gives a number to each source token (S,)
and to each token that the decoder had read by then (row + 1,), the start mark first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.analysis import mixing
from model.analysis.integrated import integrate
from model.analysis.questions import Question, ask
from model.analysis.ranks import rank_correlation, shared_top
from model.trace.interventions import Intervention

if TYPE_CHECKING:
    from model.correction.corrector import Corrector

REFERENCE = "occlusion"
# Methods that ask the network again with something changed.
INTERVENING = frozenset(["value_zeroing", "occlusion"])


@dataclass(frozen=True)
class Contribution:
    """What one method says about one row.

    ``signed`` values are in nats of log p(written) - log p(instead): positive ones speak for what was written.
    The others are shares: none is negative, and ``source`` and ``before`` together sum to 1.
    """

    method: str  # one of METHODS
    source: np.ndarray  # (S,) float32, the end mark last
    before: np.ndarray  # (row + 1,) float32, the start mark first
    signed: bool
    gap: float | None = None  # of integrated gradients: (sum - what it should be) / what it should be

    @property
    def intervened(self) -> bool:
        """Whether the network was asked again with something changed; else the values are of the pass as it was."""
        return self.method in INTERVENING


@dataclass(frozen=True)
class MethodAgreement:
    """How far a method agrees with the reference about the source characters, marks left out.

    Compared are sizes, without their signs.
    """

    correlation: float  # Spearman's rank correlation in -1..1; nan where either does not vary
    top_1: bool  # whether both name the same character as the largest
    top_3: float  # in 0..1, the share of the three largest that both name


def contribution(
    corrector: Corrector, source: str, target: str, question: Question, method: str
) -> Contribution:
    """One of METHODS:

    attention: raw weights, the mean over all layers and heads; half for each side.
    norms: norm-weighted attention (Kobayashi et al. 2020).
    rollout: attention rollout through encoder and decoder (Abnar & Zuidema 2020).
    alti: ALTI (Ferrando et al. 2022).
    gradient: gradient times input embedding, summed over D; positions are not attributed to.
    integrated_gradients: the same, averaged on the straight path from no token embeddings at all, positions
        only, to the embeddings (Sundararajan, Taly & Yan 2017); ``gap`` says how complete it is, which is
        within 1 % unless the path is too rough for 160 points.
    value_zeroing: (Mohebbi et al. 2023), the mean over the decoder's layers.
    occlusion: the token is left out, as ``Intervention.without_source`` and ``without_target`` do.

    Raises ValueError for another method, and for a network that takes no interventions.

    >>> from model.analysis.questions import question_of_row
    >>> question = question_of_row(corrector, "머거요", "먹어요", row=0)
    >>> found = contribution(corrector, "머거요", "먹어요", question, "rollout")
    >>> found.source.shape, found.before.shape  # three characters and the end mark; the start mark
    ((4,), (1,))
    """
    if method not in METHODS:
        raise ValueError(f"the method should be one of {METHODS}, received {method!r}")
    return _METHODS[method](corrector, source, target, question)


def contributions(
    corrector: Corrector, source: str, target: str, question: Question, methods: Iterable[str] | None = None
) -> Iterator[Contribution]:
    """All methods, or those of ``methods``, each as soon as it is known.

    >>> from model.analysis.questions import question_of_row
    >>> question = question_of_row(corrector, "머거요", "먹어요", row=0)
    >>> [each.method for each in contributions(corrector, "머거요", "먹어요", question, ["attention", "rollout"])]
    ['attention', 'rollout']
    """
    for method in METHODS if methods is None else methods:
        yield contribution(corrector, source, target, question, method)


def agreement(one: Contribution, reference: Contribution) -> MethodAgreement:
    """Compare what two methods say about the same row's source characters.

    Raises ValueError for rows of different sentences.
    """
    if one.source.shape != reference.source.shape:
        raise ValueError(
            f"both should be about one sentence, received {one.source.shape} and {reference.source.shape}"
        )
    sizes = np.abs(one.source[:-1]), np.abs(reference.source[:-1])
    if not sizes[0].size:
        return MethodAgreement(float("nan"), False, 0.0)
    return MethodAgreement(
        correlation=rank_correlation(*sizes),
        top_1=bool(shared_top(*sizes, 1)),
        top_3=shared_top(*sizes, 3),
    )


def _ids(corrector: Corrector, source: str, target: str, question: Question) -> tuple[list[int], list[int]]:
    """Rows behind the one that is asked about have no influence on it."""
    tokenizer = corrector.tokenizer
    return tokenizer.encode_source(source), tokenizer.encode_target(target)[: question.row + 1]


def _of_row(method: str, source: np.ndarray, before: np.ndarray) -> Contribution:
    """The last row of (T, S) and (T, T) shares."""
    return Contribution(method, source[-1].astype(np.float32), before[-1].astype(np.float32), signed=False)


def _attention(corrector, source, target, question) -> Contribution:
    insides = corrector.laboratory.insides(*_ids(corrector, source, target, question))
    sides = (insides.attention[kind].mean(axis=(0, 1)) for kind in ("cross_attention", "decoder_attention"))
    return _of_row("attention", *(side / 2 for side in sides))


def _norms(corrector, source, target, question) -> Contribution:
    insides = corrector.laboratory.insides(*_ids(corrector, source, target, question))
    return _of_row("norms", *mixing.norms(insides))


def _rollout(corrector, source, target, question) -> Contribution:
    insides = corrector.laboratory.insides(*_ids(corrector, source, target, question))
    return _of_row("rollout", *mixing.rollout(insides))


def _alti(corrector, source, target, question) -> Contribution:
    insides = corrector.laboratory.insides(*_ids(corrector, source, target, question))
    return _of_row("alti", *mixing.alti(insides))


def _value_zeroing(corrector, source, target, question) -> Contribution:
    zeroed = corrector.laboratory.zeroed(*_ids(corrector, source, target, question))
    return _of_row("value_zeroing", *mixing.zeroed_shares(zeroed))


def _gradient(corrector, source, target, question) -> Contribution:
    ids = _ids(corrector, source, target, question)
    found = corrector.laboratory.slopes(*ids, (question.row, question.written, question.instead), [1.0])
    return Contribution("gradient", found.source[0], found.target[0], signed=True)


def _integrated_gradients(corrector, source, target, question) -> Contribution:
    ids = _ids(corrector, source, target, question)
    asked = question.row, question.written, question.instead

    def slope(points):
        found = corrector.laboratory.slopes(*ids, asked, points)
        return found.score, np.concatenate([found.source, found.target], axis=1)

    summed, gap = integrate(slope)
    in_source, in_target = np.split(summed.astype(np.float32), [len(ids[0])])
    return Contribution("integrated_gradients", in_source, in_target, signed=True, gap=gap)


def _occlusion(corrector, source, target, question) -> Contribution:
    length = len(source) + 1
    gone = [Intervention(without_source=frozenset([place])) for place in range(length)]
    gone += [Intervention(without_target=frozenset([place])) for place in range(question.row + 1)]
    odds = ask(corrector, source, target, question, [Intervention(), *gone]).log_odds
    lost = odds[0] - odds[1:]
    return Contribution("occlusion", lost[:length], lost[length:], signed=True)


_METHODS: dict[str, Callable[..., Contribution]] = {
    "attention": _attention,
    "norms": _norms,
    "rollout": _rollout,
    "alti": _alti,
    "gradient": _gradient,
    "integrated_gradients": _integrated_gradients,
    "value_zeroing": _value_zeroing,
    "occlusion": _occlusion,
}
METHODS = tuple(_METHODS)
