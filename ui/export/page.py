"""Export of the open view as one HTML file: sentence, correction, every head, pictures.

If an experiment of the laboratory is open, it comes last, after everything that was observed, and is marked
as changed. The file is made outside of a session, so settings of the address come in ``Choices``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

import viz
from model.text.changes import Change
from model.trace.trace import LayerHeads
from ui import wording
from ui.asking import loaders
from ui.sentence.state import SentenceState
from ui.shell import markup
from ui.views import heatmap, lines, steps
from ui.views.view import Values, map_label, needs_probabilities
from ui.wording import say
from viz.browser import document
from viz.browser.document import Component, without_font_file
from viz.browser.explore import EXPLORE
from viz.browser.explore_data import explorer_data
from viz.browser.lines import LINES
from viz.browser.plot import PLOT, plot_data
from viz.browser.steps import STEPS
from viz.browser.texts import grid_words, visible
from viz.figure import Specification
from viz.labels import probability

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

    address: str  # opens the view in the app
    values: Mapping[str, Values]  # of each view's settings, by the view's name
    selected: tuple[int, int] | None = None  # the numbers of the heatmap's chosen cell
    heads: tuple[LayerHeads, ...] = ((None, None),)  # drawn as lines
    step: int = 1  # of decoding, counted from 1
    experiment: Experiment | None = None


def to_html(state: SentenceState, choices: Choices) -> bytes:
    """The file in the language that is ``spoken``. Returns bytes of UTF-8."""
    overviews, opened = _overview_parts(state), explorer(state)
    map_ = heatmap.picture(state, choices.values["heatmap"], choices.selected)
    shown = _drawn(state, "heatmap", map_, map_label(state))
    moving, changed = _moving_parts(state, choices), _experiment_parts(state, choices)
    sections = [
        *_correction(state, choices.address),
        *_overview_section(overviews),
        *(section for part in opened for section in _component_section(part)),
        *_heatmap_section(state, choices, shown),
        *(section for each in moving for section in _component_section(each)),
        *_experiment_section(choices, changed),
    ]
    return document.document(
        language=wording.language(),
        theme=state.theme,
        title=f"{state.sentence.text} – {say('product')}",
        body="\n".join(sections),
        no_script=say("take_away_no_script"),
        components=[*overviews.values(), *opened, shown, *moving, *changed],
        used=(PLOT, LINES, STEPS) if opened else (),
    )


def _drawn(state: SentenceState, name: str, figure: go.Figure | Specification, label: str) -> Component:
    """A figure as the component by which the app draws it, too."""
    return Component(name, PLOT, plot_data(say, figure, label=label, file=name, theme=state.theme))


def _overview_parts(state: SentenceState) -> dict[str, Component]:
    """All heads, one picture for each kind. Empty if the network has a single head."""
    trace = state.trace
    if trace.num_layers * trace.num_heads == 1:
        return {}
    figures = {
        kind: viz.head_grid.specification(
            trace.attention(kind), **grid_words(say), masked=trace.masked(kind), theme=state.theme
        )
        for kind in (trace.kinds if _fits(state) else (state.kind,))
    }
    return {
        kind: _drawn(state, f"overview-{kind}", figure, say(f"kind_{kind}"))
        for kind, figure in figures.items()
    }


def _fits(state: SentenceState) -> bool:
    """Whether all weights have room in the file."""
    return sum(state.trace.attention(kind).size for kind in state.trace.kinds) <= MOST_WEIGHTS


def explorer(state: SentenceState) -> list[Component]:
    """Every head to open, one at a time. Empty for a single head, or too many weights for a file. The limit
    is 16 million weights, a byte each, so 16 MB in bytes."""
    trace = state.trace
    if trace.num_layers * trace.num_heads == 1 or not _fits(state):
        return []
    return [Component("explorer", EXPLORE, {"name": ""} | explorer_data(say, trace, state.theme))]


def _moving_parts(state: SentenceState, choices: Choices) -> tuple[Component, ...]:
    drawn = lines.data_of(state, list(choices.heads), choices.values["lines"]["mass"])
    label = {"label": say(f"kind_{state.kind}")}
    found = [Component("lines", LINES, without_font_file(drawn) | label)]
    if not needs_probabilities(state):
        found.append(Component("steps", STEPS, without_font_file(steps.data_of(state, choices.step))))
    return tuple(found)


def _experiment_parts(state: SentenceState, choices: Choices) -> tuple[Component, ...]:
    found = choices.experiment.figures if choices.experiment else {}
    return tuple(_drawn(state, name, *each) for name, each in found.items())


_COLUMNS = ("wrong", "right", "fix", "keep", "confidence")  # of the table of changes


def _corrected(state: SentenceState) -> Iterable[str]:
    sentence = state.sentence
    yield f"<h2>{escape(say('corrected_label'))}</h2>"
    yield f'<p class="sentence" lang="ko">{escape(sentence.text)}</p>'
    yield f"<h3>{escape(say('take_away_marked'))}</h3>"
    yield f'<p class="sentence" lang="ko">{markup.with_changes(sentence.source, sentence.changes)}</p>'
    if sentence.changes:
        yield _changes(sentence.changes)


def _correction(state: SentenceState, address: str) -> Iterable[str]:
    sentence = state.sentence
    yield f"<h1>{escape(say('attention_page'))}</h1>"
    told = loaders.described(state.corrector)
    if told is not None and told.task != "correct":
        yield f"<h2>{escape(say(f'written_{told.task}'))}</h2>"
        yield f'<p class="sentence" lang="{escape(told.language)}">{escape(sentence.text)}</p>'
        yield f"<h3>{escape(say('typed_label'))}</h3>"
        yield f'<p class="sentence">{escape(sentence.source)}</p>'
    else:
        yield from _corrected(state)
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


def _changes(changes: Sequence[Change]) -> str:
    head = "".join(f'<th scope="col">{escape(say(f"take_away_column_{name}"))}</th>' for name in _COLUMNS)
    rows = []
    for change in changes:
        texts = "".join(f"<td>{escape(visible(text))}</td>" for text in (change.wrong, change.right))
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


def _overview_section(overviews: Mapping[str, Component]) -> Iterable[str]:
    if not overviews:
        return  # the only map follows at full size
    yield f"<h2>{escape(say('take_away_overview'))}</h2>"
    yield _paragraph(say("take_away_overview_caption"), "note")
    yield '<div class="several">'
    for kind, part in overviews.items():
        yield f"<section><h3>{escape(say(f'kind_{kind}'))}</h3>{document.component(part)}</section>"
    yield "</div>"


def _heatmap_section(state: SentenceState, choices: Choices, part: Component) -> Iterable[str]:
    yield f"<h2>{escape(map_label(state))}</h2>"
    yield _paragraph(wording.describe_map(state.trace, state.selection, state.changes), "reading")
    yield document.component(part)
    minus_copy = choices.values["heatmap"]["shown"] == "difference"
    yield _paragraph(wording.map_caption(state.kind, state.all_changes, difference=minus_copy), "note")


def _component_section(part: Component) -> Iterable[str]:
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
