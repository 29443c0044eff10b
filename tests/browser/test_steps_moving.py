"""How one moves through the step-by-step player, by hand and by itself."""

import pytest
from playwright.sync_api import expect

from model.trace.trace import Selection
from tests.browser.steps_player import STEPS, button, data_of, player, position, reports


@pytest.fixture
def show(browser, tmp_path):
    with player(browser, tmp_path) as open_with:
        yield open_with


def test_moving_by_hand_reports_once_and_says_the_step_after_a_rest(show):
    page = show(data_of())
    page.locator("input").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    position(page, 4)
    page.clock.run_for(400)
    assert reports(page) == []
    expect(page.locator(".live")).to_be_empty()
    page.clock.run_for(200)
    assert reports(page) == [["step", 4]]
    expect(page.locator(".live")).to_contain_text("4단계: 빈칸(␣) 자리")
    button(page, "이전").click()
    button(page, "다음").click()
    page.clock.run_for(600)
    assert reports(page) == [["step", 4]]


def test_playing_steps_to_the_end_and_reports_only_there(show):
    page = show(data_of())
    button(page, "재생").click()
    expect(button(page, "멈춤")).to_be_visible()
    assert page.locator("[aria-live], output, [role=status]").count() == 1  # and that one is silent:
    page.clock.run_for(700 * (STEPS - 3))
    position(page, STEPS - 1)
    assert reports(page) == []
    expect(page.locator(".live")).to_be_empty()
    page.clock.run_for(1300)
    position(page, STEPS)
    expect(button(page, "재생")).to_be_visible()
    assert reports(page) == [["step", STEPS]]
    button(page, "재생").click()
    position(page, 1)
    button(page, "멈춤").click()
    page.clock.run_for(5000)
    position(page, 1)
    assert reports(page)[-1] == ["step", 1]


def test_changes_are_ticks_and_can_be_jumped_to(show):
    page = show(data_of())
    assert page.locator(".tick").count() == 2
    button(page, "다음 고친 곳").click()
    position(page, 2)
    page.keyboard.press("n")
    position(page, 5)
    expect(button(page, "다음 고친 곳")).to_be_disabled()
    # A Korean keyboard writes another character with the same key.
    page.locator("input").dispatch_event("keydown", {"key": "ㅔ", "code": "KeyP"})
    position(page, 2)
    tick = page.locator(".tick").first.bounding_box()
    thumb = page.locator("input").evaluate(
        """range => {
          const thumb = 1.15 * parseFloat(getComputedStyle(document.documentElement).fontSize);
          const { left, width } = range.getBoundingClientRect();
          return left + thumb / 2 + (width - thumb) * (range.value - range.min) / (range.max - range.min);
        }"""
    )
    assert tick["x"] + tick["width"] / 2 == pytest.approx(thumb, abs=1)


def test_the_space_bar_plays_from_the_range(show):
    page = show(data_of())
    page.locator("input").press("Space")
    expect(button(page, "멈춤")).to_be_visible()
    page.locator("input").press("Space")
    expect(button(page, "재생")).to_be_visible()


def test_the_browser_leads_until_another_sentence_comes(show):
    page = show(data_of())
    button(page, "다음").click()
    page.evaluate(
        "data => window.show(data)", data_of(step=6, selection=Selection("cross_attention", 1), theme="dark")
    )
    position(page, 2)
    page.evaluate("data => window.show(data)", data_of("가나", "가나", step=3))
    position(page, 3, 3)
    page.clock.run_for(600)
    assert reports(page) == []


def test_new_words_and_numbers_do_not_interrupt_playing(show):
    page = show(data_of())
    button(page, "재생").click()
    page.evaluate("data => window.show(data)", data_of(language="en"))
    expect(button(page, "Pause")).to_be_visible()
    page.clock.run_for(700)
    expect(page.locator(".position")).to_have_text(f"Step 3 of {STEPS}")


def test_nothing_ticks_on_after_the_page_has_let_go(show):
    page = show(data_of())
    button(page, "재생").click()
    page.evaluate("window.stop()")
    page.clock.run_for(5000)
    position(page, 2)
    assert reports(page) == []


def test_a_single_step_has_nowhere_to_go(show):
    page = show(data_of("", ""))
    position(page, 1, 1)
    expect(page.locator("input")).to_be_disabled()
    expect(button(page, "다음")).to_be_disabled()
    assert page.failures == []
