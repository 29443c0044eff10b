"""``Mending``: both readings of a text; misspellings of the norm that the network missed.

``Mending`` is the base class of ``Corrector``. The network writes one character after the other, and a
candidate exchanges one of them (``candidates``). So a misspelling of several characters (또아리 for 똬리) may
have no right candidate, and a loan word that people often misspell (디렉토리) may look right. A wrong
spelling of the norm's tables becomes a candidate if no word of the training sentences begins with it; the
network rates it in a pass over the mended text, and a spelling that it finds impossible there stays.

In 120,000 training sentences, which are right but for what their writers missed, it changes 128 places that
the network leaves; 10 of these are right as they stand, names and rare words such as 소연.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from model.activations.drafting import Produced
from model.activations.token_network import TokenNetwork
from model.correction.candidates import Answer, Stretch, find_stretches, read
from model.correction.confidence import Confidence
from model.correction.counts import Words, find_words
from model.correction.proposing import (
    Edits,
    after_second_reading,
    as_if_right,
    changes_of,
    find_edits,
    is_supported,
    made,
    meet,
    offered_in_dialect,
    weighed,
    with_edits,
    with_probabilities,
)
from model.norm import misspellings
from model.norm.kinds import Misspelling, kinds
from model.stored.config import NetworkConfig
from model.text.changes import Change, apply_changes, find_changes, in_order, select_changes
from model.text.passages import Passage
from model.text.protected import (
    kept_spans,
    spares_emphasis,
    spares_gaps,
    spares_outcries,
    spares_protected,
    spares_verbatim,
    spares_words,
    verbatim_spans,
)
from model.text.readings import fitting, reading
from model.text.tokenizer import Tokenizer

CONFIDENCE = 0.95
# The least probability, by the network, of the right spelling; a word of three syllables or more whose right
# spelling is known is seldom another word.
LEAST_PROBABILITY, LEAST_OF_LONG = 0.3, 0.02
LONG = 3
PARTICLE = re.compile(r"(?:으로|로|[은는이가을를와과])(?=(?:[는도만의써서]|부터|까지)?(?![0-9A-Za-z가-힣]))")


class KnownMistake(NamedTuple):
    """The changes of ``text`` that mend one misspelling, and the least probability that they need."""

    changes: tuple[Change, ...]
    least: float

    @property
    def is_certain(self) -> bool:
        """Whether it needs no probability, so that it is made instead of another change, too."""
        return self.least == 0

    def meets(self, others: Iterable[Change]) -> bool:
        """Whether one of its changes touches one of the ``others``."""
        return any(meet(change, other) for change in self.changes for other in others)

    def is_settled(self, made: Sequence[Change]) -> bool:
        """Whether the changes that are ``made`` mend it, or, unless it is certain, mend something there."""
        if not self.is_certain and self.meets(made):
            return True
        return all(any(_includes(other, each) for other in made) for each in self.changes)

    def proposed(self, text: str, rate: Callable[[Change], Change]) -> tuple[Change, ...]:
        """Its changes of ``text`` with their probabilities, by ``rate``, and their confidence; none if the
        network finds them impossible. A dialect form in quotes is offered.
        """
        rated = tuple(map(rate, self.changes))
        if math.prod(each.fix_probability or 0.0 for each in rated) < self.least:
            return ()
        known = partial(replace, known_confidence=CONFIDENCE, from_list=True)
        return tuple(offered_in_dialect(known(each, instead_of=each.wrong), text) for each in rated)


def _includes(change: Change, part: Change) -> bool:
    """Whether ``change`` makes ``part``, and else no more than spaces beside its letters: 안되요, 안 돼요."""
    start, stop = (place - change.source_start for place in (part.source_start, part.source_end))
    if start < 0 or change.source_end < part.source_end:
        return False
    alone, right = change.wrong[:start] + part.right + change.wrong[stop:], change.right
    return alone == right or (not part.moves_spaces and alone.replace(" ", "") == right.replace(" ", ""))


def find_known_mistakes(text: str, words: Words) -> list[KnownMistake]:
    """The misspellings of ``text`` that are certain, or that no word of the training sentences begins with.

    They are in order and apart from each other; of rows for the same place the longest counts, a certain
    one before others. Short beginnings of predicates are left out: 마나, for 많아, begins other words.

    >>> (found,) = find_known_mistakes("뱃지를 달았다.", Words({"배지": 9}))
    >>> [(change.wrong, change.right) for change in found.changes], found.least
    ([('뱃', '배')], 0.3)
    """
    found: list[KnownMistake] = []
    done = 0
    for start, row in sorted(misspellings(text), key=_rank):
        end = start + len(row.wrong)
        if start >= done and (_is_certain(row) or _is_seldom_right(text, start, row, words)):
            done = end
            found.append(_mistake(text, start, row, words))
    return found


def _rank(site: tuple[int, Misspelling]) -> tuple[int, int, bool]:
    start, row = site
    return start, -len(row.wrong), not _is_certain(row)


def _is_certain(row: Misspelling) -> bool:
    return kinds()[row.name].is_certain


def _is_seldom_right(text: str, start: int, row: Misspelling, words: Words) -> bool:
    is_word = max(len(row.wrong), len(row.right)) >= LONG or row.boundary in ("noun", "both")
    return is_word and not _is_known(text, start, start + len(row.wrong), words)


def _mistake(text: str, start: int, row: Misspelling, words: Words) -> KnownMistake:
    stop = start + len(row.right)
    before, after = text[:start] + row.right, text[start + len(row.wrong) :]
    is_long = len(row.wrong) >= LONG and _is_known(before + after, start, stop, words)
    if particle := PARTICLE.match(after):  # 케잌을, 케이크를
        form = particle[0]
        if fitting(form, reading(text[: start + len(row.wrong)])) == form:
            after = fitting(form, reading(before)) + after[len(form) :]
    least = 0.0 if _is_certain(row) else LEAST_OF_LONG if is_long else LEAST_PROBABILITY
    return KnownMistake(find_changes(text, before + after), least)


def _is_known(text: str, start: int, end: int, words: Words) -> bool:
    """Whether each word in ``text[start:end]`` begins with a counted word that covers its part of that."""
    return all(
        any(words.counts.get(word[:length]) for length in range(min(last, end) - first, len(word) + 1))
        for first, word in find_words(text)
        if first < end and start < (last := first + len(word))
    )


BATCH_SENTENCES = 64
MOST_READINGS = 4  # of a sentence, see ``second_reading``

# Of a sentence: its changes, and the pass that wrote the answer.
Proposed = tuple[tuple[Change, ...], Produced | None]


class Mending:
    """Lets the network read sentences, and decides on the changes in them."""

    config: NetworkConfig
    tokenizer: Tokenizer
    confidence: Confidence | None
    words: re.Pattern[str] | None = None  # of ``own_words``: a person's, left alone
    _network: TokenNetwork

    def propose(self, sentences: list[Passage], keep_passes: bool) -> list[Proposed]:
        """For each sentence the changes, proposed and offered, and the pass that wrote the answer.

        An answer depends on nothing but its passage, so a subclass may keep it.

        The pass is None unless ``keep_passes`` is set and one pass read the whole sentence as it was typed.
        """
        different = list(dict.fromkeys(sentences))  # in a file the same sentence may come many times
        proposed = self._network.spread(partial(self._with_edits, keep_passes), different)
        found = dict(zip(different, proposed, strict=True))
        return [found[sentence] for sentence in sentences]

    def _with_edits(self, keep_passes: bool, sentences: list[Passage]) -> list[Proposed]:
        """The proposed changes of each sentence, with the edits that were made before it was read.

        A sentence with a known mistake that the network missed is read again without it, until none is left:
        the network may miss another one then, which it had mended.
        """
        edits = [self._edits(sentence) for sentence in sentences]
        proposed = self._read_with(sentences, edits, keep_passes)
        asked: Iterable[int] = range(len(sentences))
        while missed := self._missed(sentences, edits, proposed, asked):
            asked = list(missed)
            again = self._read_with([sentences[i] for i in missed], [*missed.values()], keep_passes)
            for i, one in zip(missed, again, strict=True):
                edits[i], proposed[i] = missed[i], one
        return proposed

    def _read_with(
        self, sentences: Sequence[Passage], edits: Sequence[Edits], keep_passes: bool
    ) -> list[Proposed]:
        to_read = [as_if_right(sentence, mine.all) for sentence, mine in zip(sentences, edits, strict=True)]
        proposed = [
            (with_edits(changes, mine), None) if mine.all else (changes, produced)
            for (changes, produced), mine in zip(self._mended(to_read, keep_passes), edits, strict=True)
        ]
        for i, sentence in enumerate(sentences):
            if any(each.is_weighed for each in edits[i].shown):
                proposed[i] = self._with_particles_rated(sentence.text, proposed[i][0]), None
        return proposed

    def _missed(
        self,
        sentences: Sequence[Passage],
        edits: Sequence[Edits],
        proposed: Sequence[Proposed],
        numbers: Iterable[int],
    ) -> dict[int, Edits]:
        """The edits of the sentences with these ``numbers``, with the known mistakes that the network did not
        mend but finds possible to mend.
        """
        if self.confidence is None:
            return {}
        asked = [
            (i, mistake)
            for i in numbers
            if len((sentence := sentences[i]).text) <= self.config.max_length
            for mistake in find_known_mistakes(sentence.text, self.confidence.words)
            if all(self._accepts(sentence, change) for change in mistake.changes)
            and not mistake.meets(edits[i].all)
            and not mistake.is_settled(made(weighed(proposed[i][0]), self.config.minimum_confidence))
        ]
        passes = self._network.read(
            [self.tokenizer.encode_source(sentences[i].text) for i, _ in asked],
            [self.tokenizer.encode_target(apply_changes(sentences[i].text, m.changes)) for i, m in asked],
        )
        found: dict[int, Edits] = {}
        for (i, mistake), produced in zip(asked, passes, strict=True):
            text = sentences[i].text
            if changes := mistake.proposed(text, self._probable(text, produced)):
                known = found.get(i, edits[i])
                found[i] = known._replace(shown=in_order([*known.shown, *changes]))
        return found

    def _edits(self, sentence: Passage) -> Edits:
        """The edits of a sentence; none where no word is known."""
        if self.confidence is None or len(sentence.text) > self.config.max_length:
            return Edits()
        return find_edits(sentence, self.confidence.words)

    def _with_particles_rated(self, source: str, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """The changes, those of particles with their probabilities in a pass over the text with all changes
        but offers.
        """
        rated = weighed(changes)
        ids = (
            self.tokenizer.encode_source(source),
            self.tokenizer.encode_target(apply_changes(source, rated)),
        )
        (produced,) = self._network.read([ids[0]], [ids[1]])
        rate = self._probable(source, produced)
        rated = tuple(rate(change) if change.fix_probability is None else change for change in rated)
        return in_order([*rated, *(change for change in changes if not change.is_weighed)])

    def _mended(self, sentences: list[Passage], keep_passes: bool) -> list[Proposed]:
        """The proposed changes of each sentence after all readings of it, and the pass of the answer."""
        proposed, minimum = self._one_reading(sentences, keep_passes), self.config.minimum_confidence
        if self.confidence is None:
            return proposed
        unsettled = [i for i, (changes, _) in enumerate(proposed) if made(changes, minimum)]
        for _ in range(MOST_READINGS - 1):
            if not unsettled:
                break
            texts = [apply_changes(sentences[i].text, made(proposed[i][0], minimum)) for i in unsettled]
            passages = [
                Passage.of(text, verbatim_spans(text), kept_spans(text, self.words)) for text in texts
            ]
            again = self._one_reading(passages, False)
            more = [
                (i, second) for i, (second, _) in zip(unsettled, again, strict=True) if made(second, minimum)
            ]
            for i, second in more:
                first, _ = proposed[i]
                proposed[i] = after_second_reading(sentences[i].text, first, second, minimum), None
            unsettled = [i for i, _ in more]
        for i in unsettled:  # the last reading still changed something: the sentence is left as it was typed
            proposed[i] = (), None
        return proposed

    def _one_reading(self, sentences: list[Passage], keep_passes: bool) -> list[Proposed]:
        """The proposed changes of each sentence after one reading, and the pass of the answer."""
        proposed: list[Proposed] = [((), None)] * len(sentences)
        for batch in self._answers(sentences):
            weighed = iter(self._weigh([answer for answers in batch.values() for answer in answers]))
            for i, answers in batch.items():
                parts = [(answer.part, *next(weighed)) for answer in answers]
                changes = in_order(each.moved(part.start, 0) for part, mine, _ in parts for each in mine)
                whole = [produced for part, _, produced in parts if part.text == sentences[i].text]
                proposed[i] = changes, whole[0] if keep_passes and whole else None
        return proposed

    def _answers(self, sentences: list[Passage]) -> Iterator[dict[int, list[Answer]]]:
        """The network's answers to each sentence, by its number, a batch at a time; without those that it
        cannot read.
        """
        # Only Hangul is corrected, so a sentence without Hangul is left as it is.
        longest = self.config.max_length
        readable = [i for i, each in enumerate(sentences) if each.has_prose and len(each.text) <= longest]
        # Sentences of about the same length need little padding.
        readable.sort(key=lambda i: len(sentences[i].text))
        for first in range(0, len(readable), BATCH_SENTENCES):
            yield read({i: sentences[i] for i in readable[first : first + BATCH_SENTENCES]}, self._write)

    def _write(self, texts: list[str]) -> list[tuple[str, Produced] | None]:
        """The ``write`` of ``candidates.read``."""
        produced = self._network.produce([self.tokenizer.encode_source(text) for text in texts])
        return [
            None if one is None else (self.tokenizer.decode(one.ids, text), one)
            for text, one in zip(texts, produced, strict=True)
        ]

    def _weigh(self, answers: list[Answer]) -> list[tuple[tuple[Change, ...], Produced]]:
        """For each answer the proposed changes with their probabilities, and the pass that these come
        from.
        """
        if self.confidence is None:
            return [(self._written(answer), answer.produced) for answer in answers]
        chosen = [self._chosen(answer, self.confidence) for answer in answers]
        targets = [apply_changes(a.source, changes) for a, changes in zip(answers, chosen, strict=True)]
        # If the proposed text is not the network's own, one more pass is needed for its probabilities.
        others = [i for i, answer in enumerate(answers) if chosen[i] and targets[i] != answer.target]
        passes = self._network.read(
            [self.tokenizer.encode_source(answers[i].source) for i in others],
            [self.tokenizer.encode_target(targets[i]) for i in others],
        )
        produced = [answer.produced for answer in answers]
        for i, one in zip(others, passes, strict=True):
            produced[i] = one
        return [
            (
                select_changes(
                    map(self._probable(answer.source, one), changes),
                    partial(is_supported, source=answer.source),
                ),
                one,
            )
            for answer, changes, one in zip(answers, chosen, produced, strict=True)
        ]

    def _written(self, answer: Answer) -> tuple[Change, ...]:
        """The network's own changes, as far as they may be proposed, with their probabilities."""
        changes = find_changes(answer.source, answer.target) if answer.is_new else ()
        probable = map(self._probable(answer.source, answer.produced), changes)
        return select_changes(probable, partial(self._accepts, answer.part))

    def _chosen(self, answer: Answer, confidence: Confidence) -> tuple[Change, ...]:
        """The candidates that are likeliest right, as changes with their confidence."""
        chosen = confidence.choose(answer.source, self._stretches(answer))
        return changes_of(answer.source, chosen, partial(self._accepts, answer.part))

    def _stretches(self, answer: Answer) -> tuple[Stretch, ...]:
        if answer.is_torn:
            return ()
        accepts = partial(self._accepts, answer.part)
        return find_stretches(answer.source, answer.target, answer.produced, self.tokenizer, accepts)

    def _probable(self, source: str, produced: Produced) -> Callable[[Change], Change]:
        """A function that gives a change of ``source`` its probabilities in this pass."""
        original = self.tokenizer.encode_target(source)
        return lambda change: with_probabilities(change, produced, original[change.source_start])

    def _accepts(self, part: Passage, change: Change) -> bool:
        """Whether a change may be proposed.

        It may not touch a protected character, a laugh or text that is no prose. It may not remove a word,
        nor move spaces beside a character that the network cannot read. Without a ``confidence`` it may
        remove words: the network may be an early snapshot that is still learning to keep them, and its answer
        is shown as it is.
        """
        source = part.text
        return (
            spares_protected(change)
            and spares_outcries(change, source)
            and spares_emphasis(change, source)
            and spares_gaps(change, source)
            and spares_verbatim(change, (*part.verbatim, *part.kept))
            and (
                self.confidence is None
                or (spares_words(change, source) and self.confidence.words.spares_nouns(change, source))
            )
            and self._can_judge(change, source)
        )

    def _can_judge(self, change: Change, source: str) -> bool:
        """False for a change that only moves spaces beside a character outside the vocabulary.

        An emoji, half an emoji and an opening bracket are all the same token to the network, ``<outside>``,
        but need different spaces.
        """
        if not change.moves_spaces:
            return True
        around = source[max(change.source_start - 1, 0) : change.source_end + 1]
        return not any(map(self.tokenizer.is_outside, around))
