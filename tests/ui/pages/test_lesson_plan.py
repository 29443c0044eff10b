"""Links of the lesson plans: equal in both languages, to existing pages and settings."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from training.documents.tables import Sources
from ui.shell.settings import defaults
from ui.views import TABS

DOCS = Path(__file__).parents[3] / "docs"
PLANS = ("lesson-plan", "lesson-plan-laboratory", "lesson-plan-answer", "lesson-plan-50")
ENDINGS = {"ko": ".md", "en": ".en.md"}
SENTENCE = Sources().measured("lesson")["sentence"]


def links(plan: str, language: str) -> list[tuple[str, dict[str, str]]]:
    """(page, settings) of each link into the app, in order; the language is left out."""
    text = (DOCS / f"{plan}{ENDINGS[language]}").read_text("utf-8")
    found = [urlsplit(link) for link in re.findall(r"\]\((http://localhost:8501[^)]*)\)", text)]
    settings = [dict(parse_qsl(link.query)) for link in found]
    assert all(each.pop("lang", "ko") == language for each in settings)
    return [(link.path, each) for link, each in zip(found, settings, strict=True)]


@pytest.mark.parametrize("plan", PLANS)
def test_both_languages_have_the_same_links(plan):
    assert links(plan, "ko") == links(plan, "en")
    assert len(links(plan, "ko")) > 5


@pytest.mark.parametrize("plan", PLANS)
def test_links_name_pages_and_settings_that_exist(plan):
    pages = {"/"} | {f"/{path.stem}" for path in (DOCS.parent / "ui" / "pages").glob("*.py")}
    for page, settings in links(plan, "ko"):
        assert page in pages
        assert settings.keys() <= defaults().keys()
        views = {view.name for tabs in TABS.values() for view in tabs.views}
        assert {settings.get("view", "heatmap"), settings.get("experiment", "why")} <= views
        assert settings.get("sentence", SENTENCE) == SENTENCE
