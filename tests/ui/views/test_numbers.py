"""The calculation of one query gives the weights that the network used, and says by how little it is off."""

import numpy as np
import pytest

from tests.ui import fake_corrector
from tests.ui.computing_corrector import ComputingCorrector, computed_trace
from tests.ui.fake_corrector import one_map_trace
from tests.ui.screen import figure, numbers
from tests.ui.screen import html as texts
from ui.wording import table

SENTENCE, CORRECTED = "갱관적으로", "객관적으로"


@pytest.fixture
def open_numbers(open_app, correctors):
    correctors["transformer"] = ComputingCorrector()
    return lambda **settings: open_app("calculation", sentence=SENTENCE, **settings)


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_the_weights_are_those_of_the_trace(open_numbers, kind):
    app = open_numbers(kind=kind, layer="2", head="3", cell="2,0")
    assert not app.exception
    expected = computed_trace(SENTENCE, CORRECTED).attention(kind)[1, 2, 2]
    np.testing.assert_allclose(numbers(app, "numbers_scores", trace=1)[:, 0], expected, atol=1e-6)


def test_masked_scores_are_minus_infinity_and_hatched(open_numbers):
    app = open_numbers(kind="decoder_attention", layer="1", head="1", cell="1,0")
    spec = figure(app, "numbers_scores")
    assert [row[2] for row in spec["data"][0]["text"]] == [*spec_column(spec, 2)[:2], *["−∞"] * 4]
    assert "−∞" not in spec_column(spec, 1)
    assert spec["data"][2]["fillpattern"]["shape"] == "/"


def spec_column(spec: dict, column: int) -> list[str]:
    return [row[column] for row in spec["data"][0]["text"]]


def test_the_last_row_is_the_sum_of_the_weighted_values(open_numbers):
    app = open_numbers(layer="1", head="2")
    rows = numbers(app, "numbers_sum")
    np.testing.assert_allclose(rows[-1], rows[:-2].sum(0), atol=1e-5)
    assert np.isnan(rows[-2]).all()


def test_the_first_changed_row_is_offered_and_another_can_be_chosen(open_numbers):
    app = open_numbers(layer="1", head="1")
    chooser = app.selectbox(key="control_numbers_query")
    assert chooser.value == 0
    chooser.set_value(3).run()
    assert app.selectbox(key="control_numbers_query").value == 3
    expected = computed_trace(SENTENCE, CORRECTED).cross_attention[0, 0, 3]
    np.testing.assert_allclose(numbers(app, "numbers_scores", trace=1)[:, 0], expected, atol=1e-6)


def test_where_a_mean_was_chosen_the_first_head_is_shown_and_lit(open_numbers):
    app = open_numbers(layer="2", head="mean", lang="en")
    head = app.segmented_control(key="control_head")
    assert head.value == "1" and table("en")["head_mean"] not in head.options
    expected = computed_trace(SENTENCE, CORRECTED).cross_attention[1, 0, 0]
    np.testing.assert_allclose(numbers(app, "numbers_scores", trace=1)[:, 0], expected, atol=1e-6)


def test_the_difference_to_the_network_is_said(open_numbers, correctors):
    def difference(app) -> float:
        words = texts(app).split(table("en")["numbers_difference"].split("{")[0])[1]
        return float(words.split("</p>")[0].rstrip("."))

    assert difference(open_numbers(lang="en", layer="1", head="1")) < 1e-6
    # A trace that does not follow from the projections is found out.
    correctors["transformer"] = type(correctors["seq2seq"])("unrelated")
    assert difference(open_numbers(lang="en", layer="1", head="1")) > 0.01


@pytest.mark.parametrize("cell", ["99,0", "x,1", "-1,0", "3", ",", "1e9,0"])
def test_a_strange_cell_in_a_link_falls_back(open_numbers, cell):
    app = open_numbers(cell=cell)
    assert not app.exception
    assert app.selectbox(key="control_numbers_query").value == 0


def test_a_recurrent_network_has_one_attention(open_app):
    app = open_app("calculation", sentence=SENTENCE, model="seq2seq")
    assert not app.exception
    assert one_map_trace(SENTENCE, CORRECTED).cross_attention.shape[-1] == len(
        numbers(app, "numbers_scores", trace=1)
    )


def test_of_a_long_sentence_the_heaviest_keys_are_shown(open_app, correctors, monkeypatch):
    correctors["transformer"] = ComputingCorrector()
    monkeypatch.setattr(fake_corrector, "MAX_LENGTH", 200)
    app = open_app("calculation", sentence="갱" + "가나다라 " * 20, layer="1", head="1")
    assert not app.exception
    assert numbers(app, "numbers_vectors").shape[0] == 40 + 2
    shown = numbers(app, "numbers_scores", trace=1)[:, 0]
    assert len(shown) == 40
    assert f"{1 - shown.sum():.3f}" in texts(app)
