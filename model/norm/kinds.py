"""Kinds of misspelling by article of the norm, read from TOML; inflection of predicates.

A file holds a table for each kind::

    [geop_sori]
    article = "한글 맞춤법 제13항"
    ko = "한 단어 안에서 같은 음절이 겹쳐 나면 같은 글자로 적어요."
    en = "Within a word, a sound that is doubled is written with the same letter twice."
    nouns = "씁쓸함/씁슬함"            # right/wrong; right/wrong|wrong where people write it in two ways
    adverbs = "*똑딱/똑닥"             # * is held out of training, to measure on
    verbs = "문을|창문을:잠그·잠가/잠구·잠궈"        # the forms before 고 · before 서; 문을 may precede it
    stems = "가방을:메·메어/매·매어"   # the same, but only with its endings: 매고, not 매일
    adjectives = "짭짤/짭잘"           # 짭짤하·짭짤해/짭잘하·짭잘해
    phrases = "내일 봬요/내일 뵈요"     # from the beginning of a word
    rows = "<왠지>/웬지"               # < where a word begins, > where one ends, ␣ for a space at the end
    rows = '<(사용|설치) 시(|에)>/\\1시\\2'   # an entry for each choice, a fifth of them held out
    skip = "바람 바랄"                 # forms that are left out
    rules = [["(?<={ㄹ})게(?=요?{끝})", "께"]]     # a pattern in right text, and wrong spellings for it

Entries are parted by a comma and a space, or by a new line; a line that begins with ``#`` is a comment.
``needs_context = true``: the wrong form is right elsewhere, so it counts only together with the word before
it.

A predicate is given by its principal parts, the forms before 고, before 면 and before 서: 잠그·잠그·잠가. The
second may be left out if it follows from the first: it is the same after a vowel or ㄹ, and has 으 after
another consonant (한글 맞춤법 제15항, 제16항, 제18항).
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from model.text.hangul import compose, decompose, syllables_with_coda

CLASSES = ("nouns", "adverbs", "verbs", "adjectives", "stems", "phrases", "rows")
PREDICATES = ("verbs", "adjectives", "stems")
HELD_OUT = 5  # of so many alternatives one is held out of training
SHORT_NOUN = 2  # syllables; a longer noun is hardly ever the beginning of another word
# an ending that begins with one of these closes the syllable before it: -ㄴ, -ㄹ, -ㅁ, -ㅂ니다
CODAS = "ㄴㄹㅁㅂ"
# Of ``stems``: what follows each principal part; behind > the word ends.
WHOLE_FORMS = {
    "plain": "고 는 지 자 게 던 다 기 네> 네요 나> 나요 거나 거든 겠 더니 더라 도록",
    "linked": "ㄴ> ㄴ데 ㄴ지 ㄹ> ㄹ까 ㄹ게 ㄹ지 ㄹ수록 ㅂ시 면 며 니까 려 러 세 신> 시는 시고 시면 셨 십",
    "infinitive": "> 서 도> 야 요 라>",
}
_FILES = ("sound", "form", "compound", "short", "spacing", "other", "standard", "loan", "certain")
_FOLDER = Path(__file__).parent
_BOUNDARIES = {"adverbs": "both", "phrases": "left"}  # of a class whose entries all have the same
_MARKED = {(False, False): "", (True, False): "left", (False, True): "right", (True, True): "both"}
# After a noun: a particle, the copula, or the end of the word.
AFTER_NOUN = re.compile(
    r"[은는이가을를의에도로와과만]|으로|까지|부터|처럼|보다|마다|조차|라[고는]|들|씩|쯤|밖에"
    r"|예요|였|네요?|입니|인[데가지]|[^0-9A-Za-z가-힣]|$"
)


class Stem(NamedTuple):
    """The three principal parts of a predicate."""

    plain: str  # before 고, 지, 는
    linked: str  # before 면, 니까, ㄴ, ㄹ, ㅁ, ㅂ니다
    infinitive: str  # before 서, 요, ㅆ다

    @classmethod
    def of(cls, parts: str) -> "Stem":
        """The parts between the dots; of two, the second follows from the first.

        >>> [Stem.of(parts).linked for parts in ("묻·물으·물어", "잡·잡아", "만들·만들어")]
        ['물으', '잡으', '만들']
        """
        plain, *linked, infinitive = parts.split("·")
        regular = plain if decompose(plain[-1])[2] in ("", "ㄹ") else plain + "으"
        return cls(plain, linked[0] if linked else regular, infinitive)

    def form(self, part: str, ending: str) -> str:
        """One of its principal parts with an ending.

        >>> Stem.of("만들·만들어").form("linked", "니까"), Stem.of("만들·만들어").form("infinitive", "요")
        ('만드니까', '만들어요')
        """
        return self.infinitive + ending if part == "infinitive" else attach(getattr(self, part), ending)

    @property
    def formal(self) -> str:
        """The form before 니다; after a consonant other than ㄹ it ends in 습 (표준어 규정 제17항).

        >>> [Stem.of(parts).formal for parts in ("잠그·잠가", "만들·만들어", "빨갛·빨가·빨개")]
        ['잠급', '만듭', '빨갛습']
        """
        final = decompose(self.plain[-1])[2]
        return attach(self.plain, "ㅂ") if final in ("", "ㄹ") else self.plain + "습"

    @property
    def past(self) -> str:
        """The infinitive with ㅆ.

        >>> Stem.of("잠그·잠가").past
        '잠갔'
        """
        initial, medial, _ = decompose(self.infinitive[-1])
        return self.infinitive[:-1] + compose(initial, medial, "ㅆ")


def attach(linked: str, ending: str) -> str:
    """Join an ending to a linked stem. ㄹ is lost before ㄴ, ㅂ, 오 and 시 (한글 맞춤법 제18항 1).

    >>> attach("잠그", "ㄴ"), attach("만들", "ㅁ"), attach("만들", "니까")
    ('잠근', '만듦', '만드니까')
    """
    initial, medial, final = decompose(linked[-1])
    bare = linked[:-1] + compose(initial, medial)
    if ending[0] in CODAS:
        coda = "ㄻ" if (final, ending[0]) == ("ㄹ", "ㅁ") else ending[0]
        return linked[:-1] + compose(initial, medial, coda) + ending[1:]
    return (bare if final == "ㄹ" and ending[0] in "니네는세시오" else linked) + ending


def beginnings(right: str, wrong: str) -> list[tuple[str, str]]:
    """Pair the beginnings of all forms of a predicate, (right, wrong), where the two differ.

    >>> beginnings("잠그·잠가", "잠구·잠궈")[:2]
    [('잠그', '잠구'), ('잠근', '잠군')]
    """
    pairs = zip(_beginnings(Stem.of(right)), _beginnings(Stem.of(wrong)), strict=True)
    return list(dict.fromkeys((one, other) for one, other in pairs if one != other))


def _beginnings(stem: Stem) -> list[str]:
    forms = [stem.plain, *(attach(stem.linked, coda) for coda in "ㄴㄹㅁ"), stem.formal]
    forms += [attach(stem.linked, ending) for ending in ("면", "니까", "며", "려고")]
    return [*forms, stem.infinitive, stem.past]


def _whole_forms(parts: str) -> list[tuple[str, bool]]:
    """The forms of a predicate with their endings, and whether the word ends there.

    >>> _whole_forms("메·메어")[0], _whole_forms("긷·길으·길어")[18], _whole_forms("긷·길으·길어")[-3]
    (('메고', False), ('길은', True), ('긷는다', False))
    """
    stem = Stem.of(parts)
    endings = [(part, ending) for part, each in WHOLE_FORMS.items() for ending in each.split()]
    forms = [(stem.form(part, end.removesuffix(">")), end.endswith(">")) for part, end in endings]
    present = attach(stem.plain, "ㄴ다" if decompose(stem.plain[-1])[2] in ("", "ㄹ") else "는다")
    return [*forms, (present, False), (stem.formal + "니", False), (stem.past, False)]


class Entry(NamedTuple):
    """One word of a kind as the file has it."""

    word_class: str  # one of CLASSES
    beside: tuple[str, ...]  # words before it (문을 잠그다); for an adverb, after it (꾸준히 노력했다)
    right: str  # for a predicate, its principal parts
    wrong: tuple[str, ...]
    boundary: str  # as of ``Misspelling``
    held_out: bool

    @property
    def is_predicate(self) -> bool:
        return self.word_class in PREDICATES


class Misspelling(NamedTuple):
    """A right spelling and a wrong one, in texts in which a word begins and ends as ``boundary`` demands.

    ``boundary``: ``left``, ``right`` or ``both`` ends of the spelling are ends of a word; ``noun`` is
    ``left``, and a particle may follow, but not the rest of another word; empty: anywhere.
    """

    name: str  # of its kind
    right: str
    wrong: str
    boundary: str
    held_out: bool

    def occurs_at(self, text: str, start: int) -> bool:
        """Whether ``text[start:]`` begins with the right spelling, with its boundaries.

        >>> row = Misspelling("saisiot_none", "대가", "댓가", "noun", held_out=False)
        >>> row.occurs_at("대가를", 0), row.occurs_at("대가족", 0)
        (True, False)
        """
        if not text.startswith(self.right, start):
            return False
        end = start + len(self.right)
        if self.boundary in ("left", "both", "noun") and start > 0 and text[start - 1].isalnum():
            return False
        if self.boundary == "noun":
            return AFTER_NOUN.match(text, end) is not None
        return self.boundary not in ("right", "both") or not text[end : end + 1].isalnum()


class RowIndex:
    """Rows by the first ``size`` characters of their right spelling.

    >>> row = Misspelling("myeochil", "며칠", "몇일", "", held_out=False)
    >>> [(start, [each.wrong for each in rows]) for start, rows in RowIndex([row]).sites("그 며칠")]
    [(2, ['몇일'])]
    """

    def __init__(self, rows: Iterable[Misspelling], size: int = 1):
        self._size = size
        self._rows: dict[str, list[Misspelling]] = {}
        for row in rows:
            self._rows.setdefault(row.right[:size], []).append(row)

    def sites(self, text: str) -> Iterator[tuple[int, list[Misspelling]]]:
        """(start, rows) for each place of a right text at which rows occur."""
        for start in range(len(text)):
            candidates = self._rows.get(text[start : start + self._size], ())
            if rows := [row for row in candidates if row.occurs_at(text, start)]:
                yield start, rows


@dataclass(frozen=True)
class Rule:
    """A pattern in right text, and the wrong spellings of its match."""

    source: str  # of the pattern, as the file has it
    wrong: tuple[str, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(expression(self.source))  # all of them take longer than the rows

    def spellings(self, match: re.Match[str]) -> list[str]:
        """The wrong spellings of ``match``.

        ``\\1`` is its first group and ``\\0`` all of it; ``\\1+ㄹ`` is the group with this coda,
        ``\\1:게걸→께껄`` with these syllables replaced.

        >>> rule = Rule("[게걸]$", (r"\\0:게걸→께껄",))
        >>> rule.spellings(rule.pattern.search("할걸"))
        ['껄']
        """
        return [_expand(each, match) for each in self.wrong]

    @property
    def letters(self) -> list[str]:
        """Of each wrong spelling letters that it has whatever the match.

        >>> Rule("{앞}(재미)(있)", (r"\\1 \\2",)).letters
        [' ']
        """
        return [max(_REFERENCE.sub(r"\\", each).split("\\"), key=len) for each in self.wrong]


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of misspelling; equal to itself alone."""

    name: str
    article: str  # or another source
    ko: str
    en: str
    entries: tuple[Entry, ...]
    rules: tuple[Rule, ...]
    needs_context: bool
    is_certain: bool
    skipped: frozenset[str]  # forms that more often belong to another word: 바람


@cache
def kinds() -> dict[str, Kind]:
    """All kinds of the norm by name."""
    return read_kinds(_FOLDER / f"{name}.toml" for name in _FILES)


@cache
def rows() -> tuple[Misspelling, ...]:
    """The rows of all kinds of the norm, each once."""
    return rows_of(kinds())


@lru_cache(maxsize=4096)
def rows_from(character: str) -> dict[str, list[Misspelling]]:
    """The rows of ``rows`` whose wrong spelling begins with ``character``, by its first two characters.

    All forms of all predicates take a tenth of a second and 10 MB; a sentence needs a few.

    >>> list(rows_from("궂"))
    ['궂이']
    """
    found: dict[str, list[Misspelling]] = {}
    entries = _by_beginning().get(character, ())
    for row in dict.fromkeys(row for entry in entries for row in _rows(*entry)):
        if row.wrong[0] == character:
            found.setdefault(row.wrong[:2], []).append(row)
    return found


@cache
def _by_beginning() -> dict[str, list[tuple[Kind, Entry]]]:
    """(kind, entry) by the first characters that the wrong spellings of its rows may have."""
    found: dict[str, list[tuple[Kind, Entry]]] = {}
    for kind in kinds().values():
        for entry in kind.entries:
            for beginning in _first_characters(kind, entry):
                found.setdefault(beginning, []).append((kind, entry))
    return found


def _first_characters(kind: Kind, entry: Entry) -> set[str]:
    if not entry.is_predicate:
        return {each[:1] for each in entry.wrong}
    parts = [part for each in entry.wrong for part in each.split("·")]
    found = {part[0] for part in parts}
    for part in parts:
        if len(part) == 1:  # its coda is another in 난, 날, 남, 납니다, 났다
            initial, medial, _ = decompose(part)
            found |= {compose(initial, medial, coda) for coda in ("", *CODAS, "ㄻ", "ㅆ")}
    # Forms of stems, and those of one syllable, stand behind another word.
    if kind.needs_context or entry.word_class == "stems" or min(map(len, entry.right.split("·"))) == 1:
        found |= {word[0] for word in entry.beside}
    return found


def read_kinds(paths: Iterable[Path]) -> dict[str, Kind]:
    """Read the kinds of some files, by name and in order.

    Raises ValueError for a name that comes twice and for an entry that is no right and wrong spelling.
    """
    kinds: dict[str, Kind] = {}
    for path in paths:
        for name, fields in tomllib.loads(path.read_text("utf-8")).items():
            if name in kinds:
                raise ValueError(f"{path.name}: the kind {name!r} comes twice")
            kinds[name] = _kind(name, fields)
    return kinds


def rows_of(kinds: Mapping[str, Kind]) -> tuple[Misspelling, ...]:
    """The rows of all entries of these kinds, each once."""
    return tuple(
        dict.fromkeys(row for kind in kinds.values() for e in kind.entries for row in _rows(kind, e))
    )


def _kind(name: str, fields: Mapping) -> Kind:
    entries = tuple(
        _entry(name, each, word_class)
        for word_class in CLASSES
        for line in fields.get(word_class, "").splitlines()
        if not line.startswith("#")
        for text in line.split(", ")
        if text.strip()
        for each in _spelled_out(text.strip())
    )
    rules = tuple(Rule(first, tuple(rest)) for first, *rest in fields.get("rules", ()))
    skipped = frozenset(each.replace("␣", " ") for each in fields.get("skip", "").split())
    texts = fields["article"], fields.get("ko", ""), fields.get("en", "")
    flags = fields.get("needs_context", False), fields.get("certain", False)
    return Kind(name, *texts, entries, rules, *flags, skipped)


_CHOICE = re.compile(r"\(([^()]*)\)")


def _spelled_out(text: str) -> Iterator[str]:
    r"""The entries of ``text``, one for each choice of its alternatives.

    >>> list(_spelled_out(r"(두|세) 시/\1시"))
    ['*두 시/두시', '세 시/세시']
    """
    parts = _CHOICE.split(text)  # every second one is a choice
    for number, chosen in enumerate(product(*(each.split("|") for each in parts[1::2]))):
        parts[1::2] = chosen
        entry = "".join(parts)
        for group, choice in enumerate(chosen, 1):
            entry = entry.replace(f"\\{group}", choice)
        yield f"*{entry}" if chosen and number % HELD_OUT == 0 and entry[0] != "*" else entry


def _entry(name: str, text: str, word_class: str) -> Entry:
    before, _, pair = text.removeprefix("*").rpartition(":")
    right, slash, wrong = pair.partition("/")
    boundary = _BOUNDARIES.get(word_class, "")
    if word_class == "rows":
        begins, ends = right.startswith("<"), right.endswith(">")
        boundary = _MARKED[begins, ends]
        right, wrong = (each.replace("␣", " ") for each in (right.removeprefix("<").removesuffix(">"), wrong))
    elif word_class == "nouns":
        boundary = "left" if len(right.replace(" ", "")) > SHORT_NOUN else "noun"
    if not (right and slash and wrong) or right in wrong.split("|"):
        raise ValueError(f"{name}: {text!r} should be right/wrong")
    spellings = [right, *wrong.split("|")]
    if word_class in PREDICATES and "·" not in pair:
        spellings = [f"{each}하·{each}해" for each in spellings]
    beside = tuple(before.split("|")) if before else ()
    return Entry(word_class, beside, spellings[0], tuple(spellings[1:]), boundary, text[0] == "*")


@cache  # a form is asked for at several first characters
def _rows(kind: Kind, entry: Entry) -> list[Misspelling]:
    if entry.is_predicate:
        return _rows_of_predicate(kind, entry)
    if len(entry.right) == 1 and entry.word_class != "rows":
        return []
    return [
        Misspelling(kind.name, entry.right, wrong, entry.boundary, entry.held_out) for wrong in entry.wrong
    ]


def _rows_of_predicate(kind: Kind, entry: Entry) -> list[Misspelling]:
    """The rows of its forms.

    A form that may belong to another word counts only after a word of ``beside``: 새처럼 난.
    """
    if entry.word_class == "stems":
        return _rows_of_stem(kind, entry)
    plain, rows = Stem.of(entry.right).plain, []
    for right, wrong in dict.fromkeys(pair for each in entry.wrong for pair in beginnings(entry.right, each)):
        if right in kind.skipped:
            continue
        # 만들 as a whole word, not as the beginning of 만들고
        boundary = "both" if right == plain and wrong.startswith(plain) else "left"
        drops = plain[-1] != right[len(plain) - 1 : len(plain)] and decompose(plain[-1])[2] == "ㄹ"
        ambiguous = len(right) == 1 or (len(plain) == 1 and drops)  # 나니까 may be of 나다 or of 날다
        after = [f"{word} " for word in entry.beside] if kind.needs_context or ambiguous else [""]
        rows += [Misspelling(kind.name, w + right, w + wrong, boundary, entry.held_out) for w in after]
    return rows


def _rows_of_stem(kind: Kind, entry: Entry) -> list[Misspelling]:
    right, before = _whole_forms(entry.right), [f"{word} " for word in entry.beside] or [""]
    return [
        Misspelling(kind.name, w + form, w + wrong, "both" if ends else "left", entry.held_out)
        for each in entry.wrong
        for (form, ends), (wrong, _) in zip(right, _whole_forms(each), strict=True)
        if form != wrong and form not in kind.skipped
        for w in before
    ]


_MACROS = {
    "문장끝": r"(?=요?\s*(?:[.!?~…,]|$))",
    "끝": r"(?![0-9A-Za-z가-힣])",
    "앞": r"(?<![0-9A-Za-z가-힣])",
    "열린": f"[{syllables_with_coda('')}]",
    "닫힌": f"(?![{syllables_with_coda('')}])[가-힣]",  # the others would be a class of 10,773 syllables
}


def expression(text: str) -> str:
    """The regular expression of a pattern as the files have it.

    ``{ㄹ}`` is any syllable with this coda, ``{ㄴㄹ}`` with one of these, ``{열린}`` without one, ``{끝}`` a
    word's end.

    >>> expression("돼{끝}")
    '돼(?![0-9A-Za-z가-힣])'
    """
    return re.sub(
        r"\{([가-힣ㄱ-ㅎ]+)\}", lambda m: _MACROS.get(m[1]) or f"[{syllables_with_coda(*m[1])}]", text
    )


_REFERENCE = re.compile(r"\\(\d)(?:\+([ㄱ-ㅎ-])|:([가-힣]+)→([가-힣]+))?")


def _expand(template: str, match: re.Match[str]) -> str:
    def group(reference: re.Match[str]) -> str:
        text = match[int(reference[1])]
        if reference[3]:
            return text.translate(str.maketrans(reference[3], reference[4]))
        if reference[2] is None:
            return text
        initial, medial, _ = decompose(text[-1])
        return text[:-1] + compose(initial, medial, reference[2].replace("-", ""))

    return _REFERENCE.sub(group, template)
