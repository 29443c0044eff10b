"""Which tokens does one produced token come from? Several attribution methods answer the same question.

``methods/`` has one file for each method. Each gives a number to each source token and to each token that the decoder had read.
``agreement`` compares two methods.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from model.analysis.contrasts import contrasts_of_sentence
from model.analysis.method import AttributedRow, AttributionMethod, Contribution
from model.analysis.methods import DECLARED
from model.analysis.ranks import rank_correlation, shared_top
from model.correction.answers import Intervenes, Network
from model.trace.interventions import Intervention
from model.trace.odds import Contrast

METHODS: dict[str, AttributionMethod] = {method.name: method for method in DECLARED}
REFERENCE = "occlusion"  # really leaving a token out


@dataclass(frozen=True)
class MethodAgreement:
    """How far a method agrees with the reference about the source characters, marks left out.

    Compared are sizes, without their signs.
    """

    correlation: float  # Spearman's rank correlation in -1..1; nan where either does not vary
    top_1: bool  # whether both name the same character as the largest
    top_3: float  # in 0..1, the share of the three largest that both name


def methods_of(corrector: Intervenes) -> tuple[str, ...]:
    """The names of the methods that work with this network."""
    return tuple(name for name, method in METHODS.items() if method.needs in corrector.config.abilities)


def contributions(
    corrector: Intervenes, source: str, target: str, contrast: Contrast, methods: Iterable[str] | None = None
) -> Iterator[Contribution]:
    """What ``methods`` say, by default all of ``methods_of``, each as soon as it is known.

    Raises ValueError for a method that this network cannot be asked by.

    >>> from model.analysis.contrasts import contrast_of_row
    >>> contrast = contrast_of_row(corrector, "머거요", "먹어요", row=0)
    >>> [each.method for each in contributions(corrector, "머거요", "먹어요", contrast, ["attention", "rollout"])]
    ['attention', 'rollout']
    """
    row, known = AttributedRow(corrector, source, target, contrast), methods_of(corrector)
    for name in known if methods is None else methods:
        if name not in known:
            raise ValueError(f"the method should be one of {known}, received {name!r}")
        method = METHODS[name]
        said = method.say(row)
        sides = said.source.astype(np.float32), said.before.astype(np.float32)
        yield Contribution(name, *sides, method.signed, method.intervenes, said.gap)


def contribution(
    corrector: Intervenes, source: str, target: str, contrast: Contrast, method: str
) -> Contribution:
    """What one method says.

    >>> from model.analysis.contrasts import contrast_of_row
    >>> contrast = contrast_of_row(corrector, "머거요", "먹어요", row=0)
    >>> found = contribution(corrector, "머거요", "먹어요", contrast, "rollout")
    >>> found.source.shape, found.before.shape  # three characters and the end mark; the start mark
    ((4,), (1,))
    """
    return next(contributions(corrector, source, target, contrast, [method]))


def contribution_rows(
    corrector: Network, source: str, target: str, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """What one method says about all produced tokens, each against the likeliest other one: by source token (T, S) and by token that
    had been read (T, T), the start mark first.

    >>> source, before = contribution_rows(corrector, "머거요", "먹어요", "gradient")
    >>> source.shape, before.shape
    ((4, 4), (4, 4))
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)
    looked = corrector.laboratory.pass_over([ids[0]], [ids[1]], [Intervention()])
    contrasts, _ = contrasts_of_sentence(corrector, source, target, (), looked.logits[0])
    found = [contribution(corrector, source, target, each, method) for each in contrasts]
    before = np.zeros((len(found), len(found)), np.float32)
    for row, each in enumerate(found):
        before[row, : row + 1] = each.before
    return np.stack([each.source for each in found]), before


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
