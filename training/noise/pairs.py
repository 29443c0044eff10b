"""Generators of (wrong, right) pairs: mix of error families (``make_pair``), one mistake at natural rates.

``make_pair`` makes the mistakes of a ``Writer``. ``as_people_write`` makes one, of a kind drawn as often as
people make it. The shares are those of 4,898 mistakes that people made and people mended: spaces 62 %, the
norm and loan words 14, one jamo 13, particles 6, a syllable 2, the rest endings and what is doubled or
missing. A network that has practised mostly missing spaces takes a space too many for right, and people make
both alike.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from training.noise import rates_of, spacing
from training.noise.draft import Draft, Edit, ErrorRule, choose_word, edits_of
from training.noise.native import has_native_site, write_native_mistakes
from training.noise.norm import norm_in
from training.noise.pronunciation import write_as_heard
from training.noise.strokes import STROKE_RULES
from training.noise.typing_slips import slip
from training.noise.word_parts import PARTICLES

MIX = rates_of("mix")  # family -> share of the pairs
BUNCHED_SHARE = 0.25  # of aimed writers who slip have two or three slips in one word
ATTEMPTS = 4  # draws of a writer's errors: a weak one may make none at all


@dataclass(frozen=True)
class Writer:
    """The habits of a writer who errs."""

    strength: float = 1.0  # multiplies the rate of each family
    mix: Mapping[str, float] = field(default_factory=lambda: MIX)  # family -> share of the sentences
    weights: list[float] | None = None  # of a slip at each character of the sentence (``draft.Aim``)
    misspaces: bool = False  # some of the commonest spacing mistakes, too, in every family


USUAL_WRITER = Writer()


@dataclass(frozen=True)
class NoisyPair:
    """A text as a writer might have typed it, the intended one, and the edits between."""

    wrong: str
    right: str
    family: str  # a key of MIX, of the mistakes that were really made
    edits: tuple[Edit, ...]


def _pronounce(draft: Draft, rng: random.Random, strength: float) -> None:
    # From a writer who slips once to one who writes everything by ear.
    write_as_heard(draft, rng, min(1.0, strength * rng.uniform(0.2, 1.0)))


def _mistype(draft: Draft, rng: random.Random, strength: float) -> None:
    # At least one slip, on average one in about twelve syllables.
    syllables = sum("가" <= character <= "힣" for character in draft.text)
    count = 1 + min(int(rng.expovariate(1) * strength * syllables / 16), syllables // 4)
    if draft.weights and rng.random() < BUNCHED_SHARE:
        word = choose_word(draft.text, draft.weights, rng)
        if word:
            most = max(2, (word[1] - word[0]) // 2)  # of a short word something must be left to go by
            count -= slip(draft, rng, rng.randint(2, min(3, most)), word)
    slip(draft, rng, max(count, 0))


def _write_natively(draft: Draft, rng: random.Random, strength: float) -> None:
    write_native_mistakes(draft, rng, min(1.0, strength * rng.uniform(0.5, 1.0)))


def _space_wrongly(draft: Draft, rng: random.Random, strength: float) -> None:
    # Some people leave out all spaces, others know all rules but one. If errors always came several at once,
    # a network would take the only one in a sentence for something meant.
    if rng.random() < 0.08 * strength:
        spacing.drop_all_spaces(draft, rng, 1.0)
    elif rng.random() < 0.5:
        for _ in range(rng.choice((1, 1, 2))):
            spacing.misspace_once(draft, rng)
    else:
        spacing.misspace(draft, rng, min(0.8, strength * rng.uniform(0.1, 0.7)))


# The order in which families meet: the table of native mistakes matches correct text, sound
# changes cross spaces that must still be there, and fingers slip last.
_WRITERS = {
    "native": _write_natively,
    "pronunciation": _pronounce,
    "spacing": _space_wrongly,
    "typing": _mistype,
}


def read_mix(text: str) -> dict[str, float]:
    """``"typing=3,clean=0.5"`` as a mix: MIX with these shares instead of its own, in percent.

    They need not add up to 100. Raises ValueError for an unknown family or a share that is not a number of 0
    or more.
    """
    mix = {family: 100 * share for family, share in MIX.items()}
    for part in filter(None, text.split(",")):
        family, _, share = part.partition("=")
        if family not in MIX:
            raise ValueError(f"family should be one of {sorted(MIX)}, received {family!r}")
        try:
            mix[family] = float(share)
        except ValueError:
            mix[family] = float("nan")
        if not 0 <= mix[family] < float("inf"):
            raise ValueError(f"a share should be a number of 0 or more, received {part!r}")
    if not any(mix.values()):
        raise ValueError(f"all shares are 0: {text!r}")
    return mix


def make_pair(
    text: str, rng: random.Random, family: str | None = None, writer: Writer = USUAL_WRITER
) -> NoisyPair:
    """Make one error pair of a correct sentence.

    ``family`` is a key of MIX, or None to draw one by its share in the writer's mix. A drawn family that
    finds nothing to do in this sentence gives way to another one; a given family gives way to "clean".

    Raises ValueError for an unknown family.

    >>> pair = make_pair("밥을 먹어요.", random.Random(0), family="pronunciation")
    >>> pair.wrong, [edit.rule for edit in pair.edits]
    ('바블 머거요.', ['liaison', 'liaison'])
    """
    if family is None:
        family = rng.choices(list(writer.mix), weights=list(writer.mix.values()))[0]
        if family == "native" and not has_native_site(text):
            family = rng.choice(("pronunciation", "typing", "spacing", "mixed"))
    elif family not in MIX:
        raise ValueError(f"family should be one of {sorted(MIX)}, received {family!r}")
    for _ in range(ATTEMPTS if family != "clean" else 1):
        draft = Draft(text, writer.weights)
        _write(draft, rng, family, writer.strength)
        if writer.misspaces and family != "clean":
            spacing.misspace_commonly(draft, rng, rng.uniform(0.2, 1.0))
        if draft.wrong != text:
            break
    return _finish(draft)


def _write(draft: Draft, rng: random.Random, family: str, strength: float) -> None:
    if family == "mixed":
        chosen = rng.sample(list(_WRITERS), rng.choice((2, 2, 3)))
        for name, write in _WRITERS.items():
            if name in chosen:
                write(draft, rng, 0.6 * strength)
    elif family != "clean":
        _WRITERS[family](draft, rng, strength)


def _finish(draft: Draft) -> NoisyPair:
    wrong = draft.wrong
    if wrong == draft.text:  # nothing was done, or it cancelled out
        return NoisyPair(wrong, draft.text, "clean", ())
    families = {edit.family for edit in draft.edits}
    family = families.pop() if len(families) == 1 else "mixed"
    return NoisyPair(wrong, draft.text, family, tuple(draft.edits))


NORM, JAMO = "norm", "jamo"
SHARES = rates_of("people")
SPACES = tuple(SHARES)[: tuple(SHARES).index(NORM)]
KINDS_TRIED = 12  # kinds that are drawn, until one has room in a sentence
OTHERS = 12  # sentences that are tried for a kind

_LATIN_PARTICLE = re.compile(
    rf"(?<=[A-Za-z0-9)\]`*%])(?=(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))}){spacing.ENDS_WORD})"
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
            place = match.start() - 1, match.start()
            spacing.misspace_at(draft, Edit("latin_particle_split", spacing.FAMILY, *place))


_RULES: dict[str, ErrorRule] = {
    **(spacing.SPACING_RULES | spacing.COMMON_RULES),
    "latin_particle_split": latin_particle_split,
}


def as_people_write(text: str, rng: random.Random, others: Sequence[str] = ()) -> tuple[str, str] | None:
    """(wrong, right): a right sentence with one mistake; None where the kinds that are drawn have no room.

    Where a kind has no room in ``text``, a few of the ``others`` are tried: else the kinds that seldom find a
    place, as a numeral joined to its unit, would come less often than people make them.

    >>> as_people_write("집에 갈 수 있다.", random.Random(2))
    ('집에 갈수 있다.', '집에 갈 수 있다.')
    """
    for kind in rng.choices(tuple(SHARES), tuple(SHARES.values()), k=KINDS_TRIED):
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
            spacing.misspace_at(draft, rng.choice(edits))
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
