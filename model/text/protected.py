"""Protected text that a correction must not change: characters, spans and words.

* Protected characters: digits, other scripts, symbols, brackets and quotation marks, and laughing (ㅋㅋ) and
  weeping (ㅠㅠ). A change that would lose, alter or invent one is not proposed.
* Verbatim spans: addresses, paths, code, tags, drawn-out vowels. The network was trained on prose. In
  ``www.쇼핑몰.한국/안되요`` it would mend 안되요, and the address would lead nowhere. Prose between the spans
  is corrected as always: ``<b>안되요</b>`` becomes ``<b>안 돼요</b>``, because only the tags are spans.
* Kept spans: names, coinages, a person's own words, pronunciations in brackets, quoted wrong forms. They are
  prose that the network reads with the rest, but no change may touch them.
* Whole words: a correction may only write the same words in another way. The network's confidence is no help
  here: of a word that is repeated twenty times it drops nine at a probability of 0.999. The only word that
  may go is one that was typed twice by mistake.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from model.text import hangul
from model.text.changes import Change, apply_changes
from model.text.hangul import INITIALS, compose, is_hangul
from model.text.tokenizer import Span

# Marks that end or join sentences may be corrected. All others (brackets, quotation marks, slashes, hyphens
# …) are protected.
FREE_PUNCTUATION = frozenset(".,!?~…")
ENDS = frozenset(".!?…")  # of a sentence; the number of several together (!!!) stays as it is

MARKUP = frozenset("*_`")  # the network cannot tell an opening one from a closing one
OPENING, CLOSING = tuple("([{<‘“「『《"), tuple(")]}>’”」』》")  # tuples, because every text contains ""

# Outcries: laughing (ㅋㅋ, ㅎㅎ), weeping (ㅠㅠ, ㅜㅜ) and other jamo that are written twice or more often
# (ㅇㅇ, ㄷㄷ, ㅡㅡ). A single ㅋ, ㅎ, ㅠ or ㅜ counts only if no jamo is beside it and no syllable behind it.
# In 네ㅎ it is a laugh. In ㅎㅏ나 and in 안녕ㅎ하세요 it is a slip. Words of consonants alone are initials
# (ㄱㅅ) or keys struck at random (ㅁㄴㅇㄹ).
OUTCRY = re.compile(
    r"""
    [ㅋㅎ]{2,} | [ㅠㅜ]{2,} | ([ㄱ-ㅣ])\1+
    | (?<![ㄱ-ㅣ]) [ㅋㅎㅠㅜ] (?![ㄱ-ㅣ가-힣])
    | (?<![ㄱ-ㅣ가-힣]) [ㄱ-ㅎ]{2,} (?![ㄱ-ㅣ가-힣])
    """,
    re.VERBOSE,
)

JAMO = re.compile("[ㄱ-ㅣ]")  # every outcry contains one, and most texts none


def spares_protected(change: Change) -> bool:
    """Whether a change neither loses, alters nor invents a protected character.

    >>> spares_protected(Change(0, 1, 0, 1, "3", "4")), spares_protected(Change(0, 1, 0, 1, "갓", "갔"))
    (False, True)
    """
    return protected(change.wrong) == protected(change.right)


def spares_outcries(change: Change, source: str) -> bool:
    """Whether the laughing and weeping in ``source`` stays as it is if this change alone is made.

    >>> spares_outcries(Change(2, 4, 2, 2, "ㅋㅋ", ""), "좋아ㅋㅋ")
    False
    """
    if not JAMO.search(source) and not JAMO.search(change.right):
        return True
    return _outcry_texts(source) == _outcry_texts(apply_changes(source, [change]))


def spares_emphasis(change: Change, source: str) -> bool:
    """Whether a change adds no mark beside one that ends a sentence, and takes none of several.

    >>> [spares_emphasis(Change(i, i, i, i + 1, "", "!"), text) for i, text in [(2, "와!!"), (1, "와")]]
    [False, True]
    """
    if not ENDS.issuperset(change.wrong + change.right):
        return True
    return ENDS.isdisjoint(
        source[max(change.source_start - 1, 0) : change.source_start] + source[change.source_end :][:1]
    )


def spares_gaps(change: Change, source: str) -> bool:
    """Whether a change puts no space beside white space, behind an opening bracket or before a closing one,
    and moves none beside mark-up.

    >>> spares_gaps(Change(1, 1, 1, 2, "", " "), "(가)")
    False
    >>> spares_gaps(Change(5, 6, 5, 5, " ", ""), "**가** 나")
    False
    """
    before, after = source[: change.source_start][-1:], source[change.source_end :][:1]
    if change.moves_spaces and (before in MARKUP or after in MARKUP):
        return False
    if change.wrong or change.right.strip():
        return True
    return not (before.isspace() or after.isspace() or before in OPENING or after in CLOSING)


def protected(text: str) -> str:
    """The characters no correction may touch: other scripts, digits, emoji, symbols, most punctuation.

    >>> protected("3시에 (봐)")
    '3()'
    """
    return "".join(filter(is_protected, text))


@lru_cache(maxsize=4096)  # asked of each character at each reading
def is_protected(character: str) -> bool:
    """Whether no correction may touch this character.

    >>> is_protected("3"), is_protected("가")
    (True, False)
    """
    return not (hangul.is_hangul(character) or _is_space(character) or character in FREE_PUNCTUATION)


def _is_space(character: str) -> bool:
    # Python also counts the separators of ASCII tables and NEXT LINE, which are not typed for a space.
    return character.isspace() and character not in "\x1c\x1d\x1e\x1f\x85"


def outcries(text: str) -> list[tuple[int, int]]:
    """The spans of laughing, weeping and initials, in order and apart from each other.

    >>> outcries("그래 ㅋㅋ")
    [(3, 5)]
    """
    return [found.span() for found in OUTCRY.finditer(text)]


def _outcry_texts(text: str) -> list[str]:
    return [text[start:end] for start, end in outcries(text)]


# \w holds Hangul; a bound, since names are short and a search may begin at each letter
_NAME = r"[\w.-]{1,64}"
_START = r"(?<![\w.-])"
_QUOTED = r"""(?: "[^"\n]*" | '[^'\n]*' )"""

# The last vowel of a sentence, written once more. Elsewhere than at the end it might be a particle (카페에,
# 나의).
_DRAWN_OUT = "|".join(
    f"(?<=[{''.join(compose(initial, vowel) for initial in INITIALS for vowel in same)}]){long}+"
    for same, long in (
        ("ㅏㅑㅘ", "아"),
        ("ㅐ", "애"),
        ("ㅓㅕㅝ", "어"),
        ("ㅔ", "에"),
        ("ㅗㅛ", "오"),
        ("ㅜㅠ", "우"),
        ("ㅣ", "이"),
    )
)

# Each alternative is one kind of span. A span may hold Hangul, which is why the network would change it.
VERBATIM = re.compile(
    rf"""
      ```.*?(?:```|\Z)                                    # code between fences, over several lines
    | `[^`\n]+`                                           # code in a line
    | </?[A-Za-z][^<>\n]*>                                # tags: <b>, </a>, <img alt="…">
    | \]\([^()\s]+\)                                      # where a link leads: [알림](https://…)
    | \{{\{{[^{{}}\n]*\}}\}} | [$%]\{{[^{{}}\n]*\}}       # places to be filled in: {{{{이름}}}}, ${{이름}}
    | \{{\s*{_QUOTED}\s*:[^{{}}]*\}}                      # JSON: {{"할일": 1}}
    | \[\s*{_QUOTED}\s*(?:,[^\[\]\n]*)?\]                 # ["가", "나"]
    | {_QUOTED}\s*:\s*(?:{_QUOTED}|[-\d.]+|true|false|null|[\[{{])  # a line of JSON
    | {_START}{_NAME}\s?={{1,2}}\s?{_QUOTED}              # 이름 = "민수"
    | {_START}[^\W\d]{_NAME}\(\s*{_QUOTED}\s*(?:,[^()\n]*)?\)      # print("안녕"), 목록.append('할일')
    | {_START}[^\W\d][\w.]{{0,63}}\.[A-Za-z_]\w{{0,63}}\([^()\n]*\)  # 목록.sort(키)
    | ^[ ]*\$[ ][^\n]+                                     # a command: $ mkdir 할일
    | ^[ ]*(?:if|elif|while|for|def|class|return|import|from|const|let|var|function)\b  # code
      [^\n]*[=({{:;][^\n]*
    | ^[ ]*(?:import|from)[ ]\S+(?:[ ](?:as|import)[ ]\S+)?[ ]*$
    | \b(?:id|pw|아이디|비밀번호|비번|암호)[ ]?[:=][ ]?\S+      # id: 꿈꾸는나무
    | {_START}{_NAME}\s?={{1,2}}\s?(?:True|False|None|true|false|null|[-\d.]+)\b  # 완료 = True
    | \b(?:SELECT|INSERT|UPDATE|DELETE)\b[^\n;]{{1,200}}?\b(?:FROM|INTO|SET|WHERE)\b[^\n;]*;?  # SQL
    | (?:https?|ftp|file)://[^\s<>"'“”‘’]+ | www\.[^\s<>"'“”‘’]+
    | {_START}[\w.+-]{{1,64}}@{_NAME}\.{_NAME}            # mail
    | (?<!\w)[@\#]\w(?:{_NAME}(?<!\.))?                   # mentions and hashtags
    | {_START}{_NAME}\.(?:한국|닷컴|닷넷|com|net|org|kr|io|dev)(?![A-Za-z])(?:/[^\s<>"'“”‘’]*)?
    | (?<!\w)(?:[A-Za-z]:)?(?:\\[\w.()~-]+)+\\?           # C:\사용자\바탕화면
    | (?<![\w/.])(?:~|\.{{1,2}})?(?:/{_NAME}){{2,}}/?     # /home/민수/숙제
    | (?<![\w.()-])[\w.()-]{{0,64}}[\w)]\.[A-Za-z][A-Za-z\d]{{1,4}}(?![\w.])  # 과제_최종(2).hwp
    | (?<!\w)[^\W_]\w{{0,63}}_\w{{0,63}}[^\W_]            # 최종_보고서
    | (?<!\S)[A-Za-z가-힣]{{1,64}}\d+[!@\#$%^&*]+(?!\S)  # passwords: 안녕하세요123!
    | (?:{_DRAWN_OUT}) (?=\s*(?:[.,!?~…ㅋㅎㅠㅜ^]|\Z|\n))     # 감사합니다아, 그래애?
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


def verbatim_spans(text: str) -> tuple[Span, ...]:
    """The verbatim spans of a text, in order and apart from each other.

    >>> [text[a:b] for text in ["#오늘의운동 했어요, 과제_최종.hwp 를 보냄"] for a, b in verbatim_spans(text)]
    ['#오늘의운동', '과제_최종.hwp']
    """
    return tuple(Span(*found.span()) for found in VERBATIM.finditer(text))


_LEFT_ALONE = tomllib.loads(Path(__file__).with_name("left_alone.toml").read_text("utf-8"))
_NAMES = (*_LEFT_ALONE["names"].split(), *_LEFT_ALONE["species"].split())
_PARTICLE = (
    "(?:으로|로|에서|에게|한테|까지|부터|처럼|보다|라고|이라고|이나|나|이랑|랑|조차|마저|밖에|들|"
    "[은는이가을를의에도와과만])*"
)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


KEPT = re.compile(
    rf"(?<!\w)(?:{_any_of(_NAMES)})(?={_PARTICLE}(?!\w))"
    rf"|(?<!\w)(?:{_any_of(_LEFT_ALONE['coinages'].split())})|{'|'.join(_LEFT_ALONE['kept'])}"
)
DIALECT = re.compile("|".join(_LEFT_ALONE["dialect"]))
MOST_OWN, LONGEST_OWN = 1000, 64  # words of a person, and characters of one


def own_words(words: Iterable[str]) -> re.Pattern[str] | None:
    """The pattern of words that a person wants left alone, with the particles behind them; None without any.

    ``*`` in a word is any letters and digits. Raises ValueError for more than MOST_OWN words, for one of more
    than LONGEST_OWN characters, and for one with more than two ``*``.

    >>> own_words(["머거*"]).search("난 머거요를 봤다").group()
    '머거요를'
    """
    given = (unicodedata.normalize("NFC", word.strip()) for word in words)
    listed = list(dict.fromkeys(word for word in given if word.strip("* ")))
    if len(listed) > MOST_OWN or any(len(word) > LONGEST_OWN or word.count("*") > 2 for word in listed):
        raise ValueError(
            f"own words should be at most {MOST_OWN}, each of at most {LONGEST_OWN} characters with two *"
        )
    words_of_any_end = _any_of(listed).replace(r"\*", rf"\w{{0,{LONGEST_OWN}}}")
    return re.compile(rf"(?<!\w)(?:{words_of_any_end}){_PARTICLE}(?!\w)") if listed else None


def without_particle(word: str) -> str:
    """A word of three syllables or more without the particle at its end.

    >>> without_particle("역활을"), without_particle("파이")
    ('역활', '파이')
    """
    return re.sub(rf"(?<=\w\w){_PARTICLE}$", "", word)


def kept_spans(text: str, own: re.Pattern[str] | None = None) -> tuple[Span, ...]:
    """The spans of prose that no change may touch, in order; ``own``: the pattern of ``own_words``.

    >>> [text[a:b] for text in ["국물[궁물]은 파리바게뜨에서"] for a, b in kept_spans(text)]
    ['[궁물]', '파리바게뜨']
    """
    patterns = (KEPT,) if own is None else (KEPT, own)
    return tuple(sorted(Span(*found.span()) for each in patterns for found in each.finditer(text)))


def is_dialect(change: Change, source: str) -> bool:
    """Whether a change alters letters of a word of dialect, or of the word before it.

    >>> is_dialect(Change(6, 7, 6, 7, "여", "야"), "이게 다 뭐여?")
    True
    """
    return not change.moves_spaces and any(
        change.source_start < found.end() and len(source[change.source_end : found.start()].split()) <= 1
        for found in DIALECT.finditer(source)
    )


def spares_verbatim(change: Change, spans: Iterable[Span]) -> bool:
    """Whether a change touches none of the spans, and does not only move the spaces at their ends.

    >>> spares_verbatim(Change(1, 2, 1, 2, "데", "대"), [Span(0, 4)])
    False
    """
    return not any(
        change.source_start < end
        and start < change.source_end
        or start < change.source_start < end
        or (change.moves_spaces and change.source_start <= end and start <= change.source_end)
        for start, end in spans
    )


LEAST_ALIKE = 0.25  # of a word's jamo, in order: of 꼬치 all four are in 꽃이, of 저녁 one is in 아침
# A word that is joined to the one before needs more than this: 주말 에 → 주말에, but not 하늘 씨 → 하늘이
LEAST_ALIKE_JOINED = 0.5
MOST_NEW = 2  # syllables that a change may add: 시이 → 시간이, 학교 → 학교에서

_WORD = re.compile(r"\S+")


def spares_words(change: Change, source: str) -> bool:
    """Whether each word of ``source`` that the change covers is still there, in another spelling, and no
    other has come.

    >>> spares_words(Change(3, 3, 3, 6, "", "마지막"), "그 일")
    False
    """
    if not _has_hangul(change.wrong) and not _has_hangul(change.right):
        return True
    if _syllables(change.right) - _syllables(change.wrong) > MOST_NEW:
        return False
    covered = _covered_words(change, source)
    if not _has_hangul(change.right):
        return not covered or (len(covered) == 1 and _is_doubled(covered[0], source))
    if not _has_hangul(change.wrong):
        return _is_beside_letters(change, source)
    kept = _kept_jamo(change)
    shares = {word: _share_kept(word, change.source_start, change.wrong, kept) for word in covered}
    if _joins(change) and any(share <= LEAST_ALIKE_JOINED for share in shares.values()):
        return False
    gone = [word for word, share in shares.items() if share < LEAST_ALIKE]
    # One word may give way to another one (저희 나라 → 우리나라), but not to a shorter text.
    return not gone or (len(gone) == 1 and _syllables(change.right) >= _syllables(change.wrong))


def _joins(change: Change) -> bool:
    """Whether the new text is joined to the word before, which the source set apart."""
    return change.wrong[:1].isspace() and not change.right[:1].isspace()


def _has_hangul(text: str) -> bool:
    return any(map(is_hangul, text))


def _syllables(text: str) -> int:
    return sum(map(is_hangul, text))


def _covered_words(change: Change, source: str) -> list[Span]:
    """The words of Hangul that the change covers from their beginning to their end."""
    start, end = change.source_start, change.source_end
    # Beside a letter the change covers only a part of the word at that edge.
    begins_whole = not source[max(start - 1, 0) : start].isalnum()
    ends_whole = not source[end : end + 1].isalnum()
    words = (
        Span(*found.span()) for found in _WORD.finditer(source, start, end) if _has_hangul(found.group())
    )
    return [each for each in words if (each.start > start or begins_whole) and (each.end < end or ends_whole)]


def _kept_jamo(change: Change) -> list[bool]:
    """For each jamo of ``wrong`` whether it is kept in ``right``, in this order."""
    wrong, right = (unicodedata.normalize("NFD", text) for text in (change.wrong, change.right))
    kept = [False] * len(wrong)
    for block in Levenshtein.opcodes(wrong, right):
        if block.tag == "equal":
            kept[block.src_start : block.src_end] = [True] * (block.src_end - block.src_start)
    return kept


def _share_kept(word: Span, start: int, wrong: str, kept: list[bool]) -> float:
    """Which share of the jamo of a word is kept; ``wrong`` begins at ``start`` of the source."""
    first, last = (
        len(unicodedata.normalize("NFD", wrong[: place - start])) for place in (word.start, word.end)
    )
    return sum(kept[first:last]) / (last - first)


def _is_doubled(word: Span, source: str) -> bool:
    """Whether the word comes exactly twice in a row, in a text of more words. (A text of nothing but two
    equal words says them twice on purpose.)
    """
    words, said = _WORD.findall(source), source[word.start : word.end]
    runs = (len(list(same)) for text, same in groupby(words) if text == said)
    return max(runs, default=0) == 2 < len(words)


def _is_beside_letters(change: Change, source: str) -> bool:
    """Whether the inserted text belongs to a word that is already there."""
    before, after = source[: change.source_start][-1:], source[change.source_end :][:1]
    joins_before = is_hangul(before) and not change.right[0].isspace()
    joins_after = is_hangul(after) and not change.right[-1].isspace()
    return joins_before or joins_after
