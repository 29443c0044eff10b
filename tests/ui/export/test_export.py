"""Export of a view as CSV, JSON, NPZ and HTML: the trace's numbers; typed text escaped."""

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import fields
from html import unescape
from urllib.parse import parse_qsl

import numpy as np
import pytest

import viz
from engine.own_model import TracedCorrector
from model import AttentionTrace
from model.trace.trace import Selection
from tests import own_model
from tests.ui.fake_corrector import FakeCorrector, one_map_trace
from tests.ui.hostile import TEXTS
from tests.ui.screen import html as written
from tests.ui.screen import open_popover
from ui.export import page, take_away
from ui.export.page import Choices, Experiment
from ui.sentence.state import SentenceState
from ui.views import VIEWS, heatmap
from ui.views.heatmap import cells_of
from ui.wording import say, spoken

NASTY = "고갱 =+-@\",'</script><b>&\u2028😀"


def make_state(
    text=NASTY, kind="cross_attention", layer=1, head=2, theme="light", trace=None
) -> SentenceState:
    corrector = FakeCorrector(trace=trace) if trace else FakeCorrector()
    corrector.name = "fake-model"
    sentence = corrector.correct(text).sentences[0]
    return SentenceState(corrector, sentence, sentence.trace, Selection(kind, layer, head), None, theme)


VALUES = {view.name: {each.name: each.read("") for each in view.settings} for view in VIEWS}


SAY = spoken("ko")(say)


def make_html(state: SentenceState, **chosen) -> str:
    choices = Choices("http://localhost:8501/?sentence=%EA%B3%A0", **{"values": VALUES} | chosen)
    return spoken("ko")(page.to_html)(state, choices).decode()


def read_csv(state: SentenceState) -> list[dict[str, str]]:
    text = take_away.to_csv(state).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_npz(state: SentenceState) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(take_away.to_npz(state)), allow_pickle=False) as arrays:
        return dict(arrays)


def test_every_weight_of_the_csv_is_that_of_the_trace():
    state = make_state()
    trace = state.trace
    found = {kind: np.full(trace.attention(kind).shape, np.nan, np.float32) for kind in trace.kinds}
    for row in read_csv(state):
        place = (int(row["layer"]) - 1, int(row["head"]) - 1)
        cell = (int(row["query_position"]) - 1, int(row["key_position"]) - 1)
        found[row["kind"]][(*place, *cell)] = np.float32(row["weight"])
        queries, keys = trace.axes(row["kind"])
        assert row["query_token"] == take_away.harmless(queries[cell[0]])
        assert row["key_token"] == take_away.harmless(keys[cell[1]])
    for kind, weights in found.items():
        np.testing.assert_array_equal(weights, trace.attention(kind))


def test_no_cell_begins_like_a_formula_and_other_tokens_stay_as_they_are():
    for token in ("=", "+", "-", "@", "＝", "＠", "\t", "\r", "=1+1"):
        assert take_away.harmless(token) == f"'{token}"
    for token in ("고", "␣", "<s>", "'", "1", ""):
        assert take_away.harmless(token) == token
    cells = {row[name] for row in read_csv(make_state()) for name in ("query_token", "key_token")}
    assert {"'=", "'+", "'-", "'@"} <= cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]


def test_json_holds_the_whole_trace_exactly():
    state = make_state()
    content = json.loads(take_away.to_json(state))
    for field in fields(state.trace):
        value = getattr(state.trace, field.name)
        given = np.array(content.get(field.name), np.asarray(value).dtype)
        np.testing.assert_array_equal(given, np.asarray(value))
    assert (content["source"], content["text"]) == (state.sentence.source, state.sentence.text)
    assert (content["model"], content["fingerprint"]) == ("fake-model", "fake")
    (change,) = content["changes"]
    expected = {"wrong": "갱", "right": "객", "fix_probability": 0.97, "keep_probability": 0.01}
    assert change.items() >= expected.items()
    assert (content["shown"]["layer"], content["shown"]["head"]) == (2, 3)
    np.testing.assert_array_equal(np.array(content["shown"]["weights"], np.float32), state.weights)
    assert content["schema_version"] == take_away.SCHEMA_VERSION
    shown = json.loads(take_away.to_json(make_state(layer=None, head=None)))["shown"]
    assert (shown["layer"], shown["head"]) == ("mean", "mean")


def test_npz_opens_without_pickle_and_gives_every_array_back_and_the_library_reads_a_trace():
    state = make_state()
    for file in (take_away.to_trace(state), take_away.to_npz(state)):
        found = AttentionTrace.load(io.BytesIO(file), limited=True)
        assert found.target_tokens == state.trace.target_tokens
        np.testing.assert_array_equal(found.cross_attention, state.trace.cross_attention)
    arrays = read_npz(state)
    for field in fields(state.trace):
        if getattr(state.trace, field.name) is not None:
            value = np.asarray(getattr(state.trace, field.name))
            np.testing.assert_array_equal(arrays[field.name], value)
            assert arrays[field.name].dtype.kind == value.dtype.kind
    assert arrays["cross_attention"].dtype == np.float32
    assert str(arrays["source"]) == state.sentence.source
    assert arrays["change_spans"].tolist() == [[1, 2, 1, 2]]


def test_what_a_recurrent_network_or_a_sentence_without_changes_lacks_is_left_out():
    state = make_state("고갱", layer=0, head=0, trace=one_map_trace)
    assert {row["kind"] for row in read_csv(state)} == {"cross_attention"}
    assert "encoder_attention" not in json.loads(take_away.to_json(state)).keys() | read_npz(state).keys()
    assert 'id="heatmap"' in make_html(state)
    unchanged = make_state("가")
    assert read_npz(unchanged)["change_spans"].shape == (0, 4)
    assert json.loads(take_away.to_json(unchanged))["changes"] == []


@pytest.mark.parametrize(
    ("rows", "part", "kinds"),
    [(10**6, "all", 3), (9 * 9 * 6, "kind", 1), (9 * 9, "shown", 1)],
)
def test_csv_and_json_take_what_one_sheet_can_show(monkeypatch, rows, part, kinds):
    monkeypatch.setattr(take_away, "SHEET_ROWS", rows)
    state = make_state("고갱님이 왔어요")
    assert take_away.part_that_fits(state) == part
    table = read_csv(state)
    assert len(table) == take_away.count(state, part) <= rows
    assert len({row["kind"] for row in table}) == kinds
    content = json.loads(take_away.to_json(state))
    assert content["attention_part"] == part
    assert sum(kind in content for kind in state.trace.kinds) == {"all": 3, "kind": 1, "shown": 0}[part]


def test_the_page_asks_for_nothing_and_names_the_scripts_it_runs():
    html = make_html(make_state())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("style-src")[0]
    scripts = re.findall(r'<script(?: type="module")?>(.*?)</script>', html, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert [f"'sha256-{each}'" in policy for each in hashes] == [True] * len(scripts)
    assert len(scripts) == 5  # the shared one, figures, lines, steps and the explorer; the library is packed
    loads = r'<(?:script|link|img|iframe)[^>]+(?:src|href)="'
    assert not re.search(loads, html.replace("".join(scripts), ""))


def test_the_file_shows_the_heatmap_in_the_light_of_the_view():
    state = make_state("고갱")
    cells = cells_of(state, by_words=False, without_marks=True, minus_copy=True)
    shown = VALUES["heatmap"] | {"shown": "difference", "unmarked": True, "fitted": True}
    choices = {"values": VALUES | {"heatmap": shown}, "selected": (1, 0)}
    figure = heatmap.picture(state, shown, (1, 0))
    np.testing.assert_array_equal(figure["data"][0]["z"], cells.values)
    assert len(figure["layout"]["shapes"]) == 2
    assert SAY("heatmap_difference_cross_attention")[:20] in make_html(state, **choices)


def test_an_open_experiment_stands_behind_everything_that_was_observed():
    state = make_state("고갱")
    figure = viz.head_mosaic({"cross_attention": np.array([[1.5, -0.25]])})
    experiment = Experiment("<꺼 보기>", ("말한 것 <1>", "주"), {"without_mosaic": (figure, "칸 <2>")}, True)
    written = make_html(state, experiment=experiment)
    behind = written.partition("<h2>&lt;꺼 보기&gt;</h2>")[2]
    assert "말한 것 &lt;1&gt;" in behind
    assert "<h2>" not in behind.partition("<script")[0]
    assert "<h3>칸 &lt;2&gt;</h3>" in behind
    assert "without_mosaic" in behind


def test_file_names_keep_hangul_and_drop_what_systems_forbid():
    assert take_away.file_name("어제 비가/왔다: 네?", "csv") == "attention-어제-비가-왔다-네.csv"
    assert take_away.file_name("../..", "json") == "attention.json"


def test_a_typed_half_of_a_character_breaks_no_file():
    state = make_state("고갱\udc80")
    take_away.to_csv(state)
    assert json.loads(take_away.to_json(state))["source"] == "고갱\udc80"
    take_away.to_npz(state)


def test_the_app_offers_the_page_every_data_format_and_a_link_to_the_same_view(open_app, monkeypatch):
    monkeypatch.setattr(take_away, "holds", lambda fingerprint: False)  # "alive" needs a file made by hand
    app = open_popover(open_app(lang="en", kind="encoder_attention", sentence="고갱", head="2"), "taking")
    labels = [button.proto.label for button in app.get("download_button")]
    named = spoken("en")(say)
    assert {"csv", "json", "npz", "trace"} <= take_away.FILES.keys()
    assert labels == [named(f"take_away_{name}") for name in ("html", *take_away.FILES)]
    (link,) = map(unescape, re.findall(r'class="link"><a href="([^"]+)"', written(app)))
    told = dict(parse_qsl(link.partition("?")[2]))
    assert told == {"lang": "en", "kind": "encoder_attention", "sentence": "고갱", "head": "2"}


def test_offering_files_changes_no_setting(open_app):
    app = open_app(sentence="고갱", **dict.fromkeys(("heads", "cell", "step"), TEXTS[0]))
    before = dict(app.session_state["view"])
    assert open_popover(app, "taking").session_state["view"] == before


@pytest.mark.parametrize("model", [own_model.Speller(), own_model.Bare()], ids=["speller", "bare"])
def test_what_a_model_of_ones_own_lacks_is_left_out(model):
    sentence = TracedCorrector("own", model).correct_batch([own_model.WRONG])[0].sentences[0]
    selection = Selection(sentence.trace.kinds[-1], 0, 0)
    state = SentenceState(FakeCorrector(), sentence, sentence.trace, selection, None, "light")
    assert own_model.RIGHT in make_html(state)
    assert ('data-component="steps"' in make_html(state)) == isinstance(model, own_model.Speller)
    assert {change["confidence"] for change in json.loads(take_away.to_json(state))["changes"]} == {None}
    assert AttentionTrace.load(io.BytesIO(take_away.to_trace(state))).kinds == sentence.trace.kinds
    assert np.isnan(read_npz(state)["change_fix_probability"]).all()
    assert read_csv(state)
