"""Step-by-step player (``steps.js``): numbers, texts, moving by hand and playing."""

import json
import re
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.text.changes import find_changes
from model.trace.trace import Selection
from tests.browser.boxes import box
from tests.browser.site_pages import visiting
from tests.ui.fake_corrector import one_map_trace, propose, random_trace
from ui.wording import table
from viz.browser import steps
from viz.browser.steps import steps_data

SOURCE, TARGET = "고갱이 왓다", "고객이 왔다"
STEPS = len(TARGET) + 1
# Nothing in it may look like the end of a script, so "<" is written as JSON can write it.
PAGE = """<!doctype html><html lang="ko"><meta charset="utf-8"><title>steps</title>
<style>body {{ background: {ground} }} {style}</style><main></main>
<script type="module">
  const file = new Blob([{script}], {{ type: "text/javascript" }});
  const {{ default: draw }} = await import(URL.createObjectURL(file));
  window.reports = [];
  window.show = (data) => draw({{
    data,
    parentElement: document.querySelector("main"),
    setStateValue: (name, value) => window.reports.push([name, value]),
    setTriggerValue: (name, value) => window.reports.push([name, value]),
  }});
  window.stop = window.show({data});
</script></html>"""


def data_of(source=SOURCE, target=TARGET, trace=None, language="ko", changes=None, **options) -> dict:
    trace = trace or random_trace(source, target)
    changes = propose(source) if changes is None else changes
    selection = options.pop("selection", Selection("cross_attention"))
    options = {"weights": partial(selection.weights, trace), "place": "2층", "step": 1} | options
    return steps_data(lambda key, /, **v: table(language)[key].format(**v), trace, changes, **options)


def in_script(value: object) -> str:
    return json.dumps(value).replace("<", "\\u003c")


def answer(page: Page, data: dict) -> None:
    """The page around the player answers with other data."""
    page.evaluate("data => window.show(data)", data)


@pytest.fixture
def show(browser, tmp_path):
    """Opens the player in a page without Streamlit, with a clock that the test moves."""
    with ExitStack() as after:

        def open_with(data: dict, *, frozen: bool = True, **options) -> Page:
            page = after.enter_context(visiting(browser, **options))
            if frozen:
                page.clock.install(time=0)
            look = {"ground": data["colours"]["sequential"][0], "style": steps.STEPS.css}
            file = tmp_path / "steps.html"
            file.write_text(
                PAGE.format(**look, script=in_script(steps.STEPS.js), data=in_script(data)), "utf-8"
            )
            page.goto(file.as_uri())
            page.wait_for_selector(".steps .cell")
            if frozen:
                page.clock.pause_at(60_000)
            return page

        yield open_with


def reports(page: Page) -> list:
    return page.evaluate("window.reports")


def written(page: Page) -> str:
    return "".join(page.locator(".written .token").all_text_contents())


def position(page: Page, step: int, count: int = STEPS):
    expect(page.locator(".position")).to_have_text(f"{step} / {count}단계")


def button(page: Page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def test_a_step_shows_what_is_written_and_the_numbers_of_the_trace(show):
    trace = random_trace(SOURCE, TARGET)
    page = show(data_of(trace=trace, step=5, selection=Selection("cross_attention", 1, 2)))
    assert written(page) == "고객이 왔"
    assert page.locator(".written ins").all_text_contents() == ["객", "왔"]
    for place, kind in enumerate(("cross_attention", "decoder_attention")):
        weights = Selection(kind, 1, 2).weights(trace)[4]
        strip = page.locator(".body.strip").nth(place)
        marked = strip.locator(".strongest .number").all_text_contents()
        expected = [place for place in np.sort(np.argsort(-weights)[:3]) if weights[place] >= 0.01]
        assert marked == [f"{weights[place]:.3f}" for place in expected]
    assert strip.locator(".hatched").count() == STEPS - 5
    assert page.complaints == []


def test_a_change_is_weighed_against_leaving_the_text_alone(show):
    data = data_of(step=2)
    data["probabilities"][1] = 0.97
    page = show(data)
    expect(page.locator(".of-decision .remark")).to_be_empty()
    expect(page.locator(".part:visible")).to_have_count(0)  # this page cannot ask for another candidate
    assert page.locator(".decision .value").all_text_contents() == ["0.970", "0.010"]
    expect(page.locator(".of-decision .heading")).to_contain_text("‘갱’→‘객’")
    button(page, "다음").click()
    expect(page.locator(".of-decision .heading")).to_have_text("베껴 쓰는 단계")
    assert page.locator(".decision .row").count() == 1
    page.locator("input").press("End")
    expect(page.locator(".of-decision .heading")).to_have_text("글을 끝내는 단계")


def test_another_candidate_can_be_chosen_and_keeps_the_focus(show):
    data = data_of(step=2, may_part=True)
    page = show(data)
    offered = page.locator(".candidates .part:visible")
    assert offered.count() == len(data["alternatives"][1]) - (data["produced"][1] >= 0)
    offered.last.press("Enter")
    answer(page, data)  # the page answers
    expect(offered.last).to_be_focused()
    button(page, table("ko")["steps_part_kept"]).click()
    places = [place for place in range(len(data["alternatives"][1])) if place != data["produced"][1]]
    assert reports(page) == [["parted", [2, places[-1]]], ["parted", [2, -1]]]
    button(page, "다음").click()
    expect(page.locator(".decision .part:visible")).to_have_count(0)  # nothing was typed differently here


def test_a_probability_from_another_answer_than_the_text_shown_says_so(show):
    data = data_of("가나", "다라", changes=find_changes("가나", "다라"), step=1)
    data["changes"][0] |= {"fix": 0.72, "keep": 0.1}
    data["probabilities"][:2] = [0.9, 0.8]
    page = show(data)
    product = table("ko")["steps_fix_product"].format(count=2)
    expect(page.locator(".of-decision .remark")).to_have_text(product)
    data["revision"], data["probabilities"][1] = "undone", 0.3
    answer(page, data)
    expect(page.locator(".of-decision .remark")).to_have_text(
        f"{product} {table('ko')['steps_fix_elsewhere']}"
    )


def test_candidates_are_labelled_and_a_written_one_that_is_not_the_most_probable_is_told(show):
    data = data_of(step=1)
    page = show(data)
    candidates = page.locator(".candidates")
    expect(candidates.locator(".sign")).to_have_text(["고", "갈"])
    expect(candidates.locator(".value")).to_have_text(["0.750", "0.250"])
    expect(candidates.locator(".chosen .sign")).to_have_text(["고"])
    expect(candidates.locator(".chosen .note")).to_have_text("← 쓴 글자")
    remark = page.locator(".of-candidates .remark")
    expect(remark).to_be_empty()
    data["produced"][0], data["probabilities"][0] = -1, 0.04
    data["alternatives"][0] = ["가", "나"]
    answer(page, data | {"revision": "other"})
    expect(candidates.locator(".sign")).to_have_text(["가", "나", "고"])
    expect(remark).to_contain_text("‘가’ 자 0.750, 글에 쓴 것은 ‘고’ 자 0.040")


def test_typed_text_stays_text(show):
    typed = "<img src=x>{step}"
    page = show(data_of(typed, typed, step=len(typed) + 1))
    page.locator("input").press("ArrowLeft")
    assert written(page) == typed
    assert page.locator("img").count() == 0
    expect(page.locator(".words")).to_contain_text("‘}’ 자")


def test_a_recurrent_network_shows_the_source_alone(show):
    page = show(data_of(trace=one_map_trace(SOURCE, TARGET), selection=Selection("cross_attention", 0, 0)))
    expect(page.locator(".of-source")).to_be_visible()
    expect(page.locator(".of-self")).to_be_hidden()


@pytest.mark.parametrize("length", [120, 512])
def test_long_sentences_fold_what_is_far_away(show, length):
    source, target = "갱" + "가" * (length - 1), "객" + "가" * (length - 1)
    data = data_of(source, target, changes=find_changes(source, target), step=length // 2)
    page = show(data, width=390, frozen=False)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".cell").count() < 120
    shown = page.locator(".body.strip >> nth=0").locator(".cell:not(.folded)").count()
    folded = page.locator(".body.strip >> nth=0").locator(".folded .sign").all_text_contents()
    assert shown + sum(int(text.strip("⋯")) for text in folded) == length + 1


def test_bars_only_slide_for_those_who_want_motion(show):
    duration = "bar => getComputedStyle(bar).transitionDuration"
    for motion, expected in (("reduce", "0s"), ("no-preference", "0.25s")):
        page = show(data_of(), reduced_motion=motion)
        assert page.locator(".filled").first.evaluate(duration) == expected


def test_the_step_can_be_taken_along(show):
    data = data_of(step=2)
    data["picture"]["font_file"] = None
    page = show(data, frozen=False)
    for kind, begin in (("PNG", b"\x89PNG"), ("SVG", b"<")):
        with page.expect_download() as download:
            button(page, f"{kind} 내려받기").click()
        content = download.value.path().read_bytes()
        assert download.value.suggested_filename == f"steps.{kind.lower()}"
        assert content.startswith(begin)
    text = re.sub(r"<[^>]+>", " ", content.decode())
    assert all(word in text for word in ("고객", "0.970", "0.010", "갈"))


def test_moving_by_hand_reports_once_and_says_the_step_after_a_rest(show):
    page = show(data_of())
    page.locator("input").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    position(page, 4)
    page.clock.run_for(400)
    assert reports(page) == []
    expect(page.locator(".live")).to_be_empty()
    page.clock.run_for(200)
    assert reports(page) == [["step", 4]]
    expect(page.locator(".live")).to_contain_text("4단계: 빈칸(␣) 자리")
    button(page, "이전").click()
    button(page, "다음").click()
    page.clock.run_for(600)
    assert reports(page) == [["step", 4]]


def test_playing_steps_to_the_end_and_reports_only_there(show):
    page = show(data_of())
    button(page, "재생").click()
    expect(button(page, "멈춤")).to_be_visible()
    assert page.locator("[aria-live], output, [role=status]").count() == 1  # and that one is silent:
    page.clock.run_for(700 * (STEPS - 3))
    position(page, STEPS - 1)
    assert reports(page) == []
    expect(page.locator(".live")).to_be_empty()
    page.clock.run_for(1300)
    position(page, STEPS)
    expect(button(page, "재생")).to_be_visible()
    assert reports(page) == [["step", STEPS]]
    button(page, "재생").click()
    position(page, 1)
    button(page, "멈춤").click()
    page.clock.run_for(5000)
    position(page, 1)
    assert reports(page)[-1] == ["step", 1]
    for name in ("멈춤", "재생"):
        page.locator("input").press("Space")
        expect(button(page, name)).to_be_visible()


def test_changes_are_ticks_and_can_be_jumped_to(show):
    page = show(data_of())
    assert page.locator(".tick").count() == 2
    button(page, "다음 고친 곳").click()
    position(page, 2)
    page.keyboard.press("n")
    position(page, 5)
    expect(button(page, "다음 고친 곳")).to_be_disabled()
    # A Korean keyboard writes another character with the same key.
    page.locator("input").dispatch_event("keydown", {"key": "ㅔ", "code": "KeyP"})
    position(page, 2)
    tick = box(page, ".tick")
    thumb = page.locator("input").evaluate(
        """range => {
          const thumb = 1.15 * parseFloat(getComputedStyle(document.documentElement).fontSize);
          const { left, width } = range.getBoundingClientRect();
          return left + thumb / 2 + (width - thumb) * (range.value - range.min) / (range.max - range.min);
        }"""
    )
    assert (tick.left + tick.right) / 2 == pytest.approx(thumb, abs=1)


def test_the_browser_leads_until_another_sentence_comes(show):
    page = show(data_of())
    button(page, "다음").click()
    answer(page, data_of(step=6, selection=Selection("cross_attention", 1), theme="dark"))
    position(page, 2)
    answer(page, data_of("가나", "가나", step=3))
    position(page, 3, 3)
    page.clock.run_for(600)
    assert reports(page) == []


def test_new_words_and_numbers_do_not_interrupt_playing_and_nothing_ticks_on_after_its_end(show):
    page = show(data_of())
    button(page, "재생").click()
    answer(page, data_of(language="en"))
    expect(button(page, "Pause")).to_be_visible()
    page.clock.run_for(700)
    expect(page.locator(".position")).to_have_text(f"Step 3 of {STEPS}")
    page.evaluate("window.stop()")
    page.clock.run_for(5000)
    expect(page.locator(".position")).to_have_text(f"Step 3 of {STEPS}")
    assert reports(page) == []


def test_a_single_step_has_nowhere_to_go(show):
    page = show(data_of("", ""))
    position(page, 1, 1)
    expect(page.locator("input")).to_be_disabled()
    expect(button(page, "다음")).to_be_disabled()
    assert page.complaints == []
