"""Controls whose choice is a setting: what happens when one of them is gone."""

import pytest

from ui.shell import controls


@pytest.mark.parametrize(
    ("keep", "arguments"),
    [(controls._keep, ()), (controls._keep_switch, ()), (controls._keep_choice, (0.8,))],
)
def test_a_control_that_is_gone_changes_nothing(keep, arguments, monkeypatch):
    monkeypatch.setattr(controls.address, "put", pytest.fail)
    keep("confidence", *arguments)
