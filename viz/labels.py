"""Makes typed text safe for figures. Plotly would read some HTML, entities and $TeX$ in every label."""

import unicodedata

TICK_LENGTH = 16
TITLE_LENGTH = 160
NARROW_EM = 0.6  # the width of a letter that is not East Asian, in font sizes

# (limit, text): a probability from here on is never called certain, below the other one never impossible.
CERTAIN, IMPOSSIBLE = (0.9995, ">0.999"), (0.0005, "<0.001")

_BLANKS = {" ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥"}
_ZERO_WIDTH_JOINER = "\u200d"
# The dollar sign is there because a page that has MathJax would typeset "$…$"; an entity is decoded after
# that check.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}


def escape(text: str) -> str:
    """``text`` so that Plotly draws it character by character: ``<b>`` is three characters and not a tag."""
    return "".join(_ENTITIES.get(character, character) for character in text)


def token_label(token: str, limit: int = TICK_LENGTH) -> str:
    """One token as a tick label: blanks and control characters visible, shortened to ``limit``, escaped."""
    return escape(_shorten(_visible(token), limit))


def plain_text(text: str, limit: int = TITLE_LENGTH) -> str:
    """A title or legend text: spaces stay spaces, invisible characters become visible, shortened, escaped."""
    return escape(_shorten(" ".join(_visible(word) for word in text.split()), limit))


def template_text(text: str) -> str:
    """``plain_text`` for use inside a hover template, where ``%{…}`` would be taken for a placeholder."""
    return plain_text(text).replace("%", "&#37;")


def width_in_em(label: str) -> float:
    """Rough drawn width of a label not escaped yet: wide East Asian characters count 1, others NARROW_EM."""
    return sum(1.0 if unicodedata.east_asian_width(character) in "WF" else NARROW_EM for character in label)


def visible_token(token: str, limit: int = TICK_LENGTH) -> str:
    """``token_label`` without the escaping: the characters that are seen, to measure their width."""
    return _shorten(_visible(token), limit)


def _visible(text: str) -> str:
    inside_emoji = len(text) > 1
    shown = "".join(
        character if character == _ZERO_WIDTH_JOINER and inside_emoji else _visible_character(character)
        for character in text
    )
    # A combining mark with nothing to stand on would climb onto the neighbouring label.
    return "◌" + shown if shown and unicodedata.category(shown[0]) in ("Mn", "Me", "Mc") else shown


def _visible_character(character: str) -> str:
    if character in _BLANKS:
        return _BLANKS[character]
    # Other controls, direction overrides, lone surrogates (which JSON cannot carry) and exotic blanks: by
    # number.
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp"):
        return f"U+{ord(character):04X}"
    return character


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip(_ZERO_WIDTH_JOINER) + "…"
