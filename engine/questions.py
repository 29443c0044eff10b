"""What a worker can be asked about one model.

A question is a name of QUESTIONS and arguments that can be pickled and hashed. Everything that its answer depends
on is an argument, heads and interventions too: so it is part of the key under which the answer is kept. Answers
are shared, so they are tuples, frozen dataclasses and arrays, nothing that a page could change.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine import traced_laboratory
from engine.answers import PackedCorrection, pack
from engine.spans import Span, nearest
from engine.traced import TracedCorrector
from model.analysis.contributions import METHODS, contributions
from model.analysis.forks import road_not_taken
from model.analysis.head_effects import fix_without, head_effects, written_without
from model.analysis.lenses import when_decided
from model.analysis.questions import question_of_change, question_of_row
from model.analysis.replacing import replaced_for_change
from model.analysis.writing import who_wrote
from model.correction.growing import growing_network
from model.survey.survey_files import pairs_of
from model.survey.survey_sums import Sums, sums_of_effects, sums_of_roles
from model.tables import change_kinds
from model.text.changes import find_changes
from model.trace.interventions import Head, Intervention

CORRECT = "correct"  # the one question that is answered for several visitors together

# The methods of ``contributions`` in the order in which they are asked, the quick ones first: one pass each; then a pass for
# each token; then a path of passes.
PARTS = (
    ("attention", "norms", "rollout", "alti", "gradient"),
    ("occlusion", "value_zeroing"),
    ("integrated_gradients",),
)

Means = tuple[tuple[str, tuple], ...]  # (kind of attention, (L, H, D/H) numbers as nested tuples), …
Sets = tuple[tuple[tuple, ...], ...]  # of heads: (kind, layer, head)


def correct_together(corrector, texts: Sequence[str]) -> list[PackedCorrection]:
    """The corrections of N texts in their order, made in one batch."""
    return [pack(correction) for correction in corrector.correct_batch(texts)]


def _effects(corrector, source: str, target: str, span: Span, means: Means = ()):
    """What becomes of the change at ``span`` without each head; its part of ``means`` stands in for it, else zero."""
    return head_effects(
        corrector, source, target, nearest(find_changes(source, target), span), _arrays(means)
    )


def _without(corrector, source: str, sets: Sets, means: Means = ()):
    """What is written without each of these sets of heads; ``means`` as for ``_effects``."""
    return written_without(
        corrector, source, [[Head(*head) for head in heads] for heads in sets], _arrays(means)
    )


def _fix_without(corrector, source: str, target: str, span: Span, sets: Sets, means: Means = ()):
    """How probable the change at ``span`` is without each of these sets of heads; ``means`` as for ``_effects``."""
    change = nearest(find_changes(source, target), span)
    heads = [[Head(*head) for head in each] for each in sets]
    return fix_without(corrector, source, target, change, heads, _arrays(means))


def _arrays(means: Means) -> dict[str, np.ndarray] | None:
    return {kind: np.array(rows, np.float32) for kind, rows in means} or None


def _contributions(corrector, source: str, target: str, span: Span, part: int = 0):
    """(row, all methods, what those of PARTS[part] say)."""
    change = nearest(find_changes(source, target), span)
    question = question_of_change(corrector, source, target, change)
    return question.row, METHODS, tuple(contributions(corrector, source, target, question, PARTS[part]))


def _step_contributions(corrector, source: str, target: str, row: int, part: int = 0):
    """The same of any produced token against the likeliest other one."""
    question = question_of_row(corrector, source, target, row)
    return row, METHODS, tuple(contributions(corrector, source, target, question, PARTS[part]))


def _replaced(
    corrector, source: str, target: str, span: Span, head: tuple[str, int, int], painted: tuple[int, ...]
):
    """(question, versions) of the change at ``span`` with other weights in ``head``."""
    change = nearest(find_changes(source, target), span)
    return replaced_for_change(corrector, source, target, change, Head(*head), painted)


def _taps(corrector, source: str, target: str, names: tuple[str, ...], off: tuple[tuple, ...] = ()):
    """What the pass hands out under ``names``, without the heads that are ``off``."""
    return corrector.taps(
        source, target, names, Intervention(off=frozenset(Head(*head) for head in off)) if off else None
    )


def _who_wrote(corrector, source: str, target: str, spans: tuple[Span, ...] = ()):
    """What each part of the decoder wrote, in every row and for the changes at ``spans``."""
    changes = find_changes(source, target)
    return who_wrote(corrector, source, target, [nearest(changes, span) for span in spans])


def _when_decided(corrector, source: str, target: str, spans: tuple[Span, ...] = ()):
    """What the network would say after each sub-layer, in every row and for the changes at ``spans``."""
    changes = find_changes(source, target)
    return when_decided(corrector, source, target, [nearest(changes, span) for span in spans])


def _table(corrector, texts: tuple[str, ...]):
    """(corrected text, kinds of its changes) of each text: what a file of many needs, without attention."""
    return tuple((each.text, change_kinds(each)) for each in corrector.correct_batch(texts))


def _head_roles(corrector, given: tuple[tuple[str, str | None], ...], first: int):
    """(pairs, how many were left out, sums of roles): some rows of a file; its pairs are numbered from ``first``."""
    pairs, left_out = pairs_of(given, corrector)
    return pairs, left_out, sums_of_roles(corrector, pairs, first) if pairs else Sums()


def _grown(corrector, text: str):
    """The answers of all snapshots of the model's folder."""
    return growing_network(corrector.folder).answers(text)


def answered(corrector, kind: str, arguments: tuple) -> Any:
    """The answer to one of QUESTIONS. Raises what the model raises."""
    own = traced_laboratory.QUESTIONS if isinstance(corrector, TracedCorrector) else {}
    return (own.get(kind) or QUESTIONS[kind])(corrector, *arguments)


# The network is asked again with something changed, which takes up to seconds: no correction waits for these.
LABORATORY: dict[str, Callable[..., Any]] = {
    "head_effects": _effects,
    "written_without": _without,
    "fix_without": _fix_without,
    "contributions": _contributions,
    "step_contributions": _step_contributions,
    "replaced": _replaced,
    "taps": _taps,
    "who_wrote": _who_wrote,
    "when_decided": _when_decided,
    "road_not_taken": road_not_taken,
    "grown": _grown,
    "table": _table,
    "head_roles": _head_roles,
    "head_losses": sums_of_effects,
}
QUESTIONS: dict[str, Callable[..., Any]] = {
    "abilities": lambda corrector: corrector.config.abilities,
    CORRECT: lambda corrector, text: correct_together(corrector, [text])[0],
    "trace": lambda corrector, source, target: corrector.trace(source, target),
    "projections": lambda corrector, source, target, padding: corrector.projections(source, target, padding),
    "embeddings": lambda corrector, text: corrector.embeddings(text),
    "output_weights": lambda corrector: corrector.output_weights(),
    "weight_sizes": lambda corrector: corrector.weight_sizes(),
    "num_parameters": lambda corrector: corrector.num_parameters,
    **LABORATORY,
}
