"""A trace from a file: what is right is shown in a frame, what is wrong is named, in the visitor's language."""

import io

import numpy as np
import pytest

from model import AttentionTrace
from tests.ui.fake_corrector import random_trace
from tests.ui.screen import html
from ui.texts import table

EN = table("en")


def saved(trace: AttentionTrace) -> bytes:
    file = io.BytesIO()
    trace.save(file)
    return file.getvalue()


@pytest.fixture
def open_file(open_app):
    def open_at(content: bytes, name: str = "trace.npz"):
        app = open_app("trace", lang="en")
        app.file_uploader[0].set_value((name, content, "application/octet-stream")).run()
        assert not app.exception
        return app

    return open_at


def test_without_a_file_it_says_how_to_make_one(open_app):
    app = open_app("trace", lang="en")
    assert not app.exception
    assert "trace.save(" in html(app)


def test_a_trace_is_shown_in_a_frame_that_can_reach_nothing(open_file):
    app = open_file(saved(random_trace("<b>가나</b>", "가다")))
    (frame,) = app.get("iframe")
    assert "sandbox='allow-scripts allow-downloads'" in frame.proto.srcdoc
    assert not app.error


def test_an_encoder_alone_is_shown_and_what_it_lacks_is_said(open_file):
    weights = np.full((2, 3, 2, 2), 0.5, np.float32)
    app = open_file(saved(AttentionTrace(source_tokens=("a", "b"), encoder_attention=weights)))
    assert app.get("iframe")
    assert EN["trace_lacks_cross_attention"] in html(app)
    assert EN["trace_lacks_steps"] in html(app)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<script>alert(1)</script>"])
def test_what_is_no_trace_is_named(open_file, content):
    app = open_file(content)
    assert len(app.error) == 1
    assert not app.get("iframe")


def test_a_wrong_field_is_named(open_file):
    with io.BytesIO() as file:
        np.savez_compressed(file, attention=np.zeros(3))
        app = open_file(file.getvalue())
    assert app.error
