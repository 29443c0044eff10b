"""What a view says that a network cannot be asked for."""

from types import SimpleNamespace

import pytest

from ui.views import needs
from ui.wording.texts import table


def lens_that_can(*questions: str) -> SimpleNamespace:
    trace = SimpleNamespace(kinds=("cross_attention",))
    return SimpleNamespace(can=lambda name: name in questions, corrects=True, places_known=True, trace=trace)


@pytest.mark.parametrize("question", ["patch_map", "explained"])
def test_tokens_that_are_no_characters_are_told_apart_from_no_stream(question):
    lacks = needs.inside(question)
    assert lacks(lens_that_can("who_wrote", question)) is None
    assert lacks(lens_that_can("who_wrote")) == "lacks_characters"
    assert lacks(lens_that_can()) == "lacks_residual"
    assert "single characters" in table("en")["lacks_characters"]
    assert "글자 하나가 토큰 하나" in table("ko")["lacks_characters"]
