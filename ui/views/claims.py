"""Experiment *explained*: claims about a correction, each tested by an intervention."""

import viz
from engine import questions as declared
from model.analysis.claims import LEVEL, LOOK, Claim, Explanation
from model.norm import explanation_of
from model.norm.articles import spaced_as
from model.trace.interventions import Contrast, Node
from ui.sentence.state import SentenceState
from ui.shell import controls, markup
from ui.shell.settings import Choice
from ui.views.attention_score import part_name
from ui.views.circuit import node_name
from ui.views.drawings import before_after
from ui.views.logit_lens import places
from ui.views.view import Figures, Values, View, idea, needs_activations
from ui.wording import change_in_words, language, nats, say, share_kept
from viz.labels import visible_token, weight

TOLD, PICTURE = "told", "picture"
AS = Choice("receipts_as", (TOLD, PICTURE))


def _explanation(state: SentenceState) -> Explanation | None:
    """None where the fix writes the same tokens as the typed text."""
    return state.ask(declared.verified_explanation, state.edit)


def _draw(state: SentenceState, values: Values) -> None:
    """The claims, each with its ablation check; or the picture of all checks."""
    found = _explanation(state)
    if found is None:
        return
    controls.choose_beside(AS)
    if values[AS.name] == PICTURE:
        VIEW.draw_figures(state, values)
        return
    words = {True: say("receipt_holds"), False: say("receipt_fails")}
    markup.claims([(c.holds, words[c.holds], _clause(state, found, c), _numbers(c)) for c in found.claims])


def _clause(state: SentenceState, explanation: Explanation, claim: Claim) -> str:
    facts = {name: _told(name, value) for name, value in claim.facts.items()}
    text = f"receipt_{claim.name}"
    if claim.name == "fed":
        text += "_for" if claim.number("nats") > 0 else "_against"
    if claim.name == "alone" and (article := _article(state, explanation.contrast)):
        text, facts = "receipt_alone_article", facts | {"article": article}
    if claim.name == "decided":
        facts["place"] = places("decoder", 3 * state.trace.num_layers + 1)[int(claim.number("place"))]
    contrast = explanation.contrast
    tokens = {"token": contrast.written_token, "other_token": contrast.instead_token}
    clause = say(text, **{name: visible_token(token) for name, token in tokens.items()} | facts)
    if "p" not in claim.facts:
        return clause
    p, draws = claim.number("p"), int(claim.number("draws"))
    ending = "receipt_p_holds" if p < LEVEL else "receipt_p_fails"
    return f"{clause} " + say(ending, p=f"{p:.3g}", draws=draws, reached=round(p * (draws + 1)) - 1)


def _told(name: str, value: object) -> str:
    match value:
        case Node() | str() if name == "part":
            return part_name(value)
        case Node():
            return node_name(value)
        case float() if name in ("share", "random"):
            return share_kept(value)
        case float() if name == "weight":
            return weight(value)
        case float():
            return nats(value)
        case str() if name in ("twin", "word"):
            return value
        case str():
            return visible_token(value)
    return str(value)


def _article(state: SentenceState, contrast: Contrast) -> str | None:
    """The article of the norm by which the character in question is right, where one is known for sure.

    A space and a letter of one change may follow different articles: each is looked up with the other mended.
    """
    change = state.change or state.sentence.changes[0]
    text = state.sentence.text
    before, after = text[: change.target_start], text[change.target_end :]
    wrong, right = change.wrong, change.right
    if contrast.written_token == " ":
        wrong = right.replace(" ", "") or wrong
    elif " " in right:
        wrong = spaced_as(right, wrong) or wrong
    found = explanation_of(wrong, right, before, after)
    # A dictionary names no rule.
    return found.told(language())[0] if found and "항" in found.article else None


def _numbers(claim: Claim) -> str:
    """The score, or a weight of attention, before and after the intervention, which is named."""
    text, written = ("receipt_weights", weight) if claim.measured == LOOK else ("receipt_numbers", nats)
    return say(text, pair=_pair(claim), before=written(claim.before), after=written(claim.after))


def _pair(claim: Claim) -> str:
    return say(f"receipt_pair_{claim.intervention}")


def _mark(claim: Claim) -> str:
    return "✓" if claim.holds else "✗"


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """For each claim about the score, the score before and after the intervention."""
    found = _explanation(state)
    if found is None:
        return {}
    rows = [
        viz.Measured(
            f"{_mark(claim)} {say(f'receipt_{claim.name}_short')} ({_pair(claim)})", claim.before, claim.after
        )
        for claim in found.claims
        if claim.measured != LOOK
    ]
    names = say("receipt_before"), say("receipt_after")
    figure = before_after(state, rows, say("receipt_score"), names)
    return {"receipts": (figure, say("receipt_label"))}


def _describe(state: SentenceState, values: Values) -> str:
    found = _explanation(state)
    if found is None:
        return say("circuit_same_token")
    told = say(
        "receipt_reading",
        change=change_in_words(state.explained),
        held=sum(claim.holds for claim in found.claims),
        count=len(found.claims),
        score=nats(found.score),
    )
    weighed = values[AS.name] == PICTURE and any(claim.measured == LOOK for claim in found.claims)
    return told + say("receipt_not_drawn") if weighed else told


def _paragraphs(state: SentenceState, values: Values) -> list[str]:
    found = _explanation(state)
    if found is None:
        return []
    return [f"{_mark(claim)} {_clause(state, found, claim)} {_numbers(claim)}" for claim in found.claims]


def _notes(state: SentenceState, values: Values) -> list[str]:
    return [say("receipt_note"), say("receipt_limits")]


VIEW = View(
    "receipts",
    "laboratory",
    90,
    _describe,
    (AS,),
    _notes,
    idea("receipt"),
    _draw,
    _figures_of,
    drawn=(AS,),
    has_map=False,
    paragraphs=_paragraphs,
    intervenes=True,
    lacks=needs_activations(declared.verified_explanation),
    unchanged="without_none",
).declare()
