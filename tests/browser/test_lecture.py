"""What the last row sees: lecture mode fills the screen of a projector, and nothing is small."""

import re
from itertools import combinations, pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_sentences import LONG
from tests.browser.visit import choose, expect_settings, figure, settle
from ui.views import EXPERIMENTS, VIEWS
from ui.wording import table

LEAST_TYPE = (
    24  # pixels at 1920; a projector shows every window at one size, so the limit is this share of its width
)
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
MARK_IN_A_CELL = re.compile(
    r"</?\w+>|<\?>"
)  # it is wider than its cell, which is known, and smaller than other labels


def drawn(page: Page, key: str) -> dict[str, float]:
    """The box of what a figure shows: its map, without the room around it."""
    return page.locator(f".st-key-{key} .nsewdrag").first.bounding_box()


def too_small(page: Page, width: int) -> list:
    """[size, text] of what is seen and smaller than the limit, in shadow trees and drawings, too."""
    found = page.evaluate(EVERY_TEXT, LEAST_TYPE / 1920 * width - 0.05)
    return [[size, text] for size, text in found if not MARK_IN_A_CELL.fullmatch(text)]


def tile_width(page: Page) -> float:
    """Pixels that one tile of the overview is wide."""
    return page.locator(figure("overview")).evaluate(
        """figure => {
          const { range, _length } = figure._fullLayout.xaxis;
          return (2 * figure.layout.meta.half[0] * _length) / Math.abs(range[1] - range[0]);
        }"""
    )


@pytest.mark.parametrize("order", ["place", "entropy"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_all_heads_are_as_large_as_without_a_lecture_and_no_third_is_blank(look_at, width, height, order):
    plain = tile_width(look_at(f"?order={order}", width=width, height=height))
    page = look_at(f"?lecture=1&order={order}", width=width, height=height)
    assert tile_width(page) >= plain
    places = [drawn(page, key) for key in ("overview", "heatmap")]
    assert sum(place["width"] for place in places) > 0.6 * width
    assert places[1]["height"] > 0.5 * height
    for place in places:
        assert place["x"] + place["width"] <= width and place["y"] + place["height"] <= height


def test_every_text_of_every_view_can_be_read_from_the_last_row(open_page):
    page = open_page("?lecture=1")
    for view in VIEWS:
        if view != VIEWS[0]:
            choose(page, "view", table("ko")[f"view_{view.name}"])
            expect_settings(page, view=view.name)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settle(page)
            assert (view.name, width, too_small(page, width)) == (view.name, width, [])


@pytest.mark.parametrize(
    "path",
    [
        f"?{urlencode({'lecture': '1', 'sentence': LONG})}",
        *(
            f"{page}?lecture=1{asked}"
            for page in ("network", "heads", "growing")
            for asked in ("", "&lang=en")
        ),
    ],
)
def test_a_long_sentence_and_the_other_pages_can_be_read_from_the_last_row(look_at, path):
    assert too_small(look_at(path, width=1920, height=1080), 1920) == []


def test_every_experiment_can_be_read_from_the_last_row(open_page):
    page = open_page("laboratory?lecture=1&edit=1", width=1920, height=1080)
    for experiment in EXPERIMENTS:
        choose(page, "experiment", table("ko")[f"view_{experiment.name}"])
        expect_settings(page, experiment=None if experiment is EXPERIMENTS[0] else experiment.name)
        assert (experiment.name, too_small(page, 1920)) == (experiment.name, [])


@pytest.mark.parametrize("sentence", ["같이 가요.", LONG], ids=["short", "long"])
@pytest.mark.parametrize(("width", "height"), [*SIZES, (1920, 1200)])
def test_what_explains_the_colours_is_whole_beside_the_map_or_below_it(look_at, width, height, sentence):
    asked = {"lecture": "1", "lang": "en", "sentence": sentence}  # English words are longer
    page = look_at(f"?{urlencode(asked)}", width=width, height=height)
    right = page.locator(".st-key-heatmap .plot").evaluate("plot => plot.getBoundingClientRect().right")
    explained = (
        page.locator(".st-key-heatmap")
        .locator(".legendtext, .colorbar text")
        .evaluate_all("texts => texts.map(text => [text.textContent, text.getBoundingClientRect().right])")
    )
    assert len(explained) > 3
    assert [text for text, end in explained if end > right] == []


@pytest.mark.parametrize(
    ("width", "height", "asked"),
    [(1280, 800, ""), (1280, 800, "&lecture=1"), *((*size, "&lecture=1") for size in SIZES)],
)
def test_the_names_of_ordered_heads_lie_over_no_frame(look_at, width, height, asked):
    page = look_at(f"?order=entropy&edit=1&view=edits{asked}", width=width, height=height)
    boxes = (
        "all => all.map(each => each.getBoundingClientRect())"
        ".map(({left, right, top, bottom}) => [left, right, top, bottom])"
    )
    names = page.locator(f"{figure('overview')} .annotation-text").evaluate_all(boxes)
    frames = page.locator(f"{figure('overview')} .shapelayer path").evaluate_all(boxes)
    assert len(names) > 8 and frames
    for left, right, top, bottom in names:
        for start, end, high, low in frames:
            across, edges = min(right, end) - max(left, start), (high, low)
            room = 0.1 * (bottom - top)  # above and below its characters a line of type has room
            assert across <= 1 or not any(top + room < edge < bottom - room for edge in edges)


# [left, right, top, bottom] of what is written of each label above or below the columns of a picture, without
# spaces; and the picture's.
COLUMN_LABELS = """plot => {
  const box = ({ left, right, top, bottom }) => [left, right, top, bottom];
  const characters = label => {
    const found = [], walk = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      for (let i = 0; i < walk.currentNode.data.length; i += 1) {
        const range = document.createRange();
        range.setStart(walk.currentNode, i);
        range.setEnd(walk.currentNode, i + 1);
        if (range.toString().trim()) found.push(box(range.getBoundingClientRect()));
      }
    }
    return found;
  };
  const ends = [Math.min, Math.max, Math.min, Math.max];
  const labels = [...plot.querySelectorAll(".xtick text")].map(characters).filter(found => found.length);
  return [labels.map(found => ends.map((end, side) => end(...found.map(each => each[side])))),
    box(plot.getBoundingClientRect())];
}"""


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("?lecture=1", "heatmap"),
        ("masks?lecture=1", "masks_look_ahead"),
        ("growing?lecture=1", "growing_map"),
        ("laboratory?lecture=1&edit=1&experiment=sources", "sources"),
    ],
)
def test_no_mark_above_columns_meets_the_character_beside_it(look_at, path, key):
    page = look_at(path, width=1024, height=768)
    labels, (begin, end, *_) = page.locator(figure(key)).evaluate(COLUMN_LABELS)
    assert len(labels) > 8
    assert all(begin <= left and right <= end for left, right, *_ in labels)
    for (left, right, top, bottom), (other, stop, high, low) in combinations(labels, 2):
        on_one_line = min(bottom, low) - max(top, high) > 0.3 * (bottom - top)
        assert not on_one_line or min(right, stop) <= max(left, other) + 0.5


@pytest.mark.parametrize("order", ["entropy", "edit"])
def test_the_names_of_ordered_heads_do_not_run_into_one_another(look_at, order):
    page = look_at(f"?lecture=1&order={order}&edit=1", width=1366, height=768)
    boxes = page.locator(
        ".st-key-overview .annotation-text-g text, .st-key-overview .annotation text"
    ).evaluate_all(
        "found => found.map(each => each.getBoundingClientRect())"
        ".map(({left, right, top}) => [left, right, Math.round(top)])"
    )
    assert len(boxes) > 8
    for (_, right, top), (left, _, other) in zip(
        sorted(boxes, key=lambda b: (b[2], b[0])), sorted(boxes, key=lambda b: (b[2], b[0]))[1:], strict=False
    ):
        assert top != other or right <= left


@pytest.mark.parametrize(
    "asked",
    [
        {"sentence": "학꾜에서 국쑤를 머꼬 집까지 거러갔어요.", "step": "2"},
        {"sentence": LONG, "step": "2"},
        {"sentence": LONG, "edit": "4", "lang": "en"},  # with the question whether it is changed
    ],
    ids=["short", "long", "a change"],
)
@pytest.mark.parametrize("width", [1366, 1024])
def test_a_step_shows_probabilities_and_both_rows_on_one_screen(look_at, width, asked):
    page = look_at(f"?{urlencode({'lecture': '1', 'view': 'steps'} | asked)}", width=width, height=768)
    for part in ("of-candidates", "of-decision", "of-source", "of-self"):
        box = page.locator(f".steps .{part}").bounding_box()
        assert box["y"] + box["height"] <= 768, part


def test_the_steps_take_their_form_when_the_style_of_a_lecture_arrives_after_them(open_page):
    page = open_page("?view=steps&edit=1", width=1024, height=768)
    expect(page.locator(".steps.lecture")).to_have_count(0)
    page.add_style_tag(path=STYLE)
    expect(page.locator(".steps.lecture")).to_have_count(1, timeout=5000)


@pytest.mark.parametrize(
    ("path", "figures"),
    [
        ("growing", ("growing_heads", "growing_map", "growing_curves")),
        ("heads", ("heads_map", "heads_pruning")),
    ],
)
def test_one_look_takes_in_every_picture(look_at, path, figures):
    page = look_at(path, width=1366, height=768)
    for key in figures:
        box = page.locator(f".st-key-{key} .plot").bounding_box()
        assert box["y"] + box["height"] <= 768, key


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_kinds_over_heads_are_named_wholly_in_a_narrow_picture(look_at, language):
    asked = f"laboratory?lecture=1&edit=1&lang={language}"
    look_at(asked, width=1366, height=768)
    page = look_at(asked, width=1024, height=768)
    ends = "all => all.map(each => each.getBoundingClientRect().right)"
    (right,) = page.locator(figure("without_mosaic")).evaluate_all(ends)
    names = page.locator(f"{figure('without_mosaic')} .annotation-text")
    assert max(names.evaluate_all(ends)) <= right


def places(page: Page, selector: str) -> list[tuple[float, float]]:
    """(top, bottom) of each that is found, from above."""
    found = page.locator(selector).evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
    return sorted((box["top"], box["bottom"]) for box in found)


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_names_of_the_curves_without_heads_lie_over_no_curve(look_at, width, height, language):
    page = look_at(f"heads?lecture=1&lang={language}", width=width, height=height)
    names = places(page, f"{figure('heads_pruning')} .annotation-text")
    panels = places(page, f"{figure('heads_pruning')} .nsewdrag")
    assert len(names) == len(panels) == 2
    ends = [panels[0][0] - 100, panels[0][1]]  # of what stands above each name
    for (top, bottom), (panel, foot), end in zip(names, panels, ends, strict=True):
        assert end - 2 <= top and bottom <= panel + 2
        assert foot - panel > 0.07 * height  # a curve is seen, and not only a line
    assert max(bottom for _, bottom in places(page, f"{figure('heads_pruning')} .legendtext")) <= height


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("language", ["ko", "en"])
def test_all_roles_are_named_wholly_above_the_map_of_roles(look_at, width, height, language):
    page = look_at(f"heads?lecture=1&lang={language}", width=width, height=height)
    map_ = figure("heads_map")
    (top, _), *_ = places(page, map_)
    (begin, end), *_ = places(page, f"{map_} .legend")
    names = places(page, f"{map_} .legendtext")
    assert len(names) >= 5
    assert all(max(top, begin) <= name[0] + 2 and name[1] <= end + 2 for name in names)
    rows = page.locator(f"{map_} .legend .bg").evaluate("bg => bg.getBoundingClientRect().right")
    ends = page.locator(f"{map_} .legendtext").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect().right)"
    )
    assert max(ends) <= rows + 2


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_kinds_over_roles_do_not_run_into_one_another(look_at, language):
    page = look_at(f"heads?lecture=1&lang={language}", width=1024, height=768)
    ends = page.locator(f"{figure('heads_map')} .annotation-text").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect())"
        ".map(({left, right}) => [left, right]).sort((a, b) => a[0] - b[0])"
    )
    assert len(ends) == 3 and ends[0][0] >= 0
    assert all(right <= left for (_, right), (left, _) in pairwise(ends))


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_network_at_a_glance_is_whole(look_at, width, height):
    box = look_at("network?lecture=1", width=width, height=height).locator("svg.lecture").bounding_box()
    assert box["y"] + box["height"] <= height
    # It fills the window as far as its shape allows.
    assert box["height"] > 0.7 * height or box["width"] > 0.95 * width


def test_what_a_lesson_does_not_use_is_out_of_the_way(look_at):
    page = look_at("?lecture=1", width=1366, height=768)
    for name in ("examples", "settings", "language", "theme_change", "view_options", "taking"):
        assert not page.locator(f".st-key-{name}").first.is_visible(), name
    assert page.locator(".st-key-lecture_switch").is_visible()
