"""Makes pairs in which something is said again and again: 괜찮아 괜찮아 괜찮아, 할수있다 할수있다.

A network that seldom meets this loses count and leaves some out. The correction repeats it as often as it was typed.
"""

import random

from training.noise.registers import Misspell, sparing, syllables

LONGEST = 120  # characters of either side
MOST = 20  # times
RIGHT_SHARE = 0.35  # of the repetitions have no mistake
# The same for words of one or two syllables: a mistake in these leaves little to guess from.
SHORT_RIGHT_SHARE = 0.8
ALIKE = 0.7  # of the others have the same mistake each time; else each time is typed anew
EMPHATIC = 0.2  # of the pieces are said once, behind a word that is repeated: 정말 정말 고마워
ATTEMPTS = 4  # draws of a mistake, until one changes the text
_EMPHASIS = (
    "정말 너무 진짜 아주 매우 빨리 꼭 제발 또 많이 더 참 훨씬 점점 다시 계속 자꾸 천천히 조금 절대 오래 매일 아니 네 자 와 야 어서"
).split()
_JOINTS = (
    *(" ",) * 6,
    ", ",
    ", ",
    "! ",
    "~ ",
    ". ",
    "!! ",
    "... ",
    "? ",
    " / ",
    "/",
    " ㅋㅋ ",
    ",",
    "~",
    "·",
)


def make_repetition(piece: str, rng: random.Random, misspell: Misspell) -> tuple[str, str]:
    """(wrong, right) of ``piece`` repeated 2 to MOST times, or as often as there is room for.

    >>> make_repetition("할 수 있다", random.Random(52), lambda text, rng: text.replace(" ", ""))
    ('할수있다! 할수있다! 할수있다!', '할 수 있다! 할 수 있다! 할 수 있다!')
    """
    piece = piece.rstrip(" .!?…~,")
    joint, times, before = rng.choice(_JOINTS), rng.randint(2, MOST), ""
    if rng.random() < EMPHATIC:
        joint = rng.choice((" ", " ", ", "))
        before = joint.join([rng.choice(_EMPHASIS)] * min(times, 1 + (LONGEST - len(piece)) // 5)) + " "
        times = 1
    typed = _typed(piece, times, rng, misspell)
    end = joint.strip() if joint.strip() not in (",", "/", "·") and rng.random() < 0.6 else ""

    def line(said: list[str]) -> str:
        return before + joint.join(said) + end

    while len(typed) > 1 and max(len(line(typed)), len(line([piece] * len(typed)))) > LONGEST:
        typed.pop()
    return line(typed), line([piece] * len(typed))


def _typed(piece: str, times: int, rng: random.Random, misspell: Misspell) -> list[str]:
    if rng.random() < (RIGHT_SHARE if syllables(piece) > 2 else SHORT_RIGHT_SHARE):
        return [piece] * times
    if rng.random() < ALIKE:
        return [_misspelt(piece, rng, misspell)] * times
    return [sparing(misspell, piece, rng) for _ in range(times)]


def _misspelt(piece: str, rng: random.Random, misspell: Misspell) -> str:
    typed = piece
    for _ in range(ATTEMPTS):
        typed = sparing(misspell, piece, rng)
        if typed != piece:
            break
    return typed
