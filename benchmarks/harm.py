"""Check invariants of a correction on thousands of composed texts.

    python benchmarks/harm.py [--texts 2000] [--seed 0] [--out violations.csv]

The texts are those of ``composed_texts``. Each invariant yields in words each place where it does not hold.
Printed is for each one how many texts it was checked on and how many violate it, then some of these. Ends
with 1 where one is violated. ``--out`` writes all: the invariant, the recipe of the text, the text, its
correction, and the violation in words.
"""

import csv
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import click
from rapidfuzz.distance import Levenshtein

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.composed_texts import ComposedText, compose
from model import Correction, Corrector
from model.norm import misspellings
from model.text import hangul
from model.text.changes import Change
from model.text.keyboard import STROKES
from model.text.protected import protected
from model.text.tokenizer import split_sentences

MOST_LOST = 1 / 3  # of a word's letters; 않 -> 안 loses one of three, 않된다 -> 된다 three of eight
SHOWN = 20  # violations that are printed
FAR_BELOW = 10.0  # times less probable than leaving the text as it is

_WORD = re.compile(r"[가-힣ㄱ-ㅣ]+")


def letters(word: str) -> str:
    """The letters that are heard or typed: no silent ㅇ, and both consonants of a double final.

    >>> letters("않아")
    'ㅏㄴㅎㅏ'
    """
    found = []
    for character in word:
        if not hangul.is_syllable(character):
            found.append(character)
            continue
        initial, medial, final = hangul.decompose(character)
        found += ["" if initial == "ㅇ" else initial, medial, STROKES.get(final, final)]
    return "".join(found)


def lost_words(source: str, corrected: str) -> list[str]:
    """The words of ``source`` of whose letters more than a third were deleted in ``corrected``.

    A letter that was replaced is not lost.

    >>> lost_words("괜찮아 괜찮아 괜찮아", "괜찮아 괜찮아")
    ['괜찮아']
    >>> lost_words("* 않된다", "* 안 된다"), lost_words("그랬담 뭐", "그랬다 뭐")
    ([], [])
    """
    words = _WORD.findall(source)
    # Spaces keep a letter that one word lost from being taken from the next: 그랬담 뭐, 그랬다 뭐.
    before, after = " ".join(map(letters, words)), " ".join(map(letters, _WORD.findall(corrected)))
    gone = {edit.src_pos for edit in Levenshtein.editops(before, after) if edit.tag == "delete"}
    lost, start = [], 0
    for word in words:
        end = start + len(letters(word))
        if sum(place in gone for place in range(start, end)) > MOST_LOST * (end - start):
            lost.append(word)
        start = end + 1
    return lost


def no_word_is_lost(text: ComposedText, correction: Correction) -> Iterator[str]:
    for word in lost_words(text.text, correction.text):
        yield f"{word!r} is not written again"


def no_evidence_against(text: ComposedText, correction: Correction) -> Iterator[str]:
    """The network itself holds no change for ten times less probable than leaving the text as it is, unless
    the norm's tables have the misspelling.
    """
    source = correction.source
    known = [range(start, start + len(row.wrong) + 1) for start, row in misspellings(source)]
    for change in correction.changes:
        fix, keep = change.fix_probability, change.keep_probability
        is_known = any(change.source_start in place and change.source_end in place for place in known)
        if fix is not None and keep is not None and fix * FAR_BELOW < keep and not is_known:
            yield f"{change.wrong!r} -> {change.right!r}: fix {fix:.4f}, keep {keep:.4f}"


def protected_spans_stay(text: ComposedText, correction: Correction) -> Iterator[str]:
    """No change lies in a protected part, and none sets it apart from its neighbour or joins it to one."""
    source, corrected = text.text, correction.text
    for part in text.protected:
        if any(_overlaps(change, part.start, part.end) for change in correction.changes):
            yield f"{part.kind} {part.text!r}"
            continue
        before = [change for change in correction.changes if change.source_end <= part.start]
        start = part.start + sum(len(change.right) - len(change.wrong) for change in before)
        was = _is_space(source, part.start - 1), _is_space(source, part.end)
        if was != (_is_space(corrected, start - 1), _is_space(corrected, start + len(part.text))):
            yield f"a space beside {part.kind} {part.text!r}"


def _overlaps(change: Change, start: int, end: int) -> bool:
    if change.source_start == change.source_end:  # an insertion
        return start < change.source_start < end
    return change.source_start < end and start < change.source_end


def _is_space(text: str, place: int) -> bool | None:
    return text[place].isspace() if 0 <= place < len(text) else None


def order_stays(text: ComposedText, correction: Correction) -> Iterator[str]:
    """Line breaks and marks keep their order, and the sentences their number."""
    if _skeleton(text.text) != _skeleton(correction.text):
        yield f"marks {_skeleton(text.text)!r} -> {_skeleton(correction.text)!r}"
    elif len(split_sentences(text.text)) != len(split_sentences(correction.text)):
        yield "another number of sentences"


def _skeleton(text: str) -> str:
    return "".join(c for c in text if c in "\n.!?…" or protected(c))


def is_settled(text: ComposedText, correction: Correction, again: str) -> Iterator[str]:
    """``again``, the correction of the corrected text, is the corrected text."""
    if again != correction.text:
        yield f"corrected once more: {again!r}"


def repeats(text: ComposedText, correction: Correction, unit: str) -> Iterator[str]:
    """``unit``, the correction of the repeated text, is repeated as often in the corrected text."""
    what = text.repetition
    if what is not None and correction.text != what.between.join([unit] * what.times):
        yield f"{what.times} times {unit!r}"


InvariantCheck = Callable[[ComposedText, Correction], Iterator[str]]
OF_ONE_CORRECTION: dict[str, InvariantCheck] = {
    "no word is lost": no_word_is_lost,
    "no evidence against": no_evidence_against,
    "protected spans stay": protected_spans_stay,
    "order and marks stay": order_stays,
}


TOGETHER = 256  # texts, so that neither traces nor texts fill the memory
SETTLED, REPEATS = "settled after one pass", "repetitions stay"


class Violation(NamedTuple):
    invariant: str
    recipe: str
    text: str
    corrected: str
    what: str


def check(corrector: Corrector, texts: Sequence[ComposedText]) -> tuple[Counter[str], list[Violation]]:
    """The number of texts on which each invariant was checked, and all violations.

    ``corrector`` is any model.Corrector.
    """
    checked: Counter[str] = Counter()
    violations: list[Violation] = []
    for start in range(0, len(texts), TOGETHER):
        some = texts[start : start + TOGETHER]
        violations += _violations(corrector, some)
        checked.update(dict.fromkeys((*OF_ONE_CORRECTION, SETTLED), len(some)))
        checked[REPEATS] += sum(text.repetition is not None for text in some)
    return checked, violations


def _violations(corrector: Corrector, texts: Sequence[ComposedText]) -> Iterator[Violation]:
    corrections = corrector.correct_batch([text.text for text in texts])
    # A text that was left alone is settled already.
    changed = [each.text for each, text in zip(corrections, texts, strict=True) if each.text != text.text]
    again = _corrected(corrector, changed)
    units = _corrected(corrector, [text.repetition.unit for text in texts if text.repetition])
    for text, correction in zip(texts, corrections, strict=True):
        found = {name: list(holds(text, correction)) for name, holds in OF_ONE_CORRECTION.items()}
        found[SETTLED] = list(is_settled(text, correction, again.get(correction.text, correction.text)))
        if text.repetition:
            found[REPEATS] = list(repeats(text, correction, units[text.repetition.unit]))
        for name, wrong in found.items():
            if wrong:
                yield Violation(name, text.recipe, text.text, correction.text, "; ".join(wrong))


def _corrected(corrector: Corrector, texts: Sequence[str]) -> dict[str, str]:
    return {text: each.text for text, each in zip(texts, corrector.correct_batch(texts), strict=True)}


def report(checked: Counter[str], violations: Sequence[Violation]) -> Iterator[str]:
    """The lines of a table, by invariant, and of the recipes that violate it."""
    yield "| invariant | texts | violated | in |"
    yield "|---|---:|---:|---|"
    for name, texts in checked.items():
        recipes = Counter(each.recipe for each in violations if each.invariant == name)
        where = ", ".join(f"{recipe} {count}" for recipe, count in recipes.most_common())
        yield f"| {name} | {texts:,} | {recipes.total():,} | {where} |"


def of_each_invariant(violations: Sequence[Violation], count: int) -> list[Violation]:
    """``count`` of them at most: the first of each invariant, then the second of each …"""
    by_invariant: dict[str, list[Violation]] = {}
    for each in violations:
        by_invariant.setdefault(each.invariant, []).append(each)
    in_turns = chain.from_iterable(zip_longest(*by_invariant.values()))
    return [each for each in in_turns if each is not None][:count]


@click.command()
@click.option("--texts", default=2000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A CSV of all violations.")
def main(texts: int, seed: int, out: Path | None) -> None:
    """Print which invariants hold."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from model import Corrector

    corrector = Corrector.load()
    started = time.perf_counter()
    checked, violations = check(corrector, compose(seed, texts))
    taken = time.perf_counter() - started
    click.echo("\n".join(report(checked, violations)))
    click.echo(
        f"\n{corrector.name} {corrector.fingerprint}, minimum {corrector.minimum_confidence}: {taken:.0f} s"
    )
    for each in of_each_invariant(violations, SHOWN):
        click.echo(f"\n{each.invariant} ({each.recipe}): {each.what}\n  {each.text!r}\n  {each.corrected!r}")
    if out:
        with out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([Violation._fields, *violations])
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
