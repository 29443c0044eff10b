"""Writes docs/api.md from the docstrings of what ``model``, ``model.analysis`` and ``viz`` export: ``python docs/api.py``.

pdoc and MkDocs make a site, which somebody has to host. This is one page of Markdown that is read where the code is, and a test
holds it against the docstrings.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "api.md"
HEAD = """# What `model`, `model.analysis` and `viz` export

Written by `python docs/api.py` from the docstrings; `tests/test_api_page.py` fails where it is out of date.
All of it stands in `seeing.model`, `seeing.model.analysis` and `seeing.viz`, names that no file of yours hides.
"""


def page() -> str:
    import model
    import model.analysis
    import viz

    parts = [HEAD]
    for room in (model, model.analysis, viz):
        parts.append(f"## {room.__name__}\n\n{_told(room.__doc__)}\n")
        parts += (_entry(name, getattr(room, name)) for name in sorted(room.__all__, key=str.lower))
    return re.sub(
        r"^((?:>>> )?(?:from|import) )(?=(?:model|viz)\b)", r"\1seeing.", "\n".join(parts), flags=re.MULTILINE
    )


def _entry(name: str, thing: object) -> str:
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return f"### {name}\n\n`{thing!r}`\n"
    # The source is read: how Python spells an annotation at run time depends on its version.
    source = Path(inspect.getfile(inspect.unwrap(thing))).read_text("utf-8")
    node = next(each for each in ast.parse(source).body if getattr(each, "name", "") == thing.__name__)
    return "\n".join([f"### {name}\n", *_lines(node, source.splitlines())])


def _lines(node: ast.AST, source: list[str]) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield f"```python\n{_signature(node)}\n```\n"
    yield f"{_told(ast.get_docstring(node) or '')}\n"
    if not isinstance(node, ast.ClassDef):
        return
    fields = [
        each for each in node.body if isinstance(each, ast.AnnAssign) and not each.target.id.startswith("_")
    ]
    if fields:
        lines = (line.strip() for each in fields for line in source[each.lineno - 1 : each.end_lineno])
        yield "```python\n" + "\n".join(lines) + "\n```\n"
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and ast.get_docstring(each):
            yield f"#### {node.name}.{each.name}\n"
            yield from _lines(each, source)


def _signature(node: ast.FunctionDef) -> str:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    is_figure = "as_figure" in decorators  # what is written in the source is what it is made of
    marks = "".join(f"@{each}\n" for each in decorators if each != "as_figure")
    returns = f" -> {'go.Figure' if is_figure else ast.unparse(node.returns)}" if node.returns else ""
    line = f"{marks}def {node.name}({ast.unparse(node.args)}){returns}"
    return line if len(line) <= 110 else line.replace("(", "(\n    ", 1)


def _told(docstring: str | None) -> str:
    paragraphs = inspect.cleandoc(docstring or "").replace("``", "`").split("\n\n")
    return "\n\n".join(f"```pycon\n{each}\n```" if each.startswith(">>> ") else each for each in paragraphs)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(page(), "utf-8")
