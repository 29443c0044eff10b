"""Numbers and tables as the documents write them."""

from collections.abc import Iterable, Sequence

NOTHING = "–"


def percent(share: float | None, digits: int = 1) -> str:
    """
    >>> percent(0.8347), percent(0.00392, 2), percent(1), percent(0), percent(None)
    ('83.5 %', '0.39 %', '100 %', '0 %', '–')
    """
    if share is None:
        return NOTHING
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{100 * share:.{digits}f} %"


def number(value: float | None, digits: int = 3) -> str:
    """
    >>> number(0.97221), number(None)
    ('0.972', '–')
    """
    return NOTHING if value is None else f"{value:.{digits}f}"


def interval(mean_and_margin: Sequence[float] | None, digits: int = 2) -> str:
    """A mean with half its 95 % interval.

    >>> interval((0.6864, 0.0305)), interval((1811.2, 95.0), 0)
    ('0.69 ± 0.03', '1811 ± 95')
    """
    if mean_and_margin is None:
        return NOTHING
    mean, margin = mean_and_margin
    return f"{mean:.{digits}f} ± {margin:.{digits}f}"


def bold(cells: Iterable[str]) -> list[str]:
    """
    >>> bold(["run 57", ""])
    ['**run 57**', '']
    """
    return [f"**{cell}**" if cell else cell for cell in cells]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of GitHub's Markdown.

    >>> print(table(["set", "exact"], [["slips", "71.2 %"]]))
    | set | exact |
    |---|---|
    | slips | 71.2 % |
    """
    return "\n".join(
        [
            f"| {' | '.join(header)} |",
            "|---" * len(header) + "|",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    )
