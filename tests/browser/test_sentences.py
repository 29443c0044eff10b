"""Sentences around the pictures in a browser: shown whole, with nothing over them."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box, boxes, overlapping
from tests.browser.visit import (
    BROKEN_WORDS,
    changed_words,
    expect_settings,
    figure,
    settle,
    toggle,
    wait_for,
    wait_until,
)
from viz.browser.texts import LANGUAGES

LONG = "오늘은 날싸가 맑라서 학꾜 아페서 국쑤를 머꼬 친구하고 공원까지 천천히 거러갔습니다."
IS_CUT = "told => told.scrollHeight - told.clientHeight > 1"
LENGTHEN = "told => { told.textContent = `${told.textContent} `.repeat(4) }"


@pytest.mark.parametrize(
    "shown",
    [
        {"view": "predict", "lang": "ko"},
        {"order": "entropy", "lang": "en"},
        {"order": "edit", "view": "steps", "lang": "ko"},
    ],
)
def test_a_sentence_above_a_picture_is_whole(open_page, shown):
    asked = {"sentence": LONG, "edit": "1"} | shown
    page = open_page(f"?{urlencode(asked)}", width=1366, height=768)
    told = page.locator(".told, .reading")
    for lengthened in (False, True):  # other networks and texts have longer ones
        if lengthened:
            told.evaluate_all(f"all => all.forEach({LENGTHEN})")
        for width in (1366, 1024):
            page.set_viewport_size({"width": width, "height": 768})
            settle(page)
            for place in told.all():
                assert place.evaluate("told => getComputedStyle(told).wordBreak") == "keep-all"
                assert not place.evaluate(IS_CUT), place.inner_text()


@pytest.mark.parametrize(("language", "sentences"), [("en", 1), ("ko", 3)])
def test_what_a_touched_change_is_about_stands_where_a_phone_shows_it(open_page, language, sentences):
    asked = {"sentence": " ".join([LONG] * sentences), "lang": language}
    page = open_page(f"?{urlencode(asked)}", width=360, height=740)
    for width, height in ((360, 740), (390, 844), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        scroll_to_picture(page)
        change = changed_words(page).last
        expect(change).to_be_in_viewport(ratio=1)  # the text comes along, and of a long one its end
        high = box(page, ".correction").height
        change.click()
        settle(page)
        expect(page.locator(".card .head")).to_contain_text("→")
        expect(page.locator(".card")).to_be_in_viewport(ratio=1)
        for part in (".corrected", ".card"):
            expect(page.locator(part)).to_have_css("word-break", "keep-all")
        # The picture has not moved.
        wait_until(page, lambda high=high: box(page, ".correction").height, high)
        change.click()  # it is let go
        expect_settings(page, edit=None)


def scroll_to_picture(page: Page) -> None:
    page.wait_for_selector(figure("heatmap"))
    page.locator(".stMain").evaluate(
        "(main, picture) => main.scrollBy(0, main.querySelector(picture).getBoundingClientRect().top - 20)",
        figure("heatmap"),
    )


def test_a_long_text_leaves_a_phone_room_for_the_picture(look_at):
    page = look_at(f"?{urlencode({'sentence': ' '.join([LONG] * 3)})}", width=390, height=844)
    scroll_to_picture(page)
    assert box(page, ".st-key-writing").height > 700
    wait_until(page, lambda: box(page, ".st-key-writing").top < -100, True)
    assert box(page, ".st-key-writing").bottom < 0.62 * 844


def test_what_opens_on_a_turned_phone_has_the_height_of_the_window(open_page):
    page = open_page("?lang=en", width=844, height=390)
    body = page.get_by_test_id("stPopoverBody")
    for opened in ("settings", "view_options", "taking"):
        toggle(page, opened)
        settle(page)
        expect(body).to_be_in_viewport(ratio=1)
        cut = body.evaluate("body => body.scrollHeight - body.clientHeight")
        assert cut <= 1 or box(page, body).height > 0.9 * 390, opened
        # A page that is being drawn may miss the first press.
        wait_until(page, lambda: page.keyboard.press("Escape") or body.count(), 0)


PREDICTED = "?view=predict&edit=1&marks=2&revealed=1"


@pytest.mark.parametrize(
    "path", [PREDICTED, "laboratory?experiment=receipts", "classroom", "heads", "masks", "growing"]
)
def test_no_korean_word_is_broken_on_a_phone(look_at, path):
    page = look_at(path, width=390, height=844)
    for fold in page.get_by_test_id("stExpander").locator("summary").all():
        fold.click()
        settle(page)
    texts = page.locator("h1, h2, h3, p, li, th, td, label, button, span, strong")
    wait_for(page, texts.count, lambda count: count > 20)
    assert texts.evaluate_all(BROKEN_WORDS) == []


PARTS = "pages tools theme_change live_text correction tabs map told picture overview"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("width", "height"), [(360, 740), (844, 390), (1024, 768), (1180, 820)])
def test_nothing_lies_over_anything_and_all_controls_are_within_the_window(look_at, width, height, language):
    asked = {"sentence": LONG, "lang": language, "edit": "1"}
    page = look_at(f"?{urlencode(asked)}", width=width, height=height)
    parts = {name: box(page, f".st-key-{name}") for name in PARTS.split()}
    (letters,) = boxes(page, ".product")
    title = letters._replace(right=min(letters.right, box(page, ".product").right))
    assert overlapping(parts | {"title": title}) == []
    column = parts["map"].right
    assert all(each.right <= column + 1 for each in boxes(page, ".st-key-map :is(button, [role=radio])"))
    assert page.locator(".stMain").evaluate("main => main.scrollWidth <= main.clientWidth")
