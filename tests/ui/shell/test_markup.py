"""What was typed is shown as it is: nothing in it is ever HTML."""

import pandas as pd
import pytest

from ui.shell import markup

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
    cells = pd.DataFrame({TYPED: [TYPED, "1"]}, index=pd.Index([TYPED, "둘"], name=TYPED))
    markup.table(cells, TYPED, strong="둘")
    (table,) = written
    assert TYPED not in table
    assert table.count(SAFE) == 5
    assert '<tr class="strong"><th scope="row">둘</th><td>1</td></tr>' in table
