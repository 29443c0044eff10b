"""Experiment *explained*: claims about a correction, each tested by an intervention."""

from collections.abc import Sequence
from functools import cached_property

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
from ui.views.view import Figures, View, needs_activations
from ui.wording import change_in_words, language, nats, say, share_kept
from viz.labels import visible_token, weight

TOLD, PICTURE = "told", "picture"
AS = Choice("receipts_as", (TOLD, PICTURE))


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


class Claims(View):
    """The claims, each with its ablation check; or the picture of all checks."""

    name, page, order, idea = "receipts", "laboratory", 90, "receipt"
    settings = drawn = (AS,)
    noted = ("receipt_note", "receipt_limits")
    has_map = False
    intervenes = True
    lacks = staticmethod(needs_activations(declared.verified_explanation))
    unchanged = "without_none"

    @cached_property
    def explanation(self) -> Explanation | None:
        """None where the fix writes the same tokens as the typed text. Raises EngineError without an
        answer."""
        return self.state.ask(declared.verified_explanation, self.state.edit)

    @property
    def claims(self) -> Sequence[Claim]:
        return self.explanation.claims if self.explanation else ()

    def show(self) -> None:
        if self.explanation is None:
            return
        controls.choose_beside(AS)
        if self.values[AS.name] == PICTURE:
            self.draw_figures(*self.opened)
            return
        words = {True: say("receipt_holds"), False: say("receipt_fails")}
        markup.claims([(c.holds, words[c.holds], self._clause(c), _numbers(c)) for c in self.claims])

    def _clause(self, claim: Claim) -> str:
        assert self.explanation is not None, "the claim is one of its claims"
        facts = {name: _told(name, value) for name, value in claim.facts.items()}
        text, contrast = f"receipt_{claim.name}", self.explanation.contrast
        if claim.name == "fed":
            text += "_for" if claim.number("nats") > 0 else "_against"
        if claim.name == "alone" and (article := _article(self.state, contrast)):
            text, facts = "receipt_alone_article", facts | {"article": article}
        if claim.name == "decided":
            named = places("decoder", 3 * self.state.trace.num_layers + 1)
            facts["place"] = named[int(claim.number("place"))]
        tokens = {"token": contrast.written_token, "other_token": contrast.instead_token}
        clause = say(text, **{name: visible_token(token) for name, token in tokens.items()} | facts)
        if "p" not in claim.facts:
            return clause
        p, draws = claim.number("p"), int(claim.number("draws"))
        ending = "receipt_p_holds" if p < LEVEL else "receipt_p_fails"
        return f"{clause} " + say(ending, p=f"{p:.3g}", draws=draws, reached=round(p * (draws + 1)) - 1)

    @cached_property
    def figures(self) -> Figures:
        """For each claim about the score, the score before and after the intervention."""
        if self.explanation is None:
            return {}
        rows = [
            viz.Measured(
                f"{_mark(claim)} {say(f'receipt_{claim.name}_short')} ({_pair(claim)})",
                claim.before,
                claim.after,
            )
            for claim in self.claims
            if claim.measured != LOOK
        ]
        names = say("receipt_before"), say("receipt_after")
        figure = before_after(self.state, rows, say("receipt_score"), names)
        return {"receipts": (figure, say("receipt_label"))}

    def reading(self) -> str:
        if self.explanation is None:
            return say("circuit_same_token")
        told = say(
            "receipt_reading",
            change=change_in_words(self.state.explained),
            held=sum(claim.holds for claim in self.claims),
            count=len(self.claims),
            score=nats(self.explanation.score),
        )
        weighed = self.values[AS.name] == PICTURE and any(claim.measured == LOOK for claim in self.claims)
        return told + say("receipt_not_drawn") if weighed else told

    def paragraphs(self) -> list[str]:
        return [f"{_mark(claim)} {self._clause(claim)} {_numbers(claim)}" for claim in self.claims]
