"""Page of the static site: live text, views, address, use offline, and as one file."""

from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box
from tests.browser.site_pages import corrected, is_open, shows
from tests.browser.visit import heatmap, pictures_without_a_table, serious_violations
from tests.hostile_texts import hostile_texts
from ui.export import take_away
from ui.shell.settings import defaults
from ui.wording import table

WRONG, RIGHT = "밥을 머거요.", "밥을 먹어요."


@pytest.fixture
def typed(open_site):
    """Page of the site with the text WRONG and the default settings."""
    open_site.complaints.clear()
    open_site.set_viewport_size({"width": 1280, "height": 900})
    open_site.evaluate(
        "(text) => window.site.change({ ...window.site.fresh(), lang: 'ko', text }, true)", WRONG
    )
    shows(open_site, WRONG)
    yield open_site
    heatmap_again = open_site.get_by_role("button", name="히트맵", exact=True)
    if heatmap_again.is_visible():
        heatmap_again.click()


def test_a_stored_example_is_drawn_as_the_app_draws_it_before_the_network_is_there(site_pages, site):
    page = site_pages()
    example = site.content["stored"][0]
    shows(page, example["typed"])
    assert corrected(page) == example["text"]
    chosen = page.locator("#explorer .controls select").evaluate_all(
        "(lists) => lists.map(({ selectedOptions }) => selectedOptions[0].text)"
    )
    kind, layer, head = (defaults()[name] for name in ("kind", "layer", "head"))
    assert chosen == [table("ko")[f"kind_{kind}"], layer, table("ko")[f"head_{head}"]]
    is_open(page)
    # The confidences differ where rounding crosses a threshold of a tree.
    cards = """() => {
      const { data } = document.getElementById("correction").shadowRoot.querySelector(".correction");
      return Object.values(data.proposals).map(({ kinds, why, article }) => [kinds, why, article]);
    }"""
    stored = page.evaluate(cards)
    page.evaluate("() => { window.site.answers.clear(); window.site.show(); }")
    page.wait_for_function("() => window.site.answers.size")
    assert page.evaluate(cards) == stored and any(article for *_, article in stored)
    asked = [url.rpartition("/")[2].partition("-")[0] for url in page.requests if "/parts/" in url]
    # Two workers ask for the runtime and for the weights at the same time, so neither of these is the first.
    assert asked.index("library") < min(asked.index("runtime"), asked.index("weights"))


def test_where_nothing_can_be_drawn_the_network_still_answers(browser, site_host):
    page = browser.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'attentionPlotly', { get: () => new Promise(() => {}), set() {} })"
    )
    page.goto(site_host)
    is_open(page)
    page.locator("textarea").fill(WRONG)
    expect(page.locator(".corrected").first).to_contain_text("먹어요")
    expect(page.locator(".plot[data-drawn]")).to_have_count(0)
    page.close()


def test_cards_of_one_word_tell_which_of_its_spaces_they_are_about(typed):
    typed.locator("textarea").fill("할수있는만큼 하자")
    words = typed.locator(".corrected .change")
    expect(words).to_have_count(1)
    for part in ("할␣수", "수␣있"):
        words.click()
        expect(typed.locator(".card .part")).to_have_text(part)
    words.press("Escape")  # an open card lies over buttons


# Of the change that is shown, the text that the network would rather have written is another.
INSTEAD = """text => {
  const found = site.answers.get(site.keyOf(site.wanted()));
  found.sentences[0].proposed.forEach(change => (change.insteadOf = text));
  site.show();
}"""


FIRST_CHOICES = [("각", "각"), (" ", "␣"), ("", "∅"), ("가" * 13, "가" * 11 + "…")]


def test_a_card_shows_the_networks_first_choice_as_the_app_does(typed):
    for first, told in FIRST_CHOICES:
        typed.evaluate(INSTEAD, first)
        typed.locator("#correction .change").click()
        note = table("ko")["correction_instead_of"].format(text=told)
        expect(typed.locator(".card .sure")).to_contain_text(note)
        typed.keyboard.press("Escape")
    typed.evaluate("site.answers.clear()")


def test_typing_is_corrected_and_drawn(typed, light):
    assert corrected(typed) == RIGHT
    text = "내일 가치 가자"
    typed.locator("textarea").fill(text)
    shows(typed, text)
    trace = light.correct(text).trace
    assert corrected(typed) == light.correct(text).text
    seen = heatmap(typed, "#explorer .heatmap .js-plotly-plot")
    np.testing.assert_allclose(seen, trace.cross_attention[2].mean(axis=0), atol=1e-4)
    assert typed.complaints == []


def test_the_axes_of_another_text_end_with_its_cells(typed):
    """Cells are square, so in a box of another shape an axis is shortened; the frame beside it is, too."""
    typed.set_viewport_size({"width": 1366, "height": 768})
    for text in ("밥을 같이 먹으러 시내에 있는 식당에 갔다.", "밥을"):
        typed.locator("textarea").fill(text)
        shows(typed, text)
        wanted, found = typed.locator(".overview .js-plotly-plot").evaluate(
            """({ parentElement, _fullLayout }) =>
              [JSON.parse(parentElement.plot.data.spec).layout, _fullLayout]
                .map(({ xaxis, yaxis }) => [xaxis.range, yaxis.range])"""
        )
        assert found == wanted


@pytest.mark.parametrize(
    ("text", "width", "height"),
    [
        ("꼬치 활짝 피어써요 오늘도", 1366, 768),
        ("학꾜에서 국쑤를 머꼬 집까지 거러갔어요.", 1366, 768),
        ("학꾜에서 국쑤를 머꼬 집까지 거러갔어요.", 1920, 1080),
    ],
)
def test_a_lecture_shows_text_pictures_and_every_row_of_the_lines_in_one_window(typed, text, width, height):
    typed.set_viewport_size({"width": width, "height": height})
    typed.evaluate("(text) => window.site.change({ text, lecture: true }, true)", text)
    shows(typed, text)
    typed.wait_for_function(  # the type grows, and then the pictures do
        """() => [".overview", ".heatmap"].every((picture) => {
          const { bottom, height } = document
            .querySelector(`${picture} .js-plotly-plot .main-svg`).getBoundingClientRect();
          return bottom <= window.innerHeight && height > window.innerHeight / 2;
        })"""
    )
    typed.get_by_role("button", name=table("ko")["view_lines"], exact=True).click()
    typed.locator(f"#explorer .lines .token[data-side=keys][data-place='{len(text)}']").wait_for()
    # The type grows first, and then the rows share the window anew.
    typed.wait_for_function(
        """() => {
          const [box, all] = [".box", ".drawing"].map((name) =>
            document.querySelector(`#explorer .lines ${name}`).getBoundingClientRect());
          return all.bottom <= box.bottom && box.bottom <= window.innerHeight;
        }"""
    )


@pytest.mark.parametrize("view", ["heatmap", "lines"])
def test_on_a_phone_the_open_view_stands_above_all_heads(typed, view):
    typed.set_viewport_size({"width": 390, "height": 844})
    typed.get_by_role("button", name=table("ko")[f"view_{view}"], exact=True).click()
    picture, heads = (box(typed, f".explore .{name}") for name in ("view", "beside"))
    assert picture.bottom <= heads.top


def test_a_change_is_pressed_and_undone_and_made_again(typed):
    typed.locator("#correction .change").click()
    typed.get_by_role("button", name="그대로 두기").click()
    typed.locator("#correction .offer").wait_for()
    assert corrected(typed) == WRONG
    typed.locator("#correction .offer").click()
    typed.locator("#correction .change").wait_for()
    assert corrected(typed) == RIGHT


def test_a_word_with_two_changes_is_listed_and_offered_with_both(typed):
    text, right = "할수업서요.", "할 수 없어요."
    typed.locator("textarea").fill(text)
    shows(typed, text)
    assert corrected(typed) == right
    typed.locator("#correction .count").click()
    expect(typed.locator("#correction .entry")).to_contain_text([f"{text} → {right}"])
    expect(typed.locator("#correction .count")).to_contain_text("고친 곳 1")
    typed.locator("#correction .none").click()
    expect(typed.locator("#correction .offer")).to_have_count(1)
    expect(typed.locator("#correction .count")).to_contain_text("고치지 않음 1")
    assert corrected(typed) == text
    typed.locator("#correction .offer").click()
    typed.locator("#correction .change").wait_for()
    assert corrected(typed) == right


def test_a_word_left_as_typed_stays_so_while_the_text_goes_on(typed):
    typed.locator("#correction .change").click()
    typed.get_by_role("button", name="그대로 두기").click()
    typed.locator("#correction .offer").wait_for()
    area = typed.locator("textarea")
    area.focus()
    for key, more, text in (("End", " 또", f"{WRONG} 또"), ("Home", "나는 ", f"나는 {WRONG} 또")):
        area.press(key)
        typed.keyboard.insert_text(more)
        shows(typed, text)
        assert corrected(typed) == text
    assert "rejected=6-" in typed.url
    told = typed.evaluate("location.hash")
    typed.evaluate("location.hash = new URLSearchParams({ text: '밥을', lang: 'ko' })")
    shows(typed, "밥을")
    typed.evaluate("(told) => (location.hash = told)", told)
    shows(typed, text)
    assert corrected(typed) == text


def test_the_address_holds_everything_and_no_server_hears_of_it(typed, site_pages):
    address, fragment = typed.url.split("#")
    again = site_pages(f"#{fragment}")
    expect(again.locator("textarea")).to_have_value(WRONG)
    asked = [url.split("#")[0] for page in (typed, again) for url in page.requests]
    told = [url for url in asked if not url.startswith("blob:")]
    assert told and all(url.startswith(address) and quote("머") not in url for url in told)


def test_another_address_forgets_what_was_chosen_in_the_text_before_it(typed):
    typed.locator("#correction .change").click()
    text = "내일 가치 가자"
    typed.evaluate("(text) => (location.hash = new URLSearchParams({ text, lang: 'ko' }))", text)
    shows(typed, text)
    chosen = typed.evaluate("(({ chosen, opened, off }) => [chosen, opened, off])(window.site.state)")
    assert chosen == [None, None, None]


@pytest.mark.parametrize(
    ("view", "drawn"), [("view_lines", ".lines svg"), ("view_steps", ".steps .candidates")]
)
def test_other_views_are_drawn(typed, view, drawn):
    typed.get_by_role("button", name=table("ko")[view], exact=True).click()
    expect(typed.locator(f"#explorer {drawn}").first).to_be_visible()
    assert typed.complaints == []


VIEWS = {
    "view_edits": "edits",
    "view_received": "received",
    "view_numbers": "numbers",
    "masks_page": "masks",
    "positions_page": "positions",
    "view_without": "without",
    "view_sources": "sources",
}


@pytest.mark.parametrize("view", VIEWS)
def test_further_views_are_drawn_on_a_phone_and_for_everyone(typed, view):
    typed.set_viewport_size({"width": 390, "height": 844})
    typed.get_by_role("button", name=table("ko")[view], exact=True).click()
    place = typed.locator(f".explore .view > .{VIEWS[view]}")
    expect(place.locator(".reading")).to_be_visible()
    expect(place.locator(".js-plotly-plot").first).to_be_visible()
    expect(place).not_to_contain_text(table("ko")["site_asking"])
    assert serious_violations(typed) == [] and pictures_without_a_table(typed) == []
    assert typed.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert typed.complaints == []


def test_a_head_is_switched_off_and_on_again(typed):
    typed.get_by_role("button", name=table("ko")["view_without"], exact=True).click()
    place = typed.locator(".explore .without")
    all_on = place.get_by_role("button", name=table("ko")["without_all_on"])
    all_on.click()
    expect(all_on).to_be_disabled()
    expect(place.locator(".written")).to_have_text([RIGHT, RIGHT])
    squares = place.locator("[data-figure=without_mosaic] .canvas")
    squares.focus()
    squares.press("ArrowRight")
    squares.press("Enter")
    expect(all_on).to_be_enabled()
    expect(place.locator(".verdict")).to_contain_text("1·1")
    assert typed.evaluate("() => window.site.state.off.length") == 1
    all_on.click()
    expect(all_on).to_be_disabled()


def test_the_start_mark_keeps_off_the_first_token(typed):
    typed.set_viewport_size({"width": 1366, "height": 768})
    typed.get_by_role("button", name=table("ko")["masks_page"], exact=True).click()
    labels = typed.locator("[data-figure=masks_padding] .xtick text")
    expect(labels).to_have_count(11)
    start, first = (box(typed, labels.nth(place)) for place in (0, 1))
    assert start.right + 1 < first.left


@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_number_in_brackets_behind_a_probability_is_explained(typed, language):
    menu = typed.get_by_label("언어", exact=True)
    menu.select_option(label=table(language)["language_name"])
    expect(typed.get_by_role("heading", level=1)).to_have_text(table(language)["product"])
    assert typed.evaluate("() => document.documentElement.lang") == language
    typed.get_by_role("button", name=table(language)["view_without"], exact=True).click()
    place = typed.locator(".explore .without")
    expect(place.locator(".reading")).to_contain_text(">0.999 (+")
    expect(place.locator(".note", has_text=table(language)["log_odds_note"])).to_be_visible()


def test_typing_goes_before_an_experiment(typed):
    typed.get_by_role("button", name=table("ko")["view_without"], exact=True).click()
    for text in ("내일 가치 가", "내일 가치 가자"):
        typed.locator("textarea").fill(text)
    shows_text = "(text) => document.documentElement.dataset.shown === text"
    typed.wait_for_function(shows_text, arg="내일 가치 가자")
    assert corrected(typed) == "내일 같이 가자"
    expect(typed.locator(".explore .without .verdict .written").first).to_have_text("내일 같이 가자")
    assert typed.complaints == []


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_it_is_for_everyone(typed, theme, width):
    typed.set_viewport_size({"width": width, "height": 900})
    typed.evaluate("(theme) => window.site.change({ theme })", theme)
    shows(typed, WRONG)
    assert serious_violations(typed) == [] and pictures_without_a_table(typed) == []
    assert typed.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_what_is_typed_before_the_network_comes_is_corrected_and_a_second_visit_needs_none(site_pages):
    page = site_pages()
    correct_it(page)
    expect(page.locator("textarea")).to_have_value(WRONG)
    is_open(page)
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_function("() => navigator.serviceWorker.controller")
    page.context.set_offline(True)
    page.reload()
    is_open(page)
    correct_it(page)


def correct_it(page: Page) -> None:
    page.locator("textarea").fill(WRONG)
    shows(page, WRONG)
    assert corrected(page) == RIGHT


def test_a_file_that_the_app_gave_begins_with_its_sentence_and_needs_no_network(
    site_pages, site_file, tmp_path
):
    assert site_file.stat().st_size <= 22_000_000
    path = tmp_path / "live.html"
    path.write_bytes(take_away.to_alive({"text": WRONG, "lang": "en"}, site_file))
    page = site_pages(address=path.as_uri(), offline=True)
    shows(page, WRONG)
    assert corrected(page) == RIGHT
    expect(page.locator("textarea")).to_have_value(WRONG)
    assert page.evaluate("() => document.documentElement.lang") == "en"
    is_open(page)
    assert [url for url in page.requests if not url.startswith(("blob:", "data:"))] == [path.as_uri()]
    assert page.complaints == []


def test_hostile_texts_are_shown_as_they_are(typed):
    for text in filter(str.strip, hostile_texts(5, 6)):
        typed.evaluate("(text) => window.site.change({ ...window.site.fresh(), text }, true)", text)
        # A text area keeps no carriage return, so the page may have a little less than it was given.
        typed.wait_for_function("() => document.documentElement.dataset.shown === window.site.state.text")
    assert typed.evaluate("() => document.querySelectorAll('main script, main img, main iframe').length") == 0
    assert typed.complaints == []
