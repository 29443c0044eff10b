"""``explore``: packed weights, frame, two traces, padding, sinks; strongest edges."""

import json
import re
from base64 import b64decode
from html import unescape
from zlib import decompress

import numpy as np
import pytest

from model.trace.trace import AttentionTrace
from tests.ui.fake_corrector import random_trace
from viz import explore
from viz.browser import explore_data
from viz.browser.lines import strongest_edges
from viz.browser.steps import WEIGHT_UNIT, packed

TRACE = random_trace("고갱 왓다", "고객 왔다")
NASTY = "'\"&amp;</script><!--<img src=x onerror=f()>"


def large(kinds: int = 3, layers: int = 6, heads: int = 8, tokens: int = 128) -> AttentionTrace:
    """Random attention, which packs worst."""
    rng = np.random.default_rng(0)

    def weights(causal=False) -> np.ndarray:
        found = np.exp(rng.normal(size=(layers, heads, tokens, tokens)))
        found = np.tril(found) if causal else found
        return (found / found.sum(-1, keepdims=True)).astype(np.float32)

    names = tuple(f"t{place}" for place in range(tokens))
    target = {
        "target_tokens": names,
        "decoder_input_tokens": ("<s>", *names[:-1]),
        "decoder_attention": weights(causal=True),
        "cross_attention": weights(),
    }
    return AttentionTrace(source_tokens=names, encoder_attention=weights(), **(target if kinds == 3 else {}))


def data_of(page: bytes) -> list[dict]:
    blocks = re.findall(rb'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    return [json.loads(block) for block in blocks]


def test_every_weight_is_in_the_page_to_four_digits():
    (data,) = data_of(explore(TRACE).page)
    assert [kind["kind"] for kind in data["kinds"]] == list(TRACE.kinds)
    for kind in data["kinds"]:
        low, high = np.frombuffer(decompress(b64decode(kind["weights"])), np.uint8).reshape(2, -1)
        found = (low + 256.0 * high).reshape(kind["shape"]) / data["unit"]
        np.testing.assert_allclose(found, TRACE.attention(kind["kind"]), atol=0.5001 / 10_000)


def test_what_rounding_left_outside_0_to_1_is_packed_as_the_next_weight_inside():
    found = packed(np.array([-0.00008, 0.5, 1.00008], np.float32))
    assert np.frombuffer(b64decode(found), "<u2").tolist() == [0, WEIGHT_UNIT // 2, WEIGHT_UNIT]


@pytest.mark.parametrize(("kinds", "megabytes"), [(1, 2), (3, 3)])
def test_the_largest_page_of_the_benchmark_is_small(kinds, megabytes):
    frame = explore(large(kinds))._repr_html_()
    assert len(frame.encode()) < megabytes * 1_000_000


def test_the_cell_gets_a_frame_that_is_shut_off_from_the_notebook():
    trace = AttentionTrace(source_tokens=(NASTY,), encoder_attention=np.ones((1, 1, 1, 1), np.float32))
    found = explore(trace, names=[NASTY], height=500)
    frame = found._repr_html_()
    parts = re.fullmatch(r"<iframe sandbox='([^']*)' style='([^']*)' srcdoc='([^']*)'></iframe>", frame)
    assert parts[1] == "allow-scripts allow-downloads"
    assert "width: 100%; height: 500px" in parts[2]
    assert unescape(parts[3]) == found.page.decode()
    assert "<img" not in re.sub(r"<script.*?</script>", "", parts[3], flags=re.DOTALL)
    assert data_of(found.page)[0]["name"] == NASTY


def test_the_page_asks_for_nothing():
    page = explore(TRACE).page.decode()
    assert "default-src 'none'" in page
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=", page)


def test_two_traces_stand_side_by_side_and_share_the_scripts(tmp_path):
    two = explore([TRACE, TRACE], names=["before", "after"])
    assert [data["name"] for data in data_of(two.page)] == ["before", "after", "after − before"]
    assert all(data["linked"] for data in data_of(two.page))
    assert [data["name"] for data in data_of(explore([TRACE, TRACE]).page)] == ["1", "2", "2 − 1"]
    one = explore(TRACE)
    assert len(two.page) < 1.3 * len(one.page)
    assert not data_of(one.page)[0]["linked"]
    assert len(repr(two)) < 100
    two.save(tmp_path / "two.html")
    assert (tmp_path / "two.html").read_bytes() == two.page


def test_only_what_has_the_same_heads_and_tokens_is_subtracted():
    other = random_trace("고갱 왓다", "고객 왔다.", seed=2)  # one token more was written
    difference = data_of(explore([TRACE, other]).page)[2]
    assert [kind["kind"] for kind in difference["kinds"]] == ["encoder_attention"]
    largest = np.abs(other.encoder_attention - TRACE.encoder_attention).max()
    assert difference["kinds"][0]["largest"] == pytest.approx(largest)
    assert "weights" not in difference["kinds"][0]
    unlike = random_trace("다른 글", "다른 글이다", seed=2)
    assert len(data_of(explore([TRACE, unlike]).page)) == len(data_of(explore([TRACE] * 3).page)) - 1 == 2


def test_a_sink_is_a_column_before_the_tokens():
    weights = np.float32([[[[0.5, 0], [0.25, 0.5]]]])
    target = {"target_tokens": ("b", "c"), "decoder_input_tokens": ("a", "b")}
    trace = AttentionTrace(**target, decoder_attention=weights, sinks=("decoder_attention",), prompt=1)
    (data,) = data_of(explore(trace).page)
    (kind,) = data["kinds"]
    assert kind["shape"] == [1, 1, 2, 3] and kind["sink"] == 1
    low, high = np.frombuffer(decompress(b64decode(kind["weights"])), np.uint8).reshape(2, -1)
    np.testing.assert_allclose((low + 256.0 * high) / data["unit"], [0.5, 0.5, 0, 0.25, 0.25, 0.5], atol=1e-4)
    axis = kind["maps"]["linear"]["spec"]["layout"]["xaxis2"]
    assert dict(zip(axis["tickvals"], axis["ticktext"], strict=True)) == {0: "∅", 1: "a", 2: "b"}
    assert "attention sink" in data["words"]["note"] and "Bold rows" in data["words"]["note"]


def test_padding_is_said_row_by_row_and_column_by_column():
    weights = np.full((1, 1, 3, 3), 0.5, np.float32)
    weights[..., 2], weights[:, :, 2] = 0, 0
    padding = {"source_padding": (False, False, True)}
    trace = AttentionTrace(source_tokens=("a", "b", "<pad>"), encoder_attention=weights, **padding)
    ((kind,),) = (data["kinds"] for data in data_of(explore(trace).page))
    assert kind["padded"] == {"told": " (padding)", "rows": [2], "columns": [2]}
    assert [each.get("fillpattern", {}).get("shape") for each in kind["maps"]["linear"]["spec"]["data"]][
        1
    ] == "."
    leaking = (
        weights
        + np.float32([[0, 0, 0.1], [0, 0, 0.1], [0, 0, 0]])
        - np.float32([[0.1, 0, 0]] * 2 + [[0] * 3])
    )
    trace = AttentionTrace(source_tokens=("a", "b", "<pad>"), encoder_attention=leaking, **padding)
    ((kind,),) = (data["kinds"] for data in data_of(explore(trace).page))
    assert (kind["padded"]["rows"], kind["padded"]["columns"]) == (
        [2],
        [],
    )  # a mask that was forgotten is seen


def test_weights_are_rounded_more_where_there_are_many(monkeypatch):
    monkeypatch.setattr(explore_data, "MANY_WEIGHTS", 1)
    (data,) = data_of(explore(TRACE).page)
    assert data["unit"] == explore_data.COARSE_UNIT
    assert "0.0005" in data["words"]["note"]


@pytest.mark.parametrize(
    ("traces", "options", "told"),
    [
        ([], {}, "explore needs a trace, received none"),
        ("trace.npz", {}, r"traces should be such as .* AttentionTrace.load\(path\), received str"),
        (np.ones((1, 1, 2, 2)), {}, "traces should be such as .*, received ndarray"),
        (TRACE, {"names": ["a", "b"]}, "1 traces should have 1 names or none, received 2"),
        (TRACE, {"language": "xx"}, "language should be one of .* received 'xx'"),
        (TRACE, {"theme": "pink"}, "theme should be one of .* received 'pink'"),
        (
            AttentionTrace(source_tokens=("a",), encoder_attention=np.zeros((1, 1, 1, 1), np.float32)),
            {},
            "encoder_attention should have rows that sum to 1",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(traces, options, told):
    with pytest.raises(ValueError, match=told):
        explore(traces, **options)


def test_the_fewest_keys_that_carry_the_mass_the_strongest_first():
    weights = np.array([[0.25, 0.5, 0.25], [0.0, 0.125, 0.875]], np.float32)
    assert strongest_edges(weights, 0.5) == [(0, 1, 0.5), (1, 2, 0.875)]
    assert strongest_edges(weights, 0.6) == [(0, 1, 0.5), (0, 0, 0.25), (1, 2, 0.875)]
    assert strongest_edges(weights, 1) == [
        (0, 1, 0.5), (0, 0, 0.25), (0, 2, 0.25), (1, 2, 0.875), (1, 1, 0.125),
    ]  # fmt: skip
    assert strongest_edges(weights, 0) == strongest_edges(np.zeros((1, 3)), 1) == []
    tenths = np.full((1, 10), 0.1, np.float32)  # rounding draws no line too many
    assert [len(strongest_edges(tenths, share / 10)) for share in range(11)] == list(range(11))


@pytest.mark.parametrize("mass", [-0.1, 1.1, float("nan")])
def test_a_mass_outside_its_range_is_refused(mass):
    with pytest.raises(ValueError, match=f"received {mass}"):
        strongest_edges(np.ones((1, 1)), mass)
