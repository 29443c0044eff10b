"""A keystroke redraws the text and its pictures; the rest of the page stays as it is, unless it shows
something of the text.
"""

from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.visit import LateAnswers, changed_words, choose, expect_settings, settle, text_area, tile
from ui.wording import table

KO = table("ko")
CONTROLS = {"button_group", "menu_button", "checkbox"}


def type_at_the_end(page, text: str) -> str:
    area = text_area(page)
    area.press("End")
    area.press_sequentially(text)
    whole = area.input_value()
    expect_settings(page, sentence=whole)
    return whole


def drawn(messages: list[ForwardMsg]) -> set[str]:
    return {
        each.delta.new_element.WhichOneof("type") or "block" for each in messages if each.HasField("delta")
    }


def columns_of_the_heatmap(page) -> int:
    return page.evaluate("document.querySelector('.st-key-heatmap .js-plotly-plot')._fullData[0].z[0].length")


def control(page, name: str, option: str):
    return page.locator(f".st-key-control_{name}").get_by_role("radio", name=option, exact=True)


def test_a_key_draws_the_text_and_its_pictures_alone(open_page):
    wire = LateAnswers()
    page = open_page("?lang=ko", late=wire)
    type_at_the_end(page, "가")
    settle(page)
    wire.answered.clear()
    text = type_at_the_end(page, "나")
    settle(page)
    assert "bidi_component" in drawn(wire.answered) and not drawn(wire.answered) & CONTROLS
    assert columns_of_the_heatmap(page) == len(text) + 1


def test_what_is_pressed_in_the_text_changes_the_controls_beside_it(open_page):
    page = open_page("?lang=ko&view=edits")
    type_at_the_end(page, " 안되요")
    changed_words(page).last.click()
    expect_settings(page, part="2", edit="1")
    choose(page, "view", KO["view_heatmap"])
    expect(control(page, "layer", "3")).to_be_checked()
    page.mouse.click(*tile(page, 1, 2))
    expect_settings(page, layer="2", head="3")
    for name, option in (("layer", "2"), ("head", "3")):
        expect(control(page, name, option)).to_be_checked()


def test_what_is_open_beside_the_text_is_drawn_with_it(open_page):
    wire = LateAnswers()
    page = open_page("?lang=ko", late=wire)
    page.get_by_text(KO["explanation"], exact=True).click()
    settle(page)
    wire.answered.clear()
    type_at_the_end(page, "가")
    settle(page)
    assert drawn(wire.answered) >= {"bidi_component", "button_group", "checkbox"}
