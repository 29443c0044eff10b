"""The app with a visitor's own model, through a worker of the engine."""

from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.client import Engine
from model.stored.config import INTERVENTIONS
from tests.own_model import RIGHT, SHAPES, WRONG, Bare, Speller
from tests.ui.conftest import opened
from tests.ui.screen import component, figures, html, messages, numbers, open_popover, send, told
from tests.waiting import wait_until
from ui.asking import loaders
from ui.shell.settings import defaults
from ui.views import EXPERIMENTS, VIEWS
from ui.wording import table

EN = table("en")
OWN = [f"tests.own_model:{name}" for name in ("Speller", "Bare", "Translator", "Continuing", "decoder_alone")]
SPELLER, BARE, TRANSLATOR, CONTINUING, DECODER = OWN


@pytest.fixture(scope="module")
def engine():
    with Engine.start(OWN) as engine:
        for name in OWN:
            model = engine.open(name)
            model.correct("cab")
            # The news that it is ready may come a moment after its first answer; until then a page shows how
            # far it is.
            wait_until(lambda model=model: model.progress.is_ready)
        yield engine


@pytest.fixture
def open_own(engine, monkeypatch):
    """Opens a page as after ``ATTENTION_MODEL=name streamlit run app.py``."""

    def open_at(name: str = SPELLER, page: str = "attention", **settings: str) -> AppTest:
        monkeypatch.setenv("ATTENTION_MODEL", name)
        monkeypatch.setitem(defaults(), "model", name)
        monkeypatch.setattr(loaders, "engine", lambda: engine)
        return opened(page, **{"lang": "en", "sentence": WRONG} | settings)

    return open_at


def test_it_is_the_chosen_model_and_is_drawn(open_own):
    app = open_own(kind="cross_attention", layer="2", head="2")
    np.testing.assert_array_equal(numbers(app), Speller().trace(WRONG, RIGHT).cross_attention[1, 1])
    assert EN["tokens_are_pieces"] in html(app)
    assert app.query_params.get("model") is None
    open_popover(app, "settings")
    offered = app.selectbox(key="control_model").options
    assert offered[:2] == [SPELLER, EN["model_name_transformer"]]
    assert not app.select_slider  # its confidence is unknown


@pytest.mark.parametrize("kind", SHAPES)
def test_every_view_shows_it_or_says_why_not_and_offers_the_layers_and_heads_of_the_kind(open_own, kind):
    app = open_own(kind=kind, layer="3")
    offered = {each.key: len(each.options) - 1 for each in app.segmented_control}
    assert (offered.get("control_layer", 1), offered["control_head"]) == SHAPES[kind]
    for view in VIEWS if kind == "cross_attention" else ():
        app.session_state["view"]["view"] = view.name
        app.run()
        assert (EN["lacks_projections"] in html(app)) == (view.name == "numbers")
        assert told(app) and not messages(app)


@pytest.mark.parametrize(("view", "name"), [("wrote", "wrote_map"), ("decided", "decided_grid")])
def test_a_decoder_alone_has_attribution_and_lens(open_own, view, name):
    """Rows are those of the prompt and of the text after it."""
    app = open_own(DECODER, view=view, sentence="cab", wrote_as="map", kind="decoder_attention")
    assert EN["lacks_residual"] not in told(app) and name in figures(app)


def test_a_change_is_found_among_the_pieces_and_taken_back_asks_for_another_trace(open_own):
    app = open_own(view="edits", edit="1", kind="cross_attention", layer="1", head="1")
    assert "edits_bars" in figures(app)
    card = component(app, "correction")["proposals"]["0"]
    assert card["sure"] == "The model does not say how sure it is."
    app.session_state["view"]["view"] = "heatmap"
    before = numbers(app.run())
    send(app, "correction", "asked", {"what": "reject", "number": 0})
    assert numbers(app).shape != before.shape or not np.array_equal(numbers(app), before)


def test_words_and_the_copy_are_taken_from_the_text(open_own):
    app = open_own(unit="word", kind="encoder_attention", layer="1", head="1")
    assert numbers(app).shape == (4, 4)  # three words and the end mark
    same = open_own(sentence="a big cat", shown="difference", kind="cross_attention", layer="1", head="1")
    assert EN["live_model_same"] in messages(same)
    weights = Speller().trace("a big cat", "a big cat").cross_attention[0, 0]
    np.testing.assert_allclose(numbers(same), weights - np.eye(len(weights)), atol=1e-6)


def test_a_bare_trace_is_shown_and_taken_along_and_what_it_lacks_is_said(open_own):
    app = open_own(BARE)
    expected = Bare().trace(WRONG, RIGHT).encoder_attention[0].mean(axis=0)
    np.testing.assert_allclose(numbers(app), expected, atol=1e-6)
    lacking = {
        "steps": "lacks_probabilities",
        "edits": "lacks_cross_attention",
        "predict": "lacks_cross_attention",
        "numbers": "lacks_projections",
    }
    for view in VIEWS:
        app.session_state["view"]["view"] = name = view.name
        app.run()
        assert told(app).find(EN[lacking[name]]) > 0 if name in lacking else figures(app) or name == "lines"
        assert EN["lacks_probabilities"] in html(app)
    for own in (SPELLER, BARE):
        assert open_popover(open_own(own), "taking").get("download_button")


@pytest.mark.parametrize("name", ["nonsense", "tests.own_model:unusable"])
def test_a_wrong_name_is_named_on_the_page(open_own, engine, name):
    model = engine.open(name)
    with pytest.raises(Exception, match="ATTENTION_MODEL"):
        model.correct("a")
    # As above: until the news has come, a page shows how far the model is.
    wait_until(lambda: model.progress.problem)
    app = open_own(name)
    assert EN["live_model_error"] in messages(app)
    assert name in html(app)


@pytest.mark.parametrize("page", ["masks", "network"])
def test_pages_about_the_inside_say_that_they_show_none(open_own, page):
    app = open_own(page=page)
    assert EN["live_model_page"] in messages(app)
    assert "control_model" in {each.key for each in app.selectbox}


# Experiments for which interventions suffice; the others ask for activations.
INTERVENING = {"without", "sources", "replace", "twins"}


def lacking(view) -> str | None:
    """The key of the text on an ability that a model with interventions alone lacks, or None."""
    if view.name in INTERVENING:
        return None
    trace = Speller().trace(WRONG, RIGHT)
    missing = view.lacks(SimpleNamespace(can=lambda asked: asked.needs == INTERVENTIONS, trace=trace))
    assert missing in {"lacks_residual", "lacks_interventions"}, view.name
    return missing


def test_the_laboratory_says_where_a_model_takes_no_interventions(open_own):
    for view in EXPERIMENTS:
        app = open_own(BARE, page="laboratory", experiment=view.name)
        lacks = lacking(view) or (None if view.name == "twins" else "lacks_interventions")
        assert EN[lacks] in told(app) if lacks else EN["lacks_interventions"] not in told(app), view.name


def test_the_laboratory_works_where_it_does(open_own):
    for view in EXPERIMENTS:
        app = open_own(page="laboratory", experiment=view.name, kind="cross_attention", layer="1", head="2")
        lacks = lacking(view)
        assert not messages(app)
        assert (EN[lacks] in told(app)) if lacks else len(figures(app)) >= 2, view.name


def test_a_model_that_translates_corrects_nothing(open_own):
    app = open_own(TRANSLATOR, sentence="나는 간다", kind="cross_attention", layer="1", head="1")
    shown = component(app, "correction")
    assert shown["words"]["label"] == EN["written_translate"] and shown["language"] == "en"
    assert "".join(piece["text"] for piece in shown["pieces"]) == "I go" and not shown["proposals"]
    assert told(app) and EN["bold_corrected"] not in html(app)
    app = open_own(TRANSLATOR, sentence=defaults()["sentence"])  # its own example is there in its place
    assert "I go" in str(component(app, "correction")["pieces"])
    assert EN["lacks_corrections"] in told(open_own(TRANSLATOR, sentence="나는 간다", view="edits"))


def test_a_model_that_goes_on_without_examples_begins_with_no_text(open_own):
    """The page's own example is Korean, with mistakes to correct."""
    told = messages(open_own(CONTINUING, sentence=defaults()["sentence"]))
    assert EN["empty_without_examples"] in told and EN["empty"] not in told  # no example to pick
    assert not {EN["empty_without_examples"], EN["empty"]} & {
        *messages(open_own(CONTINUING, sentence="once upon"))
    }
    assert EN["empty"] in messages(open_own(TRANSLATOR, sentence=" "))
