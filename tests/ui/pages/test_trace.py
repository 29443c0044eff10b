"""Page of an uploaded trace: its views, missing parts, and refused files."""

import io
from pathlib import Path

import numpy as np
import pytest

from model import AttentionTrace
from model.trace.trace import ATTENTION_KINDS
from tests.own_model import Bare
from tests.ui import screen
from tests.ui.fake_corrector import random_trace
from tests.ui.screen import ask, bars, component, figures, html, messages, numbers, open_popover, told
from ui.export.take_away import FILES
from ui.views import VIEWS
from ui.wording import table

EN = table("en")
MARIAN = (Path(__file__).parents[2] / "marian.npz").read_bytes()
NASTY = "<img src=x onerror=alert(1)> **b** $x$ [l](javascript:0)"


def saved(trace: AttentionTrace) -> bytes:
    file = io.BytesIO()
    trace.save(file)
    return file.getvalue()


@pytest.fixture
def open_file(open_app):
    def open_at(content: bytes | None, **settings: str):
        app = open_app("trace", **{"lang": "en"} | settings)
        if content is not None:
            app.file_uploader[0].set_value(("trace.npz", content, "application/octet-stream")).run()
        return app

    return open_at


@pytest.mark.parametrize("language", ["ko", "en"])
def test_its_limits_and_how_to_stay_within_them_are_told_in_the_page_s_language(open_file, language):
    limits = table(language)["trace_limits"].format(megabytes=20, weights="6,000,000", tokens=512)
    long = AttentionTrace(source_tokens=("a",) * 513, encoder_attention=np.eye(513)[None, None])
    for content in (None, saved(long)):
        shown = html(open_file(content, lang=language))
        assert limits in shown and "[-2:]" in shown
        assert content or "trace.save(" in shown  # how to make one


def padded_trace() -> AttentionTrace:
    """Two tokens and one of padding on each side."""
    look_back = np.float32([[1, 0, 0], [0.5, 0.5, 0], [0.3, 0.3, 0.4]])
    masked = np.float32([[0.5, 0.5, 0], [0.25, 0.75, 0], [0, 0, 0]])
    return AttentionTrace(
        source_tokens=("a", "b", "<pad>"),
        target_tokens=("c", "</s>", "<pad>"),
        decoder_input_tokens=("<s>", "c", "</s>"),
        encoder_attention=masked[None, None].repeat(2, 1),
        decoder_attention=look_back[None, None],
        cross_attention=masked[None, None],
        source_padding=(False, False, True),
        target_padding=(False, False, True),
    )


@pytest.mark.parametrize("view", [*(view.name for view in VIEWS), "received"])  # as old addresses call it
def test_a_padded_trace_opens_in_every_view(open_file, view):
    app = open_file(saved(padded_trace()), view=view)
    for kind in ATTENTION_KINDS:
        app.session_state["view"]["kind"] = kind
        assert not messages(app.run())
        if (view, kind) == ("received", "encoder_attention"):  # rows of padding are left out
            np.testing.assert_allclose(np.ravel(bars(app, "received")), [0.375, 0.625, 0])


def test_options_of_the_heatmap_work_on_it(open_file):
    trace = AttentionTrace.load(io.BytesIO(MARIAN))
    app = open_file(MARIAN, kind="cross_attention", layer="2", head="1")
    weights = trace.cross_attention[1, 0]
    np.testing.assert_array_equal(numbers(app), weights)
    assert numbers(open_file(MARIAN, unit="word")).shape == (6, 6)  # five words and the end mark
    app = open_file(MARIAN, shown="difference", kind="cross_attention", layer="2", head="1")
    # ▁the ▁ca t ▁sat ▁손 님 이 ▁왔 는데 </s> of ▁te h ▁ca t ▁sat ▁손 니 미 ▁왔 는데 </s>
    copies = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    changed = numbers(app) - weights
    assert {int(row.argmin()) for row in changed} <= set(copies)
    np.testing.assert_allclose(changed.sum(axis=1)[[1, 2, 3, 4, 7, 8, 9]], -1, atol=1e-5)


def test_a_change_can_be_chosen_but_not_undone_and_another_file_forgets_it(open_file):
    app = open_file(MARIAN)
    assert component(app, "correction")["words"]["reject"] == ""
    for what, chosen in (("choose", "1"), ("reject", ""), ("choose", "1")):
        assert screen.chosen(ask(app, what, 0), "rejected", "edit") == ("", chosen)
    app.file_uploader[0].set_value(("b.npz", saved(random_trace("가나", "가다")), "")).run()
    assert screen.setting(app, "edit") == ""


def test_it_can_be_taken_along_but_no_link_leads_to_it(open_file):
    app = open_popover(open_file(MARIAN), "taking")
    assert len(app.get("download_button")) == 1 + len(FILES)
    assert EN["take_away_link_label"] not in html(app)


def test_an_encoder_alone_is_shown_and_what_it_lacks_is_said(open_file):
    content = saved(Bare().trace("a b", "a b"))
    for view in VIEWS:
        shown = html(open_file(content, view=view.name))
        assert EN["lacks_probabilities"] in shown and EN["lacks_cross_attention"] in shown
    assert "heatmap" in figures(open_file(content))


def test_a_decoder_alone_is_shown(open_file):
    whole = AttentionTrace.load(io.BytesIO(MARIAN))
    names = "target_tokens", "decoder_input_tokens", "decoder_attention", "log_probabilities", "alternatives"
    names += "alternative_probabilities", "target_text", "target_spans"
    content = saved(AttentionTrace(**{name: getattr(whole, name) for name in names}))
    for view in VIEWS:
        app = open_file(content, view=view.name)
        assert told(app)
        assert EN["lacks_cross_attention"] in html(app)
    open_popover(app, "taking")


def test_hostile_words_are_text(open_file):
    trace = random_trace(NASTY, NASTY[:-1])
    for view in VIEWS:
        assert "<img" not in html(open_file(saved(trace), view=view.name))


def test_what_is_no_trace_or_too_long_or_has_a_wrong_field_is_named(open_file):
    weights = np.eye(600, dtype=np.float32)[None, None]
    app = open_file(saved(AttentionTrace(source_tokens=("a",) * 600, encoder_attention=weights)))
    assert EN["trace_wrong"].format(field="source_tokens") in messages(app)
    for content in (b"", b"PK\x03\x04"):
        app = open_file(content)
        assert messages(app) == [EN["trace_wrong_file"]] and not figures(app)
    other = io.BytesIO()
    np.savez_compressed(other, attention=np.zeros(3))
    assert open_file(other.getvalue()).error
