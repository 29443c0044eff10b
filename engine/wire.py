"""Writes questions and answers for their way between machines: JSON and plain arrays, never a pickle.

Reading creates only the types of ``_TYPES``, tuples, dictionaries, numbers, texts and arrays. So a hostile message can hold wrong
data, but cannot run code.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from classroom import classroom as classroom_errors
from classroom.classroom import Poll, Quiz, Results, Shown, State
from engine import errors
from engine.answers import PackedCorrection, PackedSentence
from engine.progress import CLASSROOMS, Progress
from engine.versions import ModelKey
from model.analysis.attention_scores import ScoreAblation, ScoreDecomposition, ScoreTerm
from model.analysis.circuits import Character, Circuit, CircuitEdges, Edge
from model.analysis.claims import Claim, Explanation
from model.analysis.contributions import Contribution
from model.analysis.counterfactuals import AlternativeContinuation, ReplacedAttention
from model.analysis.head_effects import AblatedText, HeadEffects
from model.analysis.patching import ActivationPatching
from model.analysis.residual_stream import JamoLens, LogitAttribution, LogitLens
from model.analysis.statistics import Tally
from model.stored.folder import ModelFolderError, model_name
from model.survey.survey_sums import Sums
from model.text.changes import Change
from model.trace.interventions import Contrast, Head, Node, Normalisation, OutputWeights, Projections
from model.trace.trace import AttentionTrace, Described, Grown

_TYPES: dict[str, type[Any]] = {
    each.__name__: each
    for each in (
        AttentionTrace,
        Change,
        Character,
        Circuit,
        CircuitEdges,
        Contribution,
        LogitLens,
        Described,
        Edge,
        Explanation,
        AlternativeContinuation,
        Grown,
        Head,
        HeadEffects,
        JamoLens,
        ScoreDecomposition,
        ScoreTerm,
        Node,
        Normalisation,
        OutputWeights,
        Poll,
        PackedCorrection,
        PackedSentence,
        ActivationPatching,
        Progress,
        Projections,
        Contrast,
        Quiz,
        Claim,
        ReplacedAttention,
        Results,
        Shown,
        State,
        Sums,
        ScoreAblation,
        Tally,
        AblatedText,
        LogitAttribution,
    )
}
_ERRORS: dict[str, type[Exception]] = {each.__name__: each for each in (ModelFolderError, ValueError)}
_ERRORS |= {
    name: each
    for name, each in (vars(errors) | vars(classroom_errors)).items()
    if isinstance(each, type) and issubclass(each, Exception)
}
CALL = json.dumps(["", None, "", CLASSROOMS])[:-1].encode("ascii")  # how a call of the classrooms begins
_TREE = "tree"  # the name of the JSON in the archive; arrays are named by numbers


class WireError(errors.EngineError):
    """What came over the network is no question, or no answer."""


def write_question(key: ModelKey, kind: str, arguments: tuple) -> bytes:
    """A model is sent by name, because paths hold on one machine only. A call of the classrooms names no model."""
    asked = [model_name(Path(key.path)) if key.path else "", key.snapshot, key.fingerprint, kind, arguments]
    return json.dumps(asked).encode("ascii")


def read_question(data: bytes, models: dict[str, Path]) -> tuple[ModelKey, str, tuple]:
    """(key, kind, arguments) of what ``write_question`` wrote. ``models`` are those that may be asked for, by name.

    Raises ModelFolderError for another model, WireError for anything that is no question.
    """
    try:
        name, snapshot, fingerprint, kind, arguments = json.loads(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError("this is no question") from error
    right = isinstance(snapshot, int | None) and isinstance(arguments, list)
    if not right or not all(isinstance(each, str) for each in (name, fingerprint, kind)):
        raise WireError("this is no question")
    if name not in models:
        raise ModelFolderError(f"the engine knows the models {sorted(models)}, asked for another one")
    return ModelKey(str(models[name]), snapshot, fingerprint), kind, _tuples(arguments)


def read_call(data: bytes) -> tuple | None:
    """The arguments of a call of the classrooms, if ``data`` is one that ``write_question`` wrote; else None.

    Raises WireError for what only begins like one.
    """
    if not data.startswith(CALL):
        return None
    try:
        *_, arguments = json.loads(data)
        return tuple(map(_tuples, arguments))
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError("this is no call") from error


def write_answer(answer: Any) -> bytes:
    """Raises TypeError for an answer that holds something else than ``_TYPES`` and what they consist of."""
    arrays: list[np.ndarray] = []
    tree = json.dumps(_flatten(answer, arrays)).encode("ascii")
    file = io.BytesIO()
    named = {str(number): array for number, array in enumerate(arrays)}
    np.savez(file, allow_pickle=False, **named, **{_TREE: np.frombuffer(tree, np.uint8)})
    return file.getvalue()


def read_answer(data: bytes) -> Any:
    """What ``write_answer`` was given. Raises WireError for anything else."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise WireError("an answer should not be compressed")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _build(json.loads(arrays.pop(_TREE).tobytes()), arrays)
    except WireError:
        raise
    except Exception as error:  # a dozen kinds, depending on which byte is wrong
        raise WireError(f"this is no answer: {type(error).__name__}") from error


def write_error(error: Exception) -> bytes:
    """The error's name and message. Of an unexpected error only the name, because the message may hold a visitor's text."""
    name, message = type(error).__name__, str(error)
    if name not in _ERRORS:
        name, message = errors.EngineError.__name__, f"{name} in the engine"
    return json.dumps([name, message]).encode("ascii")


def read_error(data: bytes) -> Exception:
    """What ``write_error`` was given, to be raised. A WireError for anything else."""
    try:
        name, message = json.loads(data)
        return _ERRORS[name](str(message))
    except (ValueError, TypeError, KeyError, RecursionError):
        return WireError("this is no error of an engine")


def _flatten(value: Any, arrays: list[np.ndarray]) -> Any:
    """``value`` for JSON: what JSON does not have becomes an object with the type's name as its only key."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.generic():
            return value.item()
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case frozenset():
            return {"frozenset": [_flatten(each, arrays) for each in value]}
        case dict():
            return {
                "dict": [[_flatten(name, arrays), _flatten(each, arrays)] for name, each in value.items()]
            }
    name = type(value).__name__
    if type(value) is not _TYPES.get(name, tuple):
        raise TypeError(f"a {name} does not travel")
    parts: Sequence[Any]
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    else:
        parts = value  # a tuple, named or not
    return {name: [_flatten(each, arrays) for each in parts]}


def _build(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((name, parts),) = tree.items()
    if name == "array":
        return arrays[str(parts)]
    built = [
        tuple(_build(one, arrays) for one in each) if name == "dict" else _build(each, arrays)
        for each in parts
    ]
    match name:
        case "dict":
            return dict(built)
        case "frozenset":
            return frozenset(built)
        case "tuple":
            return tuple(built)
    made = _TYPES[name]
    if not is_dataclass(made):
        return made(*built)
    return made(**dict(zip((field.name for field in fields(made)), built, strict=True)))


def _tuples(value: Any) -> Any:
    """Arguments as they were before JSON made lists of them: they are part of keys."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
