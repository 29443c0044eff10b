"""Keyboard access to the main page: order of focus, arrow keys, tables of pictures."""

import re

import numpy as np
from playwright.sync_api import expect

from tests.browser.visit import expect_settings, figure, text_area
from ui.shell.settings import load_examples
from viz.labels import visible_token

FIRST_EXAMPLE = load_examples()[0].text
TABS = 3  # from the top of the document to the text
STOP = """() => document.activeElement.matches(".js-plotly-plot")
  && document.activeElement.closest("[class*=st-key-]").className.match(/st-key-(\\w+)/)[1]"""


def test_three_tabs_by_the_link_that_skips_the_menu_lead_to_the_text_and_more_to_both_pictures(open_page):
    """Without that link it takes five to the text: the link itself, the menu of Streamlit and its scrolling
    region come first.
    """
    page = open_page()
    page.keyboard.press("Tab")
    expect(page.locator("a:focus")).to_have_attribute("href", re.compile("^#"))
    page.keyboard.press("Enter")
    for _ in range(TABS - 1):
        page.keyboard.press("Tab")
    expect(text_area(page)).to_be_focused()
    reached = []
    while "heatmap" not in reached and len(reached) < 120:
        page.keyboard.press("Tab")
        reached.append(page.evaluate(STOP))
    assert [figure for figure in reached if figure] == ["overview", "heatmap"]


def test_arrow_keys_and_the_table_of_a_picture_say_what_its_cells_hold(open_page, corrector):
    page = open_page("?layer=1&head=1")
    trace = corrector.correct(FIRST_EXAMPLE).trace
    map_, tiles = page.locator(figure("heatmap")), page.locator(figure("overview"))
    map_.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    told = page.locator(".st-key-heatmap .plot [aria-live]")
    query, key = trace.target_tokens[2], trace.source_tokens[1]
    expect(told).to_contain_text(f" {query}, ")
    expect(told).to_contain_text(f" {key}: ")
    expect(told).to_contain_text(f"{trace.cross_attention[0, 0, 2, 1]:.3f}")
    page.keyboard.press("Enter")
    expect_settings(page, cell="2,1")
    expect(map_).to_be_focused()
    expect(told).to_contain_text(f" {query}, ")
    page.keyboard.press("Enter")
    expect_settings(page, cell=None)
    page.keyboard.press("Escape")
    expect(told).to_be_empty()
    tiles.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "End"):
        page.keyboard.press(key)
    told = page.locator(".st-key-overview .plot [aria-live]")
    expect(told).to_have_text("층 2 헤드 4")
    page.keyboard.press("Enter")
    expect_settings(page, layer="2", head="4")
    as_table = page.locator(".st-key-heatmap .as-table")
    as_table.focus()
    expect(as_table).to_be_in_viewport()
    page.keyboard.press("Enter")
    table = page.locator(".st-key-heatmap dialog table")
    expect(table.locator("thead th")).to_have_text([visible_token(token) for token in trace.source_tokens])
    row = table.locator("tbody tr").nth(2)
    expect(row.locator("th")).to_have_text(visible_token(trace.target_tokens[2]))
    shown = [float(cell.split()[-1]) for cell in row.locator("td").all_inner_texts()]
    np.testing.assert_allclose(shown, trace.cross_attention[1, 3, 2], atol=6e-4)
    page.keyboard.press("Escape")
    expect(table).to_have_count(0)
    expect(as_table).to_be_focused()


def test_the_table_of_all_heads_has_a_row_for_each_layer_as_the_picture(open_page):
    page = open_page("laboratory?experiment=without&lang=en")
    page.locator(".st-key-without_mosaic .as-table").focus()
    page.keyboard.press("Enter")
    table = page.locator(".st-key-without_mosaic dialog table")
    expect(table.locator("thead th")).to_have_count(12)
    heads = table.locator("thead th").all_inner_texts()
    assert heads[3:5] == ["Encoder 4", "Decoder 1"]
    for layer, row in enumerate(table.locator("tbody tr").all(), 1):
        expect(row.locator("th")).to_have_text(str(layer))
        for head, text in zip(heads, row.locator("td").all_inner_texts(), strict=True):
            kind, number = head.rsplit(" ", 1)
            assert text.startswith(f"{kind} {layer}·{number} ")
    page.keyboard.press("Escape")
