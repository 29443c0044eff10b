"""Random texts that a correction must keep: figures, Latin words, addresses, emoji, names."""

import random
import re
import string
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.text import hangul
from training.noise.pieces import simple_syllables


@dataclass(frozen=True)
class Slot:
    """``text`` as written in the sentence; ``reading``, where given, is how it sounds at its end."""

    text: str
    reading: str = ""

    @property
    def sound(self) -> str:
        """The reading, or the text where that is how it sounds.

        >>> Slot("3kg", "킬로그램").sound, Slot("사과").sound
        ('킬로그램', '사과')
        """
        return self.reading or self.text


TEXTS = tomllib.loads(Path(__file__).with_name("frames.toml").read_text("utf-8"))
_SLOTS = TEXTS["slots"]
# Words, units and hanja with their readings; the kinds of mark for each use.
WORDS, NAME_PARTS, UNITS, READINGS, MARKS = (
    _SLOTS[name] for name in ("words", "name_parts", "units", "readings", "marks")
)
EXTENSIONS, SUFFIXES, HANJA, STATES, EMOJI = (
    _SLOTS[name].split() for name in ("extensions", "suffixes", "hanja", "states", "emoji")
)
SURNAMES, PLACE_ENDINGS = _SLOTS["surnames"].split(), _SLOTS["place_endings"]
# R is read as 아르 or as 알: either form of a particle is right.
_CAPITALS = string.ascii_uppercase.replace("R", "")
CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxz", "aeiou"


def draw_marks(rng: random.Random) -> dict[str, str]:
    """For one sentence: the mark in place of each mark of a frame.

    >>> sorted(draw_marks(random.Random(0)))[0]
    '('
    """
    return {
        general: chosen
        for pair, kinds in MARKS.items()
        for general, chosen in zip(pair, rng.choice(kinds), strict=True)
    }


def draw(name: str, rng: random.Random) -> Slot:
    """A random filling for the hole ``name`` of a frame. Raises KeyError for an unknown hole."""
    made = _MAKERS[name](rng)
    return made if isinstance(made, Slot) else Slot(made)


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(string.digits, k=count))


def _pseudo_word(rng: random.Random, syllables: int) -> str:
    """Sounds like a word and, by ending in a vowel, n, l or m, agrees with the name of its last letter."""
    word = "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(syllables))
    return word + rng.choice(("", "", "n", "l", "m"))


# A blank of a shape: a number of a range, perhaps with leading zeros; so many digits; one of some texts.
_BLANK = re.compile(r"\{(?:(\d+)-(\d+)(:\d+)?|(#+)|([^}]*))\}")


def _shaped(shapes: str | list[str], rng: random.Random) -> str:
    """One of the shapes with its blanks filled.

    >>> _shaped("{1-9}.{##}{,!}", random.Random(0))
    '7.74!'
    """

    def fill(blank: re.Match[str]) -> str:
        least, most, zeros, digits, texts = blank.groups()
        if least:
            return format(rng.randrange(int(least), int(most) + 1), (zeros or "").removeprefix(":"))
        return _digits(rng, len(digits)) if digits else rng.choice(texts.split(","))

    return _BLANK.sub(fill, rng.choice(shapes) if isinstance(shapes, list) else shapes)


def _measure(rng: random.Random) -> Slot:
    unit = rng.choice(list(UNITS))
    amount = rng.choice((f"{rng.randrange(1, 900)}", f"{rng.randrange(1, 99)}.{rng.randrange(1, 10)}"))
    return Slot(amount + unit, UNITS[unit])


def _word(rng: random.Random) -> Slot:
    return Slot(*rng.choice(list(WORDS.items())))


def _identifier(rng: random.Random) -> Slot:
    parts = rng.sample(list(NAME_PARTS), 2)
    shapes = (
        "_".join(parts),
        "_".join(parts).upper(),
        parts[0] + parts[1].title(),
        "".join(map(str.title, parts)),
        ".".join(parts) + "()",
        f"{parts[0]}[{rng.randrange(10)}].{parts[1]}",
        f"--{'-'.join(parts)}",
        f"__{'_'.join(parts)}__",
    )
    return Slot(rng.choice(shapes), NAME_PARTS[parts[1]])


def _file(rng: random.Random) -> str:
    stem = rng.choice(("_", "-", "")).join(rng.sample(list(NAME_PARTS), 2))
    return f"{stem}{rng.choice(('', '_v2', '(1)', _digits(rng, 4)))}.{rng.choice(EXTENSIONS)}"


def _product(rng: random.Random) -> str:
    def letters(count: int) -> str:
        return "".join(rng.choices(_CAPITALS, k=count))

    word = _pseudo_word(rng, rng.choice((1, 2, 3))).title()
    shapes = (
        f"{letters(2)}-{_digits(rng, 4)}{letters(1)}",
        f"{letters(1)}{_digits(rng, 3)}",
        f"{letters(2)}-{letters(1).lower()}{_digits(rng, 4)}",
        f"{rng.randrange(2, 10)}{letters(1)}-{letters(1)}{rng.randrange(2, 10)}",
        f"{letters(1)}{_digits(rng, 3)}{letters(1)}-{letters(1)}",
        f"{word} {rng.randrange(2, 40)}",
        f"{word}{rng.randrange(2, 40)} {rng.choice(SUFFIXES)}",
        f"{word} {letters(2)}{rng.randrange(2, 90)}",
    )
    return rng.choice(shapes)


def _host(rng: random.Random) -> str:
    word = _pseudo_word(rng, rng.choice((2, 3)))
    return word + rng.choice(("", "-" + _pseudo_word(rng, 1), _digits(rng, 2)))


def _url(rng: random.Random) -> str:
    host = _host(rng) + rng.choice((".com", ".kr", ".co.kr", ".org", ".io"))
    start = rng.choice(("https://", "https://www.", "http://", "www."))
    ends = (
        "",
        f"/{_pseudo_word(rng, 2)}/{_digits(rng, 5)}",
        f"/view?id={_digits(rng, 6)}&lang=ko",
        f"/{_pseudo_word(rng, 2)}.html#top-{_digits(rng, 1)}",
        f":8080/~{_pseudo_word(rng, 1)}/",
        "/%ED%95%9C%EA%B8%80",
        "/문서/한글",
    )
    return start + host + rng.choice(ends)


def _email(rng: random.Random) -> str:
    user = rng.choice(("{}", "{}.{}", "{}_{}", "{}+{}"))
    user = user.format(_pseudo_word(rng, 2), _pseudo_word(rng, 1)) + rng.choice(("", _digits(rng, 2)))
    return f"{user}@{_host(rng)}{rng.choice(('.com', '.org', '.io'))}"


def _hanja(rng: random.Random) -> str:
    rare = chr(rng.randrange(0x4E00, 0xA000))
    compatible = chr(rng.randrange(0xF900, 0xFA0C))  # Korean keyboards give these for a second reading
    return rng.choice((rng.choice(HANJA), rng.choice(HANJA), rare, rare + rng.choice(HANJA), compatible))


def _glossed(rng: random.Random) -> str:
    hanja = rng.choice(list(READINGS))
    return f"{READINGS[hanja]}({hanja})"


def _syllables(rng: random.Random, count: int) -> str:
    """Random syllables of single consonants, vowels of transliteration and the codas ㄱㄴㄹㅁㅂㅇ or none."""
    return simple_syllables(rng, count, "ㅏㅓㅗㅜㅡㅣㅐㅔ", ("", "", "", *"ㄱㄴㄹㅁㅂㅇ"))


def _person(rng: random.Random) -> str:
    anything = "".join(
        chr(hangul.FIRST_SYLLABLE + rng.randrange(hangul.SYLLABLE_COUNT)) for _ in range(rng.choice((2, 3)))
    )
    foreign = _syllables(rng, rng.choice((3, 4, 5)))
    return rng.choice((rng.choice(SURNAMES) + _syllables(rng, 2), foreign, foreign, anything))


def _place(rng: random.Random) -> str:
    return _syllables(rng, rng.choice((2, 3, 4))) + rng.choice(PLACE_ENDINGS)


_MAKERS: dict[str, Callable[[random.Random], str | Slot]] = {
    **{name: partial(_shaped, shapes) for name, shapes in TEXTS["shapes"].items()},
    "measure": _measure,
    "percent": lambda rng: Slot(_shaped("{,,-,±}{0-99}.{1-99}%", rng), "퍼센트"),
    "price": lambda rng: f"{rng.randrange(1, 10 ** rng.randrange(4, 10)):,}",
    "word": _word,
    "acronym": lambda rng: "".join(rng.choices(_CAPITALS, k=rng.randrange(2, 6))),
    "identifier": _identifier,
    "file": _file,
    "product": _product,
    "url": _url,
    "email": _email,
    "emoji": lambda rng: rng.choice(EMOJI),
    "hanja": _hanja,
    "glossed": _glossed,
    "states": lambda rng: rng.choice(STATES),
    "person": _person,
    "place": _place,
}
