"""Numbers and tables as the documents write them."""

from collections.abc import Iterable, Mapping, Sequence

NOTHING = "–"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent; 0 and 1 without decimals.

    >>> percent(0.8347), percent(0.00392, 2), percent(1), percent(0), percent(None)
    ('83.5%', '0.39%', '100%', '0%', '–')
    """
    if share is None:
        return NOTHING
    return f"{100 * share:.0f}%" if share in (0, 1) else f"{100 * share:.{digits}f}%"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many decimals; a dash if there is none.

    >>> number(0.97221), number(None)
    ('0.972', '–')
    """
    return NOTHING if value is None else f"{value:.{digits}f}"


def interval(mean_and_margin: Sequence[float] | None, digits: int = 2) -> str:
    """A mean with half its 95% interval.

    >>> interval((0.6864, 0.0305)), interval((1811.2, 95.0), 0)
    ('0.69 ± 0.03', '1811 ± 95')
    """
    if mean_and_margin is None:
        return NOTHING
    mean, margin = mean_and_margin
    return f"{mean:.{digits}f} ± {margin:.{digits}f}"


def bold(cells: Iterable[str]) -> list[str]:
    """The cells in bold type; an empty one stays empty.

    >>> bold(["run 57", ""])
    ['**run 57**', '']
    """
    return [f"**{cell}**" if cell else cell for cell in cells]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of GitHub's Markdown.

    >>> print(table(["set", "exact"], [["slips", "71.2%"]]))
    | set | exact |
    |---|---|
    | slips | 71.2% |
    """
    return "\n".join(
        [
            f"| {' | '.join(header)} |",
            "|---" * len(header) + "|",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    )


def noted(text: str, notes: Mapping[str, dict], language: str) -> str:
    """The text, and below it what the data files say about how they were measured, by what each is called.

    >>> print(noted("A table.", {"test": {"note": {"en": "measured in June"}}, "dev": {}}, "en"))
    A table.
    <BLANKLINE>
    *test: measured in June.*
    """
    told = [f"*{name}: {found['note'][language]}.*" for name, found in notes.items() if "note" in found]
    return "\n\n".join([text, *told])
