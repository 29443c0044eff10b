"""The sentence of a page without a text area: the one that the main page showed last."""

import streamlit as st

from ui.asking import loaders, questions
from ui.look.proposals import Decisions, opened
from ui.shell import address, markup
from ui.shell.runs import spinner
from ui.wording import say

MAX_CHARACTERS = 2_000  # of one text, on every page


def show(corrector: loaders.EngineCorrector) -> loaders.SentenceCorrection | None:
    """Name the sentence and lead to the page where it is typed. None, and a message, if there is none."""
    text = address.get("sentence")
    sentence = None
    if len(text) <= MAX_CHARACTERS:
        with spinner(say("working")):
            sentence = chosen(text, corrector)
    if sentence is None:
        st.info(say("sentence_none"))
    else:
        markup.paragraph(say("sentence_about", sentence=_told(sentence)), "lead")
    st.page_link("ui/pages/attention.py", label=say("sentence_change"))
    return sentence


def chosen(text: str, corrector: loaders.EngineCorrector) -> loaders.SentenceCorrection | None:
    """The sentence that the main page shows; None where there is none."""
    found = Decisions.read().applied(questions.correct(text, corrector), corrector.minimum_confidence)
    return found.sentences[opened(found)] if found.sentences else None


def _told(sentence: loaders.SentenceCorrection) -> str:
    return sentence.source if sentence.text == sentence.source else f"{sentence.source} → {sentence.text}"
