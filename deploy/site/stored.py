"""The answer to the first example, so that a visitor sees heads before the network has come."""

from dataclasses import replace
from typing import Any

from model import Change, Corrector, SentenceCorrection
from model.stored.config import TransformerConfig
from model.trace.trace import AttentionTrace
from viz.browser.explore_data import UNIT, packed_weights


def light_corrector(model: str) -> Corrector:
    """The corrector as the browser has it, without the morphological analyser.

    Raises ModelFolderError for a folder that holds no model, ValueError for one without a graph of a Transformer or without trees.
    """
    corrector = Corrector.load(model)
    if corrector.confidence is None or not isinstance(corrector.config, TransformerConfig):
        raise ValueError(f"the browser has a Transformer whose changes are weighed, received {model!r}")
    corrector.confidence = replace(corrector.confidence, second=None)
    return corrector


def stored_answer(corrector: Corrector, text: str) -> dict[str, Any]:
    """What ``js/worker.js`` answers to a text, with its attention in packed form. The text may have no characters of two UTF-16 units.

    >>> stored_answer(corrector, "밥을 머거요.")["text"]
    '밥을 먹어요.'
    """
    found = corrector.correct(text)
    sentences, first = [], 0
    for sentence in found.sentences:
        sentences.append(_sentence(sentence, first))
        first += len(sentence.proposed)
    place = next((n for n, each in enumerate(found.sentences) if each.changes), 0)
    return {
        "typed": text,
        "source": found.source,
        "text": found.text,
        "place": place,
        "substitutes": {},
        "sentences": sentences,
        "trace": _trace(found.sentences[place].trace),
    }


def _sentence(sentence: SentenceCorrection, first: int) -> dict[str, Any]:
    numbers = {_span(change): number for number, change in enumerate(sentence.proposed, first)}
    written = [[_change(change, numbers) for change in all] for all in (sentence.proposed, sentence.changes)]
    return {
        "start": sentence.start,
        "source": sentence.source,
        "text": sentence.text,
        "proposed": written[0],
        "changes": written[1],
    }


def _span(change: Change) -> tuple[int, int]:
    return change.source_start, change.source_end


def _change(change: Change, numbers: dict[tuple[int, int], int]) -> dict[str, Any]:
    return {
        "number": numbers[_span(change)],
        "sourceStart": change.source_start,
        "sourceEnd": change.source_end,
        "targetStart": change.target_start,
        "targetEnd": change.target_end,
        "wrong": change.wrong,
        "right": change.right,
        "fix": change.fix_probability,
        "keep": change.keep_probability,
        "known": change.known_confidence,
        "insteadOf": change.instead_of,
    }


def _trace(trace: AttentionTrace) -> dict[str, Any]:
    assert trace.log_probabilities is not None and trace.alternative_probabilities is not None
    return {
        "sourceTokens": trace.source_tokens,
        "targetTokens": trace.target_tokens,
        "decoderInputTokens": trace.decoder_input_tokens,
        "logProbabilities": trace.log_probabilities.tolist(),
        "alternatives": trace.alternatives,
        "alternativeProbabilities": trace.alternative_probabilities.tolist(),
        "attention": {
            kind: {
                "weights": packed_weights(trace.attention(kind), UNIT),
                "shape": trace.attention(kind).shape,
            }
            for kind in trace.kinds
        },
    }
