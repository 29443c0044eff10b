"""Lesson plans in the bar of a class: the open step, and buttons to the one before and after.

The teacher's browser needs no second window.
"""

import json
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl

import streamlit as st

import assets
from ui.shell import address, header, markup, runs
from ui.shell.settings import Text, is_number, register
from ui.wording import language, say

LESSON = Text("lesson", of="browser")  # "50.3": the plan of 50 minutes at its third step; empty: none
register(LESSON)
_FOLLOWED = "lesson_followed"  # whether this session knows which step its link has opened


_PLANS = {  # the ends of their names' keys
    "20": "lesson_plan",
    "30": "lesson_plan_laboratory",
    "50": "lesson_plan_50",
    "answer": "lesson_plan_answer",
}


class Step(NamedTuple):
    """One step of a plan: its minutes, its title, and the page and settings that it opens; empty: it stays
    where the step before was."""

    minutes: str
    title: str
    link: str


@cache
def plans(tongue: str) -> dict[str, list[Step]]:
    """The steps of each plan, by its minutes or its name.

    >>> list(plans("ko")), plans("en")["20"][0].minutes
    (['20', '30', '50', 'answer'], '0–2')
    """
    found = json.loads(assets.LESSONS.read_text("utf-8"))["plans"]
    return {minutes: [Step(*step) for step in steps[tongue]] for minutes, steps in found.items()}


@cache
def sentence() -> str:
    """The sentence of the plans.

    >>> sentence()
    '바다에 가치 가요.'
    """
    return str(json.loads(assets.LESSONS.read_text("utf-8"))["sentence"])


@cache
def parallel_sentences() -> tuple[str, ...]:
    """Sentences with mistakes of the sort that the plans are about, for the questions after a lesson."""
    return tuple(json.loads(assets.LESSONS.read_text("utf-8"))["parallel"])


def show(page: str) -> None:
    """The step that is open, and the buttons to the next one and the one before; nothing without a plan."""
    minutes, _, number = address.get(LESSON.name).partition(".")
    steps = plans(language()).get(minutes, [])
    if not is_number(number) or int(number) >= len(steps):
        return
    at = int(number)
    if not st.session_state.get(_FOLLOWED):  # a link of the plan may have opened this session
        st.session_state[_FOLLOWED] = True
        at = _opened(page, steps, at)
        address.put(LESSON.name, f"{minutes}.{at}")
    step = steps[at]
    when = say("lesson_minutes", minutes=step.minutes)
    title = step.title if step.link else say("lesson_end", title=step.title)
    markup.paragraph(f"{at + 1}/{len(steps)} · {when} · {title}", "label")
    for name, to in (("lesson_previous", at - 1), ("lesson_next", at + 1)):
        if 0 <= to < len(steps):
            st.button(say(name), key=name, on_click=_open, args=(minutes, to))


def _opened(page: str, steps: list[Step], at: int) -> int:
    """The step whose page and settings are open, the one with the most of them; ``at`` if it is as good as
    any."""

    def shared(number: int) -> int:
        other, _, query = steps[number].link.partition("?")
        named = parse_qsl(query)
        same = named and (other or header.PAGES[0]) == page
        return len(named) if same and all(address.get(name) == value for name, value in named) else 0

    return max(range(len(steps)), key=lambda number: (shared(number), number == at))


def choose() -> None:
    """A button for each plan, which opens its first step."""
    for minutes in plans(language()):
        plan = say(f"class_plan_{_PLANS[minutes]}")
        if st.button(say("lesson_begin", plan=plan), key=f"lesson_{minutes}"):
            with runs.taken_for_whole():  # in a fragment, where the visitor has pressed this
                _open(minutes, 0)
            st.rerun()


def _open(minutes: str, number: int) -> None:
    """Turn to what the step opens, in the next run."""
    address.put(LESSON.name, f"{minutes}.{number}")
    page, _, query = plans(language())[minutes][number].link.partition("?")
    if not query:
        return
    address.adopt(parse_qsl(query))
    header.turn_to(page or header.PAGES[0])


def end() -> None:
    """From a callback: follow no plan any more."""
    address.put(LESSON.name, "")
