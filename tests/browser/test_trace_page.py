"""Page of an uploaded trace in a browser: a MarianMT trace in every view.

The trace is made by examples/marian_trace.py.
"""

from pathlib import Path

import numpy as np
from playwright.sync_api import expect

from model import AttentionTrace
from tests.browser import visit
from tests.browser.boxes import boxes, colliding, outside
from tests.browser.visit import (
    choose,
    click,
    expect_heatmap,
    expect_settings,
    figure,
    heatmap,
    settle,
    toggle,
    wait_until,
)
from ui.wording import table

EN = table("en")
FILE = Path(__file__).parents[1] / "marian.npz"
TRACE = AttentionTrace.load(FILE)
DRAWN = {
    "heatmap": figure("heatmap"),
    "lines": ".lines svg",
    "steps": ".steps",
    "edits": figure("edits_bars"),
    "numbers": ".told",
    "predict": ".st-key-control_marks",
}


def opened(open_page, query: str = "", file: Path = FILE, **how):
    page = open_page(f"trace?lang=en{query}", **how)
    page.locator('input[type="file"]').set_input_files(file)
    expect(page.locator(".corrected")).to_be_visible()
    settle(page)
    return page


def test_it_opens_in_every_view_and_can_be_taken_along(open_page, tmp_path):
    page = opened(open_page)
    visit.expect_corrected(page, TRACE.source_text, TRACE.target_text)
    for view, place in DRAWN.items():
        choose(page, "view", EN[f"view_{view}"])
        expect_settings(page, view=None if view == "heatmap" else view)
        expect(page.locator(place).first).to_be_visible()
        expect(page.get_by_text(EN["lacks_projections"])).to_have_count(int(view == "numbers"))
        assert visit.serious_violations(page) == []
    toggle(page, "taking")
    for what in ("html", "trace"):
        with page.expect_download() as download:
            page.locator(f".st-key-take_away_{what} button").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        if what == "html":
            assert TRACE.target_text in path.read_text("utf-8")
    np.testing.assert_array_equal(AttentionTrace.load(path).cross_attention, TRACE.cross_attention)
    assert page.requested_elsewhere == []


def test_more_layers_than_heads_fit_the_window_and_labels_their_columns(open_page):
    page = opened(open_page, width=1366, height=768)
    assert outside(page, figure("overview")) == []
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    assert colliding(boxes(page, f"{figure('heatmap')} .xtick text")) == []


def test_the_controls_of_many_heads_fit_the_window(open_page, tmp_path):
    layers, heads = 24, 16
    weights = np.random.default_rng(0).dirichlet(np.ones(9), size=(layers, heads, 9))
    names = dict.fromkeys(("source_tokens", "target_tokens"), tuple("attention"))
    trace = AttentionTrace(**names, encoder_attention=weights, cross_attention=weights)
    trace.save(tmp_path / "many.npz")
    page = opened(open_page, "&layer=1", file=tmp_path / "many.npz", width=1366, height=768)
    beyond = page.locator("button, input, [role=radio]").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect())"
        ".filter(({ width, left, right }) => width && (left < 0 || right > innerWidth)).length"
    )
    assert beyond == 0
    page.locator(".st-key-map_choice button").first.click()
    head = page.locator(".st-key-control_head input")
    head.click()
    page.get_by_role("option", name=str(heads), exact=True).click()
    expect_settings(page, head=str(heads))
    expect_heatmap(page, weights[0, heads - 1])


def test_maps_heads_words_and_changes_are_those_of_the_file(open_page):
    page = opened(open_page, "&layer=1&head=1")
    expect_heatmap(page, TRACE.cross_attention[0, 0])
    click(page, visit.tile(page, 2, 1))
    expect_settings(page, layer=None, head="2")
    expect_heatmap(page, TRACE.cross_attention[2, 1])
    choose(page, "kind", EN["kind_encoder_attention"])  # it has two layers, so the third is none of them
    choose(page, "head", "4")
    expect_heatmap(page, TRACE.encoder_attention[0, 3])
    visit.changed_words(page).first.click()
    expect_settings(page, edit="1")
    toggle(page, "view_options")
    choose(page, "unit", EN["unit_word"])
    expect_settings(page, unit="word")
    wait_until(page, lambda: len(heatmap(page)), 6)
