"""One function for each question that a page asks a network.

Each raises NotLoadedError where there is no network, and EngineError where no answer came; the next time it is asked again. The engine
keeps the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from engine import EngineCorrector
from model import Asked, Correction, SentenceCorrection
from model.text.changes import Change
from model.trace.interventions import Head, Projections
from model.trace.trace import Grown

if TYPE_CHECKING:  # a page that asks none of these questions need not load what they are answered with
    from model.analysis.attention_scores import ScoreDecomposition
    from model.analysis.circuits import Circuit, CircuitEdges
    from model.analysis.claims import Explanation
    from model.analysis.contributions import Contribution
    from model.analysis.counterfactuals import AlternativeContinuation, ReplacedAttention
    from model.analysis.head_effects import AblatedText, HeadEffects
    from model.analysis.patching import ActivationPatching
    from model.analysis.residual_stream import LogitAttribution, LogitLens
    from model.trace.interventions import Contrast

    # row, all methods, the answers so far, and what asks for more
    MethodsSaid = tuple[int, tuple[str, ...], tuple[Contribution, ...], Callable[[], object] | None]


def correct(text: str, corrector: Asked) -> Correction:
    """The correction of ``text``."""
    return corrector.correct(text)


def projections(sentence: str, text: str, corrector: Asked, padding: int = 0) -> dict[str, Projections]:
    """The queries, keys and values of the pass that writes ``text`` for ``sentence``. ``padding`` tokens
    of padding follow the source, and as many the target."""
    return corrector.ask("projections", sentence, text, padding)


def embeddings(text: str, corrector: Asked) -> np.ndarray:
    """(S, D) float32: the token embeddings of ``text`` and the end mark, not yet scaled."""
    return corrector.ask("embeddings", text)


def head_effects(
    sentence: SentenceCorrection,
    change: Change,
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> HeadEffects:
    """What becomes of ``change`` without each head: ``model.analysis.head_effects.HeadEffects``.

    ``means``: what a head that is off puts out, (L, H, D/H) for each kind; zeros if there are none.
    """
    return corrector.ask("head_effects", sentence.source, sentence.text, _span(change), *_given(means))


def ablate_heads(
    sentence: SentenceCorrection,
    sets: Iterable[Iterable[Head]],
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> tuple[AblatedText, ...]:
    """What is written without each of these sets of heads: ``model.analysis.head_effects.AblatedText``; ``means`` as for
    ``head_effects``."""
    asked = tuple(tuple(map(tuple, heads)) for heads in sets)
    return corrector.ask("ablate_heads", sentence.source, asked, *_given(means))


def ablated_fix_probability(
    sentence: SentenceCorrection,
    change: Change,
    sets: Iterable[Iterable[Head]],
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> tuple[float, ...]:
    """How probable ``change`` is without each of these sets of heads; ``means`` as for ``head_effects``."""
    asked = tuple(tuple(map(tuple, heads)) for heads in sets)
    return corrector.ask(
        "ablated_fix_probability", sentence.source, sentence.text, _span(change), asked, *_given(means)
    )


def contributions(sentence: SentenceCorrection, about: Change | int, corrector: Asked) -> MethodsSaid:
    """What the methods say about a change, or about what was written at a row: (row, all methods, the answers so far, a function
    that asks for more or None).

    It waits for the quick methods. The answers of the others are here if they were asked for before.
    """
    question = ("step_contributions", about) if isinstance(about, int) else ("contributions", _span(about))
    asked = question[0], sentence.source, sentence.text, question[1]
    row, methods, found = corrector.ask(*asked)
    number = 1
    while len(found) < len(methods):
        more = corrector.known(*asked, number)
        if more is None:
            return row, methods, found, partial(corrector.ask, *asked, number)
        found += more[-1]
        number += 1
    return row, methods, found, None


def left_out(sentence: SentenceCorrection, change: Change, corrector: Asked) -> Contribution:
    """What leaving out each token does to ``change``: the answer of one method, ``model.analysis.contributions.Contribution``."""
    return corrector.ask("left_out", sentence.source, sentence.text, _span(change))


def direct_logit_attribution(sentence: SentenceCorrection, corrector: Asked) -> LogitAttribution:
    """What each part of the decoder wrote, in every row and for every change: ``model.analysis.residual_stream.LogitAttribution``."""
    spans = tuple(map(_span, sentence.changes))
    return corrector.ask("direct_logit_attribution", sentence.source, sentence.text, spans)


def logit_lens(sentence: SentenceCorrection, corrector: Asked) -> LogitLens:
    """What the network would say after each sub-layer: ``model.analysis.residual_stream.LogitLens``."""
    spans = tuple(map(_span, sentence.changes))
    return corrector.ask("logit_lens", sentence.source, sentence.text, spans)


def activation_patching(
    sentence: SentenceCorrection,
    change: Change,
    corrector: Asked,
    part: str,
    of: str,
    how: str,
    other: str = "",
) -> ActivationPatching | None:
    """The ``model.analysis.patching.ActivationPatching``: what returns when places of this sentence are put into its twin. None without a twin."""
    return corrector.ask(
        "activation_patching", sentence.source, sentence.text, _span(change), part, of, how, other
    )


def circuit(
    sentence: SentenceCorrection, change: Change, corrector: Asked, percent: int, instead: str
) -> tuple[Circuit | None, CircuitEdges | None, Callable[[], object] | None]:
    """(circuit, edges, ask): the ``model.analysis.circuits.Circuit`` that keeps ``percent`` of the score of ``change``, and its edges.

    The circuit is None where the fix writes the same tokens as the typed text. Edges take long: they are None until ``ask`` was called.
    Where they are known, ``ask`` is None.
    """
    asked = sentence.source, sentence.text, _span(change), percent, instead
    if (both := corrector.known("circuit_edges", *asked)) is not None:
        return *both, None
    found = corrector.ask("circuit", *asked)
    return found, None, found and partial(corrector.ask, "circuit_edges", *asked)


def decompose_attention_score(
    sentence: SentenceCorrection, head: tuple[str, int, int], query: int, key: int, corrector: Asked
) -> ScoreDecomposition:
    """What one attention weight's query and key were made of: ``model.analysis.attention_scores.ScoreDecomposition``."""
    return corrector.ask("decompose_attention_score", sentence.source, sentence.text, tuple(head), query, key)


def verified_explanation(
    sentence: SentenceCorrection, change: Change, corrector: Asked
) -> Explanation | None:
    """What is claimed about ``change``, each claim with its receipt: ``model.analysis.claims.Explanation``."""
    return corrector.ask("verified_explanation", sentence.source, sentence.text, _span(change))


def replaced(
    sentence: SentenceCorrection,
    change: Change,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
    corrector: Asked,
) -> tuple[Contrast, tuple[ReplacedAttention, ...]]:
    """(question, versions): what becomes of ``change`` with other weights in one head (``model.analysis.counterfactuals``)."""
    return corrector.ask("replaced", sentence.source, sentence.text, _span(change), tuple(head), painted)


def alternative_continuation(
    sentence: SentenceCorrection, row: int, candidate: str, corrector: Asked
) -> AlternativeContinuation:
    """How the network goes on after ``candidate`` at ``row``: ``model.analysis.counterfactuals.AlternativeContinuation``."""
    return corrector.ask("alternative_continuation", sentence.source, sentence.text, row, candidate)


def grown(text: str, corrector: EngineCorrector) -> tuple[Grown, ...]:
    """What each snapshot of the model makes of the first sentence."""
    return corrector.ask("grown", text)


def _given(means: Mapping[str, np.ndarray] | None) -> tuple:
    """The argument of a question; none if there are no means, because a user's own model takes none."""
    if not means:
        return ()
    return (tuple((kind, _nested(grid.tolist())) for kind, grid in means.items()),)


def _nested(values: object) -> object:
    return tuple(map(_nested, values)) if isinstance(values, list) else values


def _span(change: Change) -> tuple[int, int]:
    return change.source_start, change.source_end
