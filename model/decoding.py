"""The search loop. It knows ``step(tokens, index, cache)`` and nothing of layers."""

from typing import Any, NamedTuple

from keras import ops

from model.tokenizer import END_ID, PAD_ID, START_ID


class DecodingState(NamedTuple):
    """Where the search stands; B sentences, at most T produced tokens each."""

    index: Any  # () int32, how many tokens have been produced
    last: Any  # (B,) int32, the token to consume next
    tokens: Any  # (B, T) int32, what was produced, padding after the end mark
    finished: Any  # (B,) bool
    cache: Any  # whatever ``step`` keeps


def greedy(step, cache, batch, max_tokens: int):
    """The most probable token at each position, until every sentence has its end mark.

    Args:
        step: ``(tokens (B,), index (), cache) -> (logits (B, V), cache)``.
        cache: the state ``step`` starts from; batch: B; max_tokens: T.

    Returns:
        (B, T) int32 produced tokens; after the end mark (or beyond T) there is only padding.
    """

    def body(*loop):
        state = DecodingState(*loop)
        logits, cache = step(state.last, state.index, state.cache)
        token = ops.cast(ops.argmax(logits, axis=-1), "int32")
        token = ops.where(state.finished, PAD_ID, token)
        tokens = ops.slice_update(state.tokens, (0, state.index), token[:, None])
        finished = ops.logical_or(state.finished, ops.equal(token, END_ID))
        return DecodingState(state.index + 1, token, tokens, finished, cache)

    def unfinished(*loop):
        state = DecodingState(*loop)
        return ops.logical_and(state.index < max_tokens, ops.logical_not(ops.all(state.finished)))

    start = DecodingState(
        ops.convert_to_tensor(0, "int32"),
        ops.full((batch,), START_ID, "int32"),
        ops.full((batch, max_tokens), PAD_ID, "int32"),
        ops.zeros((batch,), "bool"),
        cache,
    )
    return DecodingState(*ops.while_loop(unfinished, body, tuple(start))).tokens
