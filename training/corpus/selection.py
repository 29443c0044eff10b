"""Corpus selection: hold-out, sampling weights, spacing filter, vocabulary.

* ``python -m training hold-out`` keeps a part of a corpus away from training, whole documents where the file
  allows it.
* ``copies`` decides how often a sentence is read, by its source: sources that the corpus has too much of are
  read less often.
* ``spacing_faults`` finds sentences in which a space is certainly missing or too many, by their
  morphemes (Kiwi; Lee 2024).
* ``choose_characters`` chooses the characters that the network can produce.

``faults`` knows the commonest mistakes by their letters, but most mistakes are in no list: 책상위에,
보러왔어요, 계시는분, 밥을먹고, 있 습니다. Each of these joins two morphemes between which a space must stand,
or splits one word (한글 맞춤법 제2항, 제41항, 제42항). Kiwi's parts of speech show that. Spaces that may be
right are left out: of 118 such sentences among 21,561, two were right. It takes one to three
milliseconds a sentence, so ask once and keep the answer.
"""

import json
import math
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple

import click

from model.stored.folder import write_atomically
from model.text import hangul
from training.corpus.corpus import CorpusError, Pair, Sentence
from training.options import FILE, NEW_FILE, command

ONE_IN = 25


def held_lines(lines: list[str], one_in: int) -> set[int]:
    """The numbers, from 0, of the last ``1/one_in`` of the rows of each source.

    Where a source's documents follow one another in the file, whole documents are held out, but for one that
    may be cut. Raises CorpusError for a line that is no JSON object.
    """
    rows = defaultdict(list)
    for number, line in enumerate(lines):
        rows[_source(number, line)].append(number)
    return {number for own in rows.values() for number in own[len(own) - len(own) // one_in :]}


def _source(number: int, line: str) -> str:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise CorpusError(f"line {number + 1} should be a JSON object")
    return str(row.get("source") or "")


@command("hold-out")
@click.argument("corpus", type=FILE)
@click.option("--rest", required=True, type=NEW_FILE, help="To train on.")
@click.option("--held", required=True, type=NEW_FILE, help="To measure on.")
@click.option("--one-in", default=ONE_IN, show_default=True, type=click.IntRange(min=2))
def hold_out_command(corpus: Path, rest: Path, held: Path, one_in: int) -> None:
    """Divide CORPUS, JSON Lines with a source in each row, into two files; always in the same way."""
    with corpus.open(encoding="utf-8", newline="\n") as file:  # splitlines would end a line at U+2028, too
        lines = list(file)
    try:
        apart = held_lines(lines, one_in)
    except CorpusError as error:
        raise click.ClickException(f"{corpus}: {error}") from error
    for path, wanted in ((rest, False), (held, True)):
        text = "".join(line for number, line in enumerate(lines) if (number in apart) == wanted)
        write_atomically(path, methodcaller("write", text.encode()))
    click.echo(f"{len(lines) - len(apart):,} rows in {rest}, {len(apart):,} in {held}")


MACHINE_TRANSLATED = "mt"  # names the machine-translated sentences of all sources
PAIRS = "pairs"  # names the pairs of all files


def read_weights(texts: Iterable[str]) -> dict[str, float]:
    """``["statutes=0.25"]`` as a dict. Raises ValueError for anything but a name and a number, 0 or more.

    >>> read_weights(["statutes=0.25"])
    {'statutes': 0.25}
    """
    weights = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        weight = float(value)
        if not name or not 0 <= weight < float("inf"):
            raise ValueError(f"a weight should be a name and a number, 0 or more, received {text!r}")
        weights[name] = weight
    return weights


def weight_of(row: Sentence | Pair, weights: Mapping[str, float]) -> float:
    """The product of the weights whose name is part of the row's source; 1 if there is none.

    >>> weight_of(Pair("머거", "먹어", "a/lessons"), {"pairs": 12, "lessons": 0.5, "mt": 0.3})
    6.0
    """
    source, machine_translated = (
        (row.collection, False) if isinstance(row, Pair) else (row.source, row.machine_translated)
    )
    named = {MACHINE_TRANSLATED: machine_translated, PAIRS: isinstance(row, Pair)}
    return math.prod(weight for name, weight in weights.items() if named.get(name, name in source))


def copies(row: Sentence | Pair, weights: Mapping[str, float], rng: random.Random) -> int:
    """How often a row comes in an epoch. A weight of 1.5 means once or twice, by chance.

    >>> copies(Sentence("가", "news"), {"news": 2}, random.Random(0))
    2
    """
    weight = weight_of(row, weights)
    whole = int(weight)
    return whole + (rng.random() < weight - whole)


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_OBJECTS = _WORDS.pop("objects")
_MOTION, _PLACES, _PLANNED, _ONE_WORD, _DEPENDENT, _WITHOUT = (
    frozenset(_WORDS[name].split())
    for name in ("motion", "places", "planned", "one_word", "dependent", "without")
)
# Endings after a noun of place. With other endings it may be another word: 위 for 위원회 (징계위가),
# the particle 밖에 (너밖에), 속 for a genus (딸기속에 속하는).
_AFTER_PLACE = {
    **dict.fromkeys("앞뒤옆밑", re.compile("(?:에서?|으로|[이가을를은의]|까지|부터)[는도]?(?![가-힣])")),
    **dict.fromkeys("위안속", re.compile("에서?[는도]?(?![가-힣]| 대| 관| 속)")),
    "밖": re.compile("(?:에서|으로|[이을은])[는도]?(?![가-힣])"),
}
_ENDING = re.compile("게|걸(?![가-힣])|뿐더러")  # of 할게요, 좋던걸, 없을뿐더러
_NO_JOINT = re.compile("(?:지난[날번]|바른말|고운말|거센말|여린말|작은말)$")  # words (표준국어대사전)
_HANGUL = re.compile("[가-힣]")
_FIRST_WORD = re.compile("[가-힣]+")
_LAST_WORD = re.compile("[가-힣]*$")


class Morpheme(NamedTuple):
    """A morpheme of a text; Kiwi's tokens have the same fields."""

    form: str
    tag: str
    start: int
    end: int


class SpacingFault(NamedTuple):
    """Two morphemes without the space that must stand between them, or with a space that must not."""

    kind: str
    position: int  # of the character behind the missing or wrong space


def spacing_faults(text: str, morphemes: Sequence[Morpheme]) -> Iterator[SpacingFault]:
    """Every place of a text, cut into these morphemes, whose spacing is almost certainly wrong.

    >>> morphemes = [Morpheme("있", "VV", 0, 1), Morpheme("습니다", "EF", 2, 5)]
    >>> [*spacing_faults("있 습니다", morphemes)]
    [SpacingFault(kind='ending cut off', position=2)]
    """
    for index, (before, after) in enumerate(pairwise(morphemes), 1):
        if not (before.start < before.end and _HANGUL.match(text, after.start)):
            continue
        if before.end == after.start:
            kind = _kind(text, before, after)
        else:
            kind = _split_kind(text, before, morphemes[index:])
        if kind:
            yield SpacingFault(kind, after.start)


def _split_kind(text: str, before: Morpheme, behind: Sequence[Morpheme]) -> str | None:
    """Endings wrongly separated from the word: 있 습니다, 대한민국 에게도, 호전 되다 (제2항, 제41항)."""
    after = behind[0]
    if text[before.end : after.start] != " " or not _HANGUL.match(text[before.end - 1]):
        return None
    if after.tag[0] == "E":
        return "ending cut off"
    if after.tag == "XSV" and after.form in ("되", "시키") and before.tag == "NNG" and len(before.form) > 1:
        return "suffix cut off"
    if after.tag[0] == "J" and after.tag != "JC" and before.tag[:2] in ("NN", "NP"):
        found = _FIRST_WORD.match(text, after.start)
        assert found, "a morpheme stands there"
        word = found.end()
        rest = [morpheme for morpheme in behind[:3] if morpheme.start < word]
        whole = rest[-1].end == word and all(morpheme.tag[0] == "J" for morpheme in rest)
        return "particle cut off" if whole else None
    return None


def _kind(text: str, before: Morpheme, after: Morpheme) -> str | None:
    word = _LAST_WORD.search(text[: after.start])
    written = len(word[0]) if word else 0  # syllables of the word, up to here
    if written < 2:
        return None
    is_verb, is_noun = after.tag.startswith(("VV", "VA")), before.tag in ("NNG", "NNP")
    match before.tag.split("-")[0]:
        case "ETM" if after.tag in ("NNB", "NNG"):
            if _NO_JOINT.search(text, 0, after.end) or _ENDING.match(text, after.start):
                return None
            far = written > 2 and len(after.form) > 1 and before.form != "ᆫ"
            return "modifier and noun" if far or after.form in _DEPENDENT else None
        case "EC" if before.form in ("러", "으러") and is_verb and after.form in _MOTION:
            return "purpose and motion" if _HANGUL.match(text[after.start + 1 :]) else None  # 렌더러가
        case "EC" if before.form in ("으며", "지만") and after.tag[0] in "NM":
            return "clause and clause"
        case "JKO" | "JKS" | "JKB" if (
            written > 2 and is_verb and after.form not in ("나", "들", "서", "있", "하")
        ):
            return "particle and verb"
        case "NNG" if len(before.form) > 1 and after.tag == "NNG" and after.form in _PLACES:
            return "noun and place" if _is_place(text, before, after) else None
    if is_noun and is_verb and before.form in _OBJECTS.get(after.form, "").split():
        return "object and verb"
    said = (after.form, after.tag) in (("좀", "MAG"), ("없이", "MAG"), ("같", "VA"))
    if said and is_noun and len(before.form) > 1 and before.form not in _WITHOUT:
        return "noun and what is said of it"
    if before.tag == "NNP" and len(before.form) > 2 and (after.form, after.tag) == ("씨", "NNB"):
        return "name and title"
    return None


def _is_place(text: str, noun: Morpheme, place: Morpheme) -> bool:
    """Whether the noun names a place and both are not one word: 책상위에, but not 마음속에 or 개편안을."""
    if noun.form in _ONE_WORD or (place.form == "안" and noun.form in _PLANNED):
        return False
    return bool(_AFTER_PLACE[place.form].match(text, place.end))


ASCII = tuple(map(chr, range(0x20, 0x7F)))
COMPATIBILITY_JAMO = tuple(map(chr, range(0x3131, 0x3164)))  # ㄱ … ㅣ, as in ㅋㅋ and ㅠㅠ


def choose_characters(sentences: Iterable[str], minimum_count: int = 20) -> tuple[str, ...]:
    """KS X 1001 syllables, ASCII and jamo, and whatever else of Hangul and punctuation the
    sentences hold at least ``minimum_count`` times, in code point order. Letters of other scripts
    (hanja, Cyrillic, …) stay outside: the network copies them verbatim.

    >>> "가" in choose_characters([]), "ㅋ" in choose_characters([])
    (True, True)
    >>> "漢" in choose_characters(["漢字"] * 100)
    False
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    base = {*hangul.KS_X_1001_SYLLABLES, *ASCII, *COMPATIBILITY_JAMO}
    frequent = {
        character
        for character, count in counts.items()
        if count >= minimum_count and (hangul.is_syllable(character) or not character.isalpha())
    }
    return tuple(sorted(character for character in base | frequent if character.isprintable()))
