"""Corpus filter: sentences with a certain misspelling, by the patterns of ``faults.toml``.

Sentences that it finds are left out of training.

In some collections of chat every tenth sentence has one (안돼, 보고싶어, 할거야). Training takes corpus
sentences as right, so a network learns to leave such mistakes alone: it mended both spaces of
저는영화를 보고싶어요, and none in 저는 영화를 보고싶어요. Only spellings that are certainly, or nearly
certainly, wrong are listed. A few right sentences are lost with it (안가 may be a safe house), which does no
harm.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from model.text.hangul import syllables_with_coda


def read_patterns(
    path: Path, named: Mapping[str, str] | None = None
) -> dict[str, dict[str, re.Pattern[str]]]:
    """The tables of a TOML file of regular expressions, with their parts put in.

    ``{ㄴㄹ}`` are all syllables with one of these codas; another ``{name}`` is a part, one of ``named`` or of
    the file's table ``parts``, which may hold earlier parts. Line ends, and spaces behind them, are left out.

    >>> read_patterns(Path(__file__).with_suffix(".toml"))["faults"]["필요 없다 (제2항)"]
    re.compile('필요없')
    """
    parts = dict(named or {})

    def with_parts(text: str) -> str:
        whole = re.sub(r"\n\s*", "", text)
        return re.sub(
            r"\{([a-z_]+|[ㄱ-ㅎ]+)\}",
            lambda each: parts[each[1]] if each[1].isascii() else syllables_with_coda(*each[1]),
            whole,
        )

    tables = tomllib.loads(path.read_text("utf-8"))
    for name, text in tables.pop("parts").items():
        parts[name] = with_parts(text)
    return {
        title: {name: re.compile(with_parts(text)) for name, text in table.items()}
        for title, table in tables.items()
    }


_EACH = read_patterns(Path(__file__).with_suffix(".toml"))["faults"]
_ANY = re.compile("|".join(pattern.pattern for pattern in _EACH.values()))


def find_fault(text: str) -> str | None:
    """A misspelling in a sentence, with the right spelling and its source; None where nothing is found.

    >>> find_fault("밥을 먹어요.") is None
    True
    >>> find_fault("그러면 안되요.")
    "'안되' is misspelt: 안 돼, 안 가 (한글 맞춤법 제2항)"
    """
    if not _ANY.search(text):
        return None
    right, found = next(
        (right, match[0]) for right, pattern in _EACH.items() if (match := pattern.search(text))
    )
    return f"{found!r} is misspelt: {right}"
