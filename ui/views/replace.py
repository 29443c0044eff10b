"""Experiment *another attention*: replace the attention weights of one head."""

from collections import Counter
from functools import cached_property
from typing import ClassVar

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
from ui.views.view import Click, Figures, View, needs_experiment
from ui.wording import change_in_words, head_name, say
from viz.labels import probability, visible_token

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


def _name(version: ReplacedAttention) -> str:
    return say(f"replace_{version.how}")


class Replace(View):
    """The head's map as it was and as it would be, side by side, and the probabilities and text of each
    version."""

    name, page, order = "replace", "laboratory", 30
    settings = (INSTEAD, KEYS)
    drawn = (INSTEAD,)
    noted = ("replace_note", "replace_click", "replace_mean")
    beside: ClassVar = {"replace_observed": "kind-observed", "replace_instead": "kind-instead"}
    one_head = staticmethod(_one_head)
    intervenes = True
    lacks = staticmethod(needs_experiment(declared.replaced))
    unchanged = "without_none"

    @cached_property
    def head(self) -> Head:
        return _head_of(self.state, self.state.explained)

    @cached_property
    def _answer(self) -> tuple[Contrast, tuple[ReplacedAttention, ...]]:
        return self.state.ask(declared.replaced, self.state.edit, self.head, _painted_keys())

    @property
    def contrast(self) -> Contrast:
        return self._answer[0]

    @property
    def versions(self) -> tuple[ReplacedAttention, ...]:
        """The head as it is comes first."""
        return self._answer[1]

    @property
    def chosen(self) -> ReplacedAttention:
        """The version that the setting names; the head as it is where nothing is painted yet."""
        how = self.values[INSTEAD.name]
        return next((each for each in self.versions if each.how == how), self.versions[0])

    @property
    def row(self) -> int:
        """The row of the map in which weights can be given."""
        return row_of_contrast(self.state.kind, self.contrast.row, self.state.explained)

    def show(self) -> None:
        controls.show(INSTEAD)
        self.draw_figures(*self.opened)
        markup.table(self._columns(), self._rows(), say("replace_table"), strong=_name(self.chosen))

    def on_click(self, figure: str) -> Click | None:
        """A cell of the row in question gets one more share of the weight."""
        row = self.row

        def paint(point: dict) -> None:
            cell = figures.cell_of(point)
            if cell is not None and cell[0] == row and 0 <= cell[1] < len(self.state.keys):
                shares = Counter(_painted_keys())
                shares[cell[1]] = (shares[cell[1]] + 1) % (MOST_SHARES + 1)
                keys = sorted(shares.elements())
                address.put(KEYS.name, ",".join(str(number + 1) for number in keys))
                address.put(INSTEAD.name, PAINTED if keys else INSTEAD.default)

        return paint if figure == "replace_instead" else None

    @cached_property
    def figures(self) -> Figures:
        """The head's map as it was and as it would be."""
        state = self.state
        axes = state.queries, state.keys
        shown = {"replace_observed": self.versions[0], "replace_instead": self.chosen}
        return {
            name: (attention_map(state, version.weights, axes, [self.row], state.masked), say(name))
            for name, version in shown.items()
        }

    def _columns(self) -> list[str]:
        tokens = self.contrast.written_token, self.contrast.instead_token
        shares = [say("replace_probability", token=visible_token(token)) for token in tokens]
        return [*shares, say("replace_text")]

    def _rows(self) -> dict[str, list[str]]:
        return {
            _name(each): [
                probability(each.written_probability),
                probability(each.instead_probability),
                say("without_no_end") if each.text is None else each.text,
            ]
            for each in self.versions
        }

    def paragraphs(self) -> list[str]:
        """The rows of the table, each in a line."""
        titled = ((name, zip(self._columns(), row, strict=True)) for name, row in self._rows().items())
        return [f"{name}: {', '.join(f'{title} {cell}' for title, cell in row)}" for name, row in titled]

    def probabilities(self) -> list[float]:
        both = self.versions[0], self.chosen
        return [] if both[0] is both[1] else [each.written_probability for each in both]

    def reading(self) -> str:
        observed, chosen = self.versions[0], self.chosen
        if chosen is observed:
            return say("replace_paint")
        ending = "same" if chosen.text == observed.text else "other"
        source, change = self.state.sentence.source, self.state.explained
        if ending == "other" and outcome(source, chosen.text, change) == "made":
            ending = "elsewhere"
        told = say(
            f"replace_reading_{ending}",
            change=change_in_words(change),
            head=head_name(self.head),
            how=say(f"instead_{chosen.how}"),
            before=probability(observed.written_probability),
            after=probability(chosen.written_probability),
        )
        return f"{told} {say('without_whose', **self.state.written_after)}"
