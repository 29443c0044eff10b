"""The older network beside the Transformer: chosen in the app, it answers for itself."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_correcting import FIRST_EXAMPLE
from tests.browser.visit import expect_heatmap, settle


@pytest.fixture(scope="module")
def recurrent():
    from model import Corrector

    return Corrector.load("seq2seq")


def test_the_recurrent_network_corrects_and_shows_its_one_map(open_page, recurrent):
    page = open_page("?layer=2&head=1")
    page.get_by_role("combobox", name="모델").click()
    page.get_by_role("option", name="순환 신경망").click()
    correction = recurrent.correct(FIRST_EXAMPLE)
    expect(page.locator(".corrected")).to_have_text(correction.text)
    expect_heatmap(page, correction.trace.cross_attention[0, 0])
    expect(page.get_by_text("어텐션 종류", exact=True)).to_have_count(0)
    page.wait_for_url("**model=seq2seq*")


def test_the_choice_goes_along_to_the_page_of_numbers(open_page):
    page = open_page("?model=seq2seq")
    page.get_by_role("link", name="모델", exact=True).click()
    expect(page.locator("h1")).to_have_text("모델")
    settle(page)
    expect(page.get_by_text("순환 신경망").first).to_be_visible()
