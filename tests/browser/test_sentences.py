"""Sentences of the page can be read to their end: above a picture, and below the correction on a phone."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.visit import changed_words, settle, wait_until
from ui.wording.texts import LANGUAGES

LONG = "오늘은 날싸가 맑라서 학꾜 아페서 국쑤를 머꼬 친구하고 공원까지 천천히 거러갔습니다."
# What of a sentence does not fit, and whether a bar beside it says that there is more.
CUT = """told => [told.scrollHeight - told.clientHeight > 1, told.offsetWidth - told.clientWidth > 0]"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [1366, 1024])
@pytest.mark.parametrize(
    "shown", [{"view": "predict"}, {"order": "entropy"}, {"order": "edit", "view": "steps"}]
)
def test_a_sentence_above_a_picture_is_whole_or_says_that_there_is_more(open_page, shown, width, language):
    asked = {"sentence": LONG, "edit": "1", "lang": language} | shown
    page = open_page(f"?{urlencode(asked)}", width=width, height=768)
    for place in page.locator(".told, .reading").all():
        is_cut, has_bar = place.evaluate(CUT)
        assert has_bar or not is_cut, place.inner_text()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_what_a_touched_change_is_about_stands_where_a_phone_shows_it(open_page, width, height):
    page = open_page(f"?{urlencode({'sentence': LONG})}", width=width, height=height)
    changed_words(page).last.click()
    settle(page)
    about = page.locator(".correction .about span").first
    expect(about).to_be_in_viewport(ratio=1)
    on_top = """each => {
      const { left, top, width, height } = each.getBoundingClientRect();
      return each.isConnected && each.getRootNode().elementFromPoint(left + width / 2, top + height / 2) === each;
    }"""
    wait_until(page, lambda: about.evaluate(on_top), True)  # nothing lies over it
    assert "→" in about.inner_text()


PARTS = (
    ".st-key-bar",
    ".st-key-live_text",
    ".st-key-correction",
    ".st-key-tabs",
    ".st-key-map",
    ".st-key-told",
    ".st-key-picture",
    ".st-key-overview",
)


def test_on_a_phone_that_is_turned_nothing_lies_over_anything(open_page):
    page = open_page(f"?{urlencode({'sentence': LONG})}", width=844, height=390)
    boxes = {place: page.locator(place).first.bounding_box() for place in PARTS}
    for place, box in boxes.items():
        for other, that in boxes.items():
            across = min(box["x"] + box["width"], that["x"] + that["width"]) - max(box["x"], that["x"])
            down = min(box["y"] + box["height"], that["y"] + that["height"]) - max(box["y"], that["y"])
            assert place == other or min(across, down) <= 1, (place, other)
