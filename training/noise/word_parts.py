"""Particle or suffix of a word, found by spelling alone, and the known common words.

The lists hold parts that can be recognised with some certainty; a word in doubt counts as having no particle.

The shipped table of words decides which words a slip may touch and which results it must not have. A slip
that loses a syllable (시간이 -> 시이) can be mended only in a known word. A slip that happens to make another
real word must not be practised: a network that learns to mend it changes right texts.
"""

from collections import Counter, defaultdict
from functools import cache, lru_cache
from typing import NamedTuple

from model.correction.words import Words
from model.stored.folder import WORDS_FILE, find_model_folder
from model.text.hangul import decompose, indices, is_syllable, syllables_with_coda

_RIEUL = 8  # index of ㄹ among the codas

# 조사 and forms of the copula 이다 (표준국어대사전), by the syllables they may follow.
_AFTER_CODA = """
    을 은 이 과 으로 으로는 으로도 으로만 으로서 으로써 으로부터 이나 이라도 이라는 이라고 이란 이며
    이랑 이든 이든지 이야말로 은커녕 이에요 이었다 이었습니다 이었어요 이었던
""".split()
_AFTER_VOWEL = """
    를 는 가 와 라도 라는 라고 며 랑 든지 야말로 는커녕 예요 였다 였습니다 였어요
""".split()
_AFTER_VOWEL_OR_RIEUL = ["로", "로는", "로도", "로만", "로서", "로써", "로부터"]
_AFTER_ANY = """
    의 에 도 만 에서 에서는 에서도 에서만 에서의 에서부터 에서와 에게 에게는 에게도 에게서 에는 에도
    에만 한테 한테서 께 께서 께서는 까지 까지는 까지도 까지만 부터 부터는 처럼 만큼 만큼은 만큼이나
    보다 보다는 보다도 마다 조차 조차도 마저 밖에 밖에는 커녕 만은 만이 만을 만으로 만으로는 뿐 뿐만
    뿐이다 대로 입니다 입니까 입니다만 이다 인데 인가요 이라면
""".split()
PARTICLES = frozenset([*_AFTER_CODA, *_AFTER_VOWEL, *_AFTER_VOWEL_OR_RIEUL, *_AFTER_ANY])
_LONGEST = max(map(len, PARTICLES))

# Before these syllables the particle is more likely an ending of a verb (하는, 높은, 먹을, 해도, 하지만 …).
_STEMS = "같좋많않없있싶높낮깊얕넓좁짧밝맑늙젊작적굳입먹받얻믿찾닿놓넣쌓앉맞잊잡뽑심남참숨웃씻벗솟읽찍막늦녹"
_COPULA_LOOKALIKES = "보움높줄붙녹죽속들쌓먹모섞꾸"
_NOT_AFTER = {
    "는": "하되있없않지키치우리드니이가오시보주내나르러쓰서세싶겠추두어아려비기다라뀌",
    "은": _STEMS + "길얇굵옅감삶",
    "을": _STEMS + "었았겠했됐졌왔갔렸였쳤꼈",
    "이": "없많높깊같붙길굳",
    "의": "거정회주동합강",
    "도": "해아어여라서고지려워와줘봐정속제져러데래게나돼써",
    "만": "지다불자조",
    "로": "므바때",
    "라도": "더하",
    "라고": "하마이나",
    "라는": "바하이니",
    "며": "하되이지시으오가보주리치키기우드니서려다르내타라누",
    "든지": "하되이지시으오가보주리치키니",
    "보다": "아어라돌여려",
    "와": "나아어들가",
    "에": "때",
    "이다": _COPULA_LOOKALIKES,
    "인데": _COPULA_LOOKALIKES,
    "이며": _COPULA_LOOKALIKES,
}
# One-syllable nouns after which even a one-syllable particle is safe.
_SHORT_NOUNS = frozenset("저나너내제네것때집말일물돈책밥값눈손몸길꿈")
_NO_PARTICLE = frozenset(
    """
    그대로 제대로 이대로 저대로 때문에 나중에 아마도 그래도 하지만 그렇지만 서로 바로 별로 따로 새로
    정말로 스스로 절대로 실제로 대체로 수시로 도로 나이 너도나도 말이
""".split()
)

_HADA = """
    하다 합니다 합니까 하는 하고 하여 하기 하지 하면 하며 하게 하려면 하려고 하도록 하세요 하십시오
    하거나 하는데 하지만 했다 했습니다 했어요 했던 했고 했는데 했지만 한다 한다고 한다면 할 한 함 해
    해서 해야 해요 해도 해주세요 하면서 하셨습니다
""".split()
_DOEDA = """
    되다 됩니다 됩니까 되는 되고 되어 되기 되지 되면 되며 되도록 되거나 되는데 되었다 되었습니다
    되었어요 됐다 됐습니다 됐어요 된다 된다고 된 될 됨 돼 돼서 돼요 되면서
""".split()
_OTHER_VERBS = """
    시키다 시킵니다 시키는 시키고 시켜 시켰다 시켰습니다 시킨다 시킨 시킬 시키면 시키기
    드립니다 드려요 드리겠습니다
""".split()
_SUFFIXES = frozenset([*_HADA, *_DOEDA, *_OTHER_VERBS])
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))
_NO_SUFFIX = frozenset(["무제한", "최소한", "최대한"])
# Last syllables of other words than nouns: 의존 명사 of 듯하다 …, endings before an auxiliary, 못하다.
_NOT_NOUN_ENDS = frozenset("듯만뻔척체법양야게지고면도려어아여해못안라러")


def _agrees(particle: str, stem: str) -> bool:
    """Whether the particle has the form that follows the stem's last syllable (은/는, 을/를, 으로/로 …)."""
    coda = indices(stem[-1])[2]
    if particle in _AFTER_CODA:
        return coda != 0
    if particle in _AFTER_VOWEL:
        return coda == 0
    return particle not in _AFTER_VOWEL_OR_RIEUL or coda in (0, _RIEUL)


@lru_cache(maxsize=65536)
def particle_start(word: str) -> int:
    """Index at which the longest particle that fits ``word`` (Hangul only) begins; 0 where it has none.

    >>> particle_start("학교에서")
    2
    """
    if word in _NO_PARTICLE:
        return 0
    for length in range(min(_LONGEST, len(word) - 1), 0, -1):
        stem, particle = word[:-length], word[-length:]
        if particle not in PARTICLES or not _agrees(particle, stem):
            continue
        if stem[-1] in _NOT_AFTER.get(particle, ""):
            continue
        if length > 1 or len(stem) > 1 or stem in _SHORT_NOUNS:
            return len(stem)
    return 0


@lru_cache(maxsize=65536)
def suffix_start(word: str) -> int:
    """Where a form of -하다, -되다, -시키다 or -드리다 begins; 0 without one.

    Only after two syllables or more: 말하다 and 일하다 look like 못하다 and 위하다.

    >>> suffix_start("공부합니다"), suffix_start("일하다")
    (2, 0)
    """
    if word in _NO_SUFFIX:
        return 0
    for length in range(min(_LONGEST_SUFFIX, len(word) - 2), 0, -1):
        if word[-length:] in _SUFFIXES:
            return 0 if word[-length - 1] in _NOT_NOUN_ENDS else len(word) - length
    return 0


MODEL = "transformer"  # whose table of words is read
REAL = 3  # times a word occurs in the training sentences before it counts as one; below, it may be a misprint
COMMON = 10  # times a word or a noun occurs there before it counts as common
CASES = frozenset("을 를 이 가 은 는 의 에".split())
# different particles of these that a noun must be met with: 고양이 has 를, 가 and 의, 고양 has 이 alone
FEWEST_CASES = 2
# Syllables of a word that is no noun, before one can be lost: 안녕하세요 is still known then, 저자들이 is
# not.
SHORTEST_SHORTENED = 5
ENDS_IN_RIEUL = frozenset(syllables_with_coda("ㄹ"))
ENDS_NO_NOUN = frozenset("ㄵㄶㄾㅀㅆ")  # 괜찮은 has the shape of a noun with 은


class KnownWords(NamedTuple):
    """Words between spaces, and nouns without their particles."""

    real: frozenset[str]  # words and nouns
    common: frozenset[str]
    nouns: frozenset[str]
    common_nouns: frozenset[str]
    shortened: Counter[str]  # of how many nouns each is the rest without an inner syllable
    shortened_words: Counter[str]  # the same of common words of five syllables or more

    @classmethod
    def of(cls, words: Words) -> "KnownWords":
        particles: defaultdict[str, set[str]] = defaultdict(set)
        totals: defaultdict[str, int] = defaultdict(int)
        for word, count in words.counts.items():
            if count >= REAL and (start := particle_start(word)):
                particles[word[:start]].add(word[start:])
                totals[word[:start]] += count
        nouns = {
            stem
            for stem, found in particles.items()
            if len(found & CASES) >= FEWEST_CASES and decompose(stem[-1])[2] not in ENDS_NO_NOUN
        }
        real = {word for word, count in words.counts.items() if count >= REAL}
        common = frozenset(word for word in real if words.counts[word] >= COMMON)
        return cls(
            real=frozenset(real | nouns),
            common=common,
            nouns=frozenset(nouns),
            common_nouns=frozenset(noun for noun in nouns if totals[noun] >= COMMON),
            shortened=Counter(left for noun in nouns for left in _shortened(noun)),
            shortened_words=Counter(
                left for word in common if len(word) >= SHORTEST_SHORTENED for left in _shortened(word)
            ),
        )

    def is_real(self, word: str) -> bool:
        """Whether it is a word, or a noun with a particle that follows it.

        >>> known_words().is_real("바다에서"), known_words().is_real("삭과")
        (True, False)
        """
        if word in self.real or not all(map(is_syllable, word)):
            return word in self.real
        start = particle_start(word)
        # particle_start takes 서울으로 for 서울 with 으로, too.
        misshaped = word[start - 1] in ENDS_IN_RIEUL and word.startswith("으로", start)
        return word[:start] in self.nouns and not misshaped

    def is_common(self, word: str) -> bool:
        """Whether it is common, alone or without its particle.

        >>> known_words().is_common("친구를")
        True
        """
        return word in self.common or word[: particle_start(word)] in self.common_nouns

    def looks_right(self, written: str, word: str) -> bool:
        """Whether the misspelling of ``word`` is itself a word, or two words: 회이자료 for 회의자료.

        >>> known_words().looks_right("회의자료", "회이자료")
        True
        """
        if self.is_real(written):
            return True
        end = self.noun_at_start(written)
        return not word.startswith(written[:end]) and len(written) > end + 1 and self.is_real(written[end:])

    def noun_at_start(self, word: str) -> int:
        """How long the longest known noun is that the word begins with, of two syllables or more; 0 without
        one.

        >>> known_words().noun_at_start("학교에서")
        2
        """
        return next((end for end in range(len(word), 1, -1) if word[:end] in self.nouns), 0)

    def particle_of_noun(self, word: str) -> int:
        """Where the particle of a known noun begins; 0 without one: 배우는 has one, 그리는 has none.

        >>> known_words().particle_of_noun("친구를"), known_words().particle_of_noun("그리는")
        (2, 0)
        """
        start = particle_start(word)
        return start if word[:start] in self.nouns else 0


def _shortened(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(1, len(word) - 1)}


@cache
def known_words() -> KnownWords:
    """The words of the shipped model's table; reading it takes a second."""
    return KnownWords.of(Words.read(find_model_folder(MODEL) / WORDS_FILE))
