"""The main page by keyboard: what is reached, in which order, and what is said of it."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.visit import expect_settings, figure, text_area
from ui.shell.settings import load_examples
from viz.labels import visible_token

FIRST_EXAMPLE = load_examples()[0].text
TABS = 3  # from the top of the document to the text


def test_the_text_is_reached_with_three_tabs_by_the_link_that_skips_the_menu(open_page):
    """Without that link it takes five: the link itself, the menu of Streamlit and its scrolling region come
    first.
    """
    page = open_page()
    page.keyboard.press("Tab")
    expect(page.locator("a:focus")).to_have_attribute("href", re.compile("^#"))
    page.keyboard.press("Enter")
    for _ in range(TABS - 1):
        page.keyboard.press("Tab")
        if page.locator(".st-key-live_text textarea:focus").count():
            return
    pytest.fail(f"not reached with {TABS} tabs")


def test_arrow_keys_reach_cells_and_tiles_and_say_what_they_hold(open_page, corrector):
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


def test_the_table_of_a_picture_holds_its_numbers_and_gives_the_focus_back(open_page, corrector):
    page = open_page("?layer=1&head=1")
    trace = corrector.correct(FIRST_EXAMPLE).trace
    as_table = page.locator(".st-key-heatmap .as-table")
    as_table.focus()
    expect(as_table).to_be_in_viewport()
    page.keyboard.press("Enter")
    table = page.locator(".st-key-heatmap dialog table")
    heads = table.locator("thead th").all_inner_texts()
    assert heads == [visible_token(token) for token in trace.source_tokens]
    row = table.locator("tbody tr").nth(2)
    assert row.locator("th").inner_text() == visible_token(trace.target_tokens[2])
    shown = [float(cell.split()[-1]) for cell in row.locator("td").all_inner_texts()]
    np.testing.assert_allclose(shown, trace.cross_attention[0, 0, 2], atol=6e-4)
    page.keyboard.press("Escape")
    expect(table).to_have_count(0)
    expect(as_table).to_be_focused()


def test_the_table_of_all_heads_has_a_row_for_each_layer_as_the_picture(open_page):
    page = open_page("laboratory?experiment=without&lang=en")
    page.locator(".st-key-without_mosaic .as-table").focus()
    page.keyboard.press("Enter")
    table = page.locator(".st-key-without_mosaic dialog table")
    heads = table.locator("thead th").all_inner_texts()
    assert len(heads) == 12
    assert heads[3:5] == ["Encoder 4", "Decoder 1"]
    for layer, row in enumerate(table.locator("tbody tr").all(), 1):
        assert row.locator("th").inner_text() == str(layer)
        for head, text in zip(heads, row.locator("td").all_inner_texts(), strict=True):
            kind, number = head.rsplit(" ", 1)
            assert text.startswith(f"{kind} {layer}·{number} ")
    page.keyboard.press("Escape")


def test_tab_goes_from_the_text_through_the_correction_to_both_pictures(open_page):
    page = open_page()
    text_area(page).focus()
    reached = []
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("() => document.activeElement.closest('[class*=st-key-]')?.className ?? ''")
        )
        if "st-key-heatmap" in reached[-1]:
            break
    places = [
        next((n for n, name in enumerate(reached) if f"st-key-{part} " in name), -1)
        for part in ("overview", "heatmap")
    ]
    assert 0 < places[0] < places[1]
