"""Lesson plan in the bar of a class: steps forward and back, links, its end."""

from urllib.parse import parse_qsl

import pytest

from tests.ui.classroom.test_classroom_page import press
from tests.ui.screen import component, html, keys, setting, title
from ui.classroom.lessons import plans
from ui.wording import table

KO = table("ko")


def test_a_plan_is_followed_step_by_step_in_the_bar(open_app, rooms):
    app = press(press(open_app("classroom"), "class_open"), "lesson_20")
    assert setting(app, "lesson") == "20.0"
    steps = plans("ko")["20"]
    app = open_app(**{"class": setting(app, "class"), "lesson": "20.0"})
    assert "lesson_next" not in keys(app)  # a phone that has the link is no teacher
    assert steps[1].title not in html(app)


def test_the_teacher_goes_on_and_back(open_app, teacher, cookies):
    code, _ = teacher
    cookies |= {"attention_lesson": "20.0", "attention_lecture": "1"}
    app = open_app("masks")  # no word of the class in the address
    steps = plans("ko")["20"]
    assert f"1/{len(steps)}" in html(app) and steps[0].title in html(app)
    assert setting(app, "lecture") == "1" and "lesson_previous" not in keys(app)
    app = press(app, "lesson_next")
    assert setting(app, "lesson") == "20.1"
    kept = component(app, "address_bar")
    assert kept["kept"]["attention_class"] == code
    assert {name: value for name, value in kept["settings"] if name in ("class", "lecture", "lesson")} == {
        name: None for name in ("class", "lecture", "lesson")
    }


def test_a_link_of_the_plan_opens_its_step_in_the_bar(open_app, teacher, cookies):
    cookies["attention_lesson"] = "20.1"
    steps = plans("ko")["20"]
    opens = [dict(parse_qsl(step.link.partition("?")[2])) for step in steps]
    for number in (0, 4):  # the first step and the one after it have one link: the bar stays at the second
        app = open_app(**opens[number])
        assert setting(app, "lesson") == f"20.{number or 1}"


@pytest.mark.parametrize(("view", "tongue"), [("view=lines", "ko"), ("positions?", "en")])
def test_a_link_of_another_plan_moves_the_bar_there_and_nothing_else_does(
    open_app, teacher, cookies, view, tongue
):
    cookies["attention_lesson"] = "answer.7"
    (number,) = [at for at, step in enumerate(plans(tongue)["50"]) if view in step.link]
    page, _, query = plans(tongue)["50"][number].link.partition("?")
    app = open_app(page or "attention", **dict(parse_qsl(query)))
    assert setting(app, "lesson") == f"50.{number}" and plans(tongue)["50"][number].title in html(app)
    app = open_app(page or "attention", **dict(parse_qsl(query)) | {"sentence": "나무"})  # own way
    assert setting(app, "lesson") == "answer.7"


@pytest.mark.parametrize("reloaded", [True, False])
def test_a_teacher_who_begins_anew_at_the_classs_page_goes_back_to_the_lesson(
    open_app, rooms, teacher, cookies, reloaded
):
    page, _, query = plans("ko")["answer"][6].link.partition("?")
    rooms.show(*teacher, page, tuple(parse_qsl(query)))
    before = rooms.state_of(teacher[0])
    cookies["attention_lesson"] = "answer.6"
    app = open_app("classroom", **(dict(parse_qsl(query)) if reloaded else {"lang": "en"}))
    app = press(app, "class_to_lesson")
    assert page == "laboratory" and title(app) == table("ko" if reloaded else "en")["laboratory_page"]
    assert {name: setting(app, name) for name, _ in parse_qsl(query)} == dict(parse_qsl(query))
    assert rooms.state_of(teacher[0]).shown == before.shown
    assert setting(app, "lesson") == "answer.6" and f"7/{len(plans('ko')['answer'])}" in html(app)


def test_a_plan_ends_with_its_summary_on_the_page_that_is_open_and_a_reload_stays_there(
    open_app, teacher, cookies
):
    steps = plans("ko")["20"]
    cookies["attention_lesson"] = f"20.{len(steps) - 2}"
    app = press(open_app("masks"), "lesson_next")
    assert not steps[-1].link and KO["lesson_end"].format(title=steps[-1].title) in html(app)
    assert "lesson_next" not in keys(app)
    steps = plans("ko")["50"]
    cookies["attention_lesson"] = f"50.{len(steps) - 1}"
    page, _, query = steps[-2].link.partition("?")
    app = open_app(page, **dict(parse_qsl(query)))
    assert setting(app, "lesson") == f"50.{len(steps) - 1}"


def test_a_class_that_is_over_is_forgotten_by_the_browser_that_kept_it(open_app, rooms, cookies):
    cookies["attention_class"] = "012345"
    app = open_app("masks")
    assert setting(app, "class") == "" and "class_over" not in keys(app)
