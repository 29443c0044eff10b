"""Experiment *explained*: claims about a correction, each tested by an intervention."""

import viz
from engine import questions as declared
from model.analysis.claims import LOOK, Claim, Explanation
from model.norm import article_of
from model.trace.interventions import Contrast, Node
from ui.asking import questions
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import controls, markup
from ui.shell.runs import spinner
from ui.shell.settings import Choice
from ui.views.attention_score import part_name
from ui.views.circuit import node_name
from ui.views.logit_lens import places
from ui.views.view import Values, View, declare, file_name, idea, needs_activations
from ui.wording import change_in_words, nats, say, share_kept
from viz.figure import Specification
from viz.labels import probability, visible_token

TOLD, PICTURE = "told", "picture"
AS = Choice("receipts_as", (TOLD, PICTURE))


def _found_for(state: SentenceState) -> Explanation | None:
    change = state.asked_change
    return None if change is None else questions.verified_explanation(state.sentence, change, state.corrector)


def _draw(state: SentenceState, values: Values) -> None:
    """The claims, each with its receipt; or the picture of all receipts."""
    found = _found_for(state)
    if found is None:
        return
    controls.choose_beside(AS)
    if values["receipts_as"] == TOLD:
        markup.receipts(
            [
                (
                    each.holds,
                    say("receipt_holds" if each.holds else "receipt_fails"),
                    _clause(state, each),
                    _numbers(each),
                )
                for each in found.claims
            ]
        )
        return
    for name, (figure, label) in _figures_of(state, values).items():
        figures.draw(figure, name, file_name(state, name), label=label)


def _clause(state: SentenceState, receipt: Claim) -> str:
    facts = {name: _told(name, value) for name, value in receipt.facts.items()}
    text = f"receipt_{receipt.name}"
    if receipt.name == "fed":
        text += "_for" if receipt.facts["nats"] > 0 else "_against"
    if receipt.name == "alone" and (article := _article(state)):
        text, facts = "receipt_alone_article", facts | {"article": article}
    if receipt.name == "decided":
        facts["place"] = places("decoder", 3 * state.trace.num_layers + 1)[receipt.facts["place"]]
    contrast_facts = {
        "token": visible_token(_contrast(state).written_token),
        "other_token": visible_token(_contrast(state).instead_token),
    }
    return say(text, **contrast_facts | facts)


def _contrast(state: SentenceState) -> Contrast:
    found = _found_for(state)
    assert found is not None, "callers stop where there is no explanation"
    return found.contrast


def _told(name: str, value: object) -> str:
    match value:
        case Node() | str() if name == "part":
            return part_name(value)
        case Node():
            return node_name(value)
        case float() if name in ("share", "random"):
            return share_kept(say, value)
        case float() if name == "weight":
            return probability(value)
        case float():
            return nats(value)
        case str() if name in ("twin", "word"):
            return value
        case str():
            return visible_token(value)
    return str(value)


def _article(state: SentenceState) -> str | None:
    """The article of the norm by which the change is right, where one is known for sure."""
    change = state.change or state.sentence.changes[0]
    text = state.sentence.text
    found = article_of(change.wrong, change.right, text[: change.target_start], text[change.target_end :])
    return found.article if found else None


def _numbers(receipt: Claim) -> str:
    """The receipt: the score, or a weight of attention, before and after."""
    if receipt.measured == LOOK:
        return say("receipt_weights", before=probability(receipt.before), after=probability(receipt.after))
    return say("receipt_numbers", before=nats(receipt.before), after=nats(receipt.after))


def _figures_of(state: SentenceState, values: Values) -> dict[str, tuple[Specification, str]]:
    """For each claim about the score, the score before and after the intervention."""
    found = _found_for(state)
    if found is None:
        return {}
    figure = viz.before_after.specification(
        [
            viz.Measured(
                f"{'✓' if receipt.holds else '✗'} {say(f'receipt_{receipt.name}_short')}",
                receipt.before,
                receipt.after,
            )
            for receipt in found.claims
            if receipt.measured != LOOK
        ],
        before_name=say("sources_observed"),
        after_name=say("sources_intervened"),
        value_title=say("receipt_score"),
        theme=state.theme,
    )
    return {"receipts": (figure, say("receipt_label"))}


def _describe(state: SentenceState, values: Values) -> str:
    change = state.asked_change
    if change is None:
        return say("without_none")
    with spinner(say("working_laboratory")):
        found = _found_for(state)
    if found is None:
        return say("circuit_same_token")
    held = sum(receipt.holds for receipt in found.claims)
    return say(
        "receipt_reading",
        change=change_in_words(change),
        held=held,
        count=len(found.claims),
        score=nats(found.score),
    )


def _paragraphs(state: SentenceState, values: Values) -> list[str]:
    found = _found_for(state)
    return [
        f"{'✓' if receipt.holds else '✗'} {_clause(state, receipt)} {_numbers(receipt)}"
        for receipt in (found.claims if found else ())
    ]


def _notes(state: SentenceState, values: Values) -> list[str]:
    return [say("receipt_note"), say("receipt_limits")]


VIEW = declare(
    View(
        "receipts",
        "laboratory",
        90,
        _describe,
        _draw,
        (AS,),
        _notes,
        idea("receipt"),
        has_map=False,
        figures=_figures_of,
        paragraphs=_paragraphs,
        drawn=(AS,),
        intervenes=True,
        lacks=needs_activations(declared.verified_explanation),
    )
)
