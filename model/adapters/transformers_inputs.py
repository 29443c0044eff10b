"""What a model of transformers reads: a text, an image, a sound. How its source tokens are called follows from that.

S source tokens, L layers, H heads, Q query and K key positions.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from model.adapters.transformers_texts import tokens_of

_IMAGES, _SOUNDS = ("pixel_values",), ("input_features", "input_values")


def tensors_of(model: Any, processor: Any, given: Any) -> Any:
    """What the model is called with; ``processor`` is a tokenizer, or what prepares images or sounds.

    Raises ValueError for a text where the model reads an image or a sound, and the other way round.
    """
    if isinstance(given, tuple):
        image, text = given
        return processor(images=image, text=text, return_tensors="pt").to(model.device)
    name = model.main_input_name
    reads_text = name not in (*_IMAGES, *_SOUNDS)
    if isinstance(given, str) != reads_text:
        wanted = "a text" if reads_text else "an image" if name in _IMAGES else "a sound"
        raise ValueError(f"{type(model).__name__} reads {wanted}, received {type(given).__name__}")
    if reads_text:
        read = tokenizer_of(processor)(given, return_tensors="pt")
        if not read["input_ids"].shape[-1]:
            raise ValueError("the text should have at least one token, received none")
        if getattr(model.config, "is_encoder_decoder", False) or not getattr(
            model.config, "type_vocab_size", 0
        ):
            read.pop("token_type_ids", None)  # of no use to these, and refused by most of them
    elif name in _IMAGES:
        read = processor(images=given, return_tensors="pt")
    else:
        read = processor(given, sampling_rate=_preparing(processor).sampling_rate, return_tensors="pt")
    return read.to(model.device)


def tokenizer_of(processor: Any) -> Any:
    """The tokenizer in a processor of images or sounds; a tokenizer itself."""
    return getattr(processor, "tokenizer", processor)


def _preparing(processor: Any) -> Any:
    return getattr(processor, "feature_extractor", processor)


def source_fields(model: Any, processor: Any, given: Any, read: Any, length: int) -> dict[str, Any]:
    """The fields of a trace about ``length`` source tokens, S."""
    name = model.main_input_name
    if name in _IMAGES:
        return _patches(model, read[name], length)
    if name in _SOUNDS:
        return _moments(processor, given, read[name], length)
    return text_fields(tokenizer_of(processor), read.input_ids[0], "source")


def text_fields(tokenizer: Any, ids: Any, side: str) -> dict[str, Any]:
    """The fields ``<side>_tokens``, ``_text`` and ``_spans``; a token stands where it lengthens what is decoded."""
    ends = [len(tokenizer.decode(ids[:count], skip_special_tokens=True)) for count in range(len(ids) + 1)]
    # The first bytes of a character are decoded as replacement characters, which disappear when the others follow.
    ends = np.minimum.accumulate(ends[::-1])[::-1].tolist()
    return {
        f"{side}_tokens": tokens_of(tokenizer, ids),
        f"{side}_text": tokenizer.decode(ids, skip_special_tokens=True),
        f"{side}_spans": tuple(pairwise(ends)),
    }


def _patches(model: Any, pixels: Any, length: int) -> dict[str, Any]:
    """Patches are called by their row and column; what stands before them has no place in the image."""
    config = getattr(model.config, "encoder", None) or model.config
    size = getattr(config, "patch_size", 0)
    high, wide = size if isinstance(size, list | tuple) else (size, size)
    rows, columns = (pixels.shape[-2] // high, pixels.shape[-1] // wide) if size else (0, 0)
    before = length - rows * columns
    if not size or before < 0:
        return {"source_tokens": tuple(str(place + 1) for place in range(length))}
    marks = ("[CLS]", *(f"[{place + 1}]" for place in range(1, before)))[:before]
    named = tuple(f"{row + 1},{column + 1}" for row in range(rows) for column in range(columns))
    return {"source_tokens": (*marks, *named), "source_grid": (rows, columns)}


def patches_read(model: Any, ids: Any, tokens: tuple[str, ...]) -> dict[str, Any]:
    """The fields about what a decoder read, ``ids`` (T,), called ``tokens``.

    The patches of an image stand one behind the other in place of one token each. They are called by their row and column if the image
    is as wide as the model says.
    """
    marked = getattr(model.config, "image_token_id", None)
    places = [] if marked is None else np.flatnonzero(np.asarray(ids.cpu()) == marked).tolist()
    side = math.isqrt(len(places))
    if not places or side * side != len(places) or places[-1] - places[0] != len(places) - 1:
        return {"decoder_input_tokens": tokens}
    named = tuple(f"{row + 1},{column + 1}" for row in range(side) for column in range(side))
    first = places[0]
    return {
        "decoder_input_tokens": (*tokens[:first], *named, *tokens[first + len(places) :]),
        "read_grid": (first, side, side),
    }


def _moments(processor: Any, sound: Any, features: Any, length: int) -> dict[str, Any]:
    """Tokens are called by the second at which they begin; those behind the end of the sound are padding."""
    prepared = _preparing(processor)
    hop = getattr(prepared, "hop_length", 1)  # samples for each column of a spectrogram
    each = features.shape[-1] * hop / prepared.sampling_rate / length
    starts = [place * each for place in range(length)]
    end = np.shape(sound)[-1] / prepared.sampling_rate
    return {
        "source_tokens": tuple(f"{start:.2f}s" for start in starts),
        "source_padding": tuple(start >= end for start in starts),
    }


def grouped(
    fields: dict[str, Any], attention: dict[str, Any], most: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Source tokens put together, so that at most ``most`` are left: a sound has 50 in each second.

    A group looks at what its tokens look at on average, and gets all that they get, so that rows still sum to 1.

    >>> weights = {"cross_attention": np.full((1, 1, 2, 4), 0.25)}
    >>> grouped({"source_tokens": tuple("abcd")}, weights, 2)[1]["cross_attention"].tolist()
    [[[[0.5, 0.5], [0.5, 0.5]]]]
    """
    length = len(fields["source_tokens"])
    starts = np.arange(0, length, -(-length // most))
    if len(starts) == length:
        return fields, attention
    sizes = np.diff([*starts, length])
    found = {}
    for kind, weights in attention.items():
        if kind != "decoder_attention":
            weights = np.add.reduceat(weights, starts, axis=-1)
        if kind == "encoder_attention":
            weights = np.add.reduceat(weights, starts, axis=-2) / sizes[:, None]
        found[kind] = weights.astype(np.float32)
    return {name: tuple(each[start] for start in starts) for name, each in fields.items()}, found
