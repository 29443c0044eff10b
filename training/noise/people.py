"""Practice at natural rates: one mistake, of a kind drawn as often as people make it.

The shares are those of 4,898 mistakes that people made and people mended: spaces 62 %, the norm and loan
words 14, one jamo 13, particles 6, a syllable 2, the rest endings and what is doubled or missing. A network
that has practised mostly missing spaces takes a space too many for right, and people make both alike.
"""

import random
import re
from collections.abc import Sequence
from itertools import accumulate

from training.noise import rates_of
from training.noise.draft import Draft, Edit, ErrorRule, edits_of
from training.noise.norm import norm_in
from training.noise.spacing import COMMON_RULES, ENDS_WORD, FAMILY, SPACING_RULES, misspace_at
from training.noise.strokes import STROKE_RULES
from training.noise.typing_slips import slip
from training.noise.word_parts import PARTICLES

NORM, JAMO = "norm", "jamo"
SHARES = rates_of("people")
SPACES = tuple(SHARES)[: tuple(SHARES).index(NORM)]
_CUMULATED = tuple(accumulate(SHARES.values()))
ATTEMPTS = 12  # kinds that are drawn, until one has room in a sentence
OTHERS = 12  # sentences that are tried for a kind

_LATIN_PARTICLE = re.compile(
    rf"(?<=[A-Za-z0-9)\]`*%])(?=(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))}){ENDS_WORD})"
)


def latin_particle_split(draft: Draft, rng: random.Random, rate: float) -> None:
    """A particle written apart from Latin letters, figures or a bracket: Docker를 -> Docker 를 (제41항).

    >>> draft = Draft("Docker를 켠다.")
    >>> latin_particle_split(draft, random.Random(0), 1.0)
    >>> draft.wrong
    'Docker 를 켠다.'
    """
    for match in _LATIN_PARTICLE.finditer(draft.text):
        if rng.random() < rate:
            misspace_at(draft, Edit("latin_particle_split", FAMILY, match.start() - 1, match.start()))


_RULES: dict[str, ErrorRule] = {
    **(SPACING_RULES | COMMON_RULES),
    "latin_particle_split": latin_particle_split,
}


def as_people_write(text: str, rng: random.Random, others: Sequence[str] = ()) -> tuple[str, str] | None:
    """(wrong, right): a right sentence with one mistake; None where the kinds that are drawn have no room.

    Where a kind has no room in ``text``, a few of the ``others`` are tried: else the kinds that seldom find a
    place, as a numeral joined to its unit, would come less often than people make them.

    >>> as_people_write("집에 갈 수 있다.", random.Random(2))
    ('집에 갈수 있다.', '집에 갈 수 있다.')
    """
    for kind in rng.choices(tuple(SHARES), cum_weights=_CUMULATED, k=ATTEMPTS):
        for right in (text, *(rng.choices(others, k=OTHERS) if others else ())):
            if (wrong := _with_one(kind, right, rng)) and wrong != right:
                return wrong, right
    return None


def _with_one(kind: str, text: str, rng: random.Random) -> str | None:
    """The text with one mistake of this kind; None without room for it."""
    if kind == NORM:
        pair = norm_in(text, rng)
        return pair[0] if pair else None
    draft = Draft(text)
    if kind == JAMO:
        slip(draft, rng, 1)
    elif kind in SPACES:
        if edits := edits_of(_RULES[kind], text, rng):
            misspace_at(draft, rng.choice(edits))
    else:
        _slip_in_one_word(kind, draft, rng)
    return draft.wrong


def _slip_in_one_word(kind: str, draft: Draft, rng: random.Random) -> None:
    """One of the slips that a rule of ``strokes`` makes where it has room."""
    tried = Draft(draft.text)
    STROKE_RULES[kind](tried, rng, 1.0)
    if tried.edits:
        edit = rng.choice(tried.edits)
        draft.put(kind, edit.family, edit.start, tried.cells[edit.start : edit.end])
