"""The minimum confidence in a real browser: by keyboard, by link, and what each mark tells."""

from playwright.sync_api import expect

from tests.browser.visit import settle

SENTENCE = "오늘은 날싸가 맑라서 공원에서 잠깐 쉬엇어요."
ADDRESS = (
    "?sentence=%EC%98%A4%EB%8A%98%EC%9D%80%20%EB%82%A0%EC%8B%B8%EA%B0%80%20%EB%A7%91%EB%9D%BC%EC%84%9C%20"
)
ADDRESS += "%EA%B3%B5%EC%9B%90%EC%97%90%EC%84%9C%20%EC%9E%A0%EA%B9%90%20%EC%89%AC%EC%97%87%EC%96%B4%EC%9A%94."


def test_the_slider_leaves_undone_what_is_less_sure(open_page, corrector):
    correction = corrector.correct(SENTENCE)
    assert correction.proposed
    page = open_page(ADDRESS)
    expect(page.locator(".corrected")).to_have_text(correction.text)
    slider = page.get_by_role("slider", name="최소 확신도")
    slider.press("Home")
    expect(page.locator(".corrected")).to_have_text(correction.with_minimum_confidence(0).text)
    settle(page)
    slider.press("End")
    expect(page.locator(".corrected")).to_have_text(correction.with_minimum_confidence(1).text)
    page.wait_for_url("**confidence=1*")
    expect(page.get_by_text("고려했지만 고치지 않음")).to_be_visible()


def test_a_link_carries_the_minimum_confidence(open_page, corrector):
    page = open_page(f"{ADDRESS}&confidence=0")
    everything = corrector.correct(SENTENCE).with_minimum_confidence(0)
    expect(page.locator(".corrected")).to_have_text(everything.text)
    notes = page.locator(".corrected ins").evaluate_all("marks => marks.map(mark => mark.title)")
    assert notes == [
        f"이렇게 고칠 확률 {c.fix_probability:.2f}, 그대로 둘 확률 {c.keep_probability:.2f}"
        for c in everything.changes
        if c.right
    ]


def test_a_mark_tells_its_probabilities_to_a_keyboard_too(open_page):
    page = open_page(f"{ADDRESS}&confidence=0")
    mark = page.locator(".corrected ins").first
    mark.focus()
    shown = mark.evaluate("mark => getComputedStyle(mark, '::after').content")
    assert "이렇게 고칠 확률" in shown
