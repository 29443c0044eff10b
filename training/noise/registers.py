"""Generator of (wrong, right) pairs of short notes and of repetitions.

Running text lacks both.

A network that read nothing but running text is confused by a line that begins with ``*``, a cell that ends
with ``|`` or a sentence that ends with ``^^``, and rewrites the text beside the sign. So pieces of correct
sentences are set as notes: lists, tables, headings, chat, mark-up and code. Prose in them is misspelt and
mended. Signs, names and figures stay. Text for a machine stays even if it is misspelt, because ``#할수있다``
is right as it is.

In a repetition a piece is written again and again: 괜찮아 괜찮아 괜찮아. A network that seldom meets this
loses count and leaves some out. The correction repeats it as often as it was typed.
"""

import random
from collections.abc import Callable, Sequence

from model.text.hangul import is_syllable
from model.text.protected import protected
from training.noise.pieces import LISTS_OF_NOTES, Pieces, Prose, Verbatim
from training.noise.register_kinds import CHAT, CODE, LISTS, MARKS

Misspell = Callable[[str, random.Random], str]

# Each group with its share of the notes.
GROUPS = {LISTS: 0.35, CHAT: 0.3, MARKS: 0.2, CODE: 0.15}
LONGEST_NOTE = 100  # characters, before anything is misspelt
ATTEMPTS = 4  # draws of a note until it is short enough, and of its mistakes until one is made
LISTED = 0.1  # the share of the other groups' notes that get a bullet
RIGHT_SHARE = 0.3  # the share of notes without a mistake
ERRS = 0.7  # the share of misspelt pieces in the other notes; at least one, if any is long enough
SHORT = 4  # a piece of fewer syllables has too little context to be corrected
SHORT_ERRS = 0.15  # the share of such short pieces that is misspelt all the same
MISTYPED_ALIKE = 0.3  # the share of text for a machine that is misspelt on both sides of the pair


def in_register(sentences: Sequence[str], rng: random.Random) -> list[str]:
    """The parts of one note, made of pieces of some of the sentences.

    >>> "".join(in_register(["비가 와서 못 가요."], random.Random(55)))
    '[X] 비가 와서 못 가요'
    """
    words = Pieces(sentences, rng)
    for _ in range(ATTEMPTS):
        group = rng.choices(list(GROUPS), list(GROUPS.values()))[0]
        parts = rng.choice(group)(words)
        if group is not LISTS and rng.random() < LISTED:
            parts = [words.one("* ", "- ", "• ", "1) ", "> "), *parts]
        if sum(map(len, parts)) <= LONGEST_NOTE:
            return parts
    return ["* ", *parts[:1]]


def make_note(sentences: Sequence[str], rng: random.Random, misspell: Misspell) -> tuple[str, str]:
    """(wrong, right) of one note; a third of them are right already.

    ``misspell(text, rng)`` gives a wrong spelling of a piece of prose, for instance that of
    ``pairs.make_pair``.

    >>> make_note(["비가 안 와요."], random.Random(76), lambda text, rng: text.replace(" ", ""))
    ('• 비가안와요 #와요', '• 비가 안 와요 #와요')
    """
    parts = [_fixed(part, rng, misspell) for part in in_register(sentences, rng)]
    right = "".join(parts)
    if rng.random() < RIGHT_SHARE:
        return right, right
    for _ in range(ATTEMPTS):
        wrong = "".join(_typed(part, rng, misspell) for part in parts)
        if wrong != right:
            break
    return wrong, right


def _fixed(part: str, rng: random.Random, misspell: Misspell) -> str:
    """Text for a machine, now and then misspelt on both sides; any other part as it is."""
    mistyped = isinstance(part, Verbatim) and rng.random() < MISTYPED_ALIKE
    return Verbatim(_sparing(misspell, part, rng)) if mistyped else part


def _typed(part: str, rng: random.Random, misspell: Misspell) -> str:
    share = ERRS if _syllables(part) >= SHORT else SHORT_ERRS
    errs = isinstance(part, Prose) and rng.random() < share
    return _sparing(misspell, part, rng) if errs else part


def _sparing(misspell: Misspell, text: str, rng: random.Random) -> str:
    """The misspelt text; ``text`` itself if the misspelling would change protected characters."""
    typed = misspell(text, rng)
    return typed if protected(typed) == protected(text) else text


def _syllables(text: str) -> int:
    return sum(map(is_syllable, text))


LONGEST = 120  # characters of either side
MOST = 20  # times
RIGHT_REPETITIONS = 0.35  # of the repetitions have no mistake
# The same for words of one or two syllables: a mistake in these leaves little to guess from.
SHORT_RIGHT_SHARE = 0.8
ALIKE = 0.7  # of the others have the same mistake each time; else each time is typed anew
EMPHATIC = 0.2  # of the pieces come once, behind a word that is repeated: 정말 정말 고마워


def make_repetition(piece: str, rng: random.Random, misspell: Misspell) -> tuple[str, str]:
    """(wrong, right) of ``piece`` repeated 2 to MOST times, or as often as fits.

    >>> make_repetition("할 수 있다", random.Random(52), lambda text, rng: text.replace(" ", ""))
    ('할수있다! 할수있다! 할수있다!', '할 수 있다! 할 수 있다! 할 수 있다!')
    """
    piece = piece.rstrip(" .!?…~,")
    joint, times, before = rng.choice(LISTS_OF_NOTES["joints"]), rng.randint(2, MOST), ""
    if rng.random() < EMPHATIC:
        joint = rng.choice((" ", " ", ", "))
        emphasis = rng.choice(LISTS_OF_NOTES["emphasis"])
        before = joint.join([emphasis] * min(times, 1 + (LONGEST - len(piece)) // 5)) + " "
        times = 1
    typed = _typed_repetition(piece, times, rng, misspell)
    end = joint.strip() if joint.strip() not in (",", "/", "·") and rng.random() < 0.6 else ""

    def line(said: list[str]) -> str:
        return before + joint.join(said) + end

    while len(typed) > 1 and max(len(line(typed)), len(line([piece] * len(typed)))) > LONGEST:
        typed.pop()
    return line(typed), line([piece] * len(typed))


def _typed_repetition(piece: str, times: int, rng: random.Random, misspell: Misspell) -> list[str]:
    if rng.random() < (RIGHT_REPETITIONS if _syllables(piece) > 2 else SHORT_RIGHT_SHARE):
        return [piece] * times
    if rng.random() >= ALIKE:
        return [_sparing(misspell, piece, rng) for _ in range(times)]
    for _ in range(ATTEMPTS):
        typed = _sparing(misspell, piece, rng)
        if typed != piece:
            break
    return [typed] * times
