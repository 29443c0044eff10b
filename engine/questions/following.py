"""From which parts of the network a correction came. NumPy answers from the weights (``Network.patched``).

Questions about a ``span`` are None if the fix of its change begins as what was typed does, because then there is nothing to compare.
"""

from contextlib import suppress

from engine.questions.declared import question
from engine.spans import ChangeSpan, change_at
from model.analysis.attention_scores import ScoreDecomposition, decompose_attention_score
from model.analysis.circuits import Circuit, CircuitEdges, circuit_edges, find_circuit
from model.analysis.claims import Explanation, verified_explanation
from model.analysis.counterfactuals import contrast_of_change
from model.analysis.patching import (
    AblationValues,
    ActivationPatching,
    CorruptedRun,
    activation_patching,
    corrupted_by_correction,
    corrupted_by_exchange,
    corrupted_by_sentence,
    corrupted_values,
    mean_values,
)
from model.analysis.residual_stream import LogitAttribution, LogitLens, direct_logit_attribution, logit_lens
from model.correction.answers import Network
from model.stored.config import INSIDE, STREAM
from model.text.changes import Change
from model.trace.interventions import Head


@question("direct_logit_attribution", STREAM, is_long=True, in_numpy=True)
def _direct_logit_attribution(
    corrector: Network, source: str, target: str, spans: tuple[ChangeSpan, ...] = ()
) -> LogitAttribution:
    """What each part of the decoder wrote, in every row and for the changes at ``spans``."""
    return direct_logit_attribution(
        corrector, source, target, [change_at(corrector, source, target, span) for span in spans]
    )


@question("logit_lens", STREAM, is_long=True, in_numpy=True)
def _logit_lens(
    corrector: Network, source: str, target: str, spans: tuple[ChangeSpan, ...] = ()
) -> LogitLens:
    """What the network would say after each sub-layer, in every row and for the changes at ``spans``."""
    return logit_lens(
        corrector, source, target, [change_at(corrector, source, target, span) for span in spans]
    )


def _case(corrector: Network, source: str, target: str, span: ChangeSpan) -> Change | None:
    """The change at ``span``; None where its fix begins as what was typed does."""
    change = change_at(corrector, source, target, span)
    with suppress(ValueError):
        contrast_of_change(corrector, source, target, change)
        return change
    return None


def _twin(
    corrector: Network, source: str, target: str, change: Change, how: str, other: str = ""
) -> CorruptedRun | None:
    """The twin of a change: "changed", "right", or "sentence", which is ``other``. None where there is none."""
    with suppress(ValueError):
        row = contrast_of_change(corrector, source, target, change).row
        match how:
            case "right":
                return corrupted_by_correction(source, target, row)
            case "sentence":
                return corrupted_by_sentence(source, target, change, other, row)
        return corrupted_by_exchange(corrector, source, target, change)
    return None


@question("activation_patching", INSIDE, is_long=True, in_numpy=True)
def _activation_patching(
    corrector: Network,
    source: str,
    target: str,
    span: ChangeSpan,
    part: str,
    of: str,
    how: str,
    other: str = "",
) -> ActivationPatching | None:
    """What returns when places of the typed sentence are put into its twin; None also where there is no such twin."""
    change = _case(corrector, source, target, span)
    twin = change and _twin(corrector, source, target, change, how, other)
    return activation_patching(corrector, source, target, change, twin, part, of) if change and twin else None


@question("circuit", STREAM, is_long=True, in_numpy=True)
def _circuit(
    corrector: Network, source: str, target: str, span: ChangeSpan, percent: int, instead: str
) -> Circuit | None:
    """The parts that keep ``percent`` of the score. ``instead``: "mean" or "twin", what stands in for the others."""
    change = _case(corrector, source, target, span)
    if change is None:
        return None
    return find_circuit(
        corrector,
        source,
        target,
        change,
        percent / 100,
        _stand_ins(corrector, source, target, change, instead),
    )


@question("circuit_edges", STREAM, is_long=True, in_numpy=True)
def _circuit_edges(
    corrector: Network, source: str, target: str, span: ChangeSpan, percent: int, instead: str
) -> tuple[Circuit, CircuitEdges] | None:
    """(circuit, its edges), asked as ``circuit``."""
    circuit = _circuit(corrector, source, target, span, percent, instead)
    if circuit is None:
        return None
    change = change_at(corrector, source, target, span)
    stand_ins = _stand_ins(corrector, source, target, change, instead)
    return circuit, circuit_edges(corrector, source, target, circuit, stand_ins)


def _stand_ins(corrector: Network, source: str, target: str, change: Change, how: str) -> AblationValues:
    network, tokenizer = corrector.patched, corrector.tokenizer
    twin = _twin(corrector, source, target, change, "changed") if how == "twin" else None
    return corrupted_values(network, tokenizer, twin) if twin else mean_values(corrector, source, target)


@question("decompose_attention_score", STREAM, is_long=True, in_numpy=True)
def _decompose_attention_score(
    corrector: Network, source: str, target: str, head: tuple[str, int, int], query: int, key: int
) -> ScoreDecomposition:
    """What one attention weight's query and key were made of."""
    return decompose_attention_score(corrector, source, target, Head(*head), query, key)


@question("verified_explanation", INSIDE, is_long=True, in_numpy=True)
def _verified_explanation(
    corrector: Network, source: str, target: str, span: ChangeSpan
) -> Explanation | None:
    """The explanation of the change at ``span``, each claim with its receipt."""
    change = _case(corrector, source, target, span)
    return None if change is None else verified_explanation(corrector, source, target, change)
