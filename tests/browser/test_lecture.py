"""Lecture mode in a browser: size of texts and pictures on a projector, on every page."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box, outside
from tests.browser.test_other_pages import expect_rows_in_line
from tests.browser.test_pages_for_everyone import COVERED, go_to
from tests.browser.test_sentences import IS_CUT, LENGTHEN, LONG
from tests.browser.visit import choose, expect_settings, figure, of_figure, settle
from tests.ui.pages.test_lesson_plan import SENTENCE
from ui.views import EXPERIMENTS, VIEWS
from ui.wording import table

# Pixels at 1920; a projector shows every window at one size, so the limit is this share of its width.
LEAST_TYPE = 24
STYLE = Path(__file__).parents[2] / "ui" / "shell" / "lecture.css"
SIZES = ((1920, 1080), (1366, 768), (1024, 768))
EVERY_TEXT = """least => {
  const small = [];
  const hidden = style =>
    style.clipPath.startsWith("inset") || style.opacity === "0" || style.visibility !== "visible";
  const look = (node, unseen) => {
    if (node.nodeType === Node.TEXT_NODE) return unseen || read(node);
    if (node.matches?.("script, style, title, .modebar, .hoverlayer")) return;
    const gone = unseen || (node.nodeType === Node.ELEMENT_NODE && hidden(getComputedStyle(node)));
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) look(child, gone);
  };
  const read = text => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const { width, height } = range.getBoundingClientRect();
    if (!text.data.trim() || width < 2 || height < 2) return;
    const holder = text.parentElement, matrix = holder.getScreenCTM?.();
    const size = parseFloat(getComputedStyle(holder).fontSize)
      * (matrix ? Math.hypot(matrix.b, matrix.d) : 1);
    if (size < least) small.push([Math.round(size * 10) / 10, text.data.trim().slice(0, 40)]);
  };
  look(document.body, false);
  return small;
}"""
# It is wider than its cell, which is known, and smaller than other labels.
MARK_IN_A_CELL = re.compile(r"</?\w+>|<\?>")


def too_small(page: Page, width: int) -> list:
    """[size, text] of visible texts smaller than the limit, in shadow trees and drawings, too."""
    found = page.evaluate(EVERY_TEXT, LEAST_TYPE / 1920 * width - 0.05)
    return [[size, text] for size, text in found if not MARK_IN_A_CELL.fullmatch(text)]


def tile_width(page: Page) -> float:
    """Pixels that one tile of the overview is wide."""
    return of_figure(
        page,
        figure("overview"),
        """figure => {
          const { range, _length } = figure._fullLayout.xaxis;
          return (2 * figure.layout.meta.half[0] * _length) / Math.abs(range[1] - range[0]);
        }""",
    )


@pytest.mark.parametrize(
    ("width", "height", "order"), [(1920, 1080, "entropy"), (1366, 768, "place"), (1024, 768, "entropy")]
)
def test_all_heads_are_as_large_as_without_a_lecture_and_no_third_is_blank(look_at, width, height, order):
    plain = tile_width(look_at(f"?order={order}", width=width, height=height))
    page = look_at(f"?lecture=1&order={order}", width=width, height=height)
    assert tile_width(page) >= plain
    maps = [f".st-key-{key} .nsewdrag" for key in ("overview", "heatmap")]
    assert outside(page, *maps) == []
    heads, map_ = (box(page, each) for each in maps)
    assert heads.width + map_.width > 0.6 * width and map_.height > 0.5 * height


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    settle(page)


def test_every_text_of_every_view_can_be_read_from_the_last_row(open_page):
    page = open_page("?lecture=1")
    for name in ("examples", "settings", "language", "theme_change", "view_options", "taking"):
        expect(page.locator(f".st-key-{name}").first).to_be_hidden()  # no lesson uses them
    expect(page.locator(".st-key-lecture_switch")).to_be_visible()
    for view in VIEWS:
        if view != VIEWS[0]:
            choose(page, "view", table("ko")[f"view_{view.name}"])
            expect_settings(page, view=view.name)
        for width, height in (SIZES[0], SIZES[-1]):
            resize(page, width, height)
            assert (view.name, width, too_small(page, width)) == (view.name, width, [])


def test_a_long_sentence_can_be_read_from_the_last_row(look_at):
    page = look_at(f"?{urlencode({'lecture': '1', 'sentence': LONG})}", width=1920, height=1080)
    assert too_small(page, 1920) == []


READ = ("heads", "network", "growing")


@pytest.mark.parametrize(
    ("language", "names"), [("ko", (*READ, "masks", "calculation", "positions", "model")), ("en", READ)]
)
def test_the_other_pages_can_be_read_from_the_last_row(open_page, language, names):
    page = open_page(f"heads?lecture=1&lang={language}", width=1920, height=1080)
    for name in names:
        go_to(page, name, language)
        if name in READ:
            assert too_small(page, 1920) == [], name
        if name == "masks":
            expect_rows_in_line(page)
        if name == "network":
            for width, height in SIZES:
                resize(page, width, height)
                assert outside(page, "svg.lecture") == []
                drawing = box(page, "svg.lecture")  # it fills the window as far as its shape allows
                assert drawing.height > 0.7 * height or drawing.width > 0.95 * width
        resize(page, 1366, 900)
        assert page.evaluate(COVERED) == [], name
        resize(page, 1920, 1080)


def test_every_experiment_can_be_read_from_the_last_row(open_page):
    page = open_page(f"laboratory?lecture=1&edit=1&sentence={SENTENCE}", width=1920, height=1080)
    for experiment in EXPERIMENTS:
        choose(page, "experiment", table("ko")[f"view_{experiment.name}"])
        expect_settings(page, experiment=None if experiment is EXPERIMENTS[0] else experiment.name)
        assert (experiment.name, too_small(page, 1920)) == (experiment.name, [])
    told = page.locator(".st-key-told .told")
    told.evaluate(LENGTHEN)
    assert not told.evaluate(IS_CUT)


def test_the_steps_take_their_form_when_the_style_of_a_lecture_arrives_after_them(open_page):
    page = open_page("?view=steps&edit=1", width=1024, height=768)
    expect(page.locator(".steps.lecture")).to_have_count(0)
    page.add_style_tag(path=STYLE)
    expect(page.locator(".steps.lecture")).to_have_count(1)
