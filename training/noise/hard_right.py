"""Generator of right text that looks mistaken: rare words, brands, dialect, placeholders.

A network that reads mistakes in most sentences takes a word that it seldom met for a slip in a commoner one
(증파해야 -> 증가해야, 진안 -> 지난), and a word with a doubled syllable for one typed twice (휴대기기로 ->
휴대기로). Here such a word stands in a right sentence. The words and frames are in ``words.toml``, the rare
nouns in ``nouns.txt``.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

from model.text.hangul import decompose, particle
from training.noise import rates_of, read_lines, words_of
from training.noise.draft import Draft
from training.noise.lexicon import NounPlace, lexicon
from training.noise.native import table
from training.noise.pieces import made_up_phrase
from training.noise.pronunciation import write_as_heard

ATTEMPTS = 4  # kinds that are drawn, until one has room in the sentence
# Most keep a word that is rarer than its neighbours, the commonest reason of false changes.
SHARES = rates_of("hard_right")


_LISTS = words_of("hard_right")


def near_nouns(lines: Iterable[str]) -> list[str]:
    """The rare nouns of a lexicon that are one jamo or one syllable away from a frequent noun, and nouns
    with a doubled syllable.

    >>> near_nouns(["= 증가 감소 창문", "~ 증파 차문 도토리 기기"])
    ['증파', '차문', '기기']
    """
    frequent, rare = set(), []
    for line in lines:
        mark, *nouns = line.split(" ")
        if mark == "=":
            frequent |= {key for noun in nouns for key in (noun, *_one_jamo_open(noun))}
        else:
            rare += nouns
    return [
        noun
        for noun in rare
        if any(one == other for one, other in pairwise(noun))
        or frequent.intersection((*_one_jamo_open(noun), *_one_syllable_less(noun)))
    ]


def _one_jamo_open(noun: str) -> Iterator[tuple[str, ...]]:
    """The jamo of a noun, three a syllable, with each in turn left open."""
    jamo = [each for syllable in noun for each in decompose(syllable)]
    for place in range(len(jamo)):
        yield (*jamo[:place], "?", *jamo[place + 1 :])


def _one_syllable_less(noun: str) -> Iterator[str]:
    if len(noun) > 2:
        for place in range(len(noun)):
            yield noun[:place] + noun[place + 1 :]


@cache
def _near() -> tuple[str, ...]:
    return (*near_nouns(read_lines("nouns.txt")), *_LISTS["near"])


def _at_noun(change: Callable[[str, NounPlace, random.Random], str]) -> "Kind":
    """A kind that changes the sentence at one of its nouns."""

    def make(text: str, rng: random.Random) -> str | None:
        places = lexicon().places(text)
        return change(text, rng.choice(places), rng) if places else None

    return make


def _placeholder(text: str, place: NounPlace, rng: random.Random) -> str:
    end = place.start + len(place.noun) + len(place.particle)
    return text[: place.start] + rng.choice(_LISTS["placeholders"]) + place.either_shape + text[end:]


def _pronunciation(text: str, place: NounPlace, rng: random.Random) -> str:
    draft = Draft(place.noun)
    write_as_heard(draft, rng, 1.0)
    end = place.start + len(place.noun)
    return text if draft.wrong == place.noun else f"{text[:end]}[{draft.wrong}]{text[end:]}"


def _quoted(text: str, rng: random.Random) -> str:
    row = rng.choice(table())
    wrong, right = row.wrong.strip(), row.right.strip()
    topic, by = particle("은/는", wrong), particle("으로/로", right)
    return rng.choice(_LISTS["quoted"]).format(wrong=wrong, right=right, topic=topic, by=by)


Kind = Callable[[str, random.Random], str | None]
KINDS: dict[str, Kind] = {
    "near": _at_noun(lambda text, place, rng: place.put(text, rng.choice(_near()))),
    "brand": _at_noun(lambda text, place, rng: place.put(text, rng.choice(_LISTS["brands"]))),
    "placeholder": _at_noun(_placeholder),
    "pronunciation": _at_noun(_pronunciation),
    "dialect": lambda text, rng: rng.choice(_LISTS["frames"]).format(rng.choice(_LISTS["dialect"])),
    "quoted": _quoted,
    "name": lambda text, rng: f"{made_up_phrase(rng)} {text}",
}


def hard_right(text: str, rng: random.Random) -> str:
    """A right sentence that looks mistaken, mostly ``text`` with one word replaced.

    >>> hard_right("연필을 샀다.", random.Random(3)) != "연필을 샀다."
    True
    """
    for kind in rng.choices(tuple(SHARES), tuple(SHARES.values()), k=ATTEMPTS):
        made = KINDS[kind](text, rng)
        if made and made != text:
            return made
    return text
