"""First visit in a browser: welcome, tour, copied text and link, light and dark theme."""

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box
from tests.browser.visit import PATIENCE, expect_settings, figure, settle, text_area, wait_for, wait_until
from ui.components.widgets import STOPS
from ui.wording import table

KO = table("ko")
# Whether a part's upper edge is seen: the topmost element there, in the middle, is the part itself or in it.
LIES_ON_TOP = """(place) => {
  const part = document.querySelector(place), { left, top, width } = part.getBoundingClientRect();
  return document.elementsFromPoint(left + width / 2, top + 4)
    .find((each) => !each.closest(".welcome, .st-key-welcome"))
    ?.closest(place) === part;
}"""
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 22, 29)"}  # of .streamlit/config.toml


@pytest.fixture(scope="module")
def elsewhere(pages):
    """A page of a browser that keeps nothing of the app but its files: to compile them takes seconds."""
    page = pages.strangers()
    page.set_default_timeout(PATIENCE)
    yield page
    page.context.close()


@pytest.fixture
def stranger(server, elsewhere):
    """Opens the app for a first visitor."""
    page = elsewhere

    def open_at(width: int = 1366, height: int = 768) -> Page:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server}/")
        page.wait_for_selector("h1")
        settle(page)
        return page

    yield open_at
    page.context.clear_cookies()
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.goto("about:blank")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_a_tour_leads_through_the_page_and_never_comes_again(stranger, width, height):
    page = stranger(width, height)
    panel = page.locator(".welcome .panel")
    for word in ("층", "헤드", "어텐션"):
        expect(panel).to_contain_text(word)
    panel.get_by_role("button", name=KO["tour_begin"]).click()
    for number, (name, (place, _)) in enumerate(STOPS.items(), start=1):
        expect(panel).to_contain_text(KO[name])
        expect(panel).to_contain_text(f"{number} / {len(STOPS)}")
        at = box(page, panel)
        assert at.left >= 0 and at.right <= width and at.bottom <= height
        # The explained part is scrolled to.
        wait_until(page, lambda place=place: page.evaluate(LIES_ON_TOP, place), True)
        panel.locator(".strong").click()
    expect(panel).to_have_count(0)
    page.wait_for_url("**/laboratory*")  # the last step switches the head off
    settle(page)
    page.goto(page.url.split("laboratory")[0])
    page.wait_for_selector("h1")
    settle(page)
    expect(panel).to_have_count(0)


@pytest.mark.parametrize("sizes", [((1024, 768), (390, 844)), ((390, 844), (1024, 768))])
def test_the_welcome_covers_no_picture_that_cannot_be_scrolled_above_it(stranger, sizes):
    page = stranger(*sizes[0])
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        top = box(page, ".welcome .panel").top
        if width > 1000:  # one look: nothing has to be scrolled
            for shown in (figure("heatmap"), ".st-key-overview"):
                wait_for(page, lambda shown=shown, top=top: box(page, shown).bottom <= top)
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
        wait_for(page, lambda top=top: box(page, ".st-key-more").bottom <= top)
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")


def test_no_number_of_a_change_lies_over_a_text_that_is_in_sight(stranger):
    page = stranger()
    text = "나 낼 학교 못갈거같애 감기걸렷어. 내가 갈께 기다려 밧데리 좀"
    text_area(page).fill(text)
    expect_settings(page, sentence=text)
    page.locator(".correction .change").last.click()
    page.locator(".st-key-three_mattered button:enabled:visible").wait_for()
    for width, height in ((1366, 768), (390, 844), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        written, numbers = (box(page, each) for each in (".correction .corrected", ".st-key-three_numbers"))
        assert written.bottom <= numbers.top + 1


def test_closing_the_welcome_moves_nothing_and_another_window_uses_its_room(stranger):
    page = stranger()
    panel = page.locator(".welcome .panel")
    boxes = lambda: [box(page, figure(each)) for each in ("heatmap", "overview")]
    before = boxes()
    panel.locator(".quiet").click()
    expect(panel).to_have_count(0)
    settle(page)
    assert boxes() == before
    text_area(page).fill("학꾜에 가치 가요")
    expect_settings(page, sentence="학꾜에 가치 가요")
    assert [each.height for each in boxes()] == [each.height for each in before]
    page.set_viewport_size({"width": 1366, "height": 769})
    wait_for(page, lambda: boxes()[0].height > before[0].height + 10)


def test_the_corrected_text_and_the_link_are_copied_and_it_stands_as_a_code_for_phones(open_page):
    page = open_page("?layer=2&sentence=머거요")
    page.evaluate(
        "window.copied = []; navigator.clipboard.writeText = async text => void copied.push(text); 0"
    )
    page.locator(".st-key-correction .copy").click()
    wait_until(page, lambda: page.evaluate("window.copied"), ["먹어요"])
    assert box(page, ".correction .told").bottom <= box(page, ".correction .corrected").top
    page.locator(".st-key-taking button").first.click()
    page.locator(".st-key-copy_link button").click()
    _, link = wait_for(page, lambda: page.evaluate("window.copied"), lambda copied: len(copied) == 2)
    place, _, settings = link.partition("?")
    assert place == page.url.partition("?")[0]
    assert parse_qs(settings) == {"layer": ["2"], "sentence": ["머거요"]}
    expect(page.locator("img.qr")).to_be_visible()


def test_a_tour_can_be_left_and_the_switch_of_the_look_holds_on_every_page(stranger):
    page = stranger()
    panel = page.locator(".welcome .panel")
    panel.get_by_role("button", name=KO["tour_begin"]).click()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert page.evaluate("localStorage.getItem('attentionWelcomed')") == "1"
    expect(page.get_by_test_id("stMainMenu")).not_to_be_visible()
    app = page.get_by_test_id("stApp")
    expect(app).to_have_css("background-color", GROUND["light"])
    page.get_by_role("button", name=KO["theme_dark"]).click()
    expect(app).to_have_css("background-color", GROUND["dark"])
    page.goto(page.url.split("?")[0] + "masks")
    page.wait_for_selector("h1")
    settle(page)
    expect(app).to_have_css("background-color", GROUND["dark"])
