"""Error rules of spacing: spaces dropped or inserted where the norm does not allow it.

The norm is 한글 맞춤법 제2항, 제41항–제50항.

Each rule is ``rule(draft, rng, rate)``: every place where it can act fires with probability ``rate``. Places
are those of the correct text, so changes of other families around them do not matter; most are matches of a
pattern of ``spacing.toml``. A rule touches only the space: a dropped one leaves the cell ``""``, an inserted
one is the end of the cell before it. Words are recognised by their spelling alone, without a dictionary of
parts of speech, so the name of a rule can be wrong where two words look alike. The result is still a mistake,
although the joined form may be right elsewhere: 먹는 데 becomes 먹는데.

Where the standard allows both spellings (제43항 다만, 제46항, 제47항 and 제50항) nothing is done, because the
model would learn to "correct" right texts. Only a writer who leaves out every space leaves out these, too. By
제50항 the words of a technical term may be joined (대기 오염, 대기오염), and no dictionary lists all such
terms: Kiwi tells which words are nouns (``free_spaces``). A space stays obligatory beside a noun of time,
place, measure or person (오늘일출, 도로주변, 엄마친구), beside a name (제48항, 제49항), and beside a noun of
one syllable (책값, 시험때), because those are often half of another word.

``COMMON_RULES`` are the most frequent mistakes (늘어난것, 공부 하기), made in sentences of every family. A
network that meets such a mistake only together with other misplaced spaces takes a single one for intended,
and leaves it.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path

from model.correction.morphemes import cut
from model.text.hangul import is_syllable, syllables_with_coda
from training.corpus.faults import read_patterns
from training.noise import rates_of
from training.noise.draft import Draft, Edit, ErrorRule, edits_of
from training.noise.word_parts import PARTICLES, particle_start, suffix_start

ENDS_WORD = rf"(?=(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))})?(?![가-힣]))"
PATTERNS = read_patterns(Path(__file__).with_name("spacing.toml"), {"ends_word": ENDS_WORD})
_FREE = PATTERNS["free"]
_OF_NOUNS = {"NNG", "XPN", "XSN"}  # a common noun, and the affixes before and after its stem
_AFTER_NOUNS = ("J", "VCP", "S")  # a particle, the copula, a sign

TaggedSpan = tuple[str, int, int]  # tag, start, end


@lru_cache(maxsize=64)  # several rules need one sentence, and drawn again where they did nothing
def free_spaces(text: str) -> frozenset[int]:
    """The indices in ``text`` of the spaces between two nouns that may be joined."""
    words = _words(cut(text))
    return frozenset(
        before[-1][2]
        for before, after in pairwise(words)
        if text[before[-1][2] : after[0][1]] == " "
        and _joins_what_follows(text, before)
        and _joins_what_precedes(text, after)
    )


def _words(morphemes: Sequence[TaggedSpan]) -> list[list[TaggedSpan]]:
    """The morphemes of each word: those with nothing between them."""
    words: list[list[TaggedSpan]] = []
    for morpheme in morphemes:
        if words and words[-1][-1][2] >= morpheme[1]:
            words[-1].append(morpheme)
        else:
            words.append([morpheme])
    return words


def _joins_what_follows(text: str, word: Sequence[TaggedSpan]) -> bool:
    """Whether the word consists of nouns only, and its last one may be joined to another."""
    tags = {tag for tag, _, _ in word}
    if tags - _OF_NOUNS or tags == {"XSN"}:  # the latter: 들 alone
        return False
    last = max(index for index, (tag, _, _) in enumerate(word) if tag != "XSN")  # 개발|자
    return _is_joinable(text, word[last][1], word[-1][2])


def _joins_what_precedes(text: str, word: Sequence[TaggedSpan]) -> bool:
    """Whether the word begins with a noun that may be joined to another and that no verb is made of
    (준비하다).
    """
    nouns = 0
    while nouns < len(word) and word[nouns][0] in _OF_NOUNS:
        nouns += 1
    if not nouns or (nouns < len(word) and not word[nouns][0].startswith(_AFTER_NOUNS)):
        return False
    end = word[0][2]
    if nouns > 1 and (word[0][0] == "XPN" or word[1][0] == "XSN"):
        end = word[1][2]
    return _is_joinable(text, word[0][1], end)


def _is_joinable(text: str, start: int, end: int) -> bool:
    return end - start >= 2 and not _FREE["apart"].fullmatch(text, start, end)


FAMILY = "spacing"


ADNOMINAL = syllables_with_coda("ㄴ", "ㄹ")  # last syllables of 관형사형: -는, -(으)ㄴ, -던, -(으)ㄹ


def _either_way(before: str, after: str) -> bool:
    """Whether ``before`` and ``after`` (a sentence cut at a boundary) may be written either apart or
    joined.
    """
    if before[-1].isdigit():
        return True
    return bool(
        (_FREE["auxiliary"].match(after) and _FREE["connective"].search(before))
        or (before[-1] in ADNOMINAL and _FREE["joinable_noun"].match(after))
        or (_FREE["counted"].match(after) and _FREE["number"].search(before))
        or (before.endswith("좀") and after.startswith("더"))  # 제46항
        or (before.endswith("못") and after[0] in "하한할함합해했")  # 못하다 is a word
    )


def _is_free(draft: Draft, position: int) -> bool:
    """Whether no spacing rule has acted at ``position`` yet."""
    return not any(edit.family == FAMILY and edit.start <= position < edit.end for edit in draft.edits)


def _drop(draft: Draft, rule: str, position: int) -> None:
    if draft.cells[position] == " ":
        draft.put(rule, FAMILY, position, [""])


def _insert_space(draft: Draft, rule: str, position: int) -> None:
    """Put a space before ``text[position]``, if both sides still have their letters and no space is
    there.
    """
    before, after = draft.cells[position - 1], draft.cells[position]
    if before and after and before[-1] != " " and after[0] != " " and _is_free(draft, position - 1):
        draft.put(rule, FAMILY, position - 1, [before + " "])


def _at_matches(pattern: re.Pattern[str], rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    """Drop the space with which a match of ``pattern`` ends, or insert one behind it."""
    if rate > 0:
        for match in pattern.finditer(draft.text):
            if rng.random() < rate:
                if match[0].endswith(" "):
                    _drop(draft, rule, match.end() - 1)
                else:
                    _insert_space(draft, rule, match.end())


# Hangul is on one side at least, and no dash or other sign, beside which a space is a matter of taste.
_SPACE = re.compile(r" (?:(?<=[가-힣] )(?=[\w(\"'“‘])|(?<=[\w.,!?…:;)\"'”’] )(?=[가-힣]))")


def space_dropped(draft: Draft, rng: random.Random, rate: float) -> None:
    """Any space left out, except where the standard allows that: 집에 갔다 -> 집에갔다 (제2항).

    >>> draft = Draft("집에 갔다")
    >>> space_dropped(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '집에갔다'
    """
    text = draft.text
    chosen = [match.start() for match in _SPACE.finditer(text) if rng.random() < rate]
    chosen = [position for position in chosen if not _either_way(text[:position], text[position + 1 :])]
    if chosen:
        free = free_spaces(text)
        for position in chosen:
            if position not in free:
                _drop(draft, "space_dropped", position)


def _space_inserted(draft: Draft, rng: random.Random, rate: float) -> None:
    """A space between two Hangul syllables of one word: 사람이 -> 사 람이 (제2항)."""
    text = draft.text
    for position in range(1, len(text)):
        inside = is_syllable(text[position - 1]) and is_syllable(text[position])
        if inside and rng.random() < rate and not _either_way(text[:position], text[position:]):
            _insert_space(draft, "space_inserted", position)


_WORD = re.compile("[가-힣]{2,}(?![A-Za-z0-9])")


def _split_words(
    start_of: Callable[[str], int], rule: str, draft: Draft, rng: random.Random, rate: float
) -> None:
    """Insert a space inside each word where ``start_of(word)`` finds a second part (0: it has none)."""
    if rate > 0:
        for match in _WORD.finditer(draft.text):
            start = start_of(match.group())
            if start and rng.random() < rate:
                _insert_space(draft, rule, match.start() + start)


def drop_all_spaces(draft: Draft, rng: random.Random, rate: float) -> None:
    """With probability ``rate`` every space goes, permitted or not (제2항); one edit for each.

    >>> draft = Draft("나는 집에 갔다")
    >>> drop_all_spaces(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '나는집에갔다'
    """
    if rng.random() < rate:
        for position, character in enumerate(draft.text):
            if character == " ":
                _drop(draft, "drop_all_spaces", position)


_RARE = frozenset(["listing_joined", "title_joined"])
_COMMON_ALONE = frozenset(
    ["free_noun_joined", "determiner_joined", "guess_joined", "ending_split", "compound_split"]
)

_JOINS: dict[str, ErrorRule] = {
    name: partial(_at_matches, pattern, name) for name, pattern in PATTERNS["joined"].items()
}
_SPLITS: dict[str, ErrorRule] = {
    # 조사, the copula 이다 among them, written apart: 학교에서 -> 학교 에서, 너만큼 -> 너 만큼 (제41항).
    "particle_split": partial(_split_words, particle_start, "particle_split"),
    # 접미사 -하다, -되다 and the like cut off: 공부합니다 -> 공부 합니다 (제2항).
    "suffix_split": partial(_split_words, suffix_start, "suffix_split"),
    **{name: partial(_at_matches, pattern, name) for name, pattern in PATTERNS["split"].items()},
}

SPACING_RULES: dict[str, ErrorRule] = {
    **{name: rule for name, rule in (_JOINS | _SPLITS).items() if name not in _COMMON_ALONE},
    "space_dropped": space_dropped,
    "space_inserted": _space_inserted,
}
COMMON_RULES = {name: rule for name, rule in (_JOINS | _SPLITS).items() if name not in _RARE}

WEIGHTS = rates_of("spacing")  # factors of the rate that ``misspace`` is called with


def misspace_once(draft: Draft, rng: random.Random, rules: Mapping[str, ErrorRule] = SPACING_RULES) -> None:
    """One space wrong in a text whose other spaces may all be right, by any of the rules that finds a place
    for it.

    Of the rules that find one, each is as likely as the next, however many places it finds.

    >>> draft = Draft("할 수 있다")
    >>> misspace_once(draft, random.Random(0))
    >>> draft.wrong
    '할수 있다'
    """
    names = list(rules)
    rng.shuffle(names)
    for name in names:
        if edits := edits_of(rules[name], draft.text, rng):
            misspace_at(draft, rng.choice(edits))
            return


def misspace_at(draft: Draft, edit: Edit) -> None:
    """Make one mistake that a rule made in another draft of the same text."""
    if draft.text[edit.start] == " ":
        _drop(draft, edit.rule, edit.start)
    else:
        _insert_space(draft, edit.rule, edit.start + 1)


def misspace(draft: Draft, rng: random.Random, rate: float) -> None:
    """Run all of ``SPACING_RULES``, each at ``rate`` times its weight (1 at most).

    ``rate`` 0.15 makes about two mistakes in a sentence of 40 characters.

    >>> draft = Draft("할 수 있는 것을 하자")
    >>> misspace(draft, random.Random(0), 0.5)
    >>> draft.wrong
    '할수 있는것을 하자'
    """
    for name, rule in SPACING_RULES.items():
        rule(draft, rng, min(1.0, rate * WEIGHTS[name]))


SPLIT_RATE = 0.15  # times that of the others: every word has room for these


def misspace_commonly(draft: Draft, rng: random.Random, rate: float) -> None:
    """Make each of these mistakes with probability ``rate``, those that split a word less often.

    >>> draft = Draft("먹은 후에 갈 때까지")
    >>> misspace_commonly(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '먹은후에 갈때까지'
    """
    for name, rule in COMMON_RULES.items():
        rule(draft, rng, SPLIT_RATE * rate if name in _SPLITS else rate)
