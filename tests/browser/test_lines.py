"""Attention lines (``lines.js``) in a browser: pointer, touch, keyboard, saved picture.

The page is opened from a file: it needs neither Streamlit nor a server.
"""

import base64
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box, boxes
from tests.browser.site_pages import visiting
from tests.ui.fake_corrector import random_trace
from ui.wording import say, spoken, table
from viz.browser.lines import LINES, lines_data
from viz.theme import palette

EN = table("en")
SOURCE, TARGET = "고갱이 고갱을 <b>왔다", "고객이 고객을 <b>왔다"
TRACE = random_trace(SOURCE, TARGET)
GROUND = {"light": "#ffffff", "dark": "#11161d"}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Lines</title>
<style>body {{ margin: 16px; background: {ground} }} {style}</style>
<main><h1 style="color: {ink}">Lines</h1><div id="here"></div></main>
<script type="application/json" id="data">{data}</script>
<script type="module">
  const {{ default: draw }} = await import("data:text/javascript;base64,{script}");
  const parentElement = document.getElementById("here");
  window.show = (data) => draw({{ data, parentElement }});
  show(JSON.parse(document.getElementById("data").textContent));
  document.body.dataset.ready = "yes";
</script>"""


say = spoken("en")(say)


def data_of(kind="cross_attention", heads=3, mass=0.6, theme="light", isolated=(), trace=TRACE) -> dict:
    named = [(f"head {head + 1}", trace.attention(kind)[1, head]) for head in range(heads)]
    changed = ([1, 5], [1, 5])
    return lines_data(
        say, trace, kind, named, mass=mass, label="Lines", changed=changed, isolated=isolated, theme=theme
    )


@pytest.fixture(scope="module")
def visitors(browser):
    """(errors of scripts, a visitor's pages with a mouse and with a finger)."""
    errors = []
    with visiting(browser) as mouse, visiting(browser, has_touch=True) as finger:
        for page in (mouse, finger):
            page.on("pageerror", lambda error: errors.append(str(error)))
        yield errors, (mouse, finger)


@pytest.fixture
def show(visitors, tmp_path):
    """Opens a self-contained page with these data; errors of its script fail the test."""
    errors, pages = visitors
    errors.clear()

    def open_file(data: dict, width: int = 1280, theme: str = "light", touch: bool = False) -> Page:
        script = base64.b64encode(LINES.js.encode()).decode()
        words = json.dumps(data).replace("<", "\\u003c")
        look = {"ground": GROUND[theme], "ink": palette(theme).text, "style": LINES.css}
        file = tmp_path / "lines.html"
        file.write_text(PAGE.format(data=words, script=script, **look), "utf-8")
        page = pages[touch]
        page.bring_to_front()
        page.mouse.move(0, 0)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_file
    assert errors == []


def token(page: Page, side: str, place: int):
    return page.locator(f'.token[data-side="{side}"][data-place="{place}"]')


def weights_beside(page: Page) -> list[str]:
    return page.locator(".numbers text").all_text_contents()


def drawn_weights(data: dict, row: int) -> list[str]:
    """The weights of one row that have a line, as the page writes them."""
    return [f"{weight:.3f}" for head in data["heads"] for query, _, weight in head["edges"] if query == row]


def answer(page: Page, **changed) -> None:
    """The page around the drawing sends other data."""
    page.evaluate("data => show(data)", data_of(heads=1, **changed))


def expect_all_lines(page: Page, data: dict) -> None:
    expect(page.locator(".edges")).to_have_attribute("display", "inline")
    expect(page.locator(".edges path")).to_have_count(sum(len(head["edges"]) for head in data["heads"]))
    expect(page.locator(".chosen path")).to_have_count(0)


def test_every_weight_has_a_line_that_is_wider_and_darker_the_larger_it_is(show):
    data = data_of(heads=1)
    page = show(data)
    expect_all_lines(page, data)
    looks = page.locator(".edges path").evaluate_all(
        "lines => lines.map(line =>"
        " [line.getAttribute('stroke-width'), line.getAttribute('stroke-opacity')].map(Number))"
    )
    wanted = sorted(edge[2] for edge in data["heads"][0]["edges"])
    for looked in np.array(looks).T:
        assert np.corrcoef(looked, wanted)[0, 1] > 0.999


def test_pointing_isolates_a_token_and_leaving_restores_all(show):
    data = data_of(heads=2)
    page = show(data)
    token(page, "queries", 5).hover()
    expected = drawn_weights(data, 5)
    expect(page.locator(".edges")).to_have_attribute("display", "none")
    expect(page.locator(".chosen path")).to_have_count(len(expected))
    assert sorted(weights_beside(page)) == sorted(expected)
    assert sorted(page.locator(".told .weight").all_text_contents()) == sorted(expected)
    page.mouse.move(5, 5)
    expect_all_lines(page, data)
    assert weights_beside(page) == []
    token(page, "keys", 4).hover()  # a key shows which queries look at it
    expected = [f"{w:.3f}" for head in data["heads"] for _, key, w in head["edges"] if key == 4]
    assert sorted(weights_beside(page)) == sorted(expected)


def test_a_click_keeps_the_lines_until_the_next_one(show):
    data = data_of(heads=1)
    page = show(data)
    token(page, "queries", 2).click()
    page.mouse.move(5, 5)
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data, 2))
    expect(token(page, "queries", 2)).to_have_attribute("aria-pressed", "true")
    answer(page, mass=0.9)
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data_of(heads=1, mass=0.9), 2))
    page.get_by_role("button", name=EN["lines_all"]).click()
    page.mouse.move(5, 5)
    assert weights_beside(page) == []
    expect(page.get_by_role("button", name=EN["lines_all"])).to_be_hidden()


def test_a_tap_keeps_the_lines_and_another_lets_go(show):
    data = data_of(heads=1)
    page = show(data, width=390, touch=True)
    token(page, "queries", 3).tap()
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data, 3))
    token(page, "keys", 1).tap()
    expect(token(page, "queries", 3)).to_have_attribute("aria-pressed", "false")
    token(page, "keys", 1).tap()
    expect_all_lines(page, data)


def test_the_keyboard_reaches_every_token_with_one_stop(show):
    data = data_of(heads=1)
    page = show(data)
    assert page.locator('.token[tabindex="0"]').count() == 1
    token(page, "queries", 0).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "End", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    row = len(data["keys"]) - 2
    expect(token(page, "queries", row)).to_be_focused()
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data, row))
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.drawing')") is None
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data, row))
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Tab")
    assert weights_beside(page) == []


def test_a_chosen_change_is_isolated_at_first(show):
    data = data_of(heads=1, isolated=[5])
    page = show(data)
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data, 5))
    page.get_by_role("button", name=EN["lines_all"]).click()
    answer(page, isolated=[5], theme="dark")
    answer(page, isolated=[1])
    assert sorted(weights_beside(page)) == sorted(drawn_weights(data, 1))


def test_heads_differ_by_dashes_as_well_as_by_colour_and_can_be_seen_alone(show):
    data = data_of(heads=3)
    page = show(data)
    looks = page.locator(".legend line").evaluate_all(
        "lines => lines.map(line => ['stroke', 'stroke-dasharray'].map(name => line.getAttribute(name)))"
    )
    assert len({colour for colour, _ in looks}) == len({dashes for _, dashes in looks}) == 3
    head = page.get_by_role("button", name="head 2")
    head.hover()
    expect(page.locator(".chosen path")).to_have_count(len(data["heads"][1]["edges"]))
    head.click()
    page.mouse.move(5, 5)
    for paths in (".chosen path", f'.chosen path[stroke="{looks[1][0]}"]'):
        expect(page.locator(paths)).to_have_count(len(data["heads"][1]["edges"]))


def test_typed_text_is_text_and_repeated_tokens_keep_their_places(show):
    page = show(data_of())
    signs = page.locator('.token[data-side="keys"] text:last-child').all_text_contents()
    assert signs == [*SOURCE.replace(" ", "␣"), "</s>"]
    assert page.locator("#here b b").count() == 0
    bold = page.locator('.token text[font-weight="700"]').all_text_contents()
    assert bold == ["객", "객", "갱", "갱"]
    heights = [each.top for each in boxes(page, '.token[data-side="keys"]')]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize("length", [120, 500])
def test_a_long_sentence_scrolls_in_its_box_under_its_titles(show, length):
    data = data_of(trace=random_trace("가" * length, "가" * length), heads=2, isolated=[length - 5])
    page = show(data, width=390)
    box = page.locator(".box")
    assert box.evaluate("box => [box.scrollWidth - box.clientWidth, box.clientHeight < 800]") == [0, True]
    expect(token(page, "queries", length - 5)).to_be_in_viewport()
    expect(page.locator(".drawing > g:last-child text").first).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("larger", [1, 1.4])
def test_on_a_phone_a_long_token_leaves_room_for_the_lines(show, larger):
    data = data_of(heads=3)
    data["keys"][2]["sign"] = "<outside>"
    page = show(data, width=390)
    page.evaluate("larger => (document.documentElement.style.fontSize = `${17 * larger}px`)", larger)
    page.evaluate("data => show(data)", data | {"label": "in another size"})
    edges = box(page, ".edges")
    assert edges.width >= 60
    edge_of = "(all, side) => all.map(text => text.getBoundingClientRect()[side])"
    ends = page.locator(".token text:last-child").evaluate_all(edge_of, "right")
    numbers = page.locator(".token text:nth-child(2)").evaluate_all(edge_of, "left")
    half = len(ends) // 2
    assert max(ends[:half]) <= edges.left + 1
    assert max(ends[half:]) <= min(numbers[half:])


def test_a_narrower_window_is_drawn_anew_and_keeps_what_is_pinned(show):
    page = show(data_of(heads=3))
    token(page, "queries", 5).click()
    before = page.locator(".drawing").get_attribute("width")
    page.set_viewport_size({"width": 390, "height": 900})
    expect(page.locator(".drawing")).not_to_have_attribute("width", before)
    expect(token(page, "queries", 5)).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("document.querySelector('.numbers').getBBox().x") > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("kind", ["encoder_attention", "cross_attention"])
def test_a_saved_drawing_holds_what_is_seen_with_its_legend(show, kind):
    data = data_of(kind, heads=2, theme="dark")
    page = show(data, theme="dark")
    token(page, "queries", 5).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=EN["lines_save"].format(format="SVG")).click()
    assert download.value.suggested_filename == "attention-lines.svg"
    drawing = ElementTree.parse(download.value.path()).getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in drawing.iter(f"{name}text")]
    assert {"Lines", "head 1", "head 2", *drawn_weights(data, 5)} <= set(texts)
    assert texts.count("고") == 4
    colours = {path.get("stroke") for path in drawing.iter(f"{name}path")}
    assert colours <= set(palette("dark").qualitative)
    assert drawing.find(f"{name}rect").get("fill") == palette("dark").sequential[0]
    assert "Noto Sans KR" in drawing.get("font-family")
    with page.expect_download() as download:
        page.get_by_role("button", name=EN["lines_save"].format(format="PNG")).click()
    assert download.value.suggested_filename == "attention-lines.png"
    content = Path(download.value.path()).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width = int(page.locator(".drawing").get_attribute("width"))
    assert int.from_bytes(content[16:20]) == 3 * width  # three times as large as the drawing
