"""Labels of figures: escaped typed text, token labels, numbers, log odds."""

import math
import unicodedata

import numpy as np

TICK_LENGTH = 16
TITLE_LENGTH = 160
NARROW_EM = 0.6  # the width of a letter that is not East Asian, in font sizes
OUTSIDE = "<outside>"  # the token of each character that the vocabulary lacks
_IN_CELL, _OUTSIDE_IN_CELL = 4, "<?>"  # letters that a cell has room for
SINK = "∅"  # the label of an attention sink, which is no token

# (limit, text): a probability from here on is never called certain, below the other one never impossible.
CERTAIN, IMPOSSIBLE = (0.9995, ">0.999"), (0.0005, "<0.001")
SHARP_ODDS = 10.0  # log odds from which a sum of 32 bits rounds the tenths, so that two passes differ in them
MOST_ODDS = 15.0  # log odds that a probability of 32 bits can still tell from certainty

_MOST_DIGITS = 6  # a float32 knows no more

_BLANKS = {" ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥"}
_ZERO_WIDTH_JOINER = "\u200d"
# The dollar sign is there because a page that has MathJax would typeset "$…$"; an entity is decoded after
# that check.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"})


def escape(text: str) -> str:
    """``text`` so that Plotly draws it character by character: ``<b>`` is three characters and not a tag.

    Example:
        >>> escape("<b>$x$")
        '&lt;b&gt;&#36;x&#36;'
    """
    return text.translate(_ENTITIES)


def token_label(token: str, limit: int = TICK_LENGTH) -> str:
    """One token as a tick label: blanks and control characters visible, shortened to ``limit``, escaped.

    Example:
        >>> token_label(" "), token_label("a<b")
        ('␣', 'a&lt;b')
    """
    return escape(_shorten(_visible(token), limit))


def cell_label(token: str) -> str:
    """``token_label`` for a cell of a grid, which has room for four letters; the hover should say all of it.

    Example:
        >>> cell_label("각"), cell_label("Transformer"), cell_label("<outside>")
        ('각', 'Tra…', '&lt;?&gt;')
    """
    return token_label(_OUTSIDE_IN_CELL if token == OUTSIDE else token, _IN_CELL)


def plain_text(text: str, limit: int = TITLE_LENGTH) -> str:
    """A title or legend text: spaces stay spaces, invisible characters become visible, shortened, escaped.

    Example:
        >>> plain_text("a  < b")
        'a &lt; b'
    """
    return escape(_shorten(" ".join(_visible(word) for word in text.split()), limit))


def template_text(text: str) -> str:
    """``plain_text`` for use inside a hover template, where ``%{…}`` would be taken for a placeholder.

    Example:
        >>> template_text("5%")
        '5&#37;'
    """
    return plain_text(text).replace("%", "&#37;")


def log_odds(probability: float) -> str:
    """ln(p / (1 - p)) with its sign: 0 is one in two, and each further 1 makes the odds 2.7 times as large.

    Written beside probabilities that are only called ``CERTAIN`` or ``IMPOSSIBLE``. Beyond ``MOST_ODDS`` it
    gives that limit, from ``SHARP_ODDS`` on whole numbers.

    Example:
        >>> log_odds(0.5), log_odds(0.9999), log_odds(1e-5), log_odds(1.0), log_odds(0.0)
        ('+0.0', '+9.2', '−12', '>+15', '<−15')
    """
    tiny = math.exp(-2 * MOST_ODDS)
    odds = math.log(max(probability, tiny) / max(1 - probability, tiny))
    if abs(odds) > MOST_ODDS:
        return f">+{MOST_ODDS:.0f}" if odds > 0 else f"<−{MOST_ODDS:.0f}"
    return decimal(odds, int(abs(odds) < SHARP_ODDS), signed=True)


def has_log_odds(value: float) -> bool:
    """Whether ``probability`` writes log odds.

    Example:
        >>> has_log_odds(0.9999), has_log_odds(0.25)
        (True, False)
    """
    return value < IMPOSSIBLE[0] or value >= CERTAIN[0]


def probability(value: float, minimum: float | None = None) -> str:
    """A probability or a confidence, never written as certain or impossible. After >0.999 and <0.001 its log
    odds follow in brackets.

    It has three decimals, as every weight of attention in a sentence. With a ``minimum`` it has as many as it
    takes to be on the right side of it: 0.7498 is not written as 0.750 if 0.75 is required.

    Example:
        >>> probability(0.25), probability(0.7498, 0.75), probability(0.9999), probability(0.0001)
        ('0.250', '0.7498', '>0.999 (+9.2)', '<0.001 (−9.2)')
    """
    if has_log_odds(value):
        return f"{CERTAIN[1] if value >= CERTAIN[0] else IMPOSSIBLE[1]} ({log_odds(value)})"
    digits, text = 3, f"{value:.3f}"
    while minimum is not None and digits < _MOST_DIGITS and (float(text) < minimum) != (value < minimum):
        digits += 1
        text = f"{value:.{digits}f}"
    return text


def confidence(value: float, minimum: float | None = None) -> str:
    """A confidence as readers of a card want it, without log odds.

    Example:
        >>> confidence(0.9999), confidence(0.25)
        ('>0.999', '0.250')
    """
    return probability(value, minimum).partition(" ")[0]


def width_in_em(label: str) -> float:
    """Rough drawn width of a label not escaped yet: wide East Asian characters count 1, others NARROW_EM.

    Example:
        >>> width_in_em("가"), width_in_em("a")
        (1.0, 0.6)
    """
    return sum(1.0 if unicodedata.east_asian_width(character) in "WF" else NARROW_EM for character in label)


def visible_token(token: str, limit: int = TICK_LENGTH) -> str:
    """``token_label`` without the escaping: the characters that are seen, to measure their width."""
    return _shorten(_visible(token), limit)


def _visible(text: str) -> str:
    shown = text
    # Most tokens are a syllable that is seen as it is. Only the space is printable and unseen.
    if not text.isprintable() or " " in text:
        inside_emoji = len(text) > 1
        shown = "".join(
            character if character == _ZERO_WIDTH_JOINER and inside_emoji else _visible_character(character)
            for character in text
        )
    # A combining mark without a base would climb onto the neighbouring label.
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


def capital(text: str) -> str:
    """``text`` with a capital letter at its beginning, as a sentence has it.

    Example:
        >>> capital("layer 1"), capital("")
        ('Layer 1', '')
    """
    return text[:1].upper() + text[1:]


def decimal(value: float, digits: int = 2, *, signed: bool = False) -> str:
    """A number with ``digits`` decimals and a minus as wide as a digit; a dash for nan. A rounded 0 is +0.

    Example:
        >>> decimal(-0.257), decimal(-0.001), decimal(0.5, 3, signed=True), decimal(float("nan"))
        ('−0.26', '0.00', '+0.500', '–')
    """
    return "–" if np.isnan(value) else f"{value:{'+' if signed else ''}z.{digits}f}".replace("-", "−")


def number_text(value: float, digits: int = 2) -> str:
    """A number as a table shows it: rounded, no needless zeros, −∞ for a masked logit, nothing for a gap.

    Example:
        >>> number_text(0.5), number_text(1 / 3), number_text(float("-inf"))
        ('0.5', '0.33', '−∞')
    """
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", "−")


def weight(value: float) -> str:
    """An attention weight in words, with as many digits as below the pointer.

    Example:
        >>> weight(0.9956), weight(0.25)
        ('0.996', '0.250')
    """
    return decimal(value, 3)


def weight_text(value: float, hidden: bool = False) -> str:
    """A softmax as a table shows it. It is 0 where a mask makes it so (``hidden``), and nowhere else: values
    that would be rounded to 0 or 1 become <0.001 and >0.999.

    Example:
        >>> weight_text(0.0004), weight_text(0.0, hidden=True), weight_text(0.25)
        ('<0.001', '0', '0.250')
    """
    if hidden or np.isnan(value) or value >= 1:
        return number_text(value)
    if value < IMPOSSIBLE[0]:
        return IMPOSSIBLE[1]
    return CERTAIN[1] if value >= CERTAIN[0] else f"{value:.3f}"
