"""Slips that come from when a key is struck, and from what is written twice or left out.

Each rule is ``rule(draft, rng, rate)``, as in ``typing_slips``: every word where it can act gets one slip with probability
``rate``. A rule touches only words of Hangul that no rule has touched. ``key_slips``, ``syllable_slips`` and
``particle_slips`` say what becomes of a word; here it is decided whether it may stand: not if it is another real word,
which nobody could know for a slip, and not if it looks like laughing or weeping, which no correction touches.
"""

import random
import re
from collections.abc import Callable
from functools import partial
from itertools import accumulate

from model.correction.words import find_words
from model.text.changes import Change, find_changes
from model.text.protected import spares_outcries
from training.noise.draft import Draft
from training.noise.key_slips import (
    composition_broken,
    has_loose_jamo,
    stroke_dropped,
    stroke_repeated,
    strokes_swapped,
)
from training.noise.known_words import known_words
from training.noise.laughter import laughter
from training.noise.particle_slips import particle_doubled, particle_misshaped, word_doubled
from training.noise.syllable_slips import (
    final_added,
    final_lost,
    jamo_exchanged,
    onset_early,
    syllable_doubled,
    syllable_missing,
    syllables_swapped,
)

FAMILY = "typing"
_LAUGHTER = re.compile("[하호히헤흐후크키]{2,}")  # ㅎ하하 would be no slip

# (word, index of a syllable, chance) -> what is written instead; None where there is nothing to do.
Slip = Callable[[str, int, random.Random], str | None]
StrokeRule = Callable[[Draft, random.Random, float], None]

SLIPS: dict[str, Slip] = {
    slip.__name__: slip
    for slip in (
        composition_broken,
        strokes_swapped,
        stroke_repeated,
        stroke_dropped,
        final_added,
        final_lost,
        onset_early,
        syllables_swapped,
        jamo_exchanged,
        syllable_doubled,
        syllable_missing,
        particle_misshaped,
        particle_doubled,
        word_doubled,
    )
}

# How often a slip is of which kind, in percent. Chosen, not counted, so that loose jamo come in about a fifth of the
# sentences, as in people's slips. Kinds that a network learns word by word (a syllable is gone or elsewhere) come more often.
WEIGHTS = {
    "composition_broken": 9,
    "strokes_swapped": 6,
    "stroke_repeated": 5,
    "stroke_dropped": 3,
    "final_added": 10,
    "final_lost": 14,
    "onset_early": 3,
    "syllables_swapped": 14,
    "jamo_exchanged": 4,
    "syllable_doubled": 6,
    "syllable_missing": 10,
    "particle_misshaped": 10,
    "particle_doubled": 3,
    "word_doubled": 3,
}
_NAMES, _CUMULATED = tuple(WEIGHTS), tuple(accumulate(WEIGHTS.values()))

ATTEMPTS = 6  # tries, until a slip of the drawn kind has room in a word
KINDS_TRIED = 16  # kinds that are drawn before a text counts as having no room
COUNTS, COUNT_SHARES = (1, 2, 3), (70, 22, 8)  # slips in a sentence, in percent
SYLLABLES_FOR_EACH = 5  # so many at least, or too little is left to go by
LAUGH_SHARE = 0.1  # of the slipped sentences end in ㅋㅋ, ㅠㅠ or the like, which stays


def _free_words(draft: Draft) -> list[tuple[int, str]]:
    """(where it begins, the word) for each that no rule has touched; not laughing, nor beside a single jamo (ㄱㅅ해요)."""
    free = []
    for start, word in find_words(draft.text):
        end = start + len(word)
        beside = draft.text[max(0, start - 1) : start] + draft.text[end : end + 1]
        untouched = not (draft.edits and draft.touched(start, end))
        if untouched and not has_loose_jamo(beside) and not _LAUGHTER.fullmatch(word):
            free.append((start, word))
    return free


def _try(draft: Draft, rng: random.Random, name: str, start: int, word: str) -> bool:
    """Let a kind of slip act on a word, at a random syllable. False if it cannot, or must not."""
    written = SLIPS[name](word, rng.randrange(len(word)), rng)
    if written is None or written == word or known_words().looks_right(written, word):
        return False
    if not _spares_outcries(draft, start, word, written):
        return False
    _put(draft, name, start, word, written)
    return True


def _spares_outcries(draft: Draft, start: int, word: str, written: str) -> bool:
    """Whether the correction would be accepted. One that removes a weeping letter is not (나ㅜ -> 나무)."""
    before, after = "".join(draft.cells[:start]), "".join(draft.cells[start + len(word) :])
    source = before + written + after
    if not has_loose_jamo(source):
        return True
    first = len(before)
    change = Change(first, first + len(written), first, first + len(word), written, word)
    return spares_outcries(change, source)


def _put(draft: Draft, name: str, start: int, word: str, written: str) -> None:
    """Write it into the cells of the syllables that differ; what has no cell of its own joins the last of them."""
    shorter = min(len(word), len(written))
    same = next((i for i in range(shorter) if word[i] != written[i]), shorter)
    rest = shorter - same
    same_end = next((i for i in range(rest) if word[-1 - i] != written[-1 - i]), rest)
    first, last = same, len(word) - same_end
    if first == last:  # only something added: it joins the syllable before, or the first one
        first, last, same_end = (first - 1, last, same_end) if first else (0, 1, same_end - 1)
    new = written[first : len(written) - same_end]
    count = last - first
    cells = [new[i : i + 1] for i in range(count - 1)] + [new[count - 1 :]]
    draft.put(name, FAMILY, start + first, cells)


def _slip_words(name: str, draft: Draft, rng: random.Random, rate: float) -> None:
    for start, word in _free_words(draft):
        if rng.random() < rate:
            any(_try(draft, rng, name, start, word) for _ in range(ATTEMPTS))


STROKE_RULES: dict[str, StrokeRule] = {name: partial(_slip_words, name) for name in SLIPS}


def slip_of_strokes(draft: Draft, rng: random.Random, count: int) -> int:
    """Make ``count`` slips in as many words and return how many were made; fewer where there is no room for more.

    The kind of each is drawn by ``WEIGHTS``, again where no word has room for it, and the word by the weights of the draft.
    """
    if count < 0:
        raise ValueError(f"count should be 0 or more, received {count}")
    free, made = _free_words(draft), 0
    while free and made < count and (taken := _slip_somewhere(draft, rng, free)):
        free.remove(taken)
        made += 1
    return made


def _slip_somewhere(draft: Draft, rng: random.Random, free: list[tuple[int, str]]) -> tuple[int, str] | None:
    weights = [
        sum(draft.weights[start : start + len(word)]) if draft.weights else float(len(word))
        for start, word in free
    ]
    cumulated = list(accumulate(weights))
    for _ in range(KINDS_TRIED):
        name = rng.choices(_NAMES, cum_weights=_CUMULATED)[0]
        for start, word in rng.choices(free, cum_weights=cumulated, k=ATTEMPTS):
            if _try(draft, rng, name, start, word):
                return start, word
    return None


def make_slipped(text: str, rng: random.Random) -> tuple[str, str]:
    """(wrong, right): a right sentence with one to three slips, now and then with a laugh behind it that stays.

    >>> make_slipped("어제 도서관에서 책을 읽었어요.", random.Random(4))
    ('어제 ㅗㄷ서관에서 책을 읽었어요.', '어제 도서관에서 책을 읽었어요.')

    Both sides are equal only where the text has no room for a slip, as one without Hangul.
    """
    draft = Draft(text)
    most = max(1, sum(len(word) for _, word in find_words(text)) // SYLLABLES_FOR_EACH)
    slip_of_strokes(draft, rng, min(most, rng.choices(COUNTS, COUNT_SHARES)[0]))
    wrong, right = draft.wrong, text
    if wrong != right and rng.random() < LAUGH_SHARE:
        behind = rng.choice(("", " ")) + laughter(rng)
        wrong, right = wrong + behind, right + behind
    return (wrong, right) if _can_be_mended(wrong, right) else (draft.wrong, text)


def _can_be_mended(wrong: str, right: str) -> bool:
    """Whether all changes from wrong to right leave laughing and weeping as they are."""
    if not has_loose_jamo(wrong):
        return True
    return all(spares_outcries(change, wrong) for change in find_changes(wrong, right))
