"""Accessibility of every page: languages, phones, themes, and no request elsewhere."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box, outside
from tests.browser.test_other_pages import expect_controls_in_line, expect_rows_in_line
from tests.browser.visit import (
    choose,
    expect_settings,
    pick,
    pictures_without_a_table,
    serious_violations,
    settle,
    toggle,
    wait_for,
)
from tests.ui.pages.test_lesson_plan import SENTENCE
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


# By how much a page is wider than its window, and how many figures are not wholly in it; two, with a column
# for each character or size, scroll in a box of their own.
WIDER = """() => [
  ...[document.documentElement, document.querySelector(".stMain")]
    .map(element => element.scrollWidth - element.clientWidth),
  [...document.querySelectorAll(".js-plotly-plot:not(.st-key-sizes *, .st-key-decided_grid *)")]
    .map(figure => figure.getBoundingClientRect())
    .filter(({ width, left, right }) => width && (left < 0 || right > innerWidth + 1)).length,
]"""


def faults(page: Page) -> dict:
    """Faults that would stop a blind reader, or one with a phone."""
    return {
        "without a table": pictures_without_a_table(page),
        "axe": serious_violations(page),
        "wider than the window": page.evaluate(WIDER),
    }


TABS = ".st-key-tabs [role=radiogroup]"
FITS = [0, 0, 0]
NO_FAULTS = {"without a table": [], "axe": [], "wider than the window": FITS}
LOOKS = [("light", 1366), ("dark", 390)]


def expect_no_faults(page: Page, name: str) -> None:
    """Beginning with the look that the page has already."""
    is_narrow = page.viewport_size["width"] == 390
    for colour, width in LOOKS[::-1] if is_narrow else LOOKS:
        page.emulate_media(color_scheme=colour)
        expect(page.locator("html")).to_have_css("color-scheme", colour)  # for panels over the page
        show_at(page, width)
        assert faults(page) == NO_FAULTS, (name, colour, width)
        if name in PICTURED:
            expect_picture_in_first_screen(page, name)
        if width > 390 and name in ("growing", "masks", "why", "twins"):
            expect_a_hand_only_where_pressing_does_something(page)


def expect_a_hand_only_where_pressing_does_something(page: Page) -> None:
    hands = page.locator(".plot").evaluate_all(
        """plots => plots.flatMap(plot => {
          const keyed = (plot.getRootNode().host ?? plot).closest("[class*=st-key-]");
          return [...plot.querySelectorAll(".drag, .legendtoggle")]
            .filter(part => getComputedStyle(part).cursor === "pointer")
            .map(part => [keyed.className.match(/st-key-(\\w+)/)[1],
              part.classList.contains("legendtoggle")]);
        })"""
    )
    assert {name for name, _ in hands} <= {"overview", "heatmap", "beside_heads", "growing_heads"}
    assert not any(is_legend for _, is_legend in hands)


def show_at(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 768 if width > 390 else 844})
    settle(page)


# The text of a heading that the part below it begins above the end of; some parts are put away in a lecture.
COVERED = """() => [...document.querySelectorAll(".stHeading")].filter(heading => {
  const text = heading.querySelector("h1, h2, h3").getBoundingClientRect();
  const place = heading.closest(".stElementContainer");
  const next = getComputedStyle(place).clipPath === "none" && place.nextElementSibling;
  return next && next.getBoundingClientRect().top < text.bottom;
}).map(heading => heading.textContent)"""


PICTURED = ("heads", "calculation", "masks", "positions", "network", "model")


def expect_picture_in_first_screen(page: Page, name: str) -> None:
    page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")
    picture, (width, height) = box(page, ".js-plotly-plot, .diagram svg"), page.viewport_size.values()
    if width == 390:
        assert picture.top < 0.75 * height, name
    elif name == "network":  # taller than a screen
        assert picture.top < height / 2
    else:
        assert picture.bottom <= height, name
    assert page.evaluate(COVERED) == [], (name, width)


def test_every_page_is_for_everyone_and_asks_nobody_else(open_page):
    page = open_page(width=1366, height=768)
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect_no_faults(page, "the first page")
    for popover in ("settings", "view_options", "taking"):
        toggle(page, popover)
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        settle(page)
        expect_no_faults(page, popover)
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    for name in (*PAGES[1:], PAGES[0]):
        go_to(page, name)
        if name != PAGES[0]:
            expect_no_faults(page, name)
    assert page.requested_elsewhere == []
    loaded = "() => [...document.fonts].some(f => f.family.includes('Noto Sans KR') && f.status === 'loaded')"
    assert page.evaluate(loaded)


# Words of figures that lie under their toolbar, which a phone always shows.
UNDER_THE_TOOLBAR = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(figure => {
  const bar = figure.querySelector(".modebar-container .modebar").getBoundingClientRect();
  return [...figure.querySelectorAll(".xtick text, .xtitle, .x2title, .legendtext, .annotation-text")]
    .filter(word => {
      const box = word.getBoundingClientRect();
      return box.width && box.top < bar.bottom && box.right > bar.left &&
        box.left < bar.right && box.bottom > bar.top;
    })
    .map(word => word.textContent);
})"""
UNCOVERED = ("masks", "calculation", "heatmap", "twins", "without")


def test_every_page_fits_in_english_which_is_longer(open_page):
    page = open_page("?lang=en", width=1366, height=768)
    expect_every_tab_in_sight(page)
    for name in PAGES[1:]:
        go_to(page, name, "en")
        expect(page.locator("html")).to_have_attribute("lang", "en")
        if name == "laboratory":
            expect_every_tab_in_sight(page)
        for width in (1366, 390):
            show_at(page, width)
            assert page.evaluate(WIDER) == FITS, (name, width)
            if width == 390 and name in UNCOVERED:
                assert page.evaluate(UNDER_THE_TOOLBAR) == [], name
            if name in PICTURED:
                expect_picture_in_first_screen(page, name)
        show_at(page, 1366)
        if name in COMPOSED:
            COMPOSED[name](page)
    assert page.requested_elsewhere == []


def expect_heads_in_one_look(page: Page) -> None:
    assert outside(page, *(f".st-key-{name} .plot" for name in ("heads_map", "heads_pruning"))) == []
    expect_controls_in_line(page, "heads_by", "heads_at")


def expect_a_narrow_root(page: Page) -> None:
    """Else its bar hangs in the air."""
    wide, narrow = page.evaluate(
        """async () => {
          await document.fonts.load("100px 'Noto Sans KR'", "√가");
          const pen = document.createElement("canvas").getContext("2d");
          pen.font = "100px 'Noto Sans KR'";
          return ["가", "√"].map(sign => pen.measureText(sign).width);
        }"""
    )
    assert narrow < 0.7 * wide


def expect_wide_folded_figures(page: Page) -> None:
    """They are drawn when they are opened."""
    page.get_by_text("Training and its commands", exact=True).click()
    figures = page.locator('[class*="st-key-training"] .plot .js-plotly-plot')
    figures.first.scroll_into_view_if_needed()
    for each in figures.all():
        wait_for(page, lambda each=each: box(page, each).width > 800)


COMPOSED = {
    "heads": expect_heads_in_one_look,
    "masks": expect_rows_in_line,
    "calculation": expect_a_narrow_root,
    "model": expect_wide_folded_figures,
}


def expect_every_tab_in_sight(page: Page) -> None:
    for width in (1280, 1366):
        show_at(page, width)
        beyond = page.locator(TABS).evaluate("line => line.scrollWidth - line.clientWidth")
        assert beyond == 0, width


def test_every_view_is_for_everyone(open_page):
    page = open_page("?edit=1&marks=1&revealed=1", width=1366, height=768)
    expect_every_tab_in_sight(page)
    for view in VIEWS[1:]:
        choose(page, "view", table("ko")[f"view_{view.name}"])
        expect_settings(page, view=view.name)
        expect_no_faults(page, view.name)


def test_every_experiment_is_for_everyone(open_page):
    page = open_page(f"laboratory?edit=1&twin=pair&sentence={SENTENCE}", width=1366, height=768)
    expect_every_tab_in_sight(page)
    for view in EXPERIMENTS:
        choose(page, "experiment", table("ko")[f"view_{view.name}"])
        expect_settings(page, experiment=None if view is EXPERIMENTS[0] else view.name)
        expect_no_faults(page, view.name)


FORMS = {  # settings of a view that draw other pictures
    "wrote": ("wrote_as=map",),
    "decided": ("decided_as=curve", "decided_as=jamo"),
    "patched": ("patch_side=decoder", "patch_part=heads", "patch_twin=right"),
    "circuit": ("circuit_as=growth", "circuit_as=checks"),
    "why": ("why_as=without",),
    "receipts": ("receipts_as=picture",),
}


@pytest.mark.parametrize(
    ("path", "setting"), [("?marks=1&revealed=1", "view"), ("laboratory?", "experiment")]
)
def test_every_form_of_every_view_fits_a_phone_in_english_which_is_longer(open_page, path, setting):
    page = None
    for view in VIEWS if setting == "view" else EXPERIMENTS:
        for form in ("", *FORMS.get(view.name, ())):
            link = f"{path}&edit=1&lang=en&sentence={SENTENCE}&{setting}={view.name}&{form}"
            page = open_page(link, width=390, height=844, on=page)
            expect(page.get_by_test_id("stException")).to_have_count(0)
            assert page.evaluate(WIDER) == FITS, (view.name, form)
            if view.name in UNCOVERED:
                assert page.evaluate(UNDER_THE_TOOLBAR) == [], view.name
        line, tab = (box(page, each) for each in (TABS, ".st-key-tabs [aria-checked=true]"))
        assert tab.left >= line.left - 1 and tab.right <= line.right + 1  # the line is longer than the phone


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
