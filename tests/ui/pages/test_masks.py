"""Page of attention masks: hidden cells, logits, weights, the leak without a mask."""

import numpy as np
import pytest

from model.analysis.building_blocks import dot_product_attention
from model.trace.trace import ATTENTION_KINDS
from tests.ui.computing_corrector import ComputingCorrector
from tests.ui.fake_corrector import one_map_trace
from tests.ui.screen import figure, figures, numbers
from tests.ui.screen import html as texts
from ui.wording import table

BATCH = "손니미 왔는데\n갠찬아"
LENGTH, REAL = 8, 4  # tokens of the longest sentence and of the chosen one, end marks included


@pytest.fixture
def open_masks(open_app, correctors):
    correctors["transformer"] = ComputingCorrector()
    correctors["seq2seq"] = ComputingCorrector("recurrent", one_map_trace)
    return lambda **settings: open_app("masks", **({"batch": BATCH} | settings))


def patterns(app, key: str) -> dict[str, int]:
    """Pattern -> number of areas of that look."""
    areas = [trace for trace in figure(app, key)["data"] if "fillpattern" in trace]
    return {area["fillpattern"]["shape"]: len(area["x"]) // 5 for area in areas}


def test_the_three_masks_with_the_reason_on_each_hidden_cell(open_masks):
    app = open_masks(lang="en")
    padded = np.arange(LENGTH) >= REAL
    later = np.triu(np.ones((LENGTH, LENGTH), bool), 1)
    for key, hidden in (
        ("masks_padding_batch", np.stack([np.zeros(LENGTH, bool), padded])),
        ("masks_padding", np.tile(padded, (LENGTH, 1))),
        ("masks_look_ahead", later),
        ("masks_both_map", padded | later),
    ):
        np.testing.assert_array_equal(np.isnan(numbers(app, key)), hidden)
    assert patterns(app, "masks_padding") == {".": LENGTH}
    assert patterns(app, "masks_look_ahead") == {"/": LENGTH - 1}
    assert patterns(app, "masks_both_map") == {"/": REAL - 1, ".": LENGTH}
    cells = figure(app, "masks_both_map")["data"][0]
    assert cells.get("hoverongaps") is not False  # a gap answers to the pointer
    masked, padding = ["masked (not written yet)"], ["padding (nothing there)"]
    told = [cell[0] for cell in cells["customdata"][0]]
    assert told == ["1", *masked * (REAL - 1), *padding * (LENGTH - REAL)]


def test_ids_stand_at_positions_from_1_and_masked_padded_and_small_look_different(open_masks):
    app = open_masks()
    ids = [*ComputingCorrector.tokenizer.encode_source("갠찬아"), *[0] * (LENGTH - REAL)]
    assert "".join(f"<td>{number}</td>" for number in ids) in texts(app)
    assert figure(app, "masks_padding_batch")["layout"]["xaxis"]["ticktext"][0] == "1"
    assert f'<th scope="col">{LENGTH}</th>' in texts(app) and '<th scope="col">0</th>' not in texts(app)
    assert set(patterns(app, "masks_weights_with")) == {"/", "."}
    assert patterns(app, "masks_weights_without") == {}
    legend = [trace["name"] for trace in figure(app, "masks_weights_with")["data"] if trace.get("showlegend")]
    assert legend == [table("ko")[f"masks_{name}"] for name in ("masked", "padded", "small")]
    recurrent = open_masks(model="seq2seq")  # which has padding alone
    assert "/" not in patterns(recurrent, "masks_weights_with")


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_logits_and_weights_are_the_networks_without_and_with_the_mask(open_masks, kind):
    app = open_masks(masks_kind=kind, layer="2", head="2")
    found = ComputingCorrector().projections("갠찬아", "갠찬아", LENGTH - REAL)[kind]
    allowed = np.tile(np.arange(LENGTH) < REAL, (LENGTH, 1))
    if kind == "decoder_attention":
        allowed = np.tril(allowed)
    for name, mask in (("without", None), ("with", allowed)):
        steps = dot_product_attention(*(a[1, 1] for a in (found.query, found.key, found.value)), mask)
        logits = np.where(np.isfinite(steps.logits), steps.logits, np.nan)
        np.testing.assert_allclose(numbers(app, f"masks_logits_{name}"), logits, rtol=1e-5)
        weights = numbers(app, f"masks_weights_{name}")
        np.testing.assert_allclose(weights, steps.weights, atol=1e-6)
        assert (weights[:, REAL:] == 0).all() == (name == "with")


def test_the_sentence_names_what_would_leak_or_that_nothing_is_hidden(open_masks):
    app = open_masks(lang="en", masks_kind="encoder_attention", layer="1", head="1")
    leaks = numbers(app, "masks_weights_without")[:REAL, REAL:].sum(1)
    assert f"row {leaks.argmax() + 1}," in texts(app)
    assert f"{leaks.max() * 100:.0f}% of its weight" in texts(app)
    app.text_area(key="control_batch").set_value("갠찬아\n집에갈").run()
    for key in ("masks_batch_reading_none", "masks_both_reading_no_padding", "masks_reading_nothing"):
        assert table("en")[key].split("{")[0] in texts(app)


def test_a_batch_that_cannot_be_drawn_is_explained_and_stays_and_another_one_changes_everything(open_masks):
    for batch in ("", "갠찬아", "가\n" * 6, "가나\n" + "다" * 31):
        app = open_masks(batch=batch)
        assert len(app.warning) == 1 and not figures(app)
        assert app.text_area(key="control_batch").value == batch
    app.text_area(key="control_batch").set_value("집\n집에 갈께요\n<b>이</b>").run()
    assert numbers(app, "masks_padding_batch").shape == (3, 9)
    assert "&lt;" in texts(app) and "<b>이</b>" not in texts(app)
