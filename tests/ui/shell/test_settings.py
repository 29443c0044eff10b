"""Settings with a type: whatever an address says, a value of that type comes out."""

import pytest

from tests.ui.hostile import TEXTS
from ui.shell import address
from ui.shell.settings import Choice, Flag, Number, defaults
from ui.views import EXPERIMENTS, VIEWS

CHOICE, FLAG, NUMBER = Choice("shown", ("one", "other")), Flag("on"), Number("mass", 10, 95, start=60, step=5)


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        (CHOICE, "other", "other"),
        (CHOICE, "", "one"),
        (CHOICE, "Other", "one"),
        (FLAG, "1", True),
        (FLAG, "", False),
        (FLAG, "true", False),
        (NUMBER, "10", 10),
        (NUMBER, "95", 95),
        (NUMBER, "9", 60),
        (NUMBER, "96", 60),
        (NUMBER, "63", 63),
        (NUMBER, "0010", 10),
        (NUMBER, "00010", 60),
    ],
)
def test_what_an_address_means(setting, text, value):
    assert setting.read(text) == value


def test_hostile_texts_are_the_default():
    for text in TEXTS:
        assert CHOICE.read(text) == "one"
        assert FLAG.read(text) is False
        assert NUMBER.read(text) == 60


def test_the_defaults_read_as_themselves():
    assert defaults([CHOICE, FLAG, NUMBER]) == {"shown": "one", "on": "", "mass": "60"}
    assert NUMBER.read(NUMBER.default) == 60
    assert FLAG.read(FLAG.default) is False


def test_the_settings_of_every_view_are_in_the_address_with_the_same_default():
    for view in (*VIEWS, *EXPERIMENTS):
        for name, default in defaults(view.settings).items():
            assert address.DEFAULTS[name] == default, (view.name, name)
