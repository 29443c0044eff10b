"""Makes the pictures of one view for a file. It runs outside of a session, so what it needs of the address is in ``Choices``.

Writes the open view as one HTML file: the sentence, its correction, every head, and the pictures of the view.

If an experiment of the laboratory is open, it comes last, after everything that was observed, and is marked as changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import plotly.graph_objects as go

import viz
from model.text.changes import Change
from model.trace.trace import LayerHeads, Selection
from ui import wording
from ui.asking import loaders
from ui.views import heatmap as full_size
from ui.views.received import changed_columns
from ui.views.view import file_name, needs_probabilities
from viz.browser import document
from viz.browser.document import Component, without_font_file
from viz.browser.explore import EXPLORE
from viz.browser.explore_data import explorer_data
from viz.browser.lines import LINES, lines_data
from viz.browser.plot import PLOT, plot_data
from viz.browser.steps import STEPS, steps_data
from viz.figure import Specification
from viz.labels import probability

if TYPE_CHECKING:
    from ui.sentence.state import Lens
    from ui.views.view import Values
    from viz.browser.texts import Say

MOST_WEIGHTS = 16_000_000  # a byte each in the overview; with more, only the shown kind is in it


@dataclass(frozen=True)
class Experiment:
    """What an experiment of the laboratory showed on the page."""

    title: str
    told: tuple[str, ...]  # what it says, then the notes
    figures: Mapping[str, tuple[go.Figure | Specification, str]]  # by name, with what each shows in words
    intervenes: bool  # whether something was changed in a pass; else passes were only observed


@dataclass(frozen=True)
class Choices:
    """The settings of the view that are not part of a lens."""

    language: str
    address: str  # opens the view in the app
    values: Mapping[str, Values]  # of each view's settings, by the view's name
    selected: tuple[int, int] | None = None  # the numbers of the heatmap's chosen cell
    heads: tuple[LayerHeads, ...] = ((None, None),)  # drawn as lines
    step: int = 1  # of decoding, counted from 1
    experiment: Experiment | None = None


def heatmap_figure(lens: Lens, say: Say, choices: Choices) -> Specification:
    """The lens's map with the settings of the heatmap view."""
    return full_size.picture(lens, choices.values["heatmap"], choices.selected, say)


def heatmap_part(lens: Lens, say: Say, choices: Choices) -> Component:
    label = f"{say(f'kind_{lens.kind}')} · {place_text(lens, say)}"
    return drawn("heatmap", heatmap_figure(lens, say, choices), say, label=label, theme=lens.theme)


def overview_parts(lens: Lens, say: Say) -> dict[str, Component]:
    """All heads, one picture for each kind. Empty if the network has a single head."""
    trace = lens.trace
    if trace.num_layers * trace.num_heads == 1:
        return {}
    everything = sum(trace.attention(kind).size for kind in trace.kinds) <= MOST_WEIGHTS
    return {
        kind: drawn(
            f"overview-{kind}",
            overview_figure(lens, say, kind),
            say,
            label=say(f"kind_{kind}"),
            theme=lens.theme,
        )
        for kind in (trace.kinds if everything else (lens.kind,))
    }


def explorer(lens: Lens, say: Say) -> Component | None:
    """Every head to open, one at a time. None where there is one alone, or too many weights for a file."""
    trace = lens.trace
    weights = sum(trace.attention(kind).size for kind in trace.kinds)
    if trace.num_layers * trace.num_heads == 1 or weights > MOST_WEIGHTS:
        return None
    return Component("explorer", EXPLORE, {"name": ""} | explorer_data(say, trace, lens.theme))


def experiment_parts(lens: Lens, say: Say, choices: Choices) -> tuple[Component, ...]:
    found = choices.experiment.figures if choices.experiment else {}
    return tuple(
        drawn(name, figure, say, label=label, theme=lens.theme) for name, (figure, label) in found.items()
    )


def overview_figure(lens: Lens, say: Say, kind: str) -> Specification:
    """All heads of all layers of ``kind``."""
    return viz.head_grid.specification(
        lens.trace.attention(kind),
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        masked=lens.trace.masked(kind),
        theme=lens.theme,
    )


def place_text(lens: Lens, say: Say, head: LayerHeads | None = None) -> str:
    """The words for the lens's layer and head, or for another head."""
    selection = lens.selection if head is None else Selection(lens.kind, *head)
    return selection.label(say, lens.trace)


def moving_parts(lens: Lens, say: Say, choices: Choices) -> tuple[Component, ...]:
    """The pictures that react to the pointer: lines, and the replay of decoding if the trace has what it needs."""
    found = [Component("lines", LINES, _lines_data(lens, say, choices))]
    if not needs_probabilities(lens):
        found.append(Component("steps", STEPS, _steps_data(lens, say, choices)))
    return tuple(found)


def drawn(name: str, figure: go.Figure | Specification, say: Say, *, label: str, theme: str) -> Component:
    """A figure as the component by which the app draws it, too."""
    return Component(name, PLOT, plot_data(say, figure, label=label, file=name, theme=theme))


def _lines_data(lens: Lens, say: Say, choices: Choices) -> dict:
    named = []
    for head in choices.heads:
        named.append((place_text(lens, say, head), Selection(lens.kind, *head).weights(lens.trace)))
    data = lines_data(
        say,
        lens.trace,
        lens.kind,
        named,
        mass=choices.values["lines"]["mass"] / 100,
        label=say(f"kind_{lens.kind}"),
        changed=(lens.rows, changed_columns(lens)),
        isolated=lens.rows if lens.focus else (),
        file=file_name(lens, "lines"),
        theme=lens.theme,
    )
    return without_font_file(data)


def _steps_data(lens: Lens, say: Say, choices: Choices) -> dict:
    data = steps_data(
        say,
        lens.trace,
        lens.all_changes,
        weights=partial(lens.selection.weights, lens.trace),
        place=place_text(lens, say),
        step=choices.step,
        chosen=lens.focus,
        file=file_name(lens, "steps"),
        theme=lens.theme,
    )
    return without_font_file(data)


if TYPE_CHECKING:
    from ui.sentence.state import Lens
    from viz.browser.texts import Say

_COLUMNS = ("wrong", "right", "fix", "keep", "confidence")  # of the table of changes


def to_html(lens: Lens, say: Say, choices: Choices) -> bytes:
    """The file. It may be made outside of a session, so ``say`` must not need one."""
    moving = moving_parts(lens, say, choices)
    overviews, heatmap = overview_parts(lens, say), heatmap_part(lens, say, choices)
    changed = experiment_parts(lens, say, choices)
    opened = [part] if (part := explorer(lens, say)) else []
    sections = [
        *_correction(lens, say, choices.address),
        *_overview_section(overviews, say),
        *(section for part in opened for section in _component_section(part, say)),
        *_heatmap_section(lens, say, choices, heatmap),
        *(section for each in moving for section in _component_section(each, say)),
        *_experiment_section(choices, changed),
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


def _overview_section(overviews: Mapping[str, Component], say: Say) -> Iterable[str]:
    if not overviews:
        return  # there is only one map, and it follows at full size
    yield f"<h2>{escape(say('take_away_overview'))}</h2>"
    yield _paragraph(say("take_away_overview_caption"), "note")
    yield '<div class="several">'
    for kind, part in overviews.items():
        yield f"<section><h3>{escape(say(f'kind_{kind}'))}</h3>{document.component(part)}</section>"
    yield "</div>"


def _heatmap_section(lens: Lens, say: Say, choices: Choices, part: Component) -> Iterable[str]:
    place = place_text(lens, say)
    yield f"<h2>{escape(say(f'kind_{lens.kind}'))} · {escape(place)}</h2>"
    yield _paragraph(
        wording.describe_map(say, lens.trace, lens.weights, lens.kind, lens.changes, place), "reading"
    )
    yield document.component(part)
    minus_copy = choices.values["heatmap"]["shown"] == "difference"
    yield _paragraph(wording.map_caption(say, lens.kind, lens.all_changes, difference=minus_copy), "note")


def _component_section(part: Component, say: Say) -> Iterable[str]:
    yield f"<h2>{escape(say(f'take_away_heading_{part.name}'))}</h2>"
    yield document.component(part)


def _experiment_section(choices: Choices, changed: Sequence[Component]) -> Iterable[str]:
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
