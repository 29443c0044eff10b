"""``Check``: quiz questions of the lesson plans, with answers computed from the network.

Each quiz has some six questions about one sentence, which ask for an idea and not for what a picture shows.

``plan_of("lesson-plan", facts)`` asks about attention, "lesson-plan-laboratory" about ablations of heads and
tokens. "lesson-plan-50" has questions of both sorts, "lesson-plan-answer" asks whether attention
mattered. Other weights or another sentence give other answers. The order of the options does not reveal the
answer: characters are in the order of the sentence, candidates in that of their code points.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.edits import focus
from model.analysis.head_effects import HeadEffects
from model.analysis.statistics import wilson_interval
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import AttentionTrace, LayerHead

OPTIONS = 4  # of most questions
LEAST_SECOND = 0.01  # probability of a second candidate that is asked for
FEW, MANY = "few", "many"  # fewer than half; half or more
YES, NO = "yes", "no"
WORDS = frozenset([YES, NO, FEW, MANY, "varies"])  # options that are texts of the page, not tokens or numbers


@dataclass(frozen=True)
class Facts:
    """The data behind the questions about a sentence.

    ``change`` is one of ``changes``; their offsets count tokens.
    """

    trace: AttentionTrace
    changes: tuple[Change, ...]
    change: Change
    place: LayerHead  # a head of cross-attention
    effects: HeadEffects | None = None  # of switching each head off
    occlusion: np.ndarray | None = None  # (S,) nats: effect of leaving out each source token
    alone: bool | None = None  # whether the change is still made without the strongest head
    together: bool | None = None  # the same without the five strongest
    spread: bool | None = None  # the same if the strongest head looks everywhere alike
    returns: bool | None = None  # whether all is written as it was typed, once the first token is
    named: str = ""  # the change in words, which questions about it name

    @property
    def row(self) -> int:
        """The row that writes the token which carries the mistake; the change's first row where tokens are no
        characters."""
        rows = focus(self.trace, "cross_attention", self.change).rows
        _, fixed = self.change.mistake
        return rows[fixed if len(rows) == len(self.change.right) else 0]

    @property
    def typed(self) -> str:
        """The typed token in the place of the one that is written in ``row``."""
        wrong, _ = self.change.mistake
        return self.trace.source_tokens[min(self.change.source_start + wrong, self.source)]

    @property
    def weights(self) -> np.ndarray:
        """(S,) the attention weights of the head at ``place`` in that row."""
        return self.trace.attention("cross_attention")[self.place][self.row]

    @property
    def source(self) -> int:
        """How many source tokens are characters: all but the end mark."""
        return len(self.trace.source_tokens) - 1


@dataclass(frozen=True)
class Check:
    """One question.

    ``kind`` names its text and its hint, ``values`` fill them; ``right`` is the place of the right option.
    ``is_of_change``: whether a right token is that of the change, as typed or as written.
    """

    kind: str
    values: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    right: int
    is_of_change: bool | None = None

    def is_right(self, option: int) -> bool:
        return option == self.right

    @property
    def idea(self) -> str | bool | None:
        """The right option where it is no token or number of the sentence: words, or a kind of attention.

        Of a token, whether it is that of the change.
        """
        right = self.options[self.right]
        return right if right in WORDS or self.kind == "kind_needed" else self.is_of_change


def alike(checks: Sequence[Check], others: Sequence[Check]) -> bool:
    """Whether two sentences have the same questions, and those about an idea the same answers.

    Only then does a class that has learned from one of them know the answers about the other.
    """

    def told(some: Sequence[Check]) -> list[tuple[str, int, str | bool | None]]:
        return [(each.kind, len(each.options), each.idea) for each in some]

    return told(checks) == told(others)


def plan_of(plan: str, facts: Facts) -> tuple[Check, ...]:
    """The questions of a plan that this network can answer about this sentence; a question without two
    options is left out.
    """
    found = (make(facts) for make in PLANS[plan])
    return tuple(check for check in found if check is not None and len(check.options) > 1)


def token_at(tokens: Sequence[str], place: int) -> str:
    """A token with its position, by which repeated ones differ.

    >>> token_at(("가", "방"), 1)
    '방 (2)'
    """
    return f"{tokens[place]} ({place + 1})"


LEAST_SEATS = 12  # before and after, below which a change of a class says nothing


def change_of_share(before: tuple[int, int], after: tuple[int, int]) -> tuple[float, float, float] | None:
    """The change of a share of right answers, and its 95 % interval, of (right, all) before and after.

    None where one of them has fewer than LEAST_SEATS answers. The seats before and after may differ.

    References:
        Newcombe, "Interval Estimation for the Difference Between Independent Proportions" (1998), method 10.

    >>> [round(each, 2) for each in change_of_share((6, 20), (15, 20))]
    [0.45, 0.14, 0.66]
    >>> change_of_share((3, 11), (9, 20)) is None
    True
    """
    if min(before[1], after[1]) < LEAST_SEATS:
        return None
    (low, high), (least, most) = (wilson_interval(*each) for each in (before, after))
    one, other = (right / count for right, count in (before, after))
    change = other - one
    below = float(np.hypot(other - least, high - one))
    above = float(np.hypot(most - other, one - low))
    return change, change - below, change + above


def _written(facts: Facts) -> str:
    return facts.trace.target_tokens[facts.row]


def row_sum(facts: Facts) -> Check:
    """The sum of the weights of a row?"""
    total = f"{float(facts.weights.sum()):.1f}".removesuffix(".0")
    options = sorted({total, "0", "1", str(len(facts.weights))}, key=float)
    return Check("sum", (), (*options, "varies"), options.index(total))


def places_changed(facts: Facts) -> Check:
    """In how many places was the sentence changed?"""
    count = len(facts.changes)
    first = max(0, count - 2)
    options = tuple(str(number) for number in range(first, first + OPTIONS))
    return Check("changed", (), options, options.index(str(count)))


def copied(facts: Facts) -> Check:
    """Was more than half of the written sentence copied?"""
    length = len(facts.trace.target_tokens) - 1
    written = sum(change.target_end - change.target_start for change in facts.changes)
    return Check("copied", (("count", str(length)),), (FEW, MANY), int(2 * (length - written) >= length))


def hidden(facts: Facts) -> Check | None:
    """Which token can the decoder not look at yet?"""
    read, row = facts.trace.decoder_input_tokens, facts.row
    if row + 1 >= len(read) or facts.trace.decoder_attention is None:
        return None
    seen = facts.trace.decoder_attention[..., row, :].max(axis=(0, 1)) > 0
    before = [place for place in range(row, 0, -1) if seen[place]][: OPTIONS - 1]
    places = sorted([*before, row + 1])
    options = tuple(token_at(read[1:], place - 1) for place in places)  # counted without the start mark
    return Check("hidden", (("token", _written(facts)),), options, places.index(row + 1))


def second(facts: Facts) -> Check | None:
    """The second candidate, if it was considered at all?"""
    trace, row = facts.trace, facts.row
    if trace.alternative_probabilities is None:
        return None
    known = zip(trace.alternatives[row], trace.alternative_probabilities[row], strict=True)
    others = [(token, share) for token, share in known if token != _written(facts)][:OPTIONS]
    if not others or others[0][1] < LEAST_SECOND:  # which of those that were never likely: only to be guessed
        return None
    options, token = sorted(token for token, _ in others), others[0][0]
    values = (("token", _written(facts)),)
    return Check("second", values, tuple(options), options.index(token), token == facts.typed)


def least_sure(facts: Facts) -> Check | None:
    """At which token was the network least sure?"""
    said = facts.trace.log_probabilities
    if said is None:
        return None
    said = said[: len(facts.trace.target_tokens) - 1]
    is_of_change = facts.change.target_start <= said.argmin() < facts.change.target_end
    return Check("least_sure", (), *_lowest(said, facts.trace.target_tokens), bool(is_of_change))


def _lowest(scores: np.ndarray, tokens: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The tokens with the lowest of the scores (T,), in their order, and the place of the lowest there."""
    places = sorted(np.argsort(scores, kind="stable")[:OPTIONS].tolist())
    return tuple(token_at(tokens, place) for place in places), places.index(scores.argmin())


def named(head: Head) -> str:
    """A short name of a head; the page puts the name of the kind into words.

    >>> named(Head("cross_attention", 2, 0))
    'cross_attention 3·1'
    """
    return f"{head.kind} {head.layer + 1}·{head.head + 1}"


def _yes_or_no(kind: str, is_so: bool, **values: str) -> Check:
    return Check(kind, tuple(values.items()), (YES, NO), int(not is_so))


def looker(facts: Facts) -> Check | None:
    """Is the head that looks most at the change the one that matters most?"""
    if facts.effects is None:
        return None
    head, rank = facts.effects.rank_of_looker()
    return _yes_or_no("looker", rank == 1, looker=named(head), change=facts.named)


def still_alone(facts: Facts) -> Check | None:
    """Is the change made without the strongest head?"""
    return _still("alone", facts.alone, facts)


def still_spread(facts: Facts) -> Check | None:
    """Is it made where the strongest head looks everywhere alike?"""
    return _still("spread", facts.spread, facts)


def _still(kind: str, is_made: bool | None, facts: Facts) -> Check | None:
    """Is the change made although the strongest head is not as it was?"""
    if facts.effects is None or is_made is None:
        return None
    strongest = named(facts.effects.strongest(1)[0])
    return _yes_or_no(kind, is_made, strongest=strongest, change=facts.named)


def still_together(facts: Facts) -> Check | None:
    """Is it made without the five strongest?"""
    if facts.together is None:
        return None
    return _yes_or_no("together", facts.together, change=facts.named)


def typed_again(facts: Facts) -> Check | None:
    """If the change's first token is written as it was typed, is the rest as it was typed, too?"""
    if facts.effects is None or facts.returns is None:
        return None
    asked = facts.effects.contrast
    return _yes_or_no("returns", facts.returns, token=asked.written_token, typed=asked.instead_token)


def kind_needed(facts: Facts) -> Check | None:
    """Which kind of attention matters most, all its heads together?"""
    if facts.effects is None:
        return None
    kinds = tuple(dict.fromkeys(head.kind for head in facts.effects.heads))
    sums = [float(np.abs(facts.effects.grid(kind)).sum()) for kind in kinds]
    return Check("kind_needed", (("change", facts.named),), kinds, int(np.argmax(sums)))


def left_out(facts: Facts) -> Check | None:
    """Which character, if left out, changes the decision most?"""
    if facts.occlusion is None:
        return None
    effects = np.abs(facts.occlusion[: facts.source])
    return Check("left_out", (("token", _written(facts)),), *_lowest(-effects, facts.trace.source_tokens))


def agrees(facts: Facts) -> Check | None:
    """Is the most attended character the one that is missed most?"""
    if facts.occlusion is None:
        return None
    looked = facts.trace.attention("cross_attention")[:, :, facts.row].mean(axis=(0, 1))
    same = looked[: facts.source].argmax() == np.abs(facts.occlusion[: facts.source]).argmax()
    return _yes_or_no("agrees", bool(same), token=_written(facts))


def against(facts: Facts) -> Check | None:
    """How many heads speak against the change?"""
    if facts.effects is None:
        return None
    share = float((facts.effects.effect > 0).mean())
    values = (("count", str(len(facts.effects.heads))), ("change", facts.named))
    return Check("against", values, (FEW, MANY), int(share >= 0.5))


Make = Callable[[Facts], Check | None]
PLANS: dict[str, tuple[Make, ...]] = {
    "lesson-plan": (row_sum, places_changed, copied, hidden, second, least_sure),
    "lesson-plan-laboratory": (looker, still_alone, still_together, kind_needed, left_out, agrees, against),
    "lesson-plan-50": (row_sum, copied, hidden, second, still_alone, still_spread, typed_again),
    "lesson-plan-answer": (second, looker, agrees, left_out, against, still_together),
}
