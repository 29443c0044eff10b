"""Makes (wrong, right) pairs of short notes: lists, tables, headings, chat, mark-up and code.

The corpora are running text. A network that read nothing else is confused by a line that begins with ``*``, a cell that ends with
``|`` or a sentence that ends with ``^^``. It rewrites what stands beside the sign. So pieces of correct sentences are set as notes.
Prose in them is misspelt and mended. Signs, names and figures stay. Text for a machine stays even if it is misspelt, because
``#할수있다`` is right as it is.
"""

import random
from collections.abc import Callable, Sequence

from model.text.hangul import is_syllable
from model.text.protected import protected
from training.noise.pieces import Pieces, RegisterPart, Role, left_alone, verbatim
from training.noise.register_chat import CHAT
from training.noise.register_code import CODE
from training.noise.register_lists import LISTS
from training.noise.register_marks import MARKS

Register = Callable[[Pieces], list[RegisterPart]]
Misspell = Callable[[str, random.Random], str]

# Each group with its share of the notes.
GROUPS: tuple[tuple[tuple[Register, ...], float], ...] = (
    (LISTS, 0.35),
    (CHAT, 0.3),
    (MARKS, 0.2),
    (CODE, 0.15),
)
LONGEST_NOTE = 100  # characters, before anything is misspelt
ATTEMPTS = 4  # draws of a note until it is short enough, and of its mistakes until there is one
LISTED = 0.1  # the share of the other groups' notes that get a bullet
RIGHT_SHARE = 0.3  # the share of notes without a mistake
ERRS = 0.7  # the share of misspelt pieces in the other notes; at least one, if any is long enough
SHORT = 4  # a piece of fewer syllables has too little context to be corrected
SHORT_ERRS = 0.15  # the share of such short pieces that is misspelt all the same
MISTYPED_ALIKE = 0.3  # the share of text for a machine that is misspelt on both sides of the pair


def in_register(sentences: Sequence[str], rng: random.Random) -> list[RegisterPart]:
    """The parts of one note, made of pieces of some of the sentences.

    >>> "".join(part.text for part in in_register(["비가 와서 못 가요."], random.Random(55)))
    '[X] 비가 와서 못 가요'
    """
    groups, shares = [group for group, _ in GROUPS], [share for _, share in GROUPS]
    words = Pieces(sentences, rng)
    for _ in range(ATTEMPTS):
        group = rng.choices(groups, weights=shares)[0]
        parts = rng.choice(group)(words)
        if group is not LISTS and rng.random() < LISTED:
            parts = [left_alone(words.one("* ", "- ", "• ", "1) ", "> ")), *parts]
        if sum(len(part.text) for part in parts) <= LONGEST_NOTE:
            return parts
    return [left_alone("* "), *parts[:1]]


def make_note(sentences: Sequence[str], rng: random.Random, misspell: Misspell) -> tuple[str, str]:
    """(wrong, right) of one note; a third of them are right already.

    ``misspell(text, rng)`` gives a wrong spelling of a piece of prose, for instance that of ``pairs.make_pair``.

    >>> make_note(["비가 안 와요."], random.Random(76), lambda text, rng: text.replace(" ", ""))
    ('• 비가안와요 #와요', '• 비가 안 와요 #와요')
    """
    parts = [_fixed(part, rng, misspell) for part in in_register(sentences, rng)]
    right = "".join(part.text for part in parts)
    if rng.random() < RIGHT_SHARE:
        return right, right
    for _ in range(ATTEMPTS):
        wrong = "".join(_typed(part, rng, misspell) for part in parts)
        if wrong != right:
            break
    return wrong, right


def _fixed(part: RegisterPart, rng: random.Random, misspell: Misspell) -> RegisterPart:
    """Text for a machine, now and then misspelt on both sides; any other part as it is."""
    mistyped = part.role is Role.VERBATIM and rng.random() < MISTYPED_ALIKE
    return verbatim(sparing(misspell, part.text, rng)) if mistyped else part


def _typed(part: RegisterPart, rng: random.Random, misspell: Misspell) -> str:
    errs = part.role is Role.PROSE and rng.random() < _error_rate(part.text)
    return sparing(misspell, part.text, rng) if errs else part.text


def sparing(misspell: Misspell, text: str, rng: random.Random) -> str:
    """The misspelt text; ``text`` itself if the misspelling would change protected characters."""
    typed = misspell(text, rng)
    return typed if protected(typed) == protected(text) else text


def _error_rate(text: str) -> float:
    return ERRS if syllables(text) >= SHORT else SHORT_ERRS


def syllables(text: str) -> int:
    return sum(map(is_syllable, text))
