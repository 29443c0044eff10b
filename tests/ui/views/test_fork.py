"""The road not taken: how its candidates are named on buttons."""

import pytest

from ui import wording
from ui.views import fork


@pytest.mark.parametrize("token", [":smile:", "*", "->", "가"])
def test_a_candidate_is_shown_character_by_character(token):
    """Streamlit looks for ``:smile:`` after it has taken the backslashes away."""
    assert fork.label_of(token) == wording.plain_markdown(token)
