"""What a pass of a model of transformers returned: its attention as whole maps, and what each row might have produced.

L layers, H heads, Q query and K key positions, T target tokens, V vocabulary, A alternatives.
"""

from typing import Any

import numpy as np

from model.adapters.transformers_texts import tokens_of
from model.adapters.windows import spread
from model.trace.strict_npz import TraceError

_ALTERNATIVES = 5
_IN_PIECES = (
    "A layer that attends in blocks, or in windows of an image, has no map of all tokens. Take layers that see everything, "
    "such as attention_type='original_full' of BigBird, or put its blocks together yourself and give them to AttentionTrace"
)


def has_sinks(model: Any) -> bool:
    """Whether its softmax has one more score for no token, as gpt-oss (Agarwal et al. 2025)."""
    return any(name.rpartition(".")[2] == "sinks" for name, _ in model.named_parameters())


def seen_by_all(out: Any, read: Any, side: str = "") -> list[int]:
    """The places of the tokens that see all others, and are seen by all. A model that chose them itself takes the first ones."""
    of_all = getattr(out, f"{side}global_attentions", None)
    if not of_all:
        return []
    asked = read.get("global_attention_mask")
    return list(range(of_all[0].shape[-1])) if asked is None else np.flatnonzero(asked[0].cpu()).tolist()


def whole_maps(out: Any, read: Any, side: str = "") -> Any:
    """The attention of a pass, ``side`` naming that of an encoder; where it was computed within windows, as whole maps."""
    import torch

    layers, of_all = getattr(out, f"{side}attentions"), getattr(out, f"{side}global_attentions", None)
    if not layers or not hasattr(out, f"{side}global_attentions"):
        return layers
    places = seen_by_all(out, read, side)
    whole = [each[0].float().cpu().numpy() for each in of_all] if of_all else [None] * len(layers)
    pairs = zip(layers, whole, strict=True)
    return [torch.from_numpy(spread(one[0].float().cpu().numpy(), all_, places))[None] for one, all_ in pairs]


def given_attention(attentions: Any, kind: str) -> np.ndarray:
    """L tensors (1, H, Q, K) -> (L, H, Q, K); raises TraceError where a model kept its attention to itself."""
    if not attentions or any(each is None for each in attentions):
        advice = "Its layers have an attention that returns no weights even where it is computed eagerly"
        raise TraceError(kind, "be returned by the model", "none", advice)
    shapes = [tuple(getattr(each, "shape", ())) for each in attentions]
    if len(shapes[0]) == 4 and shapes[0][0] > 1:
        found = f"a batch of {shapes[0][0]}"
        raise TraceError(
            kind, "be of one text, one image or one sound of one channel", found, "Give one of them"
        )
    for layer, shape in enumerate(shapes):
        if len(shape) != 4 or shape[0] != 1 or shape != shapes[0]:
            found = f"{shape or type(attentions[layer]).__name__} in layer {layer}, {shapes[0]} in layer 0"
            raise TraceError(kind, "have layers of one shape (1, H, Q, K)", found, _IN_PIECES)
    return np.concatenate([each.float().cpu().numpy() for each in attentions])


def probabilities(tokenizer: Any, logits: Any, ids: Any) -> dict[str, Any]:
    """The fields about what each row might have produced. ``logits`` (T, V), ``ids`` (T,)."""
    logs = logits.float().log_softmax(-1)
    likeliest = logs.topk(min(_ALTERNATIVES, logs.shape[-1]))  # (T, A)
    return {
        "log_probabilities": logs.gather(-1, ids[:, None])[:, 0],
        "alternatives": tuple(tokens_of(tokenizer, row) for row in likeliest.indices),
        "alternative_probabilities": likeliest.values.exp(),
    }
