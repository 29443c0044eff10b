"""Page of training snapshots without a browser: slider, roles of heads, animation."""

import json
from dataclasses import replace

import numpy as np
import pytest

from model.stored.folder import ASSETS
from model.trace.trace import Grown
from tests.ui.conftest import entry
from tests.ui.fake_corrector import FakeCorrector, random_trace
from tests.ui.screen import figure, figures, html, told
from ui.wording import table

KO = table("ko")
SENTENCE = "고갱이 왔다"
STEPS = (0, 96, 2000)


def that_answers(found: tuple[Grown, ...], asked: list[str] | None = None) -> FakeCorrector:
    """A corrector whose snapshots answer ``found``, and append their sentence to the list ``asked``."""
    corrector = FakeCorrector()
    corrector.ask = lambda question, text: (asked if asked is not None else []).append(text) or found
    return corrector


@pytest.fixture
def grown(entries, correctors):
    entries.append(entry(ASSETS / "growing-up"))
    texts = (SENTENCE, "고개이 왔다", "고객이 왔다")
    found = tuple(
        Grown(step, SENTENCE, text, random_trace(SENTENCE, text, seed=step))
        for step, text in zip(STEPS, texts, strict=True)
    )
    correctors["growing-up"] = that_answers(found)
    return found


def test_the_last_snapshot_is_open_all_texts_are_told_and_the_slider_opens_another(open_app, grown):
    app = open_app("growing", sentence=SENTENCE)
    assert figures(app) == ["growing_heads", "growing_map", "growing_curves"]
    assert grown[-1].text in told(app)
    assert all(each.text in html(app) for each in grown)
    app.select_slider(key="control_snapshot").set_value("0").run()
    assert KO["growing_reading_same"].format(step=0, text=SENTENCE) in told(app)
    (mark,) = figure(app, "growing_curves")["layout"]["shapes"]
    assert mark["x0"] == 1


def test_a_snapshot_that_cannot_end_its_text_is_not_said_to_leave_it(open_app, grown, correctors):
    trace = grown[0].trace
    unended = replace(trace, alternatives=(*trace.alternatives[:-1], ("갈", "</s>")))
    found = (replace(grown[0], trace=unended), *grown[1:])
    correctors["growing-up"] = that_answers(found)
    app = open_app("growing", sentence=SENTENCE, snapshot="0")
    assert KO["growing_unfinished"].format(step=0) in told(app)
    assert KO["without_no_end"] in html(app)


def test_another_role_is_followed_and_every_head_has_one_in_the_end(open_app, grown):
    app = open_app("growing", sentence=SENTENCE, kind="encoder_attention")
    before = figure(app, "growing_curves")["data"][-1]["y"]
    app.selectbox(key="control_grown_role").set_value("previous").run()
    curves = figure(app, "growing_curves")
    assert curves["data"][-1]["y"] != before
    assert KO["growing_share"].format(role=KO["heads_by_previous"]) in json.dumps(curves, ensure_ascii=False)
    trace = grown[0].trace
    heads = [f"{layer + 1}·{head + 1} " for layer, head in np.ndindex(trace.shape("encoder_attention"))]
    assert all(head in html(app) for head in heads)
    app = open_app("growing", sentence=SENTENCE, kind="decoder_attention", grown_role="next")
    assert app.selectbox(key="control_grown_role").value == "own"  # the decoder cannot look ahead


def test_a_film_and_a_sentence_that_is_none(open_app, grown):
    assert "growing_map" in figures(open_app("growing", sentence=SENTENCE, film="1"))
    assert figures(open_app("growing", sentence=" ")) == []
