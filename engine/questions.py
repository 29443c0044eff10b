"""``Question`` objects: the typed functions that a page may ask a worker about a model.

A question is a function that takes a corrector and arguments that can be hashed: texts, numbers, tuples,
named tuples. The arguments are part of the key under which the answer is kept, so everything that the answer
depends on is an argument. Visitors share an answer, so it consists of tuples, frozen dataclasses and arrays.
The wire format (``engine.remote``) follows from the annotations.

To add one, declare a function here; a page calls ``corrector.ask(questions.NAME, …)``, and a type checker
knows the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from engine.question import ChangeSpan, Edit, HeadSets, Means, question
from engine.records import MB, PackedCorrection, pack
from model import analysis
from model.adapters.own_network import InRowsOfTrace
from model.analysis.ablation import mean_values
from model.analysis.attention_scores import AttentionCell
from model.analysis.attribution_methods import EACH_TOKEN, METHODS, ONE_PASS, PATH
from model.analysis.circuits import Circuit
from model.analysis.contributions import REFERENCE, methods_of
from model.analysis.edits import changes_in_tokens
from model.analysis.head_effects import TextPair
from model.analysis.head_effects import ablated_fix_probability as ablation_probability
from model.analysis.kinds import place_kinds
from model.correction.answers import Answers, AnswersMany, Intervenes, KeepsWords, Network
from model.correction.corrector import growing_network
from model.stored.config import INSIDE, INTERVENTIONS, PROJECTIONS, STREAM, TAPPED, TracedConfig
from model.survey.sums import Sums, pairs_of, sums_of_effects, sums_of_roles
from model.text.changes import Change
from model.trace.interventions import Contrast, Head, Intervention, OutputWeights, Projections
from model.trace.trace import AttentionTrace, Grown

# --- Texts, the model itself, and one pass ---


@question(kept=(256, 64 * MB))
def correct(corrector: Answers, text: str, words: tuple[str, ...] = ()) -> PackedCorrection:
    """The correction of one text, with its traces.

    A model that keeps a person's ``words`` (``KeepsWords``) leaves them alone. Raises ValueError for words
    that ``Corrector.with_words`` refuses.
    """
    if words and isinstance(corrector, KeepsWords):
        corrector = corrector.with_words(words)
    return pack(corrector.correct(text))


@question(is_long=True)
def table(
    corrector: AnswersMany, texts: tuple[str, ...], words: tuple[str, ...] = ()
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(corrected text, kinds of its corrected places) of each text, without attention.

    ``words`` are left alone as by ``correct``.
    """
    if words and isinstance(corrector, KeepsWords):
        corrector = corrector.with_words(words)
    return tuple((each.text, place_kinds(each)) for each in corrector.correct_batch(texts))


@question()
def own_config(corrector: Answers) -> TracedConfig:
    """The config of a user's own model (``model.TracedModel``, or a laboratory)."""
    config = corrector.config
    assert isinstance(config, TracedConfig), "only such a model is asked for its config"
    return config


@question(kept=(64, 64 * MB))
def trace(corrector: Answers, source: str, target: str) -> AttentionTrace:
    """The pass that turns ``source`` into ``target``.

    Raises ValueError for a source longer than the network reads.
    """
    return corrector.trace(source, target)


@question(PROJECTIONS, kept=(16, 64 * MB))
def projections(corrector: Network, source: str, target: str, padding: int = 0) -> dict[str, Projections]:
    """Queries (L, H, Q, D/H), keys and values (L, H, K, D/H) of each kind of attention, with ``padding``
    tokens behind source and target.
    """
    return corrector.projections(source, target, padding)


@question()
def embeddings(corrector: Network, text: str) -> np.ndarray:
    """(S, D) float32, a row for each character and the end mark, not yet scaled."""
    return corrector.embeddings(text)


@question()
def weight_sizes(corrector: Network) -> dict[str, int]:
    """The number of parameters of each array of the network, by its path."""
    return corrector.weight_sizes()


@question()
def num_parameters(corrector: Network) -> int:
    """The number of parameters of the network."""
    return corrector.num_parameters


@question(TAPPED, is_long=True)
def taps(
    corrector: Network, source: str, target: str, names: tuple[str, ...], off: tuple[Head, ...] = ()
) -> dict[str, np.ndarray]:
    """The activations ``names`` of the pass, with the heads ``off`` ablated; see ``Corrector.taps`` for their
    shapes.
    """
    return corrector.taps(source, target, names, Intervention(off=frozenset(off)) if off else None)


@question(TAPPED, is_long=True)
def output_weights(corrector: Network) -> OutputWeights:
    """The unembedding (V, D) and the last normalisation of the decoder."""
    return corrector.output_weights()


@question(is_long=True)
def grown(corrector: Network, text: str) -> tuple[Grown, ...]:
    """The answers of all snapshots of the model's folder; none of a network that was not read from one."""
    return growing_network(corrector.folder).answers(text) if corrector.folder else ()


# --- Ablations, other attention, another token ---


@question(INTERVENTIONS, is_long=True)
def head_effects(corrector: Intervenes, edit: Edit, means: Means = ()) -> analysis.HeadEffects:
    """The effect in nats of ablating each head on the edit: ``means``, or zero, replace its output."""
    return analysis.head_effects(corrector, edit_at(corrector, edit), _arrays(means))


@question(INTERVENTIONS, is_long=True)
def ablate_heads(
    corrector: Intervenes, source: str, sets: HeadSets, means: Means = ()
) -> tuple[analysis.AblatedText, ...]:
    """The text that is written without each of these sets of heads; ``means`` as for ``head_effects``."""
    return analysis.ablate_heads(corrector, source, sets, _arrays(means))


@question(INTERVENTIONS, is_long=True)
def ablated_fix_probability(
    corrector: Intervenes, edit: Edit, sets: HeadSets, means: Means = ()
) -> tuple[float, ...]:
    """The probability of the edit without each of these sets of heads; ``means`` as for ``head_effects``."""
    return ablation_probability(corrector, edit_at(corrector, edit), sets, _arrays(means))


@question(INTERVENTIONS, is_long=True)
def replaced(
    corrector: Intervenes, edit: Edit, head: Head, painted: tuple[int, ...]
) -> tuple[Contrast, tuple[analysis.ReplacedAttention, ...]]:
    """(contrast, versions) of the edit with other weights in ``head``."""
    return analysis.replaced_for_change(corrector, edit_at(corrector, edit), head, painted)


alternative_continuation = question(INSIDE, is_long=True)(analysis.alternative_continuation)
can_write = question(INSIDE)(analysis.can_write)

# --- Attribution to tokens, method by method ---

# Methods run in rounds, the quick ones first.
ROUNDS: tuple[tuple[str, ...], ...] = tuple(
    tuple(name for name, method in METHODS.items() if method.cost == cost)
    for cost in (ONE_PASS, EACH_TOKEN, PATH)
)
# (the row, the names of all methods, the contributions by the methods of one round)
MethodRound = tuple[int, tuple[str, ...], tuple[analysis.Contribution, ...]]


@question(INTERVENTIONS, is_long=True)
def contributions(corrector: Intervenes, edit: Edit, number: int = 0) -> MethodRound:
    """The contributions in nats of tokens to the edit by the methods of ROUNDS[number]."""
    return _round(corrector, edit_at(corrector, edit), number)


@question(INTERVENTIONS, is_long=True)
def left_out(corrector: Intervenes, edit: Edit) -> analysis.Contribution:
    """The effect in nats of leaving out each token: the method that the others are compared with, alone."""
    return analysis.contribution(corrector, edit_at(corrector, edit), REFERENCE)


@question(INSIDE, is_long=True)
def step_contributions(
    corrector: Network, source: str, target: str, row: int, number: int = 0
) -> MethodRound:
    """As ``contributions``, but about any produced token against the likeliest other one."""
    contrast = analysis.contrast_of_row(corrector, source, target, row)
    return _round(corrector, analysis.Edit(source, target, contrast), number)


def _round(corrector: Intervenes, edit: analysis.Edit, number: int) -> MethodRound:
    known = methods_of(corrector)
    names = [name for name in ROUNDS[number] if name in known]
    row = analysis.contrast_of_edit(corrector, edit).row
    return row, known, tuple(analysis.contributions(corrector, edit, names))


# --- The residual stream and circuits; None where the fix of a change begins as the typed text does ---


@question(STREAM, is_long=True)
def direct_logit_attribution(
    corrector: Network, source: str, target: str, edits: tuple[Edit, ...] = ()
) -> analysis.LogitAttribution:
    """The share in nats of each component of the decoder, in every row and for ``edits`` of these texts."""
    return _by_row(analysis.direct_logit_attribution, corrector, (source, target), edits)


@question(STREAM, is_long=True)
def logit_lens(
    corrector: Network, source: str, target: str, edits: tuple[Edit, ...] = ()
) -> analysis.LogitLens:
    """The logit lens after each sub-layer, in every row and for ``edits`` of these texts."""
    return _by_row(analysis.logit_lens, corrector, (source, target), edits)


@dataclass(frozen=True)
class Patching:
    """The options of activation patching: which activations, and the corrupted run."""

    part: str
    of: str
    how: str  # "changed", "right", or "sentence", which is ``other``
    other: str = ""


@question(INSIDE, is_long=True)
def activation_patching(
    corrector: Network, edit: Edit, patching: Patching
) -> analysis.ActivationPatching | None:
    """The share of the logit difference restored by activations of the clean run; None also without a
    corrupted run.
    """
    about = _contrasted(corrector, edit)
    run = _corrupted(corrector, about, patching) if about else None
    if run is None:
        return None
    return analysis.activation_patching(corrector, run, patching.part, patching.of)


@question(STREAM, is_long=True)
def circuit(corrector: Network, edit: Edit, percent: int, instead: str) -> Circuit | None:
    """The components that keep ``percent`` of the logit difference.

    ``instead``: the ablation values, "mean" or "twin".
    """
    about = _contrasted(corrector, edit)
    if about is None:
        return None
    values = _ablation_values(corrector, about, instead)
    return analysis.find_circuit(corrector, about, percent / 100, values)


@question(STREAM, is_long=True)
def circuit_edges(
    corrector: Network, edit: Edit, percent: int, instead: str
) -> tuple[Circuit, analysis.CircuitEdges] | None:
    """(circuit, its edges), with the arguments of ``circuit``."""
    found = circuit(corrector, edit, percent, instead)
    if found is None:
        return None
    about = edit_at(corrector, edit)
    values = _ablation_values(corrector, about, instead)
    return found, analysis.circuit_edges(corrector, about, found, values)


@question(STREAM, is_long=True)
def decompose_attention_score(
    corrector: Network, source: str, target: str, cell: AttentionCell
) -> analysis.ScoreDecomposition:
    """The decomposition of one attention score over query and key."""
    return analysis.decompose_attention_score(corrector, source, target, cell)


@question(INSIDE, is_long=True)
def verified_explanation(corrector: Network, edit: Edit) -> analysis.Explanation | None:
    """The explanation of the edit, each claim with its ablation check."""
    about = _contrasted(corrector, edit)
    return None if about is None else analysis.verified_explanation(corrector, about)


class Teaching(NamedTuple):
    """The options of an edit of the network: pairs (wrong, wanted), and a sentence to try it on."""

    pairs: tuple[tuple[str, str], ...]
    layer: int  # of the decoder, from 0
    whitening: int  # per cent
    strength: int  # per cent
    tried: str


@question(INSIDE, is_long=True)
def edited_network(corrector: Network, teaching: Teaching) -> analysis.EditOutcome:
    """The effects of an edit that teaches the pairs, also on the text of the sentence ``tried``."""
    edit = _edit(corrector, teaching.pairs, teaching.layer, teaching.whitening / 100)
    return analysis.edit_outcome(corrector, edit, teaching.strength / 100, teaching.tried)


_edit = lru_cache(maxsize=1)(analysis.edit_network)  # kept for its other strengths


# --- The survey of heads over a file ---


@question(INSIDE, is_long=True)
def head_roles(
    corrector: Network, given: tuple[tuple[str, str | None], ...], first: int
) -> tuple[tuple[TextPair, ...], int, Sums]:
    """(pairs, number of rows left out, sums of roles) of some rows of a file; its pairs are numbered from
    ``first``.
    """
    pairs, rest = pairs_of(given, corrector)
    return pairs, rest, sums_of_roles(corrector, pairs, first) if pairs else Sums()


@question(INSIDE, is_long=True)
def head_losses(corrector: Network, pairs: tuple[TextPair, ...]) -> Sums:
    """The sums of head effects in nats over the edits of ``pairs``."""
    return sums_of_effects(corrector, pairs)


# --- The change that a question is about ---


def edit_at(corrector: Intervenes, edit: Edit) -> analysis.Edit:
    """The edit with the change whose tokens are at the span, or nearest to it; its offsets count characters.

    Raises ValueError where nothing changes, or where the trace does not hold the places of its tokens.
    """
    changes = corrector.changes(*edit.texts)
    placed = changes_in_tokens(corrector.trace(*edit.texts), changes) or ()
    change = changes[placed.index(nearest(placed, edit.span))]
    return analysis.Edit(*edit.texts, replace(change, asked=edit.asked))


def nearest(changes: Sequence[Change], span: ChangeSpan) -> Change:
    """The change at ``span``, or else the one that begins and ends nearest to it.

    A question has only the two texts, which are aligned again to find ``changes``. Where one of two equal
    syllables was deleted, this alignment may delete the other one. Raises ValueError without changes.
    """
    if not changes:
        raise ValueError(f"nothing changes at {span}")  # no word of the texts: it may reach a log
    return min(changes, key=lambda each: abs(each.source_start - span[0]) + abs(each.source_end - span[1]))


def means(values: Mapping[str, np.ndarray]) -> Means:
    """Ablation values, (L, H, D/H) by kind, as an argument that can be hashed."""
    return tuple((kind, _nested(grid.tolist())) for kind, grid in values.items())


def _nested(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_nested(each) if isinstance(each, list) else each for each in values)


def _arrays(means: Means) -> dict[str, np.ndarray] | None:
    return {kind: np.array(rows, np.float32) for kind, rows in means} or None


Found = TypeVar("Found", analysis.LogitAttribution, analysis.LogitLens)


def _by_row(
    analyse: Callable[..., Found], corrector: Network, texts: TextPair, edits: tuple[Edit, ...]
) -> Found:
    """``analyse`` in the rows of a trace; a decoder alone has rows of its prompt, and none of edits."""
    if not corrector.patched.layers("encoder"):
        found = analyse(InRowsOfTrace(corrector, *texts), *texts)
        return replace(found, changes=(None,) * len(edits))
    return analyse(corrector, *texts, [edit_at(corrector, edit).change for edit in edits])


def _contrasted(corrector: Network, edit: Edit) -> analysis.Edit | None:
    """``edit_at``; None where the fix begins with the token that was typed, so that no two logits differ."""
    found = edit_at(corrector, edit)
    with suppress(ValueError):
        analysis.contrast_of_edit(corrector, found)
        return found
    return None


def _corrupted(corrector: Network, edit: analysis.Edit, patching: Patching) -> analysis.CorruptedRun | None:
    """The corrupted run of a change; None if it has none."""
    with suppress(ValueError):
        row = analysis.contrast_of_edit(corrector, edit).row
        match patching.how:
            case "right":
                return analysis.corrupted_by_correction(edit, row)
            case "sentence":
                return analysis.corrupted_by_sentence(edit, patching.other, row)
        return analysis.corrupted_by_exchange(corrector, edit)
    return None


def _ablation_values(corrector: Network, edit: analysis.Edit, how: str) -> analysis.AblationValues:
    exchange = Patching("", "", "changed")
    run = _corrupted(corrector, edit, exchange) if how == "twin" else None
    if run:
        return analysis.corrupted_values(corrector.patched, corrector.tokenizer, run)
    return mean_values(corrector, edit.source, edit.target)
