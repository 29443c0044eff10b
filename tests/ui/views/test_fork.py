"""The road not taken: how its candidates are named on buttons."""

import pytest

from ui.views import fork
from ui.wording import markdown


@pytest.mark.parametrize("token", [":smile:", "*", "->", "가"])
def test_a_candidate_is_shown_character_by_character(token):
    """Streamlit looks for ``:smile:`` after it has taken the backslashes away."""
    assert fork.label_of(token) == markdown.plain(token)
