"""Figures as a browser shows them: what is written in and around them can be read, in both themes, and taken
along.
"""

from itertools import pairwise
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import expect_settings, figure, settle, wait_until
from ui.wording import table
from viz.theme import palette

LABORATORY = "laboratory?experiment="
SENTENCE = "친구와 가치 밥을 머거요."


def boxes(page: Page, selector: str) -> list[dict[str, float]]:
    """Where the parts of a page that hold something are on the screen."""
    found = page.locator(selector).evaluate_all(
        "parts => parts.map(part => part.getBoundingClientRect().toJSON())"
    )
    found = [box for box in found if box["width"] > 0]
    assert found, selector
    return found


@pytest.mark.parametrize("path", ["", f"{LABORATORY}without", f"{LABORATORY}twins"])
def test_no_words_lie_under_the_toolbar_on_a_phone(open_page, path):
    page = open_page(path, width=390, height=844)
    covered = page.evaluate(
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


@pytest.mark.parametrize("width", [1024, 1366])
@pytest.mark.parametrize(("path", "shown"), [("growing", "growing_heads"), ("", "overview")])
def test_no_button_is_written_over_the_number_of_a_head(open_page, path, shown, width):
    page = open_page(path, width=width, height=768)
    page.locator(figure(shown)).hover()
    lowest = max(box["bottom"] for box in boxes(page, f"{figure(shown)} .modebar-btn text"))
    assert lowest <= min(box["top"] for box in boxes(page, f"{figure(shown)} .xtick text"))


def test_the_colours_of_the_heads_are_told_within_the_figure(open_page):
    page = open_page(f"{LABORATORY}without", width=390, height=844)
    (whole,) = boxes(page, figure("without_mosaic"))
    for part in boxes(page, f"{figure('without_mosaic')} :is(.cbfills, .colorbar text)"):
        assert (
            whole["left"] - 1 < part["left"] and part["right"] < whole["right"] + 1
        )  # a hair of a pixel is no overlap


def test_labels_of_tokens_do_not_run_into_one_another_on_a_phone(open_page):
    page = open_page(f"{LABORATORY}sources&sentence={SENTENCE}", width=390, height=844)
    labels = boxes(page, f"{figure('sources')} .xtick text")
    assert all(left["right"] <= right["left"] + 2 for left, right in pairwise(labels))


def test_the_last_token_of_a_road_is_wholly_in_its_cell_on_a_phone(open_page):
    page = open_page(f"{LABORATORY}fork&sentence={SENTENCE}", width=390, height=844)
    (cells,) = boxes(page, f"{figure('fork')} .heatmaplayer image")
    assert all(
        text["right"] <= cells["right"] + 1 for text in boxes(page, f"{figure('fork')} .heatmap-label text")
    )


def test_the_numbers_of_a_difference_stand_upright_above_the_legend(open_page):
    pair = "twins&twin=pair&twin_sentence=친구의 가치를 알아요.&twin_difference=1"
    page = open_page(f"{LABORATORY}{pair}&sentence={SENTENCE}", width=1366, height=768)
    numbers = boxes(page, ".colorbar .cbaxis text")
    legend = min(box["top"] for box in boxes(page, ".legendtext"))
    assert max(number["bottom"] for number in numbers) <= legend + 3


def test_the_kinds_stand_above_the_numbers_of_the_heads_in_a_lecture(open_page):
    page = open_page(f"{LABORATORY}without&lecture=1", width=1366, height=768)
    kinds = boxes(page, f"{figure('without_mosaic')} .annotation-text")
    numbers = boxes(page, f"{figure('without_mosaic')} .xtick text")
    assert max(kind["bottom"] for kind in kinds) <= min(number["top"] for number in numbers) + 3


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
    page = open_page(f"?{urlencode(chosen)}", width=1366, height=768)
    words = "-".join(corrector.correct(typed).text[:20].split())
    for ending, saves in (("png", b"\x89PNG"), ("svg", b"<svg")):
        page.locator(figure("heatmap")).hover()
        with page.expect_download() as saved:
            page.locator(".st-key-heatmap .plot").get_by_role(
                "button", name=table("ko")[f"toolbar_{ending}"]
            ).click()
        assert saved.value.suggested_filename == f"{words}-decoder-layer2-head4-attention.{ending}"
        content = saved.value.path().read_bytes()
        assert content.startswith(saves)
    drawn = content.decode()
    assert all(part in drawn for part in (words.replace("-", " "), "디코더", "2층 헤드 4"))


def test_a_colour_bar_has_each_label_once_however_a_phone_is_turned(open_page):
    page = open_page("", width=1366, height=768)
    for width, height in ((390, 844), (844, 390), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        settle(page)
        labels = page.locator(".st-key-heatmap .cbaxis text").all_text_contents()
        assert sorted(labels) == ["0", "0.5", "1"], (width, labels)


@pytest.mark.parametrize("view", [f"{LABORATORY}why", f"{LABORATORY}twins", "growing", "masks"])
def test_a_hand_is_shown_only_where_pressing_does_something(open_page, view):
    page = open_page(view, width=1366, height=768)
    hands = page.locator(".plot").evaluate_all(
        """plots => plots.flatMap(plot => {
          const keyed = plot.getRootNode().host?.closest("[class*=st-key-]") ??
            plot.closest("[class*=st-key-]");
          return [...plot.querySelectorAll(".drag, .legendtoggle")]
            .filter(part => getComputedStyle(part).cursor === "pointer")
            .map(part => [keyed.className.match(/st-key-(\\w+)/)[1],
              part.classList.contains("legendtoggle")]);
        })"""
    )
    assert {name for name, _ in hands} <= {"overview", "heatmap", "beside_heads", "growing_heads"}
    assert not any(is_legend for _, is_legend in hands)


def test_a_tile_of_the_second_pass_opens_its_head_in_both(open_page):
    page = open_page(f"{LABORATORY}twins", width=1366, height=768)
    tiles = page.locator(f"{figure('beside_heads')} .nsewdrag").first
    box = tiles.bounding_box()
    tiles.click(position={"x": box["width"] * 0.3, "y": box["height"] * 0.1})
    expect_settings(page, layer="1", head="2")


def test_a_tile_of_a_growing_network_opens_its_head(open_page):
    page = open_page("growing", width=1366, height=768)
    tiles = page.locator(f"{figure('growing_heads')} .nsewdrag").first
    box = tiles.bounding_box()
    tiles.click(position={"x": box["width"] * 0.3, "y": box["height"] * 0.75})
    expect_settings(page, layer="2", head="2")


@pytest.mark.parametrize("language", ["ko", "en"])
def test_how_well_a_method_agrees_is_not_cut_on_a_phone(open_page, language):
    page = open_page(f"{LABORATORY}sources&lang={language}&edit=1", width=390, height=844)
    expect(page.locator(f"{figure('sources')} .annotation-text")).to_have_count(8)
    notes = page.locator(f"{figure('sources')} .annotation-text")
    wait_until(page, lambda: sum("·" in text for text in notes.all_text_contents()), 7)
    (whole,) = boxes(page, figure("sources"))
    assert all(
        note["right"] <= whole["right"] for note in boxes(page, f"{figure('sources')} .annotation-text")
    )
