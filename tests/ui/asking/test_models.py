"""Model selector: models on offer, settings across a choice, changes on disk."""

import shutil
from pathlib import Path

import numpy as np

from model.stored.folder import VOCABULARY_FILE, read_entry
from tests.ui.conftest import entry
from tests.ui.fake_corrector import FakeCorrector, one_map_trace, random_trace
from tests.ui.screen import html, keys, numbers, open_popover, told
from ui.asking import loaders, models
from ui.wording import table

KO = table("ko")
SENTENCE = "고갱이 왔다"
CORRECTED = "고객이 왔다"


def test_a_network_with_one_map_offers_no_choice_and_says_why(open_app):
    app = open_app(sentence=SENTENCE, model="seq2seq", kind="encoder_attention", layer="2", head="3")
    np.testing.assert_array_equal(numbers(app), one_map_trace(SENTENCE, CORRECTED).cross_attention[0, 0])
    assert not keys(app) & {"control_kind", "control_layer", "control_head", "control_order"}
    assert KO["one_kind"] in html(app)
    assert KO["place_only"] in told(app)


def test_switching_the_network_keeps_the_sentence_and_the_settings_that_apply_again_later(open_app):
    app = open_app(sentence=SENTENCE, kind="decoder_attention", layer="2", head="3")
    open_popover(app, "settings")
    app.selectbox(key="control_model").set_value("seq2seq").run()
    np.testing.assert_array_equal(numbers(app), one_map_trace(SENTENCE, CORRECTED).cross_attention[0, 0])
    assert app.session_state["view"]["sentence"] == SENTENCE
    app.selectbox(key="control_model").set_value("transformer").run()
    np.testing.assert_array_equal(numbers(app), random_trace(SENTENCE, CORRECTED).decoder_attention[1, 2])


def test_a_model_that_cannot_be_used_is_named_with_its_reason_but_not_offered(open_app, entries):
    entries.append(entry(Path("runs/half"), problem="weights.npz <b>is</b> missing"))
    app = open_popover(open_app(model="runs/half"), "settings")
    assert len(app.selectbox(key="control_model").options) == 2
    told = KO["model_unusable"].format(name="half", reason="weights.npz &lt;b&gt;is&lt;/b&gt; missing")
    assert told in html(app)
    del entries[1:]
    app = open_popover(open_app(), "settings")
    assert app.select_slider and not app.selectbox  # only one model, so no choice


def test_shipped_models_have_a_name_in_words(open_app, entries, monkeypatch):
    name = models.NAMED[-1]
    entries[:] = [entry(loaders.ASSETS / name), entry(Path("runs/mine"))]
    monkeypatch.setattr(loaders, "load_corrector", lambda path: FakeCorrector())
    offered = open_popover(open_app(lang="en"), "settings").selectbox(key="control_model").options
    assert offered == [table("en")[f"model_name_{name.replace('-', '_')}"], "mine"]


def test_the_list_follows_the_disk_and_opens_only_what_changed(tmp_path, tiny_folder, monkeypatch):
    opened = []
    noted = lambda folder: opened.append(folder.name) or read_entry(folder)
    monkeypatch.setattr(loaders, "read_entry", noted)
    monkeypatch.setattr(loaders, "ASSETS", tmp_path / "nowhere")
    monkeypatch.setattr(loaders, "OWN_MODELS", tmp_path)
    for name in ("one", "two"):
        shutil.copytree(tiny_folder, tmp_path / name)
        loaders.list_entries()
    assert [each.name for each in loaders.list_entries()] == ["one", "two"]
    assert opened == ["one", "two"]
    (tmp_path / "one" / VOCABULARY_FILE).unlink()
    assert VOCABULARY_FILE in loaders.list_entries()[0].problem
    assert opened == ["one", "two", "one"]
