"""What a view says where its network lacks what it needs."""

from types import SimpleNamespace as Made

import pytest

from engine.traced import TracedConfig
from ui.views import needs
from ui.wording.texts import table


def lens(why: str) -> Made:
    return Made(corrector=Made(config=TracedConfig(why_no_stream=why)))


@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_network_without_a_residual_stream_says_why(language, monkeypatch):
    texts = table(language)
    monkeypatch.setattr(needs, "say", lambda name, **given: texts[name].format(**given))
    assert needs.told(lens(""), "lacks_residual") == texts["lacks_residual"]
    told = needs.told(lens("no layer of it normalises"), "lacks_residual")
    assert told.startswith(texts["lacks_residual"]) and "no layer of it normalises" in told
    assert needs.told(lens("no layer of it normalises"), "lacks_places") == texts["lacks_places"]
