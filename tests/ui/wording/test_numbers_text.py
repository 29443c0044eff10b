"""Wording of probabilities, shares and large numbers; escaping of Markdown."""

import string

import numpy as np
import pytest

from ui.wording import about, percent, plain_markdown, say, spoken
from viz.labels import probability

korean, english = (spoken(language)(say) for language in ("ko", "en"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0099, "0.010"),
        (0.0004, "<0.001 (−7.8)"),
        (0.0, "<0.001 (<−15)"),
        (0.9996, ">0.999 (+7.8)"),
        (1.0, ">0.999 (>+15)"),
    ],
)
def test_a_probability_has_the_digits_it_needs_and_is_never_certain(value, text):
    assert probability(value) == text


@pytest.mark.parametrize(
    ("value", "minimum", "text"),
    [
        (0.7482, 0.75, "0.748"),
        (0.7499, 0.75, "0.7499"),
        (0.75, 0.75, "0.750"),
        (0.8296, 0.83, "0.8296"),
    ],
)
def test_beside_a_minimum_it_is_seen_on_which_side_a_confidence_lies(value, minimum, text):
    assert probability(value, minimum) == text


def test_what_is_shown_and_what_is_done_agree_for_all_confidences():
    for minimum in (0.05, 0.3, 0.5, 0.75, 0.9):
        for value in np.linspace(minimum - 0.01, minimum + 0.01, 2001):
            assert (float(probability(value, minimum)) >= minimum) == (value >= minimum), value


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.314, 1, "31.4%"),
        (0.0, 0, "0%"),
        (0.005, 0, "less than 1%"),
        (0.0051, 0, "1%"),
        (0.0004, 1, "less than 0.1%"),
        (0.995, 0, "more than 99%"),
        (0.9999, 1, "more than 99.9%"),
    ],
)
def test_a_share_is_never_rounded_to_nothing_or_to_everything(share, digits, text):
    assert spoken("en")(percent)(share, digits) == text


@pytest.mark.parametrize(
    ("number", "said_in_korean", "said_in_english"),
    [
        (6.283, "6.3", "6.3"),
        (1_234.5, "1,200", "1,200"),
        (9_960, "1만", "10,000"),
        (99_960, "10만", "100,000"),
        (999_900, "100만", "1 million"),
        (5_343_959, "534만", "5.34 million"),
        (123_597_952, "1억 2천만", "124 million"),
        (2_345_000_000, "23억", "2,340 million"),
    ],
)
def test_large_numbers_are_said_in_two_or_three_digits(number, said_in_korean, said_in_english):
    assert about("ko", number) == said_in_korean
    assert about("en", number) == said_in_english


@pytest.mark.parametrize("typed", [string.punctuation, "학교 a1␣😀"])
def test_every_sign_of_ascii_is_escaped_and_nothing_is_lost(typed):
    expected = (f"\\{each}\u2060" if each in string.punctuation else each for each in typed)
    assert plain_markdown(typed) == "".join(expected)


@pytest.mark.parametrize("name", [":smile:", "www.example.com", "<->"])
def test_no_name_that_streamlit_replaces_survives_in_one_piece(name):
    assert name not in plain_markdown(name).replace("\\", "")
