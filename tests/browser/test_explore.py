"""``explore`` as a notebook's output in a browser offline: overview, maps, lines, steps."""

import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import FrameLocator, Locator, expect

from model.trace.trace import AttentionTrace, Selection
from tests.browser.boxes import box
from tests.browser.site_pages import visiting
from tests.browser.visit import CELLS, serious_violations
from tests.ui.fake_corrector import HEADS, LAYERS, random_trace
from tests.viz.test_browser import NASTY, large
from viz import explore
from viz.browser.lines import strongest_edges, thinned

TRACE = random_trace("고갱님이 왓다", "고객님이 왔다", seed=4)
NOTEBOOK = "<!doctype html><title>cell</title><div style='width: {width}px'>{cell}</div>"


@pytest.fixture(scope="module")
def page(browser):
    """A page without a network."""
    with visiting(browser, offline=True) as page:
        yield page


@pytest.fixture
def show(page, tmp_path):
    """Opens the output of ``explore`` as a cell of a page; errors and requests fail the test."""
    page.complaints.clear(), page.requests.clear()

    def open_cell(exploration, width: int = 1200) -> FrameLocator:
        path = tmp_path / "cell.html"
        path.write_text(NOTEBOOK.format(width=width, cell=exploration._repr_html_()), "utf-8")
        page.set_viewport_size({"width": width + 40, "height": 900})
        page.goto(path.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator(".explore[data-ready]").first.wait_for()
        frame.locator(".heatmap .plot[data-drawn]").first.wait_for()
        return frame

    yield open_cell
    inside = ("data:", "blob:", "about:")
    assert {url.rpartition("/")[2] for url in page.requests if not url.startswith(inside)} == {"cell.html"}
    assert page.complaints == []


def drawn(frame: FrameLocator, place: str) -> np.ndarray:
    """The numbers of the heatmap that is drawn."""
    plot = frame.locator(f"{place} .js-plotly-plot").first
    return np.array(plot.evaluate(CELLS), np.float32)


def choose(frame: FrameLocator | Locator, label: str, place: int) -> None:
    """Choose the n-th option of a menu."""
    frame.get_by_label(label, exact=label != "Kind of attention").select_option(index=place)


def redrawn(frame: FrameLocator) -> None:
    """Return once each figure has drawn its last request."""
    frame.locator("body").evaluate(
        """async () => {
          const behind = (root) => root.plot && root.dataset.drawn !== String(root.plot.turn);
          while ([...document.querySelectorAll(".plot")].some(behind))
            await new Promise((done) => setTimeout(done, 20));
        }"""
    )


def test_every_map_that_is_chosen_is_that_of_the_trace(show):
    frame = show(explore(TRACE))
    for kind in TRACE.kinds:
        choose(frame, "Kind of attention", TRACE.kinds.index(kind))
        for layer, head in ((0, 0), (1, 2), (None, 1), (1, None), (None, None)):
            for label, chosen in (("Layer", layer), ("Head", head)):
                choose(frame, label, 0 if chosen is None else chosen + 1)
            redrawn(frame)
            expected = Selection(kind, layer, head).weights(TRACE)
            np.testing.assert_allclose(drawn(frame, ".heatmap"), expected, atol=0.6 / 10_000)


def test_the_overview_holds_every_head_and_a_tile_opens_one(show):
    frame = show(explore(TRACE))
    weights = TRACE.encoder_attention
    tiles = drawn(frame, ".overview")[: weights.shape[2], : weights.shape[3]]
    np.testing.assert_allclose((tiles - 1) / 254, weights[0, 0], atol=0.5 / 254 + 1e-4)
    plot = frame.locator(".overview .js-plotly-plot")
    assert len(plot.evaluate("plot => plot._fullData[1].customdata")) == LAYERS * HEADS
    plot.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        plot.press(key)
    expect(frame.get_by_label("Layer", exact=True)).to_have_value("1")
    expect(frame.get_by_label("Head", exact=True)).to_have_value("1")


# The pixels of the mosaic that is painted, and of the one that Plotly makes of the same figure.
BOTH_MOSAICS = """async plot => {
  const { figure } = plot.parentElement.plot.at;
  const place = document.body.appendChild(document.createElement("div"));
  await Plotly.newPlot(place, figure.data, figure.layout);
  const image = new Image();
  image.src = place.querySelector(".hm image").href.baseVal;
  await image.decode();
  const own = plot.parentElement.querySelector(".cells");
  const other = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  other.getContext("2d").drawImage(image, 0, 0);
  return [own, other].map(each =>
    Array.from(each.getContext("2d").getImageData(0, 0, each.width, each.height).data));
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_mosaic_has_the_colours_that_plotly_would_give_it(show, theme):
    frame = show(explore(TRACE, theme=theme))
    frame.locator(".overview .plot[data-drawn]").wait_for()
    painted, plotly = np.array(frame.locator(".overview .js-plotly-plot").evaluate(BOTH_MOSAICS))
    assert len(set(map(tuple, painted.reshape(-1, 4)))) > 50
    np.testing.assert_allclose(painted, plotly, atol=1)


def test_padding_is_dotted_blank_in_the_overview_and_draws_no_line(show):
    weights = np.float32([[0.5, 0.5, 0], [0.25, 0.75, 0], [0.4, 0.3, 0.3]])
    trace = AttentionTrace(
        source_tokens=("a", "b", "<pad>"),
        encoder_attention=weights[None, None].repeat(2, 1),
        source_padding=(False, False, True),
    )
    frame = show(explore(trace))
    plot = frame.locator(".heatmap .js-plotly-plot")
    assert plot.evaluate("plot => plot._fullData[1].fillpattern.shape") == "."
    text = plot.evaluate("plot => plot._fullData[0].text.map(row => [...row])")
    assert text == [["", "", " (padding)"]] * 2 + [[" (padding)"] * 3]
    tile = drawn(frame, ".overview")[:3, :3]
    assert not tile[2].any() and not tile[:, 2].any() and tile[:2, :2].all()
    frame.get_by_role("button", name="Lines").click()
    expect(frame.locator(".lines .edges path")).to_have_count(len(strongest_edges(weights[:2], 0.6)))


@pytest.mark.parametrize("told", ["windows", "cell by cell"])
def test_each_layer_is_hatched_where_it_may_not_look(show, told):
    """The first layer sees one token to either side, the second everything but the last token."""
    places = np.arange(9)
    hidden = np.stack([np.abs(places - places[:, None]) > 1, np.broadcast_to(places == 8, (9, 9))])
    fields = {"encoder_masked": hidden}
    if told == "windows":
        hidden[1] = False
        fields = {"windows": (1, -1)}
    seen = ~hidden / (~hidden).sum(-1, keepdims=True)
    trace = AttentionTrace(source_tokens=tuple("abcdefghi"), encoder_attention=seen[:, None], **fields)
    frame = show(explore(trace))
    plot = frame.locator(".heatmap .js-plotly-plot")
    tiles = drawn(frame, ".overview") > 0
    for layer, cells in enumerate((*hidden, hidden.all(0))):  # the last choice is the mean of both
        choose(frame, "Layer", (layer + 1) % 3)
        redrawn(frame)
        text = plot.evaluate("plot => plot._fullData[0].text?.map(row => [...row]) ?? []")
        np.testing.assert_array_equal(np.array(text) == " (masked)", cells)
        hatched = plot.evaluate(
            "plot => plot._fullData.slice(1)"
            ".flatMap(({ x }) => x.map((right, i) => (i % 5 === 1 ? right - x[i - 1] : 0)))"
            ".reduce((all, wide) => all + wide, 0)"
        )
        assert hatched == cells.sum()  # a rectangle, of five numbers, is as wide as its cells
        if layer < 2:
            np.testing.assert_array_equal(tiles[layer * 10 :][:9, :9], ~cells)


def test_lines_are_those_of_the_library_steps_move_by_themselves_and_a_picture_is_saved(show):
    frame = show(explore(TRACE))
    frame.locator(".heatmap").hover()
    with frame.owner.page.expect_download() as saved:
        frame.locator(".heatmap").get_by_role("button", name="Download as SVG").click()
    assert saved.value.suggested_filename == "encoder_attention.svg"
    frame.get_by_role("button", name="Lines").click()
    expected = strongest_edges(TRACE.encoder_attention[0, 0], 0.6)
    expect(frame.locator(".lines .edges path")).to_have_count(len(expected))
    frame.get_by_role("button", name="Step by step").click()
    frame.get_by_role("button", name="Next", exact=True).click()
    expect(frame.get_by_role("slider", name="Step")).to_have_value("2")
    row = TRACE.cross_attention[0, 0, 1]
    strongest = row[np.flatnonzero(row >= np.sort(row)[-3])[0]]
    expect(frame.locator(".of-source .strongest .number").first).to_have_text([f"{strongest:.3f}"])


def test_six_layers_of_eight_heads_and_128_tokens_are_drawn_with_the_lines_of_the_library(show):
    trace = large()
    frame = show(explore(trace))
    np.testing.assert_allclose(drawn(frame, ".heatmap"), trace.encoder_attention[0, 0], atol=0.51 / 2_000)
    frame.get_by_role("button", name="Lines").click()
    choose(frame, "Head", 0)  # the mean, which is drawn as its heads
    every = [strongest_edges(weights, 0.6) for weights in trace.encoder_attention[0]]
    expected = sum(map(len, thinned(every)))
    assert expected < sum(map(len, every))
    expect(frame.locator(".lines .edges path")).to_have_count(expected)


def test_a_decoder_alone_has_steps_without_a_source(show):
    names = ("target_tokens", "decoder_input_tokens", "decoder_attention", "log_probabilities")
    names += ("alternatives", "alternative_probabilities")
    trace = AttentionTrace(**{name: getattr(TRACE, name) for name in names})
    frame = show(explore(trace))
    frame.get_by_role("button", name="Step by step").click()
    expect(frame.locator(".of-self .strip")).to_be_visible()
    expect(frame.locator(".of-source")).to_be_hidden()


def test_two_stand_side_by_side_and_a_token_stays_text(show):
    even = np.full((1, 1, 2, 2), 0.5, np.float32)
    trace = AttentionTrace(source_tokens=(NASTY, "b"), encoder_attention=even)
    frame = show(explore([trace, TRACE], names=[NASTY, "two"]))
    expect(frame.locator(".explore h2")).to_have_text([NASTY, "two"])
    page = frame.owner.page
    assert len({round(box(page, each).top) for each in frame.locator(".explore").all()}) == 1
    assert frame.locator("img").count() == 0


OTHER = random_trace("고갱님이 왓다", "고객님이 왔다", seed=5)


def test_two_traces_show_the_same_head_and_their_difference(show):
    frame = show(explore([TRACE, OTHER], names=["one", "other"]), width=1500)
    one, other, difference = (frame.locator(".explore").nth(place) for place in range(3))
    expect(frame.locator(".explore h2")).to_have_text(["one", "other", "other − one"])
    choose(other, "Head", 3)
    for each in (one, difference):
        expect(each.get_by_label("Head", exact=True)).to_have_value("2")
    choose(one, "Kind of attention", 2)
    expect(difference.get_by_label("Kind of attention")).to_have_value("2")
    expected = OTHER.cross_attention[0, 2] - TRACE.cross_attention[0, 2]
    plot = difference.locator(".heatmap .js-plotly-plot")
    expect(plot).to_have_attribute("aria-label", re.compile("Cross-attention · layer 1, head 3"))
    redrawn(frame)
    found = plot.evaluate("plot => plot._fullData[0].z.map(row => [...row])")
    np.testing.assert_allclose(found, expected, atol=2e-4)
    tiles = difference.locator(".overview .js-plotly-plot").evaluate(CELLS)
    tile = np.array(tiles)[: expected.shape[0], : expected.shape[1]]
    whole = OTHER.cross_attention - TRACE.cross_attention
    np.testing.assert_allclose((tile - 128) / 127, whole[0, 0] / np.abs(whole).max(), atol=0.01)
    one.get_by_label("All show the same layer and head").uncheck()
    choose(other, "Head", 1)
    expect(one.get_by_label("Head", exact=True)).to_have_value("2")


def test_colours_reach_up_to_the_largest_weight_of_both(show):
    frame = show(explore([TRACE, OTHER]), width=1500)
    one = frame.locator(".explore").first
    one.get_by_label("Colours up to the largest value").check()
    largest = max(trace.encoder_attention[0, 0].max() for trace in (TRACE, OTHER))
    redrawn(frame)
    for place in range(2):
        plot = frame.locator(".explore").nth(place).locator(".heatmap .js-plotly-plot")
        assert plot.evaluate("plot => plot._fullData[0].zmax") == pytest.approx(largest, abs=1e-3)
    one.get_by_label("Logarithmic").check()
    expect(one.get_by_label("Colours up to the largest value")).not_to_be_checked()


def test_a_sink_stands_before_the_tokens_and_draws_no_line(show):
    own = np.tril(TRACE.decoder_attention * 0.5)
    trace = replace(TRACE, decoder_attention=own, sinks=("decoder_attention",))
    frame = show(explore(trace))
    choose(frame, "Kind of attention", 1)
    redrawn(frame)
    found = drawn(frame, ".heatmap")
    np.testing.assert_allclose(found[:, 0], 0.5, atol=1e-3)
    np.testing.assert_allclose(found[:, 1:], own[0, 0], atol=1e-3)
    tile = drawn(frame, ".overview")[: found.shape[0], : found.shape[1]]
    assert (tile[:, :1] > 0).all() and (tile[np.triu_indices(len(tile), 2)] == 0).all()
    frame.get_by_role("button", name="Lines").click()
    expected = strongest_edges(own[0, 0], 0.6)
    expect(frame.locator(".lines .edges path")).to_have_count(len(expected))


def test_a_narrow_cell_does_not_scroll_sideways(show):
    frame = show(explore(TRACE), width=420)
    assert frame.locator("html").evaluate("page => page.scrollWidth - page.clientWidth") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_use_it(page, tmp_path, theme):
    explore(TRACE, theme=theme).save(tmp_path / "lens.html")
    page.set_viewport_size({"width": 1200, "height": 640})
    page.goto((tmp_path / "lens.html").as_uri())
    for view in ("Heatmap", "Lines", "Step by step"):
        page.get_by_role("button", name=view).click()
        page.locator(".overview .plot[data-drawn]").wait_for()
        assert serious_violations(page) == []
