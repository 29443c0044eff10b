"""What a view says that a network cannot be asked for."""

from types import SimpleNamespace

import pytest

from engine import questions
from engine.own_model import TracedConfig
from model.adapters.own_stream import NO_STREAM
from ui.views import view
from ui.views.view import missing_text, needs_activations
from ui.wording import table


def lens_that_can(*known: questions.Question) -> SimpleNamespace:
    trace = SimpleNamespace(kinds=("cross_attention",))
    return SimpleNamespace(
        can=lambda question: question in known, corrects=True, places_known=True, trace=trace
    )


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("kind", NO_STREAM)
def test_what_keeps_the_stream_from_being_known_is_told_in_the_page_s_language(kind, language, monkeypatch):
    monkeypatch.setattr(view, "say", table(language).__getitem__)
    state = SimpleNamespace(corrector=SimpleNamespace(config=TracedConfig(no_stream=kind)))
    said = missing_text(state, "lacks_residual")
    assert said.startswith(table(language)["lacks_residual"]) and said.endswith(
        table(language)[f"no_stream_{kind}"]
    )
    assert missing_text(state, "lacks_places") == table(language)["lacks_places"]


@pytest.mark.parametrize("question", [questions.activation_patching, questions.verified_explanation])
def test_tokens_that_are_no_characters_are_told_apart_from_no_stream(question):
    lacks = needs_activations(question)
    assert lacks(lens_that_can(questions.direct_logit_attribution, question)) is None
    assert lacks(lens_that_can(questions.direct_logit_attribution)) == "lacks_characters"
    assert lacks(lens_that_can()) == "lacks_residual"
    assert "single characters" in table("en")["lacks_characters"]
    assert "글자 하나가 토큰 하나" in table("ko")["lacks_characters"]
