"""Walks through every step of every lesson plan: what the plan says stands on the page that it opens."""

from itertools import pairwise

import pytest

from tests.browser.visit import settle
from training.documents.lessons.plan import ADDRESS, PLANS, plan_of
from training.documents.sources import Sources

LANGUAGES = ("ko", "en")


@pytest.fixture(scope="module")
def facts():
    return Sources().measured("lesson")


@pytest.mark.parametrize("minutes", PLANS)
def test_the_page_shows_what_the_plan_says(open_page, facts, minutes, corrector):
    assert facts["fingerprint"] == corrector.fingerprint, "python -m training ship writes the plans anew"
    for step in plan_of(facts, minutes, "ko"):
        if not step.link:
            continue
        page = open_page(step.link.removeprefix(ADDRESS), width=1366, height=768)
        settle(page)
        said = page.locator("body").inner_text()
        said += " ".join(page.locator(".js-plotly-plot svg text, .lines text").all_text_contents())
        said += " ".join(
            page.locator(".lines .told, .steps").all_inner_texts()
        )  # what has a style of its own
        for text in step.shows:
            assert text in said, (step.name, text)


def test_a_lesson_takes_as_long_as_its_plan_says(facts):
    for minutes in PLANS:
        for language in LANGUAGES:
            steps = plan_of(facts, minutes, language)
            assert steps[0].begin == 0 and steps[-1].end == minutes
            assert all(one.end == other.begin for one, other in pairwise(steps))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_worksheet_and_its_answers_are_a_page_of_a4_each(browser, language):
    page = browser.new_page()
    ending = "" if language == "ko" else ".en"
    page.goto((Sources().root / "docs" / f"worksheet{ending}.html").as_uri())
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    page.close()
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") == 2
