"""The tables of sets that each ask one question, and of why sentences do not come out right."""

from training.documents.block import block
from training.documents.sources import Sources
from training.documents.wording import noted, percent, table
from training.measure.causes import CAUSES
from training.ship.commands import QUESTIONS

CAUSE_NAMES = {
    "right": "right",
    "unsure": "all proposals right, some not sure enough",
    "wrong_made": "a wrong change made",
    "wrong_proposed": "a wrong change proposed, not made",
    "unseen": "an error not seen",
}


@block("causes")
def causes(sources: Sources, language: str) -> str:
    """Of the sentences with an error: how many come out right, and what is the first cause that the others do not."""
    sets = {name: sources.measured(f"sets/{name}") for name in QUESTIONS}
    found = {"development": sources.evaluation(), **sets}
    rows = []
    for name, each in found.items():
        counts = [each["causes"][cause] for cause in CAUSES]
        rows.append([name, f"{sum(counts):,}", *(f"{count:,}" for count in counts)])
    text = table(["set", "with errors", *(CAUSE_NAMES[cause] for cause in CAUSES)], rows)
    return noted(text, {"the five sets": sets[QUESTIONS[0]]}, language)


@block("intact")
def intact(sources: Sources, language: str) -> str:
    """What must stay as it is, kind by kind."""
    found = sources.measured("intact")
    kinds = {**found["kinds"], "all": found["total"]}
    rows = [
        [name.replace("_", " "), str(each["count"]), percent(each["share"]), str(each["clean"])]
        + [percent(each["clean_untouched"])]
        for name, each in kinds.items()
    ]
    return table(["what is kept", "sentences", "intact", "right ones", "untouched"], rows)


@block("development")
def development(sources: Sources, language: str) -> str:
    """Our own sets, kind by kind."""
    return development_table(sources.measured("development")["sets"])


def development_table(sets: dict[str, dict[str, dict]]) -> str:
    """What ``benchmarks/development.py`` counted: a row for each set, and under it one for each of its kinds."""
    header = ["set", "kind", "wrong", "exact", "left as typed", "right", "untouched", "harmed"]
    rows = []
    for name, kinds in sets.items():
        for kind, n in kinds.items():
            counts = [str(n["wrong"]), _part(n["exact"], n["wrong"]), str(n["left"]), str(n["right"])]
            label = ["", kind] if kind else [f"**{name}**", ""]
            rows.append([*label, *counts, _part(n["untouched"], n["right"]), str(n["harmed"])])
    return table(header, rows)


def _part(part: int, whole: int) -> str:
    return f"{part} ({percent(part / whole)})" if whole else "–"
