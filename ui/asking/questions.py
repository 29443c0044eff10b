"""Questions of a page to the engine about one sentence and one change in it.

They translate a page's sentence and change to the arguments of ``engine.questions``, which declares them.
Each raises NotLoadedError where there is no network, and EngineError where no answer came; the next time it
is asked again. The engine keeps the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from engine import questions as declared
from engine.questions import Asked, Patching
from model import Correction, SentenceCorrection
from model.text.changes import Change
from model.trace.interventions import Head, Projections
from model.trace.trace import Grown

if TYPE_CHECKING:
    from model import analysis
    from model.analysis.attention_scores import AttentionCell
    from model.analysis.circuits import Circuit
    from model.trace.interventions import Contrast

    # row, names of all methods, the contributions so far, and a function that asks for more
    MethodsSaid = tuple[int, tuple[str, ...], tuple[analysis.Contribution, ...], Callable[[], object] | None]


def correct(text: str, corrector: Asked) -> Correction:
    """The correction of ``text``."""
    return corrector.correct(text)


def projections(sentence: str, text: str, corrector: Asked, padding: int = 0) -> dict[str, Projections]:
    """The queries, keys and values of the pass that writes ``text`` for ``sentence``, with tokens of padding
    behind both.
    """
    return corrector.ask(declared.projections, sentence, text, padding)


def embeddings(text: str, corrector: Asked) -> np.ndarray:
    """(S, D) float32: the token embeddings of ``text`` and the end mark, not yet scaled."""
    return corrector.ask(declared.embeddings, text)


def head_effects(
    sentence: SentenceCorrection,
    change: Change,
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> analysis.HeadEffects:
    """The effect of ablating each head on ``change``, in nats.

    ``means``: ablation values, (L, H, D/H) by kind; zeros without.
    """
    return corrector.ask(declared.head_effects, _edit(sentence, change), _given(means))


def ablate_heads(
    sentence: SentenceCorrection,
    sets: Iterable[Iterable[Head]],
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> tuple[analysis.AblatedText, ...]:
    """The text that is written without each of these sets of heads; ``means`` as for ``head_effects``."""
    return corrector.ask(declared.ablate_heads, sentence.source, _heads(sets), _given(means))


def ablated_fix_probability(
    sentence: SentenceCorrection,
    change: Change,
    sets: Iterable[Iterable[Head]],
    corrector: Asked,
    means: Mapping[str, np.ndarray] | None,
) -> tuple[float, ...]:
    """The probability of ``change`` with each set of heads ablated; ``means`` as for ``head_effects``."""
    return corrector.ask(
        declared.ablated_fix_probability, _edit(sentence, change), _heads(sets), _given(means)
    )


def contributions(sentence: SentenceCorrection, about: Change | int, corrector: Asked) -> MethodsSaid:
    """The contributions of tokens to a change or to the token of a row: (row, names of all methods, answers
    so far, a function that asks for more or None).

    It waits for the quick methods. The answers of the others are here if they were asked for before.
    """

    def known(number: int) -> declared.MethodRound | None:
        if isinstance(about, int):
            return corrector.known(declared.step_contributions, *_texts(sentence), about, number)
        return corrector.known(declared.contributions, _edit(sentence, about), number)

    def ask(number: int = 0) -> declared.MethodRound:
        if isinstance(about, int):
            return corrector.ask(declared.step_contributions, *_texts(sentence), about, number)
        return corrector.ask(declared.contributions, _edit(sentence, about), number)

    row, methods, found = ask()
    number = 1
    while len(found) < len(methods):
        more = known(number)
        if more is None:
            return row, methods, found, partial(ask, number)
        found += more[-1]
        number += 1
    return row, methods, found, None


def left_out(sentence: SentenceCorrection, change: Change, corrector: Asked) -> analysis.Contribution:
    """The effect on ``change`` of leaving out each token, in nats."""
    return corrector.ask(declared.left_out, _edit(sentence, change))


def direct_logit_attribution(sentence: SentenceCorrection, corrector: Asked) -> analysis.LogitAttribution:
    """The direct logit attribution in every row and for every change."""
    spans = tuple(map(_span, sentence.changes))
    return corrector.ask(declared.direct_logit_attribution, *_texts(sentence), spans)


def logit_lens(sentence: SentenceCorrection, corrector: Asked) -> analysis.LogitLens:
    """The logit lens after each sub-layer."""
    return corrector.ask(declared.logit_lens, *_texts(sentence), tuple(map(_span, sentence.changes)))


def activation_patching(
    sentence: SentenceCorrection, change: Change, corrector: Asked, patching: Patching
) -> analysis.ActivationPatching | None:
    """The share of the logit difference restored in a corrupted run. None without such a run."""
    return corrector.ask(declared.activation_patching, _edit(sentence, change), patching)


def circuit(
    sentence: SentenceCorrection, change: Change, corrector: Asked, percent: int, instead: str
) -> tuple[Circuit | None, analysis.CircuitEdges | None, Callable[[], object] | None]:
    """(circuit, edges, ask): the circuit that keeps ``percent`` of the logit difference of ``change``, and
    its edges.

    The circuit is None where the fix writes the same tokens as the typed text. Edges take long: they are None
    until ``ask`` was called. Where they are known, ``ask`` is None.
    """
    asked = _edit(sentence, change), percent, instead
    if (both := corrector.known(declared.circuit_edges, *asked)) is not None:
        return *both, None
    found = corrector.ask(declared.circuit, *asked)
    return found, None, partial(corrector.ask, declared.circuit_edges, *asked) if found else None


def decompose_attention_score(
    sentence: SentenceCorrection, cell: AttentionCell, corrector: Asked
) -> analysis.ScoreDecomposition:
    """The decomposition of one attention score over query and key."""
    return corrector.ask(declared.decompose_attention_score, *_texts(sentence), cell)


def verified_explanation(
    sentence: SentenceCorrection, change: Change, corrector: Asked
) -> analysis.Explanation | None:
    """The claims about ``change``, each with its ablation check."""
    return corrector.ask(declared.verified_explanation, _edit(sentence, change))


def replaced(
    sentence: SentenceCorrection,
    change: Change,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
    corrector: Asked,
) -> tuple[Contrast, tuple[analysis.ReplacedAttention, ...]]:
    """(contrast, versions): ``change`` with other weights in one head."""
    return corrector.ask(declared.replaced, _edit(sentence, change), Head(*head), painted)


def alternative_continuation(
    sentence: SentenceCorrection, row: int, candidate: str, corrector: Asked
) -> analysis.AlternativeContinuation:
    """The continuation after ``candidate`` at ``row``."""
    return corrector.ask(declared.alternative_continuation, *_texts(sentence), row, candidate)


def grown(text: str, corrector: Asked) -> tuple[Grown, ...]:
    """The answer of each snapshot of the model to the first sentence."""
    return corrector.ask(declared.grown, text)


def _texts(sentence: SentenceCorrection) -> tuple[str, str]:
    return sentence.source, sentence.text


def _edit(sentence: SentenceCorrection, change: Change) -> declared.Edit:
    return declared.Edit(sentence.source, sentence.text, _span(change))


def _heads(sets: Iterable[Iterable[Head]]) -> declared.HeadSets:
    return tuple(tuple(Head(*head) for head in each) for each in sets)


def _given(means: Mapping[str, np.ndarray] | None) -> declared.Means:
    """Ablation values as an argument that can be hashed."""
    return tuple((kind, _nested(grid.tolist())) for kind, grid in (means or {}).items())


def _nested(values: list) -> tuple:
    return tuple(_nested(each) if isinstance(each, list) else each for each in values)


def _span(change: Change) -> declared.ChangeSpan:
    return change.source_start, change.source_end
