"""Classroom pages in three browsers: a teacher and two phones in one lesson."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import (
    PATIENCE,
    choose,
    figure,
    of_figure,
    serious_violations,
    settle,
    text_area,
    wait_until,
)
from ui.wording import table

KO = table("ko")
SENTENCE = "친구와 가치 밥을 머거요."
BOARD = ".st-key-class_board"
TOLD = ".stHtml .told"  # the sentence above a picture


@pytest.fixture(scope="module")
def lesson(server, browser):
    """(the teacher, two phones), each in a separate browser, with its own cookies: both phones are in the
    class, where the teacher has typed a sentence.

    It is one class for all tests, in their order: to open three browsers takes longer than any of them. An
    error in a script that nothing caught fails the last.
    """
    contexts, errors = [], []

    def come(path: str, width: int, height: int, colour: str = "light") -> Page:
        context = browser.new_context(color_scheme=colour, viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{server}/{path}")
        page.wait_for_selector("h1")
        settle(page)
        return page

    teacher = come("classroom", 1366, 768)
    press(teacher, "class_open")
    code = teacher.locator(".class-code").inner_text().replace("-", "")
    phones = [come(f"classroom?class={code}", 390, 844, colour) for colour in ("light", "dark")]
    expect(teacher.locator(".class-count")).to_contain_text("2명")
    press(teacher, "class_to_lesson")
    teacher.wait_for_selector(figure("heatmap"))
    text_area(teacher).fill(SENTENCE)
    everybody(phones, lambda page: expect(page.locator(".class-sentence ins")).to_have_count(2))
    yield teacher, phones
    for context in contexts:
        context.close()
    assert errors == []


def press(page: Page, key: str) -> None:
    """Press the button in sight: while a page is drawn anew, an old one may be there, too, and hidden."""
    page.locator(f".st-key-{key} button").filter(visible=True).first.click()


def everybody(pages: list[Page], look: Callable[[Page], object]) -> None:
    for page in pages:
        look(page)


def ask(teacher: Page, popover: str, key: str) -> None:
    """Back at the class's page, choose something from one of its popovers."""
    settle(teacher)  # while a page is drawn anew, the line of the class may be there and go, or be hidden
    line = teacher.locator(".st-key-class_bar_open button").filter(visible=True)
    desk = teacher.locator(f".st-key-{popover}").filter(visible=True)
    expect(line.or_(desk).first).to_be_visible()
    if line.count():
        press(teacher, "class_bar_open")
    teacher.wait_for_selector(f".st-key-{popover}")
    settle(teacher)
    press(teacher, popover)
    press(teacher, key)


def test_a_phone_looks_around_and_comes_back_and_a_reload_changes_nobody(lesson):
    teacher, (phone, other) = lesson
    press(phone, "class_look_around")
    phone.wait_for_selector(figure("heatmap"))
    expect(phone.locator(".st-key-live_text textarea")).to_have_value(SENTENCE)
    choose(teacher, "head", "3")
    expect(other.locator(TOLD)).to_contain_text("헤드 3")
    expect(phone.locator(TOLD)).not_to_contain_text("헤드 3")  # it has let go
    press(phone, "class_bar_open")
    expect(phone.locator(TOLD)).to_contain_text("헤드 3")

    other.reload()
    teacher.goto(teacher.url.split("?")[0])  # any link keeps the class and the teacher's right
    for page in (other, teacher):
        page.wait_for_selector("h1")
        settle(page)
    expect(teacher.locator(".st-key-class_bar_open")).to_contain_text(KO["class_bar_teacher"])
    wait_until(teacher, lambda: re.search(r"· (\d+)명", teacher.locator(".class-count").inner_text())[1], "2")
    choose(teacher, "head", "4")
    everybody([phone, other], lambda page: expect(page.locator(TOLD)).to_contain_text("헤드 4"))


def test_a_lesson_in_three_browsers_until_it_is_over(lesson):
    teacher, phones = lesson
    choose(teacher, "head", "2")  # follow
    everybody(phones, lambda page: expect(page.locator(TOLD)).to_contain_text("헤드 2"))
    everybody(phones, lambda page: expect(page.locator(figure("class_plot_0"))).to_be_visible())
    assert serious_violations(phones[1]) == []

    ask(teacher, "class_ask", "class_kind_where")  # predict
    for page, place in zip(phones, (3, 4), strict=True):
        page.locator(f"{BOARD} button").nth(place).click()
        expect(page.get_by_text(KO["class_answered_mine"])).to_be_visible()
        expect(page.locator(figure("class_plot_0"))).to_have_count(0)  # nothing gives the answer away
    expect(teacher.locator(".class-count")).to_contain_text("2명이 답했습니다")
    assert serious_violations(phones[0]) == []

    press(teacher, "class_reveal_now")  # reveal: class, attention and ablation, in one picture
    for page in (teacher, *phones):
        expect(page.locator(figure("class_reveal"))).to_be_visible()
        settle(page)
        bars = "plot => plot._fullData.filter(trace => trace.type === 'bar').length"
        wait_until(page, lambda page=page, bars=bars: of_figure(page, figure("class_reveal"), bars), 3)
    assert serious_violations(teacher) == []
    ink = "plot => plot._fullLayout.font.color"
    light, dark = (of_figure(page, figure("class_reveal"), ink) for page in phones)
    assert light != dark
    press(teacher, "class_stop")
    everybody([teacher, *phones], lambda page: expect(page.locator(".class-question")).to_have_count(0))

    for phase, place in (("before", 0), ("after", 1)):
        ask(teacher, "class_quiz", f"class_quiz_lesson-plan_{phase}")
        rows = phones[0].locator("[class*=st-key-class_check_]")
        expect(rows).to_have_count(6)
        for number in range(6):
            rows.nth(number).locator("button").nth(place).click()
            settle(phones[0])  # the answer has arrived
            told = number + 1 if phase == "after" else 0  # nothing is given away before the lesson
            expect(phones[0].locator(".class-right, .class-hint")).to_have_count(told)
            expect(phones[0].locator(".st-key-class_quiz_list + *, .note").last).to_be_visible()
        press(teacher, "class_stop")
        expect(rows).to_have_count(0)  # else those of the phase before are taken for the next one's

    # The desk is drawn before the counts and the file of the same answers.
    results = KO["class_results"].format(plan=KO["class_plan_lesson_plan"], before=1, after=1)
    expect(teacher.get_by_text(results)).to_be_visible()
    settle(teacher)
    with teacher.expect_download() as download:
        teacher.locator("[class*=st-key-class_results_csv] button").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    assert {row[KO["class_column_number"]] for row in rows} == {str(number) for number in range(1, 7)}
    for column in ("class_column_before", "class_column_after"):
        assert sum(int(row[KO[column]]) for row in rows) == 6  # one phone answered, six times
    rights = [row[KO["class_column_number"]] for row in rows if row[KO["class_column_right"]] == "1"]
    assert {rights.count(number) for number in set(rights)} <= {1, 2}  # both sentences have a right option

    press(teacher, "class_end")
    teacher.locator("[data-testid=stPopoverBody] button").click()
    everybody(phones, lambda page: expect(page.get_by_text(KO["class_ended"])).to_be_visible())


def test_the_steps_of_a_plan_leave_one_beat_a_second(server, lesson):
    """A timer that each step left behind ended in lost lines, swallowed presses and a white page."""
    (teacher, _), sent = lesson, []
    teacher.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    teacher.goto(f"{server}/classroom")
    press(teacher, "class_open")
    settle(teacher)  # a list that is opened while the page is drawn closes again
    press(teacher, "class_lesson")
    press(teacher, "lesson_50")
    for step in range(2, 6):
        expect(teacher.locator(".st-key-class_bar .label")).to_contain_text(f"{step - 1}/")
        press(teacher, "lesson_next")
    expect(teacher.locator(".st-key-class_bar .label")).to_contain_text("5/")
    settle(teacher)
    sent.clear()
    teacher.wait_for_timeout(4_000)
    assert 1 <= len(sent) <= 6

    sent.clear()
    for _ in range(20):  # a beat in the moment of a press would take its place
        teacher.keyboard.press("Shift")
        teacher.wait_for_timeout(100)
    assert not sent
