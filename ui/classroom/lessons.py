"""Lesson plans in the bar of a class: the open step, and buttons to the steps beside it.

The teacher's browser needs no second window.
"""

import json
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl

import streamlit as st

import assets
from ui.shell import address, header, markup, runs
from ui.shell.settings import Text, is_number, names_of, register
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
        minutes, at = _opened(page, minutes, at)
        steps = plans(language())[minutes]
        address.put(LESSON.name, f"{minutes}.{at}")
    step = steps[at]
    when = say("lesson_minutes", minutes=step.minutes)
    title = step.title if step.link else say("lesson_end", title=step.title)
    markup.paragraph(f"{at + 1}/{len(steps)} · {when} · {title}", "label")
    for name, to in (("lesson_previous", at - 1), ("lesson_next", at + 1)):
        if 0 <= to < len(steps):
            st.button(say(name), key=name, on_click=_open, args=(minutes, to))


def _opened(page: str, minutes: str, at: int) -> tuple[str, int]:
    """The plan and the step whose page and settings are open.

    Of the plan at hand the step with the most of them, ``at`` if it is as good as any. If none is open, but
    the link of another plan and nothing besides, that plan; of several the longest, which holds the others.
    """

    def shared(step: Step) -> int:
        other, named = _settings_of(step)
        return len(named) if other == page and all(address.get(name) == named[name] for name in named) else 0

    def is_all(step: Step) -> bool:
        return shared(step) > 0 and len(address.shared(*_settings_of(step)[1])) == shared(step)

    every = plans(language())
    steps = every[minutes]
    seen = [step if step.link else before for before, step in zip([steps[0], *steps], steps, strict=False)]
    best = max(range(len(steps)), key=lambda number: (shared(seen[number]), number == at))
    longest = sorted(every, key=lambda name: -len(every[name]))
    others = ((name, number) for name in longest for number, step in enumerate(every[name]) if is_all(step))
    return (minutes, best) if shared(seen[best]) else next(others, (minutes, at))


def _settings_of(step: Step) -> tuple[str, dict[str, str]]:
    """The page that a step opens, and its settings without the visitor's own."""
    page, _, query = step.link.partition("?")
    own = names_of("visitor")
    return page or header.PAGES[0], {name: value for name, value in parse_qsl(query) if name not in own}


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
