"""Numbers as a table shows them."""

import numpy as np


def number_text(value: float, digits: int = 2) -> str:
    """A number as a table shows it: rounded, no needless zeros, −∞ for a masked logit, nothing for a gap.

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


def weight_text(value: float, hidden: bool = False) -> str:
    """A softmax as a table shows it. It is 0 where a mask makes it so (``hidden``), and nowhere else: what would be rounded to 0 or 1
    is said to be below 0.01 or above 0.99.

    >>> weight_text(0.004), weight_text(0.0, hidden=True), weight_text(0.25)
    ('<0.01', '0', '0.25')
    """
    if hidden or np.isnan(value) or value >= 1:
        return number_text(value)
    if value < 0.005:
        return "<0.01"
    return ">0.99" if value >= 0.995 else number_text(value)
