"""Generator of everyday sentences, because the corpora are mostly written language.

They have spoken endings (방이 좁네요, 비가 올까 봐 우산을 샀어요) and the spaces of 한글 맞춤법. Each clause
makes sense; two clauses together need not. Kiwi joins stems and endings (Lee 2024, as in
``model/correction/morphemes.py``).
"""

import random
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from model.correction.morphemes import join


class Predicate(NamedTuple):
    """A verb or adjective, the words before it, and the nouns that it goes with."""

    before: tuple[str, ...]  # words before the stem: 비가 오-
    stem: str
    tag: str  # VV or VA, for Kiwi, with -I where it conjugates irregularly and -R where one might think so
    particle: str  # after the noun; "" where the nouns have their own
    nouns: tuple[str, ...]

    @property
    def is_verb(self) -> bool:
        return self.tag.startswith("VV")

    @property
    def can_be_negated(self) -> bool:
        """안 comes before 가다, but within 공부를 하다, and 있다 has another negation."""
        return self.stem == "하" or not self.stem.endswith(("하", "있", "없"))


class Ending(NamedTuple):
    """An ending that is joined to a stem, and the words behind it."""

    joined: str
    behind: str


def _endings(text: str) -> tuple[Ending, ...]:
    """``을| 것 같아요`` for each: 을 is joined to the stem, the rest only follows.

    A comma parts two.
    """
    parts = (" ".join(each.split()).partition("|") for each in text.split(","))
    return tuple(Ending(joined, behind) for joined, _, behind in parts)


FINAL = _endings(
    """
    어요, 어요, 어, 었어요, 었어, 었다, 습니다, 었습니다, 네요, 네, 었네요, 지, 지요, 거든요, 잖아요,
    잖아, 던데요, 었는데요, 겠다, 겠어요, 겠습니다, 을까요, 을걸, 을| 것 같아요, 을| 것 같다,
    었을| 것 같아, 을| 거예요, 을| 거야, 을| 수도 있어요, 을| 텐데, 을| 줄 알았어요, 을| 줄 몰랐다,
    지| 않아요, 지| 않았다, 지| 않습니다, 으면| 좋겠어요, 었으면| 좋겠다, 으면| 안 돼요, 어야| 해요,
    어야| 한다, 어야| 돼, 을까| 봐 걱정이에요, 었나| 봐요, 기| 때문이에요, 기도| 해요, 을| 만해요,
    을| 뿐이에요, 었다고| 했어요"""
)
FINAL_OF_VERBS = _endings(
    """
    는다, 고| 싶어요, 고| 싶다, 고| 있어요, 고| 있다, 고| 싶지 않아, 을| 수 있어요, 을| 수 없다,
    을| 수 없어요, 을|게요, 을|게, 을|래요, 자, 지| 마세요, 지| 마, 지| 못했어요, 어야겠다, 어야겠어요,
    으면| 돼요, 은| 적이 있어요, 은| 적이 없다, 나| 봐요, 는| 중이에요, 기| 시작했다, 게| 됐어요,
    으려고| 해요, 으려고| 했어요, 어도| 돼요, 을| 줄 알아요, 을| 생각이에요, 기로| 했어요, 는| 게 좋아요,
    으러| 갔어요, 으러| 가자, 는| 것 같아요, 는| 걸 봤어요, 는지| 모르겠어요, 을지| 모르겠다,
    기| 전이에요, 을| 리가 없다, 는구나, 은| 것 같아요"""
)
FINAL_OF_ADJECTIVES = _endings(
    "다, 다, 은가| 봐요, 군요, 은| 것 같아요, 은| 편이에요, 어| 보여요, 어|졌다, 은지| 모르겠어요, 은| "
    "게 싫어요, 구나"
)
MIDDLE = _endings(
    """
    고, 지만, 어서, 어서, 으니까, 으니까, 으면, 거나, 어도, 더라도, 을수록, 을| 때, 을| 때마다,
    기| 때문에, 을까| 봐, 을| 만큼, 을| 정도로, 을| 텐데, 었지만, 었을| 때, 을| 뿐만 아니라, 었는데"""
)
MIDDLE_OF_VERBS = _endings(
    """
    자마자, 다가, 느라고, 으면서, 는데, 는데, 기| 전에, 은| 후에, 은| 뒤에, 는| 동안, 는| 바람에,
    는| 대로, 은| 지 오래됐는데, 으려고, 고| 나서, 는| 것보다, 은| 다음에, 는지| 몰라서, 을지| 몰라서,
    는| 김에, 었다가"""
)
MIDDLE_OF_ADJECTIVES = _endings("은데, 은데, 은| 데다가, 은| 만큼, 은지| 몰라서")
_FIRST = tuple(
    each.strip()
    for each in """
    오늘, 요즘, 나는, 저는, 동생이, 아빠는, 정말, 너무, 좀, 아직, 이제, 그래서, 그런데, 아마, 갑자기,
    매일, 나도, 우리는, 친구가, 왜, 어제는, 아까, 다시, 점점, 많이, 자꾸, 벌써, 조금, 늘, 그날, 그때,
    이번 주에, 다음 달에, 여러 번, 하루 종일, 이런 날에는, 그 사람은, 다른 사람보다, 몇 번이나, 한참 동안,
    아무 때나, 두 시간 동안, 방학 때, 수업이 끝난 후에, 그 친구는, 어릴 적에, 너 때문에, 엄마 대신,
    나만큼, 너까지, 형보다, 언니처럼""".split(",")
)
# With their tags; Kiwi makes 이 and 을 agree with the noun.
PARTICLES = {"이": "JKS", "을": "JKO", "에": "JKB", "에서": "JKB"}
_MARKS = ("", "", ".", ".", ".", "!", "?")
_BEGINS_SO, _NEGATED, _OF_TWO = 0.5, 0.15, 0.35  # shares of the clauses and sentences


@cache
def predicates() -> tuple[Predicate, ...]:
    """The rows of ``everyday.tsv``."""
    rows = files("training.noise").joinpath("everyday.tsv").read_text("utf-8").splitlines()[1:]
    found = []
    for row in rows:
        stem, tag, particle, nouns = row.split("\t")
        *before, own = stem.split(" ")
        found.append(Predicate(tuple(before), own, tag, particle, tuple(nouns.split(","))))
    return tuple(found)


def everyday_sentence(rng: random.Random) -> str:
    """One or two clauses, rightly spelt.

    >>> everyday_sentence(random.Random(3))
    '하루 종일 점심 먹고 잠이 왔을 때 물에 빠지는 걸 봤어요!'
    """
    words = [rng.choice(_FIRST)] if rng.random() < _BEGINS_SO else []
    if rng.random() < _OF_TWO:
        words.append(_clause(rng, MIDDLE, MIDDLE_OF_VERBS, MIDDLE_OF_ADJECTIVES))
    words.append(_clause(rng, FINAL, FINAL_OF_VERBS, FINAL_OF_ADJECTIVES))
    return " ".join(words) + rng.choice(_MARKS)


def _clause(rng: random.Random, usual: tuple[Ending, ...], *own: tuple[Ending, ...]) -> str:
    said = rng.choice(predicates())
    of_its_kind = own[0] if said.is_verb else own[1]
    ending = rng.choice(rng.choice((usual, of_its_kind)))
    noun = rng.choice(said.nouns)
    words = [
        join([(noun, "NNG"), (said.particle, PARTICLES[said.particle])]) if said.particle else noun,
        *said.before,
    ]
    if said.can_be_negated and rng.random() < _NEGATED:
        words.append(rng.choice(("안", "안", "못")) if said.is_verb else "안")
    tag = "ETM" if ending.joined in ("은", "는", "을") else "EC"
    words.append(join([(said.stem, said.tag), (ending.joined, tag)]) + ending.behind)
    return " ".join(words)
