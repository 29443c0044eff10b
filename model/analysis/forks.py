"""The road not taken: force another token at one step and let the network go on from there."""

from dataclasses import dataclass

from model.correction.answers import Network
from model.text.tokenizer import END, END_ID, OUTSIDE_ID, VISIBLE_SPACE
from model.trace.interventions import Intervention
from model.trace.trace import AttentionTrace


@dataclass(frozen=True)
class AlternativeContinuation:
    """Two ways to go on after the same ``row`` tokens.

    ``observed`` is the pass over the given target. ``other`` is the pass over what the network writes once
    ``candidate`` has been forced on it at ``row``; everything behind is its own choice. Both are passes without
    any intervention: ``log_probabilities`` are what the network thought of each token, the forced one included.
    """

    row: int
    candidate: str
    observed: AttentionTrace
    other: AttentionTrace | None  # None where the network finds no end
    text: str | None  # of ``other``


def alternative_continuation(
    corrector: Network, source: str, target: str, row: int, candidate: str
) -> AlternativeContinuation:
    """Force ``candidate``, labelled as traces label tokens, in place of what ``target`` has at ``row``.

    Raises ValueError for a row that the target does not have, for a token that the network cannot write, such as
    ``<outside>``, and for a network that takes no interventions.

    >>> fork = alternative_continuation(corrector, "머거요", "먹어요", row=0, candidate="머")
    >>> fork.observed.target_tokens[0], fork.other.target_tokens[0]
    ('먹', '머')
    """
    ids = corrector.tokenizer.encode_target(target)
    if not 0 <= row < len(ids):
        raise ValueError(f"the row should lie in 0..{len(ids) - 1}, received {row}")
    forced = [*ids[:row], _token_id(corrector, candidate)]
    if forced[-1] == END_ID:
        text: str | None = target[:row]
    else:
        source_ids = corrector.tokenizer.encode_source(source)
        (written,) = corrector.laboratory.write([source_ids], [Intervention()], [forced])
        text = written and corrector.tokenizer.decode(written.ids, source)
    other = None if text is None else corrector.trace(source, text)
    return AlternativeContinuation(row, candidate, corrector.trace(source, target), other, text)


def _token_id(corrector: Network, candidate: str) -> int:
    if candidate == END:
        return END_ID
    character = " " if candidate == VISIBLE_SPACE else candidate
    found = corrector.tokenizer.encode_target(character)[:-1]
    if len(found) != 1 or found[0] == OUTSIDE_ID:
        # Not the candidate itself: the message may reach a log, where nobody's words belong.
        raise ValueError(
            "the candidate should be one token that the network can write, "
            f"received {len(candidate)} characters that are none"
        )
    return found[0]
