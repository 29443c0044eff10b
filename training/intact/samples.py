"""Test sentences with figures, names and addresses, and the check that they are kept.

``python -m training intact`` measures a model on them.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import click

from model import Corrector
from model.analysis.statistics import wilson_interval
from model.text import hangul
from model.text.hangul import particle
from training.documents.render import content
from training.documents.tables import Sources, percent
from training.intact.slots import TEXTS, draw, draw_marks
from training.measure.evaluate import Asked, outcomes_of
from training.measure.metrics import Outcome, none_if_nan, share
from training.measure.report import block_of, run_of, write_numbers
from training.noise.pairs import Writer, make_pair
from training.options import COUNT, command, knob

FRAMES: dict[str, list[str]] = TEXTS["frames"]  # by kind
FILLERS: dict[str, list[str]] = TEXTS["fillers"]
STORIES: list[list[str]] = TEXTS["stories"]
LONG = "long"
KINDS = (*FRAMES, LONG)
SHORTEST_LONG, LONGEST, TAIL = 100, 128, 12  # characters of a long sentence, and of its end that is watched
ATTEMPTS = 20  # draws of errors that leave the slots alone, before another sentence is drawn

_HOLE = re.compile(r"\{([^{}]+)\}")
_SENTENCE_MARKS = ".,!?~…"


@dataclass(frozen=True)
class Sample:
    """``wrong`` is the typed text, ``right`` the intended one; they are equal in every second sample.

    ``slots`` are the texts that stand verbatim and in this order in both.
    """

    kind: str  # one of KINDS
    wrong: str
    right: str
    slots: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong.

        >>> Sample("digits", "3시다", "3시다", ("3",)).clean
        True
        """
        return self.wrong == self.right

    def lost(self, output: str) -> str | None:
        """The part of a slot that ``output`` lost, or its surplus; None if all is intact.

        All slots have to be there, in order. The characters that are neither Hangul, nor space, nor sentence
        marks have to be those that were typed; otherwise 3 would be found in 13, and a quotation mark could
        be doubled. A long sentence has to end as it did.

        >>> Sample("digits", "3시다", "3시다", ("3",)).lost("4시다")
        '3'
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

    >>> len(make_samples(3, seed=0))
    3
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
    """The sentence that a frame becomes, and the spans of its slots in it.

    >>> fill("문의는 없습니다.", random.Random(0))
    ('문의는 없습니다.', [])
    """
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
            if name in marks:
                filling = marks[name]
            else:
                slot = draw(name, rng)
                filling, sound = slot.text, slot.sound
            spans.append((len(text), len(text) + len(filling)))
            text += filling
    return text + frame[done:], spans


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


def lost_of(outcome: Outcome) -> str | None:
    """As ``Sample.lost``, of the correction."""
    return outcome.pair.lost(outcome.text)


def score_intact(kept: Iterable[Outcome]) -> dict[str, Any]:
    """How many samples are intact, and of those that were right already how many stayed as they were, to the
    last character; None for a share of nothing.

    >>> samples = [Sample("digits", "3시다", "3시다", ("3",))]
    >>> found = score_intact(outcomes_of(corrector, samples, batch=64))
    >>> found["intact"], [round(bound, 2) for bound in found["share_95"]], found["clean_untouched"]
    (1, [0.21, 1.0], 1.0)
    """
    kept = list(kept)
    count, intact = len(kept), sum(lost_of(each) is None for each in kept)
    clean = [each for each in kept if each.pair.clean]
    return {
        "count": count,
        "intact": intact,
        "share": none_if_nan(share(intact, count)),
        "share_95": [none_if_nan(bound) for bound in wilson_interval(intact, count)],
        "clean": len(clean),
        "clean_untouched": none_if_nan(share(sum(each.correct for each in clean), len(clean))),
    }


def score_kinds(kept: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
    """The scores of each kind that occurs, in the order of KINDS.

    >>> list(score_kinds(outcomes_of(corrector, [Sample("long", "가", "가", ("가",))], batch=64)))
    ['long']
    """
    groups = defaultdict(list)
    for each in kept:
        groups[each.pair.kind].append(each)
    return {kind: score_intact(groups[kind]) for kind in KINDS if kind in groups}


@dataclass(frozen=True)
class IntactSet(Asked):
    """The options of ``intact``."""

    count: int = knob(1000, "Sentences to make.", type=COUNT)
    json: str | None = knob(None, "Write everything as JSON to this file; - for standard output.")
    show: int = knob(0, "Print this many failures of each sort.", type=click.IntRange(min=0))


@command("intact", asked=IntactSet)
def intact_command(asked: IntactSet) -> None:
    """Measure whether digits, Latin words, addresses, emoji, hanja, quotation marks, unseen names and the
    ends of long sentences come out as they went in. Half of the sentences have errors beside them."""
    corrector = Corrector.load(asked.model, asked.minimum_confidence)
    kept = outcomes_of(corrector, make_samples(asked.count, asked.seed), asked.batch)
    failures = [each for each in kept if lost_of(each) is not None]
    changed = [each for each in kept if each.pair.clean and not each.correct and lost_of(each) is None]
    document = {
        **run_of(corrector, seed=asked.seed),
        "total": score_intact(kept),
        "kinds": score_kinds(kept),
        "failures": list(map(_as_json, failures)),
        "changed": list(map(_as_json, changed)),
    }
    low, high = (percent(bound) for bound in document["total"]["share_95"])
    model = "model: {model} {fingerprint}, minimum confidence {minimum_confidence}".format(**document)
    model += f"; intact of all (95%): {low}–{high}"
    shown = (*failures[: asked.show], *changed[: asked.show])
    texts = [content(Sources(given={"intact": document}), "intact"), model, *map(_shown, shown)]
    click.echo("\n".join(texts), err=asked.json == "-")
    write_numbers(asked.json, document, indent=2)


def _as_json(each: Outcome) -> dict[str, Any]:
    sample = each.pair
    texts = {"wrong": sample.wrong, "right": sample.right, "got": each.text}
    return {"kind": sample.kind, "lost": lost_of(each), **texts}


def _shown(each: Outcome) -> str:
    """The lost part (or that a correct sentence changed), and the three texts."""
    lost = lost_of(each)
    title = "a correct sentence changed" if lost is None else f"lost: {lost}"
    return block_of(f"[{each.pair.kind}] {title}", each.pair, each.text)
