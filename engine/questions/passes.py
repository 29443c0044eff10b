"""What a model says of a text, of itself and of one pass."""

import numpy as np

from engine.answers import PackedCorrection, pack
from engine.questions.declared import CORRECT, MB, question
from model.correction.answers import Answers, Network
from model.correction.corrector import growing_network
from model.stored.config import PROJECTIONS, TAPPED
from model.trace.interventions import Head, Intervention, OutputWeights, Projections
from model.trace.trace import AttentionTrace, Described, Grown


@question(CORRECT, kept=(256, 64 * MB))
def _correct(corrector: Answers, text: str) -> PackedCorrection:
    return pack(corrector.correct(text))


@question("abilities")
def _abilities(corrector: Answers) -> frozenset[str]:
    return corrector.config.abilities


@question("described")
def _described(corrector: Answers) -> Described | None:
    """What a user's own model says of itself; None for the others."""
    return getattr(corrector.config, "described", None)


@question("no_stream")
def _no_stream(corrector: Answers) -> str:
    """What a network of a user's own lacks for a residual stream, one of ``model.adapters.own_stream.NO_STREAM``; empty where it has one,
    and for the others."""
    return getattr(corrector.config, "no_stream", "")


@question("trace", kept=(64, 64 * MB))
def _trace(corrector: Answers, source: str, target: str) -> AttentionTrace:
    return corrector.trace(source, target)


@question("projections", PROJECTIONS, kept=(16, 64 * MB), in_numpy=True)
def _projections(corrector: Network, source: str, target: str, padding: int) -> dict[str, Projections]:
    return corrector.projections(source, target, padding)


@question("embeddings")
def _embeddings(corrector: Network, text: str) -> np.ndarray:
    return corrector.embeddings(text)


@question("weight_sizes")
def _weight_sizes(corrector: Network) -> dict[str, int]:
    return corrector.weight_sizes()


@question("num_parameters")
def _num_parameters(corrector: Network) -> int:
    return corrector.num_parameters


@question("taps", TAPPED, is_long=True, in_numpy=True)
def _taps(
    corrector: Network, source: str, target: str, names: tuple[str, ...], off: tuple[tuple, ...] = ()
) -> dict[str, np.ndarray]:
    """What the pass hands out under ``names``, without the heads that are ``off``."""
    changed = Intervention(off=frozenset(Head(*head) for head in off)) if off else None
    return corrector.taps(source, target, names, changed)


@question("output_weights", TAPPED, is_long=True, in_numpy=True)
def _output_weights(corrector: Network) -> OutputWeights:
    return corrector.output_weights()


@question("grown", is_long=True)
def _grown(corrector: Network, text: str) -> tuple[Grown, ...]:
    """The answers of all snapshots of the model's folder; none of a network that was not read from one."""
    return growing_network(corrector.folder).answers(text) if corrector.folder else ()
