"""Commands ``sets``, ``pairs`` and ``development``: generate development data, count mended and harmed rows.

``python -m training sets`` makes sets that each ask one question, of sentences that no training has seen.
everyday and general: the usual errors in talk, and in newspapers and speeches. rare: slips in a sentence's
rarest word, where that is rare in the training sentences. several: three or more slips in a sentence. spaces:
one of the commonest spacing mistakes in a sentence that is otherwise right. Each set is a CSV of ``src,tgt``
with as many sentences as asked for, and half as many again without an error.

``python -m training pairs`` makes pairs of a wrong and a right sentence, for commands that read ``src,tgt``.

``python -m training development`` counts mended and harmed rows by kind of mistake, in our own sets. These
are the files of ``benchmarks/sets/`` and ``benchmarks/``: CSV with the columns ``src,tgt`` (where both are
the same, the text is right) and, in ``sets/``, ``kind,note``.
"""

import csv
import itertools
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from model import Corrector
from model.correction.counts import find_words
from model.norm import without_held_out
from model.stored.folder import ASSETS, DEFAULT_MODEL
from training.corpus.corpus import Sentence, open_corpus, read_pairs, read_sentences, write_pairs
from training.documents.render import content
from training.documents.tables import Sources
from training.measure.evaluate import outcomes_of, sample_pairs
from training.measure.metrics import Outcome
from training.measure.report import run_of, write_numbers
from training.noise.draft import Aim, Draft, stem
from training.noise.pairs import MIX, Writer, make_pair
from training.noise.spacing import COMMON_RULES, misspace_once
from training.noise.typing_slips import slip
from training.options import COUNT, FOLDER, NEW_FILE, PATH, SHARE, command, knob

# Parts of the names of sources.
EVERYDAY_SOURCES = ("Chatbot", "3i4k", "r0cd7b", "dialogues", "paraKQC", "IWSLT")
_NEWS, _SPEECHES = ("wikinews", "KLUE", "UD_Korean", "sib-200", "XNLI"), ("unesco", "president", "heritage")
GENERAL_SOURCES = (*_NEWS, *_SPEECHES, "book_review")
RARE = 9  # a word that stands at most so often in the training sentences is rare
SEVERAL = 3  # slips at least
MOST_OF_ONE_SOURCE = 300  # sentences in a set, or the largest source would be the set
WITH_ERRORS = {family: share for family, share in MIX.items() if family != "clean"}

Rng = random.Random
MakeWrong = Callable[[str, Rng], str | None]  # None where a sentence does not suit the set


def usual_errors(text: str, rng: Rng) -> str:
    """Errors of the usual mix."""
    return make_pair(text, rng, writer=Writer(mix=WITH_ERRORS)).wrong


def several_slips(text: str, rng: Rng) -> str | None:
    """Three slips, or one in six syllables where that is more.

    >>> several_slips("짧다.", random.Random(0)) is None
    True
    """
    syllables = sum(len(word) for _, word in find_words(text))
    draft = Draft(text)
    enough = syllables >= 3 * SEVERAL
    return draft.wrong if enough and slip(draft, rng, max(SEVERAL, syllables // 6)) else None


def one_space(text: str, rng: Rng) -> str | None:
    """One of the commonest spacing mistakes, none of them likelier than the next, and nothing else.

    >>> one_space("가.", random.Random(0)) is None
    True
    """
    draft = Draft(text)
    misspace_once(draft, rng, COMMON_RULES)
    return draft.wrong if draft.edits else None


def _slips_in_rare_words(aim: Aim) -> MakeWrong:
    """One or two slips in the rarest word."""

    def make(text: str, rng: Rng) -> str | None:
        words = [(aim.count(word), start, word) for start, word in find_words(text) if len(stem(word)) > 1]
        count, start, word = min(words, default=(RARE + 1, 0, ""))
        if count > RARE:
            return None
        draft = Draft(text)
        # Not in its particle: 경제를 -> 경제륵 asks nothing about 경제.
        slip(draft, rng, 1 if len(stem(word)) < 4 else rng.choice((1, 2)), (start, start + len(stem(word))))
        return draft.wrong

    return make


def make_set(
    sentences: Iterable[Sentence], make_wrong: MakeWrong, count: int, seed: int
) -> list[tuple[str, str]]:
    """At most ``count`` (wrong, right) pairs, then half as many of other sentences that are right on both
    sides.

    >>> sentences = [Sentence("밥을 먹었다."), Sentence("집에 갔다.")]
    >>> make_set(sentences, lambda text, rng: text[:-1], 1, seed=0)[0]
    ('집에 갔다', '집에 갔다.')
    """
    by_source = defaultdict(set)
    for sentence in sentences:
        by_source[sentence.source].add(sentence.text)
    rng = random.Random(seed)
    texts = []
    for source in sorted(by_source):
        own = sorted(by_source[source])
        texts += rng.sample(own, min(len(own), MOST_OF_ONE_SOURCE))
    texts = sorted(set(texts))
    rng.shuffle(texts)
    pairs: list[tuple[str, str]] = []
    used = 0
    for text in texts:
        if len(pairs) == count:
            break
        used += 1
        wrong = make_wrong(text, random.Random(f"{seed} {text}"))
        if wrong is not None and wrong != text:
            pairs.append((wrong, text))
    return pairs + [(text, text) for text in texts[used : used + count // 2]]


def make_sets(
    sentences: list[Sentence], known: Iterable[str], count: int, seed: int
) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each set by its name; ``known`` are the sentences of training."""
    aim = Aim(known)

    def of(*names: str) -> list[Sentence]:
        return [each for each in sentences if any(name in each.source for name in names)]

    return {
        "everyday": make_set(of(*EVERYDAY_SOURCES), usual_errors, count, seed),
        "general": make_set(of(*GENERAL_SOURCES), usual_errors, count, seed),
        "rare": make_set(of(*EVERYDAY_SOURCES, *GENERAL_SOURCES), _slips_in_rare_words(aim), count, seed),
        "several": make_set(of(*EVERYDAY_SOURCES, *GENERAL_SOURCES), several_slips, count, seed),
        "spaces": make_set(of(*EVERYDAY_SOURCES, *GENERAL_SOURCES), one_space, count, seed),
    }


@command("sets")
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option("--known", multiple=True, required=True, type=PATH, help="Trained on.")
@click.option("--out", required=True, type=FOLDER, help="Their folder.")
@click.option("--count", default=500, show_default=True, help="Sentences with an error in each set.")
@click.option("--seed", default=0, show_default=True)
def sets(files: tuple[Path, ...], known: tuple[Path, ...], out: Path, count: int, seed: int) -> None:
    """Make development sets of the sentences in FILES, which training must not have seen."""
    sentences = [row for path in files for row in read_sentences(path)]
    trained = [row.text for path in known for row in read_sentences(path)]
    out.mkdir(parents=True, exist_ok=True)
    for name, pairs in make_sets(sentences, trained, count, seed).items():
        write_pairs(out / f"{name}.csv", pairs)
        wrong = sum(source != target for source, target in pairs)
        click.echo(f"{out / name}.csv: {wrong} sentences with an error, {len(pairs) - wrong} without")


OWN_SETS = ASSETS.parent / "benchmarks"  # sets of sentences that were written for this project
_KINDS = ("everyday", "everyday_unseen", "everyday_spaces", "everyday_spaces_unseen")
EVERYDAY = tuple(OWN_SETS / f"{name}.csv" for name in _KINDS)

TypedPair = tuple[str, str]  # wrong, right


def own_pairs(generated: int, seed: int) -> tuple[list[TypedPair], list[TypedPair]]:
    """Pairs of our own everyday sentences in two halves that share no right sentence.

    Each right sentence is paired with its typed versions and with ``generated`` versions by the training's
    error generator. A survey orders heads by the first half and judges them on the other.

    >>> first, last = own_pairs(generated=0, seed=0)
    >>> {right for _, right in first} & {right for _, right in last}
    set()
    """
    typed: dict[str, list[str]] = {}
    for path in EVERYDAY:
        for pair in read_pairs(path):
            typed.setdefault(pair.target, []).append(pair.source)
    sentences = sorted(typed)
    random.Random(seed).shuffle(sentences)
    middle = len(sentences) // 2
    first, last = (
        [pair for right in half for pair in _pairs_of(right, typed[right], generated, seed)]
        for half in (sentences[:middle], sentences[middle:])
    )
    return first, last


def _pairs_of(right: str, typed: list[str], generated: int, seed: int) -> list[TypedPair]:
    made = (make_pair(right, random.Random(f"{seed} {number} {right}")).wrong for number in range(generated))
    return [(wrong, right) for wrong in dict.fromkeys([*typed, *made])]


@command("pairs")
@click.argument("out", type=NEW_FILE)
@click.argument("file", required=False, type=PATH)
@click.option("--sentences", default=1500, show_default=True, help="Rows of FILE.")
@click.option("--generated", default=2, show_default=True, help="Without FILE: errors made in each sentence.")
@click.option("--seed", default=0, show_default=True)
def pairs(out: Path, file: Path | None, sentences: int, generated: int, seed: int) -> None:
    """Write pairs to OUT: of the sentences in FILE with generated errors; without FILE of our own everyday
    sentences, as they were typed and with generated errors.
    """
    if file is None:
        pairs = [pair for half in own_pairs(generated, seed) for pair in half]
    else:
        pairs = [(pair.wrong, pair.right) for pair in sample_pairs(open_corpus(file), seed, sentences)]
    write_pairs(out, pairs)
    click.echo(f"{len(pairs)} pairs, {sum(wrong != right for wrong, right in pairs)} of them with errors")


TOGETHER = 1024  # rows: many of one length waste little padding


@dataclass(frozen=True)
class SetRow:
    """A text as it was typed and as it should be; equal where it is right."""

    set: str
    kind: str
    wrong: str
    right: str


def count(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Of the rows of a set or a kind, how many were treated how.

    >>> count([])
    {'wrong': 0, 'exact': 0, 'left': 0, 'right': 0, 'untouched': 0, 'harmed': 0}
    """
    outcomes = list(outcomes)
    wrong = [each for each in outcomes if each.pair.wrong != each.pair.right]
    right = [each for each in outcomes if each.pair.wrong == each.pair.right]
    return {
        "wrong": len(wrong),  # with a mistake
        "exact": sum(each.correct for each in wrong),  # of them, those that came out right
        "left": sum(each.text == each.pair.wrong for each in wrong),  # those that were left as they are
        "right": len(right),  # without one
        "untouched": sum(each.correct for each in right),  # of them, those left alone
        "harmed": sum(bool(each.elsewhere) for each in outcomes),  # in which a right word was changed
    }


def read_rows(paths: Iterable[Path], limit: int | None = None) -> Iterator[SetRow]:
    """The rows of the files, of each the first ``limit``; a file's name is that of its set.

    Raises OSError and KeyError for a file without the columns src and tgt.
    """
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in itertools.islice(csv.DictReader(file), limit):
                yield SetRow(path.stem, row.get("kind") or "", row["src"], row["tgt"])


def by_set_and_kind(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[str, int]]]:
    """The counts of each set, under ``""`` of the whole, and of its kinds where it has any.

    >>> rows = [SetRow("slips", "", "가", "가")]
    >>> by_set_and_kind(outcomes_of(corrector, rows, TOGETHER))["slips"][""]["untouched"]
    1
    """
    sets: dict[str, dict[str, list[Outcome]]] = {}
    for each in outcomes:
        kinds = sets.setdefault(each.pair.set, {"": []})
        kinds[""].append(each)
        if each.pair.kind:
            kinds.setdefault(each.pair.kind, []).append(each)
    return {name: {kind: count(some) for kind, some in kinds.items()} for name, kinds in sets.items()}


def failures(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The rows that are not as they should be, with their corrections.

    >>> failures(outcomes_of(corrector, [SetRow("", "", "머거요", "먹어요")], TOGETHER))
    []
    """
    return [
        {**asdict(each.pair), "corrected": each.text, "harmed": bool(each.elsewhere)}
        for each in outcomes
        if not each.correct
    ]


def find_sets(names: Sequence[str]) -> list[Path]:
    """The files of these sets, or of all. Raises click.ClickException for a name that is none."""
    files = (path for pattern in ("sets/*.csv", "*.csv") for path in sorted(OWN_SETS.glob(pattern)))
    paths = {path.stem: path for path in files}
    if unknown := set(names) - set(paths):
        raise click.ClickException(f"no set {', '.join(sorted(unknown))}; there are {', '.join(paths)}")
    return [paths[name] for name in names] or list(paths.values())


@dataclass(frozen=True)
class Development:
    """The options of ``development``."""

    model: str = knob(DEFAULT_MODEL, "Name or path of a model folder.")
    minimum_confidence: float | None = knob(None, "[default: the model's own]", type=SHARE)
    limit: int | None = knob(None, "Only the first so many rows of each set.", type=COUNT)
    practised_norm: bool = knob(False, "Know no word of the norm that is held out of practice.", is_flag=True)
    out: Path | None = knob(None, "A JSON file of everything.", type=NEW_FILE)
    counts: Path | None = knob(None, "A JSON file without texts.", type=NEW_FILE)


@command("development", asked=Development)
@click.argument("names", nargs=-1)
def development(names: tuple[str, ...], asked: Development) -> None:
    """Measure a model on the sets NAMES, or on all, and print a row for each set and one for each of its
    kinds.

    --out gets the numbers and every row that is not as it should be. --practised-norm leaves words that are
    held out of practice out of the norm's tables, too.
    """
    paths = find_sets(names)
    corrector = Corrector.load(asked.model, asked.minimum_confidence)
    started = time.perf_counter()
    with without_held_out() if asked.practised_norm else nullcontext():
        outcomes = outcomes_of(corrector, list(read_rows(paths, asked.limit)), TOGETHER)
    sets = by_set_and_kind(outcomes)
    click.echo(content(Sources(given={"development": {"sets": sets}}), "development"))
    run = run_of(corrector)
    taken = time.perf_counter() - started
    click.echo(f"\n{', '.join(map(str, run.values()))}: {len(outcomes):,} rows in {taken:.0f} s")
    numbers = {**run, "sets": sets}
    write_numbers(asked.counts, numbers)
    write_numbers(asked.out, {**numbers, "failures": failures(outcomes)})
