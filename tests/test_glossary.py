"""The glossary names what there is: each file that it mentions exists and has the name beside it."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.MULTILINE
)
TERMS = [row for row in ROWS if row[0] not in ("word", "---")]


def test_every_word_has_one_line():
    words = [word.strip() for terms, _, _ in TERMS for word in terms.split(",")]
    assert [word for word, count in Counter(words).items() if count > 1] == []


def test_every_word_stands_where_the_glossary_says():
    assert len(TERMS) > 30
    for terms, _, where in TERMS:
        named = re.findall(r"`([^`]+)`", where)
        paths = [ROOT / name for name in named if "/" in name]
        assert all(path.exists() for path in paths), terms
        texts = [path.read_text("utf-8") for path in paths if path.is_file()]
        for name in (name for name in named if "/" not in name):
            last = name.rpartition(".")[2]
            found = texts or [path.read_text("utf-8") for path in (ROOT / "model").rglob("*.py")]
            assert any(re.search(rf"\b{last}\b", text) for text in found), (terms, name)
