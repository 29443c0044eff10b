"""Questions to a class: polls beside the network's answer, quiz around the lesson."""

import csv
import io
import json
from copy import copy
from urllib.parse import parse_qsl

import pytest

from classroom.checks import PLANS, plan_of
from classroom.classroom import AFTER, BEFORE
from model.text.tokenizer import VISIBLE_SPACE
from model.trace.interventions import Head
from tests.conftest import asked_here
from tests.ui.classroom.test_classroom_page import KO, SHOWN, press, touch
from tests.ui.screen import component, components, html, keys, messages, setting
from ui.classroom import lessons, quiz
from ui.wording import head_name

# --- predicting together ---


@pytest.fixture
def teach(open_app, cookies, teacher):
    """Opens the teacher's page of the class at a sentence."""

    kept = dict(cookies)

    def open_at(**settings: str):
        cookies.update(kept)
        app = open_app("classroom", **{"class": teacher[0]} | settings)
        cookies.clear()
        return app

    return open_at


@pytest.fixture
def taught(teach, opened):
    """(the teacher's page, its code): a sentence is shown."""
    return teach(**dict(SHOWN)), opened[0]


def test_the_class_predicts_and_its_answers_stand_beside_the_network_in_one_picture(open_app, rooms, taught):
    """One who is alone asks and answers; a teacher's clicks before a class are not its answers."""
    teacher, code = taught
    teacher = touch(press(teacher, "class_kind_where"), "class_answer_1", [0])
    assert rooms.state_of(code).poll.about == SHOWN
    assert rooms.state_of(code).answered == 1
    phone = open_app("classroom", **{"class": code})
    assert KO["class_count_answered"].partition("·")[2].format(count=1, answered=0) in html(teacher.run())
    telling = ("class_reveal", "class_plot", "class_lines")  # before the reveal nothing gives the answer away
    assert not [each for each in components(phone) if each.startswith(telling)] and "<ins>" not in html(phone)
    phone = touch(phone, "class_answer_1", [0, 1, 2, 3])  # more than allowed push out the oldest
    assert rooms.state_of(code).answered == 1
    assert "class_reveal" not in components(phone.run())
    teacher = press(teacher.run(), "class_reveal_now")
    for app in (teacher, phone.run()):
        drawn = json.loads(component(app, "class_reveal")["spec"])
        assert [trace["type"] for trace in drawn["data"]] == ["bar"] * len(drawn["data"])
        assert len(drawn["data"]) >= 2  # the class, and the network
        assert KO["class_row_class"].format(count=1) in str(drawn)
    assert rooms.state_of(code).counts[:4] == (0, 1, 1, 1)
    press(teacher, "class_stop")
    assert rooms.state_of(code).poll is None


def test_this_head_is_the_one_that_is_switched_off_on_the_screen(
    open_app, teach, rooms, correctors, opened, shipped
):
    """About the shipped network, whose most attentive head is another one."""
    correctors["transformer"] = asked_here(copy(shipped))
    (link,) = [step.link for step in lessons.plans("ko")["50"] if "switched_off=" in step.link]
    page, _, query = link.partition("?")
    rooms.show(*opened, page, tuple(parse_qsl(query)))
    teacher = press(teach(), "class_kind_still")  # begun anew at the class's page
    kind, layer, head = dict(parse_qsl(query))["switched_off"].split(".")
    asked = f"{head_name(Head(kind, int(layer) - 1, int(head) - 1))} 헤드를 끄고 써도"
    for app in (teacher, open_app("classroom", **{"class": opened[0]})):
        assert asked in html(app)


def test_what_cannot_be_asked_says_why(teach, rooms, opened):
    app = teach(sentence="그대로인 문장")
    for kind in ("where", "needed"):
        app = press(app, f"class_kind_{kind}")
        assert KO["predict_nothing"] in messages(app)
        assert rooms.state_of(opened[0]).poll is None


# --- questions before and after ---


def test_questions_before_and_after_the_lesson_reach_the_teacher_as_counts_without_names(
    open_app, rooms, taught
):
    teacher, code = taught
    teacher = press(teacher, "class_quiz_lesson-plan_before")
    quiz = rooms.state_of(code).quiz
    assert len(quiz.sizes) == 5  # of six: this network considers a single other candidate
    phone = open_app("classroom", **{"class": code})
    phone = touch(phone, f"class_check_{quiz.number}_{BEFORE}_0", 0)
    told = lambda: (KO["class_check_right"] in html(phone), 'class="class-hint"' in html(phone))
    assert told() == (False, False)  # before the lesson nothing is given away
    assert KO["class_check_picked"].split("{")[0] in html(phone)  # and a pick is final
    final = {each.key: each.disabled for each in phone.button_group}
    assert [final[f"class_check_{quiz.number}_{BEFORE}_{question}"] for question in (0, 1)] == [True, False]
    teacher = press(teacher.run(), "class_stop")
    teacher = press(teacher, "class_quiz_lesson-plan_after")
    phone = touch(phone.run(), f"class_check_{quiz.number}_{AFTER}_0", 1)
    assert sum(told()) == 1
    teacher = press(teacher.run(), "class_stop")
    (found,) = rooms.results(code, teacher.session_state["classroom_membership"].key)
    assert sum(found.before[0]) == sum(found.after[0]) == 1
    assert found.before[0][0] == found.after[0][1] == 1
    plan = KO["class_plan_lesson_plan"]
    assert KO["class_results"].format(plan=plan, before=1, after=1) in html(teacher)


def test_another_test_keeps_the_results_and_both_questions_stand_in_the_table(
    open_app, rooms, taught, opened
):
    teacher, code = taught
    for plan, phase in (("lesson-plan", BEFORE), ("lesson-plan", AFTER), ("lesson-plan-50", BEFORE)):
        teacher = press(teacher.run(), f"class_quiz_{plan}_{phase}")
        number = rooms.state_of(code).quiz.number
        touch(open_app("classroom", **{"class": code}), f"class_check_{number}_{phase}_0", 0)
        teacher = press(teacher.run(), "class_stop")
    assert [each.seats for each in rooms.results(*opened)] == [(1, 0), (1, 1)]
    teacher = press(teacher.run(), "class_quiz_lesson-plan_after")  # by mistake
    teacher = press(teacher, "class_stop")
    assert [each.seats for each in rooms.results(*opened)] == [(1, 0), (1, 1)]
    for name in ("asked_before", "asked_after"):
        assert html(teacher).count(f">{KO[f'class_results_{name}']}</th>") == 2
    press(teacher, "class_results_forget_now")
    assert rooms.results(*opened) == ()


def test_a_wrong_answer_gets_a_hint_and_may_be_changed(open_app, rooms, taught):
    press(taught[0], "class_quiz_lesson-plan_after")
    number = rooms.state_of(taught[1]).quiz.number
    phone, seen = open_app("classroom", **{"class": taught[1]}), set()
    for place in range(2):
        phone = touch(phone, f"class_check_{number}_{AFTER}_2", place)
        seen.add((KO["class_check_right"] in html(phone), "class_hint_2" in keys(phone)))
    assert seen == {(True, False), (False, True)}  # one of two options is right
    wrong = touch(phone, f"class_check_{number}_{AFTER}_2", 0)
    wrong = wrong if "class_hint_2" in keys(wrong) else touch(phone, f"class_check_{number}_{AFTER}_2", 1)
    phone = press(wrong, "class_hint_2")  # the hint of the copied characters names the heatmap
    assert setting(phone, "sentence") == SHOWN[0][1] and "heatmap" in components(phone)


def test_both_tests_of_a_plan_have_the_answers_that_the_lesson_teaches(
    teach, rooms, correctors, opened, monkeypatch, shipped
):
    """Else a class that has learned the lesson fails the test after it. About the shipped network."""
    correctors["transformer"], seen = asked_here(copy(shipped)), {}

    def noted(plan: str, facts):
        found = plan_of(plan, facts)
        read = "".join(facts.trace.source_tokens[:-1]).replace(VISIBLE_SPACE, " ")
        seen[plan, read] = {each.kind: each.idea for each in found}
        return found

    monkeypatch.setattr(quiz, "plan_of", noted)
    for plan in PLANS:
        app = press(teach(sentence="바다에 가치 가요."), f"class_quiz_{plan}_after")
        about = rooms.state_of(opened[0]).quiz.about
        sentences = [lessons.sentence(), dict(about)["sentence"], dict(about)[quiz.PARALLEL]]
        assert sentences[2] not in sentences[:2], plan
        taught, before, after = (seen[plan, each] for each in sentences)
        assert taught == before == after, plan
        if plan == "lesson-plan-50":  # as the plan says: without the head, or if it looks at all alike, no
            assert (taught["alone"], taught["spread"], taught["returns"]) == ("no", "no", "yes")
        if plan == "lesson-plan-answer":  # of one head, as that of the lesson, the answer is another one
            (asked,) = [each.label for each in app.button_group if "가장 많이 본 글자가" in each.label]
            assert "모든 헤드의 평균에서 가장 많이 본 글자가" in asked and taught["agrees"] == "no"
        press(app, "class_stop")


def test_the_file_has_a_row_for_each_option_and_no_formulas(monkeypatch):
    from classroom.checks import Check
    from classroom.classroom import Quiz, Results

    monkeypatch.setattr(quiz, "say", lambda key, **values: key)
    checks = (Check("second", (), ("＝1+1", "나"), 1), Check("copied", (), ("few", "many"), 0))
    results = Results(Quiz("lesson-plan", (), (2, 2), "", 1), ((3, 4), (1, 0)), ((0, 7), (0, 0)), (7, 7))
    rows = list(csv.reader(io.StringIO(quiz.to_csv(results, checks, checks).decode("utf-8-sig"))))
    assert [row[2:] for row in rows[1:]] == [
        ["'＝1+1", "0", "3", "0"],  # a full-width sign begins a formula, too
        ["나", "1", "4", "7"],
        ["class_few", "1", "1", "0"],
        ["class_many", "0", "0", "0"],
    ]
    file = quiz.to_csv(results, checks, checks)
    together = list(csv.reader(io.StringIO(quiz.added_up([file, file]).decode("utf-8-sig"))))
    assert [row[4:] for row in together[1:]] == [[str(2 * int(each)) for each in row[4:]] for row in rows[1:]]
    with pytest.raises(ValueError):
        quiz.added_up(["가,나\r\n1,2\r\n".encode()])
