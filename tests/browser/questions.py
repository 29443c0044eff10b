"""The library's answers to the questions of views about one change: expected values of browser tests."""

from collections.abc import Callable
from functools import cache
from typing import Any

from model.analysis import (
    AttentionCell,
    CorruptedRun,
    activation_patching,
    corrupted_by_exchange,
    corrupted_values,
    decompose_attention_score,
    direct_logit_attribution,
    find_circuit,
    logit_lens,
    verified_explanation,
)
from model.analysis.contrasts import Edit
from model.analysis.path_patching import circuit_edges
from model.text.changes import Change
from model.trace.interventions import Head

HEAD = Head("cross_attention", 3, 0)  # the one that is asked why it looked


def questions(corrector: Any, source: str, target: str, change: Change) -> dict[str, Callable[[], Any]]:
    """Every question that a view asks about one change, by name.

    The head is asked why it looked from where the change begins at the last character that was typed there.
    """
    pair, changes = (source, target), corrector.changes(source, target)
    twin = corrupted_by_exchange(corrector, Edit(*pair, change))
    instead = corrupted_values(corrector.patched, corrector.tokenizer, twin)
    cell = AttentionCell(HEAD, change.target_start, max(change.source_start, change.source_end - 1))
    by_mean = cache(lambda: find_circuit(corrector, Edit(*pair, change)))
    by_twin = cache(lambda: find_circuit(corrector, Edit(*pair, change), ablation=instead))
    return {
        "who wrote it": lambda: direct_logit_attribution(corrector, *pair, changes),
        "when decided": lambda: logit_lens(corrector, *pair, changes),
        "the twin": lambda: corrupted_by_exchange(corrector, Edit(*pair, change)),
        **{
            f"transplant, {side}'s {name}": _transplant(corrector, twin, part, of)
            for side, name, part, of in (
                ("encoder", "stream", "residual", "encoder"),
                ("encoder", "sub-layers", "output", "encoder"),
                ("encoder", "heads", "heads", "encoder_attention"),
                ("decoder", "stream", "residual", "decoder"),
            )
        },
        "circuit, means": lambda: find_circuit(corrector, Edit(*pair, change)),
        "circuit, twin": lambda: find_circuit(corrector, Edit(*pair, change), ablation=instead),
        "edges, means": lambda: circuit_edges(corrector, Edit(*pair, by_mean().contrast), by_mean()),
        "edges, twin": lambda: circuit_edges(corrector, Edit(*pair, by_twin().contrast), by_twin(), instead),
        "why it looked": lambda: decompose_attention_score(corrector, *pair, cell),
        "claims": lambda: verified_explanation(corrector, Edit(*pair, change)),
    }


def _transplant(corrector: Any, twin: CorruptedRun, part: str, of: str) -> Callable[[], Any]:
    return lambda: activation_patching(corrector, twin, part, of)
