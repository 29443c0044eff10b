"""Views in a browser show the trace's numbers, the calculation page the typed ones."""

from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, expect

from model.analysis.building_blocks import dot_product_attention
from model.analysis.edits import leading_heads
from tests.browser.visit import (
    choose,
    expect_heatmap,
    expect_settings,
    figure,
    heatmap,
    of_figure,
    settle,
    toggle,
    wait_until,
)
from ui.parts.number_table import NumberTable
from ui.shell.settings import defaults
from ui.wording import table
from viz import number_text
from viz.browser.lines import strongest_edges
from viz.labels import log_odds

SENTENCE = "고갱님이 오셧습니다."
LAYER, HEAD = 1, 2  # counted from 0
KO = table("ko")


def written(probability: float) -> str:
    """As the player writes it: a number almost 0 or 1 is not rounded to it."""
    text = f"{probability:.3f}"
    ends = {"0.000": "<0.001", "1.000": ">0.999"}
    return f"{ends[text]} ({log_odds(probability)})" if text in ends else text


def test_every_view_shows_the_numbers_of_the_trace(open_page, corrector):
    """From tab to tab, with one change in focus."""
    (answer,) = corrector.correct(SENTENCE).sentences
    change, trace = answer.changes[0], answer.trace
    row = change.target_start
    place = {"layer": str(LAYER + 1), "head": str(HEAD + 1), "kind": "cross_attention", "cell": f"{row},0"}
    shown = {"sentence": SENTENCE, "edit": "1", "marks": str(change.source_start)} | place
    page = open_page(f"?{urlencode(shown)}")

    def turn_to(view: str) -> None:
        choose(page, "view", KO[f"view_{view}"])
        expect_settings(page, view=view)

    expect_heatmap(page, trace.cross_attention[LAYER, HEAD])
    expect_tiles(page, trace.cross_attention)

    turn_to("lines")
    edges = strongest_edges(trace.cross_attention[LAYER, HEAD], 0.6)
    expected = sorted(f"{weight:.3f}" for query, _, weight in edges if query == row)
    told = page.locator(".st-key-lines .told .weight")
    wait_until(page, lambda: sorted(told.all_text_contents()), expected)

    turn_to("steps")
    values = [written(change.fix_probability), written(change.keep_probability)]
    expect(page.locator(".decision .value")).to_have_text(values)
    candidates = page.locator(".candidates .value")
    values = [written(value) for value in trace.alternative_probabilities[row]]
    wait_until(page, lambda: candidates.all_text_contents()[:5], values)

    choose(page, "view", KO["view_heatmap"])
    expect_settings(page, view=None)
    settle(page)
    toggle(page, "view_options")
    choose(page, "shown", KO["shown_received"])
    expect_settings(page, shown="received")
    settle(page)
    bars = of_figure(
        page,
        figure("received"),
        "figure => Array.from(figure._fullData.find(trace => trace.type === 'bar').y)",
    )
    np.testing.assert_allclose(bars, trace.cross_attention[LAYER, HEAD].mean(0), atol=1e-5)
    toggle(page, "view_options")

    turn_to("numbers")
    largest = trace.cross_attention[LAYER, HEAD, row].max()
    expect(page.locator("p.told")).to_contain_text(f"{largest:.3f}")

    turn_to("predict")
    expect(page.locator(".js-plotly-plot")).to_have_count(0)  # nothing gives the answer away
    page.get_by_role("button", name=KO["predict_reveal"]).click()
    expect_settings(page, revealed="1")
    expect(page.locator(figure("predict_bars"))).to_be_visible()

    turn_to("edits")
    best = leading_heads(trace, change, answer.changes)[0]
    place = KO["place_head"].format(layer=best.layer + 1, head=best.head + 1)
    page.get_by_role("button", name=KO["edits_open"].format(place=place)).first.click()
    expect_settings(page, layer=str(best.layer + 1), head=str(best.head + 1))
    choose(page, "view", KO["view_heatmap"])
    expect_heatmap(page, trace.cross_attention[best.layer, best.head])


def expect_tiles(page: Page, weights: np.ndarray) -> None:
    """Every tile of the overview holds its head, rounded to a byte; 0 is no cell, 1 the weight 0."""
    mosaic = heatmap(page, figure("overview"))
    layers, heads, queries, keys = weights.shape
    down = (mosaic.shape[0] - queries) // (layers - 1)
    across = (mosaic.shape[1] - keys) // (heads - 1)
    for layer in range(layers):
        for head in range(heads):
            tile_ = mosaic[layer * down : layer * down + queries, head * across : head * across + keys]
            np.testing.assert_allclose((tile_ - 1) / 254, weights[layer, head], atol=0.5 / 254 + 1e-6)


def test_a_number_typed_into_a_cell_is_computed_with_and_stays_in_the_link(open_page):
    page = open_page("calculation?q=0%2C10%2C0")
    settle(page)
    grid = page.locator("[class*='st-key-cells_q'] .stDataFrameGlideDataEditor").first
    grid.click(position={"x": 100, "y": 35 + 17})  # the first cell, below the row of names
    page.keyboard.press("1")
    expect(page.locator(".gdg-input")).to_have_value("1")  # the cell has opened and takes more keys
    page.keyboard.press("0")
    expect(page.locator(".gdg-input")).to_have_value("10")
    # The input shows a digit before the grid knows of it; an Enter in between, which no hand is fast enough
    # for, leaves the cell as it was.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestIdleCallback(done)))")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=10%2C10%2C0*")
    keys, values = (NumberTable.parse(defaults()[name]).numbers() for name in ("k", "v"))
    (output,) = dot_product_attention([[10, 10, 0]], keys, values).output
    expect(page.locator(".reading").first).to_contain_text(f"[{', '.join(map(number_text, output))}]")
