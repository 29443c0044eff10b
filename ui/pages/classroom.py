"""Page of the classroom: open or join a class, follow the teacher, answer polls and quizzes."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from classroom.checks import PLANS
from classroom.classroom import AFTER, BEFORE, ClassroomError, FullError, State
from classroom.store import in_groups
from model import ModelFolderError
from ui.asking import loaders, models
from ui.classroom import follow, lessons, polls, quiz, session
from ui.classroom.session import Membership
from ui.shell import address, controls, header, markup, runs
from ui.wording import say

_SAID = "classroom_said"  # the key of the text that says why a poll or quiz could not start


def main() -> None:
    header.show("classroom")
    try:
        mine = session.current()
        if mine is not None:
            session.go_on(mine)
    except FullError:
        st.warning(say("class_full"))
        return
    except ClassroomError:
        if session.is_over():
            st.info(say("class_ended"))
            st.button(say("class_over"), key="class_over", on_click=session.leave)
            return
        st.warning(say("class_unknown"))
        _show_entrance()
        return
    if mine is None:
        _show_entrance()
        return
    session.keep(mine)
    session.listen(mine, partial(_words_about_the_class, mine), follows=True)
    _show_shown(mine)
    _show_way_out(mine)


def _show_way_out(mine: Membership) -> None:
    if not mine.teaches:
        st.button(say("class_leave"), key="class_leave", on_click=session.leave)
        return
    with st.popover(say("class_end"), key="class_end"):
        markup.paragraph(say("class_end_meaning"), "note")
        st.button(say("class_end_now"), key="class_leave", on_click=session.leave)


def _show_entrance() -> None:
    """Open a class, or join one by its code."""
    markup.paragraph(say("class_lead"), "lead")
    if st.button(say("class_open"), key="class_open", type="primary", icon=":material/co_present:"):
        try:
            session.open_classroom()
        except FullError:
            st.warning(say("class_too_many"))
        else:
            st.rerun()
    with st.form("class_join"):
        typed = st.text_input(say("class_code_label"), key="class_code", max_chars=40)
        if st.form_submit_button(say("class_join")):
            if typed.strip():
                session.enter(typed)
                st.rerun()
            st.info(say("class_code_missing"))
    quiz.show_added_up()
    markup.paragraph(say("class_alone"), "note")
    markup.paragraph(say("class_privacy"), "note")


def _show_invitation(mine: Membership) -> None:
    """The code, the link and its QR code, for the projector."""
    link, *others = session.links(mine.code)
    if others:
        places = {each: urlsplit(each).netloc for each in (link, *others)}
        link = st.segmented_control(
            say("class_address"),
            list(places),
            default=link,
            format_func=places.__getitem__,
            key="class_address",
            required=True,
        )
    with st.container(key="class_invitation", horizontal=True, vertical_alignment="center", gap="medium"):
        markup.qr_code(link, say("class_qr_label"), "class-qr")
        with st.container(key="class_invitation_texts", width="stretch", gap="small"):
            markup.paragraph(in_groups(mine.code), "class-code")
            markup.link(link)
            markup.paragraph(say("class_how_to_join"), "note")
            if session.is_only_here(link):
                markup.paragraph(say("class_only_here"), "note")


def _words_about_the_class(mine: Membership, state: State) -> str:
    """How many are there, the teacher not counted, and how many of them have answered."""
    values = {
        "code": in_groups(mine.code),
        "count": max(state.present - 1, state.answered, 0),
        "answered": state.answered,
    }
    if mine.teaches and state.poll is None and state.quiz is not None and state.quiz.phase:
        number = state.quiz.number
        every = loaders.classrooms().results(mine.code, mine.key)
        results = next(each for each in every if each.quiz.number == number)
        counts = results.before if state.quiz.phase == BEFORE else results.after
        return say("class_count_quiz", **values, each=" · ".join(str(sum(each)) for each in counts))
    return say("class_count_answered" if state.poll is not None else "class_count", **values)


@st.fragment(key=session.SHOWN)
def _show_shown(mine: Membership) -> None:
    with runs.part_taken():
        _show_news(mine)


def _show_news(mine: Membership) -> None:
    try:
        state = mine.state()
        session.drawn(mine, state)
        if mine.teaches:
            _show_desk(mine, state)
        if state.poll is not None:
            polls.show(mine, state, state.poll)
        elif state.quiz is not None and state.quiz.phase:
            quiz.show(mine, state, state.quiz)
        elif not mine.teaches:
            follow.show(mine, state)
        # While questions run, the line above says how many have answered each; a projector shows no more.
        if mine.teaches and state.poll is None and (state.quiz is None or not state.quiz.phase):
            results = quiz.answered(mine)
            with st.expander(say("class_invite"), key="class_invite") if results else nullcontext():
                _show_invitation(mine)
            quiz.distributions(mine, results)
    except loaders.StillLoading:
        session.draw_again()
        st.info(say("class_loading"))
    except ClassroomError:
        session.forget_seat()
        st.rerun()  # the class is over; the whole page says so
    except ModelFolderError:
        st.error(say("model_folder_error"))
    except loaders.NotLoadedError:
        st.info(say("class_no_picture"))
    except loaders.EngineError as error:
        models.show_error(error)


def _show_desk(mine: Membership, state: State) -> None:
    rooms, who = loaders.classrooms(), (mine.code, mine.key)
    with controls.line(key="class_desk"):
        if state.poll is not None:
            if not state.poll.revealed:
                controls.button(say("class_reveal"), "class_reveal_now", rooms.reveal, *who, type="primary")
            controls.button(say("class_stop_asking"), "class_stop", rooms.stop_asking, *who)
        elif state.quiz is not None and state.quiz.phase:
            controls.button(say("class_quiz_stop"), "class_stop", quiz.stop, mine, state.quiz)
        else:
            _show_questions(mine)
        if st.button(say("class_to_lesson"), key="class_to_lesson", icon=":material/arrow_back:"):
            header.turn_to(st.session_state.get(session.LAST_PAGE, header.PAGES[0]))
            st.rerun()
    if problem := st.session_state.pop(_SAID, None):
        st.info(say(problem))


def _show_questions(mine: Membership) -> None:
    with st.popover(say("class_lesson"), key="class_lesson", icon=":material/school:"):
        lessons.choose()
    with st.popover(say("class_ask"), key="class_ask", icon=":material/help:"):
        for kind in polls.KINDS:
            name = f"class_kind_{kind}"
            controls.button(say(name), name, _begin, polls.ask, mine, kind)
    with st.popover(say("class_quiz"), key="class_quiz", icon=":material/checklist:"):
        sentence = address.get("sentence") or say("class_no_sentence")
        markup.paragraph(say("class_quiz_meaning", sentence=sentence), "note")
        for plan in PLANS:
            markup.paragraph(quiz.plan_name(plan), "label")
            with st.container(key=f"class_phases_{plan}", horizontal=True, gap="small"):
                for phase in (BEFORE, AFTER):
                    about = quiz.begin, mine, plan, phase
                    text = say(f"class_phase_{phase}")
                    controls.button(text, f"class_quiz_{plan}_{phase}", _begin, *about)


def _begin(begin: Callable[..., str | None], *arguments: object) -> None:
    try:
        st.session_state[_SAID] = begin(*arguments)
    except loaders.StillLoading:
        st.session_state[_SAID] = "class_loading"
    except loaders.EngineError:
        st.session_state[_SAID] = "engine_died"


main()
