"""Noun replacement (data augmentation): right sentences with other nouns in them.

So a network meets more words than the corpora have: one that has read 포장 often and 파종 never takes 파종
for a slip. A noun is replaced by another of its kind (``nouns.txt``), and the particle after it gets the
right form (``model.text.hangul``). The sentence may make little sense, but its grammar and spelling stay
right.

``python -m training.noise.lexicon`` writes ``nouns.txt`` in about three minutes. Kiwi (Lee 2024) knows
117,000 nouns, their frequency, and how similarly two words are used. A frequent noun shares a line with those
that are used most like it (책상 beside 의자, 부산 beside 대구). Kiwi knows too little about the rarer ones.
Since a Korean compound is named by its end, those share a line with nouns of the same last syllable and
length (개척지 beside 거주지); rare nouns of two syllables are all in one. Left out are the rarest nouns,
dialect, and forms that look like a misspelling of a commoner noun (버쓰 beside 버스); nouns that Kiwi does
not read as nouns before each of the usual particles (가지는 may be a verb); and nouns that are more grammar
than thing (경우, 정도). The list is shipped, since machines for training need not have Kiwi's model.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from model.correction.morphemes import load_kiwi  # Kiwi itself, of which the list needs more than the product
from model.text import hangul
from model.text.hangul import particle
from training.noise import read_lines, words_of

MOST_REPLACED = 2  # nouns of one sentence
RARE_SHARE = 0.4  # of the new nouns are rare ones of the same ending, if it has any
ATTEMPTS = 4  # draws of a noun, until one does not look like a slip in the old noun

_LISTS = words_of("lexicon")
_AFTER_TWO = {"과/와": "는 도 의", "으로/로": "는 도 만 부터 서 써"}  # parts that may follow these
# A particle -> its two forms, "after a consonant/after a vowel".
_FORMS = {form: form for form in _LISTS["alike"]}
for _pair in _LISTS["by_sound"]:
    for _more in ("", *_AFTER_TWO.get(_pair, "").split()):
        _forms = "/".join(form + _more for form in _pair.split("/"))
        _FORMS |= dict.fromkeys(_forms.split("/"), _forms)
_WORD = re.compile(
    rf"(?<![가-힣\w])([가-힣]{{2,6}}?)({'|'.join(sorted(_FORMS, key=len, reverse=True))})(?![가-힣\w])"
)


class NounPlace(NamedTuple):
    """A noun in a text with its particle."""

    start: int
    noun: str
    particle: str

    def put(self, text: str, noun: str) -> str:
        """The text with another noun here, and the particle in the shape that follows it.

        >>> NounPlace(0, "연필", "을").put("연필을 샀다.", "지우개")
        '지우개를 샀다.'
        """
        end = self.start + len(self.noun) + len(self.particle)
        return text[: self.start] + noun + _agree(self.particle, noun) + text[end:]

    @property
    def either_shape(self) -> str:
        """The particle as it follows a word that is not known yet.

        >>> NounPlace(0, "연필", "을").either_shape, NounPlace(0, "집", "에서").either_shape
        ('을(를)', '에서')
        """
        one, _, other = _FORMS[self.particle].partition("/")
        if not other:
            return one
        return f"({one[0]}){other}" if one.endswith(other) else f"{one}({other})"


@cache
def noun_lines() -> tuple[str, ...]:
    """The lines of ``nouns.txt``: ``=`` and nouns used alike, or ``~`` and rare nouns of one ending."""
    return read_lines("nouns.txt")


class Lexicon:
    """Nouns by kind.

    >>> Lexicon(["= 연필 지우개"]).vary("연필을 샀다.", random.Random(0))
    '지우개를 샀다.'
    """

    def __init__(self, lines: Iterable[str] | None = None):
        self.kinds: dict[str, list[str]] = {}  # noun -> nouns of its kind, itself among them
        self.rare: dict[tuple[str, int], list[str]] = {}  # by ``ending_of``
        for line in noun_lines() if lines is None else lines:
            mark, *nouns = line.split(" ")
            self.kinds |= dict.fromkeys(nouns, nouns)
            if mark == "~":
                self.rare[_ending_of(nouns[0])] = nouns

    def places(self, text: str) -> list[NounPlace]:
        """The nouns of the list in a text, with a particle of the right form.

        >>> Lexicon(["= 연필 지우개"]).places("연필을 샀다.")
        [NounPlace(start=0, noun='연필', particle='을')]
        """
        found = []
        for match in _WORD.finditer(text):
            noun, ending = match.groups()
            if noun in self.kinds and _agree(ending, noun) == ending:
                found.append(NounPlace(match.start(), noun, ending))
        return found

    def vary(self, text: str, rng: random.Random) -> str:
        """The text with one or two other nouns; as it is where none of its nouns is known."""
        places = self.places(text)
        chosen = rng.sample(places, min(len(places), rng.randint(1, MOST_REPLACED)))
        for place in sorted(chosen, reverse=True):
            text = place.put(text, self._other(place.noun, rng))
        return text

    def _other(self, noun: str, rng: random.Random) -> str:
        for _ in range(ATTEMPTS):
            rare = self.rare.get(_ending_of(noun)) if rng.random() < RARE_SHARE else None
            other = rng.choice(rare or self.kinds[noun])
            if _unlike(other, noun):
                return other
        return noun


def _ending_of(noun: str) -> tuple[str, int]:
    """The key of a line of rare nouns: last syllable and length; of two syllables the length alone."""
    return noun[-1] if len(noun) > 2 else "", len(noun)


def _unlike(noun: str, other: str) -> bool:
    """Whether the nouns differ in two syllables.

    With 풍우 for 경우 the network would learn that slips in a frequent noun are meant.
    """
    return len(noun) != len(other) or sum(a != b for a, b in zip(noun, other, strict=True)) > 1


def _agree(ending: str, noun: str) -> str:
    forms = _FORMS[ending]
    return particle(forms, noun) if "/" in forms else forms


PATH = Path(__file__).with_name("nouns.txt")
FREQUENT, RARE = 24_000, 50_000  # Kiwi numbers morphemes by frequency; a smaller number is more frequent
FREQUENT_NAMES = 30_000
MOST_ALIKE = 60  # similar nouns of Kiwi
ALIKE = 0.4  # cosine of the two words' vectors, at least
MOST_IN_LINE, FEWEST_IN_LINE = 40, 3
_PARTICLES = ("은/는", "이/가", "을/를", "과/와", "으로/로", "에", "도", "만", "에서")
_WORD_noun_list = re.compile("[가-힣]{2,6}")
# If the commoner reading of a form has one of these tags, the form is left out: 가지, 오늘.
_OTHER_TAGS = ("NNB", "NP", "NR", "MAG", "MAJ", "MM", "IC")
_COARSE = re.compile(
    "육갑|[놈년]$|씨발|씹|좆|새끼|창녀|콜걸|보지$|자지$|섹스|강간|매춘|포르노|자위|성교|병신|지랄"
)
# 버쓰 and 버스, 셰익스피어 and 쉐익스피어, 메세지 and 메시지: spelt apart only by these.
_ONE_SOUND = str.maketrans("ㄲㄸㅃㅆㅉㅔㅖㅒㅙㅞㅕㅛㅠㅑ", "ㄱㄷㅂㅅㅈㅐㅐㅐㅚㅚㅓㅗㅜㅏ")

Noun = tuple[int, str, str]  # number, form, tag


def _frequent_first(kiwi: Any) -> list[Noun]:
    """Kiwi's nouns of two syllables or more, the most frequent first, without forms that are more often
    something else.
    """
    nouns, taken = [], set()
    for number in range(RARE):
        morpheme = kiwi.morpheme(number)
        form, tag = morpheme.form, morpheme.tag.split("-")[0]
        limit = {"NNG": RARE, "NNP": FREQUENT_NAMES}.get(tag, 0)
        unusable = form in taken or form in _LISTS["grammar"] or _COARSE.search(form)
        if number < limit and not unusable and _WORD_noun_list.fullmatch(form):
            nouns.append((number, form, tag))
        if tag in ("NNG", "NNP", *_OTHER_TAGS):
            taken.add(form)
    return nouns


def well_spelt(nouns: Iterable[Noun]) -> list[Noun]:
    """The nouns without those that differ from a commoner one only in sounds that are easily confused.

    >>> well_spelt([(1, "버스", "NNG"), (2, "버쓰", "NNG")])
    [(1, '버스', 'NNG')]
    """
    kept, sounds = [], set()
    for noun in nouns:
        sound = "".join("".join(hangul.decompose(each)) for each in noun[1]).translate(_ONE_SOUND)
        if sound not in sounds:
            kept.append(noun)
            sounds.add(sound)
    return kept


def is_safe(kiwi: Any, form: str) -> bool:
    """Whether Kiwi reads the form as one noun before all of the usual particles."""
    for forms in _PARTICLES:
        word = form + (particle(forms, form) if "/" in forms else forms)
        tokens = kiwi.tokenize(word)
        if len(tokens) != 2 or tokens[0].form != form or tokens[0].tag[:2] != "NN" or tokens[1].tag[0] != "J":
            return False
    return True


def _alike(kiwi: Any, nouns: list[Noun]) -> list[list[str]]:
    """Lines of nouns that are used alike. A noun is in one line at most."""
    waiting = {number: (form, tag) for number, form, tag in nouns}
    lines = []
    for number, form, tag in nouns:
        if waiting.pop(number, None):
            line = [form]
            for other in kiwi.most_similar_morphemes(number, top_n=MOST_ALIKE):
                if (
                    other.score >= ALIKE
                    and len(line) < MOST_IN_LINE
                    and waiting.get(other.id, ("", ""))[1] == tag
                ):
                    line.append(waiting.pop(other.id)[0])
            lines.append(line)
    return [line for line in lines if len(line) >= FEWEST_IN_LINE]


def of_one_ending(nouns: Iterable[Noun]) -> list[list[str]]:
    """Lines of nouns with the same last syllable and length; all nouns of two syllables in one line.

    >>> of_one_ending([(1, "거주지", "NNG"), (2, "개척지", "NNG"), (3, "목적지", "NNG")])
    [['거주지', '개척지', '목적지']]
    """
    lines = defaultdict(list)
    for _, form, _ in nouns:
        lines[_ending_of(form)].append(form)
    return [line for line in lines.values() if len(line) >= FEWEST_IN_LINE]


def main() -> None:
    kiwi = load_kiwi()
    nouns = [noun for noun in well_spelt(_frequent_first(kiwi)) if is_safe(kiwi, noun[1])]
    frequent = [noun for noun in nouns if noun[0] < FREQUENT or noun[2] == "NNP"]
    rare = [noun for noun in nouns if noun[0] >= FREQUENT and noun[2] == "NNG"]
    lines = [" ".join(["=", *line]) for line in _alike(kiwi, frequent)]
    lines += [" ".join(["~", *line]) for line in of_one_ending(rare)]
    PATH.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{PATH}: {sum(line.count(' ') for line in lines):,} nouns, {PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
