"""Command ``python -m training documents``: write measured numbers into the documents.

The documents are README, model card, studies and lesson plans.

A generated part of a document is ``<!-- generated: NAME -->``, its lines, and ``<!-- end -->``; Markdown
shows neither mark. Its text is the macro NAME of a Jinja template in ``templates/`` (with ``_`` for ``-``),
written from a data file; ``NAME.ko`` asks for Korean.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from html import escape
from math import isnan
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined, nodes

from model.stored.folder import ASSETS, DEFAULT_MODEL
from model.survey.results import Mean
from model.trace.interventions import Head
from training.corpus.corpus import write_table
from training.documents import lessons, tables
from training.documents.tables import NOTHING, MissingNumbersError, Sources, number, percent
from training.options import command

ROOT = ASSETS.parent
TEMPLATES = Path(__file__).parent / "templates"
# Every document that has generated parts.
DOCUMENTS = tuple(Path(__file__).with_name("documents.txt").read_text("utf-8").split())
LESSONS = "assets/lessons.json"  # for the bar of a class
_MARK = re.compile(r"^<!-- (?:generated: (?P<name>[\w.-]+)|(?P<end>end)) -->\n", re.MULTILINE)


class MarkError(ValueError):
    """Marks that do not come in pairs, or a part without a template; the message says which."""


def rewrite(text: str, content: Callable[[str], str]) -> str:
    """The document with the content of each generated part, by its name. Raises MarkError.

    >>> rewrite("A\\n<!-- generated: b -->\\nold\\n<!-- end -->\\nC\\n", str.upper)
    'A\\n<!-- generated: b -->\\nB\\n<!-- end -->\\nC\\n'
    """
    written, done, name = [], 0, None
    for mark in _MARK.finditer(text):
        if (mark["end"] is None) == (name is not None):
            raise MarkError(f"{mark[0].strip()} follows {name or 'no beginning'}")
        if mark["end"] is None:
            name = mark["name"]
            written.append(text[done : mark.end()])
        else:
            written.append(f"{content(str(name)).strip()}\n")
            done, name = mark.start(), None
    if name is not None:
        raise MarkError(f"the part {name} has no end")
    return "".join([*written, text[done:]])


def names(text: str) -> list[str]:
    """The names of a document's generated parts, in order. Raises MarkError."""
    rewrite(text, str)
    return [mark["name"] for mark in _MARK.finditer(text) if mark["name"]]


def interval(mean_and_margin: Iterable[float | None] | None, digits: int = 2) -> str:
    """A mean with half its 95% interval; a dash for None, the mean alone where one sentence gives no
    interval.

    >>> interval((0.6864, 0.0305)), interval((1811.2, 95.0), 0), interval((0.5, None)), interval(None)
    ('0.69 ± 0.03', '1811 ± 95', '0.50', '–')
    """
    if mean_and_margin is None:
        return NOTHING
    mean, margin = mean_and_margin
    if mean is None or margin is None:
        return number(mean, digits)
    return f"{mean:.{digits}f} ± {margin:.{digits}f}"


def mean(found: Mean | None, digits: int = 2) -> str:
    """A mean of a survey with half its 95% interval, as ``interval`` writes it.

    >>> import numpy as np
    >>> mean(Mean(np.array(0.5), np.array(0.25), 9)), mean(None)
    ('0.50 ± 0.25', '–')
    """
    if found is None:
        return NOTHING
    margin = float(found.margin)
    return interval((float(found.mean), None if isnan(margin) else margin), digits)


def per_thousand(share: float, digits: int = 0, of: int = 1000) -> str:
    """How many of 1,000.

    >>> per_thousand(0.0392), per_thousand(0.0392, 1), per_thousand(0.71, of=100)
    ('39', '39.2', '71')
    """
    return f"{of * share:.{digits}f}"


def per_thousands(bounds: Iterable[float], scale: float = 1, digits: int = 0, of: int = 1000) -> str:
    """The bounds of an interval of shares, times ``scale``, of 1,000.

    >>> per_thousands((0.0351, 0.0433)), per_thousands((0.66, 0.755), of=100)
    ('35–43', '66–76')
    """
    return "–".join(per_thousand(scale * bound, digits, of) for bound in bounds)


def row(*cells: object, bold: bool = False) -> str:
    """A row of GitHub's Markdown table; an empty cell is never bold.

    >>> row("slips", "71.2%"), row("run 57", "", bold=True)
    ('| slips | 71.2% |', '| **run 57** |  |')
    """
    return f"| {' | '.join(f'**{cell}**' if bold and cell else str(cell) for cell in cells)} |"


def head(*cells: object) -> str:
    """The row of a table's titles with the rule below it.

    >>> print(head("set", "exact"))
    | set | exact |
    |---|---|
    """
    return f"{row(*cells)}\n|{'---|' * len(cells)}"


def notes(measurements: Mapping[str, dict[str, Any]], language: str) -> str:
    """Remarks of data files on how they were measured, each in a paragraph; empty where none has any.

    >>> print(notes({"test": {"note": {"en": "measured in June"}}, "dev": {}}, "en"))
    <BLANKLINE>
    *test: measured in June.*
    """
    said = [(name, found["note"][language]) for name, found in measurements.items() if "note" in found]
    return "".join(f"\n*{name}: {note}.*" for name, note in said)


FILTERS: dict[str, Callable[..., str]] = {
    **{each.__name__: each for each in (percent, number, interval, mean, per_thousand, per_thousands)},
    "per_hundreds": partial(per_thousands, of=100),
    "thousands": lambda value: f"{value:,}",
    "short": lambda value: f"{value:g}",
    "signed": lambda value: f"{value:+.2f}",
    "put_in": lambda value, text: text.format(value),
    "html": escape,
}
IN_LANGUAGE = (
    *(tables.head_name, tables.node_name, tables.group_name, tables.claim_name),
    *(lessons.filled, lessons.plan_of, notes),
)


@cache
def _environment(language: str) -> Environment:
    """The templates with all that they may call, for "ko" or "en"."""
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    calls: dict[str, Callable[..., Any]] = {"words_of": lessons.words_of, "row": row, "head": head}
    calls |= {each.__name__: partial(each, language=language) for each in IN_LANGUAGE}
    calls["say"] = lambda korean, english: tables.in_language((korean, english), language)
    calls["kind_name"] = lambda kind: tables.in_language(tables.KINDS[kind], language)
    calls["method_name"] = lambda name: tables.in_language(tables.METHODS.get(name, (name, name)), language)
    calls["head_of"] = lambda place: Head(*place)
    calls["pick"] = lambda found, chosen: [found[name] for name in chosen]
    calls["numbered"] = lambda text, items: [text.format(number) for number, _ in enumerate(items, 1)]
    environment.filters |= FILTERS | {name: calls[name] for name in ("head_of", "head_name", "method_name")}
    environment.globals |= vars(tables) | calls | {"language": language}
    return environment


@cache
def parts() -> dict[str, str]:
    """The template of each part of a document, by the part's name.

    >>> parts()["results"]
    'scores.j2'
    """
    parse, found = Environment().parse, {}
    for template in sorted(TEMPLATES.glob("*.j2")):
        for macro in parse(template.read_text("utf-8")).find_all(nodes.Macro):
            if not macro.name.startswith("_"):
                found[macro.name.replace("_", "-")] = template.name
    return found


def content(sources: Sources, name: str, **chosen: object) -> str:
    """The text of the part ``name`` of a document, such as "results" or "results.ko"; ``chosen`` are
    arguments of its macro.

    Raises:
        MarkError: for a part that no template writes.
        MissingNumbersError: where a data file is missing.
    """
    part, _, language = name.partition(".")
    if part not in parts():
        raise MarkError(f"nothing writes the part {name}; there are {', '.join(sorted(parts()))}")
    given = {"sources": sources, "measured": sources.measured, "evaluation": sources.evaluation}
    module = _environment(language or "en").get_template(parts()[part]).make_module(given)
    return getattr(module, part.replace("-", "_"))(**chosen).strip()


def keep_past(sources: Sources) -> None:
    """Put the shipped weights first among the earlier rows, in each table whose numbers are there.

    Tables with a MissingNumbersError are left out: a model that was never measured has no row.
    """
    (sources.numbers / "past").mkdir(parents=True, exist_ok=True)
    for part in parts():
        _, is_past, table = part.partition("past-")
        with suppress(MissingNumbersError):
            if is_past:
                titles, row = (text.split(" | ") for text in content(sources, part, kept=True).splitlines())
                earlier = sources.past(table)
                rows = [titles, *([] if [row] == earlier[:1] else [row]), *earlier]
                write_table(sources.numbers / "past" / f"{table}.csv", rows, line_end="\n")


def written(text: str, sources: Sources) -> str:
    """A document with its generated parts as the data files have them.

    Raises MarkError and MissingNumbersError.
    """
    return rewrite(text, partial(content, sources))


def _made(name: str, path: Path, sources: Sources) -> str:
    if name == LESSONS:
        return lessons.as_json(sources.measured("lesson"))
    return written(path.read_text("utf-8"), sources)


_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@command("documents")
@click.option("--root", default=ROOT, type=_FOLDER, help="Holds README.md, docs and benchmarks.")
@click.option("--model", default=ASSETS / DEFAULT_MODEL, type=_FOLDER, help="The shipped model's folder.")
@click.option("--check", is_flag=True, help="Change nothing; fail where a document is not as the data are.")
@click.option("--past", is_flag=True, help="Only keep the shipped weights' numbers among the earlier ones.")
def documents_command(root: Path, model: Path, check: bool, past: bool) -> None:
    """Write every generated part of the documents from the data files: the tables between
    <!-- generated: NAME --> and <!-- end -->."""
    sources = Sources(root, model)
    if past:
        keep_past(sources)
        return
    odd = {}
    for name in (*DOCUMENTS, LESSONS):
        path = root / name
        try:
            after = _made(name, path, sources)
        except (MarkError, MissingNumbersError) as error:
            raise click.ClickException(f"{name}: {error}") from error
        if not path.exists() or path.read_text("utf-8") != after:
            odd[name] = after
    if check and odd:
        raise click.ClickException(
            f"not as the data files are: {', '.join(odd)}; python -m training documents"
        )
    for name, after in odd.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(after, encoding="utf-8")
    click.echo(f"written: {', '.join(odd) or 'nothing, all is as it should be'}")
