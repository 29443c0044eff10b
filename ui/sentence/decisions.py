"""Corrected text with a person's decisions: changes accepted or rejected, change in focus.

A person may accept a change of which the network was unsure, and reject one of which it was sure. The
``Correction`` applies the decisions (``with_decisions``) without asking the network; only the attention of a
text that the network did not write itself takes a new pass.

``show_sentence`` is for pages without a text area: it shows the sentence that the main page showed last.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from os.path import commonprefix
from typing import ClassVar

import streamlit as st

from model.analysis.kinds import reason_of
from model.text.changes import Change, apply_changes
from model.text.protected import without_particle
from model.text.tokenizer import normalise, split_sentences
from model.trace.trace import Described
from ui.asking import loaders, models
from ui.components.correction import (
    Proposal,
    correction,
    correction_data,
    kind_name,
    offered_with,
    written_data,
)
from ui.shell import address, controls, header, markup, own_words
from ui.shell.runs import spinner
from ui.shell.settings import ACCEPTED, ASKED, EDIT, PART, REJECTED, Place, Places
from ui.wording import LONGEST_SIDE, language, say
from viz.labels import capital, confidence, probability, visible_token

Span = tuple[int, int]


@dataclass(frozen=True)
class Decisions:
    """A person's decisions about a correction: the minimum confidence, and single changes."""

    minimum: float | None  # None: the model's own
    accepted: frozenset[Place]  # stretches of the text, or proposals by their numbers from 0
    rejected: frozenset[Place]

    SETTINGS: ClassVar = (ACCEPTED.name, REJECTED.name)

    @classmethod
    def read(cls) -> Decisions:
        accepted, rejected = (frozenset(each.read(address.get(each.name))) for each in (ACCEPTED, REJECTED))
        return cls(address.get_share("confidence"), accepted, rejected)

    def keep(self) -> None:
        """Put the stretches into the address."""
        for name, places in zip(self.SETTINGS, (self.accepted, self.rejected), strict=True):
            address.put(name, Places.written(each for each in places if isinstance(each, tuple)))

    def moved(self, before: str, after: str) -> Decisions:
        """The decisions about the text ``before`` that hold where it has become ``after``: those outside of
        the stretch that was typed anew.

        >>> one = Decisions(None, frozenset({(3, 5)}), frozenset())
        >>> one.moved("밥을 머거", "늘 밥을 머거").accepted
        frozenset({(5, 7)})
        """
        before, after = normalise(before), normalise(after)
        start = len(commonprefix([before, after]))
        end = len(before) - len(commonprefix([before[start:][::-1], after[start:][::-1]]))
        drift = len(after) - len(before)

        def kept(places: frozenset[Place]) -> frozenset[Place]:
            spans = [each for each in places if isinstance(each, tuple)]
            behind = {(first + drift, last + drift) for first, last in spans if first >= end}
            return frozenset({span for span in spans if span[1] <= start} | behind)

        return replace(self, accepted=kept(self.accepted), rejected=kept(self.rejected))

    def placed(self, found: loaders.Correction) -> Decisions:
        """The decisions by their stretches of the text, those of earlier links, too."""
        accepted, rejected = self.spans(found)
        return replace(self, accepted=frozenset(accepted), rejected=frozenset(rejected))

    def spans(self, found: loaders.Correction) -> tuple[set[Span], set[Span]]:
        """The stretches of the text that were accepted and rejected."""
        known = dict(enumerate(_span(change) for change in found.proposed))
        accepted, rejected = (
            {
                span
                for each in places
                if (span := known.get(each) if isinstance(each, int) else each) is not None
            }
            for places in (self.accepted, self.rejected)
        )
        return accepted, rejected

    def numbers(self, found: loaders.Correction) -> tuple[set[int], set[int]]:
        """The proposals of ``found`` that were accepted and rejected, from 0. A word that was left as typed
        stays so if the network proposes something else for it."""
        made, left = self.spans(found)
        spans = [_span(change) for change in found.proposed]
        rejected = {n for n, span in enumerate(spans) if any(_meet(span, each) for each in left)}
        return {n for n, span in enumerate(spans) if span in made} - rejected, rejected

    def applied(self, found: loaders.Correction, own_minimum: float) -> loaders.Correction:
        """``found`` with these decisions, without asking the network; ``found`` itself if nothing was
        decided."""
        if self.minimum is not None and self.minimum != own_minimum:
            found = found.with_minimum_confidence(self.minimum)
        numbers = self.numbers(found)
        return found.with_decisions(*numbers) if any(numbers) else found


def shown(found: loaders.Correction) -> tuple[loaders.SentenceCorrection | None, Change | None]:
    """The sentence whose pictures are shown, and its change in focus."""
    if not found.sentences:
        return None, None
    sentence = found.sentences[_opened(found)]
    return sentence, _in_focus(sentence)


@dataclass(frozen=True)
class Doing:
    """The actions that a page offers on a correction."""

    decides: bool = True  # accept and reject; without it no network can be asked about the other text
    tests: bool = False  # open the tested explanation of a change
    keeps_words: bool = False  # leave a word alone from now on


def show_correction(
    found: loaders.Correction,
    doing: Doing = Doing(),
    rest: str = "",
    told: Described | None = None,
    typed: str | None = None,
) -> tuple[loaders.SentenceCorrection | None, Change | None]:
    """Draw the corrected text; returns the sentence whose pictures are shown, and its change in focus.

    ``typed`` is the text as the text area has it, if the page has one. ``rest`` is the text behind it that
    was not read. The description of a visitor's own model, ``told``, may say that it does not correct: then
    the text is shown unmarked.
    """
    place = _opened(found)
    sentence = found.sentences[place] if found.sentences else None
    if told is not None and told.task != "correct":
        words = _words([], Doing(decides=False)) | {"label": say(f"written_{told.task}")}
        data = written_data(found, opened=place, words=words, language=told.language) | {"typed": typed}
        correction(data, "correction", lambda what, number: _answer(found, what, number, decides=False))
        return sentence, None
    proposals = _proposals(found)
    chosen = _chosen(sentence)
    number = _number(found, place, chosen)
    words = _words(proposals, doing, any(each.rejected for each in found.sentences))
    if rest:
        words["copied"] = say("copied_with_rest", left=f"{len(rest):,}")
    data = correction_data(found, proposals, chosen=number, opened=place, rest=rest)
    data |= {"words": words, "typed": typed}
    correction(data, "correction", lambda what, number: _answer(found, what, number, doing.decides))
    return sentence, _in_focus(sentence)


def _share(change: Change) -> str:
    if change.is_english_layout:
        return say("correction_layout")
    return confidence(change.confidence) if change.is_weighed else "–"


def _words(proposals: list[Proposal], doing: Doing, undone: bool = False) -> dict[str, str]:
    made = {proposal.made for proposal in proposals}
    offered = "correction_hint_both" if True in made else "correction_hint_offered"
    hint = offered if False in made else "correction_hint"
    shown = {
        "reject": doing.decides,
        "none": doing.decides,
        "all": doing.decides and undone,
        "own": doing.keeps_words,
        "test": doing.tests,
    }
    return {
        "label": say("corrected_label"),
        "copy": say("copy"),
        "copy_long": say("copy_corrected"),
        "copied": say("copied"),
        "behind": say("copy_behind"),
        "hint": say(hint) if proposals else "",  # without proposals a message says so
        "accept": say("correction_accept", text="{text}", share="{share}"),
        "accept_layout": say("correction_accept_layout", text="{text}"),
        "open": say("correction_open", number="{number}"),
        "count": say("correction_count", count="{count}"),
        **{name: say(f"correction_{name}") for name in ("left", "previous", "next", "close")},
        **{name: say(f"correction_{name}") if is_shown else "" for name, is_shown in shown.items()},
    }


def _opened(found: loaders.Correction) -> int:
    """The sentence that was opened, from 0; else the first that changed."""
    part = controls.place(PART, len(found.sentences))
    if part is not None:
        return part
    return next((n for n, sentence in enumerate(found.sentences) if sentence.changes), 0)


def _chosen(sentence: loaders.SentenceCorrection | None) -> int | None:
    """Which of the sentence's changes is in focus, from 0."""
    return controls.place(EDIT, len(sentence.changes)) if sentence else None


def _in_focus(sentence: loaders.SentenceCorrection | None) -> Change | None:
    """The change in focus, with the question that is asked about it."""
    chosen = _chosen(sentence)
    if sentence is None or chosen is None:
        return None
    change = sentence.changes[chosen]
    return replace(change, asked=controls.place(ASKED, len(change.questions)) or 0)


def _proposals(found: loaders.Correction) -> list[Proposal]:
    proposals = []
    for first, sentence in zip(_firsts(found), found.sentences, strict=False):
        made = {_span(change) for change in sentence.changes}
        target = apply_changes(sentence.source, sentence.proposed)  # to which the offsets of proposals belong
        for number, change in enumerate(sentence.proposed, first):
            is_made = _span(change) in made
            if is_made or change.is_offered:
                whole = change.moved(sentence.start, sentence.start)
                card = _card(change, sentence, target) if is_made else {}
                proposals.append(Proposal(number, whole, is_made, _share(change), **card))
    return proposals


def _span(change: Change) -> Span:
    return change.source_start, change.source_end


def _meet(one: Span, other: Span) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])


def _card(change: Change, sentence: loaders.SentenceCorrection, target: str) -> dict:
    """The texts of a card: what was wrong, why, and how sure it is."""
    if change.is_english_layout:
        return {"kinds": ("layout",), "why": say("mistake_layout_why")}
    reason = reason_of(change, sentence.source, target)
    kinds, article = reason.kinds, reason.article
    found: dict = {"kinds": kinds}
    if article is not None:
        name, told = article.told(language())
        if kinds[0] == "word":
            told = f"{say('mistake_word_why')} {told}"
        found |= {"article": "" if name in told else name, "why": told}
    else:
        joined = kinds[0] == "spacing" and len(change.right) < len(change.wrong)
        rules = ", ".join(say(f"rule_{rule}") for rule in reason.rules)
        found["why"] = say("mistake_joined_why" if joined else reason.why, rules=rules)
    if not change.is_weighed:
        return found | {"sure": say("correction_unweighed")}
    level = next(level for level, least in _SURE.items() if change.confidence >= least)
    share = confidence(change.confidence, sentence.minimum_confidence)
    found["sure"] = say("correction_sure", words=say(f"sure_{level}"), confidence=share)
    if change.from_list:
        fix = probability(change.fix_probability or 0.0)
        found["note"] = say("correction_from_list", probability=fix)
    elif change.instead_of is not None:
        text = visible_token(change.instead_of, LONGEST_SIDE) or "∅"
        found["note"] = say("correction_instead_of", text=text)
    return found


def reason_in_words(change: Change, sentence: loaders.SentenceCorrection) -> str:
    """The card of a change in one paragraph: its kind, the reason, and how sure it is."""
    card = _card(change, sentence, apply_changes(sentence.source, sentence.proposed))
    kinds, article = ", ".join(map(kind_name, card["kinds"])), card.get("article", "")
    why = f"{card['why'].rstrip('.')} ({article})." if article else card["why"]
    return " · ".join(filter(None, (kinds, why, capital(card.get("sure", "")))))


_SURE = {"certain": 0.97, "sure": 0.85, "likely": 0.6, "unsure": 0.0}  # the least confidence of each


def _number(found: loaders.Correction, place: int, chosen: int | None) -> int | None:
    """The number among all proposals of the change in focus."""
    if chosen is None:
        return None
    sentence, span = found.sentences[place], _span(found.sentences[place].changes[chosen])
    numbered = enumerate(sentence.proposed, _firsts(found)[place])
    return next(number for number, change in numbered if _span(change) == span)


def _firsts(found: loaders.Correction) -> list[int]:
    return list(accumulate((len(sentence.proposed) for sentence in found.sentences), initial=0))


def _proposed(found: loaders.Correction, number: int) -> tuple[int, Change]:
    """The sentence of a proposal, from 0, and the change."""
    firsts = _firsts(found)
    place = bisect_right(firsts, number) - 1
    return place, found.sentences[place].proposed[number - firsts[place]]


def _answer(found: loaders.Correction, what: str, number: int, decides: bool = True) -> None:
    if what == "open":
        if 0 <= number < len(found.sentences):
            _open(found, number, "")
        return
    if not 0 <= number < _firsts(found)[-1]:
        return
    if not decides:
        _focus(found, number, release=True)
    elif what == "own":
        own_words.add(_word_of(found, number))
    elif what == "test":
        _focus(found, number, release=False)
        address.put("experiment", "receipts")
        header.turn_to("laboratory")
    else:
        _decide(found, what, number)


PRESSED = "pressed_change"  # in the session: a word was pressed, and the map of its head is not open yet


def _decide(found: loaders.Correction, what: str, number: int) -> None:
    decisions = Decisions.read()
    accepted, rejected = decisions.spans(found)
    spans = [_span(change) for change in found.proposed]
    if what == "accept":
        taken = {spans[each] for each in offered_with(found.source, _proposals(found), number)}
        rejected = {each for each in rejected if not any(_meet(span, each) for span in taken)}
        accepted |= taken
    elif what == "reject":
        accepted.discard(spans[number])
        rejected.add(spans[number])
    elif what == "none":
        accepted, rejected = set(), {spans[each.number] for each in _proposals(found) if each.made} | rejected
    elif what == "all":
        rejected = set()
    decisions = replace(decisions, accepted=frozenset(accepted), rejected=frozenset(rejected))
    decisions.keep()
    if what in ("none", "all"):
        address.put("edit", "")
        return
    if what == "choose":
        st.session_state[PRESSED] = True
    _focus(found.with_decisions(*decisions.numbers(found)), number, release=what == "choose")


def _word_of(found: loaders.Correction, number: int) -> str:
    """The typed word of a proposal, without the particle behind it and the marks around it."""
    place, change = _proposed(found, number)
    source = found.sentences[place].source
    start = re.search(r"\S*$", source[: change.source_start])
    end = re.match(r"\S*", source[change.source_end :])
    around = start[0] + change.wrong + end[0]  # type: ignore[index]
    return without_particle(re.sub(r"^\W+|\W+$", "", around))


def _focus(found: loaders.Correction, number: int, release: bool) -> None:
    """Put the proposal ``number`` in focus; where it is already, let it go if ``release``."""
    place, change = _proposed(found, number)
    span, made = _span(change), [_span(each) for each in found.sentences[place].changes]
    edit = str(made.index(span) + 1) if span in made else ""
    same = release and _opened(found) == place and address.get("edit") == edit
    _open(found, place, "" if same else edit)


def _open(found: loaders.Correction, place: int, edit: str) -> None:
    """Show the pictures of one sentence, from 0, and of one of its changes."""
    if _opened(found) != place:
        address.forget("sentence")
    address.put("part", str(place + 1))
    if edit != address.get("edit"):
        address.put("asked", "")
    address.put("edit", edit)


MAX_CHARACTERS = 2_000  # of one text, on every page


def within_limit(text: str) -> str:
    """The beginning of ``text`` that is read, composed: whole sentences of at most MAX_CHARACTERS, or whole
    words.

    >>> len(within_limit("가" * 3_000))
    2000
    """
    text = normalise(text)
    if len(text) <= MAX_CHARACTERS:
        return text
    beginning = text[:MAX_CHARACTERS]
    ends = [end for _, end in split_sentences(beginning)][:-1]
    return beginning[: ends[-1]] if ends else beginning.rsplit(None, 1)[0]


def corrected(corrector: loaders.EngineCorrector, text: str) -> loaders.Correction:
    """The beginning of ``text`` that is read, corrected as the visitor decided. Raises EngineError."""
    words = own_words.listed()
    found = corrector.correct(within_limit(text), *([words] if words else []))
    decisions = Decisions.read()
    if decisions != (placed := decisions.placed(found)):
        placed.keep()
    return placed.applied(found, corrector.minimum_confidence)


def open_sentence(
    entry: loaders.ModelEntry | None,
) -> tuple[loaders.EngineCorrector | None, loaders.SentenceCorrection | None]:
    """(the model, the sentence), for a page about the inside of a network; None after a message. Raises
    EngineError."""
    corrector = models.load_inside(entry)
    return corrector, None if corrector is None else show_sentence(corrector)


def show_sentence(corrector: loaders.EngineCorrector) -> loaders.SentenceCorrection | None:
    """Name the sentence and lead to the page where it is typed. None, and a message, if there is none. Raises
    EngineError."""
    text = address.get("sentence")
    with spinner(say("working")):
        found = corrected(corrector, text)
    sentence = found.sentences[_opened(found)] if found.sentences else None
    if sentence is None:
        st.info(say("sentence_none"))
    else:
        markup.paragraph(say("sentence_about", sentence=_sentence_text(sentence)), "lead")
    st.page_link("ui/pages/attention.py", label=say("sentence_change"))
    return sentence


def _sentence_text(sentence: loaders.SentenceCorrection) -> str:
    return sentence.source if sentence.text == sentence.source else f"{sentence.source} → {sentence.text}"
