"""Writes the open view as one HTML file: the sentence, its correction, every head, and the pictures of the view.

If an experiment of the laboratory is open, it comes last, after everything that was observed, and is marked as changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from model.text.changes import Change
from ui import wording
from ui.asking import loaders
from ui.export import parts
from viz.browser import document
from viz.browser.document import Component
from viz.browser.lines import LINES
from viz.browser.plot import PLOT
from viz.browser.steps import STEPS
from viz.labels import probability

if TYPE_CHECKING:
    from ui.export.parts import Choices
    from ui.look.lens import Lens
    from viz.browser.texts import Say

_COLUMNS = ("wrong", "right", "fix", "keep", "confidence")  # of the table of changes


def to_html(lens: Lens, say: Say, choices: Choices) -> bytes:
    """The file. It may be made outside of a session, so ``say`` must not need one."""
    moving = parts.moving(lens, say, choices)
    overviews, heatmap = parts.overviews(lens, say), parts.heatmap_part(lens, say, choices)
    changed = parts.experiment_parts(lens, say, choices)
    opened = [part] if (part := parts.explorer(lens, say)) else []
    sections = [
        *_correction(lens, say, choices.address),
        *_overview(overviews, say),
        *(section for part in opened for section in _component(part, say)),
        *_heatmap(lens, say, choices, heatmap),
        *(section for each in moving for section in _component(each, say)),
        *_experiment(choices, changed),
    ]
    return document.document(
        language=choices.language,
        theme=lens.theme,
        title=f"{lens.sentence.text} – {say('product')}",
        body="\n".join(sections),
        no_script=say("take_away_no_script"),
        components=[*overviews.values(), *opened, heatmap, *moving, *changed],
        used=(PLOT, LINES, STEPS) if opened else (),
    )


def _corrected(lens: Lens, say: Say) -> Iterable[str]:
    sentence = lens.sentence
    yield f"<h2>{escape(say('corrected_label'))}</h2>"
    yield f'<p class="sentence" lang="ko">{escape(sentence.text)}</p>'
    yield f"<h3>{escape(say('take_away_marked'))}</h3>"
    yield f'<p class="sentence" lang="ko">{marked(sentence.source, sentence.changes)}</p>'
    if sentence.changes:
        yield _changes(sentence.changes, say)


def _correction(lens: Lens, say: Say, address: str) -> Iterable[str]:
    sentence = lens.sentence
    yield f"<h1>{escape(say('attention_page'))}</h1>"
    told = loaders.described(lens.corrector)
    if told is not None and told.task != "correct":
        yield f"<h2>{escape(say(f'written_{told.task}'))}</h2>"
        yield f'<p class="sentence" lang="{escape(told.language)}">{escape(sentence.text)}</p>'
        yield f"<h3>{escape(say('typed_label'))}</h3>"
        yield f'<p class="sentence">{escape(sentence.source)}</p>'
    else:
        yield from _corrected(lens, say)
    facts = {
        say("take_away_model"): lens.corrector.name,
        say("take_away_fingerprint"): lens.corrector.fingerprint,
        say("confidence_label"): f"{sentence.minimum_confidence:g}",
        say("take_away_address"): address,
    }
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><code>{escape(value)}</code></td></tr>'
        for name, value in facts.items()
    )
    yield _table(rows, say("take_away_facts"))


def marked(source: str, changes: Iterable[Change]) -> str:
    """``source`` as HTML, each change in its place: what was wrong struck out, and what is right after it."""
    pieces, done = [], 0
    for change in changes:
        pieces.append(escape(source[done : change.source_start]))
        pieces += [
            f"<{tag}>{escape(text)}</{tag}>"
            for tag, text in (("del", change.wrong), ("ins", change.right))
            if text
        ]
        done = change.source_end
    return "".join([*pieces, escape(source[done:])])


def _changes(changes: Sequence[Change], say: Say) -> str:
    head = "".join(f'<th scope="col">{escape(say(f"take_away_column_{name}"))}</th>' for name in _COLUMNS)
    rows = []
    for change in changes:
        texts = "".join(f"<td>{escape(wording.visible(text))}</td>" for text in (change.wrong, change.right))
        confidence = change.confidence if change.is_weighed else None
        values = (change.fix_probability, change.keep_probability, confidence)
        numbers = "".join(f'<td class="number">{escape(_number(value))}</td>' for value in values)
        rows.append(f"<tr>{texts}{numbers}</tr>")
    return _table(f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>", say("take_away_changes"))


def _number(value: float | None) -> str:
    return "–" if value is None else probability(value, digits=3)


def _table(rows: str, label: str) -> str:
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{escape(label)}">'
        f"<table>{rows}</table></div>"
    )


def _overview(overviews: Mapping[str, Component], say: Say) -> Iterable[str]:
    if not overviews:
        return  # there is only one map, and it follows at full size
    yield f"<h2>{escape(say('take_away_overview'))}</h2>"
    yield _paragraph(say("take_away_overview_caption"), "note")
    yield '<div class="several">'
    for kind, part in overviews.items():
        yield f"<section><h3>{escape(say(f'kind_{kind}'))}</h3>{document.component(part)}</section>"
    yield "</div>"


def _heatmap(lens: Lens, say: Say, choices: Choices, part: Component) -> Iterable[str]:
    place = parts.place(lens, say)
    yield f"<h2>{escape(say(f'kind_{lens.kind}'))} · {escape(place)}</h2>"
    yield _paragraph(
        wording.describe_map(say, lens.trace, lens.weights, lens.kind, lens.changes, place), "reading"
    )
    yield document.component(part)
    minus_copy = choices.values["heatmap"]["shown"] == "difference"
    yield _paragraph(wording.map_caption(say, lens.kind, lens.all_changes, difference=minus_copy), "note")


def _component(part: Component, say: Say) -> Iterable[str]:
    yield f"<h2>{escape(say(f'take_away_heading_{part.name}'))}</h2>"
    yield document.component(part)


def _experiment(choices: Choices, changed: Sequence[Component]) -> Iterable[str]:
    """The part with the open experiment. It comes last, so that nobody takes it for what the network really did."""
    experiment = choices.experiment
    if experiment is None or not changed:
        return
    told, *notes = experiment.told
    yield f"<h2>{escape(experiment.title)}</h2>"
    yield _paragraph(told, "reading intervened" if experiment.intervenes else "reading")
    for part in changed:
        _, label = experiment.figures[part.name]
        yield f"<h3>{escape(label)}</h3>{document.component(part)}"
    yield from (_paragraph(note, "note") for note in notes)


def _paragraph(text: str, kind: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>'
