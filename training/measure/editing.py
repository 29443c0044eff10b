"""Study of model editing: people's mistakes that edits mend, and other text they change.

``python -m training editing`` teaches the network one pair at a time (``model.analysis.model_editing``): a
sentence of ``real_pairs.jsonl`` with one wrong character that the network does not write as it should. It
counts pairs that come out right as a whole, other sentences whose text changes, and sentences with the same
mistake that are mended: the pair behind other words, and other people's sentences with the same character
in place of the same one. Each edit is compared with one without whitening, with one whose keys come from
corpus sentences, with an equally large one in a random direction, and with one of another layer. Only numbers
are kept, no sentence.

``python -m training editing-pairs`` makes ``assets/editing.csv``: our own sentences, from which the app takes
keys and sentences to try an edit on.
"""

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from rapidfuzz.distance import Levenshtein

from model import Corrector
from model.analysis import model_editing
from model.analysis.edit_effects import OPENINGS, EditedText, ReadSentences, written
from model.analysis.model_editing import Pair
from model.stored.folder import of_weights
from model.text.tokenizer import normalise
from model.trace.interventions import Intervention, KernelEdit
from training.corpus.corpus import read_sentences
from training.measure.report import Numbers, tell, write_numbers
from training.noise.norm import norm_counterexample, norm_pair, practices
from training.options import FILE, command, knob

SEED = 0
LEAST_OF_KIND = 6  # pairs for the same mistake elsewhere, of the held-out words of a kind and of the others
LONGEST = 60  # characters of a sentence of the study
SPACE_SHARE = 0.5  # at most, of the pairs: three of four mistakes of one character are spaces
MOST_ELSEWHERE = 8  # of other people's sentences with the same mistake
EVERY = 8  # each eighth pair is taught to another layer, too: there each sentence needs a whole pass

Row = dict[str, Any]


def make_pairs() -> Iterator[tuple[str, str, str]]:
    """(kind, wrong, right) of our own sentences, every second of the first ones without a mistake."""
    rng = random.Random(SEED)
    for number in range(model_editing.KEY_PAIRS + model_editing.OTHER_PAIRS):
        made = (norm_counterexample if number % 2 else norm_pair)(rng, held_out=bool(number // 2 % 2))
        yield made.name, made.wrong, made.right
    for held_out in (False, True):
        for practice in practices(held_out):
            # Numbers of its own: a word of another kind changes no pair of this one.
            rng = random.Random(f"{SEED} {practice.kind.name} {held_out}")
            for _ in range(max(LEAST_OF_KIND, round(practice.weight)) if practice.has_mistakes else 0):
                made = norm_pair(rng, held_out, practice)
                yield made.name, made.wrong, made.right


@command("editing-pairs")
def editing_pairs() -> None:
    """Write assets/editing.csv, the same one each time. Raises OSError where it cannot be written."""
    with model_editing.OWN_PAIRS.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("kind", "wrong", "right"))
        table.writerows(make_pairs())


@dataclass(frozen=True)
class Material:
    """The sentences of a study."""

    pairs: list[Pair]  # taught one at a time; the network gets them wrong
    others: list[Pair]  # that an edit should leave alone
    by_substitution: dict[tuple[str, str], list[Pair]]  # people's pairs by (wrong character, right one)
    keys: list[Pair]  # of the corpus


def substitution(pair: Pair) -> tuple[str, str] | None:
    """The wrong and the right character of a pair that differs in one; an empty one where it is only there.

    >>> substitution(Pair("금새", "금세")), substitution(Pair("갈수", "갈 수"))
    (('새', '세'), ('', ' '))
    >>> substitution(Pair("가", "나다")) is None
    True
    """
    edits = [*Levenshtein.editops(*pair)]
    if len(edits) != 1:
        return None
    edit = edits[0]
    wrong = "" if edit.tag == "insert" else pair.wrong[edit.src_pos]
    return wrong, "" if edit.tag == "delete" else pair.wanted[edit.dest_pos]


def read_material(real: Path, right: Path, counts: tuple[int, int], corrector: Corrector) -> Material:
    """``counts``: pairs and other sentences, half of which are right ones of the file ``right``.

    Raises OSError, ValueError and KeyError for other files.
    """
    with real.open(encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["split"] != "test"]
    known = dict.fromkeys(Pair(normalise(row["wrong"]), normalise(row["right"])) for row in rows)
    pairs = [pair for pair in known if max(map(len, pair)) <= LONGEST]
    random.Random(SEED).shuffle(pairs)
    by_substitution: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if changed := substitution(pair):
            by_substitution[changed].append(pair)
    taught: list[Pair] = []
    left = {True: int(counts[0] * SPACE_SHARE), False: counts[0]}
    for cut in range(0, len(pairs), 50):
        if len(taught) == counts[0]:
            break
        for read in written(corrector, pairs[cut : cut + 50]):
            changed = substitution(read.pair)
            is_space = changed is not None and " " in changed
            if changed and read.text != read.pair.wanted and left[is_space] and len(taught) < counts[0]:
                left[is_space] -= 1
                taught.append(read.pair)
    sentences = [each.text for each in read_sentences(right) if len(each.text) <= LONGEST]
    random.Random(SEED).shuffle(sentences)
    half = counts[1] // 2
    others = [pair for pair in pairs if pair not in set(taught)][-half:]
    rights = [Pair(text, text) for text in map(normalise, sentences[: half + model_editing.KEY_PAIRS])]
    keys = rights[half:] or rights  # of a small file all sentences serve as both
    return Material(taught, others + rights[:half], by_substitution, keys)


class EditingStudy:
    """One network, and everything that is read only once."""

    def __init__(self, corrector: Corrector, material: Material):
        self.corrector, self.material = corrector, material
        self.last = corrector.patched.layers("decoder") - 1
        self.others = ReadSentences(corrector, sorted(material.others, key=lambda pair: len(pair.wrong)))
        own = model_editing.second_moment(corrector, self.last)
        corpus = model_editing.moment_of(corrector, material.keys, self.last)
        covariances = {
            "whitened": model_editing.whitened(own, 1.0),
            "half": model_editing.whitened(own, 0.5),
            "plain": model_editing.whitened(own, 0.0),
            "corpus": model_editing.whitened(corpus, 1.0),
        }
        self.inverses = {name: np.linalg.inv(each) for name, each in covariances.items()}
        self.earlier = np.linalg.inv(model_editing.whitened(model_editing.second_moment(corrector, 1), 1.0))

    def rows(self) -> Iterator[Row]:
        """The results of each pair, by kind of edit."""
        for number, pair in enumerate(self.material.pairs):
            asked = model_editing.associations(self.corrector, [pair], self.last)
            if not asked.taught:
                yield {"refused": asked.refused[0].reason}
                continue
            edits = {name: _edit(asked, inverse) for name, inverse in self.inverses.items()}
            edits["random"] = _random(edits["whitened"], number)
            if number % EVERY == 0:
                edits["earlier"] = _edit(model_editing.associations(self.corrector, [pair], 1), self.earlier)
            about = self._about(pair)
            yield {name: self._tried(about, edit) for name, edit in edits.items()}

    def _about(self, pair: Pair) -> ReadSentences:
        """The pair, the pair behind other words, and other people's pairs with the same mistake."""
        behind = [Pair(opening + pair.wrong, opening + pair.wanted) for opening in OPENINGS]
        changed = substitution(pair)
        same = [each for each in self.material.by_substitution[changed or ("", "")] if each != pair]
        return ReadSentences(self.corrector, [pair, *behind, *same[:MOST_ELSEWHERE]])

    def _tried(self, about: ReadSentences, edit: KernelEdit) -> Row:
        intervention = Intervention(kernels=(edit,))
        first, *rest = about.under(intervention)
        others = self.others.under(intervention)
        behind, people = rest[: len(OPENINGS)], rest[len(OPENINGS) :]
        outcomes = [each.outcome for each in others]
        return {
            "size": model_editing.relative_size(self.corrector.patched, edit),
            "mended": first.outcome == "mended",
            "disturbed": sum(each.before != each.after for each in others),
            "healed": outcomes.count("mended"),
            "forgotten": outcomes.count("forgotten"),
            "behind": _mended(behind),
            "people": _mended(people),
        }


def _edit(asked: model_editing.Associations, inverse: np.ndarray) -> KernelEdit:
    return model_editing.kernel_edit(asked.node, asked.keys, asked.values, inverse @ asked.keys.T)


def _random(edit: KernelEdit, seed: int) -> KernelEdit:
    """An edit of the same size for the same keys, whose outputs go in random directions."""
    drawn = np.random.default_rng(seed).normal(size=edit.values.shape)
    norms = [np.linalg.norm(edit.directions @ values) for values in (edit.values, drawn)]
    return replace(edit, values=(drawn * norms[0] / norms[1]).astype(np.float32))


def _mended(found: Sequence[EditedText]) -> list[int]:
    """[mended, of so many that were wrong before]."""
    wrong = [each for each in found if each.before != each.pair.wanted]
    return [sum(each.outcome == "mended" for each in wrong), len(wrong)]


def numbers_of(rows: Sequence[Row], others: int) -> Row:
    """The measures of ``docs/numbers/editing.json``.

    >>> row = dict(size=0.25, mended=True, disturbed=1, healed=0, forgotten=1, behind=[1, 2], people=[0, 0])
    >>> found = numbers_of([{"whitened": row}], others=500)["edits"]["whitened"]
    >>> found["mended"], found["disturbed"], found["behind"]
    ([1, 1], [0.002, 0.002, 0.002], [1, 2])
    """
    tried = [row for row in rows if "refused" not in row]
    by_edit = {name: [row[name] for row in tried if name in row] for name in (tried[0] if tried else ())}
    return {
        "pairs": len(tried),
        "refused": len(rows) - len(tried),
        "others": others,
        "edits": {name: _summary(found, others) for name, found in by_edit.items()},
    }


def _summary(found: Sequence[Row], others: int) -> Row:
    disturbed = np.array([row["disturbed"] for row in found]) / others
    worst = [float(np.median(disturbed)), float(disturbed.mean()), float(disturbed.max())]
    return {
        "size": round(float(np.median([row["size"] for row in found])), 4),
        "mended": [sum(row["mended"] for row in found), len(found)],
        "disturbed": [round(each, 5) for each in worst],  # median, mean, largest
        "healed": sum(row["healed"] for row in found),
        "forgotten": sum(row["forgotten"] for row in found),
        **{name: [sum(row[name][i] for row in found) for i in (0, 1)] for name in ("behind", "people")},
    }


@dataclass(frozen=True)
class EditingOptions(Numbers):
    """The options of ``editing``."""

    pairs: int = knob(200, "Taught, one at a time.")
    others: int = knob(500, "Sentences that should stay as they are.")


@command("editing", asked=EditingOptions)
@click.argument("real", type=FILE)
@click.argument("right", type=FILE)
def editing(real: Path, right: Path, asked: EditingOptions) -> None:
    """Teach pairs of REAL (real_pairs.jsonl), and look for changes in other sentences and those of RIGHT."""
    corrector = Corrector.load(asked.model)
    material = read_material(real, right, (asked.pairs, asked.others), corrector)
    rows: list[Row] = []
    for row in EditingStudy(corrector, material).rows():
        rows.append(row)
        click.echo(f"{len(rows)} of {len(material.pairs)}", err=True)
        # A long run that is stopped has results, too.
        write_numbers(asked.json, _found(corrector, material, rows))
    tell("editing", "editing", _found(corrector, material, rows), asked.json)


def _found(corrector: Corrector, material: Material, rows: Sequence[Row]) -> Row:
    return {"fingerprint": of_weights(corrector.fingerprint)} | numbers_of(rows, len(material.others))
