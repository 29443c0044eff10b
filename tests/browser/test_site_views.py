"""Views of the static site against Python: ablations, numbers, charts, statistics."""

import base64
import json
import re

import numpy as np
import pytest

import viz
from deploy.site import figures
from deploy.site.bundle import bundled
from model.activations.sublayers import positional_encoding
from model.analysis.building_blocks import dot_product_attention
from model.analysis.contrasts import Edit, contrast_of_edit
from model.analysis.contributions import contribution
from model.analysis.edits import asked_row, attention_to_edit, leading_heads
from model.analysis.head_effects import ablate_heads, ablated_fix_probability, head_effects
from model.analysis.statistics import rank_correlation
from model.trace.trace import ATTENTION_KINDS
from tests.browser.test_site_answers import differences
from ui import wording
from viz.browser.texts import kind_names, table
from viz.figure import to_json

TEXT = "학교에 가치 가자."
CLOSE = 2e-3  # nats; both compute in float32
SAY = lambda key, /, **values: table("ko")[key].format(**values)
# Asks the worker about a text.
ASK = """([text, about]) => new Promise((done, fail) => {
  const { worker } = window.site;
  const usual = worker.onmessage;
  worker.onmessage = ({ data }) => {
    worker.onmessage = usual;
    if (data.error) fail(new Error(data.error));
    else done(data.found.answer);
  };
  worker.postMessage({ text, about });
})"""


@pytest.fixture(scope="module")
def asked(open_site):
    return lambda about: open_site.evaluate(ASK, [TEXT, about])


@pytest.fixture(scope="module")
def sentence(light):
    (found,) = light.correct(TEXT).sentences
    assert found.changes
    return found


def test_each_head_does_for_a_change_what_it_does_in_python(asked, light, sentence):
    found = asked({"what": "effects", "number": 0})
    expected = head_effects(light, Edit(sentence.source, sentence.text, sentence.changes[0]))
    assert [tuple(head) for head in found["heads"]] == [tuple(head) for head in expected.heads]
    np.testing.assert_allclose(found["effect"], expected.effect, atol=CLOSE)
    np.testing.assert_allclose(found["attention"], expected.attention, atol=1e-4)


@pytest.mark.parametrize("off", [[], [["cross_attention", 3, 0], ["encoder_attention", 0, 1]]])
def test_without_heads_the_network_writes_what_it_does_in_python(asked, light, sentence, off):
    before, after = asked({"what": "verdict", "number": 0, "off": off})
    heads = [(), tuple(map(tuple, off))]
    texts = [each.text for each in ablate_heads(light, sentence.source, heads)]
    shares = ablated_fix_probability(light, Edit(sentence.source, sentence.text, sentence.changes[0]), heads)
    assert [before["text"], after["text"]] == texts
    np.testing.assert_allclose([before["fix"], after["fix"]], shares, atol=CLOSE)


@pytest.mark.parametrize("method", figures.METHODS)
def test_what_is_left_out_and_looked_at(asked, light, sentence, method):
    found = asked({"what": "sources", "number": 0})
    contrast = contrast_of_edit(light, Edit(sentence.source, sentence.text, sentence.changes[0]))
    expected = contribution(light, Edit(sentence.source, sentence.text, contrast), method)
    assert (found["row"], found["length"]) == (contrast.row, len(expected.source))
    values = found["lost" if method == "occlusion" else "looked"]
    np.testing.assert_allclose(values, np.concatenate([expected.source, expected.before]), atol=CLOSE)


@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_queries_keys_and_values(asked, light, sentence, kind, padding):
    found = asked({"what": "vectors", "kind": kind, "layer": 1, "head": 2, "padding": padding})
    source, target = sentence.source, sentence.source if padding else sentence.text
    expected = light.projections(source, target, padding)[kind]
    for part in ("query", "key", "value"):
        np.testing.assert_allclose(found[part], getattr(expected, part)[1, 2], atol=1e-3)


# --- figures ---


@pytest.fixture(scope="module")
def drawing(browser, light):
    """Calls a function of the site's scripts: ``drawing("filledBars", …)``."""
    page = browser.new_page()
    files = ("charts", "experiments", "calculation", "numbers", "views")
    scripts = "".join(bundled(f"{name}.js", f"site_{name}") for name in files)
    shared = ", ".join(f"...site_{name}" for name in files)
    page.add_script_tag(content=f"{scripts}window.shared = {{ {shared} }};")
    page.evaluate(
        "() => { shared.shareSaid = (share) =>"
        " shared.percent((key, { share }) => `${key} ${share}`, share); }"
    )
    # Values that JSON lacks: functions of row and column, typed arrays, minus infinity.
    revive = """([name, given]) => {
      const revived = (value) => {
        if (value === "-Infinity") return -Infinity;
        if (Array.isArray(value)) return value.map(revived);
        if (value === null || typeof value !== "object") return value;
        if (value.cells) return (row, column) => value.cells[row][column];
        if (value.floats) return Float32Array.from(value.floats);
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revived(each)]));
      };
      const found = window.shared[name](...given.map(revived));
      return found instanceof Float32Array ? Array.from(found) : found;
    }"""
    yield lambda name, *given: page.evaluate(revive, [name, json.loads(json.dumps(given))])
    page.close()


@pytest.fixture(scope="module")
def templates(light):
    return figures.further_figures(SAY, light.correct(TEXT).trace, light.config.d_model, "light")


def plain(value):
    """A specification whose packed arrays are lists, with None for nan."""
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(base64.b64decode(value["bdata"]), f"<{value['dtype']}")
        if "shape" in value:
            array = array.reshape(tuple(map(int, value["shape"].split(","))))
        return plain(array.tolist())
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def assert_same_figure(found, expected):
    expected = plain(json.loads(to_json(expected)))
    one, other = json.loads(json.dumps(found["spec"])), expected
    assert [*differences(one["data"], other["data"]), *differences(one["layout"], other["layout"])] == []


TOKENS = tuple("학교에␣가치␣가자.") + ("</s>",)
WORDS = {"outlined": "고친 곳", "tokens": "글자", "key": "키", "value": "무게"}


@pytest.mark.parametrize("share", [0, 0.004, 0.005, 0.0051, 0.007, 0.314, 0.994, 0.995, 0.998, 1])
def test_a_share_is_said_as_in_python(drawing, share, monkeypatch):
    monkeypatch.setattr(wording, "say", lambda key, share: f"{key} {share}")
    assert drawing("shareSaid", share) == wording.percent(share)


@pytest.mark.parametrize("outlined", [[], [2, 3, 7]])
def test_bars(drawing, templates, outlined):
    weights = np.random.default_rng(0).dirichlet(np.ones(len(TOKENS)), 3).astype(np.float32)
    names = ["1층 헤드 1: 59%", "<둘>", "셋"]
    template = drawing("withWords", templates["edits"], WORDS)
    table_ = {"weights": weights.tolist(), "tokens": TOKENS, "names": names, "outlined": outlined, "first": 4}
    words = {"outlined_title": WORDS["outlined"], "token_title": WORDS["tokens"]}
    words["hover"] = (WORDS["key"], WORDS["value"])
    expected = viz.attention_bars(weights, TOKENS, names, outlined=outlined, first=4, **words)
    assert_same_figure(drawing("filledBars", template, table_), expected)


def test_panels(drawing, templates):
    values = np.random.default_rng(1).normal(size=(2, len(TOKENS))).astype(np.float32)
    given = {"values": values.tolist(), "tokens": TOKENS, "outlined": [1], "split": 6}
    found = drawing("filledPanels", templates["panels"], given)
    panels = [
        viz.MethodPanel(SAY(f"method_{name}"), row, intervened=name == "occlusion")
        for name, row in zip(figures.METHODS, values, strict=True)
    ]
    words = {f"{name}_name": SAY(f"sources_{name}") for name in ("observed", "intervened")}
    words |= {"token_title": SAY("sources_tokens"), "value_title": SAY("sources_share")}
    assert_same_figure(found, viz.contribution_panels(panels, TOKENS, outlined=[1], split=6, **words))


@pytest.mark.parametrize("size", [(4, 5), (30, 32)])
@pytest.mark.parametrize("scale", [viz.SIGNED, viz.WEIGHT])
def test_tables(drawing, templates, size, scale):
    rng = np.random.default_rng(2)
    values = rng.normal(0, 2, size) if scale == viz.SIGNED else rng.random(size)
    masked, padded = np.triu(np.ones(size, bool), 2), np.zeros(size, bool)
    padded[:, -1] = True
    names = {"masked": "가림", "padded": "패딩", "small": "작음", "rows": "줄", "columns": "칸"}
    names |= {"row": "줄", "column": "칸", "value": "값"}
    rows, columns = [[str(i) for i in range(count)] for count in size]
    given = {
        "values": values.tolist(),
        "rows": rows,
        "columns": columns,
        "isWeight": scale == viz.WEIGHT,
        "masked": {"cells": masked.tolist()},
        "padded": {"cells": padded.tolist()},
        "small": scale == viz.WEIGHT,
        "every": 2,
        "design": 440 if size[0] > 9 else None,
    }
    expected = viz.number_heatmap(
        values,
        rows,
        columns,
        scale=scale,
        hidden=viz.Hidden(masked, padded, "가림", "패딩"),
        small_name="작음" if scale == viz.WEIGHT else "",
        titles=("줄", "칸"),
        hover=("줄", "칸", "값"),
        label_every=2,
        design_width=given["design"],
    )
    template = drawing("withWords", templates["table"], names)
    assert_same_figure(drawing("filledTable", template, given), expected)


def test_a_calculation_is_computed_and_drawn_as_in_python(drawing, templates):
    rng = np.random.default_rng(4)
    query, key, value = rng.normal(size=(1, 8)), rng.normal(size=(5, 8)), rng.normal(size=(5, 8))
    expected = dot_product_attention(query, key, value, np.array([[True, True, True, False, False]]))
    plain_steps = drawing("dotProduct", query[0].tolist(), key.tolist(), value.tolist())
    unmasked = dot_product_attention(query, key, value)
    for name in ("products", "scaled", "weights", "output"):
        np.testing.assert_allclose(plain_steps[name], getattr(unmasked, name)[0], atol=1e-9)
    steps = [getattr(expected, name)[0] for name in ("products", "scaled", "logits")]
    names = ["q·k", "÷√d", SAY("numbers_with_mask"), "softmax"]
    given = {
        "steps": [["-Infinity" if np.isneginf(one) else one for one in step] for step in steps],
        "weights": expected.weights[0].tolist(),
        "keys": list("가나다라마"),
        "names": names,
    }
    template = drawing("withWords", templates["steps"], {"masked": "가림"})
    captions = viz.Captions(
        titles=(SAY("hover_key"), ""),
        hover=(SAY("hover_key"), SAY("numbers_step"), SAY("value_axis")),
        names=("가림",),
    )
    figure = viz.attention_steps(steps, expected.weights[0], list("가나다라마"), names, captions=captions)
    assert_same_figure(drawing("filledCalculation", template, given), figure)


def test_squares_and_points_of_heads(drawing, templates, light):
    trace = light.correct(TEXT).trace
    rng = np.random.default_rng(5)
    effect, attention = rng.normal(size=len(trace.heads)).astype(np.float32), rng.random(len(trace.heads))
    chosen = [trace.heads[3], trace.heads[20]]
    grids = {kind: np.zeros(trace.shape(kind), np.float32) for kind in trace.kinds}
    for head, one in zip(trace.heads, effect, strict=True):
        grids[head.kind][head.layer, head.head] = one
    shared = {"names": kind_names(SAY, trace.kinds), "chosen": chosen, "theme": "light"}
    given = {"heads": trace.heads, "chosen": chosen}
    given |= {"effect": effect.tolist(), "attention": attention.tolist()}
    looks = {
        "value_title": SAY("without_effect"),
        "layer_title": SAY("layer_label"),
        "key": SAY("without_key"),
        "helps_below": True,
    }
    mosaic = viz.head_mosaic(grids, **looks, **shared)
    assert_same_figure(drawing("filledMosaic", templates["mosaic"], given), mosaic)
    titles = {"attention_title": SAY("without_attention"), "effect_title": SAY("without_effect")}
    points = viz.attention_effect_scatter(attention, effect, trace.heads, **titles, **shared)
    assert_same_figure(drawing("filledScatter", templates["scatter"], given), points)


def test_who_looked_at_a_change(drawing, light):
    (sentence,) = light.correct("그 사람은 어제 밥을 머거서 기분이 조아요.").sentences
    trace, changes = sentence.trace, sentence.changes
    assert len(changes) > 1
    camel = lambda name: re.sub("_(.)", lambda found: found[1].upper(), name)
    names = ("source_start", "source_end", "target_start", "target_end", "wrong", "right")
    given = [{camel(name): getattr(each, name) for name in names} for each in changes]
    for kind in trace.kinds:
        weights = trace.attention(kind)
        array = {"values": {"floats": weights.ravel().tolist()}, "shape": weights.shape}
        for change, one in zip(changes, given, strict=True):
            expected = attention_to_edit(trace, kind, change, changes, asked_row(trace, kind, change))
            found = drawing("attentionToEdit", kind, array, one, given)
            np.testing.assert_allclose(found["share"], expected.share.ravel(), atol=1e-5)
            np.testing.assert_allclose(found["usual"], expected.usual.ravel(), atol=1e-5)
            if kind == "cross_attention":
                leading = [(each.layer, each.head) for each in leading_heads(trace, change, changes)]
                found = drawing("leadingHeads", array, one, given, 3)
                assert [(each["layer"], each["head"]) for each in found] == leading


def test_ranks_and_positions(drawing):
    one, other = [1.0, 3.0, 3.0, -2.0], [0.5, 0.25, 4.0, 4.0]
    expected = rank_correlation(np.array(one), np.array(other))
    assert drawing("rankCorrelation", one, other) == pytest.approx(expected)
    np.testing.assert_allclose(drawing("sinusoids", 7, 6), positional_encoding(7, 6).ravel(), atol=1e-6)
