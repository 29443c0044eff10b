"""Effects of a model edit on its pairs, on the same mistakes elsewhere, and on other sentences.

Compare efficacy, generalization and specificity in ROME (Meng et al. 2022).

Each sentence is read once without the edit. Under an edit only those are decoded again in which another token
becomes the most probable one.

Shapes: R rows of all sentences, L layers, H heads, D d_model, F feed-forward width.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from model.analysis.head_effects import agreeing
from model.analysis.kinds import slots
from model.analysis.model_editing import (
    KEY_PAIRS,
    KIND,
    OTHER_PAIRS,
    ModelEdit,
    Pair,
    Refusal,
    batches,
    decoder_rows,
    keys_of,
    own_pairs,
)
from model.correction.answers import Network
from model.norm.articles import article_of
from model.norm.kinds import kinds as norm_kinds
from model.text.changes import find_changes
from model.trace.interventions import Head, Intervention, Node
from model.trace.trace import ATTENTION_KINDS

# Other beginnings of a sentence whose mistake an edit was made from.
OPENINGS = ("그런데 ", "아마 ", "내 생각에는 ", "어제 들었는데 ", "친구 말로는 ", "다시 말하지만 ")
# Kinds of spaces between any words; other kinds of spaces have one rule each.
ANY_WORDS = frozenset(("words_apart", "parted", "one_word", "one_word_verb"))
SAME_KIND = 12  # pairs of the same article that are read


@dataclass(frozen=True)
class EditedText:
    """The network's own output for one sentence, before and after an edit; None without an end mark."""

    pair: Pair
    before: str | None
    after: str | None

    @property
    def outcome(self) -> str:
        """``mended``, ``right`` (before and after), ``forgotten``, ``same`` (still wrong) or ``other``.

        >>> EditedText(Pair("금새", "금세"), before="금새", after="금세").outcome
        'mended'
        """
        was, now = (text == self.pair.wanted for text in (self.before, self.after))
        if was and now:
            return "right"
        if was or now:
            return "mended" if now else "forgotten"
        return "same" if self.before == self.after else "other"


class HeadChange(NamedTuple):
    """The largest change of a row of a head's attention: half the sum of absolute differences, 0 to 1."""

    head: Head
    change: float


@dataclass(frozen=True)
class EditOutcome:
    """The effects of an edit on its pairs, on the same mistakes elsewhere, and on other sentences."""

    size: float  # as of ModelEdit, at this strength
    pairs: tuple[EditedText, ...]
    refused: tuple[Refusal, ...]
    elsewhere: tuple[EditedText, ...]  # other sentences with the same mistake that the network got wrong
    others: tuple[EditedText, ...]  # those that changed
    num_others: int
    others_right: int  # those that the network wrote as wanted before the edit
    heads: tuple[HeadChange, ...]  # for the first pair, the largest change first; only heads that changed
    tried: EditedText | None = None  # another sentence, twice the same text as its pair
    behind: tuple[EditedText, ...] = ()  # the taught sentences behind other words that the network got wrong


def edit_outcome(corrector: Network, edit: ModelEdit, strength: float = 1.0, tried: str = "") -> EditOutcome:
    """The effects of an edit at a ``strength`` from 0, which is none, to 1 or more.

    ``others`` are OTHER_PAIRS sentences of our own, half of them with a mistake. ``tried`` is another
    sentence, whose text is compared.
    """
    intervention, taught = edit.intervention(strength), len(edit.taught)
    behind = tuple(other for pair in edit.taught for other in behind_openings(pair))
    same = tuple(other for pair in edit.taught for other in same_mistake(pair))
    also = (Pair(tried, tried),) if tried and len(tried) <= corrector.config.max_length else ()
    about = _read(corrector, (*edit.taught, *behind, *same, *also)).under(intervention)
    others = _others(corrector).under(intervention)
    ends = np.cumsum([taught, len(behind), len(same)]).tolist()
    again, elsewhere = (
        tuple(each for each in about[first:last] if each.before != each.pair.wanted)
        for first, last in pairwise(ends)
    )
    return EditOutcome(
        size=strength * edit.size,
        pairs=tuple(about[:taught]),
        refused=edit.refused,
        elsewhere=elsewhere,
        others=tuple(each for each in others if each.before != each.after),
        num_others=len(others),
        others_right=sum(each.before == each.pair.wanted for each in others),
        heads=changed_heads(corrector, edit.taught[0], intervention) if edit.taught else (),
        tried=about[-1] if also else None,
        behind=again,
    )


@lru_cache(maxsize=1)
def _others(corrector: Network) -> "ReadSentences":
    """Our own sentences that an edit should leave alone, kept for the next edit of the same network."""
    pairs = [pair for _, pair in own_pairs()[KEY_PAIRS : KEY_PAIRS + OTHER_PAIRS]]
    return ReadSentences(corrector, sorted(pairs, key=lambda pair: len(pair.wrong)))


@lru_cache(maxsize=1)
def _read(corrector: Network, pairs: tuple[Pair, ...]) -> "ReadSentences":
    """The sentences about an edit, kept for its other strengths."""
    return ReadSentences(corrector, pairs)


class Written(NamedTuple):
    """The network's own output for the wrong sentence of a pair; None without an end mark."""

    pair: Pair
    ids: list[int] | None
    text: str | None


def written(
    corrector: Network, pairs: Sequence[Pair], intervention: Intervention | None = None
) -> list[Written]:
    """The network's own output for each wrong sentence.

    Most sentences are written as wanted, which one pass over the wanted sentence shows.
    """
    found: list[Written] = []
    tokenizer, change = corrector.tokenizer, intervention or Intervention()
    for some in batches(pairs):
        wanted = [(pair, tokenizer.encode_target(pair.wanted)) for pair in some]
        agreed = dict(zip(some, _agreeing(corrector, wanted, change), strict=True))
        others = [pair for pair, agrees in agreed.items() if not agrees]
        sources = [tokenizer.encode_source(pair.wrong) for pair in others]
        produced = corrector.laboratory.write(sources, [change] * len(others)) if others else []
        ids = {pair: each and each.ids for pair, each in zip(others, produced, strict=True)}
        for pair, target in wanted:
            tokens = target if agreed[pair] else ids[pair]
            text = None if tokens is None else tokenizer.decode(tokens, pair.wrong)
            found.append(Written(pair, tokens, text))
    return found


def _agreeing(
    corrector: Network, targets: Sequence[tuple[Pair, list[int]]], intervention: Intervention
) -> list[bool]:
    """Of each target, whether all its tokens are the most probable ones: then greedy decoding writes it."""
    encode = corrector.tokenizer.encode_source
    return agreeing(corrector, [(encode(pair.wrong), ids) for pair, ids in targets], intervention)


class ReadSentences:
    """The network's own outputs for some pairs, and its last feed-forward network in those passes.

    An edit of the last layer changes nothing before that layer, so the edited logits follow from the keys
    and from the end of the stream, which are kept. A row whose margin is larger than an edit can move it
    keeps its token, so 200 sentences take no pass at all.
    """

    def __init__(self, corrector: Network, pairs: Sequence[Pair]):
        self._corrector, self.written = corrector, written(corrector, pairs)
        self._ended = [(each.pair, each.ids) for each in self.written if each.ids is not None]
        network = corrector.patched
        self._last = Node(KIND, network.layers("decoder") - 1)
        places = self._last.sublayer, -1
        nothing = np.zeros((len(places), 0, network.config.d_model), np.float32)
        streams = (decoder_rows(corrector, some, places) for some in batches(self._ended))
        before, self._end = np.concatenate([nothing, *streams], axis=1)  # (R, D), the rows of all sentences
        self._keys = keys_of(network, self._last.layer, before)  # (R, F)
        self._closed = network.close("decoder", self._end)
        parts = np.array_split(self._closed, 1 + len(self._closed) // 1000)  # all logits are 100 MB and more
        highest = [np.sort(network.logits(each), axis=-1)[:, -2:] for each in parts]
        self._margins = np.concatenate(highest) @ [-1.0, 1.0]  # (R,) nats
        # By how many nats a step of length 1 in the closed stream can move two logits apart, at most.
        self._reach = 2 * np.linalg.norm(network.vectors[: network.config.vocab_size], axis=1).max()

    def under(self, intervention: Intervention) -> list[EditedText]:
        """The outputs under an edit beside the plain ones.

        A sentence whose rows keep their most probable tokens keeps its text, so only the others are decoded.
        """
        touched = self._touched(intervention)
        again = [each.pair for each in self.written if each.ids is None or each.pair in touched]
        after = {each.pair: each.text for each in written(self._corrector, again, intervention)}
        return [EditedText(each.pair, each.text, after.get(each.pair, each.text)) for each in self.written]

    def _touched(self, intervention: Intervention) -> set[Pair]:
        """The pairs in which another token becomes the most probable one in some row."""
        network = self._corrector.patched
        if [edit.node for edit in intervention.kernels] != [self._last] or not network.config.norm_first:
            return self._touched_in_passes(intervention)
        closed = network.close("decoder", self._end + intervention.kernels[0].added(self._keys))
        moved = self._reach * np.linalg.norm(closed - self._closed, axis=-1)
        rows = np.flatnonzero(moved > self._margins)
        ids = np.array([token for _, ids in self._ended for token in ids], int)
        other = rows[network.logits(closed[rows]).argmax(axis=-1) != ids[rows]]
        pairs = [pair for pair, ids in self._ended for _ in ids]
        return {pairs[row] for row in other}

    def _touched_in_passes(self, intervention: Intervention) -> set[Pair]:
        touched: set[Pair] = set()
        for some in batches(self._ended):
            agree = _agreeing(self._corrector, some, intervention)
            touched |= {pair for (pair, _), agrees in zip(some, agree, strict=True) if not agrees}
        return touched


def behind_openings(pair: Pair) -> list[Pair]:
    """The same sentence behind other words: whether the edit needs the sentence's beginning."""
    return [Pair(opening + pair.wrong, opening + pair.wanted) for opening in OPENINGS]


def same_mistake(pair: Pair) -> list[Pair]:
    """Our own other sentences with a mistake of the pair, by its article: whether the mistake was learned.

    Not in the word that was taught, and fragments only where no sentence has it.
    """
    kinds = set()
    for change in find_changes(*pair):
        before, after = pair.wanted[: change.target_start], pair.wanted[change.target_end :]
        article = article_of(change.wrong, change.right, before, after)
        # Letters of a kind of certain misspellings are in words that have nothing else in common.
        if article and (" " in change.wrong + change.right or not norm_kinds()[article.kind].is_certain):
            kinds.add(article.kind)
    own = [(kind, each) for kind, each in own_pairs() if kind in kinds and each.wrong != each.wanted]
    taught = _words(pair.wrong) - _words(pair.wanted)
    other = [(kind, each) for kind, each in own if not taught & _words(each.wrong)]
    found = dict.fromkeys(each for kind, each in other if _mended(pair, kind) & _mended(each, kind))
    sentences = [each for each in found if each.wanted.endswith((".", "?", "!"))]
    return (sentences or list(found))[:SAME_KIND]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _mended(pair: Pair, kind: str) -> set[tuple[str, ...]]:
    """What tells the mistakes of a kind apart: the letters that are mended, or the words beside a space.

    >>> sorted(_mended(Pair("그 첫수업에", "그 첫 수업에"), "words_apart"))
    [('before', '첫'), ('behind', '수업')]
    >>> _mended(Pair("할께", "할게"), "plain_ending")
    {('ㄲㄱ',)}
    """
    found: set[tuple[str, ...]] = set()
    for change in find_changes(*pair):
        wrong, right = change.wrong, change.right
        if " " not in wrong + right:
            letters = zip(slots(wrong), slots(right), strict=False)
            found.add(tuple("".join(each) for each in letters if each[0] != each[1]) or (wrong, right))
        elif kind in ANY_WORDS:
            parted, joined = (pair.wanted, change.target_start), (pair.wrong, change.source_start)
            text, start = parted if " " in right else joined
            found.add(("before", text[:start].rpartition(" ")[2]))
            found.add(("behind", text[start:].lstrip().partition(" ")[0][:2]))
        else:
            found.add((" ",))
    return found


def changed_heads(corrector: Network, pair: Pair, intervention: Intervention) -> tuple[HeadChange, ...]:
    """The heads whose attention the intervention changes in the pass over the wanted sentence."""
    ids = corrector.tokenizer.encode_source(pair.wrong), corrector.tokenizer.encode_target(pair.wanted)
    before, after = (corrector.laboratory.taps(*ids, ATTENTION_KINDS, each) for each in (None, intervention))
    found = []
    for kind in ATTENTION_KINDS:
        moved = np.abs(after[kind] - before[kind]).sum(axis=-1).max(axis=-1) / 2  # (L, H)
        found += [
            HeadChange(Head(kind, *map(int, at)), float(moved[tuple(at)])) for at in np.argwhere(moved > 1e-6)
        ]
    return tuple(sorted(found, key=lambda each: -each.change))
