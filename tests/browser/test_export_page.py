"""Exported HTML file of a view in a browser offline; pictures saved from figures."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import viz
from model.trace.trace import ATTENTION_KINDS
from tests.browser.boxes import box
from tests.browser.site_pages import visiting
from tests.browser.visit import (
    BROKEN_WORDS,
    expect_heatmap,
    heatmap,
    pictures_without_a_table,
    toggle,
    wait_for,
)
from tests.ui.export.test_export import VALUES, make_state
from tests.ui.fake_corrector import HEADS, LAYERS, one_map_trace
from ui.export import page as export
from ui.export.page import Choices, Experiment
from ui.sentence.state import SentenceState
from ui.wording import spoken

NASTY = "고갱</script><b>&amp;\"'`${1}\u2028$x$"
ADDRESS = "http://localhost:8501/?sentence=%EA%B3%A0%EA%B0%B1"
PNG = b"\x89PNG\r\n\x1a\n"


# Each figure is drawn for the width that it has now.
DRAWN_FOR_THE_WINDOW = """() => {
  const figures = [...document.querySelectorAll(".plot")];
  return figures.length && figures.every(({ dataset, plot, clientWidth }) =>
    dataset.drawn === String(plot?.turn) && (!clientWidth || parseInt(plot.drawnFor) === clientWidth));
}"""


@pytest.fixture(scope="module")
def visitor(browser):
    """A page without a network. It remembers its complaints and requests since the last file."""
    with visiting(browser, offline=True) as page:
        yield page


@pytest.fixture
def open_file(visitor, tmp_path):
    """Writes a state's file and opens it without a network: ``open_file(state, width=390)``."""

    def open_state(state: SentenceState, language: str = "ko", width: int = 1280, experiment=None) -> Page:
        choices = Choices(ADDRESS, VALUES, experiment=experiment)
        path = tmp_path / "시선.html"
        path.write_bytes(spoken(language)(export.to_html)(state, choices))
        visitor.complaints.clear(), visitor.requests.clear()
        visitor.set_viewport_size({"width": width, "height": 900})
        visitor.goto(path.as_uri())
        visitor.wait_for_function(DRAWN_FOR_THE_WINDOW)
        return visitor

    return open_state


def assert_quiet(page: Page) -> None:
    """The page requested nothing but the file itself and its contents, and nothing went wrong."""
    inside = ("data:", "blob:")
    assert [Path(url).suffix for url in page.requests if not url.startswith(inside)] == [".html"]
    assert page.complaints == []


@pytest.mark.parametrize(("kind", "theme"), [("cross_attention", "light"), ("decoder_attention", "dark")])
def test_the_file_shows_the_numbers_of_the_trace_without_a_network(open_file, kind, theme):
    state = make_state(NASTY, kind=kind, theme=theme)
    page = open_file(state)
    np.testing.assert_array_equal(heatmap(page, "#heatmap .js-plotly-plot"), state.weights)
    for name in state.trace.kinds:
        tiles, weights = heatmap(page, f"#overview-{name} .js-plotly-plot"), state.trace.attention(name)
        first = tiles[: weights.shape[2], : weights.shape[3]]
        allowed = first > 0  # a byte each: 1 is the weight 0, 255 the weight 1; 0 is no cell
        np.testing.assert_allclose((first[allowed] - 1) / 254, weights[0, 0][allowed], atol=0.5 / 254 + 1e-6)
    names = page.evaluate(
        "() => document.querySelector('#overview-cross_attention .js-plotly-plot')._fullData[1].customdata"
    )
    assert len(names) == LAYERS * HEADS
    assert page.evaluate("() => [...document.fonts].map(font => font.status)") == ["loaded"]
    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == theme
    assert_quiet(page)


def test_what_was_typed_is_shown_letter_by_letter(open_file):
    state = make_state(NASTY)
    page = open_file(state)
    assert page.locator(".sentence").first.text_content() == state.sentence.text
    assert page.evaluate("() => document.querySelectorAll('main b, main img').length") == 0
    assert page.title().startswith(state.sentence.text[:5])
    facts = page.locator("code").all_text_contents()
    assert facts == ["fake-model", "fake", "0.75", ADDRESS]
    labels = page.locator("#heatmap .xtick text").all_text_contents()
    assert labels[:11] == ["고", "갱", *"</script>"]
    assert_quiet(page)


def test_lines_steps_and_any_head_answer_without_the_app(open_file):
    state = make_state("고갱님이 왔어요")
    page = open_file(state, width=1920)
    plots = [box(page, f"#overview-{kind} .plot") for kind in ATTENTION_KINDS]  # they fill a wide window
    assert len({each.top for each in plots}) == 1
    assert sum(each.width for each in plots) > 0.8 * 1920
    steps = page.locator("#steps .steps")
    range_ = steps.get_by_role("slider")
    before = range_.input_value()
    steps.get_by_role("button", name="다음", exact=True).click()
    expect(range_).to_have_value(str(int(before) + 1))
    wait_for(page, page.locator("#lines svg path").count, lambda count: count > 5)
    explorer = page.locator("#explorer")
    for label, place in (("층", 2), ("헤드", 2)):  # the first option is the mean
        explorer.get_by_label(label, exact=True).select_option(index=place)
    kind = explorer.get_by_label("어텐션 종류").evaluate("menu => menu.selectedIndex")
    expected = state.trace.attention(state.trace.kinds[kind])[1, 1]
    expect_heatmap(page, expected, "#explorer .heatmap .js-plotly-plot", atol=1e-4)
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function(DRAWN_FOR_THE_WINDOW)
    cells = page.locator("th, td")
    assert cells.count() > 8
    assert cells.evaluate_all(BROKEN_WORDS) == []
    wrong = page.locator("del").first
    assert "line-through" not in wrong.evaluate("text => getComputedStyle(text).textDecorationLine")
    assert_quiet(page)


def test_the_figures_of_an_experiment_are_drawn_within_the_page(open_file):
    tokens, heads = list("고갱이"), [("cross_attention", 0, 0), ("cross_attention", 0, 1)]
    made = {
        "without_mosaic": viz.head_mosaic({"cross_attention": np.array([[1.5, -0.25]])}, chosen=heads[1:]),
        "without_scatter": viz.attention_effect_scatter([0.1, 0.9], [1.5, -0.25], heads),
        "sources": viz.contribution_panels([viz.MethodPanel("빼기", [0.5, -1.0, 0.1], True)], tokens),
        "replace_instead": viz.attention_heatmap(np.eye(3), tokens, tokens, emphasis_rows=[1]),
        "fork": viz.token_branches([tokens], [[0.9, 0.5, 0.9]], ["원래"], parted=1),
    }
    told = Experiment(
        "실험", ("말한 것", "주"), {name: (each, name) for name, each in made.items()}, intervenes=True
    )
    page = open_file(make_state("고갱님이 왔어요"), experiment=told)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(DRAWN_FOR_THE_WINDOW)
        for name in made:
            at = box(page, f"#{name} .js-plotly-plot")
            assert at.left >= 0 and at.right <= width + 1, name
            assert at.height > 60, name
        assert pictures_without_a_table(page) == []
    assert_quiet(page)


def test_every_figure_saves_png_and_svg_with_its_hangul_on_the_ground_of_its_theme(open_file):
    page = open_file(make_state("고갱님이 왔어요", theme="dark"))
    for place, ending in product(("heatmap", "overview-encoder_attention"), ("png", "svg")):
        page.locator(f"#{place}").hover()
        name = f"{ending.upper()} 그림으로 내려받기"
        with page.expect_download() as saved:
            page.locator(f"#{place}").get_by_role("button", name=name).click()
        assert saved.value.suggested_filename == f"{place}.{ending}"
        content = Path(saved.value.path()).read_bytes()
        assert content.startswith(PNG if ending == "png" else b"<svg")
    assert "가중치" in content.decode() and b"fill: rgb(16, 22, 31)" in content[:600]
    assert_quiet(page)


@pytest.mark.parametrize("trace", [None, one_map_trace])
def test_a_phone_scrolls_only_downwards_in_the_file_and_no_box_hides_rows(open_file, trace):
    layer, head = (0, 0) if trace else (None, None)
    page = open_file(make_state("고갱님이 왔어요 " * 9, trace=trace, layer=layer, head=head), width=390)
    page.locator(".lines .token").first.wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") == 0
    rolls = """boxes => boxes.filter(box => /auto|scroll/.test(getComputedStyle(box).overflowY))
      .filter(box => box.scrollHeight > box.clientHeight + 1).map(box => box.className)"""
    assert page.locator("body *").evaluate_all(rolls) == []
    assert_quiet(page)


def test_the_app_hands_out_its_files(open_page):
    page = open_page("?lang=en&sentence=%EA%B3%A0%EA%B0%B1")
    toggle(page, "taking")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Table (CSV)").click()
    assert saved.value.suggested_filename.endswith(".csv") and "고" in saved.value.suggested_filename
    assert Path(saved.value.path()).read_bytes().startswith(b"\xef\xbb\xbfkind,layer,head")
    with page.expect_download() as saved:
        page.get_by_role("button", name="View (HTML)").click()
    html = Path(saved.value.path()).read_text("utf-8")
    assert html.startswith('<!DOCTYPE html>\n<html lang="en" data-theme="light">')
