"""What a browser hands over as typed text."""

from ui.components.live_text import whole


def test_no_half_of_a_surrogate_pair_reaches_a_page():
    assert whole("\ud8fe가\udfff 나\ud83d") == "\ufffd가\ufffd 나\ufffd"
    assert whole("안되요 🙂 \ufffd") == "안되요 🙂 \ufffd"
