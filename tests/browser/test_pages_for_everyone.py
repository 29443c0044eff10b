"""Languages, small screens, light and dark, assistive technology, and no word to the outside."""

from collections.abc import Iterator
from itertools import cycle

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box
from tests.browser.visit import (
    choose,
    expect_settings,
    pick,
    pictures_without_a_table,
    serious_violations,
    settle,
    toggle,
)
from ui.shell.header import PAGES
from ui.views import EXPERIMENTS, VIEWS
from ui.wording import table


def go_to(page: Page, name: str, language: str = "ko") -> None:
    """To another page by the menu, as a visitor goes."""
    say = table(language)
    pick(page, "pages", say[f"{name}_page"])
    title = say["product"] if name == PAGES[0] else say[f"{name}_page"]
    expect(page.locator("h1")).to_have_text(title)
    expect(page).to_have_title(title if name == PAGES[0] else f"{title} · {say['product']}")
    settle(page)


WIDER = """() => [document.documentElement, document.querySelector(".stMain")]
  .map(element => element.scrollWidth - element.clientWidth)"""


def faults(page: Page) -> dict:
    """Faults that would stop a blind reader, or one with a phone."""
    return {
        "without a table": pictures_without_a_table(page),
        "axe": serious_violations(page),
        "wider than the window": page.evaluate(WIDER),
    }


TABS = ".st-key-tabs [role=radiogroup]"
NO_FAULTS = {"without a table": [], "axe": [], "wider than the window": [0, 0]}
LOOKS = [("light", 1280), ("dark", 390)]
LANGUAGES = pytest.mark.parametrize("language", ["ko", "en"])


def looks_of(language: str) -> Iterator[tuple[str, int]]:
    """For each thing that is shown the look of one language; the other language has the other one."""
    return cycle(LOOKS if language == "ko" else LOOKS[::-1])


def expect_no_faults(page: Page, name: str, looks: Iterator[tuple[str, int]]) -> None:
    """In the next of ``looks``. In the other width the page fits, too."""
    colour, width = next(looks)
    page.emulate_media(color_scheme=colour)
    expect(page.locator("html")).to_have_css("color-scheme", colour)  # for panels over the page
    show_at(page, width)
    assert faults(page) == NO_FAULTS, (name, colour, width)
    show_at(page, 1280 + 390 - width)
    assert page.evaluate(WIDER) == [0, 0], (name, 1280 + 390 - width)


def show_at(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    settle(page)


@LANGUAGES
def test_every_page_is_for_everyone_in_its_language_and_asks_nobody_else(open_page, language):
    page, looks = open_page(f"?lang={language}"), looks_of(language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect_no_faults(page, "the first page", looks)
    for popover in ("settings", "view_options", "taking"):
        toggle(page, popover)
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        settle(page)
        expect_no_faults(page, popover, looks)
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    for name in (*PAGES[1:], PAGES[0]):
        go_to(page, name, language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        if name != PAGES[0]:
            expect_no_faults(page, name, looks)
    assert page.requested_elsewhere == []
    loaded = "() => [...document.fonts].some(f => f.family.includes('Noto Sans KR') && f.status === 'loaded')"
    assert page.evaluate(loaded)


@LANGUAGES
def test_every_view_is_for_everyone(open_page, language):
    page, looks = open_page(f"?edit=1&marks=1&revealed=1&lang={language}"), looks_of(language)
    for view in VIEWS[1:]:
        choose(page, "view", table(language)[f"view_{view.name}"])
        expect_settings(page, view=view.name)
        expect_no_faults(page, view.name, looks)


@LANGUAGES
def test_every_experiment_is_for_everyone(open_page, language):
    page, looks = open_page(f"laboratory?edit=1&twin=pair&lang={language}"), looks_of(language)
    for view in EXPERIMENTS:
        choose(page, "experiment", table(language)[f"view_{view.name}"])
        expect_settings(page, experiment=None if view is EXPERIMENTS[0] else view.name)
        expect_no_faults(page, view.name, looks)


def test_lecture_mode_is_for_everyone(open_page):
    assert faults(open_page("?lecture=1", width=1920, height=1080)) == NO_FAULTS


def test_switching_the_language_keeps_the_view(open_page):
    page = open_page("?kind=decoder_attention&layer=2&sentence=%EA%B3%A0%EA%B0%B1")
    pick(page, "language", "English")
    expect(page.locator("h1")).to_have_text(table("en")["product"])
    expect_settings(page, lang="en", kind="decoder_attention", layer="2", sentence="고갱")
    expect(page.locator(".st-key-map_choice button").first).to_contain_text("Decoder · layer 2")
    expect(page.get_by_label("Text to correct")).to_have_value("고갱")
    expect(page.locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize("path", ["?edit=1&view=predict", "laboratory?edit=1&experiment=receipts"])
def test_the_open_tab_is_in_sight_on_a_phone(open_page, path):
    """A link may open any of them, and the line of tabs is longer than a phone is wide."""
    page = open_page(path, width=390, height=844)
    line, tab = (box(page, each) for each in (TABS, ".st-key-tabs [aria-checked=true]"))
    assert tab.left >= line.left - 1 and tab.right <= line.right + 1


@LANGUAGES
@pytest.mark.parametrize("path", ["", "laboratory"])
def test_every_tab_is_in_sight_on_a_laptop(look_at, path, language):
    for width in (1280, 1366):
        line = look_at(f"{path}?lang={language}", width=width, height=768).locator(TABS)
        assert line.evaluate("line => line.scrollWidth - line.clientWidth") == 0, width


def test_an_arrow_shows_the_tabs_that_a_phone_has_no_room_for(open_page):
    page = open_page("?lang=en", width=390, height=844)
    line = box(page, TABS)
    for tab in ("Calculation", "Predict"):
        shown = page.get_by_role("radio", name=tab, exact=True)
        expect(shown).not_to_be_in_viewport(ratio=1)
        page.mouse.click(line.right - 8, (line.top + line.bottom) / 2)
        expect(shown).to_be_in_viewport(ratio=0.99)
    shown.click()
    expect_settings(page, view="predict")
