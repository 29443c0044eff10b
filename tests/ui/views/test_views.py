"""All views of a sentence: description, hostile settings, choice of a map, messages.

Each on the same few sentences.
"""

import re
from types import SimpleNamespace

import pytest
import streamlit as st

from engine import questions
from engine.question import Question
from model.adapters.own_stream import NO_STREAM
from model.stored.config import TracedConfig
from model.trace.trace import ATTENTION_KINDS, Selection
from tests.planted import WRONG
from tests.ui.fake_corrector import one_map_trace
from tests.ui.hostile import TEXTS
from tests.ui.view_script import state
from ui.sentence.state import SentenceState
from ui.shell import controls
from ui.shell.settings import Text, defaults
from ui.views import EXPERIMENTS, VIEWS, heatmap
from ui.views import view as view_module
from ui.views.view import missing_text, needs_activations
from viz.browser.texts import LANGUAGES, table
from viz.figure import to_json

MOST_SENTENCES = 2  # above a picture
ALL = (*VIEWS, *EXPERIMENTS)
SENTENCES = ("고갱이 왔다", "비가 온다", "갱", "가")


@pytest.fixture(autouse=True)
def settings(monkeypatch) -> dict[str, str]:
    """A fresh session, without a page."""
    state = {"view": dict(defaults())}
    monkeypatch.setattr(st, "session_state", state)
    return state["view"]


def states():
    """Every kind of sentence, network, attention and focus."""
    for source in SENTENCES:
        for kind in ATTENTION_KINDS:
            for layer, head in ((0, 1), (1, None), (None, None)):
                yield state(kind, layer, head, source=source)
        yield state("cross_attention", 0, 0, source=source, trace=one_map_trace)
    yield state("decoder_attention", 1, 2, change=0, source="고갱이 고갱은")
    yield state("cross_attention", None, None, change=1, source="고갱이 고갱은")


def sentences(said: str) -> int:
    """The number of sentences, one in brackets included; a dot in a number and in "no. 5" ends none."""
    return len(re.findall(r"(?<!\bno)[.?!](?=\s|\)|$)", said))


@pytest.mark.parametrize("view", [view for view in ALL if view.name != "numbers"], ids=lambda view: view.name)
def test_every_view_says_one_thing_about_every_sentence(view, settings):
    for language in LANGUAGES:
        settings["lang"] = language
        for shown in states():
            missing = view.lacks(shown)
            said = table(language)[missing] if missing else view(shown).describe()
            assert said.strip() and "{" not in said
            assert sentences(said) <= MOST_SENTENCES
            notes = view(shown).notes()
            assert all(note.strip() for note in notes) and len(set(notes)) == len(notes)


@pytest.mark.parametrize("view", ALL, ids=lambda view: view.name)
def test_hostile_settings_read_as_the_defaults(view, settings):
    typed = [each for each in view.settings if not isinstance(each, Text)]  # free text may be anything
    expected = controls.values(typed)
    for text in TEXTS:
        settings.update(dict.fromkeys((each.name for each in typed), text))
        assert controls.values(typed) == expected, text


def test_a_heatmap_is_always_the_same_and_counts_its_cells_for_the_page():
    values = controls.values(heatmap.SETTINGS)
    for shown in states():
        one, other = (heatmap.picture(shown, values) for _ in range(2))
        assert to_json(one) == to_json(other)
        meta = one["layout"]["meta"]
        assert (meta["rows"], meta["columns"]) == shown.weights.shape
        assert meta["extent"] == max(len(shown.trace.source_tokens), len(shown.trace.target_tokens))


SELECTIONS = (
    Selection("encoder_attention", 0, 1),
    Selection("cross_attention", 0, 1),
    Selection("cross_attention", 1, None),
    Selection("decoder_attention", 1, 1),
)


def shown(view, state: SentenceState) -> tuple:
    """All that the view says of the planted sentence, and its figures."""
    opened = view(state)
    drawn = [(name, to_json(figure), said) for name, (figure, said) in opened.exported.items()]
    assert all(said for *_, said in drawn)
    said = opened.describe(), *opened.notes(), *opened.paragraphs()
    return *said, *drawn


@pytest.mark.parametrize("view", (*VIEWS, *EXPERIMENTS), ids=lambda view: view.name)
def test_only_where_kind_layer_and_head_decide_is_there_a_map_to_choose(view, planted_circuit):
    sentence = planted_circuit.correct(WRONG).sentences[0]
    about = planted_circuit, sentence, sentence.trace
    states = [SentenceState(*about, selection, sentence.changes[0], "light") for selection in SELECTIONS]
    assert not view.lacks(states[0])
    different = {shown(view, state) for state in states}
    if not view.has_map:
        assert len(different) == 1
    elif view(states[0]).exported:  # without figures the map may decide only the browser's drawing
        assert len(different) > 1


@pytest.mark.parametrize("question", [questions.activation_patching, questions.verified_explanation])
def test_tokens_that_are_no_characters_are_told_apart_from_no_stream(question):
    def lacking(*known: Question, kinds: tuple[str, ...] = ("cross_attention",)) -> str | None:
        about = {"corrects": True, "places_known": True, "trace": SimpleNamespace(kinds=kinds)}
        return needs_activations(question)(SimpleNamespace(can=known.__contains__, **about))

    assert lacking(questions.direct_logit_attribution, question) is None
    assert lacking(questions.direct_logit_attribution) == "lacks_characters"
    assert lacking() == "lacks_residual"
    assert lacking(question, kinds=("decoder_attention",)) == "lacks_source"
    assert "single characters" in table("en")["lacks_characters"]
    assert "글자 하나가 토큰 하나" in table("ko")["lacks_characters"]


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("kind", NO_STREAM)
def test_what_keeps_the_stream_from_being_known_is_told_in_the_page_s_language(kind, language, monkeypatch):
    monkeypatch.setattr(view_module, "say", table(language).__getitem__)
    state = SimpleNamespace(corrector=SimpleNamespace(config=TracedConfig(no_stream=kind)))
    said, texts = missing_text(state, "lacks_residual"), table(language)
    assert said.startswith(texts["lacks_residual"]) and said.endswith(texts[f"no_stream_{kind}"])
    assert missing_text(state, "lacks_places") == texts["lacks_places"]
