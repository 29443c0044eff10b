"""Generated parts of a document: what stands between two marks is replaced, all else stays.

A part is ``<!-- generated: NAME -->``, its lines, and ``<!-- end -->``. Markdown shows neither mark.
"""

import re
from collections.abc import Callable

# Every document that has generated parts.
DOCUMENTS = (
    "README.md",
    "README.en.md",
    "docs/model-card.md",
    "docs/experiments.md",
    "docs/does-attention-matter.md",
    "docs/does-attention-matter.en.md",
    *(
        f"docs/{name}{ending}"
        for name in ("lesson-plan", "lesson-plan-laboratory", "lesson-plan-50")
        for ending in (".md", ".en.md")
    ),
    "docs/worksheet.html",
    "docs/worksheet.en.html",
    "benchmarks/does_attention_matter.md",
    "benchmarks/head_stories.md",
    "benchmarks/development.md",
    "benchmarks/confidence.md",
)
_MARK = re.compile(r"^<!-- (?:generated: (?P<name>[\w.-]+)|(?P<end>end)) -->\n", re.MULTILINE)


class MarkError(ValueError):
    """Marks that do not come in pairs; the message says which."""


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
