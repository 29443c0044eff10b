"""Adapter from a user's own model (``model.TracedModel``) to the engine's corrector.

``ATTENTION_MODEL=package.module:factory`` names it. Only the worker imports it, when it calls ``load``. A
cache key has LIVE in place of the fingerprint. If the model raises an error, its developer reads all of it on
the screen of the terminal. The page, and a log in place of a screen, get the error without its message, which
may hold typed text.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from threading import Lock
from types import UnionType
from typing import Any

import numpy as np

from engine.records import LIVE, MODEL_VARIABLE, OwnModelError
from model.adapters.own_network import OwnNetwork, RewritingNetwork
from model.stored.config import INTERVENTIONS, TracedConfig
from model.trace.interventions import NO_ID, Contrast, Head, Intervention, LogitDifferences
from model.trace.strict_npz import TraceError
from model.trace.trace import (
    ATTENTION_KINDS,
    AttentionTrace,
    InterveningModel,
    TracedModel,
    described,
)


class TracedCorrector(RewritingNetwork):
    """Answers for one ``model``, one question at a time, because its library may not be safe to use from
    threads.

    Raises OwnModelError for an error of the model and for answers that are not valid; the message contains
    nothing that was typed.
    """

    fingerprint = LIVE

    def __init__(self, name: str, model: TracedModel):
        self.name, self._model, self._lock = name, model, Lock()
        abilities = frozenset([INTERVENTIONS] if isinstance(model, InterveningModel) else [])
        self.config = TracedConfig(abilities, described(model))

    def rewritten(self, source: str) -> str:
        return self._ask("correct", str, source)

    def trace(self, source: str, target: str) -> AttentionTrace:
        return self._checked(self._ask("trace", AttentionTrace, source, target))

    def contrast(self, source: str, target: str, other: str) -> Contrast:
        """From the labels of two traces.

        Raises OwnModelError where they are the same, such as <unk> for both.
        """
        tokens = (self.trace(source, each).target_tokens for each in (target, other))
        for row, (one, instead) in enumerate(zip(*tokens, strict=False)):
            if one != instead:
                return Contrast(row, NO_ID, NO_ID, one, instead, other)
        raise OwnModelError(f"{self.name}: trace: target_tokens are the same with and without the change")

    def logit_differences(
        self, source: str, target: str, contrast: Contrast, interventions: Sequence[Intervention]
    ) -> LogitDifferences:
        """Two passes for each intervention: one over ``target``, and one over ``contrast.other``."""
        texts = target, contrast.other or target
        logs = [[self._log(source, text, contrast.row, each) for each in interventions] for text in texts]
        return LogitDifferences(*np.array(logs, np.float32))

    def written_under(self, source: str, interventions: Sequence[Intervention]) -> list[str | None]:
        return [self._ask("correct_under", str | None, source, each) for each in interventions]

    def attention_under(
        self, source: str, target: str, head: Head, interventions: Sequence[Intervention]
    ) -> np.ndarray:
        traces = (self._trace_under(source, target, each) for each in interventions)
        return np.stack([each.attention(head.kind)[head.layer, head.head] for each in traces])

    def _log(self, source: str, target: str, row: int, intervention: Intervention) -> float:
        trace = self._trace_under(source, target, intervention)
        if trace.log_probabilities is None:
            raise OwnModelError(f"{self.name}: trace_under should return log_probabilities")
        return float(trace.log_probabilities[row])

    def _trace_under(self, source: str, target: str, intervention: Intervention) -> AttentionTrace:
        trace = self._ask("trace_under", AttentionTrace, source, target, intervention)
        return self._checked(trace, emptied=True)

    def _ask(self, method: str, kind: type | UnionType, *arguments: Any) -> Any:
        with self._lock:
            found = _guarded(f"{self.name}: {method}", partial(getattr(self._model, method), *arguments))
        if not isinstance(found, kind):
            wanted = kind.__name__ if isinstance(kind, type) else kind
            raise OwnModelError(f"{self.name}: {method} returned {type(found).__name__}, not {wanted}")
        return found

    def _checked(self, trace: AttentionTrace, emptied: bool = False) -> AttentionTrace:
        try:
            trace.check(emptied)
        except TraceError as error:  # the message holds the field's name and numbers alone
            raise OwnModelError(f"{self.name}: trace: {error}") from error
        return trace


class TracedNetwork:
    """Answers for the result of ``laboratory_of``, which has the members of a corrector.

    Its errors are reported as by ``TracedCorrector``.
    """

    fingerprint = LIVE

    def __init__(self, name: str, network: OwnNetwork):
        self.name, self._network = name, network

    def __getattr__(self, member: str) -> Any:
        found = getattr(self._network, member)
        if not callable(found):
            return found
        return lambda *arguments, **named: _guarded(
            f"{self.name}: {member}", partial(found, *arguments, **named)
        )


def load(name: str) -> "TracedCorrector | TracedNetwork":
    """The model that "package.module:factory" names: a ``TracedModel``, or the result of ``laboratory_of``.

    Raises OwnModelError, which names the value; the terminal gets the traceback, too.
    """
    module, _, factory = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), factory)):
        raise _reported(f'{MODEL_VARIABLE} should be "package.module:factory", received {name!r}')
    try:
        model = getattr(import_module(module), factory)()
    except BaseException as error:  # a script that is no module may end the process
        traceback.print_exc()
        raise _reported(f"{MODEL_VARIABLE}={name}: {type(error).__name__}: {error}") from error
    plain = AttentionTrace.__module__.removeprefix("see_attention.")
    if others := {plain, f"see_attention.{plain}"} & sys.modules.keys() - {AttentionTrace.__module__}:
        raise _reported(
            f"{MODEL_VARIABLE}={name}: it imports {others.pop()}, "
            f"but the app runs {AttentionTrace.__module__}. "
            "Start `see-attention app` for a module that imports see_attention, "
            "`streamlit run app.py` for one that imports model"
        )
    if isinstance(model, OwnNetwork):
        if model.why_no_stream:
            print(f"{MODEL_VARIABLE}={name}: {model.why_no_stream}", file=sys.stderr, flush=True)
        return TracedNetwork(name, model)
    if not isinstance(model, TracedModel):
        raise _reported(
            f"{MODEL_VARIABLE}={name}: {type(model).__name__} lacks correct or trace "
            "(see model/trace/trace.py)"
        )
    try:
        return TracedCorrector(name, model)
    except ValueError as error:
        raise _reported(f"{MODEL_VARIABLE}={name}: {error}") from error


def _reported(message: str) -> OwnModelError:
    print(message, file=sys.stderr, flush=True)
    return OwnModelError(message)


def _guarded(what: str, ask: Callable[[], Any]) -> Any:
    """The result of ``ask``.

    If it raises, a screen shows the whole error; a log gets the place, but not the message, which may hold
    the text. Only the message about a wrong attention array in a trace is passed on; it names the array's
    shape.

    Raises OwnModelError for SystemExit, too, which would end the thread that answers.
    """
    try:
        return ask()
    except BaseException as error:  # noqa: BLE001  it is the visitor's model
        told = f"{what} raised {type(error).__name__}"
        if isinstance(error, TraceError) and error.field in ATTENTION_KINDS:
            told += f": {error}"
        is_screen = sys.stderr.isatty()
        told_here = (
            traceback.format_exception(error) if is_screen else traceback.format_tb(error.__traceback__)
        )
        print(told, "".join(told_here), sep="\n", file=sys.stderr, flush=True)
        raise OwnModelError(told) from None
