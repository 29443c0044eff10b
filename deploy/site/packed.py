"""Packed data of the static site: ONNX graphs, weights, word counts, the first answer."""

import gzip
import json
import struct
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from model import Change, Corrector, SentenceCorrection
from model.analysis.kinds import reason_of
from model.correction.features import FIRST
from model.export.graphs import graph_of
from model.graph.files import GraphFiles
from model.stored.config import POSITIONS, NetworkConfig, TransformerConfig
from model.stored.folder import (
    CONFIDENCE_FILE,
    NGRAMS_FILE,
    WEIGHTS_FILE,
    WORDS_FILE,
    read_description,
    read_npz,
    read_weights,
)
from model.text.changes import apply_changes
from model.trace.trace import AttentionTrace
from viz.browser.explore_data import UNIT, packed_weights

WEIGHTS_PLACE = "weights.bin"  # where the graphs look for their weights


def packed_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A file of arrays, as ``js/parts.js`` reads it.

    Example:
        >>> len(packed_arrays({"a": np.arange(3, dtype=np.uint16)})) > 6
        True
    """
    head, parts, place = [], [], 0
    for name, array in arrays.items():
        content = np.ascontiguousarray(array).tobytes()
        if array.dtype == np.float16:
            content = np.frombuffer(content, np.uint8).reshape(-1, 2).T.tobytes()
        kind = array.dtype.str.lstrip("<|")
        head.append({"name": name, "type": kind, "shape": array.shape, "start": place})
        parts.append(content)
        place += len(content)
    described = json.dumps(head).encode()
    return b"".join([struct.pack("<I", len(described)), described, *parts])


def graph_parts(config: NetworkConfig) -> tuple[dict[str, bytes], list[dict]]:
    """The graphs by name, and the layout of the one file of float32 weights that they read.

    They take interventions and hand out queries, keys and values. In the app NumPy computes these
    (``model/activations/``).
    """
    files = graph_of(config, opened=True)
    shapes = {name: shape for half in files.weights.values() for name, shape in half.items()}
    layout, place = [], 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        layout.append({"name": name, "shape": shape, "start": place, "bytes": size})
        place += size
    return _placed(files, {str(each["name"]): each for each in layout}), layout


def _placed(files: GraphFiles, layout: Mapping[str, dict]) -> dict[str, bytes]:
    graphs = {}
    for name, content in files.halves.items():
        model = onnx.load_from_string(content)
        for tensor in model.graph.initializer:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                at = layout[tensor.name]
                values = {"location": WEIGHTS_PLACE, "offset": str(at["start"]), "length": str(at["bytes"])}
                del tensor.external_data[:]
                for key, value in values.items():
                    tensor.external_data.add(key=key, value=value)
        graphs[name] = model.SerializeToString(deterministic=True)
    return graphs


def weights(folder: Path) -> bytes:
    """The stored arrays under the names that the graphs know."""
    stored = read_weights(folder / WEIGHTS_FILE)
    return packed_arrays({name.partition("/")[2]: array for name, array in stored.items()})


def weighing(folder: Path) -> dict[str, bytes]:
    """Trees, words and phrases of the confidence. Raises OSError for a missing file."""
    values = json.loads((folder / CONFIDENCE_FILE).read_text("utf-8"))
    trees = {"start": values["start"], "trees": values["trees"], "fields": FIRST}
    return {
        "trees": json.dumps(trees).encode(),
        "words": gzip.decompress((folder / WORDS_FILE).read_bytes()),
        "ngrams": packed_arrays(read_npz(folder / NGRAMS_FILE)),
    }


def parts_of(folder: Path) -> tuple[dict[str, bytes], dict]:
    """The parts that the browser computes with, by name, and the network's description.

    Raises:
        ModelFolderError: a folder without a network.
        ValueError: one that is no Transformer.
    """
    config, tokenizer = read_description(folder)
    graphs, layout = graph_parts(config)
    known = {
        "config": {"architecture": config.architecture, **config.to_dict()},
        "characters": list(tokenizer.characters),
        "layout": layout,
        "positions": POSITIONS,
        "weights_place": WEIGHTS_PLACE,
    }
    return {**graphs, "weights": weights(folder), **weighing(folder)}, known


def light_corrector(model: str) -> Corrector:
    """The corrector as the browser has it, without the morphological analyser.

    Raises:
        ModelFolderError: a folder that holds no model.
        ValueError: one without a graph of a Transformer or without trees.
    """
    corrector = Corrector.load(model)
    if corrector.confidence is None or not isinstance(corrector.config, TransformerConfig):
        raise ValueError(f"the browser has a Transformer whose changes are weighed, received {model!r}")
    corrector.confidence = replace(corrector.confidence, second=None)
    return corrector


def stored_answer(corrector: Corrector, text: str) -> dict[str, Any]:
    """The answer of ``js/worker.js`` to a text, with its attention in packed form. The text may have no
    characters of two UTF-16 units.

    Example:
        >>> stored_answer(corrector, "밥을 머거요.")["text"]
        '밥을 먹어요.'
    """
    found = corrector.correct(text)
    firsts = accumulate((len(each.proposed) for each in found.sentences), initial=0)
    place = next((n for n, each in enumerate(found.sentences) if each.changes), 0)
    return {
        "typed": text,
        "source": found.source,
        "text": found.text,
        "place": place,
        "substitutes": {},
        "sentences": [_sentence(*each) for each in zip(found.sentences, firsts, strict=False)],
        "trace": _trace(found.sentences[place].trace),
    }


def _sentence(sentence: SentenceCorrection, first: int) -> dict[str, Any]:
    numbers = {_span(change): number for number, change in enumerate(sentence.proposed, first)}
    proposed, changes = (
        [_change(change, numbers, sentence.start) for change in all]
        for all in (sentence.proposed, sentence.changes)
    )
    text = apply_changes(sentence.source, sentence.proposed)
    for change, written in zip(sentence.proposed, proposed, strict=True):
        reason = reason_of(change, sentence.source, text)
        article = reason.article and [*reason.article.told("ko"), *reason.article.told("en")]
        written["reason"] = {**_named(reason, "kinds rules is_same_sound"), "article": article}
    return {**_named(sentence, "start source text"), "proposed": proposed, "changes": changes}


def _span(change: Change) -> tuple[int, int]:
    return change.source_start, change.source_end


def _change(change: Change, numbers: dict[tuple[int, int], int], start: int) -> dict[str, Any]:
    places = "source_start source_end target_start target_end"
    known = _named(change, f"{places} wrong right known_confidence instead_of")
    probabilities = {"fix": change.fix_probability, "keep": change.keep_probability}
    place = {"number": numbers[_span(change)], "span": _span(change.moved(start, start))}
    return {**place, **known, **probabilities}


def _named(value: object, names: str) -> dict[str, Any]:
    """Fields of ``value`` as JavaScript names them: ``source_start`` is ``sourceStart``."""
    first = {name: name.title().replace("_", "") for name in names.split()}
    return {name[0] + short[1:]: getattr(value, name) for name, short in first.items()}


def _trace(trace: AttentionTrace) -> dict[str, Any]:
    assert trace.log_probabilities is not None and trace.alternative_probabilities is not None
    return {
        **_named(trace, "source_tokens target_tokens decoder_input_tokens alternatives"),
        "logProbabilities": trace.log_probabilities.tolist(),
        "alternativeProbabilities": trace.alternative_probabilities.tolist(),
        "attention": {
            kind: {"weights": packed_weights(each, UNIT), "shape": each.shape}
            for kind, each in ((kind, trace.attention(kind)) for kind in trace.kinds)
        },
    }
