"""Page of the positional encoding: matrix, similarity, sizes, a moved character."""

import numpy as np
import pytest

from model.activations.sublayers import positional_encoding
from model.analysis.building_blocks import similarity
from model.stored.config import Seq2SeqConfig, TransformerConfig
from tests.ui.fake_corrector import MAX_LENGTH
from tests.ui.screen import decode, figure, figures, html, messages
from ui.wording import table

KO, EN = table("ko"), table("en")
D = 4  # of the fake's embeddings


@pytest.fixture(autouse=True)
def configs(correctors):
    """The configs of real networks, of which this page asks more than others do."""
    sizes = {"vocab_size": 50, "d_model": D, "max_length": MAX_LENGTH}
    correctors["transformer"].config = TransformerConfig(num_heads=2, **sizes)
    correctors["seq2seq"].config = Seq2SeqConfig(**sizes)


def charts(app) -> list[dict]:
    return [figure(app, key) for key in figures(app)]


def test_matrix_curves_and_similarity_are_those_of_the_model(open_app):
    app = open_app("positions", positions="40", dimensions="16", curves="3,2")
    matrix, curves, pairs, curve, *_ = charts(app)
    expected = positional_encoding(40, 16)
    np.testing.assert_array_equal(decode(matrix["data"][0]["z"]), expected)
    for trace, dimension in zip(curves["data"], (3, 2), strict=False):
        np.testing.assert_array_equal(decode(trace["y"]), expected[:, dimension])
    np.testing.assert_array_equal(decode(pairs["data"][0]["z"]), similarity(expected))
    np.testing.assert_allclose(decode(curve["data"][0]["y"]), similarity(expected)[0], atol=1e-4)
    for key in ("control_positions", "control_dimensions"):
        app.slider(key=key).set_value(512)
    app.run()
    np.testing.assert_array_equal(decode(charts(app)[0]["data"][0]["z"]), positional_encoding(512, 512))


@pytest.mark.parametrize(("dimensions", "falls"), [("16", False), ("2", True)])
def test_the_reading_says_where_similarity_falls_below_half_or_that_it_never_does(
    open_app, dimensions, falls
):
    shown = html(open_app("positions", lang="en", positions="3", dimensions=dimensions))
    assert ("2 apart it is below half" in shown) == falls  # cos(1) = 0.54, cos(2) = -0.42
    assert ("never falls below" in shown) != falls
    assert (EN["matrix_reading"].format(last=0, period="6.3") in shown) == falls  # the slowest


def test_sizes_are_those_of_the_chosen_sentences_embeddings(open_app, correctors):
    plain, scaled, encoding = charts(open_app("positions", sentence="좋다. 고갱"))[4]["data"]
    expected = np.linalg.norm(correctors["transformer"].embeddings("고갱"), axis=1)
    np.testing.assert_allclose(decode(plain["y"]), expected, rtol=1e-6)
    np.testing.assert_allclose(decode(scaled["y"]), 2 * expected, rtol=1e-6)
    np.testing.assert_allclose(decode(encoding["y"]), np.sqrt(D / 2), rtol=1e-6)
    assert plain["customdata"] == ["고", "갱", "&lt;/s&gt;"]


def test_the_first_wrong_character_moves_until_another_is_chosen(open_app):
    app = open_app("positions", sentence="고갱 왓다")
    pick = app.selectbox(key="control_moved")
    assert pick.value == "1"
    distance, cosine = charts(app)[5:]
    assert decode(distance["data"][0]["y"])[0] == 0
    assert decode(cosine["data"][0]["y"])[0] == pytest.approx(1)
    assert len(decode(distance["data"][0]["y"])) == MAX_LENGTH + 1
    pick.set_value("4").run()
    assert "‘다’ 자:" in html(app)


@pytest.mark.parametrize("language", ["en"])
def test_position_and_identity_are_weighed_against_each_other(open_app, correctors, language):
    network = correctors["transformer"]
    for size, wins, before in ((100, ("identity", "token"), "{times}"), (0.01, ("position",) * 2, "{from_}")):
        network.embeddings = lambda text, size=size: np.eye(3, 4, dtype=np.float32)[: len(text) + 1] * size
        network.fingerprint = f"of size {size}"
        shown = html(open_app("positions", sentence="고갱", lang=language))
        assert table(language)[f"positions_move_{wins[0]}"].split(before)[1][:20] in shown
        assert table(language)[f"positions_sizes_{wins[1]}"] in shown


def test_a_recurrent_network_adds_no_positions_and_no_sentence_has_any(open_app):
    app = open_app("positions", model="seq2seq")
    assert messages(app) == [KO["positions_recurrent"]] and len(charts(app)) == 4
    assert messages(open_app("positions", sentence="  \n")) == [KO["sentence_none"]]


def test_a_sentence_that_is_too_long_is_shown_as_far_as_the_network_reads_and_one_sign_is_escaped(open_app):
    app = open_app("positions", sentence="가" * (MAX_LENGTH + 9))
    assert len(decode(charts(app)[4]["data"][0]["y"])) == MAX_LENGTH + 1
    assert messages(app) == [KO["positions_cut"].format(length=MAX_LENGTH + 9, limit=MAX_LENGTH)]
    assert "살펴보는 문장: &lt;" in html(open_app("positions", sentence="<", moved="0"))
