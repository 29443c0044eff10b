"""Error rules of typing: keys, syllables and particles early, late, doubled, moved, missing.

Each rule is ``rule(draft, rng, rate)``, as in ``typing_slips``: every word where it can act gets one slip
with probability ``rate``. A rule touches only words of Hangul that no rule has touched. A ``Slip`` maps a
word, the index of one of its syllables and a source of chance to the slipped word, or to None where it has
nothing to do. The result is used only if it is no other real word, which would not show as a slip, and does
not look like laughing or weeping, which no correction touches.

Keys are put together as the two-set input method does. Letters are often left loose: a consonant that meets
no vowel in time stays alone. Only common words lose or move a syllable, because in others it could not be
mended. Letters after a noun count as a particle only behind a known noun: 배우는 may be 배우 with 는, but
그리는 is not 그리 with 는.

All slips violate 한글 맞춤법 제1항 (a word is written in its standard form), those of keys 제2항 of its 부록,
by which jamo are put together to syllables. Sources for particles: 표준국어대사전; 표준어 규정 제26항 for
이에요. Behind a vowel 이라고, 이며 and 이었다 are right, too (친구이며), so only the shapes behind a
consonant lose their 이.
"""

import random
import re
from collections.abc import Callable
from functools import partial

from model.correction.counts import find_words
from model.text.changes import Change, find_changes
from model.text.hangul import FINALS, compose, decompose
from model.text.keyboard import PAUSE, UNSHIFTED, compose_strokes, is_vowel, spell, strokes_of
from model.text.protected import spares_outcries
from training.noise import rates_of, words_of
from training.noise.draft import Draft, ErrorRule, changed_cells
from training.noise.lookalikes import laughter
from training.noise.word_parts import SHORTEST_SHORTENED, known_words, particle_start

APART_SHARE = 0.6  # of broken syllables have nothing to do with the one before: 학교ㅇㅔ, not 학굥ㅔ
LOOSE_SHARE = 0.04  # of words of at most LONGEST_LOOSE syllables are not put together at all
LONGEST_LOOSE = 4
UNSHIFTED_SHARE = 0.6  # of shifted keys that are struck twice are struck once without shift: 했ㅅ어요
SHORTEST_LOSING = 3  # syllables of a word that may lose a key and still be known
SHORTEST_LOSING_FIRST = 4  # the shortest word that may lose its first initial: ㅐ용 might be 내용 or 대용


def has_loose_jamo(text: str) -> bool:
    """Whether a consonant or a vowel is alone in ``text``.

    >>> has_loose_jamo("바ㅂ"), has_loose_jamo("밥")
    (True, False)
    """
    return any("ㄱ" <= character <= "ㅣ" for character in text)


def _composition_broken(word: str, index: int, rng: random.Random) -> str:
    """The input method stops within a syllable: 어제 -> ㅇㅓ제, 밥 -> 바ㅂ, 학교에서 -> 학교ㅇㅔ서 or
    학굥ㅔ서.

    Now and then it puts nothing of a short word together: 버스 -> ㅂㅓㅅㅡ.
    """
    if len(word) <= LONGEST_LOOSE and rng.random() < LOOSE_SHARE:
        return compose_strokes(PAUSE.join(jamo for syllable in word for jamo in strokes_of(syllable) if jamo))
    keys = "".join(strokes_of(word[index]))
    cut = rng.randrange(1, len(keys))
    before = PAUSE if rng.random() < APART_SHARE else ""
    return compose_strokes(
        f"{spell(word[:index])}{before}{keys[:cut]}{PAUSE}{keys[cut:]}{spell(word[index + 1 :])}"
    )


def _span(word: str, index: int) -> tuple[str, int, int]:
    """The keys of the word, and which of them write the syllable at ``index``."""
    start = len(spell(word[:index]))
    return spell(word), start, start + len(spell(word[index]))


def _strokes_swapped(word: str, index: int, rng: random.Random) -> str | None:
    """A key is struck before the one that it should follow: 버스에 -> 버스ㅔㅇ, 있는데 -> 있ㄴ느데, 한국 ->
    학눅.
    """
    keys, start, end = _span(word, index)
    places = [i for i in range(start, min(end, len(keys) - 1)) if keys[i] != keys[i + 1]]
    if not places:
        return None
    i = rng.choice(places)
    return compose_strokes(keys[:i] + keys[i + 1] + keys[i] + keys[i + 2 :])


def _stroke_repeated(word: str, index: int, rng: random.Random) -> str | None:
    """A key is struck twice: 하나 -> ㅎ하나, 사과 -> 삭과, 학교에 -> 학굥에, 했어요 -> 했ㅅ어요, 밥 -> 밥ㅂ.

    The vowel at the end of a word is left alone: who writes 네ㅔ means to draw it out.
    """
    keys, start, end = _span(word, index)
    if index == len(word) - 1 and not decompose(word[index])[2]:
        end -= len(strokes_of(word[index])[1])
    i = rng.randrange(start, end)
    again = keys[i]
    if again in UNSHIFTED and rng.random() < UNSHIFTED_SHARE:
        again = UNSHIFTED[again]
    return compose_strokes(keys[: i + 1] + again + keys[i + 1 :])


def _stroke_dropped(word: str, index: int, rng: random.Random) -> str | None:
    """A key is not struck, so that its neighbour stays loose: 안녕하세요 -> 안녕ㅎ세요, 학교에서 -> 학교ㅔ서.

    Only in a word that is known, and not where all letters find a place again: 달가 does not show 다리가.
    """
    last = index == len(word) - 1
    if len(word) < SHORTEST_LOSING or not known_words().is_common(word):
        return None
    keys, start, end = _span(word, index)
    places = [i for i in range(start, end) if is_vowel(keys[i]) and not last]
    if index or len(word) >= SHORTEST_LOSING_FIRST:
        places.append(start)
    i = rng.choice(places)
    written = compose_strokes(keys[:i] + keys[i + 1 :])
    return written if has_loose_jamo(written) else None


NEXT_ONSET_SHARE = 0.7  # of the finals that are added are the next initial, struck too early
ANY_FINAL = "ㄱㅁㅂㅅㅇ"  # ㄴ, ㄹ and ㅆ would make other forms: 가다, 간다, 갔다
ONE_APART_SHARE = 0.15  # of the exchanges are across a syllable
SHORTEST_SWAPPED = 3  # syllables: 과사 might be any word, 생선님 only one
SHORT_SHARE = 0.3  # of the nouns of two syllables: 정는 might have been many
PAST = frozenset("었았였했됐겠")  # syllables that lose ㅆ and make no other form: 먹어다, but 가다
TOPIC_AND_OBJECT = frozenset("는를")  # 느 and 르 show their origin; 으 may have been 은 or 을


def _final_added(word: str, index: int, rng: random.Random) -> str | None:
    """A final too many, mostly the next initial: 사과 -> 삭과, 학교에 -> 학굥에 or 학굑에, 노래 -> 녹래.

    The last syllable gets none: 학교엔, 하곤 and 갈 are right.
    """
    if index == len(word) - 1 or decompose(word[index])[2]:
        return None
    onset = decompose(word[index + 1])[0]
    final = UNSHIFTED.get(onset, onset) if rng.random() < NEXT_ONSET_SHARE else rng.choice(ANY_FINAL)
    initial, medial, _ = decompose(word[index])
    return word[:index] + compose(initial, medial, final) + word[index + 1 :]


def _final_lost(word: str, index: int, rng: random.Random) -> str | None:
    """A final is not written: 전화 -> 저화, 안경 -> 아경, 닫고 -> 다고, 사람을 -> 사라을.

    Not where another form would be left (간다 -> 가다, 할게 -> 하게), or where it could have been one (먹으:
    먹은, 먹을).
    """
    initial, medial, final = decompose(word[index])
    known = known_words()
    if not final or len(word) < 2 or not known.is_common(word):
        return None
    in_noun = index < known.noun_at_start(word) and (index < len(word) - 1)
    if final in "ㄴㄹ" and not in_noun and word[index] not in TOPIC_AND_OBJECT:
        return None
    if final == "ㅆ" and word[index] not in PAST:
        return None
    return word[:index] + compose(initial, medial) + word[index + 1 :]


def _onset_early(word: str, index: int, rng: random.Random) -> str | None:
    """The next initial becomes a final, with ㅇ in its place: 노래 -> 놀애, 나무 -> 남우."""
    if index == len(word) - 1:
        return None
    initial, medial, final = decompose(word[index])
    onset, vowel, coda = decompose(word[index + 1])
    if final or onset == "ㅇ" or onset not in FINALS:
        return None
    return word[:index] + compose(initial, medial, onset) + compose("ㅇ", vowel, coda) + word[index + 2 :]


def _other(word: str, index: int, rng: random.Random) -> int | None:
    """The index of another syllable, the next one or the one after it."""
    other = index + (2 if rng.random() < ONE_APART_SHARE else 1)
    return other if other < len(word) and known_words().is_common(word) else None


def _syllables_swapped(word: str, index: int, rng: random.Random) -> str | None:
    """Two syllables change places: 선생님 -> 생선님, 물고기 -> 고물기, 도서관 -> 도관서."""
    other = _other(word, index, rng)
    if other is None or len(word) < SHORTEST_SWAPPED:
        return None
    return word[:index] + word[other] + word[index + 1 : other] + word[index] + word[other + 1 :]


def _jamo_exchanged(word: str, index: int, rng: random.Random) -> str | None:
    """The same part (initial, medial or final) of two syllables changes places: 물고기 -> 굴모기, 도서관 ->
    더소관, 전화 -> 저환.
    """
    other = _other(word, index, rng)
    if other is None:
        return None
    one, two = list(decompose(word[index])), list(decompose(word[other]))
    part = rng.randrange(3)
    one[part], two[part] = two[part], one[part]
    return word[:index] + compose(*one) + word[index + 1 : other] + compose(*two) + word[other + 1 :]


def _syllable_doubled(word: str, index: int, rng: random.Random) -> str | None:
    """A syllable is written twice: 우리는 -> 우리리는, 학교에 -> 학학교에.

    Not a word of one syllable (꼭꼭), nor a repetition (하나하나), nor a drawn-out end
    (그래애) or is another form (가지지, 먹었었다).
    """
    half = len(word) // 2
    if len(word) < 2 or word[:half] == word[-half:] or word[index] == "었":
        return None
    initial, _, final = decompose(word[index])
    ends = index == len(word) - 1
    if ends and ((initial == "ㅇ" and not final) or word[index] in "지니고"):
        return None
    if word[index] in word[max(0, index - 1) : index] + word[index + 1 : index + 2]:
        return None
    return word[:index] + word[index] + word[index:]


def _syllable_missing(word: str, index: int, rng: random.Random) -> str | None:
    """A syllable of a common word is not written: 도서관에 -> 도관에, 시간이 -> 시이, 안녕하세요 -> 안하세요.

    In a longer noun it is one between the first and the last, if no other noun leaves the same, and that is
    no noun. In a noun of two syllables it is the second, seldom, and only if the particle does not fit the
    first: that shows that something is missing.
    """
    known, start = known_words(), particle_start(word)
    if start < 2 or word[:start] not in known.common_nouns:
        return _missing_in_word(word, rng)
    gone = rng.randrange(1, max(2, start - 1))  # chosen anew: few words have such a syllable
    left = word[:gone] + word[gone + 1 :]
    noun = left[: start - 1]
    if start == 2:
        fits = bool(decompose(word[0])[2]) == bool(decompose(word[1])[2])
        return None if fits or rng.random() > SHORT_SHARE else left
    return left if known.shortened[noun] == 1 and noun not in known.nouns else None


def _missing_in_word(word: str, rng: random.Random) -> str | None:
    known = known_words()
    if len(word) < SHORTEST_SHORTENED or word not in known.common:
        return None
    gone = rng.randrange(1, len(word) - 1)
    left = word[:gone] + word[gone + 1 :]
    return left if known.shortened_words[left] == 1 else None


_LISTS = words_of("strokes")
_CHANGED, _SHORTENED = ([pair.split("/") for pair in _LISTS[name]] for name in ("changed", "shortened"))
WRONG_SHAPES: dict[str, tuple[str, ...]] = {
    **{one: (other,) for pair in _CHANGED for one, other in (pair, pair[::-1])},
    **{one: (other,) for one, other in _SHORTENED},
    "이에요": ("예요", "이예요", "에요"),
    "예요": ("에요",),
}
# Shapes that are not among the particles, because they look like endings of verbs.
_LOOKALIKES = {"나": "이나", "야": "아", "아": "야", "이야": "야"}
_NO_PARTICLE = ("사랑", "자랑")  # 참사랑 is not 참사 with 랑


def _particle_misshaped(word: str, index: int, rng: random.Random) -> str | None:
    """A particle in the shape that follows the other kind of syllable: 학교로 -> 학교으로, 바다와 -> 바다과,
    책을 -> 책를.
    """
    start = known_words().particle_of_noun(word)
    noun, particle = word[:start], word[start:]
    if particle not in WRONG_SHAPES:
        return _lookalike_misshaped(word)
    if noun in _LISTS["pronouns"] or word.endswith(_NO_PARTICLE):
        return None
    if particle == "이에요" and noun.endswith("이"):
        return None  # 지영이에요 may be 지영이 with 예요
    return noun + rng.choice(WRONG_SHAPES[particle])


def _lookalike_misshaped(word: str) -> str | None:
    for right, wrong in _LOOKALIKES.items():
        noun = word.removesuffix(right)
        if noun == word or len(noun) < 2 or noun not in known_words().nouns:
            continue
        if right == "나" and noun in _LISTS["not_before_na"]:
            continue
        if right == "야" and noun[-1] in _LISTS["not_before_ya"]:
            continue
        if bool(decompose(noun[-1])[2]) == (right in ("아", "이야")):
            return noun + wrong
    return None


def _particle_doubled(word: str, index: int, rng: random.Random) -> str | None:
    """A particle is written twice: 편지를 -> 편지를를, 학교에서 -> 학교에서에서."""
    start = known_words().particle_of_noun(word)
    return word + word[start:] if start and word[start:] in _LISTS["doubled"] else None


def _word_doubled(word: str, index: int, rng: random.Random) -> str | None:
    """A noun with its particle or a determiner is written twice: 나는 -> 나는 나는, 모든 -> 모든 모든.

    Intended doubles (빨리 빨리, 정말 정말, 하나하나) are no nouns with such a particle.
    """
    start = known_words().particle_of_noun(word)
    doubles = word[start:] in _LISTS["with_doubled_noun"] if start else word in _LISTS["determiners"]
    return f"{word} {word}" if doubles else None


FAMILY = "typing"
_LAUGHTER = re.compile("[하호히헤흐후크키]{2,}")  # ㅎ하하 would be no slip

# (word, index of a syllable, chance) -> the slipped word; None where it has nothing to do.
Slip = Callable[[str, int, random.Random], str | None]

_ALL: tuple[Slip, ...] = (
    _composition_broken, _strokes_swapped, _stroke_repeated, _stroke_dropped, _final_added, _final_lost,
    _onset_early, _syllables_swapped, _jamo_exchanged, _syllable_doubled, _syllable_missing,
    _particle_misshaped, _particle_doubled, _word_doubled,
)  # fmt: skip
SLIPS: dict[str, Slip] = {slip.__name__.removeprefix("_"): slip for slip in _ALL}
WEIGHTS = rates_of("strokes")

ATTEMPTS = 6  # tries, until a slip of the drawn kind has room in a word
KINDS_TRIED = 16  # kinds that are drawn before a text counts as having no room
COUNTS, COUNT_SHARES = (1, 2, 3), (70, 22, 8)  # slips in a sentence, in percent
SYLLABLES_FOR_EACH = 5  # so many at least, or too little is left to go by
LAUGH_SHARE = 0.1  # of the slipped sentences end in ㅋㅋ, ㅠㅠ or the like, which stays


def _free_words(draft: Draft) -> list[tuple[int, str]]:
    """(where it begins, the word) for each that no rule has touched; not laughing, nor beside a single jamo
    (ㄱㅅ해요).
    """
    free = []
    for start, word in find_words(draft.text):
        end = start + len(word)
        beside = draft.text[max(0, start - 1) : start] + draft.text[end : end + 1]
        untouched = not (draft.edits and draft.touched(start, end))
        if untouched and not has_loose_jamo(beside) and not _LAUGHTER.fullmatch(word):
            free.append((start, word))
    return free


def _try(draft: Draft, rng: random.Random, name: str, start: int, word: str) -> bool:
    """Let a kind of slip act on a word, at a random syllable. False if it cannot, or must not."""
    written = SLIPS[name](word, rng.randrange(len(word)), rng)
    if written is None or written == word or known_words().looks_right(written, word):
        return False
    if not _spares_outcries(draft, start, word, written):
        return False
    first, cells = changed_cells(word, written)
    draft.put(name, FAMILY, start + first, cells)
    return True


def _spares_outcries(draft: Draft, start: int, word: str, written: str) -> bool:
    """Whether the correction would be accepted.

    One that removes a weeping letter is not (나ㅜ -> 나무).
    """
    before, after = "".join(draft.cells[:start]), "".join(draft.cells[start + len(word) :])
    source = before + written + after
    if not has_loose_jamo(source):
        return True
    first = len(before)
    change = Change(first, first + len(written), first, first + len(word), written, word)
    return spares_outcries(change, source)


def _slip_words(name: str, draft: Draft, rng: random.Random, rate: float) -> None:
    for start, word in _free_words(draft):
        if rng.random() < rate:
            any(_try(draft, rng, name, start, word) for _ in range(ATTEMPTS))


STROKE_RULES: dict[str, ErrorRule] = {name: partial(_slip_words, name) for name in SLIPS}


def slip_of_strokes(draft: Draft, rng: random.Random, count: int) -> int:
    """Make ``count`` slips in as many words and return how many were made; fewer without room for
    more.

    The kind of each is drawn by ``WEIGHTS``, again where no word has room for it, and the word by the weights
    of the draft.

    >>> draft = Draft("어제 도서관에서 책을 읽었어요.")
    >>> slip_of_strokes(draft, random.Random(1), 1), draft.wrong
    (1, '어제 도서관에서 책을 일겅ㅆ어요.')
    """
    if count < 0:
        raise ValueError(f"count should be 0 or more, received {count}")
    free, made = _free_words(draft), 0
    while free and made < count and (taken := _slip_somewhere(draft, rng, free)):
        free.remove(taken)
        made += 1
    return made


def _slip_somewhere(draft: Draft, rng: random.Random, free: list[tuple[int, str]]) -> tuple[int, str] | None:
    weights = [
        sum(draft.weights[start : start + len(word)]) if draft.weights else float(len(word))
        for start, word in free
    ]
    for _ in range(KINDS_TRIED):
        name = rng.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]
        for start, word in rng.choices(free, weights, k=ATTEMPTS):
            if _try(draft, rng, name, start, word):
                return start, word
    return None


def make_slipped(text: str, rng: random.Random) -> tuple[str, str]:
    """(wrong, right): a right sentence with one to three slips, now and then with a laugh behind it that
    stays.

    >>> make_slipped("어제 도서관에서 책을 읽었어요.", random.Random(4))
    ('어제 ㅗㄷ서관에서 책을 읽었어요.', '어제 도서관에서 책을 읽었어요.')

    Both sides are equal only where the text has no room for a slip, as one without Hangul.
    """
    draft = Draft(text)
    most = max(1, sum(len(word) for _, word in find_words(text)) // SYLLABLES_FOR_EACH)
    slip_of_strokes(draft, rng, min(most, rng.choices(COUNTS, COUNT_SHARES)[0]))
    wrong, right = draft.wrong, text
    if wrong != right and rng.random() < LAUGH_SHARE:
        behind = rng.choice(("", " ")) + laughter(rng)
        wrong, right = wrong + behind, right + behind
    return (wrong, right) if _can_be_mended(wrong, right) else (draft.wrong, text)


def _can_be_mended(wrong: str, right: str) -> bool:
    """Whether all changes from wrong to right leave laughing and weeping as they are."""
    if not has_loose_jamo(wrong):
        return True
    return all(spares_outcries(change, wrong) for change in find_changes(wrong, right))
