"""Export of the open view as one HTML file: sentence, correction, every head, pictures.

If an experiment of the laboratory is open, it comes last, after everything that was observed, and is marked
as changed. The file is made outside of a session, so settings of the address come in ``Choices``.
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
from ui.views.view import file_name, needs_probabilities
from viz.browser import document
from viz.browser.document import Component, without_font_file
from viz.browser.explore import EXPLORE
from viz.browser.explore_data import explorer_data
from viz.browser.lines import LINES, lines_data
from viz.browser.plot import PLOT, plot_data
from viz.browser.steps import STEPS, steps_data
from viz.browser.texts import grid_words
from viz.figure import Specification
from viz.labels import probability

if TYPE_CHECKING:
    from ui.sentence.state import SentenceState
    from ui.views.view import Values
    from viz.browser.texts import Say

MOST_WEIGHTS = 16_000_000  # a byte each in the overview; with more, only the shown kind is in it


@dataclass(frozen=True)
class Experiment:
    """The figures and texts of an experiment of the laboratory."""

    title: str
    told: tuple[str, ...]  # its sentence, then the notes
    figures: Mapping[str, tuple[go.Figure | Specification, str]]  # by name, with a description of each
    intervenes: bool  # whether something was changed in a pass; else passes were only observed


@dataclass(frozen=True)
class Choices:
    """The settings of the view that are not part of a state."""

    language: str
    address: str  # opens the view in the app
    values: Mapping[str, Values]  # of each view's settings, by the view's name
    selected: tuple[int, int] | None = None  # the numbers of the heatmap's chosen cell
    heads: tuple[LayerHeads, ...] = ((None, None),)  # drawn as lines
    step: int = 1  # of decoding, counted from 1
    experiment: Experiment | None = None


def heatmap_figure(state: SentenceState, say: Say, choices: Choices) -> Specification:
    """The state's map with the settings of the heatmap view. Shapes as the trace has them, (Q, K)."""
    return full_size.picture(state, choices.values["heatmap"], choices.selected, say)


def _heatmap_part(state: SentenceState, say: Say, choices: Choices) -> Component:
    label = f"{say(f'kind_{state.kind}')} · {_place_text(state, say)}"
    return _drawn("heatmap", heatmap_figure(state, say, choices), say, label=label, theme=state.theme)


def _overview_parts(state: SentenceState, say: Say) -> dict[str, Component]:
    """All heads, one picture for each kind. Empty if the network has a single head."""
    trace = state.trace
    if trace.num_layers * trace.num_heads == 1:
        return {}
    everything = sum(trace.attention(kind).size for kind in trace.kinds) <= MOST_WEIGHTS
    return {
        kind: _drawn(
            f"overview-{kind}",
            _overview_figure(state, say, kind),
            say,
            label=say(f"kind_{kind}"),
            theme=state.theme,
        )
        for kind in (trace.kinds if everything else (state.kind,))
    }


def explorer(state: SentenceState, say: Say) -> Component | None:
    """Every head to open, one at a time. None for a single head, or too many weights for a file. The limit is
    16 million weights, a byte each, so 16 MB in bytes."""
    trace = state.trace
    weights = sum(trace.attention(kind).size for kind in trace.kinds)
    if trace.num_layers * trace.num_heads == 1 or weights > MOST_WEIGHTS:
        return None
    return Component("explorer", EXPLORE, {"name": ""} | explorer_data(say, trace, state.theme))


def _experiment_parts(state: SentenceState, say: Say, choices: Choices) -> tuple[Component, ...]:
    found = choices.experiment.figures if choices.experiment else {}
    return tuple(
        _drawn(name, figure, say, label=label, theme=state.theme) for name, (figure, label) in found.items()
    )


def _overview_figure(state: SentenceState, say: Say, kind: str) -> Specification:
    """All heads of all layers of ``kind``."""
    return viz.head_grid.specification(
        state.trace.attention(kind),
        **grid_words(say),
        masked=state.trace.masked(kind),
        theme=state.theme,
    )


def _place_text(state: SentenceState, say: Say, head: LayerHeads | None = None) -> str:
    """The words for the state's layer and head, or for another head."""
    selection = state.selection if head is None else Selection(state.kind, *head)
    return selection.label(say, state.trace)


def _moving_parts(state: SentenceState, say: Say, choices: Choices) -> tuple[Component, ...]:
    found = [Component("lines", LINES, _lines_data(state, say, choices))]
    if not needs_probabilities(state):
        found.append(Component("steps", STEPS, _steps_data(state, say, choices)))
    return tuple(found)


def _drawn(name: str, figure: go.Figure | Specification, say: Say, *, label: str, theme: str) -> Component:
    """A figure as the component by which the app draws it, too."""
    return Component(name, PLOT, plot_data(say, figure, label=label, file=name, theme=theme))


def _lines_data(state: SentenceState, say: Say, choices: Choices) -> dict:
    named = []
    for head in choices.heads:
        named.append((_place_text(state, say, head), Selection(state.kind, *head).weights(state.trace)))
    data = lines_data(
        say,
        state.trace,
        state.kind,
        named,
        mass=choices.values["lines"]["mass"] / 100,
        label=say(f"kind_{state.kind}"),
        changed=(state.rows, state.changed_columns),
        isolated=state.rows if state.focus else (),
        file=file_name(state, "lines"),
        theme=state.theme,
    )
    return without_font_file(data)


def _steps_data(state: SentenceState, say: Say, choices: Choices) -> dict:
    data = steps_data(
        say,
        state.trace,
        state.all_changes,
        weights=partial(state.selection.weights, state.trace),
        place=_place_text(state, say),
        step=choices.step,
        chosen=state.focus,
        file=file_name(state, "steps"),
        theme=state.theme,
    )
    return without_font_file(data)


_COLUMNS = ("wrong", "right", "fix", "keep", "confidence")  # of the table of changes


def to_html(state: SentenceState, say: Say, choices: Choices) -> bytes:
    """The file. It may be made outside of a session, so ``say`` must not need one. Returns bytes of UTF-8."""
    moving = _moving_parts(state, say, choices)
    overviews, heatmap = _overview_parts(state, say), _heatmap_part(state, say, choices)
    changed = _experiment_parts(state, say, choices)
    opened = [part] if (part := explorer(state, say)) else []
    sections = [
        *_correction(state, say, choices.address),
        *_overview_section(overviews, say),
        *(section for part in opened for section in _component_section(part, say)),
        *_heatmap_section(state, say, choices, heatmap),
        *(section for each in moving for section in _component_section(each, say)),
        *_experiment_section(choices, changed),
    ]
    return document.document(
        language=choices.language,
        theme=state.theme,
        title=f"{state.sentence.text} – {say('product')}",
        body="\n".join(sections),
        no_script=say("take_away_no_script"),
        components=[*overviews.values(), *opened, heatmap, *moving, *changed],
        used=(PLOT, LINES, STEPS) if opened else (),
    )


def _corrected(state: SentenceState, say: Say) -> Iterable[str]:
    sentence = state.sentence
    yield f"<h2>{escape(say('corrected_label'))}</h2>"
    yield f'<p class="sentence" lang="ko">{escape(sentence.text)}</p>'
    yield f"<h3>{escape(say('take_away_marked'))}</h3>"
    yield f'<p class="sentence" lang="ko">{marked(sentence.source, sentence.changes)}</p>'
    if sentence.changes:
        yield _changes(sentence.changes, say)


def _correction(state: SentenceState, say: Say, address: str) -> Iterable[str]:
    sentence = state.sentence
    yield f"<h1>{escape(say('attention_page'))}</h1>"
    told = loaders.described(state.corrector)
    if told is not None and told.task != "correct":
        yield f"<h2>{escape(say(f'written_{told.task}'))}</h2>"
        yield f'<p class="sentence" lang="{escape(told.language)}">{escape(sentence.text)}</p>'
        yield f"<h3>{escape(say('typed_label'))}</h3>"
        yield f'<p class="sentence">{escape(sentence.source)}</p>'
    else:
        yield from _corrected(state, say)
    facts = {
        say("take_away_model"): state.corrector.name,
        say("take_away_fingerprint"): state.corrector.fingerprint,
        say("confidence_label"): f"{sentence.minimum_confidence:g}",
        say("take_away_address"): address,
    }
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><code>{escape(value)}</code></td></tr>'
        for name, value in facts.items()
    )
    yield _table(rows, say("take_away_facts"))


def marked(source: str, changes: Iterable[Change]) -> str:
    """``source`` as HTML, each change in its place: the wrong text struck out, the right one after it."""
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
    return "–" if value is None else probability(value)


def _table(rows: str, label: str) -> str:
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{escape(label)}">'
        f"<table>{rows}</table></div>"
    )


def _overview_section(overviews: Mapping[str, Component], say: Say) -> Iterable[str]:
    if not overviews:
        return  # the only map follows at full size
    yield f"<h2>{escape(say('take_away_overview'))}</h2>"
    yield _paragraph(say("take_away_overview_caption"), "note")
    yield '<div class="several">'
    for kind, part in overviews.items():
        yield f"<section><h3>{escape(say(f'kind_{kind}'))}</h3>{document.component(part)}</section>"
    yield "</div>"


def _heatmap_section(state: SentenceState, say: Say, choices: Choices, part: Component) -> Iterable[str]:
    place = _place_text(state, say)
    yield f"<h2>{escape(say(f'kind_{state.kind}'))} · {escape(place)}</h2>"
    yield _paragraph(wording.describe_map(say, state.trace, state.selection, state.changes), "reading")
    yield document.component(part)
    minus_copy = choices.values["heatmap"]["shown"] == "difference"
    yield _paragraph(wording.map_caption(say, state.kind, state.all_changes, difference=minus_copy), "note")


def _component_section(part: Component, say: Say) -> Iterable[str]:
    yield f"<h2>{escape(say(f'take_away_heading_{part.name}'))}</h2>"
    yield document.component(part)


def _experiment_section(choices: Choices, changed: Sequence[Component]) -> Iterable[str]:
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
