"""What Python and a script both know is decided in Python and stands in the script once."""

import re

import pytest

from ui.components.diagram import SCRIPT
from viz.browser import document as script
from viz.browser.explore import EXPLORE
from viz.browser.lines import LINES, MOST_HEADS
from viz.browser.plot import PLOT
from viz.browser.steps import KEEP, STEPS

SCRIPTS = {each.name: each.js for each in (EXPLORE, LINES, PLOT, STEPS)} | {"diagram": SCRIPT}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_constant_of_a_script_is_declared_once_and_used(name):
    js = SCRIPTS[name]
    constants = re.findall(r"^const ([A-Z_]+) =", js, re.MULTILINE)
    assert len(set(constants)) == len(constants)
    for constant in constants:
        assert len(re.findall(rf"\b{constant}\b", js)) > 1, constant


def test_scripts_begin_with_what_python_decided():
    assert f"const KEEP = {KEEP};" in STEPS.js
    assert f"const MOST_HEADS = {MOST_HEADS};" in EXPLORE.js
    assert script.PLOTLY.name in PLOT.js
