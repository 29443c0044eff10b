"""Figures as a browser shows them: their clickable parts, both themes, and saved pictures."""

from urllib.parse import urlencode

import pytest

from tests.browser.boxes import box
from tests.browser.visit import click, expect_settings, figure, wait_until
from ui.wording import table
from viz.theme import palette

LABORATORY = "laboratory?experiment="
LAPTOP = {"width": 1366, "height": 768}


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
    at = box(page, drawn)
    click(page, (at.left + 0.3 * at.width, at.top + down * at.height))
    expect_settings(page, layer=opened, head="2")
