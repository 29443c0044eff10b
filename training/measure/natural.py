"""Commands ``natural``, ``unseen``, ``verdicts``: measurements on text as people write it.

The texts are of sources that no training has read.

``python -m training natural`` corrects text with mistakes that people made and people mended, at the rate at
which people make them: the sentences of one split of ``real_pairs.jsonl``, and among them so many right
sentences of ``unseen.jsonl`` that one word in fifty is mistaken. It counts mends that the person made, too,
by kind, and changes of words that the person left as they were, per 1,000 of them.

``python -m training unseen`` corrects right sentences of ``unseen.jsonl`` alone, and counts changes by
source, register and kind. Some of these sentences have a fault, so changes are read one by one by a person.
``verdicts.csv`` keeps the verdicts by place and kind, without the text, whose licences differ.
``python -m training verdicts`` adds those of a list that ``unseen --changes`` wrote and a person filled in.
"""

import csv
import hashlib
import json
import random
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from model import Corrector
from model.analysis.statistics import wilson_interval
from model.correction.counts import Words, touching
from model.norm.articles import article_of
from model.text.changes import Change
from training.measure import metrics
from training.measure.evaluate import Asked, outcomes_of
from training.measure.metrics import Outcome, bootstrap_interval, edits, none_if_nan, share
from training.measure.report import run_of, tell
from training.measure.sets import TOGETHER
from training.options import COUNT, FILE, NEW_FILE, command, knob

# Parts of the names of sources, by register. A source of another name has the register of its rows.
REGISTERS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("registers.toml").read_text("utf-8"))
THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
VERDICTS_FILE = Path(__file__).parent / "verdicts.csv"
# A right text was made wrong; a fault was mended; both spellings are permitted.
VERDICTS = FALSE, MEND, OPEN = ("false", "mend", "open")
PLACE = ("source", "row", "start", "end", "kind", "change")  # the columns that a list of verdicts has
SPACING, NORM, WORD, NO_WORD = "spacing", "norm", "known word", "unknown word"


@dataclass(frozen=True)
class Passage:
    """A sentence of a collection as it was typed and as its author left it in the end."""

    row: int  # of the file, counted from 1
    source: str
    register: str
    kind: str  # of its mistakes; "" where it is right
    wrong: str
    right: str
    mistakes: int = 0

    @property
    def right_words(self) -> int:
        """The words that are right as they were typed.

        >>> Passage(1, "", "", "space", "밥을 안먹고 갔다", "밥을 안 먹고 갔다", 1).right_words
        2
        """
        return len(self.wrong.split()) - self.mistakes


def is_mended(outcome: Outcome) -> bool:
    """Whether all of the person's mends are made."""
    wrong, right = outcome.pair.wrong, outcome.pair.right
    return edits(wrong, right) <= edits(wrong, outcome.text)


def register_of(source: str, given: str = "") -> str:
    """The register of a source.

    >>> register_of("flutter-ko/website"), register_of("someone/poems", "poems")
    ('documentation', 'poems')
    """
    names = (register for register, parts in REGISTERS.items() if any(part in source for part in parts))
    return next(names, given or source)


def read_passages(path: Path, splits: Iterable[str] = ()) -> list[Passage]:
    """The passages of ``unseen.jsonl``, or those of ``real_pairs.jsonl`` in these splits.

    Raises OSError, ValueError and KeyError for another file.
    """
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            source = row["source"]
            register = register_of(source, row.get("register", ""))
            if "text" in row:
                found.append(Passage(number, source, register, "", row["text"], row["text"]))
            elif row["split"] in splits:
                texts = row["kind"], row["wrong"], row["right"]
                found.append(Passage(number, source, register, *texts, len(row["edits"])))
    return found


def natural_text(
    mistaken: Sequence[Passage], right: Sequence[Passage], rate: float, seed: int
) -> list[Passage]:
    """The mistaken passages, and right ones drawn by the seed until ``rate`` of the words is mistaken.

    Without enough right text the rate stays higher.

    >>> mistaken = [Passage(1, "", "", "space", "안가.", "안 가.", 1)]
    >>> len(natural_text(mistaken, [Passage(2, "", "", "", "가자.", "가자.")] * 99, rate=0.1, seed=0))
    10
    """
    words = sum(len(each.wrong.split()) for each in mistaken)
    wanted = sum(each.mistakes for each in mistaken) / rate - words
    drawn = []
    for each in random.Random(seed).sample(right, len(right)):
        if wanted <= 0:
            break
        drawn.append(each)
        wanted -= each.right_words
    return [*mistaken, *drawn]


def kind_of_change(text: str, change: Change, words: Words | None) -> str:
    """The kind of a change: its spaces, an article of the norm, or whether all words there were known.

    >>> change = Change(0, 2, 0, 2, "진안", "지난")
    >>> [kind_of_change("진안 여행", change, Words(counts)) for counts in ({"진안": 3}, {})]
    ['known word', 'unknown word']
    """
    start, end = change.source_start, change.source_end
    if change.wrong.replace(" ", "") == change.right.replace(" ", ""):
        return SPACING
    if article_of(change.wrong, change.right, text[:start], text[end:]):
        return NORM
    touched = touching(text, start, end)
    return WORD if words and touched and all(map(words.counts.get, touched)) else NO_WORD


def measure_natural(answers: Sequence[Outcome], kind_of: Callable[[str, Change], str]) -> dict[str, Any]:
    """Mends by kind and by register, changes of right words per 1,000, and calibration.

    The person's text decides: a fault that the person overlooked counts as right, so ``changed`` is an upper
    bound of the harm.
    """
    mistaken = [each for each in answers if each.pair.kind]
    kinds = Counter(kind_of(each.pair.wrong, change) for each in answers for change in each.elsewhere)
    words = sum(len(each.pair.wrong.split()) for each in answers)
    mistakes = sum(each.pair.mistakes for each in mistaken)
    return {
        "sentences": len(answers),
        "words": words,
        "mistaken_words": mistakes,
        "rate": none_if_nan(share(mistakes, words)),
        "mends": {"all": _mends(mistaken)} | _by(mistaken, "kind", _mends),
        "registers": {"all": _treated(answers)} | _by(answers, "register", _treated),
        "changed_by_kind": dict(kinds.most_common()),
        "reliability": metrics.reliability(answers),
    }


def _by(answers: Iterable[Outcome], name: str, count: Callable[[list[Outcome]], dict]) -> dict[str, dict]:
    """The counts of the answers of each kind, register or source; the one with most answers first."""
    groups = defaultdict(list)
    for each in answers:
        groups[getattr(each.pair, name)].append(each)
    return {name: count(groups[name]) for name in sorted(groups, key=lambda name: (-len(groups[name]), name))}


def _mends(answers: Sequence[Outcome]) -> dict[str, Any]:
    """Of sentences with a mistake, those in which each mend of the person is made."""
    mended = sum(is_mended(each) for each in answers)
    interval = _interval(wilson_interval(mended, len(answers)))
    return {"mistakes": len(answers), "mended": mended, "mended_95": interval}


def _interval(bounds: tuple[float, float]) -> list[float | None]:
    return [None if none_if_nan(bound) is None else round(bound, 5) for bound in bounds]


def _treated(answers: Sequence[Outcome]) -> dict[str, Any]:
    """The mends of a register, and the changes of its right words."""
    changed = [len(each.elsewhere) for each in answers]
    words = [each.pair.right_words for each in answers]
    mistaken = [each for each in answers if each.pair.kind]
    interval = _interval(bootstrap_interval(changed, words))
    return _mends(mistaken) | {"right_words": sum(words), "changed": sum(changed), "changed_95": interval}


@dataclass(frozen=True)
class PlacedChange:
    """A change of a right sentence; ``change`` is a key of sentence, place and new text."""

    source: str
    row: int
    start: int
    end: int
    kind: str
    change: str

    @classmethod
    def of(cls, passage: Passage, change: Change, kind: str) -> "PlacedChange":
        """The place of a change. The same change of the same sentence has the same key.

        >>> passage, change = Passage(1, "a", "", "", "가", "가"), Change(0, 1, 0, 1, "가", "나")
        >>> len(PlacedChange.of(passage, change, "norm").change)
        8
        """
        place = change.source_start, change.source_end
        key = hashlib.sha256("\0".join(map(str, (passage.wrong, *place, change.right))).encode())
        return cls(passage.source, passage.row, *place, kind, key.hexdigest()[:8])


def read_verdicts(path: Path = VERDICTS_FILE) -> dict[str, str]:
    """The verdict on each change by its key, without the changes that have none yet.

    Raises ValueError, with the line, for a verdict that is none of ``VERDICTS``; OSError, KeyError for
    another file.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        found = {}
        for row in rows:
            if row["verdict"] not in ("", *VERDICTS):
                raise ValueError(f"line {rows.line_num}: {row['verdict']!r} is none of {', '.join(VERDICTS)}")
            found[row["change"]] = row["verdict"]
    return {change: verdict for change, verdict in found.items() if verdict}


def measure_unseen(
    answers: Sequence[Outcome], kind_of: Callable[[str, Change], str], verdicts: dict[str, str]
) -> dict[str, Any]:
    """Touched sentences and changes by register, source and kind, and the share of false changes among those
    that were read.
    """
    placed = [change for change, _ in placed_changes(answers, kind_of)]
    kinds = Counter(each.kind for each in placed)
    return {
        "all": _touched(answers),
        "registers": _by(answers, "register", _touched),
        "sources": _by(answers, "source", _touched),
        "kinds": {
            kind: {"changes": count} | _judged([each for each in placed if each.kind == kind], verdicts)
            for kind, count in kinds.most_common()
        },
        "read": _judged(placed, verdicts),
    }


def placed_changes(
    answers: Iterable[Outcome], kind_of: Callable[[str, Change], str]
) -> Iterator[tuple[PlacedChange, Outcome]]:
    """Each change that is made, with its sentence.

    >>> rows = [Passage(7, "a", "", "", "밥을 머거요.", "밥을 머거요.")]
    >>> found = outcomes_of(corrector, rows, TOGETHER)
    >>> [(placed.row, placed.start, placed.end) for placed, _ in placed_changes(found, lambda *_: NO_WORD)]
    [(7, 3, 5)]
    """
    for each in answers:
        for change in each.correction.changes:
            yield PlacedChange.of(each.pair, change, kind_of(each.pair.wrong, change)), each


def _touched(answers: Sequence[Outcome]) -> dict[str, Any]:
    touched = sum(bool(each.correction.changes) for each in answers)
    return {
        "sentences": len(answers),
        "touched": touched,
        "touched_95": _interval(wilson_interval(touched, len(answers))),
        "changes": sum(len(each.correction.changes) for each in answers),
    }


def _judged(placed: Iterable[PlacedChange], verdicts: dict[str, str]) -> dict[str, Any]:
    """How many of the changes were read, with each verdict, and the share of false ones among them."""
    found = Counter(verdicts[each.change] for each in placed if each.change in verdicts)
    read = found.total()
    interval = _interval(wilson_interval(found[FALSE], read))
    return {"read": read} | {verdict: found[verdict] for verdict in VERDICTS} | {"false_95": interval}


def write_list(path: Path, found: Sequence[tuple[PlacedChange, Outcome]], verdicts: dict[str, str]) -> None:
    """Write changes for a person to read, in an order of chance, with the verdicts that there are.

    So the first rows are a sample of all. The file holds the sentences and belongs outside the repository.
    Raises OSError where it cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*PLACE, "verdict", "wrong", "right"])
        for placed, each in random.Random(0).sample(found, len(found)):
            texts = each.pair.wrong, each.correction.text
            rows.writerow([*asdict(placed).values(), verdicts.get(placed.change, ""), *texts])


def _at_minimums(answers: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Mended sentences and touched right ones at other minimum confidences, from the same decoding."""
    rows = []
    for minimum in THRESHOLDS:
        moved = [each.at(minimum) for each in answers]
        mended = sum(is_mended(each) for each in moved if each.pair.kind)
        touched = sum(bool(each.correction.changes) for each in moved if not each.pair.kind)
        rows.append({"minimum_confidence": minimum, "mended": mended, "touched": touched})
    return rows


@dataclass(frozen=True)
class NaturalText(Asked):
    """The options of ``natural``: how the text is put together."""

    json: Path | None = knob(None, "A JSON file of all numbers.", type=NEW_FILE)
    split: tuple[str, ...] = knob(("test",), "Of REAL; dev has fitted the trees.", multiple=True)
    rate: float = knob(0.02, "The share of words with a mistake.", type=click.FloatRange(0.001, 1))


@dataclass(frozen=True)
class UnseenText(Asked):
    """The options of ``unseen``: its sentences, and where changes are listed."""

    json: Path | None = knob(None, "A JSON file of all numbers.", type=NEW_FILE)
    every: int = knob(1, "Only every so manieth sentence.", type=COUNT)
    changes: Path | None = knob(None, "A CSV of all changes, with sentences, to be read.", type=NEW_FILE)
    verdicts: Path = knob(VERDICTS_FILE, "The verdicts on changes that were read.", type=FILE)


@command("natural", asked=NaturalText)
@click.argument("real", type=FILE)
@click.argument("unseen", type=FILE)
def natural(real: Path, unseen: Path, asked: NaturalText) -> None:
    """Correct mistakes of REAL (real_pairs.jsonl) among right sentences of UNSEEN (unseen.jsonl)."""
    mistaken = read_passages(real, asked.split)
    if not mistaken:
        raise click.ClickException(f"{real} has no pair of the split {', '.join(asked.split)}")
    passages = natural_text(mistaken, read_passages(unseen), asked.rate, asked.seed)
    _measure(asked, passages, measure_natural, split=asked.split, seed=asked.seed)


@command("unseen", asked=UnseenText)
@click.argument("unseen", type=FILE)
def unseen(unseen: Path, asked: UnseenText) -> None:
    """Correct right sentences of UNSEEN (unseen.jsonl), and judge the changes by the verdicts."""
    verdicts = read_verdicts(asked.verdicts)
    passages = read_passages(unseen)[:: asked.every]
    measure = partial(measure_unseen, verdicts=verdicts)
    answers, kind_of = _measure(asked, passages, measure, every=asked.every)
    if asked.changes:
        write_list(asked.changes, list(placed_changes(answers, kind_of)), verdicts)


def _measure(
    asked: NaturalText | UnseenText, passages: Sequence[Passage], measure: Callable, **chosen: Any
) -> tuple[list[Outcome], Callable[[str, Change], str]]:
    """Correct the passages, print the numbers and write them; the answers, and what names a change's kind."""
    corrector = Corrector.load(asked.model, asked.minimum_confidence)
    started = time.perf_counter()
    answers = outcomes_of(corrector, passages, TOGETHER)
    kind_of = partial(kind_of_change, words=corrector.confidence.words if corrector.confidence else None)
    numbers = run_of(corrector, **chosen) | measure(answers, kind_of)
    numbers["thresholds"] = _at_minimums(answers)
    name = "natural" if isinstance(asked, NaturalText) else "unseen"
    tell(name, f"{name}-kinds", numbers, asked.json)
    click.echo(f"{len(answers):,} sentences in {time.perf_counter() - started:.0f} s")
    return answers, kind_of


@command("verdicts")
@click.argument("read", type=FILE)
@click.option("--verdicts", default=VERDICTS_FILE, type=NEW_FILE, help="The table that they are added to.")
def verdicts(read: Path, verdicts: Path) -> None:
    """Add the verdicts of READ, a list of ``unseen --changes`` with the column verdict filled in."""
    try:
        read_verdicts(read)
    except (ValueError, KeyError) as error:
        raise click.BadParameter(f"{read}: {error}") from error
    kept: dict[str, dict[str, str]] = {}
    for path in (verdicts, read) if verdicts.exists() else (read,):
        with path.open(encoding="utf-8", newline="") as file:
            kept |= {row["change"]: row for row in csv.DictReader(file) if row["verdict"]}
    rows = sorted(kept.values(), key=lambda row: (row["source"], int(row["row"]), int(row["start"])))
    with verdicts.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*PLACE, "verdict"], extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    click.echo(f"{len(read_verdicts(verdicts))} verdicts in {verdicts}")
