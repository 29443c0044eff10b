"""Makes sentences that contain something a correction must not touch, and checks whether it was touched."""

import random
import re
from dataclasses import dataclass

from model.text import hangul
from model.text.hangul import particle
from training.intact.frames import FILLERS, FRAMES, STORIES
from training.intact.slots import draw, draw_marks
from training.noise.pairs import Writer, make_pair

LONG = "long"
KINDS = (*FRAMES, LONG)
SHORTEST_LONG, LONGEST, TAIL = 100, 128, 12  # characters of a long sentence, and of its end that is watched
ATTEMPTS = 20  # draws of errors that leave the slots alone, before another sentence is drawn

_HOLE = re.compile(r"\{([^{}]+)\}")
_SENTENCE_MARKS = ".,!?~…"


@dataclass(frozen=True)
class Sample:
    """``wrong`` is what is typed, ``right`` what is meant; they are equal in every second sample.

    ``slots`` are the texts that stand verbatim and in this order in both.
    """

    kind: str  # one of KINDS
    wrong: str
    right: str
    slots: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return self.wrong == self.right

    def lost(self, output: str) -> str | None:
        """What ``output`` lost, or what it holds beyond what was typed; None if all is intact.

        All slots have to be there, in order. The characters that are neither Hangul, nor space, nor sentence marks have to be
        those that were typed; otherwise 3 would be found in 13, and a quotation mark could be doubled. A long sentence has to
        end as it did.
        """
        position = 0
        for slot in self.slots:
            found = output.find(slot, position)
            if found < 0:
                return slot
            position = found + len(slot)
        if self.kind == LONG and position != len(output):
            return output[position:]
        typed, left = _foreign(self.wrong), _foreign(output)
        return None if typed == left else f"{typed} -> {left}"


def _foreign(text: str) -> str:
    return "".join(c for c in text if not (hangul.is_hangul(c) or c.isspace() or c in _SENTENCE_MARKS))


def make_samples(count: int, seed: int) -> list[Sample]:
    """``count`` samples, the kinds in turn; of each kind, every second one has errors beside its slots.

    Sample ``i`` is a pure function of ``seed`` and ``i``.
    """
    turns = (divmod(i, len(KINDS)) for i in range(count))
    return [
        make_sample(KINDS[kind], turn % 2 == 1, random.Random(f"{seed} {i}"))
        for i, (turn, kind) in enumerate(turns)
    ]


def make_sample(kind: str, erroneous: bool, rng: random.Random) -> Sample:
    """One sentence of a kind of KINDS, with errors around its slots or without any."""
    while True:
        right, spans = _story(rng) if kind == LONG else fill(rng.choice(FRAMES[kind]), rng)
        clean = Sample(kind, right, right, tuple(right[start:end] for start, end in spans))
        sample = _misspell(clean, spans, rng) if erroneous else clean
        if sample is not None:
            return sample


def fill(frame: str, rng: random.Random) -> tuple[str, list[tuple[int, int]]]:
    """The sentence that a frame becomes, and the spans of its slots in it."""
    marks, text, spans, done, sound = draw_marks(rng), "", [], 0, ""
    for hole in _HOLE.finditer(frame):
        text += frame[done : hole.start()]
        name, done = hole[1], hole.end()
        if "/" in name:
            text += particle(name, sound)
        elif name.startswith("~"):
            sound = rng.choice(FILLERS[name[1:]])
            text += sound
        else:
            filling, sound = (marks[name], sound) if name in marks else _fill(name, rng)
            spans.append((len(text), len(text) + len(filling)))
            text += filling
    return text + frame[done:], spans


def _fill(name: str, rng: random.Random) -> tuple[str, str]:
    slot = draw(name, rng)
    return slot.text, slot.sound


def _story(rng: random.Random) -> tuple[str, list[tuple[int, int]]]:
    *clauses, end = rng.choice(STORIES)
    while True:
        chosen = sorted(rng.sample(range(len(clauses)), rng.randrange(2, len(clauses) + 1)))
        text = " ".join([*(clauses[i] for i in chosen), end])
        if SHORTEST_LONG <= len(text) <= LONGEST:
            return text, [(len(text) - TAIL, len(text))]


def _misspell(clean: Sample, spans: list[tuple[int, int]], rng: random.Random) -> Sample | None:
    """The sentence with errors beside its slots; None if ATTEMPTS draws all hit a slot or did nothing."""
    for attempt in range(ATTEMPTS):
        # Many errors in a sentence often hit a slot, so the later draws make fewer.
        pair = make_pair(clean.right, rng, writer=Writer(1.0 if attempt < ATTEMPTS // 2 else 0.4))
        touched = any(edit.start < end and start < edit.end for edit in pair.edits for start, end in spans)
        if pair.wrong != pair.right and not touched and len(pair.wrong) <= LONGEST:
            return Sample(clean.kind, pair.wrong, pair.right, clean.slots)
    return None
