"""Page of the laboratory over a planted network: its experiments, side by side, errors."""

import json
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from engine.questions import ROUNDS
from model.analysis.attribution_methods import METHODS
from model.analysis.contributions import REFERENCE, contributions, method_agreement
from model.stored.folder import ASSETS, ModelFolderError
from model.survey.results import read_agreement
from tests.planted import CAUSE, CODA, EDIT, RIGHT, ROW, WRONG
from tests.ui.conftest import entry
from tests.ui.fake_corrector import FakeCorrector
from tests.ui.screen import bars, figure, figures, html, numbers, open_popover, send, setting, told
from ui.asking import loaders
from ui.export import take_away
from ui.shell import runs
from ui.views import EXPERIMENTS
from ui.wording import table

KO = table("ko")
HEAD = {"kind": CODA.kind, "layer": str(CODA.layer + 1), "head": str(CODA.head + 1)}


# The figures of an experiment that go into the file.
TAKEN = {"without": 2, "sources": 1, "replace": 2, "fork": 3, "twins": 2}
TAKEN |= {"patched": 1, "circuit": 3, "why": 3}


def test_every_experiment_is_a_tab_that_says_something_and_its_figures_go_into_the_file(
    open_laboratory, monkeypatch
):
    made = []
    noted = lambda views, opened: made.append(take_away.experiment(opened)) or bytes
    monkeypatch.setattr(take_away, "page_maker", noted)
    for view in EXPERIMENTS:
        app = open_laboratory(view.name)
        tabs = app.segmented_control(key="control_experiment")
        assert tabs.options == [KO[f"view_{each.name}"] for each in EXPERIMENTS]
        assert told(app)
        assert len(figures(app)) >= (1 if view.name == "receipts" else 2), view.name  # claims are words
        open_popover(open_popover(app, "view_options"), "taking")  # each setting has one control
        if view.name in TAKEN:
            assert len(made[-1].figures if made[-1] else ()) == TAKEN[view.name], view.name
            assert not made[-1] or made[-1].title == KO[f"view_{view.name}"]
        if view.name == "twins":
            assert app.toggle(key="control_twin_difference")


def test_the_agreement_over_many_edits_is_told_where_it_is_known(open_laboratory, monkeypatch):
    shipped = read_agreement(ASSETS / "transformer")
    every = dict.fromkeys(METHODS.keys() - {REFERENCE}, shipped.methods["norms"]) | shipped.methods

    def explained(known) -> str:
        monkeypatch.setattr(loaders, "corpus_agreement", lambda path, corrector: known)
        return html(open_popover(open_laboratory("sources"), "explanation"))

    shown = explained(replace(shipped, methods=every))
    assert f"{KO['method_attention']} {every['attention'].first:.2f}" in shown
    assert KO["sources_not_measured"].split("{")[0] not in shown
    del every["rollout"]
    told = KO["sources_not_measured"].format(methods=KO["method_rollout"])
    assert told in explained(replace(shipped, methods=every))
    assert f"{shipped.edits:,}" not in explained(None)


def test_each_method_says_how_far_it_agrees_with_leaving_out(open_laboratory, planted):
    notes = [note["text"] for note in figure(open_laboratory("sources"), "sources")["layout"]["annotations"]]
    methods = sorted(METHODS, key=REFERENCE.__ne__)
    reference, *others = contributions(planted, EDIT, methods)
    assert KO["method_" + reference.method] in notes[0]
    _, same, shared = map(str.strip, KO["sources_agreement"].split("·"))
    for found, note in zip(others, notes[1:], strict=True):
        agreed = method_agreement(found, reference)
        assert same.format(first=KO["sources_same" if agreed.top_1 else "sources_other"]) in note
        assert shared.format(of=3, shared=round(3 * agreed.top_3)) in note
    assert all(any(KO[f"sources_{first}"] in note for note in notes) for first in ("same", "other"))


def test_any_written_character_can_be_asked_about(open_laboratory, planted):
    app = open_laboratory("sources", sources_step="1")
    (first, *_) = planted.trace(WRONG, RIGHT).target_tokens
    other = next(each for each in planted.trace(WRONG, RIGHT).alternatives[0] if each != first)
    asked = KO["sources_reading_step"].split("{token}")[0].format(step=1, other=escape(other))
    while "asked_later" in app.session_state:
        app = app.run()
    assert asked in told(app)
    app = open_laboratory("sources", sentence=RIGHT, edit="")  # nothing was changed
    assert app.selectbox(key="control_sources_step").value == "1"
    assert len(bars(app, "sources")) == len(METHODS)


def test_methods_come_one_after_the_other_into_places_that_were_theirs(open_laboratory, planted, monkeypatch):
    planted.forget()
    go_on, places = runs.ask_rest, set()
    monkeypatch.setattr(runs, "ask_rest", lambda: None)
    for number in range(len(ROUNDS)):
        app = open_laboratory("sources")
        known = np.isfinite(bars(app, "sources")).all(axis=1)
        assert known.sum() == sum(map(len, ROUNDS[: number + 1]))
        assert known[0] == (number > 0)  # leaving out comes first, and needs a pass for each character
        layout = figure(app, "sources")["layout"]
        axes = [axis["domain"] for name, axis in layout.items() if name.startswith("yaxis")]
        places.add(json.dumps([layout["height"], len(layout["annotations"]), axes]))
        shown = KO["sources_coming"].format(answered=known.sum(), count=len(known))
        assert (shown in told(app)) == (not known.all())
        if not known.all():
            app.session_state["asked_later"]()
    assert len(places) == 1
    planted.forget()
    monkeypatch.setattr(runs, "ask_rest", go_on)
    assert np.isfinite(bars(open_laboratory("sources"), "sources")).all()


def test_other_weights_undo_the_correction_and_a_cell_takes_up_to_three_shares(open_laboratory):
    app = open_laboratory("replace", instead="uniform", **HEAD)
    np.testing.assert_allclose(numbers(app, "replace_instead"), 1 / 6, atol=1e-6)
    assert WRONG in html(app)
    app = open_laboratory("replace", instead="painted", painted=f"1,{CAUSE + 1}", **HEAD)
    assert "replace_paint" not in told(app)
    cell = {"x": CAUSE + 1, "y": ROW + 1}
    for shares in (2, 3):
        app = send(app, "replace_instead", "click", cell)
        expected = np.eye(6)[0] + shares * np.eye(6)[CAUSE]
        np.testing.assert_allclose(numbers(app, "replace_instead")[ROW], expected / expected.sum(), atol=1e-6)
    app = send(app, "replace_instead", "click", cell)
    assert setting(app, "painted") == "1"
    app = open_laboratory("replace", instead="painted")
    assert told(app).find(KO["replace_paint"]) > 0 and setting(app, "painted") == ""  # nothing yet


def test_the_road_not_taken_keeps_what_was_typed(open_laboratory):
    app = open_laboratory("fork")
    rows = figure(app, "fork")["data"][0]["text"]
    assert ["".join(row) for row in rows] == [f"{text}&lt;/s&gt;" for text in (RIGHT, WRONG)]
    assert WRONG in told(app)


def test_a_sentence_beside_the_one_it_becomes_or_two_models_and_the_headings_say_what_differs(
    open_laboratory,
):
    """The sentences that were read, or the models that have read it; both outputs may be the same."""
    app = open_laboratory("twins", twin="typed", twin_difference="1")
    assert {"beside_first_map", "beside_difference_map", "beside_heads"} <= set(figures(app))
    shown = html(open_laboratory("twins", twin="typed"))
    assert KO["beside_first"].format(text=f"{WRONG}<") in shown
    assert KO["beside_second"].format(text=f"{RIGHT}<") in shown
    own = open_laboratory("twins", twin="pair", twin_sentence=WRONG, twin_difference="1")
    assert not numbers(own, "beside_difference_map").any()
    assert KO["beside_reading_same"] in told(own)
    app = open_laboratory("twins", twin="model", kind="encoder_attention", layer="2", head="2")
    assert "beside_second_map" in figures(app)
    assert "beside_heads" not in figures(app)  # the recurrent network has one map
    for which, name in (("first", "transformer"), ("second", "seq2seq")):
        assert KO[f"beside_{which}_model"].format(model=KO[f"model_name_{name}"], text="") in html(app)


def test_another_model_that_is_damaged_is_named_and_another_one_can_be_chosen(
    open_laboratory, correctors, monkeypatch
):
    def load(path):
        if path.name == "seq2seq":
            raise ModelFolderError("weights.npz is damaged")
        return correctors[path.name]

    monkeypatch.setattr(loaders, "load_corrector", load)
    app = open_laboratory("twins", twin="model")
    assert KO["beside_damaged"] in told(app)
    assert app.selectbox(key="control_twin_model").options


def test_a_model_stands_beside_what_fine_tuning_made_of_it(open_laboratory, correctors, entries):
    entries.append(entry(Path("runs/mine")))
    mine = correctors["mine"] = FakeCorrector("mine")
    app = open_laboratory("twins", twin="model", layer="2", head="2")
    offered = app.selectbox(key="control_twin_model")
    assert offered.options == ["mine", KO["model_name_seq2seq"]]  # the own model is the one chosen
    expected = mine.correct(WRONG).sentences[0].trace.cross_attention[1, 1]
    np.testing.assert_array_equal(numbers(app, "beside_second_map"), expected)
    assert "beside_heads" in figures(app)
    app = open_laboratory("twins", twin="model", model="runs/mine")
    assert app.selectbox(key="control_twin_model").options[0] == KO["model_name_transformer"]


def test_a_second_sentence_that_is_too_long_or_empty_is_told_so(open_laboratory):
    for sentence, problem in (("가" * 200, "too_long"), (" ", "empty")):
        app = open_laboratory("twins", twin="pair", twin_sentence=sentence)
        assert KO[f"beside_{problem}"] in told(app)
