"""The questions that a worker can be asked about one model. Each is a function here, declared with ``@question``.

The declaration says the question's name, the ability that it needs, whether it takes long, and how many answers are kept. The
function takes a corrector and arguments that can be pickled and hashed: texts, numbers, tuples, an ``Intervention``. The arguments are
part of the key under which the answer is kept, so everything that the answer depends on has to be an argument. An array travels as a
tuple of its rows. Visitors share an answer, so it consists of tuples, frozen dataclasses and arrays, which a page cannot change.

To add one: a function here, and a function in ``ui/asking/loaders.py`` that calls ``corrector.ask("name", …)``. The tests'
``FakeCorrector`` answers it without further work.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.answers import pack
from engine.errors import EngineError
from engine.spans import Span, change_at
from model.analysis.circuit_edges import circuit_edges
from model.analysis.circuits import find_circuit
from model.analysis.contrasts import contrast_of_change, contrast_of_row
from model.analysis.contributions import METHODS, REFERENCE, contribution, contributions, methods_of
from model.analysis.forks import road_not_taken
from model.analysis.head_effects import fix_without, head_effects, written_without
from model.analysis.lenses import when_decided
from model.analysis.looks import why_looked
from model.analysis.method import EACH_TOKEN, ONE_PASS, PATH
from model.analysis.patching import patch_map
from model.analysis.receipts import explained
from model.analysis.replacing import replaced_for_change
from model.analysis.stand_ins import StandIns, means_for, twin_values
from model.analysis.twin_runs import TwinRun, changed_twin, corrected_twin, sentence_twin
from model.analysis.writing import who_wrote
from model.correction.answers import Answers, AnswersMany, Described, Intervenes, Network
from model.correction.growing import growing_network
from model.stored.config import INSIDE, INTERVENTIONS, PROJECTIONS, STREAM, TAPPED
from model.survey.survey_files import pairs_of
from model.survey.survey_sums import Sums, sums_of_effects, sums_of_roles
from model.tables import change_kinds
from model.text.changes import Change
from model.trace.interventions import Head, Intervention
from model.trace.odds import Contrast

MB = 2**20
CORRECT = "correct"

Means = tuple[tuple[str, tuple], ...]  # (kind of attention, (L, H, D/H) numbers as nested tuples), …
Sets = tuple[tuple[tuple, ...], ...]  # of heads: (kind, layer, head)


@dataclass(frozen=True)
class EngineQuestion:
    """A declared question. Called with a corrector and the question's arguments, it returns the answer."""

    answer: Callable[..., Any]
    needs: str | None  # which of ``model.stored.config.ABILITIES`` a model should have
    is_long: bool  # whether it takes up to seconds: then it waits apart, so that no correction waits for it
    kept: tuple[int, int]  # how many answers, and bytes of them, the asking process keeps
    # Whether NumPy answers it from the weights of a Transformer, without Keras. A function, if that depends on the arguments.
    in_numpy: bool | Callable[..., bool] = False

    def __call__(self, corrector: Answers, *arguments: Any) -> Any:
        return self.answer(corrector, *arguments)

    def in_keras(self, arguments: tuple = ()) -> bool:
        """Whether Keras answers it about a network of ours. Keras takes seconds to start and much memory, so a worker of its own is asked
        (``engine/laboratory.py``). A question that needs no ability is answered by a graph."""
        light = self.in_numpy(*arguments) if callable(self.in_numpy) else self.in_numpy
        return self.needs is not None and not light

    def suits(self, config: Described) -> bool:
        """Whether a model with this config answers it."""
        return self.needs is None or self.needs in config.abilities


QUESTIONS: dict[str, EngineQuestion] = {}


def question(
    name: str,
    needs: str | None = None,
    is_long: bool = False,
    kept: tuple[int, int] = (64, 16 * MB),
    in_numpy: bool | Callable[..., bool] = False,
) -> Callable:
    """Declare a function as the question ``name``; the rest as in ``EngineQuestion``."""

    def declare(answer: Callable) -> Callable:
        QUESTIONS[name] = EngineQuestion(answer, needs, is_long, kept, in_numpy)
        return answer

    return declare


def answered(corrector: Answers, kind: str, arguments: tuple) -> Any:
    """The answer to one of QUESTIONS. Raises what the model raises, and EngineError for a question that does not suit it."""
    if not QUESTIONS[kind].suits(corrector.config):
        raise EngineError(f"{corrector.name} cannot be asked {kind!r}")
    return QUESTIONS[kind](corrector, *arguments)


@question(CORRECT, kept=(256, 64 * MB))
def _correct(corrector: Answers, text: str):
    return pack(corrector.correct(text))


@question("abilities")
def _abilities(corrector: Answers):
    return corrector.config.abilities


@question("described")
def _described(corrector: Answers):
    """What a user's own model says of itself; None for the others."""
    return getattr(corrector.config, "described", None)


@question("trace", kept=(64, 64 * MB))
def _trace(corrector: Answers, source: str, target: str):
    return corrector.trace(source, target)


@question("projections", PROJECTIONS, kept=(16, 64 * MB), in_numpy=True)
def _projections(corrector: Network, source: str, target: str, padding: int):
    return corrector.projections(source, target, padding)


@question("embeddings")
def _embeddings(corrector: Network, text: str):
    return corrector.embeddings(text)


@question("weight_sizes")
def _weight_sizes(corrector: Network):
    return corrector.weight_sizes()


@question("num_parameters")
def _num_parameters(corrector: Network):
    return corrector.num_parameters


@question("taps", TAPPED, is_long=True, in_numpy=True)
def _taps(corrector: Network, source: str, target: str, names: tuple[str, ...], off: tuple[tuple, ...] = ()):
    """What the pass hands out under ``names``, without the heads that are ``off``."""
    changed = Intervention(off=frozenset(Head(*head) for head in off)) if off else None
    return corrector.taps(source, target, names, changed)


@question("head_effects", INTERVENTIONS, is_long=True, in_numpy=True)
def _head_effects(corrector: Intervenes, source: str, target: str, span: Span, means: Means = ()):
    """What becomes of the change at ``span`` without each head; its part of ``means``, or zero, stands in for it."""
    change = change_at(corrector, source, target, span)
    return head_effects(corrector, source, target, change, _arrays(means))


@question("written_without", INTERVENTIONS, is_long=True, in_numpy=True)
def _written_without(corrector: Intervenes, source: str, sets: Sets, means: Means = ()):
    """What is written without each of these sets of heads; ``means`` as for ``head_effects``."""
    return written_without(corrector, source, _heads(sets), _arrays(means))


@question("fix_without", INTERVENTIONS, is_long=True, in_numpy=True)
def _fix_without(corrector: Intervenes, source: str, target: str, span: Span, sets: Sets, means: Means = ()):
    """How probable the change at ``span`` is without each of these sets of heads; ``means`` as for ``head_effects``."""
    change = change_at(corrector, source, target, span)
    return fix_without(corrector, source, target, change, _heads(sets), _arrays(means))


def _heads(sets: Sets) -> list[list[Head]]:
    return [[Head(*head) for head in each] for each in sets]


def _arrays(means: Means) -> dict[str, np.ndarray] | None:
    return {kind: np.array(rows, np.float32) for kind, rows in means} or None


# The methods of ``contributions`` are asked in several parts, the quick ones first. Methods by gradients come last, because only these
# need Keras, which takes seconds to start. Each part is a tuple of names.
PARTS = tuple(
    names
    for by_gradients in (False, True)
    for cost in (ONE_PASS, EACH_TOKEN, PATH)
    if (names := tuple(n for n, m in METHODS.items() if (m.by_gradients, m.cost) == (by_gradients, cost)))
)


def _without_gradients(source: str, target: str, about: object, part: int = 0) -> bool:
    return not any(METHODS[name].by_gradients for name in PARTS[part])


@question("contributions", INTERVENTIONS, is_long=True, in_numpy=_without_gradients)
def _contributions(corrector: Intervenes, source: str, target: str, span: Span, part: int = 0):
    """(row, the names of all methods, what those of PARTS[part] say) of the change at ``span``."""
    change = change_at(corrector, source, target, span)
    return _part(corrector, source, target, contrast_of_change(corrector, source, target, change), part)


@question("left_out", INTERVENTIONS, is_long=True, in_numpy=True)
def _left_out(corrector: Intervenes, source: str, target: str, span: Span):
    """What leaving out each token does to the change at ``span``: the method that the others are compared with, alone."""
    change = change_at(corrector, source, target, span)
    return contribution(
        corrector, source, target, contrast_of_change(corrector, source, target, change), REFERENCE
    )


@question("step_contributions", INSIDE, is_long=True, in_numpy=_without_gradients)
def _step_contributions(corrector: Network, source: str, target: str, row: int, part: int = 0):
    """As ``contributions``, but about any produced token against the likeliest other one."""
    return _part(corrector, source, target, contrast_of_row(corrector, source, target, row), part)


def _part(corrector: Intervenes, source: str, target: str, about: Contrast, part: int):
    known = methods_of(corrector)
    asked = [name for name in PARTS[part] if name in known]
    return about.row, known, tuple(contributions(corrector, source, target, about, asked))


@question("replaced", INTERVENTIONS, is_long=True, in_numpy=True)
def _replaced(
    corrector: Intervenes,
    source: str,
    target: str,
    span: Span,
    head: tuple[str, int, int],
    painted: tuple[int, ...],
):
    """(question, versions) of the change at ``span`` with other weights in ``head``."""
    change = change_at(corrector, source, target, span)
    return replaced_for_change(corrector, source, target, change, Head(*head), painted)


question("road_not_taken", INSIDE, is_long=True, in_numpy=True)(road_not_taken)


@question("output_weights", TAPPED, is_long=True, in_numpy=True)
def _output_weights(corrector: Network):
    return corrector.output_weights()


@question("who_wrote", STREAM, is_long=True, in_numpy=True)
def _who_wrote(corrector: Network, source: str, target: str, spans: tuple[Span, ...] = ()):
    """What each part of the decoder wrote, in every row and for the changes at ``spans``."""
    return who_wrote(
        corrector, source, target, [change_at(corrector, source, target, span) for span in spans]
    )


@question("when_decided", STREAM, is_long=True, in_numpy=True)
def _when_decided(corrector: Network, source: str, target: str, spans: tuple[Span, ...] = ()):
    """What the network would say after each sub-layer, in every row and for the changes at ``spans``."""
    return when_decided(
        corrector, source, target, [change_at(corrector, source, target, span) for span in spans]
    )


# The questions from here to ``explained`` are answered by NumPy from the weights (``Network.patched``). Those about a ``span`` are None if
# the fix of its change begins as what was typed does, because then there is nothing to compare.


def _case(corrector: Network, source: str, target: str, span: Span) -> Change | None:
    change = change_at(corrector, source, target, span)
    with suppress(ValueError):
        contrast_of_change(corrector, source, target, change)
        return change
    return None


def _twin(
    corrector: Network, source: str, target: str, change: Change, how: str, other: str = ""
) -> TwinRun | None:
    """The twin of a change: "changed", "right", or "sentence", which is ``other``. None where there is none."""
    with suppress(ValueError):
        row = contrast_of_change(corrector, source, target, change).row
        match how:
            case "right":
                return corrected_twin(source, target, row)
            case "sentence":
                return sentence_twin(source, target, change, other, row)
        return changed_twin(corrector, source, target, change)
    return None


@question("patch_map", INSIDE, is_long=True, in_numpy=True)
def _patch_map(
    corrector: Network, source: str, target: str, span: Span, part: str, of: str, how: str, other: str = ""
):
    """What returns when places of the typed sentence are put into its twin; None also where there is no such twin."""
    change = _case(corrector, source, target, span)
    twin = change and _twin(corrector, source, target, change, how, other)
    return patch_map(corrector, source, target, change, twin, part, of) if change and twin else None


@question("circuit", STREAM, is_long=True, in_numpy=True)
def _circuit(corrector: Network, source: str, target: str, span: Span, percent: int, instead: str):
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
def _circuit_edges(corrector: Network, source: str, target: str, span: Span, percent: int, instead: str):
    """(circuit, its edges), asked as ``circuit``."""
    circuit = _circuit(corrector, source, target, span, percent, instead)
    if circuit is None:
        return None
    change = change_at(corrector, source, target, span)
    stand_ins = _stand_ins(corrector, source, target, change, instead)
    return circuit, circuit_edges(corrector, source, target, circuit, stand_ins)


def _stand_ins(corrector: Network, source: str, target: str, change: Change, how: str) -> StandIns:
    network, tokenizer = corrector.patched, corrector.tokenizer
    twin = _twin(corrector, source, target, change, "changed") if how == "twin" else None
    return twin_values(network, tokenizer, twin) if twin else means_for(corrector, source, target)


@question("why_looked", STREAM, is_long=True, in_numpy=True)
def _why_looked(
    corrector: Network, source: str, target: str, head: tuple[str, int, int], query: int, key: int
):
    """What one attention weight's query and key were made of."""
    return why_looked(corrector, source, target, Head(*head), query, key)


@question("explained", INSIDE, is_long=True, in_numpy=True)
def _explained(corrector: Network, source: str, target: str, span: Span):
    """The explanation of the change at ``span``, each claim with its receipt."""
    change = _case(corrector, source, target, span)
    return change and explained(corrector, source, target, change)


@question("grown", is_long=True)
def _grown(corrector: Network, text: str):
    """The answers of all snapshots of the model's folder; none of a network that was not read from one."""
    return growing_network(corrector.folder).answers(text) if corrector.folder else ()


@question("table", is_long=True)
def _table(corrector: AnswersMany, texts: tuple[str, ...]):
    """(corrected text, kinds of its changes) of each text: what a file of many needs, without attention."""
    return tuple((each.text, change_kinds(each)) for each in corrector.correct_batch(texts))


@question("head_roles", INSIDE, is_long=True, in_numpy=True)
def _head_roles(corrector: Network, given: tuple[tuple[str, str | None], ...], first: int):
    """(pairs, how many were left out, sums of roles): some rows of a file; its pairs are numbered from ``first``."""
    pairs, left_out = pairs_of(given, corrector)
    return pairs, left_out, sums_of_roles(corrector, pairs, first) if pairs else Sums()


question("head_losses", INSIDE, is_long=True, in_numpy=True)(sums_of_effects)
