"""How probabilities, shares and large numbers are written for people: the one way for all pages.

The library Babel is not used: it does not know that a probability is never called certain, nor that people say 5만 4천 (its short
form of 54,410 is 5.4만).
"""

from math import isnan

from ui.wording.reading import Say


def percent(say: Say, share: float, digits: int = 0) -> str:
    """A share from 0 to 1 in per cent. What would be rounded to 0 is "less than", what would be rounded to 100 "more than";
    exactly 0 and 1 are said as they are."""
    least = 10.0**-digits / 100  # the smallest share that is written, 1% or 0.1%
    if 0 < share <= least / 2:
        return say("percent_below", share=_plain_percent(least, digits))
    if 1 - least / 2 <= share < 1:
        return say("percent_above", share=_plain_percent(1 - least, digits))
    return _plain_percent(share, digits)


def correlation(value: float) -> str:
    """A correlation in -1..1, with a sign that is as wide as a digit; a dash where there is none (nan)."""
    return "–" if isnan(value) else f"{value:.2f}".replace("-", "−")


def hundredths(value: float) -> str:
    """A number of a table. What rounds to 0 has no sign; a dash where there is none (nan).

    >>> hundredths(-0.26), hundredths(-0.001)
    ('−0.26', '0.00')
    """
    return "–" if isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def nats(value: float) -> str:
    """Nats with their sign: what was added to a score, or the score itself."""
    return f"{value:+.2f}".replace("-", "−")


def share_kept(say: Say, value: float) -> str:
    """A share of a score. It may be below 0 or above 1, because other parts can take away or add more than the whole score."""
    return percent(say, value) if 0 <= value <= 1 else f"{value * 100:.0f}%".replace("-", "−")


def at_most(say: Say, share: float) -> str:
    """An upper bound of a share: "at most 2.4%", or "less than 0.1%"."""
    if share < 0.001:
        return say("percent_below", share=_plain_percent(0.001, 1))
    return say("percent_at_most", share=percent(say, share, 1))


def _plain_percent(share: float, digits: int) -> str:
    return f"{share * 100:.{digits}f}%"


def about(language: str, number: float) -> str:
    """A number as it is said, to two or three digits: 54,410 is "5만 4천" in Korean, "54,000" elsewhere.

    Below 1,000 the number itself, with one decimal below 100. The text around it says "about".
    """
    if number < 1_000:
        return f"{number:.1f}".removesuffix(".0") if number < 100 else f"{number:.0f}"
    if language == "ko":
        return _in_korean(number)
    if language == "en" and number >= 999_500:
        return f"{float(f'{number / 1e6:.3g}'):,g} million"
    return f"{float(f'{number:.{2 if number < 100_000 else 3}g}'):,.0f}"


def _in_korean(number: float) -> str:
    """Below ten of the largest unit with the unit below it (5만 4천), from ten on without it (12만); below 만 in digits (5,400)."""
    for unit, next_unit, value in (("억", "천만", 10**8), ("만", "천", 10**4)):
        rounded = round(number / (value // 10)) / 10  # to a tenth of the unit
        if rounded < 1:
            continue
        whole, tenths = divmod(round(rounded * 10), 10)
        if whole >= 10:
            whole, tenths = round(float(f"{rounded:.3g}")), 0
        if value == 10**4 and whole >= 10**4:
            return "1억"
        return f"{whole:,}{unit} {tenths}{next_unit}" if tenths else f"{whole:,}{unit}"
    return f"{round(number, -2):,.0f}"
