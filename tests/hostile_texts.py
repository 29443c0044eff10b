"""Generator of adversarial texts: random characters, surrogates, jamo, endless runs.

The same seed makes the same texts.
"""

import random
import sys
from collections.abc import Callable, Iterator

LONGEST = 200  # characters, of all but the endless ones

MARKUP = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style><b>",
    "[a](javascript:alert(1))",
    "$\\frac{1}{0}$",
    "{{7*7}}",
    "${7*7}",
    "%s%n",
    ":red[x]",
    "&#x0;",
    "]]>",
    "'; DROP TABLE texts; --",
)
FORMULAS = (
    "=1+1",
    "+82 10",
    "-2+3",
    "@SUM(A1:A9)",
    '=HYPERLINK("http://x","y")',
    "\t=1",
    "\r=cmd|'/c calc'!A0",
)
CONTROLS = (
    "".join(map(chr, (*range(32), *range(0x7F, 0xA0))))
    + "\u200b\u200d\u202e\u2028\u2029\u2066\ufeff\ufffc\ufffe"
)
HANGUL = "뷁쀍쀏뛟궯가나다안되요ㅋㅠㅁㄴㅇㄹ"


def any_characters(rng: random.Random) -> str:
    """Of all of Unicode, halves of surrogate pairs and unassigned code points included."""
    return "".join(chr(rng.randrange(sys.maxunicode + 1)) for _ in range(rng.randint(1, LONGEST)))


def surrogates(rng: random.Random) -> str:
    return "".join(
        rng.choice((chr(rng.randint(0xD800, 0xDFFF)), "가", " ")) for _ in range(rng.randint(1, LONGEST))
    )


def mixture(parts: str | tuple[str, ...]) -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        return "".join(
            rng.choice(parts) if rng.random() < 0.5 else rng.choice(HANGUL + " .?!")
            for _ in range(rng.randint(1, 40))
        )

    return make


def syllables(rng: random.Random) -> str:
    """Hangul syllables that are neighbours in no word."""
    return "".join(chr(rng.randint(0xAC00, 0xD7A3)) for _ in range(rng.randint(1, LONGEST)))


def jamo(rng: random.Random) -> str:
    """Conjoining jamo, of which some compose to syllables and some do not."""
    return "".join(chr(rng.randint(0x1100, 0x11FF)) for _ in range(rng.randint(1, LONGEST)))


def endless(rng: random.Random) -> str:
    """The same few characters over and over, 40 to 2,000 of them."""
    unit = rng.choice(HANGUL) + rng.choice(("", " ", ".", ". ", rng.choice(HANGUL), "\n"))
    return unit * (rng.choice((40, 127, 128, 129, 500, 2000)) // len(unit))


MAKERS = (
    any_characters,
    surrogates,
    mixture(MARKUP),
    mixture(FORMULAS),
    mixture(CONTROLS),
    syllables,
    jamo,
    endless,
)


def hostile_texts(seed: int, count: int) -> Iterator[str]:
    """``count`` texts, of each kind in turn."""
    rng = random.Random(seed)
    for number in range(count):
        yield MAKERS[number % len(MAKERS)](rng)
