"""Corrected text with a person's decisions: changes accepted or rejected, change in focus.

A person may accept a change of which the network was unsure, and reject one of which it was sure. The
``Correction`` applies the decisions (``with_decisions``) without asking the network; only the attention of a
text that the network did not write itself takes a new pass.

``show_sentence`` is for pages without a text area: it shows the sentence that the main page showed last.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate

import streamlit as st

from model.norm import article_of
from model.text.changes import Change, apply_changes
from model.trace.trace import Described
from ui.asking import loaders, models
from ui.components.correction import LEAST_OFFERED, Proposal, correction, correction_data, written_data
from ui.shell import address, controls, markup
from ui.shell.runs import spinner
from ui.shell.settings import EDIT, PART, is_number
from ui.wording import LONGEST_SIDE, change_in_words, kind_name, language, say
from viz.labels import probability, visible_token


@dataclass(frozen=True)
class Decisions:
    """A person's decisions about a correction: the minimum confidence, and single changes."""

    minimum: float | None  # None: the model's own
    accepted: frozenset[int]  # numbers of proposals, from 0
    rejected: frozenset[int]

    SETTINGS = ("accepted", "rejected")  # in the address they count from 1

    @classmethod
    def read(cls) -> Decisions:
        accepted, rejected = (
            frozenset(int(part) - 1 for part in address.get(name).split(",") if is_number(part))
            for name in cls.SETTINGS
        )
        return cls(address.get_share("confidence"), accepted, rejected)

    def applied(self, found: loaders.Correction, own_minimum: float) -> loaders.Correction:
        """``found`` with these decisions, without asking the network; ``found`` itself if nothing was
        decided."""
        if self.minimum is not None and self.minimum != own_minimum:
            found = found.with_minimum_confidence(self.minimum)
        if self.accepted or self.rejected:
            found = found.with_decisions(self.accepted, self.rejected)
        return found


def shown(found: loaders.Correction) -> tuple[loaders.SentenceCorrection | None, Change | None]:
    """The sentence whose pictures are shown, and its change in focus."""
    if not found.sentences:
        return None, None
    sentence = found.sentences[_opened(found)]
    chosen = _chosen(sentence)
    return sentence, None if chosen is None else sentence.changes[chosen]


def show_correction(
    found: loaders.Correction, *, decides: bool = True, told: Described | None = None
) -> tuple[loaders.SentenceCorrection | None, Change | None]:
    """Draw the corrected text; returns the sentence whose pictures are shown, and its change in focus.

    Without ``decides`` nothing can be accepted or rejected, because no network can be asked about the other
    text. The description of a visitor's own model, ``told``, may say that it does not correct: then the text
    is shown unmarked.
    """
    place = _opened(found)
    sentence = found.sentences[place] if found.sentences else None
    if told is not None and told.task != "correct":
        words = _words([], False) | {"label": say(f"written_{told.task}")}
        data = written_data(found, opened=place, words=words, language=told.language)
        correction(data, "correction", lambda what, number: _answer(found, what, number, decides=False))
        return sentence, None
    proposals = _proposals(found)
    chosen = _chosen(sentence)
    number = _number(found, place, chosen)
    if sentence is not None and chosen is not None:
        proposals = [
            _with_norm(each, sentence, chosen) if each.number == number else each for each in proposals
        ]
    correction(
        correction_data(
            found,
            proposals,
            chosen=number,
            opened=place,
            words=_words(proposals, decides),
        ),
        "correction",
        lambda what, number: _answer(found, what, number, decides),
    )
    return sentence, None if sentence is None or chosen is None else sentence.changes[chosen]


def _share(change: Change) -> str:
    if change.is_english_layout:
        return say("correction_layout")
    return probability(change.confidence) if change.is_weighed else "–"


def _words(proposals: list[Proposal], decides: bool) -> dict[str, str]:
    made = {proposal.made for proposal in proposals}
    offered = "correction_hint_both" if True in made else "correction_hint_offered"
    hint = offered if False in made else "correction_hint"
    return {
        "label": say("corrected_label"),
        "copy": say("copy"),
        "copy_long": say("copy_corrected"),
        "copied": say("copied"),
        "hint": say(hint) if proposals else "",  # without proposals a message says so
        "reject": say("correction_reject") if decides else "",
        "accept": say("correction_accept", text="{text}", share="{share}"),
        "accept_layout": say("correction_accept_layout", text="{text}"),
        "open": say("correction_open", number="{number}"),
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


def _proposals(found: loaders.Correction) -> list[Proposal]:
    proposals = []
    for first, sentence in zip(_firsts(found), found.sentences, strict=False):
        made = {_span(change) for change in sentence.changes}
        for number, change in enumerate(sentence.proposed, first):
            is_made = _span(change) in made
            if is_made or not change.is_weighed or change.confidence >= LEAST_OFFERED:
                whole = change.moved(sentence.start, sentence.start)
                proposals.append(Proposal(number, whole, is_made, _about(change, sentence), _share(change)))
    return proposals


def _span(change: Change) -> tuple[int, int]:
    return change.source_start, change.source_end


def _with_norm(proposal: Proposal, sentence: loaders.SentenceCorrection, chosen: int) -> Proposal:
    """The proposal with the article of the norm by which it is right, where one is known for sure."""
    change, text = sentence.changes[chosen], sentence.text
    article = article_of(change.wrong, change.right, text[: change.target_start], text[change.target_end :])
    if article is None:
        return proposal
    return replace(proposal, norm=(article.article, article.ko if language() == "ko" else article.en))


def _about(change: Change, sentence: loaders.SentenceCorrection) -> str:
    target = apply_changes(sentence.source, sentence.proposed)  # to which the offsets of proposals belong
    if change.is_english_layout:
        return say("correction_about_layout", what=change_in_words(change))
    if not change.is_weighed:
        return say("correction_about_unweighed", what=change_in_words(change))
    about = say(
        "correction_about",
        what=change_in_words(change),
        confidence=probability(change.confidence, sentence.minimum_confidence),
        kind=kind_name(say, change, sentence.source, target),
    )
    if change.instead_of is None:
        return about
    return say(
        "correction_instead_of", about=about, text=visible_token(change.instead_of, LONGEST_SIDE) or "∅"
    )


def _number(found: loaders.Correction, place: int, chosen: int | None) -> int | None:
    """The number among all proposals of the change in focus."""
    if chosen is None:
        return None
    sentence, span = found.sentences[place], _span(found.sentences[place].changes[chosen])
    numbered = enumerate(sentence.proposed, _firsts(found)[place])
    return next(number for number, change in numbered if _span(change) == span)


def _firsts(found: loaders.Correction) -> list[int]:
    return list(accumulate((len(sentence.proposed) for sentence in found.sentences), initial=0))


def _answer(found: loaders.Correction, what: str, number: int, decides: bool = True) -> None:
    if what == "open":
        if 0 <= number < len(found.sentences):
            _open(found, number, "")
        return
    if not 0 <= number < _firsts(found)[-1]:
        return
    if not decides:
        _focus(found, number, release=True)
        return
    decisions = Decisions.read()
    accepted, rejected = set(decisions.accepted), set(decisions.rejected)
    if what == "accept":
        rejected.discard(number)
        accepted.add(number)
    elif what == "reject":
        accepted.discard(number)
        rejected.add(number)
    for name, numbers in zip(Decisions.SETTINGS, (accepted, rejected), strict=True):
        address.put(name, ",".join(str(n + 1) for n in sorted(numbers)))
    after = found.with_decisions(accepted, rejected)
    _focus(after, number, release=what == "choose")


def _focus(found: loaders.Correction, number: int, release: bool) -> None:
    """Put the proposal ``number`` in focus; where it is already, let it go if ``release``."""
    firsts = _firsts(found)
    place = bisect_right(firsts, number) - 1
    sentence = found.sentences[place]
    span = _span(sentence.proposed[number - firsts[place]])
    made = [_span(change) for change in sentence.changes]
    edit = str(made.index(span) + 1) if span in made else ""
    same = release and _opened(found) == place and address.get("edit") == edit
    _open(found, place, "" if same else edit)


def _open(found: loaders.Correction, place: int, edit: str) -> None:
    """Show the pictures of one sentence, from 0, and of one of its changes."""
    if _opened(found) != place:
        address.forget("sentence")
    address.put("part", str(place + 1))
    address.put("edit", edit)


MAX_CHARACTERS = 2_000  # of one text, on every page


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
    sentence = None
    if len(text) <= MAX_CHARACTERS:
        with spinner(say("working")):
            sentence = _chosen_sentence(text, corrector)
    if sentence is None:
        st.info(say("sentence_none"))
    else:
        markup.paragraph(say("sentence_about", sentence=_sentence_text(sentence)), "lead")
    st.page_link("ui/pages/attention.py", label=say("sentence_change"))
    return sentence


def _chosen_sentence(text: str, corrector: loaders.EngineCorrector) -> loaders.SentenceCorrection | None:
    found = Decisions.read().applied(corrector.correct(text), corrector.minimum_confidence)
    return found.sentences[_opened(found)] if found.sentences else None


def _sentence_text(sentence: loaders.SentenceCorrection) -> str:
    return sentence.source if sentence.text == sentence.source else f"{sentence.source} → {sentence.text}"
