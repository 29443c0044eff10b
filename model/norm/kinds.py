"""Kinds of misspellings, each under its article of the norm, read from the ``.toml`` files beside this one.

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

from model.norm.inflect import beginnings, stem
from model.text.hangul import FINALS, compose, decompose, syllables_with_coda

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
