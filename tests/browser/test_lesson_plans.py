"""Lesson plans in a browser: buttons and texts of every step, in both languages.

Also a lesson's duration, and the worksheet on paper.
"""

import re
from itertools import cycle, pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import settings, settle, wait_until
from training.documents.lessons import ADDRESS, PLANS, PlanStep, plan_of
from training.documents.tables import Sources
from ui.wording import table

LANGUAGES = ("ko", "en")
PRESSED = re.compile(r"\*\*(.+?)\*\*")  # how a plan prints the name of a button
# Weights and probabilities, not how many characters a head looks at.
WEIGHT = re.compile(r"(?<![\d,])[01]\.\d{2,3}(?!\d)|<0\.\d{3}")


@pytest.fixture(scope="module")
def facts():
    return Sources().measured("lesson")


def steps(facts, language: str) -> list[PlanStep]:
    """Each step that opens something, of all plans once, in one language: those whose buttons are pressed in
    both, of the others every second one.
    """
    every = {step.name: step for plan in PLANS for step in plan_of(facts, plan, language) if step.link}
    turns = zip(cycle(LANGUAGES), every.values(), strict=False)
    return [step for turn, step in turns if turn == language or PRESSED.search(step.parts["do"])]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_shows_what_the_plan_says(open_page, facts, corrector, language):
    assert facts["fingerprint"] == corrector.fingerprint, "python -m training ship writes the plans anew"
    page = None
    for step in steps(facts, language):
        page = open_page(step.link.removeprefix(ADDRESS), width=1366, height=768, on=page)
        expect_picture(page, step, language)
        before = words(page)
        do(page, step)
        see(page, before, step)
        alerts = page.locator("[data-testid=stException], .st-key-status .stAlert, .st-key-told .stAlert")
        expect(alerts, step.name).to_have_count(0)


def expect_picture(page: Page, step: PlanStep, language: str) -> None:
    """A view has a picture, a sentence above it and an explanation; an intervention is marked as one."""
    if not page.locator(".st-key-tabs").count() or settings(page).get("view") == "predict":
        return
    expect(page.get_by_text(table(language)["explanation"], exact=True).first, step.name).to_be_visible()
    expect(page.locator("p.told").first, step.name).not_to_be_empty()
    expect(page.locator(".js-plotly-plot, .lines svg, .steps, .receipts li").first, step.name).to_be_visible()
    changed = page.locator("p.told.intervened")
    expect(changed.first).to_be_visible() if "laboratory" in step.link else expect(changed).to_have_count(0)


def see(page: Page, before: str, step: PlanStep) -> None:
    """Wait until the page has shown, before the step or after it, the texts of the step."""
    told = {*step.shows, *WEIGHT.findall(step.parts.get("see", ""))}
    wait_until(page, lambda: {text for text in told if text not in before + words(page)}, set())


def do(page: Page, step: PlanStep) -> None:
    """Press the buttons of the step."""
    pressed = PRESSED.findall(step.parts["do"])
    if settings(page).get("view") == "predict":  # a plan's first step opens it, too, and does without
        page.locator(".st-key-control_marks button").nth(2).click()
        settle(page)
        pressed = pressed or [page.locator(".st-key-predict_reveal button").inner_text()]
    for name in pressed:
        choices = page.get_by_role("radio", name=name, exact=True)
        button = page.get_by_role("button", name=name, exact=True).or_(choices)
        expect(button, step.name).to_be_visible()
        before = words(page)
        button.click()
        wait_until(page, lambda before=before: words(page) != before, True)
        settle(page)
    if step.name == "sentence":  # its card says why
        page.locator(".correction .change").first.click()


def words(page: Page) -> str:
    """All texts of a page, in its figures and in shadow trees, too."""
    said = page.locator("body").inner_text()
    said += " ".join(page.locator(".js-plotly-plot svg text, .lines text").all_text_contents())
    return said + " ".join(page.locator(".correction, .lines .told, .steps").all_inner_texts())


def test_a_lesson_takes_as_long_as_its_plan_says(facts):
    for plan, minutes in PLANS.items():
        for language in LANGUAGES:
            told = plan_of(facts, plan, language)
            assert told[0].begin == 0 and told[-1].end == minutes
            assert all(one.end == other.begin for one, other in pairwise(told))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_worksheet_and_its_answers_are_a_page_of_a4_each(browser, language):
    page = browser.new_page()
    ending = "" if language == "ko" else ".en"
    page.goto((Sources().root / "docs" / f"worksheet{ending}.html").as_uri())
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    page.close()
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") == 2
