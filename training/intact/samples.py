"""Test sentences with figures, names and addresses, and the check that they are kept.

``python -m training intact`` measures a model on them.
"""

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from model.correction.answers import AnswersMany
from model.text import hangul
from model.text.hangul import particle
from training.intact.slots import draw, draw_marks
from training.measure.evaluate import load_corrector
from training.measure.metrics import none_if_nan, share, wilson_interval
from training.measure.report import open_console, percent, write_json
from training.noise.pairs import Writer, make_pair

_TEXTS = tomllib.loads((Path(__file__).parent / "frames.toml").read_text("utf-8"))
FRAMES: dict[str, list[str]] = _TEXTS["frames"]  # by kind
FILLERS: dict[str, list[str]] = _TEXTS["fillers"]
STORIES: list[list[str]] = _TEXTS["stories"]
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


@dataclass(frozen=True)
class KeptSample:
    """One sample and the model's correction."""

    sample: Sample
    text: str

    @property
    def lost(self) -> str | None:
        """As ``Sample.lost``, of the correction.

        >>> KeptSample(Sample("digits", "3시다", "3시다", ("3",)), "시다").lost
        '3'
        """
        return self.sample.lost(self.text)

    @property
    def changed(self) -> bool:
        """Whether a sentence that was already right was changed.

        >>> KeptSample(Sample("digits", "3시다", "3시다", ("3",)), "3시다.").changed
        True
        """
        return self.sample.clean and self.text != self.sample.right

    def as_json(self) -> dict:
        sample = self.sample
        texts = {"wrong": sample.wrong, "right": sample.right, "got": self.text}
        return {"kind": sample.kind, "lost": self.lost, **texts}


@dataclass(frozen=True)
class IntactScores:
    """How much of a set of samples came out as it went in."""

    count: int
    intact: int
    clean: int  # samples that were right already
    untouched: int  # of them, those left as they were, to the last character

    @property
    def share(self) -> float:
        """The share of samples that are intact.

        >>> IntactScores(4, 3, 0, 0).share
        0.75
        """
        return share(self.intact, self.count)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of ``share``.

        >>> [round(each, 2) for each in IntactScores(4, 4, 0, 0).interval]
        [0.51, 1.0]
        """
        return wilson_interval(self.intact, self.count)

    @property
    def clean_untouched(self) -> float:
        """The share of right samples that were left as they are.

        >>> IntactScores(4, 3, 2, 1).clean_untouched
        0.5
        """
        return share(self.untouched, self.clean)

    def as_json(self) -> dict:
        return {
            "count": self.count,
            "intact": self.intact,
            "share": none_if_nan(self.share),
            "share_95": [none_if_nan(bound) for bound in self.interval],
            "clean": self.clean,
            "clean_untouched": none_if_nan(self.clean_untouched),
        }


def correct_samples(corrector: AnswersMany, samples: Sequence[Sample], batch: int = 64) -> list[KeptSample]:
    """Let the model correct every sample, ``batch`` at a time."""
    kept = []
    for start in range(0, len(samples), batch):
        chunk = samples[start : start + batch]
        corrections = corrector.correct_batch([sample.wrong for sample in chunk])
        kept += [KeptSample(sample, made.text) for sample, made in zip(chunk, corrections, strict=True)]
    return kept


def score_intact(kept: Iterable[KeptSample]) -> IntactScores:
    """Count over any samples and their corrections.

    >>> score_intact([KeptSample(Sample("digits", "3시다", "3시다", ("3",)), "3시다")]).intact
    1
    """
    kept = list(kept)
    clean = [each for each in kept if each.sample.clean]
    return IntactScores(
        count=len(kept),
        intact=sum(each.lost is None for each in kept),
        clean=len(clean),
        untouched=sum(not each.changed for each in clean),
    )


def score_kinds(kept: Iterable[KeptSample]) -> dict[str, IntactScores]:
    """The scores of each kind that occurs, in the order of KINDS.

    >>> list(score_kinds([KeptSample(Sample("long", "가", "가", ("가",)), "가")]))
    ['long']
    """
    groups = defaultdict(list)
    for each in kept:
        groups[each.sample.kind].append(each)
    return {kind: score_intact(groups[kind]) for kind in KINDS if kind in groups}


@click.command("intact")
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option(
    "--minimum-confidence",
    type=click.FloatRange(0, 1),
    help="Leave changes undone that are less probable. [default: the model's own]",
)
@click.option(
    "--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Sentences to make."
)
@click.option("--seed", default=0, show_default=True, help="Decides the sentences and their errors.")
@click.option("--batch", type=click.IntRange(min=1), default=64, show_default=True)
@click.option("--json", "json_path", help="Write everything as JSON to this file; - for standard output.")
@click.option("--show", type=click.IntRange(min=0), default=0, help="Print this many failures of each sort.")
def intact_command(model, minimum_confidence, count, seed, batch, json_path, show):
    """Measure whether digits, Latin words, addresses, emoji, hanja, quotation marks, unseen names and the
    ends of long sentences come out as they went in. Half of the sentences have errors beside them."""
    corrector = load_corrector(model, minimum_confidence)
    kept = correct_samples(corrector, make_samples(count, seed), batch)
    kinds, total = score_kinds(kept), score_intact(kept)
    run = {
        "model": corrector.name,
        "fingerprint": corrector.fingerprint,
        "minimum_confidence": corrector.minimum_confidence,
        "seed": seed,
    }
    console = open_console(json_path)
    console.print(_table(run["model"], kinds, total))
    console.print("model: {model} {fingerprint}, minimum confidence {minimum_confidence}".format(**run))
    failures = [each for each in kept if each.lost is not None]
    changed = [each for each in kept if each.changed and each.lost is None]
    _print_kept(console, failures[:show])
    _print_kept(console, changed[:show])
    if json_path:
        document = {
            **run,
            "total": total.as_json(),
            "kinds": {kind: scores.as_json() for kind, scores in kinds.items()},
            "failures": [each.as_json() for each in failures],
            "changed": [each.as_json() for each in changed],
        }
        write_json(document, json_path)


def _table(model: str, kinds: dict[str, IntactScores], total: IntactScores) -> Table:
    table = Table("kind", title=f"what {model} leaves as it was")
    for heading in ("sentences", "intact", "share (95%)", "correct sentences", "untouched"):
        table.add_column(heading, justify="right", no_wrap=True)
    for kind, scores in kinds.items():
        table.add_row(kind, *_cells(scores))
    table.add_section()
    table.add_row("all", *_cells(total))
    return table


def _cells(scores: IntactScores) -> list[str]:
    low, high = scores.interval
    return [
        str(scores.count),
        str(scores.intact),
        f"{percent(scores.share)} ({percent(low)}–{percent(high)})",
        str(scores.clean),
        percent(scores.clean_untouched),
    ]


def _print_kept(console: Console, kept: Iterable[KeptSample]) -> None:
    """One block for each: the lost part (or that a correct sentence changed), and the three texts."""
    for each in kept:
        what = "a correct sentence changed" if each.lost is None else f"lost: {each.lost}"
        console.print(f"\n[{each.sample.kind}] {what}", soft_wrap=True)
        texts = {"wrong": each.sample.wrong, "right": each.sample.right, "got": each.text}
        for label, text in texts.items():
            console.print(f"  {label:<6}{text}", soft_wrap=True)
