"""Walks through the lesson *looked, wrote, mattered* step by step: every link of the plan, and what it asks
to press.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import FOLLOWED
from tests.browser.visit import (
    changed_words,
    choose,
    click,
    expect_heatmap,
    expect_settings,
    figure,
    heatmap,
    pick,
    place_of,
    settle,
    tile,
)
from tests.ui.pages.test_lesson_plan import SENTENCES, links
from ui.wording import table

PLAN = "lesson-plan-answer"
assert SENTENCES[PLAN] == FOLLOWED
LINKS = links(PLAN, "ko")


@pytest.fixture
def open_step(open_page):
    def open_link(number: int) -> Page:
        path, settings = LINKS[number]
        query = "&".join(f"{name}={value}" for name, value in (settings | {"lang": "ko"}).items())
        page = open_page(f"{path.strip('/')}?{query}", width=1366, height=768)
        settle(page)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        return page

    return open_link


def step_of(**wanted: str) -> int:
    """The number of the link with these settings and no others of the views."""
    names = {"view", "experiment", "wrote_as", "why_as", "circuit_as", "decided_as", "patch_side"}
    return next(
        number
        for number, (_, settings) in enumerate(LINKS)
        if {name: value for name, value in settings.items() if name in names} == wanted
    )


@pytest.mark.parametrize("number", range(len(LINKS)))
def test_every_link_shows_its_picture_and_says_what_it_shows(open_step, number):
    page = open_step(number)
    intervened = "laboratory" in LINKS[number][0]  # what was observed and what was changed are told apart
    for language in ("ko", "en"):
        words = table(language)
        if language != "ko":
            pick(page, "language", words["language_name"])
            expect_settings(page, lang=language)
        expect(page.get_by_text(words["explanation"], exact=True).first).to_be_visible()
        expect(page.locator("p.told").first).not_to_be_empty()
        expect(page.locator(".js-plotly-plot, .receipts li").first).to_be_visible()
        assert (page.locator("p.told.intervened").count() > 0) == intervened


def test_the_change_is_pressed_and_other_heads_are_opened(open_step, answer):
    """*Looked*: the plan asks to press the change, to find the dark cell of its row, and to press other
    heads.
    """
    sentence, _ = answer
    first = sentence.changes[0]
    page = open_step(step_of())
    word = changed_words(page).first
    expect(word).to_have_attribute("aria-pressed", "true")  # as the link has it
    word.click()
    expect_settings(page, edit=None)
    word.click()
    expect_settings(page, edit="1")
    for layer, head in ((3, 0), (1, 2)):
        if (layer, head) != (3, 0):
            click(page, tile(page, layer, head))
        expect_settings(page, layer=str(layer + 1), head=str(head + 1))
        expect_heatmap(page, sentence.trace.cross_attention[layer, head])
    row = sentence.trace.cross_attention[1, 2, first.target_start]
    assert heatmap(page, figure("heatmap"))[first.target_start].argmax() == row.argmax()


def test_a_column_is_followed_from_what_would_be_written_at_first_to_the_answer(open_step, answer):
    """*When*: the plan asks what would be written at first, and when it changes."""
    sentence, ask = answer
    decided, first = ask("when decided"), sentence.changes[0]
    page = open_step(step_of(view="decided"))
    shown = page.locator(figure("decided_grid")).evaluate(
        "figure => figure._fullData.find(trace => trace.text).text.map(row => Array.from(row))"
    )
    column = [row[first.target_start] for row in shown]
    assert column == [row[first.target_start] for row in decided.labels()] and column[-1] == first.right[0]
    assert column[0] != column[-1]


def test_every_claim_stands_with_its_mark_and_its_receipt(open_step, answer):
    """*Mattered*: the plan asks to read the mark of each sentence, and its receipt."""
    _, ask = answer
    found = ask("claims").claims
    page = open_step(step_of(experiment="receipts"))
    expect(page.locator(".receipts li")).to_have_count(len(found))
    assert page.locator(".receipts li.holds").count() == sum(each.holds for each in found)
    assert all(" → " in text for text in page.locator(".receipts li strong").all_inner_texts())


def test_the_graph_gets_its_edges_and_can_be_taken_along(open_step):
    """*Circuit*: the plan asks to follow the thick lines from the characters to the answer."""
    page = open_step(step_of(experiment="circuit"))
    expect(page.locator(".st-key-circuit_json button")).to_be_visible()  # once the edges are known
    edges = page.locator(figure("circuit_graph")).evaluate(
        "figure => figure._fullData.flatMap(trace => trace.text ?? [])"
        ".filter(text => text.includes(' → ')).length"
    )
    assert edges > 10


def test_the_longest_bar_leads_to_where_its_head_looked_while_it_wrote(open_step, answer):
    """*Wrote*: the plan asks to press the longest bar."""
    _, ask = answer
    written = ask("who wrote it")
    parts = [part for part in written.parts(written.changes[0]) if part.head is not None]
    longest = max(parts, key=lambda part: abs(part.nats))
    page = open_step(step_of(view="wrote"))
    x, y = page.locator(figure("wrote")).evaluate(
        """(figure, head) => {
          const bars = figure._fullData[0];
          const at = bars.customdata.findIndex(each => each && String(each) === String(head));
          return [bars.base[at] + bars.x[at] / 2, at];
        }""",
        list(longest[:3]),
    )
    click(page, place_of(page, x, y, "wrote"))
    expect_settings(page, wrote_as="map", layer=str(longest.layer + 1), head=str(longest.head + 1))
    shown = heatmap(page, figure("wrote_map"))
    row = written.questions[written.changes[0]].row
    assert shown[row].sum() == pytest.approx(longest.nats, abs=1e-2)


def test_a_part_is_switched_off_and_the_look_is_measured_again(open_step):
    """*Mattered*: the plan asks why a head looked there, and to take parts away."""
    page = open_step(step_of(experiment="why"))
    choose(page, "why_as", table("ko")["why_as_without"])
    expect_settings(page, why_as="without")
    expect(page.locator("p.told.intervened").first).to_be_visible()


def test_the_words_come_in_the_order_looked_wrote_mattered():
    told = [settings.get("view") or settings.get("experiment") or "looked" for _, settings in LINKS]
    assert told.index("looked") < told.index("wrote") < told.index("patched") < told.index("receipts")
