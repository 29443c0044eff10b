"""From a typed sentence to its correction and to the numbers of its attention, in a real browser."""

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser.visit import expect_heatmap, figure, heatmap, settle
from ui import examples

FIRST_EXAMPLE = examples.load()[0].text
SENTENCE = "손니미 완는데 방이 업쓰며 너떠캐요?"
KINDS = {"인코더": "encoder_attention", "디코더": "decoder_attention", "디코더→인코더": "cross_attention"}
NOTHING_TO_CORRECT = {
    "": "아직 적은 글이 없습니다",
    "Hello, world!": "한글이 없어서",
    "   ": "아직 적은 글이 없습니다",
    "🙂🎉👨‍👩‍👧": "한글이 없어서",
}


def choose(page: Page, label: str, option: str) -> None:
    """Press one option of a segmented control, as a visitor finds it: by its label and its text."""
    group = page.get_by_test_id("stButtonGroup").filter(has=page.get_by_text(label, exact=True))
    group.get_by_role("radio", name=option, exact=True).click()


def write(page: Page, text: str) -> None:
    area = page.get_by_label("고칠 글")
    area.fill("")
    area.press_sequentially(text, delay=15)


def test_typing_a_sentence_shows_its_correction_and_its_attention(open_page, corrector):
    page = open_page("?layer=1&sentence=%EB%84%A4")
    write(page, SENTENCE)
    correction = corrector.correct(SENTENCE)
    assert correction.text != SENTENCE
    expect(page.locator(".corrected")).to_have_text(correction.text)
    expect(page.locator(".typed")).to_have_text(SENTENCE)
    assert page.locator(".corrected ins").all_inner_texts() == [
        c.right for c in correction.changes if c.right
    ]
    layers, heads = corrector.config.num_layers, corrector.config.num_heads
    for number, (option, kind) in enumerate(KINDS.items()):
        weights = correction.trace.attention(kind)
        choose(page, "어텐션 종류", option)
        expect_heatmap(page, weights[0].mean(0) if number == 0 else weights[-1, -1])
        choose(page, "층", str(layers))
        choose(page, "헤드", str(heads))
        expect_heatmap(page, weights[-1, -1])
    choose(page, "헤드", "평균")
    expect_heatmap(page, weights[-1].mean(0))
    choose(page, "층", "1")
    expect_heatmap(page, weights[0].mean(0))


def test_axes_carry_the_tokens_and_the_hover_the_weight(open_page, corrector):
    page = open_page("?kind=cross_attention&layer=1&head=1")
    trace = corrector.correct(FIRST_EXAMPLE).trace
    expect_heatmap(page, trace.cross_attention[0, 0])
    rows = page.locator(f"{figure('heatmap')} .ytick").all_text_contents()
    columns = page.locator(f"{figure('heatmap')} .xtick").all_text_contents()
    assert rows == list(trace.target_tokens)
    assert columns == list(trace.source_tokens)
    row, column = len(rows) // 2, 2
    cell = page.evaluate(
        """([place, row, column]) => {
          const figure = document.querySelector(place);
          figure.scrollIntoView({block: "center"});
          const {xaxis, yaxis} = figure._fullLayout, box = figure.getBoundingClientRect();
          return [box.x + xaxis._offset + xaxis.d2p(column), box.y + yaxis._offset + yaxis.d2p(row)];
        }""",
        [figure("heatmap"), row, column],
    )
    page.mouse.move(*cell)
    expect(page.locator(f"{figure('heatmap')} .hoverlayer")).to_contain_text(
        f"{trace.cross_attention[0, 0, row, column]:.3f}"
    )


def test_it_opens_on_an_example_that_is_corrected(open_page, corrector):
    correction = corrector.correct(FIRST_EXAMPLE)
    assert correction.changes
    page = open_page()
    expect(page.locator(".typed")).to_have_text(FIRST_EXAMPLE)
    expect(page.locator(".corrected")).to_have_text(correction.text)


def test_a_link_opens_the_same_view(open_page, corrector):
    page = open_page()
    choose(page, "어텐션 종류", "디코더")
    choose(page, "헤드", "2")
    write(page, "고갱님이 오셧어요. 바비 마싯다.")
    expect(page.get_by_text("살펴볼 문장")).to_be_visible()
    page.wait_for_url("**/?*sentence=*")
    settle(page)
    page.wait_for_timeout(500)
    shown = heatmap(page, figure("heatmap"))
    copy = open_page(page.url.split("/")[-1])
    expect_heatmap(copy, shown)
    expect(copy.get_by_label("고칠 글")).to_have_value("고갱님이 오셧어요. 바비 마싯다.")


def test_typed_html_stays_text(open_page):
    page = open_page("?sentence=%EB%84%A4")
    text = "<img src=x onerror=\"document.title='hacked'\"> **고갱님** <b>$x$</b> &amp;"
    write(page, text)
    expect(page.locator(".typed")).to_have_text(text)
    settle(page)
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "hacked"
    assert page.locator(".stMain strong", has_text="고갱님").count() == 0


def test_input_with_nothing_to_correct_is_explained(open_page):
    page = open_page()
    expect(page.get_by_label("고칠 글")).not_to_have_value("")  # what is not there yet cannot be taken away
    for text, message in NOTHING_TO_CORRECT.items():
        page.get_by_label("고칠 글").fill(text)
        # While a run goes on, the message before it still stands beside the new one.
        expect(page.get_by_test_id("stAlert")).to_contain_text([message])
        expect(page.get_by_label("고칠 글")).to_have_value(text)


def test_a_long_sentence_is_read_in_parts(open_page):
    text = "우리는 어제 학교에서 머글 것을 차잣고 " * 22  # about 512 tokens
    page = open_page()
    page.get_by_label("고칠 글").fill(text)
    expect(page.get_by_label("살펴볼 문장")).to_be_visible()
    expect(page.locator(".typed")).to_have_text(text)
    settle(page)
    assert max(heatmap(page, figure("heatmap")).shape) <= 129


def test_an_over_long_sentence_says_how_long_is_allowed_and_keeps_the_text(open_page, corrector):
    limit = corrector.config.max_length
    text = "가나다라마바사아자차" * (limit // 10 + 1)
    page = open_page()
    page.get_by_label("고칠 글").fill(text)
    expect(page.get_by_test_id("stAlert").first).to_contain_text(
        f"{len(text)}자가 띄어쓰기 없이 이어집니다. 띄어쓰기 없이는 {limit}자까지"
    )
    expect(page.get_by_label("고칠 글")).to_have_value(text)


def test_positional_encoding_at_its_largest(open_page):
    from model.positions import positional_encoding

    page = open_page("positions?positions=512&dimensions=512")
    np.testing.assert_array_equal(heatmap(page), positional_encoding(512, 512))
