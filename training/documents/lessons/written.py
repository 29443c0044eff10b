"""Writes the lesson plans as Markdown, and the worksheet with its answers as HTML that prints on A4."""

from functools import partial
from html import escape

from training.documents.block import block
from training.documents.lessons.plan import PARTS, PLANS, plan_of, values_of, words_of
from training.documents.sources import Sources

FACTS = "lesson"  # docs/numbers/lesson.json
# The questions of the worksheet.
QUESTIONS = (
    "predict",
    "heads",
    "map",
    "lines",
    "steps",
    "calculation",
    "masks",
    "off",
    "instead",
    "fork",
)


def plan(minutes: int, sources: Sources, language: str) -> str:
    """One plan. Raises MissingNumbersError where nothing was measured."""
    facts = sources.measured(FACTS)
    words, values = words_of(language), values_of(facts, language)
    lines = [f"# {words['titles'][str(minutes)]}", "", words["intro"]["text"].format(**values)]
    for step in plan_of(facts, minutes, language):
        opened = f" — [{words['open']}]({step.link})" if step.link else ""
        lines += ["", f"## {step.begin}–{step.end}{words['minute']} · {step.title}{opened}", ""]
        lines += [f"* **{words[part]}** {step.parts[part]}" for part in PARTS if part in step.parts]
    return "\n".join([*lines, "", words["closing"]["text"]])


for _minutes in PLANS:
    block(f"lesson{_minutes}")(partial(plan, _minutes))


@block("worksheet")
def worksheet(sources: Sources, language: str) -> str:
    """The questions of the longest plan with room to write, and on the next page the answers."""
    facts, words = sources.measured(FACTS), words_of(language)
    steps = [step for step in plan_of(facts, max(PLANS), language) if step.name in QUESTIONS]
    asked = [
        f"<li><b>{escape(step.title)}</b> {escape(step.parts['ask'])}<span></span><span></span></li>"
        for step in steps
    ]
    told = [
        f"<li><b>{escape(step.title)}</b> {escape(step.parts['see'])} {escape(step.parts['answer'])}</li>"
        for step in steps
    ]
    head = f"<p>{escape(facts['sentence'])} → {escape(facts['right'])}</p>"
    sheet, key = words["worksheet"]["title"], words["worksheet"]["answers"]
    return "\n".join(
        [
            f"<section><h1>{sheet}</h1><p>{words['worksheet']['name']}: ＿＿＿＿＿＿＿＿</p>{head}",
            "<ol>",
            *asked,
            "</ol></section>",
            f"<section><h1>{key}</h1>{head}",
            "<ol>",
            *told,
            "</ol></section>",
        ]
    )
