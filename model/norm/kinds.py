"""Inflects a Korean predicate, rightly spelt or misspelt, from its three principal parts.

The parts are the forms before 고, before 면 and before 서: 잠그·잠그·잠가. The second may be left out if it follows from the
first: it is the same after a vowel or ㄹ, and has 으 after another consonant (한글 맞춤법 제15항, 제16항, 제18항).

Decides whether a word of the norm's tables stands at a place of a text.

Kinds of misspellings, each under its article of the norm, read from the ``.toml`` files beside this one.

A file holds tables by the name of the kind::

    [geop_sori]
    article = "한글 맞춤법 제13항"
    ko = "한 단어 안에서 같은 음절이 겹쳐 나면 같은 글자로 적어요."
    en = "Within a word, a sound that is doubled is written with the same letter twice."
    nouns = "씁쓸함/씁슬함"            # right/wrong; right/wrong|wrong where people write it in two ways
    adverbs = "*똑딱/똑닥"             # * is held out of training, to measure on
    verbs = "문을|창문을:잠그·잠가/잠구·잠궈"        # the forms before 고 · before 서 (inflect.py); 문을 may stand before it
    adjectives = "짭짤/짭잘"           # 짭짤하·짭짤해/짭잘하·짭잘해
    phrases = "내일 봬요/내일 뵈요"     # as they are
    skip = "바람 바랄"                 # forms that are left out
    rules = [["(?<={ㄹ})게(?=요?{끝})", "께"]]     # a pattern in right text, and what is written instead

``needs_context = true`` says that the wrong form is right somewhere else: it counts only together with the word before it.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from model.text.hangul import FINALS, compose, decompose, syllables_with_coda

CODAS = "ㄴㄹㅁㅂ"  # an ending that begins with one of these closes the syllable before it: -ㄴ, -ㄹ, -ㅁ, -ㅂ니다


class Stem(NamedTuple):
    """The three principal parts of a predicate."""

    plain: str  # before 고, 지, 는
    linked: str  # before 면, 니까, ㄴ, ㄹ, ㅁ, ㅂ니다
    infinitive: str  # before 서, 요, ㅆ다


def stem(parts: str) -> Stem:
    """The parts that stand between the dots; where there are two, the second follows from the first.

    >>> [stem(parts).linked for parts in ("묻·물으·물어", "잡·잡아", "만들·만들어")]
    ['물으', '잡으', '만들']
    """
    plain, *linked, infinitive = parts.split("·")
    return Stem(plain, linked[0] if linked else _linked(plain), infinitive)


def _linked(plain: str) -> str:
    return plain if decompose(plain[-1])[2] in ("", "ㄹ") else plain + "으"


def attach(linked: str, ending: str) -> str:
    """The linked stem with an ending. ㄹ is lost before ㄴ, ㅂ, 오 and 시 (한글 맞춤법 제18항 1).

    >>> attach("잠그", "ㄴ"), attach("만들", "ㅁ"), attach("만들", "니까")
    ('잠근', '만듦', '만드니까')
    """
    initial, medial, final = decompose(linked[-1])
    bare = linked[:-1] + compose(initial, medial)
    if ending[0] in CODAS:
        coda = "ㄻ" if (final, ending[0]) == ("ㄹ", "ㅁ") else ending[0]
        return linked[:-1] + compose(initial, medial, coda) + ending[1:]
    return (bare if final == "ㄹ" and ending[0] in "니네는세시오" else linked) + ending


def formal(parts: Stem) -> str:
    """What stands before 니다; after a consonant other than ㄹ that is 습 (표준어 규정 제17항).

    >>> [formal(stem(parts)) for parts in ("잠그·잠가", "만들·만들어", "빨갛·빨가·빨개")]
    ['잠급', '만듭', '빨갛습']
    """
    final = decompose(parts.plain[-1])[2]
    return attach(parts.plain, "ㅂ") if final in ("", "ㄹ") else parts.plain + "습"


def past(infinitive: str) -> str:
    """
    >>> past("잠가")
    '잠갔'
    """
    initial, medial, _ = decompose(infinitive[-1])
    return infinitive[:-1] + compose(initial, medial, "ㅆ")


def beginnings(right: str, wrong: str) -> list[tuple[str, str]]:
    """The beginnings of all forms of a predicate, (right, wrong), where the two differ.

    >>> beginnings("잠그·잠가", "잠구·잠궈")[:2]
    [('잠그', '잠구'), ('잠근', '잠군')]
    """
    good, bad = stem(right), stem(wrong)
    pairs = [(good.plain, bad.plain)]
    pairs += [(attach(good.linked, coda), attach(bad.linked, coda)) for coda in "ㄴㄹㅁ"]
    pairs += [(formal(good), formal(bad))]
    pairs += [(attach(good.linked, end), attach(bad.linked, end)) for end in ("면", "니까", "며", "려고")]
    pairs += [(good.infinitive, bad.infinitive), (past(good.infinitive), past(bad.infinitive))]
    return list(dict.fromkeys((one, other) for one, other in pairs if one != other))


# What may follow a noun: a particle, the copula, or the end of the word.
_AFTER_NOUN = re.compile(
    r"[은는이가을를의에도로와과만]|으로|까지|부터|처럼|보다|마다|조차|라[고는]|들|예요|였|[^0-9A-Za-z가-힣]|$"
)


def stands_at(right: str, boundary: str, text: str, start: int) -> bool:
    """Whether ``right`` stands at ``text[start:]``, and words begin or end where ``boundary`` says: left, right or both.

    ``noun`` is left, and a particle may follow, but not the rest of another word.

    >>> stands_at("대가", "noun", "대가를", 0), stands_at("대가", "noun", "대가족", 0)
    (True, False)
    """
    if not text.startswith(right, start):
        return False
    end = start + len(right)
    if boundary in ("left", "both", "noun") and start > 0 and text[start - 1].isalnum():
        return False
    if boundary == "noun":
        return _AFTER_NOUN.match(text, end) is not None
    return boundary not in ("right", "both") or not text[end : end + 1].isalnum()


CLASSES = ("nouns", "adverbs", "verbs", "adjectives", "phrases")
PREDICATES = ("verbs", "adjectives")
SHORT_NOUN = 2  # syllables; a longer noun is hardly ever the beginning of another word
FILES = ("sound", "form", "compound", "short", "spacing", "other", "standard", "loan")


@dataclass(frozen=True)
class Entry:
    """One word of a kind as the file has it."""

    word_class: str  # one of CLASSES
    beside: tuple[str, ...]  # words before it (문을 잠그다); for an adverb, after it (꾸준히 노력했다)
    right: str  # for a predicate, its principal parts
    wrong: tuple[str, ...]
    held_out: bool

    @property
    def is_predicate(self) -> bool:
        return self.word_class in PREDICATES


@dataclass(frozen=True)
class Misspelling:
    """A right spelling and a wrong one. ``boundary``: where a word has to begin or end (``matching.stands_at``)."""

    name: str
    right: str
    wrong: str
    boundary: str
    held_out: bool


@dataclass(frozen=True)
class Rule:
    """A pattern in right text, and the wrong spellings of what it matches."""

    pattern: re.Pattern
    wrong: tuple[str, ...]

    def spellings(self, match: re.Match) -> list[str]:
        """What may be written for ``match``: ``\\1`` is its first group, ``\\1+ㄹ`` that group with this coda."""
        return [_expand(each, match) for each in self.wrong]


@dataclass(frozen=True)
class Kind:
    """One kind of misspelling."""

    name: str
    article: str
    ko: str
    en: str
    entries: tuple[Entry, ...]
    rules: tuple[Rule, ...]
    needs_context: bool
    skipped: frozenset[str]  # forms that more often belong to another word: 바람


@cache
def kinds() -> dict[str, Kind]:
    """All kinds by name. Raises ValueError for a name that comes twice."""
    found: dict[str, Kind] = {}
    for name in FILES:
        text = Path(__file__).with_name(f"{name}.toml").read_text("utf-8")
        for kind, fields in tomllib.loads(text).items():
            if kind in found:
                raise ValueError(f"{name}.toml: the kind {kind!r} comes twice")
            found[kind] = _kind(kind, fields)
    return found


@cache
def rows() -> tuple[Misspelling, ...]:
    """The rows of all words of all kinds, each once."""
    return tuple(
        dict.fromkeys(row for kind in kinds().values() for e in kind.entries for row in _rows(kind, e))
    )


def _kind(name: str, fields: dict) -> Kind:
    entries = [
        _entry(name, each.strip(), word_class)
        for word_class in CLASSES
        for each in re.split(r"[,\n]", fields.get(word_class, ""))
        if each.strip()
    ]
    rules = tuple(Rule(re.compile(_pattern(first)), tuple(rest)) for first, *rest in fields.get("rules", ()))
    texts = fields["article"], fields["ko"], fields["en"]
    return Kind(
        name,
        *texts,
        tuple(entries),
        rules,
        fields.get("needs_context", False),
        frozenset(fields.get("skip", "").split()),
    )


def _entry(name: str, text: str, word_class: str) -> Entry:
    before, _, pair = text.removeprefix("*").rpartition(":")
    right, slash, wrong = pair.partition("/")
    if not (right and slash and wrong) or right in wrong.split("|"):
        raise ValueError(f"{name}: {text!r} should be right/wrong")
    spellings = [right, *wrong.split("|")]
    if word_class in PREDICATES and "·" not in pair:
        spellings = [f"{each}하·{each}해" for each in spellings]
    beside = tuple(before.split("|")) if before else ()
    return Entry(word_class, beside, spellings[0], tuple(spellings[1:]), text[0] == "*")


def _rows(kind: Kind, entry: Entry) -> list[Misspelling]:
    if entry.is_predicate:
        return _rows_of_predicate(kind, entry)
    boundary = {"adverbs": "both", "nouns": "noun"}.get(entry.word_class, "left")
    if boundary == "noun" and len(entry.right) > SHORT_NOUN:
        boundary = "left"
    pairs = [] if len(entry.right) == 1 else [(entry.right, wrong) for wrong in entry.wrong]
    return [Misspelling(kind.name, *pair, boundary, entry.held_out) for pair in pairs]


def _rows_of_predicate(kind: Kind, entry: Entry) -> list[Misspelling]:
    """The rows of its forms. A form that may belong to another word counts only after a word of ``beside``: 새처럼 난."""
    plain, found = stem(entry.right).plain, []
    for right, wrong in dict.fromkeys(pair for each in entry.wrong for pair in beginnings(entry.right, each)):
        # 만들 as a whole word, not as the beginning of 만들고
        boundary = "both" if right == plain and wrong.startswith(plain) else "left"
        drops = plain[-1] != right[len(plain) - 1 : len(plain)] and decompose(plain[-1])[2] == "ㄹ"
        ambiguous = len(right) == 1 or (len(plain) == 1 and drops)  # 나니까 may be of 나다 or of 날다
        texts = [(right, wrong)]
        if kind.needs_context or ambiguous:
            texts = [(f"{word} {right}", f"{word} {wrong}") for word in entry.beside]
        found += [
            Misspelling(kind.name, *pair, boundary, entry.held_out)
            for pair in texts
            if right not in kind.skipped
        ]
    return found


_MACROS = {
    "끝": r"(?![0-9A-Za-z가-힣])",
    "앞": r"(?<![0-9A-Za-z가-힣])",
    "열린": f"[{syllables_with_coda('')}]",
    "닫힌": f"[{syllables_with_coda(*FINALS[1:])}]",
}


def _pattern(text: str) -> str:
    """``{ㄹ}`` is any syllable with this coda, ``{ㄴㄹ}`` with one of these, ``{열린}`` without one, ``{끝}`` a word's end."""
    return re.sub(
        r"\{([가-힣ㄱ-ㅎ]+)\}", lambda m: _MACROS.get(m[1]) or f"[{syllables_with_coda(*m[1])}]", text
    )


def _expand(template: str, match: re.Match) -> str:
    def group(found: re.Match) -> str:
        text = match[int(found[1])]
        if found[2] is None:
            return text
        initial, medial, _ = decompose(text[-1])
        return text[:-1] + compose(initial, medial, found[2].replace("-", ""))

    return re.sub(r"\\(\d)(?:\+([ㄱ-ㅎ-]))?", group, template)
