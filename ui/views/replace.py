"""Experiment *another attention*: replace the attention weights of one head."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engine import questions as declared
from model.analysis.counterfactuals import PAINTED, ReplacedAttention, row_of_contrast
from model.analysis.edits import attention_to_edit
from model.text.changes import Change
from model.trace.interventions import Contrast, Head
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.settings import Choice, Text, is_number
from ui.views.drawings import attention_map
from ui.views.heads_off import outcome
from ui.views.view import Click, Figures, Values, View, idea, needs_experiment
from ui.wording import change_in_words, head_name, say
from viz.labels import probability, visible_token

if TYPE_CHECKING:
    import pandas as pd

# The weights that replace those of a head.
INSTEAD = Choice("instead", ("uniform", "copy", "permuted", PAINTED))
KEYS = Text("painted", of="sentence")  # those that the visitor gave shares of the weight to: 2,3,3; from 1
MOST_PAINTED = 32
MOST_SHARES = 3  # shares that one cell can get; one more click takes them away


def _head_of(state: SentenceState, change: Change) -> Head:
    """The selected head. A mean has no separate weights, so it means the selected head with the most
    attention on the change."""
    looked = attention_to_edit(state.trace, state.kind, change, state.all_changes).share
    best = max(state.selection.heads(state.trace), key=lambda place: looked[place])
    return Head(state.kind, *best)


def _one_head(state: SentenceState) -> Head:
    """``_head_of`` for the controls, which are there without a change, too."""
    if state.asked_change is None:
        return Head(state.kind, state.layer or 0, state.head or 0)
    return _head_of(state, state.asked_change)


def _painted_keys() -> tuple[int, ...]:
    """The columns that the visitor gave shares of the weight to, from 0, each as often as it has shares."""
    parts = address.get(KEYS.name).split(",")
    keys = Counter(int(part) - 1 for part in parts if is_number(part) and int(part))
    return tuple(key for key, count in sorted(keys.items()) for _ in range(min(count, MOST_SHARES)))[
        :MOST_PAINTED
    ]


def _versions(state: SentenceState) -> tuple[Contrast, tuple[ReplacedAttention, ...]]:
    return state.ask(declared.replaced, state.edit, _head_of(state, state.explained), _painted_keys())


def _row(state: SentenceState) -> int:
    """The row of the map in which weights can be given."""
    return row_of_contrast(state.kind, _versions(state)[0].row, state.explained)


def _chosen(versions: tuple[ReplacedAttention, ...], values: Values) -> ReplacedAttention:
    """The version that the setting names; the head as it is where nothing is painted yet."""
    return next((each for each in versions if each.how == values["instead"]), versions[0])


def _draw(state: SentenceState, values: Values) -> None:
    """The head's map as it was and as it would be, side by side, and the probabilities and text of each
    version."""
    controls.show(INSTEAD)
    VIEW.draw_beside(state, values)
    contrast, versions = _versions(state)
    markup.table(_table(contrast, versions), say("replace_table"), strong=_name(_chosen(versions, values)))


def _on_click(state: SentenceState, figure: str) -> Click | None:
    """A cell of the row in question gets one more share of the weight."""
    row = _row(state)

    def paint(point: dict) -> None:
        cell = figures.cell_of(point)
        if cell is not None and cell[0] == row and 0 <= cell[1] < len(state.keys):
            shares = Counter(_painted_keys())
            shares[cell[1]] = (shares[cell[1]] + 1) % (MOST_SHARES + 1)
            keys = sorted(shares.elements())
            address.put(KEYS.name, ",".join(str(number + 1) for number in keys))
            address.put(INSTEAD.name, PAINTED if keys else INSTEAD.default)

    return paint if figure == "replace_instead" else None


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """The head's map as it was and as it would be."""
    _, versions = _versions(state)
    row = _row(state)
    shown = {"replace_observed": versions[0], "replace_instead": _chosen(versions, values)}
    axes = state.queries, state.keys
    return {
        name: (attention_map(state, version.weights, axes, [row], state.masked), say(name))
        for name, version in shown.items()
    }


def _table(contrast: Contrast, versions: tuple[ReplacedAttention, ...]) -> pd.DataFrame:
    import pandas as pd  # the first page does without it

    written, instead = map(visible_token, (contrast.written_token, contrast.instead_token))
    rows = [
        (
            probability(each.written_probability),
            probability(each.instead_probability),
            say("without_no_end") if each.text is None else each.text,
        )
        for each in versions
    ]
    columns = [
        say("replace_probability", token=written),
        say("replace_probability", token=instead),
        say("replace_text"),
    ]
    return pd.DataFrame(rows, index=[_name(each) for each in versions], columns=columns)


def _paragraphs(state: SentenceState, values: Values) -> list[str]:
    """The rows of the table, each in a line."""
    table = _table(*_versions(state))
    told = ((name, *(f"{title} {cell}" for title, cell in row.items())) for name, row in table.iterrows())
    return [f"{name}: {', '.join(cells)}" for name, *cells in told]


def _name(version: ReplacedAttention) -> str:
    return say(f"replace_{version.how}")


def _describe(state: SentenceState, values: Values) -> str:
    _, versions = _versions(state)
    observed, chosen = versions[0], _chosen(versions, values)
    if chosen is observed:
        return say("replace_paint")
    ending = "same" if chosen.text == observed.text else "other"
    if ending == "other" and outcome(state.sentence.source, chosen.text, state.explained) == "made":
        ending = "elsewhere"
    told = say(
        f"replace_reading_{ending}",
        change=change_in_words(state.explained),
        head=head_name(_head_of(state, state.explained)),
        how=say(f"instead_{chosen.how}"),
        before=probability(observed.written_probability),
        after=probability(chosen.written_probability),
    )
    return f"{told} {say('without_whose', **state.written_after)}"


def _notes(state: SentenceState, values: Values) -> list[str]:
    return [say("replace_note"), say("replace_click"), say("replace_mean")]


VIEW = View(
    "replace",
    "laboratory",
    30,
    _describe,
    (INSTEAD, KEYS),
    _notes,
    idea("replace"),
    _draw,
    _figures_of,
    _on_click,
    drawn=(INSTEAD,),
    beside={"replace_observed": "kind-observed", "replace_instead": "kind-instead"},
    one_head=_one_head,
    paragraphs=_paragraphs,
    intervenes=True,
    lacks=needs_experiment(declared.replaced),
    unchanged="without_none",
).declare()
