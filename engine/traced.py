"""A ``model.TracedModel``: found by its name, and made to answer as ``model.Corrector`` does. Its library is imported
in the worker alone, where ``load`` is called."""

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from threading import Lock
from types import UnionType
from typing import Any, ClassVar

from engine.errors import OwnModelError
from model.correction.correction import Correction, SentenceCorrection
from model.text.changes import find_rewriting
from model.text.sentences import split_sentences
from model.text.tokenizer import normalise
from model.trace.trace import ATTENTION_KINDS, AttentionTrace, TraceError
from model.trace.traced import InterveningModel, TracedModel

VARIABLE = "ATTENTION_MODEL"
LABORATORY = frozenset(
    ("head_effects", "written_without", "fix_without", "contributions", "replaced")
)  # of an InterveningModel


@dataclass(frozen=True)
class TracedConfig:
    """What pages ask of a network's config, where no more is known than that it is a TracedModel."""

    architecture: ClassVar[str] = "traced"
    has_positions: ClassVar[bool] = False
    max_length: ClassVar[int] = 2_000  # characters; as many as a page takes
    minimum_confidence: ClassVar[float] = 0.0

    abilities: frozenset[str] = frozenset()


class TracedCorrector:
    """Answers for one ``model``, one question at a time: its library may not be safe to use from threads.

    Every change is made, for nobody says how sure the model is of it. Raises OwnModelError for what the model raises
    and for answers that are none; the message holds nothing that was typed.
    """

    minimum_confidence = TracedConfig.minimum_confidence

    def __init__(self, name: str, model: TracedModel):
        self.name, self._model, self._lock = name, model, Lock()
        self.config = TracedConfig(LABORATORY if isinstance(model, InterveningModel) else frozenset())

    def warm_up(self) -> Iterator[float]:
        return iter(())

    def correct_batch(self, texts: Sequence[str]) -> list[Correction]:
        """Each text is cut into sentences, and the model is given one at a time."""
        return [self._correct(normalise(text)) for text in texts]

    def _correct(self, text: str) -> Correction:
        return Correction(text, tuple(self._sentence(a, text[a:b]) for a, b in split_sentences(text)))

    def _sentence(self, start: int, source: str) -> SentenceCorrection:
        target = normalise(self._ask("correct", str, source))
        changes = find_rewriting(source, target)
        return SentenceCorrection(start, source, changes, self.minimum_confidence, False, self.trace)

    def trace(self, source: str, target: str) -> AttentionTrace:
        return self._checked(self._ask("trace", AttentionTrace, source, target))

    def trace_under(self, source: str, target: str, intervention) -> AttentionTrace:
        return self._checked(self._ask("trace_under", AttentionTrace, source, target, intervention))

    def correct_under(self, source: str, intervention) -> str | None:
        return self._ask("correct_under", str | None, source, intervention)

    def _ask(self, method: str, kind: type | UnionType, *arguments):
        with self._lock:
            found = _guarded(f"{self.name}: {method}", partial(getattr(self._model, method), *arguments))
        if not isinstance(found, kind):
            raise OwnModelError(f"{self.name}: {method} returned {type(found).__name__}, not {kind}")
        return found

    def _checked(self, trace: AttentionTrace) -> AttentionTrace:
        try:
            trace.check()
        except TraceError as error:  # the message holds the field's name and numbers alone
            raise OwnModelError(f"{self.name}: trace: {error}") from error
        return trace


def load(name: str) -> TracedCorrector:
    """The model that "package.module:factory" names.

    Raises OwnModelError, which names the value; the terminal gets the traceback, too.
    """
    module, _, factory = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), factory)):
        raise _told(f'{VARIABLE} should be "package.module:factory", received {name!r}')
    try:
        model = getattr(import_module(module), factory)()
    except BaseException as error:  # a script that is no module may end the process
        traceback.print_exc()
        raise _told(f"{VARIABLE}={name}: {type(error).__name__}: {error}") from error
    if not isinstance(model, TracedModel):
        raise _told(
            f"{VARIABLE}={name}: {type(model).__name__} lacks correct or trace (see model/trace/traced.py)"
        )
    return TracedCorrector(name, model)


def _told(message: str) -> OwnModelError:
    print(message, file=sys.stderr, flush=True)
    return OwnModelError(message)


def _guarded(what: str, ask: Callable[[], Any]):
    """What ``ask`` returns. Where it raises, the terminal is told where, but not the message: it may hold the text.
    Of a wrong attention array in a trace, which is told with its shape, the message is passed on.

    Raises OwnModelError for SystemExit, too, which would end the thread that answers.
    """
    try:
        return ask()
    except BaseException as error:  # noqa: BLE001  it is the visitor's model
        told = f"{what} raised {type(error).__name__}"
        if isinstance(error, TraceError) and error.field in ATTENTION_KINDS:
            told += f": {error}"
        where = "".join(traceback.format_tb(error.__traceback__))
        print(f"{told}\n{where}", file=sys.stderr, flush=True)
        raise OwnModelError(told) from None
