"""Live typing in a browser: the correction follows each key, also inside a syllable.

A keystroke redraws the text and its pictures; the rest of the page stays as it is, unless it shows
something of the text.
"""

import unicodedata
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser import visit
from tests.browser.boxes import box
from tests.browser.visit import (
    LateAnswers,
    choose,
    expect_settings,
    heatmap,
    settle,
    text_area,
    wait_until,
)
from ui.shell.settings import load_examples
from ui.wording import table

KO = table("ko")
ROOT = Path(__file__).parents[2]
RECORD = """area => {
  window.heard = [];
  for (const name of ["compositionstart", "compositionend", "blur"])
    area.addEventListener(name, () => window.heard.push(name));
}"""
CURSOR = "area => [area.selectionStart, area.selectionEnd]"


def compose(session, text: str) -> None:
    session.send(
        "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
    )


def test_a_syllable_is_corrected_while_it_is_being_composed(open_page):
    page = open_page("?sentence=%EC%99%94%EC%96%B4%EC%9A%94")
    area = text_area(page)
    area.evaluate(RECORD)
    area.focus()
    area.press("Home")
    session = page.context.new_cdp_session(page)
    for text in ("ㅂ", "바", "밥"):
        compose(session, text)
    expect_settings(page, sentence="밥왔어요")
    settle(page)
    assert page.evaluate("window.heard") == ["compositionstart"]
    assert area.evaluate(CURSOR) == [1, 1]
    for text in ("바비", "바빈"):
        compose(session, text)
    session.send("Input.insertText", {"text": "바비"})
    expect_settings(page, sentence="바비왔어요")
    settle(page)
    assert page.evaluate("window.heard") == ["compositionstart", "compositionend"]
    expect(area).to_have_value("바비왔어요")
    assert area.evaluate(CURSOR) == [2, 2]


def test_fast_typing_in_the_middle_loses_nothing_and_moves_no_cursor(open_page):
    page = open_page("?sentence=%EC%B2%98%EC%9D%8C%EB%81%9D")
    area = text_area(page)
    area.evaluate("area => { area.focus(); area.setSelectionRange(2, 2); }")
    typed = "고갱님이 오셧습니다 " * 2
    # Pauses longer than the debounce: answers arrive while the next characters are typed.
    for number, character in enumerate(typed):
        page.keyboard.type(character)
        page.wait_for_timeout(360 if number % 9 == 8 else 25)
    expect_settings(page, sentence=f"처음{typed}끝")
    settle(page)
    expect(area).to_have_value(f"처음{typed}끝")
    assert area.evaluate(CURSOR) == [2 + len(typed)] * 2


def test_an_example_replaces_the_text_and_typing_goes_on_from_there(open_page):
    page = open_page()
    visit.pick(page, "examples", "띄어쓰기")
    area = text_area(page)
    expect(area).to_have_value("우리는할 수있는 만큼만 천천 히 해보기로 했다.")
    area.press("End")
    area.press_sequentially("!!")
    expect_settings(page, sentence="우리는할 수있는 만큼만 천천 히 해보기로 했다.!!")


def test_typing_goes_on_in_an_example_while_the_server_answers_late(open_page):
    late = LateAnswers()
    page = open_page(late=late)
    area = text_area(page)
    area.evaluate("area => { area.focus(); area.setSelectionRange(0, 0); }")
    late.hold()
    # Each is sent alone, the second while the page still shows the example as chosen.
    for character in "이그":
        late.asked.clear()
        page.keyboard.type(character)
        wait_until(page, lambda: len(late.asked), 2)  # its text is read ahead
    late.release()
    text = f"이그{load_examples()[0].text}"
    expect_settings(page, sentence=text)
    settle(page)
    expect(area).to_have_value(text)
    assert area.evaluate(CURSOR) == [2, 2]


def test_the_network_reads_ahead_and_who_waits_long_is_told_and_nothing_moves(open_page):
    late = LateAnswers()
    page = open_page(late=late)
    area, told = text_area(page), page.locator(".st-key-live_text [role=status]")
    late.asked.clear()
    area.press("End")
    page.keyboard.type("가")
    expect_settings(page, sentence=f"{load_examples()[0].text}가")
    ahead, text = (each.rerun_script.fragment_id for each in late.asked)  # of two parts of the page
    assert ahead and text and ahead != text
    expect(told).to_be_empty()
    late.hold()
    before = box(page, area)
    area.press_sequentially("더 ")
    expect(told).to_have_text(table("ko")["waiting_for_a_turn"])
    assert box(page, area) == before
    late.release()
    settle(page)
    expect(told).to_be_empty()


def test_what_is_typed_before_the_area_is_ready_is_kept_and_sent(open_page):
    page = open_page()
    sent = page.evaluate(
        """async source => {
          const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          const { default: live_text } = await import(url);
          const parentElement = document.createElement("div");
          parentElement.innerHTML = "<label></label><textarea></textarea><pre></pre><p></p>";
          const area = parentElement.querySelector("textarea");
          area.value = "일찍 적은 글";
          const sent = await new Promise(resolve => {
            setTimeout(resolve, 60_000, { text: "nothing was sent" });
            live_text({
              data: { text: "예문", revision: 0, label: "", placeholder: "", longest: 100 },
              parentElement,
              setStateValue: (name, value) => resolve({ [name]: value }),
            });
          });
          return { ...sent, shown: area.value };
        }""",
        (ROOT / "ui" / "components" / "live_text.js").read_text("utf-8"),
    )
    assert sent == {"text": "일찍 적은 글", "shown": "일찍 적은 글"}


def test_the_count_is_of_what_is_read_and_no_line_of_the_text_runs_under_it(open_page):
    page = open_page(f"?{urlencode({'sentence': '오늘은 날씨가 좋아서 공원에 갔습니다. ' * 24})}")
    area, count = text_area(page), page.locator(".st-key-live_text output")
    area.evaluate("area => (area.scrollTop = 0)")
    assert box(page, count).top >= box(page, area).bottom
    for text in ("그러면 안돼요.", "그러면 안돼요.🙂👍🏽"):
        area.fill(unicodedata.normalize("NFD", text))
        expect(count).to_have_text(f"{len(text)} / 2,000")


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


def test_a_key_draws_the_text_and_its_pictures_and_what_is_open_beside_them(open_page):
    wire = LateAnswers()
    page = open_page("?lang=ko", late=wire)
    type_at_the_end(page, "가")
    settle(page)
    wire.answered.clear()
    text = type_at_the_end(page, "나")
    settle(page)
    assert "bidi_component" in drawn(wire.answered) and not drawn(wire.answered) & CONTROLS
    wait_until(page, lambda: heatmap(page).shape[1], len(text) + 1)
    page.get_by_text(KO["explanation"], exact=True).click()
    settle(page)
    wire.answered.clear()
    type_at_the_end(page, "가")
    settle(page)
    assert drawn(wire.answered) >= {"bidi_component", "button_group", "checkbox"}


def test_what_is_pressed_in_the_text_changes_the_controls_beside_it(open_page):
    page = open_page("?lang=ko&view=edits")
    type_at_the_end(page, " 안되요")
    visit.changed_words(page).last.click()
    expect_settings(page, part="2", edit="1")
    choose(page, "view", KO["view_heatmap"])
    expect(page.locator(".st-key-map_choice button").first).to_contain_text("3층")
    visit.click(page, visit.tile(page, 1, 2))
    expect_settings(page, layer="2", head="3")
    expect(page.locator(".st-key-map_choice button").first).to_contain_text("2층 헤드 3")
