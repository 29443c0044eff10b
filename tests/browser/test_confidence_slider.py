"""Slider of the minimum confidence in a browser: keyboard, link, effect on each change."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.browser.visit import (
    changed_words,
    expect_corrected,
    expect_settings,
    offered_words,
    settings,
    toggle,
)
from viz.labels import probability


def test_a_link_and_the_slider_decide_what_is_made_and_what_is_only_offered(open_page, corrector, half_sure):
    correction = corrector.correct(half_sure)
    everything = correction.with_minimum_confidence(0)
    page = open_page(f"?{urlencode({'sentence': half_sure, 'confidence': '0'})}")
    expect_corrected(page, half_sure, everything.text)
    expect(offered_words(page)).to_have_count(0)
    changed_words(page).first.focus()
    page.keyboard.press("Enter")  # a chosen word says how sure the network is
    expect_settings(page, edit="1")
    expect(page.locator(".card .sure")).to_contain_text(probability(everything.changes[0].confidence))
    expect(changed_words(page).first).to_be_focused()
    page.keyboard.press("Escape")
    toggle(page, "settings")
    slider = page.get_by_role("slider", name="최소 확신도")
    for key, confidence in (("End", 1), ("Home", 0), ("End", 1)):
        slider.press(key)
        expect_settings(page, confidence=str(confidence))
        expect_corrected(page, half_sure, correction.with_minimum_confidence(confidence).text)
        offered = offered_words(page)
        expect(offered.first).to_be_visible() if confidence else expect(offered).to_have_count(0)


def test_moving_the_slider_quickly_between_sentences_chooses_none(open_page):
    page = open_page(f"?{urlencode({'sentence': '고갱님이 오셧어요. 나 지금 학꾜에 가.'})}")
    toggle(page, "settings")
    slider = page.get_by_role("slider", name="최소 확신도")
    for key in ("Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home", "End"):
        slider.press(key)
    expect_settings(page, confidence="1")
    assert set(settings(page)) == {"sentence", "confidence"}
