"""What the last row sees: lecture mode fills the screen of a projector, and nothing is small."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page

from tests.browser.test_sentences import LONG
from tests.browser.visit import settle

LEAST_TYPE = 24  # pixels at 1920
SIZES = ((1920, 1080), (1366, 768), (1024, 768))
SETTINGS_OF_A_LESSON = (".st-key-tabs p", ".st-key-map p", ".st-key-correction .about", ".st-key-told .told")


def drawn(page: Page, key: str) -> dict[str, float]:
    """The box of what a figure shows: its map, without the room around it."""
    return page.locator(f".st-key-{key} .nsewdrag").first.bounding_box()


def type_sizes(page: Page, places: str) -> list[float]:
    """Of what is seen: names that only a screen reader tells have no size for the last row."""
    page.locator(places).first.wait_for(state="attached")
    return page.locator(places).evaluate_all(
        "found => found.filter(each => each.textContent.trim() && each.checkVisibility()).map(each => parseFloat(getComputedStyle(each).fontSize))"
    )


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_all_heads_are_as_large_as_without_a_lecture_and_no_third_is_blank(open_page, width, height):
    plain = drawn(open_page("", width=width, height=height), "overview")
    page = open_page("?lecture=1", width=width, height=height)
    assert (
        drawn(page, "overview")["width"] >= 0.93 * plain["width"]
    )  # larger labels take some of the same room
    places = [drawn(page, key) for key in ("overview", "heatmap")]
    assert sum(place["width"] for place in places) > 0.6 * width
    assert places[1]["height"] > 0.5 * height
    for place in places:
        assert place["x"] + place["width"] <= width and place["y"] + place["height"] <= height


def test_every_label_can_be_read_from_the_last_row(open_page):
    page = open_page("?lecture=1", width=1920, height=1080)
    for key in ("overview", "heatmap"):
        # Type in the signs of the tools is measured in their own drawing's units, not in pixels.
        assert min(type_sizes(page, f".st-key-{key} svg.main-svg text")) >= LEAST_TYPE, key
    assert min(type_sizes(page, ", ".join(SETTINGS_OF_A_LESSON[:2]))) >= LEAST_TYPE


@pytest.mark.parametrize("sentence", ["같이 가요.", LONG], ids=["short", "long"])
@pytest.mark.parametrize(("width", "height"), [*SIZES, (1920, 1200)])
def test_what_explains_the_colours_is_whole_beside_the_map_or_below_it(open_page, width, height, sentence):
    asked = {"lecture": "1", "lang": "en", "sentence": sentence}  # English words are longer
    page = open_page(f"?{urlencode(asked)}", width=width, height=height)
    right = page.locator(".st-key-heatmap .plot").evaluate("plot => plot.getBoundingClientRect().right")
    explained = (
        page.locator(".st-key-heatmap")
        .locator(".legendtext, .colorbar text")
        .evaluate_all("texts => texts.map(text => [text.textContent, text.getBoundingClientRect().right])")
    )
    assert len(explained) > 3
    assert [text for text, end in explained if end > right] == []


@pytest.mark.parametrize("order", ["entropy", "edit"])
def test_the_names_of_ordered_heads_do_not_run_into_one_another(open_page, order):
    page = open_page(f"?lecture=1&order={order}&edit=1", width=1366, height=768)
    boxes = page.locator(
        ".st-key-overview .annotation-text-g text, .st-key-overview .annotation text"
    ).evaluate_all(
        "found => found.map(each => each.getBoundingClientRect()).map(({left, right, top}) => [left, right, Math.round(top)])"
    )
    assert len(boxes) > 8
    for (_, right, top), (left, _, other) in zip(
        sorted(boxes, key=lambda b: (b[2], b[0])), sorted(boxes, key=lambda b: (b[2], b[0]))[1:], strict=False
    ):
        assert top != other or right <= left


def test_a_step_shows_probabilities_and_both_rows_on_one_screen(open_page):
    page = open_page("?lecture=1&view=steps&step=2", width=1366, height=768)
    for part in ("of-candidates", "of-decision", "of-source", "of-self"):
        box = page.locator(f".steps .{part}").bounding_box()
        assert box["y"] + box["height"] <= 768, part


@pytest.mark.parametrize(
    ("path", "figures"),
    [
        ("growing", ("growing_heads", "growing_map", "growing_curves")),
        ("heads", ("heads_map", "heads_pruning")),
    ],
)
def test_one_look_takes_in_every_picture(open_page, path, figures):
    page = open_page(path, width=1366, height=768)
    settle(page)
    for key in figures:
        box = page.locator(f".st-key-{key} .plot").bounding_box()
        assert box["y"] + box["height"] <= 768, key


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_network_at_a_glance_is_whole(open_page, width, height):
    box = open_page("network?lecture=1", width=width, height=height).locator("svg.wide").bounding_box()
    assert box["y"] + box["height"] <= height and box["height"] > 0.7 * height


def test_what_a_lesson_does_not_use_is_out_of_the_way(open_page):
    page = open_page("?lecture=1", width=1366, height=768)
    for name in ("examples", "settings", "language", "theme_change", "view_options", "taking"):
        assert not page.locator(f".st-key-{name}").first.is_visible(), name
    assert page.locator(".st-key-lecture_switch").is_visible()
