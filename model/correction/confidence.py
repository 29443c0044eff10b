"""Confidence of a correction: decision trees that choose among candidates and rate them.

The network reads characters and has no list of words, so it can be as sure of a non-word as of a word. Small
decision trees therefore combine its probabilities with counts from the training sentences (``features.py``).
If these trees are in doubt, second trees rate again, which also know morphemes and the norm, and take longer.
The likeliest candidate is proposed. In about one sentence of 25 that is not the network's own answer
(``Change.instead_of``). Then one more pass gives its probabilities and its trace, so that every picture shows
a pass over the text on the screen.

The trees are fitted on development pairs by ``python -m training confidence``. They are data:
``confidence.json`` holds the trees, ``words.txt.gz`` and ``ngrams.npz`` the counts. Without these files the
network's own answer and confidence are used. Every installation that corrects text reads them; scikit-learn's
or LightGBM's own files would need these libraries there.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from model.correction.candidates import Stretch
from model.correction.counts import NGrams, Words
from model.correction.features import (
    FIRST,
    SECOND,
    Features,
    OneStretch,
    Rated,
    SecondFeatures,
    features,
    second_features,
)
from model.correction.morphemes import is_of_noun, is_tagged, load_kiwi
from model.norm import article_of, spoils
from model.stored.folder import (
    CONFIDENCE_FILE,
    CONFIDENCE_FILES,
    NGRAMS_FILE,
    WORDS_FILE,
    ModelFolderError,
    write_atomically,
)
from model.text.hangul import decompose, is_syllable, spoken_letters
from model.text.pronunciation import sound_the_same
from model.text.protected import JAMO

DEEPEST = 8  # questions one after the other in a tree

# A leaf; or feature, threshold, tree below it, tree from it on.
Tree = float | tuple[int, float, "Tree", "Tree"]


@dataclass(frozen=True)
class Trees:
    """Trees whose leaves add up to the log odds that something is right.

    ``fields``: the names of the features, in order.
    """

    fields: tuple[str, ...]
    start: float  # the log odds before any tree
    trees: tuple[Tree, ...]

    @classmethod
    def parse(cls, fields: Sequence[str], values: object) -> "Trees":
        """Read the output of ``to_json``. Raises ValueError for anything else."""
        if not isinstance(values, dict) or "start" not in values or not isinstance(values.get("trees"), list):
            raise ValueError(f"no start and trees: {str(values)[:80]}")
        trees = tuple(_parse(tree, fields) for tree in values["trees"])
        return cls(tuple(fields), _number(values["start"]), trees)

    def to_json(self) -> str:
        """The trees, one a line, with the features by name."""
        trees = ",\n".join(json.dumps(_named(tree, self.fields)) for tree in self.trees)
        return f'{{"start": {round(self.start, 4)}, "trees": [\n{trees}\n]}}'

    def log_odds(self, rows: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
        """(N,) the logarithm of the odds for each of these rows of features (N, F)."""
        values = np.asarray(rows, float).reshape(-1, len(self.fields))
        asked, thresholds, leaves = self._arrays
        count, questions = asked.shape
        row = len(self.fields) * np.arange(len(values))[:, np.newaxis]  # where each begins in the flat array
        tree = questions * np.arange(count)
        node = np.zeros((len(values), count), int)
        for _ in range(leaves.shape[1].bit_length() - 1):
            place = tree + node  # ``take`` from a flat array is three times as fast as two indices
            node = 2 * node + 1 + (values.take(row + asked.take(place)) >= thresholds.take(place))
        return self.start + leaves.take(leaves.shape[1] * np.arange(count) + node - questions).sum(1)

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All trees of one depth d, in breadth-first order: features and thresholds (trees, 2**d - 1), leaves
        (trees, 2**d).

        Below an early leaf come questions that decide nothing.
        """
        count, row = len(self.trees), list(self.trees)
        asked, thresholds = [np.zeros((count, 0), int)], [np.zeros((count, 0))]
        while any(isinstance(node, tuple) for node in row):
            nodes = [node if isinstance(node, tuple) else (0, 0.0, node, node) for node in row]
            asked.append(np.array([node[0] for node in nodes]).reshape(count, -1))
            thresholds.append(np.array([node[1] for node in nodes]).reshape(count, -1))
            row = [part for node in nodes for part in node[2:]]
        leaves = np.array(row, float).reshape(count, -1) if row else np.zeros((0, 1))
        return np.concatenate(asked, 1), np.concatenate(thresholds, 1), leaves


def _named(tree: Tree, fields: Sequence[str]) -> float | list:
    if not isinstance(tree, tuple):
        return round(tree, 4)
    feature, threshold, below, above = tree
    return [fields[feature], round(threshold, 4), _named(below, fields), _named(above, fields)]


def _parse(values: object, fields: Sequence[str], depth: int = 0) -> Tree:
    if not isinstance(values, list):
        return _number(values)
    if len(values) != 4 or values[0] not in fields or depth == DEEPEST:
        raise ValueError(f"not a tree: {str(values)[:80]}")
    name, threshold, below, above = values
    question = fields.index(name), _number(threshold)
    return *question, _parse(below, fields, depth + 1), _parse(above, fields, depth + 1)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"not a number: {value!r}")
    return float(value)


DOUBT = math.log(0.98 / 0.02)  # log odds up to which, either way, the second trees rate
# Log odds that a candidate needs which replaces known words without an article of the norm; one that replaces
# a word of the training sentences or of the lexicon by another; and one that alters a noun of the lexicon.
SURE_OF_LETTERS, SURE_OF_WORD, SURE_OF_NOUN = (math.log(p / (1 - p)) for p in (0.95, 0.97, 0.996))
# Log odds by which, in people's text, spaces are likelier mistaken than in the practised pairs, and letters
# without an article less likely.
SPACES_COMMONER, LETTERS_RARER = 0.7, 1.2
FEW = 2  # changes of a sentence, up to which its mistakes are as rare as in people's text
SURER = 5.0  # nats by which another stem, ending or particle should be likelier, by the analyser
PREDICATE, PARTICLE = ("V", "E", "XSV", "XSA"), ("J",)  # beginnings of their tags
NAME_CODAS = ("", *"ㄱㄴㄹㅁㅂㅅㅇ")  # of names and loan words (외래어 표기법 제3항)
LONG_WORD = 3  # syllables from which a known word is seldom like a right one that is not known


class Chosen(NamedTuple):
    """The proposal for a stretch, and its confidence in 0..1."""

    stretch: Stretch
    text: str
    confidence: float


@dataclass(frozen=True)
class Confidence:
    """``trees`` rate every candidate by its ``Features``.

    Where they are in doubt, ``second`` rate again, with ``SecondFeatures``, too.

    They rate only then, because they take more time than all the rest. None if a folder has no second trees.
    """

    words: Words
    ngrams: NGrams
    trees: Trees
    second: Trees | None = None

    @classmethod
    def read(cls, folder: Path) -> "Confidence | None":
        """Read the files of a model folder; None where it has none.

        Raises OSError or ValueError where a file is damaged.
        """
        if not (folder / CONFIDENCE_FILE).is_file():
            return None
        values = json.loads((folder / CONFIDENCE_FILE).read_text("utf-8"))
        trees = Trees.parse(FIRST, values)
        second = Trees.parse(SECOND, values["second"]) if "second" in values else None
        return cls(Words.read(folder / WORDS_FILE), NGrams.read(folder / NGRAMS_FILE), trees, second)

    def to_json(self) -> str:
        """All trees as ``read`` takes them."""
        second = "" if self.second is None else f',\n"second": {self.second.to_json()}'
        return f"{self.trees.to_json()[:-1]}{second}}}\n"

    def warm_up(self) -> None:
        """Load Kiwi and the norm, which the second trees ask, so that the first question does not wait for
        them.
        """
        if self.second is not None:
            load_kiwi()
            article_of("몇일", "며칠", "", "")

    def choose(self, source: str, stretches: Sequence[Stretch]) -> list[Chosen]:
        """The likeliest candidate for each stretch.

        Where the network changed nothing, a candidate is chosen only if it is likelier right than wrong.
        """
        rated = features(source, stretches, self.words, self.ngrams)
        best: dict[int, tuple[float, str]] = {}
        for log_odds, each in zip(self._log_odds(source, stretches, rated), rated, strict=True):
            if each.stretch not in best or log_odds > best[each.stretch][0]:
                best[each.stretch] = float(log_odds), each.text
        for one, other in combinations(best, 2):
            if is_swap(source, *((stretches[each], best[each][1]) for each in (one, other))):
                least = min(best[one][0], best[other][0])
                best |= {each: (least, best[each][1]) for each in (one, other)}
        return [
            Chosen(stretches[number], text, 1 / (1 + math.exp(-min(max(log_odds, -50.0), 50.0))))
            for number, (log_odds, text) in best.items()
            if log_odds > 0 or stretches[number].is_changed
        ]

    def _log_odds(self, source: str, stretches: Sequence[Stretch], rated: Sequence[Rated]) -> np.ndarray:
        log_odds = self.trees.log_odds([each.features for each in rated])
        sentence = OneStretch(source, stretches)
        sure = [each for odds, each in zip(log_odds, rated, strict=True) if odds >= DOUBT]
        slips = {each.stretch for each in sure if each.features.written and each.features.spaces != 1}
        dense = [
            each.features.changes > FEW
            or any(are_apart(source, stretches[each.stretch], stretches[slip]) for slip in slips)
            for each in rated
        ]
        is_asked = np.abs(log_odds) < DOUBT
        if self.second is not None:
            for i in np.flatnonzero(log_odds >= DOUBT).tolist():
                is_asked[i] = not dense[i] and is_rarely_wrong(sentence, rated[i])
        doubtful = np.flatnonzero(is_asked)
        asked = [rated[i] for i in doubtful.tolist()]
        more: Sequence[SecondFeatures | None] = [None] * len(asked)
        if self.second is not None and asked:
            more = second_features(source, stretches, asked)
            log_odds[doubtful] = self.second.log_odds(
                [(*a.features, *m) for a, m in zip(asked, more, strict=True)]
            )
        for i, second in zip(doubtful.tolist(), more, strict=True):
            log_odds[i] = at_natural_rates(log_odds[i], sentence, rated[i], second, dense[i])
        for i in np.flatnonzero(log_odds > 0).tolist():
            stretch = stretches[rated[i].stretch]
            if spoils(stretch.kept, rated[i].text, source[: stretch.start], source[stretch.end :]):
                log_odds[i] = 0.0
        return log_odds


def at_natural_rates(
    log_odds: float, sentence: OneStretch, rated: Rated, second: SecondFeatures | None, is_dense: bool
) -> float:
    """The log odds of a candidate at the rate at which people make its mistake.

    The trees learned from sentences with several mistakes, where a rare word mostly is one more; of what
    people write one word in 50 is, and six of ten mistakes are spaces. The trees are therefore too sure of
    other letters, unless an article of the norm, the better shape of a particle or another slip in the
    sentence (``is_dense``) speaks for them, and not sure enough of spaces, except beside a word that no
    lexicon has: it may be a name. A candidate that replaces known words may be offered, but its confidence is
    at most one half. Names are nouns, so another stem, ending or particle is left to the trees.

    Reference:
        Saerens, Latinne and Decaestecker, "Adjusting the Outputs of a Classifier to New a Priori
        Probabilities" (2002).
    """
    if log_odds <= 0:
        return log_odds
    stretch = sentence.stretches[rated.stretch]
    if rated.features.spaces == 1:
        is_beside_name = second is not None and second.unknown >= max(1, second.unknown_kept)
        return log_odds if is_beside_name else log_odds + SPACES_COMMONER
    if second is None:
        before, after = sentence.source[: stretch.start], sentence.source[stretch.end :]
        is_supported = bool(article_of(stretch.kept, rated.text, before, after))
    else:
        is_supported = second.norm > 0 or second.misshapen < 0
    if is_supported or is_dense:
        return log_odds
    if second is None or JAMO.search(stretch.kept):
        return log_odds - LETTERS_RARER
    if log_odds < SURE_OF_NOUN and is_rarely_wrong(sentence, rated):
        return 0.0
    if is_likelier_grammar(sentence, rated, second.morphemes_kept):
        return log_odds
    if may_be_name(stretch.kept, rated.text, second):
        return 0.0
    if rated.features.spaces == 0 and rated.features.changes < FEW and not second.unknown_kept:
        is_word = rated.features.wrong_count > 0 or second.whole_kept >= max(2, second.whole)
        if log_odds < (SURE_OF_WORD if is_word else SURE_OF_LETTERS):
            return 0.0
    is_slip = (second.unknown_kept and is_no_name(stretch.kept)) or is_long_word(rated.features, second)
    return log_odds if is_slip else log_odds - LETTERS_RARER


def is_swap(source: str, one: tuple[Stretch, str], other: tuple[Stretch, str]) -> bool:
    """Whether what goes in one stretch comes in another of the same word: 생선님 → 선생님.

    That is one mistake. Made alone, the half that goes would leave 생님.
    """
    (mine, text), (them, instead) = one, other
    moves = sorted(mine.kept) != sorted(text) and (mine.kept + text).strip()
    is_same = sorted(mine.kept + them.kept) == sorted(text + instead)
    return bool(moves) and is_same and not are_apart(source, mine, them)


def are_apart(source: str, one: Stretch, other: Stretch) -> bool:
    """Whether two stretches are in different words of the source."""
    return " " in source[min(one.end, other.end) : max(one.start, other.start)]


def is_rarely_wrong(sentence: OneStretch, rated: Rated) -> bool:
    """Whether a candidate changes what is seldom wrong: a noun of the lexicon, or one syllable more.

    Other letters in 친우, 인간미 or 관련설, unless they sound the same (나리, 날이); or a syllable that goes,
    neither stands beside its like nor comes elsewhere: 리스로를 → 리스를.
    """
    if rated.features.spaces == 1:
        return False
    stretch = sentence.stretches[rated.stretch]
    beside = sentence.source[max(stretch.start - 1, 0) : stretch.end + 1]
    beside += "".join(each.written for each in sentence.stretches if each is not stretch)
    gone = Counter(stretch.kept) - Counter(rated.text)
    if gone and len(rated.text) + gone.total() == len(stretch.kept):
        return all(each.isalnum() and beside.count(each) == 1 for each in gone)
    return is_of_noun(*sentence.typed(rated.stretch)) and not sound_the_same(stretch.kept, rated.text)


def is_likelier_grammar(sentence: OneStretch, rated: Rated, likelier: float) -> bool:
    """Whether a candidate writes another stem, ending or particle, so that what it replaces is no name.

    ``likelier``: by how many nats the analyser prefers it. Twice as many are asked where the typed one is a
    stem or an ending, too: 꽃이 펼쳐지다.
    """
    typed, mended = sentence.typed(rated.stretch), sentence.nearby(rated.stretch, rated.text)
    if is_tagged(*mended, PREDICATE):
        return likelier >= (2 * SURER if is_tagged(*typed, PREDICATE) else SURER)
    return likelier >= SURER and is_tagged(*typed, PARTICLE) and is_tagged(*mended, PARTICLE)


def may_be_name(kept: str, text: str, second: SecondFeatures) -> bool:
    """Whether a word that no lexicon has becomes another one by more than one letter (인박스, 인덱스).

    Letters are those of ``spoken_letters``: 하꾜 for 학교 is written as it is heard. The same letters in
    another order (러미, 머리) are a slip.
    """
    if not (second.unknown_kept and kept and text) or " " in kept + text or is_no_name(kept):
        return False  # a syllable that goes or comes may be half of a swap (설지거, 설거지)
    mine, other = spoken_letters(kept), spoken_letters(text)
    return sorted(mine) != sorted(other) and Levenshtein.distance(mine, other) > 1


def is_no_name(text: str) -> bool:
    """Whether a text has a syllable that no name and no loan word has.

    >>> is_no_name("했"), is_no_name("인박스")
    (True, False)
    """
    return any(is_syllable(each) and decompose(each)[2] not in NAME_CODAS for each in text)


def is_long_word(first: Features, second: SecondFeatures) -> bool:
    """Whether a word that no lexicon has becomes a known long one by one jamo: 인터렉티브, 인터랙티브.

    A right word that differs so little from a long one is rare.
    """
    return first.jamo <= 1 and second.unknown_kept > 0 and second.whole_kept < 2 and second.whole >= LONG_WORD


def load_confidence(folder: Path) -> Confidence | None:
    """The judge of the changes of a folder's network; None where the network judges them itself.

    Raises ModelFolderError where a file of it is missing or damaged.
    """
    try:
        return Confidence.read(folder)
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{folder}: {' and '.join(CONFIDENCE_FILES)} are damaged: {error}") from error


def save_confidence(folder: Path, confidence: Confidence) -> None:
    """Write the files that ``load_confidence`` reads."""
    write_atomically(folder / NGRAMS_FILE, confidence.ngrams.write)
    write_atomically(folder / WORDS_FILE, lambda file: file.write(confidence.words.to_bytes()))
    write_atomically(folder / CONFIDENCE_FILE, lambda file: file.write(confidence.to_json().encode()))
