"""Links between views in a browser: from a change to heads, from a bar to a head's map.

The lesson *looked, wrote, mattered* walks through these views. Their numbers are tested in tests/ui/views;
test_lesson_plans.py opens all.
"""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser import visit
from tests.browser.boxes import box
from tests.browser.visit import (
    choose,
    click,
    expect_heatmap,
    expect_settings,
    figure,
    heatmap,
    of_figure,
    place_of,
    settle,
)
from tests.ui.pages.test_lesson_plan import SENTENCE
from ui.wording import table

SIZES = ((390, 844), (1366, 768))


@pytest.fixture
def open_at(open_page):
    def open_view(name: str, on: Page | None = None, **chosen: str) -> Page:
        query = urlencode({"sentence": SENTENCE, "edit": "1", "view": name} | chosen)
        return open_page(f"?{query}", colour="dark", width=1366, height=768, on=on)

    return open_view


def test_the_change_is_pressed_and_other_heads_are_opened(open_at, corrector):
    """*Looked*: press the change, find the dark cell of its row, press other heads; and from a cell two steps
    lead to the reasons: the laboratory explains the cell of the main page.
    """
    (sentence,) = corrector.correct(SENTENCE).sentences
    first = sentence.changes[0]
    page = open_at("heatmap", layer="4", head="1", kind="cross_attention")
    word = visit.changed_words(page).first
    expect(word).to_have_attribute("aria-pressed", "true")  # as the link has it
    for edit in ("1", None, "1"):  # the first press opens the card of the change that is chosen already
        word.click()
        expect_settings(page, edit=edit)
    page.keyboard.press("Escape")
    expect_heatmap(page, sentence.trace.cross_attention[3, 0])
    click(page, visit.tile(page, 1, 2))
    expect_settings(page, layer="2", head="3")
    expect_heatmap(page, sentence.trace.cross_attention[1, 2])
    row = sentence.trace.cross_attention[1, 2, first.target_start]
    assert heatmap(page, figure("heatmap"))[first.target_start].argmax() == row.argmax()

    page = open_at("heatmap", page, layer="4", head="1", cell="4,5", kind="cross_attention")
    visit.pick(page, "pages", table("ko")["laboratory_page"])
    expect(page.locator("h1")).to_have_text(table("ko")["laboratory_page"])
    settle(page)
    choose(page, "experiment", table("ko")["view_why"])
    expect_settings(page, experiment="why")
    assert visit.settings(page)["cell"] == "4,5"
    expect(page.locator("p.told")).to_contain_text("4층 헤드 1")


def test_the_longest_bar_leads_to_the_map_of_its_head_which_stands_where_the_bars_stood(open_at):
    """*Wrote*, on a computer and on a phone."""
    page, tops = open_at("wrote"), {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        tops[width] = box(page, figure("wrote")).top
    middle, at, nats, (_, layer, head) = of_figure(
        page,
        figure("wrote"),
        """figure => {
          const { x, base, customdata } = figure._fullData[0];
          const heads = [...x.keys()].filter(at => customdata[at]?.length === 3);
          const at = heads.reduce((one, other) => Math.abs(x[one]) < Math.abs(x[other]) ? other : one);
          return [base[at] + x[at] / 2, at, x[at], customdata[at]];
        }""",
    )
    click(page, place_of(page, middle, at, "wrote"))
    expect_settings(page, wrote_as="map", layer=str(layer + 1), head=str(head + 1))
    rows = heatmap(page, figure("wrote_map")).sum(1)
    assert min(abs(rows - nats)) < 1e-2
    for width, height in SIZES[::-1]:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        assert box(page, figure("wrote_map")).top == pytest.approx(tops[width], abs=1)
