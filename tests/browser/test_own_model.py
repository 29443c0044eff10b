"""A visitor's own model: typed into, drawn, and chosen by default."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import choose, expect_corrected, expect_heatmap, expect_settings, write
from tests.own_model import RIGHT, WRONG, Speller
from tests.serving import serving
from ui.wording import table

EN = table("en")


@pytest.fixture(scope="module")
def server():
    with serving(ATTENTION_MODEL="tests.own_model:Speller") as address:
        yield address


def test_what_is_typed_is_answered_by_the_model_that_was_named(open_page):
    page = open_page("?lang=en&sentence=a")
    write(page, WRONG)
    expect_settings(page, sentence=WRONG, model=None)
    expect_corrected(page, WRONG, RIGHT)
    expect_heatmap(page, Speller().trace(WRONG, RIGHT).cross_attention[2].mean(axis=0))
    choose(page, "kind", EN["kind_decoder_attention"])
    choose(page, "head", "4")
    expect_settings(page, head="4")
    expect_heatmap(page, Speller().trace(WRONG, RIGHT).decoder_attention[0, 3])
    expect(page.get_by_text(EN["tokens_are_pieces"])).to_be_visible()
    assert page.requested_elsewhere == []
