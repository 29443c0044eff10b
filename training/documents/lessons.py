"""Lesson plan as data: its steps, with links, texts, and strings expected on each page.

``docs/numbers/lesson.json`` holds the facts, ``steps.toml`` the steps, ``ko.toml`` and ``en.toml`` the words.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any
from urllib.parse import quote

from model.norm.articles import in_english
from training.documents.tables import SIDES, in_language

PLANS = {"20": 20, "30": 30, "50": 50, "answer": 50}  # minutes of each plan
PARTS = ("do", "ask", "see", "answer")
ADDRESS = "http://localhost:8501/"
_FOLDER = Path(__file__).parent / "templates" / "lessons"


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan in one language.

    ``link`` is empty where nothing is opened; ``shows`` must be seen on the page.
    """

    name: str
    begin: int  # minutes from the start of the lesson
    end: int
    title: str
    link: str
    shows: tuple[str, ...]
    parts: Mapping[str, str]  # of PARTS, those that the step has


def plan_of(facts: Mapping[str, Any], plan: str, language: str) -> list[PlanStep]:
    """The steps of one of PLANS, with the numbers of ``facts``.

    >>> from training.documents.tables import Sources
    >>> steps = plan_of(Sources().measured("lesson"), "20", "en")
    >>> steps[0].begin, steps[-1].end
    (0, 20)
    """
    values, words = _values_of(facts, language), words_of(language)
    found, begin = [], 0
    for name, step in _read("steps").items():
        lasts = step["minutes"].get(plan)
        if lasts is None:
            continue
        told = {part: words[name][part].format(**values) for part in PARTS if part in words[name]}
        shows = tuple(text.format(**values) for text in step.get("shows", ()))
        link = _link(step.get("link"), values, language)
        found.append(PlanStep(name, begin, begin + lasts, words[name]["title"], link, shows, told))
        begin += lasts
    return found


def as_json(facts: Mapping[str, Any]) -> str:
    """For the app: the steps of all plans, (minutes, title, link without the server) by plan and language,
    their sentence, and other sentences for questions after a lesson, of which the app takes one with the same
    answers (``parallel.txt`` and the candidates).

    >>> from training.documents.tables import Sources
    >>> json.loads(as_json(Sources().measured("lesson")))["plans"]["20"]["en"][0][:2]
    ['0–2', 'The sentence and its corrections']
    """

    def steps(plan: str, language: str) -> list[tuple[str, str, str]]:
        found = plan_of(facts, plan, language)
        return [(f"{each.begin}–{each.end}", each.title, each.link.removeprefix(ADDRESS)) for each in found]

    plans = {plan: {name: steps(plan, name) for name in ("ko", "en")} for plan in PLANS}
    given = (_FOLDER / "parallel.txt").read_text("utf-8").splitlines()
    others = [each["typed"] for each in facts["candidates"] if each["typed"] != facts["sentence"]]
    found = {"plans": plans, "sentence": facts["sentence"], "parallel": list(dict.fromkeys(given + others))}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def words_of(language: str) -> dict[str, Any]:
    """All texts of the plans in "ko" or "en".

    >>> words_of("en")["ask"]
    'Ask'
    """
    return _read(language)


def filled(text: str, facts: Mapping[str, Any], language: str) -> str:
    """A text of the plans with the facts in place of their names in braces.

    >>> from training.documents.tables import Sources
    >>> filled("{layers}", Sources().measured("lesson"), "en")
    '4'
    """
    return text.format(**_values_of(facts, language))


def _values_of(facts: Mapping[str, Any], language: str) -> dict[str, Any]:
    """The facts, those of the laboratory among them, and numbers and names that texts make of them."""
    laboratory, (layers, heads, source, target) = facts["laboratory"], facts["shape"]
    off = laboratory["alone"] or (laboratory["strongest"][0], laboratory["before"], facts["right"])
    named = {
        "writer": facts["writer"]["name"],
        "off": off[0],
        "looker": laboratory["looker"],
        "replaced": laboratory["replaced_head"],
    }
    lines = [_line(line, number, language) for number, line in enumerate(facts["lines"], 1)]
    return {
        **laboratory,
        **facts,
        **{f"{name}_told": _named(head, language) for name, head in named.items()},
        "rule": facts["rule"][language].rstrip("."),
        "also": words_of(language)["sentence"]["also"].format(**facts) if facts["is_word"] else "",
        "article": facts["article"] if language == "ko" else in_english(facts["article"]),
        "row": facts["step"] - 1,
        "beyond_column": facts["beyond"]["position"] - 1,
        "head_column": facts["head"]["position"] - 1,
        "lines_told": ", ".join(lines),
        "candidates_told": ", ".join(f"‘{token}’ {share}" for token, share in facts["candidates_of_step"]),
        "layers": layers,
        "heads": heads,
        "source_length": source,
        "target_length": target,
        "all_heads": laboratory["heads"],
        "undone": len(laboratory["undone_by"]),
        "off": off,
        "of_replaced": laboratory["replaced_head"].split("."),
    }


def _line(line: Mapping[str, Any], head: int, language: str) -> str:
    return f"{'헤드' if language == 'ko' else 'head'} {head} → ‘{line['token']}’ {line['weight']}"


def _named(head: str, language: str) -> str:
    """
    >>> _named("cross_attention.1.3", "ko")
    '디코더→인코더 1층 헤드 3'
    """
    kind, layer, number = head.split(".")
    called = in_language(SIDES[kind.removesuffix("_attention")], language)
    place = ("{}층 헤드 {}", "layer {} head {}")
    return f"{called} {in_language(place, language).format(layer, number)}"


class _Quoted(Formatter):
    """Values as an address has them."""

    def format_field(self, value: object, format_spec: str) -> str:
        return quote(format(value, format_spec))


def _link(link: str | None, values: Mapping[str, Any], language: str) -> str:
    """The address of a step in the app, its sentence and language included."""
    if link is None:
        return ""
    page, _, settings = _Quoted().vformat(link, (), values).partition("?")
    shared = [f"sentence={quote(values['sentence'])}"] + (["lang=en"] if language == "en" else [])
    return f"{ADDRESS}{page}?{'&'.join([*shared, *filter(None, [settings])])}"


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
