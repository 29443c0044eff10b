"""The older network beside the Transformer: chosen in the settings, it answers for itself on every page."""

from playwright.sync_api import expect

from tests.browser.visit import expect_corrected, expect_heatmap, expect_settings, pick, settle, toggle
from ui.shell.settings import load_examples
from ui.wording import table

FIRST_EXAMPLE = load_examples()[0].text


def test_the_recurrent_network_corrects_shows_its_one_map_and_goes_along_to_other_pages(open_page):
    from model import Corrector

    correction = Corrector.load("seq2seq").correct(FIRST_EXAMPLE)
    page = open_page("?layer=2&head=1")
    toggle(page, "settings")
    page.get_by_role("combobox", name="모델").click()
    page.get_by_role("option", name="순환 신경망").click()
    expect_settings(page, model="seq2seq")
    expect_corrected(page, FIRST_EXAMPLE, correction.text)
    expect_heatmap(page, correction.trace.cross_attention[0, 0])
    for name in ("kind", "layer", "head"):
        expect(page.locator(f".st-key-control_{name}")).to_have_count(0)
    expect(page.locator(".st-key-overview")).to_have_count(0)
    page.keyboard.press("Escape")
    pick(page, "pages", table("ko")["model_page"])
    expect(page.locator("h1")).to_have_text(table("ko")["model_page"])
    settle(page)
    expect(page.get_by_role("combobox", name="모델")).to_have_value(table("ko")["model_name_seq2seq"])
