"""Quiz before and after the lesson: graded by the network, counted for the teacher."""

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import streamlit as st

from classroom.checks import LEAST_SEATS, PLANS, WORDS, Check, Facts, alike, change_of_share, plan_of
from classroom.classroom import (
    AFTER,
    BEFORE,
    PHASES,
    ClassroomError,
    Quiz,
    QuizAnswer,
    Results,
    Settings,
    Shown,
    State,
)
from engine import questions as declared
from model.analysis.counterfactuals import UNIFORM
from model.tables.rows import without_formula
from model.trace.interventions import Contrast, Head
from model.trace.trace import ATTENTION_KINDS
from ui import wording
from ui.asking import loaders
from ui.asking.files import name_control
from ui.classroom import follow, lessons, polls
from ui.classroom.session import Membership
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.runs import spinner
from ui.shell.settings import is_number, names_of
from ui.views import TABS
from ui.views.heads_off import outcome, typed
from ui.views.view import needs_experiment
from ui.wording import change_in_words, say
from viz.labels import decimal

LABORATORY, LONG, ANSWER = "lesson-plan-laboratory", "lesson-plan-50", "lesson-plan-answer"
PARALLEL = "parallel"  # in what a quiz is about: the sentence of the questions after the lesson
_TRIED = "classroom_tried"  # (quiz, phase, question) -> the option that this session tried last


def begin(mine: Membership, plan: str, phase: str) -> str | None:
    """Ask a plan's questions about the sentence that the teacher shows; about that of the plan if the answers
    differ from those that the plan teaches. After the lesson the same questions are asked about another
    sentence with the same answers to them. Questions that were asked before go on. Returns the key of the
    text that says why they cannot start, or None. Raises EngineError and ClassroomError."""
    about = address.shared("sentence")
    for each in loaders.classrooms().results(mine.code, mine.key):
        same = dict(each.quiz.about).get("sentence") == dict(about).get("sentence")
        if each.quiz.plan == plan and (phase == AFTER or same):
            about = each.quiz.about
            break
    with address.settings_of(about):
        seen = follow.sentence_state()
        if seen is None:
            return "class_no_picture"
        if problem := polls.KINDS["where"].lacks(seen):
            return problem
    if PARALLEL not in dict(about):
        about = _fitting(plan, about)
    sizes = _sizes(_checks(plan, about, BEFORE))
    if not sizes:
        return "class_no_checks"
    loaders.classrooms().check(mine.code, mine.key, Quiz(plan, about, sizes, phase))
    return None


def _fitting(plan: str, about: Settings) -> Settings:
    """The settings of the first of both sentences, the one of ``about`` or the plan's, and the second one.

    Both have the answers that the lesson teaches, as far as this network corrects its sentence, and are asked
    about the same things. Else what a class has learned would count as wrong.
    """
    taught = _about(lessons.sentence(), about)
    checks = _checks(plan, taught, BEFORE)
    if not checks or alike(checks, _checks(plan, about, BEFORE)):
        taught, checks = about, _checks(plan, about, BEFORE)
    others = (each for each in lessons.parallel_sentences() if each != dict(taught)["sentence"])
    fitting = (each for each in others if alike(checks, _checks(plan, _about(each, about), BEFORE)))
    return (*taught, *((PARALLEL, each) for each in islice(fitting, 1)))


def _sizes(checks: tuple[Check, ...]) -> tuple[int, ...]:
    return tuple(len(check.options) for check in checks)


def _of_phase(about: Settings, phase: str) -> Settings:
    """The settings with the sentence of a phase."""
    other = dict(about).get(PARALLEL) if phase == AFTER else None
    return about if other is None else _about(other, about)


def _about(sentence: str, settings: Settings) -> Settings:
    """The settings with another sentence."""
    of_text = {"sentence", *names_of("text")}
    return (("sentence", sentence), *(each for each in settings if each[0] not in of_text))


def stop(mine: Membership, quiz: Quiz) -> None:
    """End the questions; the answers stay. Raises ClassroomError for a class that is over."""
    loaders.classrooms().check(mine.code, mine.key, replace(quiz, phase=""))


def _facts(plan: str, seen: SentenceState) -> Facts:
    layer, head = seen.layer or 0, seen.head or 0
    change = seen.changes[0]
    plain = Facts(seen.trace, seen.all_changes, change, (layer, head), named=change_in_words(change))
    if plan not in (LABORATORY, LONG, ANSWER) or needs_experiment(declared.head_effects)(seen) is not None:
        return plain
    effects = polls.effects(seen)
    strongest = effects.strongest(1)
    texts = seen.ask(declared.ablate_heads, seen.sentence.source, (strongest, effects.supporters()))
    alone, together = (_made(seen, each.text) for each in texts)
    found = replace(plain, effects=effects, alone=alone, together=together)
    if plan in (LABORATORY, ANSWER):
        return replace(found, occlusion=polls.left_out(seen))
    return replace(found, spread=_spread(seen, strongest[0]), returns=_returns(seen, effects.contrast))


def _made(seen: SentenceState, text: str | None) -> bool:
    """Whether the change is made in ``text``, which the network wrote with something changed."""
    return outcome(seen.sentence.source, text, typed(seen)) == "made"


def _spread(seen: SentenceState, head: Head) -> bool:
    """Whether the change is made if ``head`` looks at all places alike."""
    _, versions = seen.ask(declared.replaced, seen.edit, head, ())
    return next(_made(seen, each.text) for each in versions if each.how == UNIFORM)


def _returns(seen: SentenceState, contrast: Contrast) -> bool | None:
    """Whether the network writes all the rest as typed if the first token of the change is kept. None if it
    cannot write that token."""
    if not seen.can(declared.alternative_continuation):
        return None
    try:
        token = contrast.instead_token
        fork = seen.ask(declared.alternative_continuation, *seen.texts, contrast.row, token)
    except ValueError:
        return None
    kept = seen.sentence.text[: typed(seen).target_start]
    return fork.text == kept + seen.sentence.source[typed(seen).source_start :]


def _checks_of(quiz: Quiz, phase: str) -> tuple[Check, ...]:
    """The questions of a quiz in a phase. Empty if this page process would ask others than the teacher's, as
    for a moment after new weights."""
    found = _checks(quiz.plan, quiz.about, phase)
    return found if _sizes(found) == quiz.sizes else ()


def _checks(plan: str, about: Settings, phase: str) -> tuple[Check, ...]:
    with address.settings_of(_of_phase(about, phase)):
        seen = follow.sentence_state()
        if seen is None or plan not in PLANS or polls.KINDS["where"].lacks(seen):
            return ()
        with spinner(say("working_laboratory")):
            return plan_of(plan, _facts(plan, seen))


def show(mine: Membership, state: State, quiz: Quiz) -> None:
    """All questions, one below the other. A wrong answer shows a hint, and can be changed. Raises
    EngineError."""
    checks = _checks_of(quiz, quiz.phase)
    if not checks:
        st.info(say("class_no_checks"))
        return
    markup.paragraph(
        say(f"class_quiz_{quiz.phase}", plan=plan_name(quiz.plan), count=len(checks)), "class-question"
    )
    with address.settings_of(_of_phase(quiz.about, quiz.phase)):
        if (seen := follow.sentence_state()) is not None:
            markup.corrected(seen.sentence.source, seen.sentence.changes)
    done = set(state.checked)
    with st.container(key="class_quiz_list"):
        for number, check in enumerate(checks):
            with st.container(key=f"class_quiz_{number}", gap="small"):
                _ask(mine, quiz, number, check, number in done)
            done |= {number} if _tried(quiz, number) is not None else set()
    if not mine.teaches:  # above are the numbers of the class
        markup.paragraph(say("class_quiz_done", done=len(done), count=len(checks)), "note")


def _ask(mine: Membership, quiz: Quiz, number: int, check: Check, answered: bool) -> None:
    """Before the lesson the first pick is final. After it, a wrong one may be changed, and does not count
    again."""
    key = f"class_check_{quiz.number}_{quiz.phase}_{number}"
    tried = _tried(quiz, number)
    asked = wording.plain_markdown(_question(check).removesuffix("?"))  # a screen reader would say \\?
    st.pills(
        f"{number + 1}. {asked}?",
        range(len(check.options)),
        format_func=lambda place: wording.plain_markdown(_option_label(check.options[place])),
        key=key,
        on_change=_answer,
        args=(mine, quiz, number, key),
        disabled=quiz.phase == BEFORE and (answered or tried is not None),
    )
    if tried is not None and quiz.phase == BEFORE:
        markup.paragraph(say("class_check_picked", option=_option_label(check.options[tried])), "note")
    if tried is None or quiz.phase == BEFORE:  # who is told what is right has not been asked what they know
        return
    if check.is_right(tried):
        markup.paragraph(say("class_check_right"), "class-right")
    else:
        _show_hint(quiz, number, check)


def _show_hint(quiz: Quiz, number: int, check: Check) -> None:
    """The hint, and the way to the view that it names."""
    names = {view.name: say(f"view_{view.name}") for tabs in TABS.values() for view in tabs.views}
    hint = say(f"check_{check.kind}_hint", **_values(check), **names)
    markup.paragraph(hint, "class-hint")
    for page, tabs in TABS.items():
        for view in tabs.views:
            name, key = names[view.name], f"class_hint_{number}"
            named = f"‘{name}’" in hint or f"“{name}”" in hint
            if named and st.button(say("class_hint_open", view=name), key=key):
                about = _of_phase(quiz.about, quiz.phase)
                follow.look_around(Shown(page, (*about, (tabs.setting, view.name))))


def _answer(mine: Membership, quiz: Quiz, number: int, key: str) -> None:
    option = st.session_state[key]
    if option is None:
        return
    st.session_state.setdefault(_TRIED, {})[quiz.number, quiz.phase, number] = option
    try:
        answer = QuizAnswer(quiz.number, quiz.phase, number, option)
        loaders.classrooms().answer_check(mine.code, mine.seat, answer)
    except ClassroomError:  # the teacher has stopped asking; a visitor may go on alone
        return


def _tried(quiz: Quiz, number: int) -> int | None:
    return st.session_state.get(_TRIED, {}).get((quiz.number, quiz.phase, number))


def _question(check: Check) -> str:
    """The question in words."""
    return say(f"check_{check.kind}", **_values(check))


def _values(check: Check) -> dict[str, str]:
    return {name: _option_label(value) for name, value in check.values}


def _option_label(option: str) -> str:
    if option in WORDS:
        return say(f"class_{option}")
    if option in ATTENTION_KINDS:
        return say(f"kind_{option}")
    return polls.option_label("needed", option)


def answered(mine: Membership) -> list[Results]:
    """The quizzes with answers, the last one first. Raises EngineError and ClassroomError."""
    return [each for each in loaders.classrooms().results(mine.code, mine.key) if sum(each.seats)]


def distributions(mine: Membership, found: Iterable[Results]) -> None:
    """How the class answered each quiz, and the button that forgets it all. Raises EngineError."""
    shown = [_distribution(each) for each in found]
    if not any(shown):
        return
    with st.popover(say("class_results_forget"), key="class_results_forget"):
        markup.paragraph(say("class_results_forget_meaning"), "note")
        forget = loaders.classrooms().forget_checks, mine.code, mine.key
        controls.button(say("class_results_forget_now"), "class_results_forget_now", *forget)


def _distribution(results: Results) -> bool:
    """The table of one quiz, and the file to take along; False where this page process would ask other
    questions."""
    both = [_checks_of(results.quiz, phase) for phase in PHASES]
    if not all(both):
        return False
    plan, (before, after) = plan_name(results.quiz.plan), results.seats
    markup.paragraph(say("class_results", plan=plan, before=before, after=after), "class-question")
    sentences = {phase: dict(_of_phase(results.quiz.about, phase)).get("sentence", "") for phase in PHASES}
    markup.paragraph(say("class_results_sentences", **sentences), "note")
    # Before the lesson a projector does not give away what is right.
    rows = [
        _row(results, number, checks, bool(after)) for number, checks in enumerate(zip(*both, strict=True))
    ]
    names = ("asked_before", "before", "asked_after", "after", "change")
    columns = [say(f"class_results_{name}") for name in names]
    numbered = [(str(number), row) for number, row in enumerate(rows, start=1)]
    with st.container(key=f"class_results_{results.quiz.number}"):
        markup.table(columns, numbered, say("class_results_label"))
    if any(row[-1] == say("class_results_few") for row in rows):
        markup.paragraph(say("class_results_few_meaning", least=LEAST_SEATS), "note")
    key, file = f"class_results_csv_{results.quiz.number}", f"class-{results.quiz.plan}.csv"
    controls.offer(say("class_results_csv"), key, file, to_csv(results, *both), mime="text/csv")
    return True


def plan_name(plan: str) -> str:
    """The lesson plan in words."""
    return say(f"class_plan_{plan.replace('-', '_')}")


def _row(results: Results, number: int, checks: tuple[Check, Check], solved: bool) -> tuple[str, ...]:
    """A question as it was asked before and after the lesson, and how many were right."""
    both = (results.before[number], checks[0]), (results.after[number], checks[1])
    cells = [text for counts, check in both for text in (_asked(check, solved), _share(counts, check))]
    return (*cells, _change(*both))


def _asked(check: Check, solved: bool) -> str:
    right = _option_label(check.options[check.right])
    return say("class_results_solved", question=_question(check), right=right) if solved else _question(check)


def _share(counts: tuple[int, ...], check: Check) -> str:
    return f"{counts[check.right]} / {sum(counts)}" if sum(counts) else "–"


def _change(*phases: tuple[tuple[int, ...], Check]) -> str:
    """The change in percentage points with its interval; that too few have answered to say. ``phases``: the
    counts of the options before and after, each with its question."""
    found = change_of_share(*((counts[check.right], sum(counts)) for counts, check in phases))
    if found is None:
        return say("class_results_few") if all(sum(counts) for counts, _ in phases) else "–"
    change, low, high = (decimal(100 * each, 0, signed=True) for each in found)
    return say("class_results_points", change=change, low=low, high=high)


def to_csv(results: Results, before: tuple[Check, ...], after: tuple[Check, ...]) -> bytes:
    """A row for each option of each question: how many chose it first, before and after the lesson. No names,
    no seats. Returns UTF-8 bytes with a mark."""
    sums: dict[tuple[str, ...], list[int]] = {}
    for phase, (checks, counts) in enumerate(((before, results.before), (after, results.after))):
        for number, check in enumerate(checks):
            for place, option in enumerate(check.options):
                texts = _question(check), _option_label(option)
                key = str(number + 1), *map(without_formula, texts), str(int(check.is_right(place)))
                sums.setdefault(key, [0, 0])[phase] += counts[number][place]
    return _written([*key, *both] for key, both in sums.items())


def _written(rows: Iterable[Iterable[object]]) -> bytes:
    """Rows of ``to_csv`` below their names."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(
        say(f"class_column_{name}") for name in ("number", "question", "option", "right", BEFORE, AFTER)
    )
    writer.writerows(rows)
    return file.getvalue().encode("utf-8-sig")  # spreadsheets know Hangul by the mark


def added_up(files: Iterable[bytes]) -> bytes:
    """The counts of several classes together, from files of ``to_csv`` in any language.

    Raises ValueError for another file.
    """
    sums: dict[tuple[str, ...], list[int]] = {}
    for content in files:
        for row in list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))[1:]:
            if len(row) != 6 or not all(is_number(row[place]) for place in (0, 3, 4, 5)):
                raise ValueError("this is no file of a class's results")
            counts = sums.setdefault(tuple(row[:4]), [0, 0])
            counts[:] = (count + int(more) for count, more in zip(counts, row[4:], strict=True))
    return _written([*map(without_formula, key), *counts] for key, counts in sums.items())


def show_added_up() -> None:
    """Files of several classes, and the file of all of them together."""
    with st.expander(say("class_add_up")):
        name_control(["csv"], 1, "class_add_up")
        files = st.file_uploader(
            say("class_add_up_label"),
            "csv",
            accept_multiple_files=True,
            key="class_add_up",
            max_upload_size=1,
        )
        if not files:
            return
        try:
            found = added_up(each.getvalue() for each in files)
        except ValueError:
            st.error(say("class_add_up_wrong"))
            return
        controls.offer(say("class_results_csv"), "class_added_up", "classes.csv", found, mime="text/csv")
