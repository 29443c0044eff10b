"""Writes Korean as it is heard (표준 발음법): all pronunciation rules in their order, and how often each is used."""

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from training.noise import pronunciation_coda as coda
from training.noise import pronunciation_liaison as liaison
from training.noise import pronunciation_tense as tense
from training.noise import pronunciation_vowel as vowel
from training.noise.draft import Draft

PronunciationRule = Callable[[Draft, random.Random, float], None]

# (rule, weight). The rules are chained in an order that gives the standard pronunciation: first those
# that depend on the written letters (구개음화, ㅎ), then those that move a coda away, then those of the
# remaining codas. Weight 1: 표준 발음법 prescribes it. Below 1: it only permits it, or it is casual speech.
_ORDER: tuple[tuple[PronunciationRule, float], ...] = (
    (tense.tensification_after_l, 1.0),
    (liaison.palatalisation, 1.0),
    (liaison.aspiration, 1.0),
    (liaison.aspiration_across_space, 0.3),
    (liaison.h_before_s, 1.0),
    (liaison.h_loss, 1.0),
    (liaison.h_weakening, 0.1),
    (vowel.ui_not_first, 0.4),
    (vowel.ui_particle, 0.3),
    (liaison.n_insertion, 1.0),
    (liaison.n_insertion_across_space, 0.2),
    (liaison.liaison_before_content, 1.0),
    (liaison.liaison, 1.0),
    (liaison.liaison_across_space, 0.4),
    (vowel.ui_after_consonant, 1.0),
    (vowel.palatal_glide, 1.0),
    (vowel.ye_as_e, 0.5),
    (tense.tensification_sino, 1.0),
    (tense.tensification_compound, 1.0),
    (tense.tensification, 1.0),
    (tense.tensification_across_space, 0.3),
    (coda.cluster_simplification, 1.0),
    (coda.coda_neutralisation, 1.0),
    (coda.l_as_n, 1.0),
    (coda.nasalisation, 1.0),
    (coda.nasalisation_across_space, 0.4),
    (coda.liquidisation, 1.0),
    (coda.coda_as_siot, 0.3),
    (coda.coda_absorbed, 0.3),
    (coda.place_assimilation, 0.05),
)

PRONUNCIATION_RULES: Mapping[str, PronunciationRule] = MappingProxyType(
    {rule.__name__: rule for rule, _ in _ORDER}
)
WEIGHTS: Mapping[str, float] = MappingProxyType({rule.__name__: weight for rule, weight in _ORDER})

# Nothing that the norm merely permits, and nothing casual.
PRESCRIBED: Mapping[str, float] = MappingProxyType(
    {name: weight for name, weight in WEIGHTS.items() if weight == 1.0}
)


def as_heard(text: str) -> list[str]:
    """What becomes of each character of a text in the standard pronunciation.

    >>> "".join(as_heard("먹어요, 국물"))
    '머거요, 궁물'
    """
    draft = Draft(text)
    write_as_heard(draft, random.Random(0), 1.0, PRESCRIBED)
    return draft.cells


def write_as_heard(
    draft: Draft, rng: random.Random, rate: float, weights: Mapping[str, float] = WEIGHTS
) -> None:
    """Run every rule in order, each at ``rate`` times its weight; a rule not in ``weights`` is off.

    Raises ValueError for a rate outside 0..1.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie in 0..1, got {rate!r}")
    for name, rule in PRONUNCIATION_RULES.items():
        share = rate * weights.get(name, 0.0)
        if share > 0:
            rule(draft, rng, share)
