"""Reports of findings: text, JSON, CSV, SARIF, and annotations of GitHub's workflows."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from model.tables.rows import without_formula
from package import __version__
from service.checks import Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(found: Sequence[Finding]) -> str:
    """A line for each finding, as compilers write them.

    Example:
        >>> place = "글.md", 2, 5, 2, 8, 9, 12
        >>> one = Finding(*place, "안되요", "안 돼요", "KO_DOE_DWAE", "제35항", 0.99, True)
        >>> as_text([one])
        '글.md:2:5: 안되요 → 안 돼요  (제35항)'
    """
    return "\n".join(
        f"{each.path}:{each.line}:{each.column}: {each.wrong} → {each.right}  ({each.about})"
        + ("" if each.is_sure else " ?")
        for each in found
    )


def as_json(found: Sequence[Finding]) -> str:
    """A list of objects with the fields of ``Finding``.

    Example:
        >>> as_json([])
        '[]'
    """
    return json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1)


def as_csv(found: Sequence[Finding]) -> bytes:
    """A table for spreadsheets, which know UTF-8 by its byte order mark.

    Example:
        >>> as_csv([]).decode("utf-8-sig")
        'path,line,column,wrong,right,rule,about\\r\\n'
    """
    names = ("path", "line", "column", "wrong", "right", "rule", "about")
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(names)
    for each in found:
        cells = (getattr(each, name) for name in names)
        rows.writerow([without_formula(cell) if isinstance(cell, str) else cell for cell in cells])
    return table.getvalue().encode("utf-8-sig")


def as_github(found: Sequence[Finding]) -> str:
    """Workflow commands, which GitHub shows beside the lines of a pull request.

    Reference:
        https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    lines = []
    for each in found:
        level = "error" if each.is_sure else "notice"
        named = {"file": each.path, "line": each.line, "endLine": each.end_line, "col": each.column}
        named |= {"endColumn": each.end_column, "title": each.rule}
        place = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in named.items())
        lines.append(f"::{level} {place}::{_escaped(f'{each.wrong} → {each.right} ({each.about})')}")
    return "\n".join(lines)


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":  # the percent sign first
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def as_sarif(found: Sequence[Finding]) -> str:
    """SARIF 2.1.0, which code scanning of several hosts reads; with the replacements as fixes."""
    rules = {each.rule: each.about for each in found}
    driver = {
        "name": "see-attention",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": about}} for name, about in sorted(rules.items())],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each) for each in found],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=1)


def _result(each: Finding) -> dict[str, Any]:
    region = {
        "startLine": each.line,
        "startColumn": each.column,
        "endLine": each.end_line,
        "endColumn": each.end_column,
    }
    artifact = {"uri": quote(each.path)}
    replacement = {"deletedRegion": region, "insertedContent": {"text": each.right}}
    return {
        "ruleId": each.rule,
        "level": "error" if each.is_sure else "note",
        "message": {"text": f"{each.wrong} → {each.right} ({each.about})"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "fixes": [{"artifactChanges": [{"artifactLocation": artifact, "replacements": [replacement]}]}],
    }


REPORTS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
