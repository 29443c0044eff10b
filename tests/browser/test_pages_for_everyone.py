"""Languages, small screens, light and dark, assistive technology, and no word to the outside."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import serious_violations, settle
from ui.texts import table

PAGE_NAMES = ("attention", "calculation", "masks", "positions", "network", "model")
PAGES = ("", *PAGE_NAMES[1:])
VIEWS = (
    "?view=lines&edit=1",
    "?view=steps",
    "?view=numbers",
    "?view=predict&edit=1&marks=1&revealed=1",
    "?lecture=1",
)
TITLES = {
    language: [(say[f"{name}_page"], say[f"{name}_title"]) for name in PAGE_NAMES]
    for language, say in ((each, table(each)) for each in ("ko", "en"))
}


@pytest.mark.parametrize("language", TITLES)
def test_every_page_speaks_both_languages(open_page, language):
    page = open_page("?lang=en" if language == "en" else "")
    for name, title in TITLES[language]:
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1")).to_have_text(title)
        expect(page.locator("html")).to_have_attribute("lang", language)


def test_switching_the_language_keeps_the_view(open_page):
    page = open_page("?kind=decoder_attention&layer=2&sentence=%EA%B3%A0%EA%B0%B1")
    page.get_by_role("radio", name="English", exact=True).click()
    expect(page.locator("h1")).to_have_text(TITLES["en"][0][1])
    expect(page.get_by_role("radio", name="Decoder", exact=True)).to_be_checked()
    expect(page.get_by_label("Text to correct")).to_have_value("고갱")
    for part in ("lang=en", "kind=decoder_attention", "layer=2", "sentence="):
        assert part in page.url


@pytest.mark.parametrize("path", [*PAGES, *VIEWS])
def test_a_phone_scrolls_only_downwards(open_page, path):
    page = open_page(path, width=390)
    too_wide = page.evaluate(
        """() => [document.documentElement, document.querySelector(".stMain")]
          .map(element => element.scrollWidth - element.clientWidth)"""
    )
    assert too_wide == [0, 0]


@pytest.mark.parametrize(("colour", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("path", [*PAGES, *VIEWS])
def test_axe_finds_nothing_serious(open_page, path, colour, width):
    page = open_page(path, colour=colour, width=width)
    assert serious_violations(page) == []


def test_figures_follow_the_dark_theme(open_page):
    background = "() => getComputedStyle(document.querySelector('.stApp')).backgroundColor"
    ink = "() => document.querySelector('.js-plotly-plot')._fullLayout.font.color"
    light, dark = open_page(), open_page(colour="dark")
    assert light.evaluate(background) != dark.evaluate(background)
    assert light.evaluate(ink) != dark.evaluate(ink)


def test_nothing_is_requested_from_elsewhere_and_the_font_is_ours(open_page):
    page = open_page()
    for name, title in TITLES["ko"][1:]:
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1")).to_have_text(title)
        settle(page)
    assert page.requested_elsewhere == []
    loaded = "() => [...document.fonts].some(f => f.family.includes('Noto Sans KR') && f.status === 'loaded')"
    assert page.evaluate(loaded)
