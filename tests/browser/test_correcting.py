"""Main page in a browser: the corrected text, its cards and list, and its attention.

The last test chooses the recurrent network in the settings.
"""

import re
import unicodedata
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from model.tables.correcting import TableCounts, correct_rows
from model.tables.rows import TableRow
from model.text.tokenizer import normalise
from tests.browser.boxes import box
from tests.browser.visit import (
    LateAnswers,
    cell,
    changed_words,
    choose,
    expect_corrected,
    expect_heatmap,
    expect_settings,
    figure,
    heatmap,
    pick,
    settle,
    text_area,
    toggle,
    wait_for,
    wait_until,
)
from ui.shell.settings import load_examples
from ui.wording import table

KO = table("ko")
FIRST_EXAMPLE = load_examples()[0].text
MISSPELT = "몇일 뒤에 할수 있어요."
SENTENCE = "손니미 완는데 방이 업쓰며 너떠캐요?"


def test_typing_a_sentence_shows_its_correction_and_its_attention(open_page, corrector):
    page = open_page()
    expect_corrected(page, FIRST_EXAMPLE, corrector.correct(FIRST_EXAMPLE).text)
    assert corrector.correct(FIRST_EXAMPLE).changes  # the app opens on something that it corrects
    text_area(page).fill("")
    text_area(page).press_sequentially(SENTENCE, delay=15)
    correction = corrector.correct(SENTENCE)
    assert correction.text != SENTENCE
    expect_corrected(page, SENTENCE, correction.text)
    bold = page.locator(".corrected ins b")
    changed = "".join(change.right for change in correction.changes)
    wait_until(page, lambda: "".join(bold.all_inner_texts()), changed)
    layers, heads = corrector.config.num_layers, corrector.config.num_heads
    choose(page, "layer", "1")
    choose(page, "kind", "인코더")
    expect_heatmap(page, correction.trace.encoder_attention[0].mean(0))
    choose(page, "layer", str(layers))
    choose(page, "head", str(heads))
    expect_heatmap(page, correction.trace.encoder_attention[-1, -1])
    for kind, weights in (
        ("디코더", correction.trace.decoder_attention),
        ("디코더→인코더", correction.trace.cross_attention),
    ):
        choose(page, "kind", kind)
        expect_heatmap(page, weights[-1, -1])
    choose(page, "head", "평균")
    expect_heatmap(page, weights[-1].mean(0))
    choose(page, "layer", "평균")
    expect_heatmap(page, weights.mean((0, 1)))


def test_axes_carry_the_tokens_and_the_hover_the_weight(open_page, corrector):
    page = open_page("?kind=cross_attention&layer=1&head=1")
    trace = corrector.correct(FIRST_EXAMPLE).trace
    expect_heatmap(page, trace.cross_attention[0, 0])
    for axis, tokens in (("y", trace.target_tokens), ("x", trace.source_tokens)):
        ticks = page.locator(f"{figure('heatmap')} .{axis}tick")
        wait_until(page, ticks.all_text_contents, list(tokens))
    row, column = len(trace.target_tokens) // 2, 2
    page.mouse.move(*cell(page, row, column))
    hover = page.locator(f"{figure('heatmap')} .hoverlayer")
    expect(hover).to_contain_text(f"{trace.cross_attention[0, 0, row, column]:.3f}")
    expect(hover).to_contain_text(f"{row + 1}: {trace.target_tokens[row]}")


def open_text(open_page, text: str, **how) -> Page:
    return open_page(f"?{urlencode({'sentence': text})}", **how)


def test_what_was_typed_is_shown_as_it_is_with_its_spaces_direction_and_layout(open_page):
    page = open_text(open_page, "나는 할수 있다. 천천 히 간다.")
    before = "each => getComputedStyle(each, '::before').content"
    for place, mark in (("ins .gap", "∨"), ("ins .closed", "⌒")):
        assert mark in page.locator(f".corrected {place}").evaluate(before), place
    lines = page.locator(".corrected del").evaluate_all(
        "all => all.flatMap(each => [each, ...each.children])"
        ".map(each => getComputedStyle(each).textDecorationLine)"
    )
    assert lines and "line-through" not in lines

    # A character that turns the direction of writing turns only the typed text.
    text_area(page).fill("\u202e거러가요.")
    expect(page.locator(".corrected del")).to_contain_text(["거러"])
    settle(page)
    typed, arrow, right = (box(page, f".corrected {part}").right for part in ("del b", "del", "ins"))
    assert typed + 10 < arrow < right

    text = "<img src=x onerror=\"document.title='hacked'\"> **고갱님** <b>$x$</b> &amp;"
    text_area(page).fill(text)
    expect_settings(page, sentence=text)
    expect(page.locator(".corrected")).to_contain_text(text.split()[0])
    expect(page.locator("img[src=x]")).to_have_count(0)
    assert page.title() != "hacked"
    expect(page.locator(".stMain strong", has_text="고갱님")).to_have_count(0)
    expect(page.locator(".corrected b", has_text="$x$")).to_have_count(0)

    text = "지금 rkrh 있어."  # the English layout
    text_area(page).fill(text)
    expect_corrected(page, text, text)
    page.locator(".corrected .offer").click()
    expect_corrected(page, text, "지금 가고 있어.")
    expect_settings(page, accepted="3-7")


def test_the_reason_stands_in_a_card_and_all_changes_are_listed_by_mouse_and_keyboard(open_page):
    page = open_text(open_page, MISSPELT)
    card = page.locator(".correction .card")
    expect(card).to_be_hidden()
    changed_words(page).first.click()
    expect(card.locator(".head")).to_contain_text("몇일 → 며칠")
    expect(card.locator(".why")).to_contain_text("한글 맞춤법 제27항 붙임 2")
    expect_settings(page, edit="1")
    settle(page)
    expect(card).to_be_visible()  # also once the page was drawn for the chosen change
    changed_words(page).first.press("Tab")
    expect(card.locator(".reject")).to_be_focused()  # before the next word
    changed_words(page).first.press("ArrowRight")
    expect(card.locator(".head")).to_contain_text("할수 → 할 수")
    expect_settings(page, edit="2")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(changed_words(page).nth(1)).to_be_focused()
    page.keyboard.press("Enter")  # and the same by keyboard alone
    expect(card.locator(".head")).to_contain_text("할수 → 할 수")
    page.keyboard.press("Tab")
    expect(card.locator(".reject")).to_be_focused()
    page.keyboard.press("Enter")
    expect_settings(page, rejected="7-7")
    expect_corrected(page, MISSPELT, "며칠 뒤에 할수 있어요.")
    expect(page.locator(".corrected .offer")).to_be_focused()  # the word, which can be corrected again
    page.keyboard.press("Enter")
    expect_corrected(page, MISSPELT, "며칠 뒤에 할 수 있어요.")
    expect(changed_words(page).nth(1)).to_be_focused()

    count, entries = page.locator(".correction .count"), page.locator(".correction .entry")
    listed = page.locator(".correction .list")
    expect(count).to_contain_text("고친 곳 2")
    count.click()
    expect(entries).to_have_count(2)
    page.locator(".correction .none").click()
    expect_corrected(page, MISSPELT, MISSPELT)
    expect(listed).to_be_hidden()
    count.click()
    expect(entries).to_have_count(2)  # the two uncorrected changes
    expect(page.locator(".correction .none")).to_have_count(0)  # nothing is left to undo
    page.locator(".correction .all").click()
    expect_corrected(page, MISSPELT, "며칠 뒤에 할 수 있어요.")
    expect(listed).to_be_hidden()


@pytest.mark.parametrize("width", [1366, 390])
def test_a_remark_stands_free_over_the_numbers_and_the_list_tells_how_sure_each_change_is(open_page, width):
    decomposed = unicodedata.normalize("NFD", "이제는 그렇게 할수박에 없습니다.")
    page = open_text(open_page, decomposed, width=width)
    changed_words(page).first.click()
    page.locator(".st-key-three_mattered button:enabled:visible").wait_for()
    remark, numbers = page.locator(".st-key-said .note"), page.locator(".st-key-measured")
    expect(remark).to_contain_text("풀어쓴 자모")
    edge = "(each, name) => each.getBoundingClientRect()[name]"
    wait_until(page, lambda: remark.evaluate(edge, "bottom") <= numbers.evaluate(edge, "top"), True)
    page.locator(".correction .count").click()
    told = page.locator(".correction .entry small")
    expect(told).to_have_text(re.compile(r"^띄어쓰기: .*확신도.* · 조사: .*확신도"))


def test_no_text_is_copied_that_is_not_the_typed_one(open_page):
    late = LateAnswers()
    page = open_text(open_page, MISSPELT, late=late)
    changed_words(page).first.wait_for()
    page.evaluate("navigator.clipboard.writeText = async (text) => (window.copied = text)")
    copy, told = page.locator(".correction .copy"), page.locator(".correction .told")
    for text in ("학꾜에 갓다. " * 80, unicodedata.normalize("NFD", "학꾜에 갓다.\n 가치 ")):
        settle(page)
        late.hold()
        text_area(page).fill(text)
        copy.click()  # the page shows the text before
        wait_until(page, told.inner_text, KO["copy_behind"])
        assert page.evaluate("window.copied") is None
        late.release()
        settle(page)
        wait_until(page, told.inner_text, "")
        copy.click()
        wait_until(page, lambda: page.evaluate("window.copied?.slice(0, 7)"), "학교에 갔다.")
        page.evaluate("window.copied = null")


def test_an_own_word_stays_in_the_browser_and_is_left_alone_in_the_next_session(open_page):
    page = open_text(open_page, MISSPELT)
    changed_words(page).first.click()
    page.locator(".card .own").click()
    expect_corrected(page, MISSPELT, "몇일 뒤에 할 수 있어요.")
    wait_until(page, lambda: page.evaluate("localStorage.attentionOwnWords"), '["몇일"]')
    page.reload()
    expect_corrected(page, MISSPELT, "몇일 뒤에 할 수 있어요.")
    assert "몇일" not in page.url.replace(quote(MISSPELT), "")
    toggle(page, "settings")  # a word typed into them is kept when Escape closes them
    own_words = page.get_by_role("textbox", name="그대로 둘 낱말")
    own_words.fill("")
    page.keyboard.press("Escape")
    expect_corrected(page, MISSPELT, "며칠 뒤에 할 수 있어요.")
    toggle(page, "settings")
    own_words.click()
    page.keyboard.insert_text("몇일")
    expect(page.get_by_text("Ctrl+Enter")).to_be_hidden()
    page.keyboard.press("Escape")
    expect_corrected(page, MISSPELT, "몇일 뒤에 할 수 있어요.")
    page.evaluate("localStorage.removeItem('attentionOwnWords')")


def test_a_word_with_two_changes_is_listed_and_offered_with_both(open_page):
    text = "할수업서요."
    page = open_text(open_page, text)
    count, entries = page.locator(".correction .count"), page.locator(".correction .entry")
    expect_corrected(page, text, "할 수 없어요.")
    expect(count).to_contain_text("고친 곳 1")
    count.click()
    expect(entries).to_contain_text(["할수업서요. → 할 수 없어요."])
    page.locator(".correction .none").press("Enter")
    expect_corrected(page, text, text)
    expect(count).to_be_focused()
    expect(count).to_contain_text("고치지 않음 1")
    count.press("Enter")
    expect(entries).to_contain_text(["할수업서요. → 할 수 없어요."])
    entries.press("Enter")
    expect(page.locator(".corrected .offer")).to_be_focused()
    expect_corrected(page, text, text)
    page.keyboard.press("Enter")
    expect_corrected(page, text, "할 수 없어요.")


COMPOSED = [
    "비용을 청구할수박에 없습니다.",
    "녹물이 나올떼는 물을 흘려보내세요.",
    "그러면 안되요. 할수업서요. 몇일 뒤에 할수 있어요.",
    unicodedata.normalize("NFD", "어제 친구랑 가치 영화를 봤는데 정말 재미있었써요. 손님이 오셧어요."),
]


def test_number_list_underlined_words_kinds_and_copied_text_are_those_of_a_corrected_file(
    open_page, corrector
):
    page = open_page()
    for text in COMPOSED:
        text_area(page).fill(text)
        (row,), counts = list(correct_rows(corrector, [TableRow(1, text)])), TableCounts()
        counts.add(row)
        expect_corrected(page, normalise(text), row.corrected)
        number, kinds = len(row.kinds), {kind: times for kind, times in counts.by_kind().items() if times}
        assert sum(kinds.values()) == number
        expect(changed_words(page)).to_have_count(number)
        expect(page.locator(".correction .count b")).to_have_text(f"고친 곳 {number}")
        wanted = sorted(f"{KO[f'mistake_{kind}']} {times}" for kind, times in kinds.items())
        shown = page.locator(".correction .count .kind")
        wait_until(page, lambda shown=shown: sorted(shown.all_inner_texts()), wanted)
        page.locator(".correction .count").click()
        expect(page.locator(".correction .entry")).to_have_count(number)
        page.locator(".correction .count").click()
        copied = page.locator(".correction")
        wait_until(page, lambda copied=copied: copied.evaluate("root => root.data.text"), row.corrected)


LONG = "친구랑 가치 영화를 봤습니다. " * 60 + MISSPELT
IN_SIGHT = """each => {
  const { top, bottom } = each.getBoundingClientRect();
  return each.isConnected && top >= 0 && bottom <= innerHeight;
}"""
SIZES = ((1366, 768), (390, 844))


def test_the_list_is_walked_by_keys_and_an_entry_brings_its_word_its_card_and_its_numbers_into_sight(
    open_page,
):
    page = open_text(open_page, LONG, width=1366, height=768)
    count, entries = page.locator(".correction .count"), page.locator(".correction .entry")
    count.press("Enter")
    for key, number in (("Tab", 0), ("ArrowDown", 1), ("ArrowUp", 0)):
        page.keyboard.press(key)
        expect(entries.nth(number)).to_be_focused()
    page.keyboard.press("Escape")
    expect(count).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(entries.first).to_be_focused()
    page.keyboard.press("Escape")
    before = box(page, ".correction .bar")
    page.locator(".correction .copy").click()
    expect(page.locator(".correction [role=status]")).to_contain_text("복사했습니다")
    assert box(page, ".correction .bar") == before

    word, numbers = page.locator(".change[aria-expanded=true]"), page.locator(".st-key-three_numbers")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for number in (40, -1, 3):
            count.click()
            entries.nth(number).click()
            settle(page)
            page.locator(".st-key-three_mattered button:enabled:visible").wait_for()
            for part in (word, page.locator(".correction .card"), numbers):
                wait_until(page, lambda part=part: part.evaluate(IN_SIGHT), True)
            wait_for(page, lambda: box(page, word).top < box(page, numbers).top)
            page.keyboard.press("Escape")


def test_neither_list_nor_card_lies_over_what_is_needed(open_page):
    long = "어제 친구랑 가치 영화를 봤는데 정말 재미있었써요. 몇일 뒤에 할수 있어요. 손님이 오셧어요."
    page = open_text(open_page, long)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        page.locator(".correction .count").click()
        assert box(page, ".correction .list").top >= box(page, ".correction .copy").bottom - 1
        for entry in page.locator(".correction .list li").all():
            marker, text = box(page, entry), box(page, entry.locator("bdi"))
            assert abs(marker.top - text.top) < 6  # the number is beside the first line
        page.keyboard.press("Escape")
        for word in changed_words(page).all():
            word.click()
            expect(page.locator(".correction .card")).to_be_visible()
            settle(page)
            wait_for(page, lambda word=word: covers_nothing(page, word))
            page.keyboard.press("Escape")


def covers_nothing(page: Page, word: Locator) -> bool:
    """Whether the card keeps off the typed text, the menus, the copy button, its word and the numbers."""
    shown = ".correction .card", ".correction .copy", ".st-key-three_numbers"
    card, copy, numbers = (box(page, each) for each in shown)
    is_below = card.top >= max(copy.bottom, box(page, word).bottom) - 1
    return is_below and not numbers.top - card.height < card.top < numbers.bottom - 1


def test_what_is_chosen_in_a_sentence_does_not_outlive_it(open_page):
    page = open_page("?cell=1,1&edit=1")
    expect(changed_words(page).first).to_have_attribute("aria-pressed", "true")
    text_area(page).press("End")
    page.keyboard.type("!")
    expect_settings(page, sentence=FIRST_EXAMPLE + "!", cell=None, edit=None)
    expect(changed_words(page).first).to_have_attribute("aria-pressed", "false")


def test_a_link_opens_the_same_view(open_page):
    page = open_page()
    choose(page, "kind", "디코더")
    choose(page, "head", "2")
    text = "고갱님이 오셧어요. 바비 마싯다."
    text_area(page).fill(text)
    expect_settings(page, sentence=text, kind="decoder_attention", head="2")
    page.locator(".corrected .sentence").last.click()
    expect_settings(page, part="2")
    shown = heatmap(page, figure("heatmap"))
    copy = open_page(f"?{page.url.partition('?')[2]}", on=page)
    expect_heatmap(copy, shown)
    expect(text_area(copy)).to_have_value(text)
    expect(copy.locator(".corrected .sentence").last).to_have_attribute("aria-pressed", "true")


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
    expect(page.locator(".st-key-map_choice")).to_have_count(0)  # only one map, so no choice
    expect(page.locator(".st-key-overview")).to_have_count(0)
    page.keyboard.press("Escape")
    pick(page, "pages", table("ko")["model_page"])
    expect(page.locator("h1")).to_have_text(table("ko")["model_page"])
    settle(page)
    expect(page.get_by_role("combobox", name="모델")).to_have_value(table("ko")["model_name_seq2seq"])
