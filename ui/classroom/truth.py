"""What a poll asks about, and what the network says to it: made from the settings at the time of asking, the same in every process."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

import numpy as np

from model.analysis.edits import attention_of_change, focus
from model.analysis.head_effects import HeadEffects
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import Selection
from ui import wording
from ui.asking import loaders, questions
from ui.look.lens import Lens
from ui.views import needs
from ui.views.edits import KIND, in_words
from ui.views.heads_off import named
from ui.views.predict import window
from ui.views.without import outcome
from ui.wording import say
from viz.labels import probability, visible_token

AROUND = "12"  # tokens that are offered on each side of a change
MOST_MARKS = 3
HEADS = 5  # the heads among which the class looks for the one that is needed
CANDIDATES = 4
YES, NO = "yes", "no"


@dataclass(frozen=True)
class PictureRow:
    """One row of the picture: its name, a value for each option, and whether the network was asked again with something changed."""

    name: str
    values: np.ndarray
    intervened: bool = False


@dataclass(frozen=True)
class PollKind:
    """A kind of poll. ``options`` and ``rows`` are made from a lens; ``lacks`` names the text that says why it cannot be asked."""

    name: str
    options: Callable[[Lens], tuple[str, ...]]
    rows: Callable[[Lens], list[PictureRow]]
    lacks: Callable[[Lens], str | None]
    most: int = 1


def change_of(lens: Lens) -> Change:
    """The change that is asked about, counting tokens: the one in focus, else the first."""
    return lens.focus or lens.all_changes[0]


def typed(lens: Lens) -> Change:
    """``change_of``, but counting characters."""
    return lens.change or lens.sentence.changes[0]


def head_of(lens: Lens) -> Selection:
    """The head of cross-attention at the layer and head that are looked at; a mean where the page shows one."""
    return Selection(KIND, lens.layer, lens.head)


def single_head(lens: Lens) -> Head:
    """The head that is asked about: the one that is looked at, else the one that looks most at the change."""
    if lens.single_head is not None:
        return lens.single_head
    return effects(lens).rank_of_looker()[0]


def effects(lens: Lens) -> HeadEffects:
    return questions.head_effects(lens.sentence, typed(lens), lens.corrector, None)


def left_out(lens: Lens) -> np.ndarray:
    """(S,) what leaving out each source token does to the decision for the change."""
    return questions.left_out(lens.sentence, typed(lens), lens.corrector).source


def row_of(lens: Lens) -> int:
    return focus(lens.trace, KIND, change_of(lens)).rows[0]


def _characters(lens: Lens) -> tuple[str, ...]:
    places = window(lens, change_of(lens), AROUND)
    return tuple(f"{visible_token(lens.trace.source_tokens[place])} {place + 1}" for place in places)


def _looked_at(lens: Lens) -> list[PictureRow]:
    """The attention of the head, and what leaving out each character does."""
    places, chosen = list(window(lens, change_of(lens), AROUND)), head_of(lens)
    weights = attention_of_change(lens.trace, change_of(lens))
    for axis, part in ((1, chosen.head), (0, chosen.layer)):
        weights = weights.mean(axis=axis) if part is None else np.take(weights, part, axis=axis)
    rows = [PictureRow(say("class_row_attention", place=chosen.label(say, lens.trace)), weights[places])]
    if lens.can("left_out"):
        # Without this row if the laboratory is late or cannot answer: the class's own answers must be shown in any case.
        with suppress(loaders.EngineError, ValueError):
            rows.append(PictureRow(say("class_row_left_out"), left_out(lens)[places], True))
    return rows


def _five(lens: Lens) -> tuple[Head, ...]:
    return tuple(sorted(effects(lens).strongest(HEADS)))


def _heads(lens: Lens) -> tuple[str, ...]:
    return tuple(f"{each.kind} {each.layer + 1}·{each.head + 1}" for each in _five(lens))


def _needs(lens: Lens) -> list[PictureRow]:
    found = effects(lens)
    places = [found.heads.index(head) for head in _five(lens)]
    return [
        PictureRow(say("class_row_edit"), found.attention[places]),
        PictureRow(
            say("class_row_off"), -found.effect[places], True
        ),  # up: the head speaks for the correction
    ]


def _yes_or_no(lens: Lens) -> tuple[str, ...]:
    return YES, NO


def without(lens: Lens) -> tuple[str | None, bool]:
    """What is written without the head that is asked about, and whether the change is made."""
    (found,) = questions.ablate_heads(lens.sentence, [[single_head(lens)]], lens.corrector, None)
    return found.text, outcome(lens.sentence.source, found.text, typed(lens)) == "made"


def _still(lens: Lens) -> list[PictureRow]:
    made = without(lens)[1]
    return [PictureRow(say("class_row_network"), np.array([made, not made], float), True)]


def _others(lens: Lens) -> dict[str, float]:
    """The likeliest candidates that were not written, as they are shown, with the share of each in the probability they have together."""
    row, trace = row_of(lens), lens.trace
    assert trace.alternative_probabilities is not None, "the kind's ``lacks`` keeps other traces away"
    known = dict(zip(trace.alternatives[row], trace.alternative_probabilities[row].tolist(), strict=True))
    known.pop(trace.target_tokens[row], None)
    best = sorted(known, key=lambda token: -known[token])[:CANDIDATES]
    total = sum(known[token] for token in best) or 1.0
    return {visible_token(token): known[token] / total for token in sorted(best)}


def _candidates(lens: Lens) -> tuple[str, ...]:
    return tuple(_others(lens))


def _shares(lens: Lens) -> list[PictureRow]:
    return [PictureRow(say("class_row_candidates"), np.array(list(_others(lens).values())))]


def _lacks_change(lens: Lens) -> str | None:
    return needs.changes(lens) or (None if lens.all_changes else "predict_nothing")


def _lacks_experiment(lens: Lens) -> str | None:
    return _lacks_change(lens) or needs.experiment("head_effects")(lens)


def _lacks_candidates(lens: Lens) -> str | None:
    if found := _lacks_change(lens) or needs.probabilities(lens):
        return found
    return None if len(_others(lens)) > 1 else "lacks_probabilities"


KINDS = {
    kind.name: kind
    for kind in (
        PollKind("where", _characters, _looked_at, _lacks_change, MOST_MARKS),
        PollKind("needed", _heads, _needs, _lacks_experiment),
        PollKind("still", _yes_or_no, _still, _lacks_experiment),
        PollKind("instead", _candidates, _shares, _lacks_candidates),
    )
}


def question(kind: str, lens: Lens) -> str:
    """The question in words."""
    return say(
        f"class_ask_{kind}",
        change=in_words(change_of(lens)),
        token=visible_token(lens.trace.target_tokens[row_of(lens)]),
        place=head_of(lens).label(say, lens.trace),
        head=named(single_head(lens)) if kind == "still" else "",
    )


def option_label(kind: str, option: str) -> str:
    """An option in plain text: what is no token of the sentence has words in every language."""
    if kind == "still":
        return say(f"class_{option}") if option in (YES, NO) else option
    name, _, place = option.rpartition(" ")
    if kind == "where" and name:
        return say("lines_name", token=name, place=place)
    return f"{say(f'kind_{name}')} {place}" if kind == "needed" and name in KIND_NAMES else option


def button_label(kind: str, option: str) -> str:
    """An option in Markdown, as it is touched: the position of a character is small."""
    token, _, place = option.rpartition(" ")
    if kind == "where" and token:
        return f"{wording.plain_markdown(token)} :small[{wording.plain_markdown(place)}]"
    return wording.plain_markdown(option_label(kind, option))


def tick_label(kind: str, option: str) -> str:
    """An option below its bars, short: a token alone, and of a head the letter of its kind."""
    name, _, place = option.rpartition(" ")
    if kind == "where" and name:
        return name
    if kind == "needed" and name in KIND_NAMES:
        return f"{say(f'class_letter_{name}')} {place}"
    return option_label(kind, option)


KIND_NAMES = ("encoder_attention", "decoder_attention", "cross_attention")


def afterwards(kind: str, lens: Lens) -> str:
    """What else is told with the picture."""
    if kind != "still":
        return say(f"class_after_{kind}")
    text, made = without(lens)
    shares = questions.ablated_fix_probability(
        lens.sentence, typed(lens), [[], [single_head(lens)]], lens.corrector, None
    )
    before, after = (probability(share, digits=3) for share in shares)
    return say(
        "class_after_still",
        text=say("without_no_end") if text is None else text,
        made=say("without_made" if made else "without_undone"),
        before=before,
        after=after,
    )


def prepare(kind: str, lens: Lens) -> None:
    """Begin to ask the network for what will be revealed, so that nobody waits for it then."""
    if not lens.can("head_effects") or kind not in ("where", "still"):
        return
    head = single_head(lens) if kind == "still" else None
    corrector, sentence, change = lens.corrector, lens.sentence, typed(lens)

    def ask() -> None:
        with suppress(Exception):  # the reveal asks again, and tells what is wrong
            if head is None:
                left_out(lens)
            else:
                questions.ablate_heads(sentence, [[head]], corrector, None)
                questions.ablated_fix_probability(sentence, change, [[], [head]], corrector, None)

    Thread(target=ask, daemon=True).start()
