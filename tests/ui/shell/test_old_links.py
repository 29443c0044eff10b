"""Links of earlier versions open the same pages, views and options as then.

The cases were collected from all versions. Names and options are only ever added; a renamed file keeps
the name that its addresses use (``ui/views/side_by_side.py`` is ``twins``).
"""

import pytest

import ui.views  # noqa: F401  its views add their settings to the address
from tests.ui.screen import chosen, setting
from ui.shell.header import PAGES
from ui.shell.settings import Choice, registered

GIVEN_OUT = {
    "view": "heatmap lines steps edits wrote decided numbers predict",
    "experiment": "without sources replace fork twins patched circuit why receipts teach",
    "order": "place entropy distance edit",
    "shown": "weights difference received",
    "unit": "syllable word",
    "off": "zero mean",
    "instead": "uniform copy permuted painted",
    "twin": "typed pair model",
    "wrote_as": "parts map",
    "wrote_order": "size network",
    "decided_as": "grid curve jamo",
    "decided_part": "final medial initial",
    "decided_side": "decoder encoder",
    "patch_side": "encoder decoder",
    "patch_part": "residual output heads",
    "patch_twin": "changed right sentence",
    "circuit_as": "graph growth checks",
    "circuit_goal": "90 80 95",
    "circuit_instead": "twin mean",
    "why_as": "parts without",
    "receipts_as": "told picture",
    "taught_layer": "4 3 2 1",
}
OLD_PAGES = (
    "attention laboratory heads calculation masks positions network growing table classroom trace model"
)


@pytest.mark.parametrize("name", GIVEN_OUT)
def test_every_option_that_was_given_out_is_still_one(name):
    declared = registered()[name]
    assert isinstance(declared, Choice)
    assert set(GIVEN_OUT[name].split()) <= set(declared.options)


def test_every_page_is_where_it_was():
    assert set(OLD_PAGES.split()) <= set(PAGES)
    assert PAGES[0] == "attention"  # a link to the product alone


# An address of each view and experiment, with settings that only it has, and a part of the page that shows
# them.
LINKS = {
    "heatmap": {"kind": "encoder_attention", "layer": "1", "head": "2", "cell": "0,1", "unit": "syllable"},
    "lines": {"heads": "1.1,2.2", "mass": "40"},
    "steps": {"step": "2", "kind": "decoder_attention"},
    "edits": {"edit": "1", "layer": "mean"},
    "numbers": {"layer": "1", "head": "1", "cell": "0,1"},
    "predict": {"marks": "0,1", "revealed": "1", "around": "12"},
}
LABORATORY_LINKS = {
    "without": {"off": "mean", "switched_off": "cross_attention.1.1"},
    "replace": {"instead": "painted", "painted": "1,1,2"},
    "fork": {"fork_step": "1"},
    "twins": {"twin": "pair", "twin_sentence": "친구의 가치", "twin_difference": "1"},
    "sources": {"sources_step": "1"},
}


@pytest.mark.parametrize("name", LINKS | LABORATORY_LINKS)
def test_a_link_to_a_view_or_experiment_opens_it_as_it_was_left(name, open_planted, open_laboratory):
    asked = (LINKS | LABORATORY_LINKS)[name]
    app = (open_planted if name in LINKS else open_laboratory)(name, **asked)
    assert chosen(app, *asked) == tuple(asked.values())
    assert setting(app, "view" if name in LINKS else "experiment") == name


def test_the_view_of_received_attention_is_a_picture_of_the_heatmap_view(open_planted):
    app = open_planted("received", kind="encoder_attention")
    assert chosen(app, "view", "shown", "kind") == ("heatmap", "received", "encoder_attention")
