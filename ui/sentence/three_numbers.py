"""Line of three numbers of a change: attention, direct logit attribution, occlusion.

It calls them looked, wrote and mattered; each leads to its view.
"""

from collections.abc import Callable

import streamlit as st

import assets
from engine import questions as declared
from engine.question import P, Question, R
from model.analysis.contributions import CROSS, ThreeNumbers, three_numbers
from model.text.changes import Change
from ui.sentence.decisions import PRESSED
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup, runs
from ui.views.view import needs_activations, needs_experiment, open_head
from ui.wording import head_name, nats, plain_markdown, say
from viz.labels import visible_token, weight

NAMES = ("looked", "wrote", "mattered")
OPENED = "opened_map"  # in the session: the map that a pressed word opened last
MOST_ASKED = 3  # questions of one change that the line offers


def show(state: SentenceState, is_map: bool, tells: bool = True) -> None:
    """The line, as high as ever, and a sentence that says why the three differ. What is not known yet is
    asked once the page is drawn. ``is_map``: whether the heatmap is open. ``tells``: whether the numbers are
    shown, which give the answer away where a visitor predicts."""
    if not _can(state):
        return
    if state.change is None:
        st.session_state.pop(PRESSED, None)  # of a text that was typed over before its map was open
        markup.paragraph("", "note three")  # keeps the room, so that a pressed word moves nothing
        return
    known = _answers(state, state.known)
    if known is None or PRESSED in st.session_state:
        runs.ask_later(lambda: _settle(state, is_map))
    with controls.line(key="three_numbers"):
        _show_questions(state.change)
        for name in NAMES if tells else ():
            text = f"{say(f'three_{name}')} {_label(state, name, known)}"
            about, is_unknown = (_lead, state, name, known), known is None
            described = _help(name, known)
            controls.button(
                text, f"three_{name}", *about, type="tertiary", disabled=is_unknown, help=described
            )
    markup.paragraph(why(state, known) if known is not None and tells else "", "note three")


def _show_questions(change: Change) -> None:
    """The question that all views answer, and the others about the same change, each a press away."""
    for number, place in enumerate(change.questions[:MOST_ASKED]):
        text = _question(change, *place)
        if number == change.asked:
            markup.paragraph(text, "asked")
        else:
            controls.button(text, f"ask_{number}", _put_question, number, type="tertiary")


def _put_question(number: int) -> None:
    """From a callback: let every view answer this one of the change's questions."""
    address.forget("sentence")
    address.put("asked", str(number + 1) if number else "")
    st.session_state[PRESSED] = True


def _question(change: Change, typed: int, written: int) -> str:
    """Why a character is written, why a space, or why something is left out."""
    wrong, right = change.wrong[typed : typed + 1], change.right[written : written + 1]
    if right:
        return say("asked_space") if right.isspace() else say("asked_written", token=right)
    return say("asked_joined") if not wrong.strip() else say("asked_left_out", token=wrong)


def _settle(state: SentenceState, is_map: bool) -> None:
    """Ask for the numbers, and open the map of the head that matters for a word that was pressed.

    A head that the visitor or a link chose stays: only the first map and one opened here give way.
    """

    def ask(question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        runs.give_way()  # a text that is typed meanwhile waits for one answer, not for three
        return state.ask(question, *arguments, **named)

    found, shown = _answers(state, ask), _shown_map()
    gives_way = is_map and shown in (assets.FIRST_MAP, st.session_state.get(OPENED))
    if st.session_state.pop(PRESSED, False) and gives_way and found is not None:
        address.put_head(found.head.layer, found.head.head, found.head.kind)
        st.session_state[OPENED] = _shown_map()


def _shown_map() -> dict[str, str]:
    return {name: address.get(name) for name in assets.FIRST_MAP}


def _can(state: SentenceState) -> bool:
    needs = (
        needs_experiment(declared.head_effects),
        needs_experiment(declared.left_out),
        needs_activations(declared.direct_logit_attribution),
    )
    return not state.from_file and all(need(state) is None for need in needs)


def _answers(state: SentenceState, ask: Callable) -> ThreeNumbers | None:
    """The three numbers, by ``state.ask`` or ``state.known``; None where something is not known."""
    found = (
        ask(declared.head_effects, state.edit, ()),
        ask(declared.direct_logit_attribution, *state.texts, state.edits),
        ask(declared.left_out, state.edit),
    )
    if any(each is None for each in found):
        return None
    return three_numbers(state.trace, *found) if found[0].contrast in found[1].questions else None


def measured(state: SentenceState) -> ThreeNumbers | None:
    """The three numbers of the change in focus. Raises EngineError."""
    return _answers(state, state.ask)


def _label(state: SentenceState, name: str, found: ThreeNumbers | None) -> str:
    if found is None:
        return "…"
    key, amount = getattr(found, name)
    number = weight(amount) if name == "looked" else nats(amount)
    return f"**{plain_markdown(visible_token(state.trace.source_tokens[key]))}** {number}"


def _help(name: str, found: ThreeNumbers | None) -> str:
    """The meaning of a number; that of a look names its head, for which the line has no room."""
    about = say(f"three_{name}_help")
    return f"{head_name(found.head)}: {about}" if name == "looked" and found is not None else about


def why(state: SentenceState, found: ThreeNumbers) -> str:
    """One sentence about how the three numbers go together, and the meaning of a minus among them."""
    tokens = state.trace.source_tokens
    names = {name: visible_token(tokens[getattr(found, name).key]) for name in NAMES}
    numbers = {
        "direct": nats(found.direct),
        "by_head": nats(found.by_head),
        "amount": nats(found.mattered.amount),
        "written": nats(found.wrote.amount),
    }
    together = say(f"three_{found.relation}", head=head_name(found.head), **names, **numbers)
    has_minus = found.wrote.amount < 0 <= found.mattered.amount  # the other sign has its sentence: against
    return f"{together} {say('three_minus')}" if has_minus else together


def _lead(state: SentenceState, name: str, found: ThreeNumbers) -> None:
    """From a callback: the view that shows this number."""
    address.put("cell", "")
    if name == "looked":
        open_head(state, found.head)
    elif name == "wrote":
        for setting, value in (("kind", CROSS), ("layer", "mean"), ("head", "mean")):
            address.put(setting, value)
        address.put("view", "wrote")
        address.put("wrote_as", "map")
        header.turn_to("attention")
    else:
        address.put("sources_step", "")
        address.put("experiment", "sources")
        header.turn_to("laboratory")
