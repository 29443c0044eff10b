"""Labels show what was typed: no sign keeps a meaning of Markdown's."""

import string

import pytest

from ui.wording import plain_markdown


def shown(label: str) -> str:
    """What remains once Markdown has taken its backslashes and the eye its joiners."""
    text, escaped = [], False
    for character in label.replace("\u2060", ""):
        if character == "\\" and not escaped:
            escaped = True
        else:
            text.append(character)
            escaped = False
    return "".join(text)


@pytest.mark.parametrize(
    "typed", ["*굵게*", "$x^2$", ":smile:", "`코드`", "[가](나)", "\\*", "->", string.punctuation, "가 나"]
)
def test_every_sign_of_ascii_is_escaped_and_nothing_is_lost(typed):
    label = plain_markdown(typed)
    assert shown(label) == typed
    for sign in string.punctuation:
        assert label.count(f"\\{sign}\u2060") == typed.count(sign)


def test_letters_stay_as_they_are():
    assert plain_markdown("학교ㅋ a1␣😀") == "학교ㅋ a1␣😀"


@pytest.mark.parametrize("name", [":smile:", ":material_home:", "www.example.com", "https://a.b", "<->"])
def test_no_name_that_streamlit_replaces_survives_in_one_piece(name):
    assert name not in plain_markdown(name).replace("\\", "")
