"""Header of every page: pages, languages, lecture mode; HTML with typed text escaped."""

import pytest

from tests.ui.screen import component, html, menu, setting, title
from ui.shell import markup
from ui.shell.header import PAGES
from viz.browser.texts import LANGUAGES, table

KO, EN = table("ko"), table("en")


@pytest.fixture
def correctors(entries):
    """No model at all: the line does not need one."""
    entries.clear()


def test_every_page_has_the_line_and_one_name_of_the_product(open_app):
    for page in PAGES:
        app = open_app(page)
        assert menu(app, "pages").options == [KO[f"{name}_page"] for name in PAGES]
        assert menu(app, "pages").proto.label == KO[f"{page}_page"]
        style = "product" if page == PAGES[0] else "product title"  # a phone shows the title of a page
        assert html(app).count(f'<h1 class="{style}">') == 1
        assert component(app, "address_bar")["step"][0] == ("" if page == PAGES[0] else page)


def test_the_menu_turns_to_another_page_and_back_and_the_settings_stay(open_app):
    app = open_app("positions", lecture="1")
    app.session_state["wanted_page"] = "../app"  # which does not exist
    assert title(app.run()) == KO["positions_page"]
    for page, title_ in (("model", "model_page"), ("model", "model_page"), ("attention", "product")):
        menu(app, "pages").click(page).run()
        assert title(app) == KO[title_]
    assert setting(app, "lecture") == "1"


def test_every_language_stands_in_the_menu_under_its_own_name(open_app):
    app = open_app("model")
    assert menu(app, "language").proto.label == "한국어"
    assert menu(app, "language").options == list(LANGUAGES.values())
    menu(app, "language").click("en").run()
    assert title(app) == EN["model_page"]
    assert menu(app, "language").proto.label == "English"
    menu(app, "language").click("ko").run()
    assert setting(app, "lang") == "ko"


def test_lecture_mode_is_a_setting_that_adds_a_style(open_app):
    app = open_app("model", lang="<xx>")
    assert title(app) == KO["model_page"]  # an unknown language is the first
    assert app.toggle(key="control_lecture").value is False
    styles = len(app.html)
    app.toggle(key="control_lecture").set_value(True).run()
    assert setting(app, "lecture") == "1"
    assert len(app.html) == styles + 1
    assert open_app("model", lecture="1").toggle(key="control_lecture").value is True
    assert open_app("model", lecture="yes").toggle(key="control_lecture").value is False


TYPED = "<b>&\"'</b>"
SAFE = "&lt;b&gt;&amp;&quot;&#x27;&lt;/b&gt;"


@pytest.fixture
def written(monkeypatch) -> list[str]:
    """All HTML that is written."""
    found = []
    monkeypatch.setattr(markup.st, "html", found.append)
    return found


def test_paragraphs_and_headings_keep_the_text(written):
    markup.paragraph(TYPED, "note")
    markup.heading(TYPED, "product", level=2)
    assert written == [f'<p class="note">{SAFE}</p>', f'<h2 class="product">{SAFE}</h2>']


def test_a_link_leads_nowhere_else(written):
    markup.link('http://localhost/?sentence="><script>')
    (link,) = written
    assert link.count("<") == 4
    assert "<script>" not in link


def test_a_table_keeps_the_text_everywhere(written):
    markup.table([TYPED], {TYPED: [TYPED], "둘": ["1"]}, TYPED, strong="둘", corner=TYPED)
    (table,) = written
    assert TYPED not in table
    assert table.count(SAFE) == 5
    assert '<tr class="strong"><th scope="row">둘</th><td>1</td></tr>' in table
