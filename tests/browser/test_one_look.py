"""Layout of the main page: one screen with stable places; phone, projector, print."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser import visit
from tests.browser.boxes import box, outside, overlapping
from tests.browser.visit import (
    choose,
    click,
    expect_settings,
    heatmap,
    pick,
    settle,
    text_area,
    wait_for,
    wait_until,
)
from ui.shell.settings import Flag, load_examples
from ui.views import VIEWS
from ui.views.heatmap import SETTINGS
from ui.wording import table

FIRST_EXAMPLE = load_examples()[0].text
TYPED = {  # tokens, the end mark included -> a sentence of so many
    24: "오늘은 날싸가 맑라서 공원에서 잠깐 쉬엇다",
    32: "오늘은 날싸가 맑라서 공원에서 친구하고 잠깐만 쉬엇어요.",
    40: "오늘은 날싸가 맑라서 공원에서 점심을 머꼬 친구하고 집까지 거러갔어요.",
    48: "오늘은 날싸가 맑라서 학꾜 아페서 국쑤를 머꼬 친구하고 공원까지 천천히 거러갔습니다.",
}
TEXT, CORRECTION = ".st-key-live_text textarea", ".st-key-correction .correction"
TOLD = ".st-key-told .told"
OVERVIEW, HEATMAP = ".st-key-overview .plot", ".st-key-heatmap .plot"
MOST_CONTROLS = 15  # before the first picture
SIZES = pytest.mark.parametrize(
    ("width", "height", "colour", "language"),
    [(1366, 768, "dark", "en"), (390, 844, "light", "ko")],
)


@pytest.fixture
def open_typed(open_page):
    """Opens the main page on a sentence of TYPED."""

    def open_at(tokens: int, width: int, height: int, colour: str = "light", **chosen: str) -> Page:
        assert len(TYPED[tokens]) + 1 == tokens
        query = urlencode({"sentence": TYPED[tokens]} | chosen)
        return open_page(f"?{query}", width=width, height=height, colour=colour)

    return open_at


def in_both_languages(open_typed, *arguments: int):
    """The page in Korean and then in English."""
    page = open_typed(*arguments)
    yield "ko", page
    pick(page, "language", "English")
    expect_settings(page, lang="en")
    expect(page.locator("h1")).to_have_text(table("en")["product"])
    settle(page)
    yield "en", page


def hidden_inside(page: Page, *places: str) -> list[str]:
    """Which of ``places`` show a part of their contents only when they are scrolled."""
    rolls = "e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1"
    return [place for place in places if page.locator(place).evaluate(rolls)]


def lowest_drawn(page: Page, place: str) -> float:
    """Where in the document the cells and the keys to their colours end."""
    parts = page.locator(f"{place} .draglayer, {place} .legend, {place} .colorbar")
    return max(box(page, each).bottom for each in parts.all())


def cell_size(page: Page) -> float:
    return page.locator(HEATMAP).evaluate("root => root.plot.at.cell")


def controls_before_the_first_picture(page: Page) -> list[str]:
    """The names of the visible controls before it in the document, those inside of components
    included.
    """
    return page.evaluate(
        """() => {
          const found = [];
          const look = (node) => {
            for (const child of node.children) {
              if (child.matches(".plot")) return true;
              const control = child.matches(`a[href], button, input,
                select, textarea, [role=button], [role=radio]`);
              const within = child.parentElement?.closest("button, label");
              if (control && !within && child.checkVisibility() && child.getBoundingClientRect().width > 1)
                found.push((child.ariaLabel || child.textContent || child.tagName).slice(0, 20));
              if ((child.shadowRoot && look(child.shadowRoot)) || look(child)) return true;
            }
            return false;
          };
          return look(document.body) ? found : ["no picture", ...found];
        }"""
    )


@pytest.mark.parametrize(("width", "height", "tokens"), [(1366, 768, 32), (1920, 1080, 48)])
def test_text_correction_overview_and_heatmap_are_on_one_screen(open_typed, width, height, tokens):
    sizes = set()
    for which, page in in_both_languages(open_typed, tokens, width, height):
        places = (TEXT, CORRECTION, OVERVIEW, HEATMAP)
        assert outside(page, *places) == [], which
        assert overlapping({each: box(page, each) for each in places}) == [], which
        assert hidden_inside(page, *places) == [], which
        assert len(controls_before_the_first_picture(page)) <= MOST_CONTROLS, which
        sizes.add(cell_size(page))
    assert len(sizes) == 1


def test_a_lecture_shows_correction_and_a_picture_for_the_last_row(open_typed):
    """In English, whose sentences are longer."""
    page = open_typed(40, 1920, 1080, lecture="1", lang="en")
    expect(page.locator("h1")).to_have_text(table("en")["product"])
    assert outside(page, CORRECTION, HEATMAP) == []
    assert overlapping({each: box(page, each) for each in (CORRECTION, HEATMAP)}) == []
    assert box(page, HEATMAP).height >= 800
    assert hidden_inside(page, TOLD) == []
    choose(page, "view", table("en")["view_numbers"])  # its sentences are long
    expect_settings(page, view="numbers")
    assert hidden_inside(page, TOLD) == []
    pick(page, "pages", table("en")["laboratory_page"])
    expect(page.locator("h1")).to_have_text(table("en")["laboratory_page"])
    settle(page)
    assert hidden_inside(page, TOLD) == []


def test_a_phone_begins_with_text_and_correction_and_the_picture_follows(open_typed):
    for which, page in in_both_languages(open_typed, 24, 390, 844):
        assert outside(page, TEXT, CORRECTION) == [], which
        picture = box(page, HEATMAP)
        assert picture.top < 520 and picture.bottom <= 1.6 * 844, which
        assert picture.bottom - lowest_drawn(page, HEATMAP) < 60, which
        assert hidden_inside(page, TEXT, CORRECTION) == [], which
        assert len(controls_before_the_first_picture(page)) <= MOST_CONTROLS, which


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_text_and_correction_stay_in_view_above_a_long_sentence(look_at, width, height):
    page = look_at(
        f"?{urlencode({'sentence': ('우리는 어제 학교에서 머글 것을 차잣고 ' * 4)})}",
        width=width,
        height=height,
    )
    main = page.locator(".stMain")
    main.evaluate(
        "main => main.scrollTo(0, main.querySelector('.st-key-heatmap').getBoundingClientRect().bottom - 600)"
    )
    assert main.evaluate("main => main.scrollTop") > 100
    expect(page.locator(TEXT)).to_be_in_viewport(ratio=1)
    expect(page.locator(CORRECTION)).to_be_in_viewport(ratio=1)


@SIZES
def test_nothing_that_a_click_or_one_more_character_causes_moves_the_picture(
    open_typed, width, height, colour, language
):
    tokens = 32 if width > 400 else 24
    page = open_typed(tokens, width, height, colour, lang=language)
    say = table(language)
    before = measured(page)
    for key, columns in (("!", tokens + 1), ("Backspace", tokens)):
        text_area(page).press("End")
        page.keyboard.press(key)
        wait_until(page, lambda columns=columns: heatmap(page).shape[1], columns)
        settle(page)
        after = measured(page)
        assert after["cell"] == before["cell"]
        assert place_of_pictures(after, width) == place_of_pictures(before, width)

    def expect_still(what: str) -> None:
        settle(page)
        assert measured(page) == before, what

    visit.changed_words(page).first.click()
    expect_settings(page, edit="1")
    expect_still("choosing a change")
    page.keyboard.press("Escape")
    expect_still("closing its card")
    click(page, visit.tile(page, 0, 1))
    expect_settings(page, layer="1", head="2")
    expect_still("opening a head by its tile")
    page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")  # a phone had to scroll to the tile
    click(page, visit.cell(page, 3, 3))
    expect_settings(page, cell="3,3")
    expect_still("choosing a cell")
    click(page, visit.cell(page, 3, 3))
    expect_settings(page, cell=None)
    expect_still("letting it go")
    for popover in ("settings", "taking", "view_options"):
        visit.toggle(page, popover)
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        expect_still(f"opening {popover}")
        if popover == "view_options":
            for setting in SETTINGS[width < 400 :: 2]:
                switch_on(page, setting, say)
                if setting.name == "unit":  # a word is not a character: only the box stays
                    settle(page)
                    assert place_of_pictures(measured(page), width) == place_of_pictures(before, width)
                    choose(page, "unit", say["unit_syllable"])
                    expect_settings(page, unit=None)
                expect_still(f"switching {setting.name} on")
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        expect_still(f"closing {popover}")
    for kind in ("encoder_attention", "decoder_attention"):
        choose(page, "kind", say[f"kind_{kind}"])
        expect_settings(page, kind=kind)
        expect_still(kind)
    choose(page, "layer", "2")
    expect_settings(page, layer="2")
    expect_still("choosing a layer")
    choose(page, "head", say["head_mean"])
    expect_settings(page, head=None)
    expect_still("choosing a head")
    page.locator(".st-key-explanation summary").click()
    expect(page.locator(".st-key-explanation .note").first).to_be_visible()
    page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")  # pressing it had scrolled there
    expect_still("opening the explanation")


# Notes until ``seen`` is read: all upper edges that these parts had, from picture to picture of the
# screen.
WATCH = """places => {
  const found = places.map(() => new Set());
  let seen = false;
  const look = () => {
    places.forEach((place, i) =>
      found[i].add(Math.round(document.querySelector(place).getBoundingClientRect().top)));
    if (!seen) requestAnimationFrame(look);
  };
  look();
  window.seen = () => ((seen = true), found.map(tops => [...tops]));
}"""


def test_another_view_moves_nothing_in_the_window_while_it_comes(open_page):
    """Each picture is first empty and then drawn."""
    page = open_page(width=1366, height=768)
    say = table("ko")
    for view in (*VIEWS[1:], VIEWS[0]):
        page.evaluate(WATCH, [".st-key-map", ".st-key-told", ".st-key-picture", ".st-key-more"])
        choose(page, "view", say[f"view_{view.name}"])
        expect_settings(page, view=None if view is VIEWS[0] else view.name)
        *above, below = page.evaluate("seen()")
        assert [len(tops) for tops in above] == [1, 1, 1], view.name
        assert min(below) > 768 - 6, view.name


def place_of_pictures(seen: dict, width: int) -> list:
    """Without the size of a cell; on a phone the map has no neighbour, and is as high as its rows."""
    return [seen["heatmap"][:3]] if width < 400 else [seen["heatmap"], seen["overview"]]


def measured(page: Page) -> dict:
    """Where in the document both pictures are, and how large a cell is."""
    scrolled = page.locator(".stMain").evaluate("main => main.scrollTop")
    found = {name: box(page, f".st-key-{name} .plot") for name in ("heatmap", "overview")}
    return {name: at.moved(down=scrolled) for name, at in found.items()} | {"cell": cell_size(page)}


def switch_on(page: Page, setting, say: dict[str, str]) -> None:
    body = page.get_by_test_id("stPopoverBody")
    if isinstance(setting, Flag):
        body.get_by_text(say[f"{setting.name}_label"], exact=True).click()
        expect_settings(page, **{setting.name: "1"})
    else:
        option = setting.options[1]
        body.get_by_role("radio", name=say[f"{setting.name}_{option}"], exact=True).click()
        expect_settings(page, **{setting.name: option})


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080)])
def test_two_maps_side_by_side_fill_their_columns(look_at, width, height):
    page = look_at("laboratory?experiment=twins", width=width, height=height)
    for name in ("beside_first_map", "beside_second_map"):
        drawn = page.locator(f".st-key-{name} .plot").evaluate(
            "root => root.plot.at.cell * root.plot.figure.layout.meta.columns / root.clientWidth"
        )
        assert drawn > 0.75


def test_paper_shows_the_whole_text_its_corrections_and_the_open_picture(open_page):
    text = "오늘은 날씨가 좋아서 공원에 가치 갔습니다. " * 24
    page = open_page(f"?{urlencode({'sentence': text})}", width=1366, height=768)
    area, paper = page.locator(TEXT), page.locator(".st-key-live_text pre")
    assert area.evaluate("area => area.scrollHeight - area.clientHeight") > 20
    expect(paper).to_be_hidden()
    page.emulate_media(media="print")
    expect(area).to_be_hidden()  # a browser would not divide it between two sheets
    expect(paper).to_be_visible()
    assert paper.text_content() == text
    for name in ("writing", "map", "told", "picture"):
        expect(page.locator(f".st-key-{name}")).to_be_visible()
    for name in ("bar", "tools", "tabs", "heads", "measured", "more"):
        expect(page.locator(f".st-key-{name}")).to_be_hidden()
    correction = page.locator(CORRECTION)
    expect(correction.locator(".count")).to_be_visible()
    expect(correction.locator(".copy")).to_be_hidden()
    # A sheet of A4 between its margins, from a window of any width.
    wait_for(page, lambda: 500 < box(page, f"{HEATMAP} .main-svg").width <= 701)
