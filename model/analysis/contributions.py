"""Input attribution of one produced token, by several methods side by side.

Contributions are given for the source tokens and for the tokens read before.
``model.analysis.attribution_methods`` declares the methods.

Shapes: S source and T target tokens.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from model.analysis.attribution_methods import METHODS, AttributedRow
from model.analysis.contrasts import Edit, contrasts_of_sentence
from model.analysis.saving import Result
from model.analysis.statistics import rank_correlation, shared_top
from model.correction.answers import Intervenes, Network
from model.trace.interventions import Intervention

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

    >>> methods_of(corrector)[:3]
    ('attention', 'norms', 'rollout')
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
