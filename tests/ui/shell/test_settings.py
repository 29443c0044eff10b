"""Settings with a type, and controls that change them."""

import pytest
from streamlit.testing.v1 import AppTest

from ui.shell import controls
from ui.shell.settings import Choice, Flag, Number, Ordinal

CHOICE, FLAG, NUMBER = Choice("shown", ("one", "other")), Flag("on"), Number("mass", 10, 95, start=60, step=5)
PLACE = Ordinal("step")


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        (CHOICE, "other", "other"),
        (CHOICE, "", "one"),
        (FLAG, "1", True),
        (FLAG, "", False),
        (NUMBER, "10", 10),
        (NUMBER, "9", 60),
        (NUMBER, "63", 63),
        (NUMBER, "0010", 10),
        (PLACE, "1", 0),
        (PLACE, "0", None),
        (PLACE, "-1", None),
    ],
)
def test_what_an_address_means(setting, text, value):
    assert setting.read(text) == value


def test_the_defaults_read_as_themselves():
    assert [each.read(each.default) for each in (CHOICE, FLAG, NUMBER, PLACE)] == ["one", False, 60, None]


@pytest.mark.parametrize(
    ("keep", "arguments"),
    [(controls._keep, ()), (controls._keep_switch, ()), (controls._keep_choice, (0.8,))],
)
def test_a_control_that_is_gone_changes_nothing(keep, arguments, monkeypatch):
    monkeypatch.setattr(controls.address, "put", pytest.fail)
    keep("confidence", *arguments)


def test_a_control_that_was_moved_is_not_given_a_beginning_as_well():
    def script():
        import streamlit as st

        from ui.shell.controls import seed

        st.write(str([seed("own", 1)]))
        st.session_state["own"] = 1  # as in a run that ended before its widgets were drawn
        st.write(str([seed("own", 1), seed("own", 2)]))

    app = AppTest.from_function(script).run()
    assert [each.value for each in app.markdown] == ["[('own', 1)]", "[('own', None), ('own', None)]"]
