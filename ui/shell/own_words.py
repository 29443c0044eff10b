"""Words that a visitor wants left alone, kept in the browser and never in the address.

The session learns them from the browser when a page is first shown, and tells the browser each change.
"""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st

from model.text.protected import LONGEST_OWN, own_words
from ui.components.component import component, heard
from ui.wording import say

MOST = 200  # words of one visitor
_KEY, _WORDS, _CHANGED = "own_words", "own_words_listed", "own_words_changed"
_COMPONENT = component("own_words", js=Path(__file__).with_name("own_words.js").read_text("utf-8"))


def listed() -> tuple[str, ...]:
    """The words of this session, in their order."""
    return st.session_state.get(_WORDS, ())


def keep() -> None:
    """Exchange the words with the browser. It shows nothing."""

    def learn() -> None:
        told = heard(_KEY, "words")
        if isinstance(told, list):
            st.session_state[_WORDS] = valid(word for word in told if isinstance(word, str))

    data = {
        "words": list(listed()),
        "known": _WORDS in st.session_state,
        "changed": _CHANGED in st.session_state,
    }
    _COMPONENT(key=_KEY, data=data, on_words_change=learn)


def add(word: str) -> None:
    """From a callback: leave ``word`` alone from now on."""
    _put([*listed(), word])


def edit() -> None:
    """A field with all words, one a line."""

    def take() -> None:
        _put(st.session_state["own_words_field"].splitlines())

    st.session_state["own_words_field"] = "\n".join(listed())
    st.text_area(
        say("own_words_label"),
        key="own_words_field",
        height=120,
        help=say("own_words_help"),
        placeholder=say("own_words_placeholder"),
        on_change=take,
    )


def valid(words: Iterable[str]) -> tuple[str, ...]:
    """The different words of ``words`` that can be left alone, at most MOST.

    >>> valid([" 역활 ", "역활", "*", "가" * 100])
    ('역활',)
    """
    short = (word.strip() for word in words if len(word) <= LONGEST_OWN)
    return tuple(dict.fromkeys(word for word in short if _is_valid(word)))[:MOST]


def _is_valid(word: str) -> bool:
    try:
        return own_words([word]) is not None
    except ValueError:
        return False


def _put(words: Iterable[str]) -> None:
    st.session_state[_WORDS] = valid(words)
    st.session_state[_CHANGED] = True
