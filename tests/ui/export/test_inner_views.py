"""Views of activations in the exported file: drawn, described, and called observed or intervened."""

from html import escape

import pytest
import streamlit as st

from model.trace.trace import Selection
from tests.planted import CODA, WRONG
from ui.export import page, take_away
from ui.export.page import Choices
from ui.sentence.state import SentenceState
from ui.shell.settings import defaults
from ui.views import VIEWS, attention_score, circuit, claims, logit_attribution, logit_lens, patching
from ui.wording import spoken, table

OBSERVED = (logit_attribution.Attribution, logit_lens.Lens)


@pytest.fixture(autouse=True)
def session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {"view": dict(defaults())})


@pytest.mark.parametrize(
    ("view", "language", "names"),
    [
        (patching.Patching, "ko", {"patched"}),
        (circuit.CircuitView, "en", {"circuit_graph", "circuit_growth", "circuit_checks"}),
        (attention_score.AttentionScore, "ko", {"why_query", "why_key", "why_without"}),
        (claims.Claims, "ko", {"receipts"}),
        (claims.Claims, "en", {"receipts"}),
        (logit_attribution.Attribution, "ko", {"wrote", "wrote_map"}),
        (logit_lens.Lens, "en", {"decided_grid", "decided_curve", "decided_jamo"}),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_the_file_has_all_pictures_of_the_open_view(view, language, names, planted_writer):
    st.session_state["view"]["lang"] = language
    sentence = planted_writer.correct(WRONG).sentences[0]
    selection = Selection(CODA.kind, CODA.layer, CODA.head)
    shown = SentenceState(planted_writer, sentence, sentence.trace, selection, sentence.changes[0], "light")
    found = take_away.experiment(view(shown))
    assert found.figures.keys() == names
    assert found.intervenes == (view not in OBSERVED)
    values = {each.name: {setting.name: setting.read("") for setting in each.settings} for each in VIEWS}
    choices = Choices("", values, experiment=found)
    html = spoken(language)(page.to_html)(shown, choices).decode()
    assert f"<h2>{table(language)[f'view_{view.name}']}</h2>" in html
    assert all(escape(line) in html for line in found.told)
    assert all(f'data-place="{name}"' in html for name in names)
    assert ('class="reading intervened"' in html) == found.intervenes
    if view is claims.Claims:  # each claim comes with its numbers
        written = [line for line in found.told if line.startswith(("✓ ", "✗ "))]
        assert len(written) >= 5 and all(" → " in claim for claim in written)
