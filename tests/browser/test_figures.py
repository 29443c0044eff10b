"""Figures as a browser shows them: what is written in and around them can be read, in both themes, and taken
along.
"""

from itertools import pairwise
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import click, expect_settings, figure, settle, wait_until
from ui.wording import table
from viz.theme import palette

LABORATORY = "laboratory?experiment="
SENTENCE = "친구와 가치 밥을 머거요."
PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1366, "height": 768}


def boxes(page: Page, selector: str) -> list[dict[str, float]]:
    """Where the parts of a page that hold something are on the screen."""
    found = page.locator(selector).evaluate_all(
        "parts => parts.map(part => part.getBoundingClientRect().toJSON())"
    )
    found = [box for box in found if box["width"] > 0]
    assert found, selector
    return found


def edge(page: Page, side: str, selector: str) -> list[float]:
    return [box[side] for box in boxes(page, selector)]


@pytest.mark.parametrize("path", ["", f"{LABORATORY}without", f"{LABORATORY}twins"])
def test_no_words_lie_under_the_toolbar_on_a_phone(look_at, path):
    covered = look_at(path, **PHONE).evaluate(
        """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(figure => {
          const bar = figure.querySelector(".modebar-container .modebar").getBoundingClientRect();
          return [...figure.querySelectorAll(".xtick text, .xtitle, .x2title, .legendtext, .annotation-text")]
            .filter(word => {
              const box = word.getBoundingClientRect();
              return box.width && box.top < bar.bottom && box.right > bar.left &&
                box.left < bar.right && box.bottom > bar.top;
            })
            .map(word => word.textContent);
        })"""
    )
    assert covered == []


@pytest.mark.parametrize("view", [f"{LABORATORY}why", f"{LABORATORY}twins", "growing", "masks"])
def test_a_hand_is_shown_only_where_pressing_does_something(look_at, view):
    hands = (
        look_at(view, **LAPTOP)
        .locator(".plot")
        .evaluate_all(
            """plots => plots.flatMap(plot => {
          const keyed = plot.getRootNode().host?.closest("[class*=st-key-]") ??
            plot.closest("[class*=st-key-]");
          return [...plot.querySelectorAll(".drag, .legendtoggle")]
            .filter(part => getComputedStyle(part).cursor === "pointer")
            .map(part => [keyed.className.match(/st-key-(\\w+)/)[1],
              part.classList.contains("legendtoggle")]);
        })"""
        )
    )
    assert {name for name, _ in hands} <= {"overview", "heatmap", "beside_heads", "growing_heads"}
    assert not any(is_legend for _, is_legend in hands)


@pytest.mark.parametrize("width", [1024, 1366])
@pytest.mark.parametrize(("path", "shown"), [("growing", "growing_heads"), ("", "overview")])
def test_no_button_is_written_over_the_number_of_a_head(look_at, path, shown, width):
    page = look_at(path, width=width, height=768)
    page.locator(figure(shown)).hover()
    lowest = max(edge(page, "bottom", f"{figure(shown)} .modebar-btn text"))
    assert lowest <= min(edge(page, "top", f"{figure(shown)} .xtick text"))


def test_colours_and_kinds_of_the_heads_are_told_within_the_figure(look_at):
    mosaic = figure("without_mosaic")
    page = look_at(f"{LABORATORY}without", **PHONE)
    (whole,) = boxes(page, mosaic)
    for part in boxes(page, f"{mosaic} :is(.cbfills, .colorbar text)"):  # a hair of a pixel is no overlap
        assert whole["left"] - 1 < part["left"] and part["right"] < whole["right"] + 1
    page = look_at(f"{LABORATORY}without&lecture=1", **LAPTOP)
    kinds = max(edge(page, "bottom", f"{mosaic} .annotation-text"))
    assert kinds <= min(edge(page, "top", f"{mosaic} .xtick text")) + 3


def test_labels_of_tokens_stay_apart_and_in_their_cells_on_a_phone(look_at):
    page = look_at(f"{LABORATORY}sources&sentence={SENTENCE}", **PHONE)
    labels = boxes(page, f"{figure('sources')} .xtick text")
    assert all(left["right"] <= right["left"] + 2 for left, right in pairwise(labels))
    page = look_at(f"{LABORATORY}fork&sentence={SENTENCE}", **PHONE)
    (end,) = edge(page, "right", f"{figure('fork')} .heatmaplayer image")
    assert all(each <= end + 1 for each in edge(page, "right", f"{figure('fork')} .heatmap-label text"))


def test_the_numbers_of_a_difference_stand_upright_above_the_legend(look_at):
    pair = "twins&twin=pair&twin_sentence=친구의 가치를 알아요.&twin_difference=1"
    page = look_at(f"{LABORATORY}{pair}&sentence={SENTENCE}", **LAPTOP)
    lowest = max(edge(page, "bottom", ".colorbar .cbaxis text"))
    assert lowest <= min(edge(page, "top", ".legendtext")) + 3


@pytest.mark.parametrize("language", ["ko", "en"])
def test_how_well_a_method_agrees_is_not_cut_on_a_phone(look_at, language):
    page = look_at(f"{LABORATORY}sources&lang={language}&edit=1", **PHONE)
    notes = page.locator(f"{figure('sources')} .annotation-text")
    expect(notes).to_have_count(8)
    wait_until(page, lambda: sum("·" in text for text in notes.all_text_contents()), 7)
    settle(page)
    (end,) = edge(page, "right", figure("sources"))
    assert all(each <= end for each in edge(page, "right", f"{figure('sources')} .annotation-text"))


def test_a_colour_bar_has_each_label_once_however_a_phone_is_turned(look_at):
    for size in (LAPTOP, PHONE, {"width": 844, "height": 390}, LAPTOP):
        labels = look_at(**size).locator(".st-key-heatmap .cbaxis text").all_text_contents()
        assert sorted(labels) == ["0", "0.5", "1"], (size, labels)


def test_a_page_that_turns_dark_takes_its_figures_along(open_page):
    page = open_page()
    ink = "([figure]) => [getComputedStyle(document.documentElement).colorScheme, figure.layout.font.color]"
    figures = page.locator(figure("heatmap"))
    light = figures.evaluate_all(ink)
    page.emulate_media(color_scheme="dark")
    wait_until(page, lambda: figures.evaluate_all(ink), ["dark", palette("dark").text])
    page.emulate_media(color_scheme="light")
    wait_until(page, lambda: figures.evaluate_all(ink), light)


def test_a_saved_picture_is_named_after_sentence_kind_layer_and_head(open_page, corrector):
    typed = "오늘은 날싸가 맑라서 공원에서 잠깐 쉬엇다"
    chosen = {"sentence": typed, "kind": "decoder_attention", "layer": "2", "head": "4"}
    page = open_page(f"?{urlencode(chosen)}", **LAPTOP)
    words = "-".join(corrector.correct(typed).text[:20].split())
    for ending, saves in (("png", b"\x89PNG"), ("svg", b"<svg")):
        page.locator(figure("heatmap")).hover()
        button = page.locator(".st-key-heatmap .plot").get_by_role(
            "button", name=table("ko")[f"toolbar_{ending}"]
        )
        with page.expect_download() as saved:
            button.click()
        assert saved.value.suggested_filename == f"{words}-decoder-layer2-head4-attention.{ending}"
        content = saved.value.path().read_bytes()
        assert content.startswith(saves)
    drawn = content.decode()
    assert all(part in drawn for part in (words.replace("-", " "), "디코더", "2층 헤드 4"))


@pytest.mark.parametrize(
    ("path", "tiles", "down", "opened"),
    [(f"{LABORATORY}twins", "beside_heads", 0.1, "1"), ("growing", "growing_heads", 0.75, "2")],
)
def test_a_tile_opens_its_head_in_every_map_of_the_page(open_page, path, tiles, down, opened):
    page = open_page(path, **LAPTOP)
    drawn = page.locator(f"{figure(tiles)} .nsewdrag").first
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    click(page, (box["x"] + 0.3 * box["width"], box["y"] + down * box["height"]))
    expect_settings(page, layer=opened, head="2")
