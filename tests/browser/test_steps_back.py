"""Browser history of the main page: Back after each choice, late answers, the link."""

from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.browser import visit
from tests.browser.boxes import box
from tests.browser.visit import LateAnswers, choose, expect_corrected, expect_settings, settings, wait_until
from ui.shell.settings import Places, load_examples
from ui.wording import table

FIRST_EXAMPLE = load_examples()[0].text
HEATMAP = ".st-key-heatmap .plot"


def test_back_takes_back_example_change_head_and_view_one_by_one(open_page):
    page = open_page()
    say, other = table("ko"), load_examples()[1]
    choose(page, "view", say["view_lines"])
    expect_settings(page, view="lines")
    choose(page, "head", "2")
    expect_settings(page, head="2")
    visit.changed_words(page).first.click()
    expect_settings(page, edit="1")
    visit.pick(page, "examples", say[f"example_{other.id}"])
    expect_settings(page, sentence=other.text, edit=None)
    visit.text_area(page).press("End")
    page.keyboard.type("!")  # typing is no step
    expect_settings(page, sentence=other.text + "!")
    page.go_back()
    expect_settings(page, sentence=None, edit="1", head="2", view="lines")
    expect(visit.text_area(page)).to_have_value(FIRST_EXAMPLE)
    expect(visit.changed_words(page).first).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect_settings(page, edit=None, head="2", view="lines")
    expect(visit.changed_words(page).first).to_have_attribute("aria-pressed", "false")
    page.go_back()
    expect_settings(page, head=None, view="lines")
    expect_chosen(page, "head", say["head_all"])  # lines draw the mean as all heads
    page.go_back()
    expect_settings(page, view=None)
    expect_chosen(page, "view", say["view_heatmap"])
    expect(page.locator(HEATMAP)).to_be_visible()
    assert settings(page) == {}


def test_an_answer_that_was_on_its_way_before_back_changes_no_address(open_page):
    late = LateAnswers()
    page = open_page(late=late)
    choose(page, "view", table("ko")["view_lines"])
    expect_settings(page, view="lines")
    late.hold()
    choose(page, "head", "2")
    wait_until(page, late.runs, 1)
    page.go_back()
    late.release()
    expect_chosen(page, "view", table("ko")["view_heatmap"])
    expect_settings(page, view=None, head=None)
    page.go_forward()
    expect_settings(page, view="lines", head=None)


def test_what_is_chosen_while_the_page_is_being_drawn_stays_chosen(open_page):
    late = LateAnswers()
    page = open_page(late=late)
    late.hold()
    visit.text_area(page).press("End")
    page.keyboard.type("!")
    wait_until(page, late.runs, 1)
    choose(page, "layer", "1")
    wait_until(page, late.runs, 2)
    late.release_a_run()  # it was drawn before the choice
    expect(page.locator(".corrected")).to_contain_text("!")
    wait_until(page, lambda: settings(page).get("sentence", "")[-1:], "!")
    choose(page, "kind", table("ko")["kind_encoder_attention"])
    late.release()
    expect_settings(page, kind="encoder_attention", layer="1")


def test_methods_that_are_still_being_asked_keep_neither_back_nor_the_picture_waiting(open_page):
    page = open_page("laboratory?experiment=sources&edit=1")
    panels = page.locator(".st-key-sources .plot")
    late_methods = panels.get_by_text(table("ko")["sources_asking"])
    expect(panels).to_be_visible()
    expect(late_methods).to_have_count(0)
    visit.settle(page)
    before = box(page, panels)
    visit.changed_words(page).nth(1).click()
    expect(late_methods.first).to_be_visible()  # the quick ones are drawn, the others have their places
    assert box(page, panels) == before
    wait_until(page, lambda: settings(page)["edit"], "2")
    page.go_back()
    expect_settings(page, edit="1")
    expect(visit.changed_words(page).first).to_have_attribute("aria-pressed", "true")
    expect(late_methods).to_have_count(0)
    page.go_forward()
    expect_settings(page, edit="2")
    expect(late_methods).to_have_count(0)
    assert box(page, panels) == before


def expect_chosen(page: Page, name: str, option: str) -> None:
    radio = page.locator(f".st-key-control_{name}").get_by_role("radio", name=option, exact=True)
    if name != "view":
        page.locator(".st-key-map_choice button").first.click()
    expect(radio).to_be_checked()
    page.keyboard.press("Escape")


def test_what_is_accepted_and_left_undone_is_in_the_link(open_page, corrector, half_sure):
    page = open_page(f"?{urlencode({'sentence': half_sure})}", width=1366, height=768)
    found = corrector.correct(half_sure)
    (sentence,) = found.sentences
    expect_corrected(page, half_sure, found.text)
    made = [change.source_start for change in sentence.changes]
    offered = [n for n, change in enumerate(sentence.proposed) if change.source_start not in made]
    accepted = offered[0]
    visit.offered_words(page).first.click()
    spans = [(each.source_start, each.source_end) for each in sentence.proposed]
    expect_settings(page, accepted=Places.written([spans[accepted]]))
    with_one = found.with_decisions({accepted}, set())
    expect_corrected(page, half_sure, with_one.text)
    wait_until(page, lambda: visit.heatmap(page).shape, with_one.trace.cross_attention.shape[2:])
    visit.changed_words(page).last.click()
    expect(visit.changed_words(page).last).to_have_attribute("aria-pressed", "true")
    page.locator(".card .reject").click()
    rejected = len(sentence.proposed) - 1
    expect_settings(page, rejected=Places.written([spans[rejected]]))
    text = found.with_decisions({accepted}, {rejected}).text
    expect_corrected(page, half_sure, text)
    copy = open_page(f"?{page.url.partition('?')[2]}", on=page)
    expect_corrected(copy, half_sure, text)
