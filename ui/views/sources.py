"""Experiment *from what*: input attribution of one produced character, and occlusion."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial

import numpy as np

import viz
from engine import questions as declared
from model import ModelFolderError
from model.analysis.attribution_methods import METHODS
from model.analysis.contributions import REFERENCE, Contribution, MethodAgreement, method_agreement
from model.text.changes import Change
from ui.asking import loaders, models
from ui.sentence.state import SentenceState
from ui.shell import controls, runs
from ui.shell.settings import Ordinal
from ui.views.fork import step_name
from ui.views.view import Figures, View, needs_experiment
from ui.wording import change_in_words, nats, say
from viz.labels import decimal, visible_token

STEP = Ordinal("sources_step", of="sentence")  # the written token in question; empty: where the change begins


def asked_about(state: SentenceState) -> Change | int | None:
    """The step in question, from 0, if another one was chosen than the beginning of the change in focus; else
    that change. Without a change it is the first step. None if the network answers for changes only and
    nothing was changed."""
    change = state.asked_change
    if not state.can(declared.step_contributions):
        return change
    row = controls.place(STEP, len(state.trace.target_tokens))
    if row is not None:
        return change if change and state.asked_row == row else row
    return change or 0


def _agreements(found: Mapping[str, Contribution | None]) -> dict[str, MethodAgreement]:
    """The agreement of the known methods with the reference."""
    reference = found[REFERENCE]
    return {
        name: method_agreement(each, reference)
        for name, each in found.items()
        if each is not None and reference is not None and name != REFERENCE
    }


def choose_step(state: SentenceState, row: int) -> None:
    """The control for the written character in question."""
    named = partial(step_name, state.trace)
    controls.pick_place(STEP, len(state.trace.target_tokens), row, named)


def _panel(method: str, found: Contribution | None, agreed: MethodAgreement | None) -> viz.MethodPanel:
    name = say(f"method_{method}")
    if found is None:
        return viz.MethodPanel(name, None, METHODS[method].intervenes, say("sources_asking"))
    note = "" if agreed is None else _agreement(agreed, len(found.source) - 1)
    return viz.MethodPanel(name, np.concatenate([found.source, found.before]), found.intervened, note)


def _agreement(agreed: MethodAgreement, characters: int) -> str:
    of = min(3, characters)
    return say(
        "sources_agreement",
        correlation=decimal(agreed.correlation),
        first=say("sources_same" if agreed.top_1 else "sources_other"),
        shared=round(agreed.top_3 * of),
        of=of,
    )


def _larger_before(state: SentenceState, reference: Contribution, largest: float) -> str:
    """A sentence on a character written before whose absence changes more than any of the source."""
    read = abs(reference.before[1:])  # behind the start mark
    if not len(read) or read.max() <= largest:
        return ""
    key = int(read.argmax()) + 1
    token = visible_token(state.trace.decoder_input_tokens[key])
    return say("sources_before", key=token, effect=nats(float(reference.before[key])))


def _over_many(state: SentenceState) -> list[str]:
    """How well the methods agreed over many edits, the best one first; nothing for weights without a study.
    Methods that the study does not hold are named."""
    entry = models.chosen()
    try:
        found = entry and loaders.corpus_agreement(entry.path, state.corrector)
    except ModelFolderError:
        return []
    if not found:
        return []
    measured = {name: agreed for name, agreed in found.methods.items() if name in METHODS}
    ranked = sorted(measured.items(), key=lambda each: -each[1].first)
    told = [
        f"{say(f'method_{name}')} {agreed.first:.2f} ± {agreed.first_margin:.2f}" for name, agreed in ranked
    ]
    numbers = {"edits": f"{found.edits:,}", "sentences": f"{found.sentences:,}"}
    notes = [say("sources_corpus", **numbers, methods=", ".join(told))]
    if others := [say(f"method_{name}") for name in METHODS if name not in {*measured, REFERENCE}]:
        notes.append(say("sources_not_measured", methods=", ".join(others)))
    return notes


class Sources(View):
    """One row of bars for each method over the source and the target before the row, all on one axis. The
    slow methods have empty rows, and are asked after the picture is drawn."""

    name, page, order = "sources", "laboratory", 20
    settings = (STEP,)
    has_map = False
    intervenes = True
    lacks = staticmethod(needs_experiment(declared.contributions))

    @cached_property
    def about(self) -> Change | int | None:
        return asked_about(self.state)

    def _round(self, ask: Callable, number: int = 0) -> declared.MethodRound | None:
        """The contributions by one round of methods, by ``state.ask`` or ``state.known``."""
        state, about = self.state, self.about
        if isinstance(about, int):
            return ask(declared.step_contributions, *state.texts, about, number)
        return None if about is None else ask(declared.contributions, state.edit_of(about), number)

    @cached_property
    def _answers(self) -> tuple[int, dict[str, Contribution | None], Callable[[], object] | None] | None:
        """(row, the answer of each method, a function that asks for more). It waits for the quick methods.
        The reference comes first; None means not known yet. Where all are known, there is nothing more to
        ask."""
        if (first := self._round(self.state.ask)) is None:
            return None
        row, methods, found = first
        number, more = 1, None
        while len(found) < len(methods):
            answered = self._round(self.state.known, number)
            if answered is None:
                more = partial(self._round, self.state.ask, number)
                break
            found += answered[-1]
            number += 1
        known = {each.method: each for each in found}
        return row, {name: known.get(name) for name in sorted(methods, key=REFERENCE.__ne__)}, more

    def show(self) -> None:
        if self._answers is None:
            return
        row, _, more = self._answers
        if self.state.can(declared.step_contributions):
            choose_step(self.state, row if isinstance(self.about, int) else self.state.asked_row)
        if more is not None:
            runs.ask_later(more)
        super().show()

    @cached_property
    def figures(self) -> Figures:
        if self._answers is None:
            return {}
        (row, found, _), about, trace = self._answers, self.about, self.state.trace
        agreed = _agreements(found)
        changed = range(about.source_start, about.source_end) if isinstance(about, Change) else ()
        figure = viz.contribution_panels(
            [_panel(name, each, agreed.get(name)) for name, each in found.items()],
            [*trace.source_tokens, *trace.decoder_input_tokens[: row + 1]],
            outlined=changed,
            split=len(trace.source_tokens),
            observed_name=say("sources_observed"),
            intervened_name=say("sources_intervened"),
            token_title=say("sources_tokens"),
            value_title=say("sources_share"),
            theme=self.state.theme,
        )
        return {"sources": (figure, say("sources_label"))}

    def reading(self) -> str:
        """Which character's absence changes most, and how many methods name it."""
        if self._answers is None:
            return say("without_none")
        (row, found, _), about, trace = self._answers, self.about, self.state.trace
        answered = {name: each for name, each in found.items() if each is not None}
        if len(answered) < len(found):
            return say("sources_coming", answered=len(answered), count=len(found))
        reference = answered[REFERENCE]
        key = int(abs(reference.source[:-1]).argmax())
        token = trace.target_tokens[row]
        if isinstance(about, Change):
            asked = {"change": change_in_words(about)}
        else:
            other = next(each for each in trace.alternatives[row] if each != token)
            asked = {"step": str(row + 1), "other": visible_token(other)}
        return say(
            "sources_reading" if "change" in asked else "sources_reading_step",
            **asked,
            token=visible_token(token),
            key=visible_token(trace.source_tokens[key]),
            position=key + 1,
            effect=nats(float(reference.source[key])),
            before=_larger_before(self.state, reference, abs(reference.source[key])),
            agreeing=sum(each.top_1 for each in _agreements(found).values()),
            count=len(found) - 1,
        )

    def notes(self) -> list[str]:
        return [say("sources_note"), *_over_many(self.state)]
