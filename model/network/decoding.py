"""Step-by-step decoding, greedy or with beams. It calls ``step(tokens, index, cache)`` and knows nothing of layers.

The app uses ``model/activations/drafting.py`` instead, which finds the same text faster; this is the reference for it. Beam search is
used by ``Corrector.load(…, beam_width=4)`` and ``--beam-width 4``, but not by the app, because it is many times slower.

B sentences, W beams of each, T produced tokens at most, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

from model.text.tokenizer import END_ID, PAD_ID, START_ID

IMPOSSIBLE = -1e9  # the log-probability of what must not be chosen; finite, so that sums of it stay numbers


class DecodingState(NamedTuple):
    """Where the search stands, with R rows: B of greedy search, B·W of beam search."""

    index: Any  # () int32, how many tokens have been produced
    last: Any  # (R,) int32, the token to consume next
    tokens: Any  # (R, T) int32, what was produced, padding after the end mark
    finished: Any  # (R,) bool
    cache: Any  # whatever ``step`` keeps
    scores: Any  # (R,) float32, the log-probability of ``tokens``; greedy search needs none and has zeros


def greedy(step, cache, batch, max_tokens: int):
    """The most probable token at each position, until every sentence has its end mark.

    Args:
        step: ``(tokens (B,), index (), cache) -> (logits (B, V), cache)``.
        cache: the state ``step`` starts from; batch: B; max_tokens: T.

    Returns:
        (B, T) int32 produced tokens; after the end mark there is only padding.
    """

    def body(*loop):
        state = DecodingState(*loop)
        logits, cache = step(state.last, state.index, state.cache)
        token = ops.cast(ops.argmax(logits, axis=-1), "int32")
        return _extend(state, ops.where(state.finished, PAD_ID, token), cache, state.scores)

    def unfinished(*loop):
        state = DecodingState(*loop)
        return ops.logical_and(state.index < max_tokens, ops.logical_not(ops.all(state.finished)))

    return _search(body, unfinished, _start(cache, batch, max_tokens)).tokens


def beam_search(step, cache, batch, max_tokens: int, width: int):
    """The most probable of the sentences that ``width`` beams find (Sutskever et al. 2014, section 3.2).

    At each position the W most probable beginnings of each sentence are kept. A sentence is done when the first
    of its beams is: no other can become more probable, since a longer one only loses probability. Nothing is
    normalised by length: corrections of one sentence are about equally long.

    Args:
        step: ``(tokens (B·W,), index (), cache) -> (logits (B·W, V), cache)``; the beams of a sentence are
            neighbouring rows, in ``cache`` as well, whose arrays all begin with the axis of the rows.
        cache: the state ``step`` starts from; batch: B; max_tokens: T; width: W, at most V.

    Returns:
        (B, T) int32 as ``greedy`` does, and the log-probabilities (B,) of these tokens.
    """

    first_rows = width * ops.arange(batch)  # of each sentence

    def body(*loop):
        state = DecodingState(*loop)
        logits, cache = step(state.last, state.index, state.cache)
        vocabulary = logits.shape[-1]
        # A finished beam continues with padding, which costs no probability.
        ended = IMPOSSIBLE * (1 - ops.one_hot(PAD_ID, vocabulary))[None]
        logs = ops.where(state.finished[:, None], ended, ops.log_softmax(logits, axis=-1))
        total = ops.reshape(state.scores[:, None] + logs, (batch, width * vocabulary))
        scores, chosen = ops.top_k(total, width)  # (B, W · V) -> (B, W), the best first
        chosen = ops.cast(chosen, "int32")
        parent = first_rows[:, None] + chosen // vocabulary  # the row each one goes on from
        parent, token = ops.reshape(parent, (-1,)), ops.reshape(chosen % vocabulary, (-1,))
        state = state._replace(
            tokens=ops.take(state.tokens, parent, axis=0), finished=ops.take(state.finished, parent)
        )
        cache = keras.tree.map_structure(lambda rows: ops.take(rows, parent, axis=0), cache)
        return _extend(state, token, cache, ops.reshape(scores, (-1,)))

    def unfinished(*loop):
        state = DecodingState(*loop)
        done = ops.all(ops.take(state.finished, first_rows))
        return ops.logical_and(state.index < max_tokens, ops.logical_not(done))

    start = _start(cache, batch * width, max_tokens)
    # All beams of a sentence begin alike: only the first may go on, or they would stay alike.
    first = ops.equal(ops.arange(batch * width) % width, 0)
    found = _search(body, unfinished, start._replace(scores=ops.where(first, 0.0, IMPOSSIBLE)))
    return ops.take(found.tokens, first_rows, axis=0), ops.take(found.scores, first_rows)


def _start(cache, rows, max_tokens: int) -> DecodingState:
    return DecodingState(
        index=ops.convert_to_tensor(0, "int32"),
        last=ops.full((rows,), START_ID, "int32"),
        tokens=ops.full((rows, max_tokens), PAD_ID, "int32"),
        finished=ops.zeros((rows,), "bool"),
        cache=cache,
        scores=ops.zeros((rows,), "float32"),
    )


def _extend(state: DecodingState, token, cache, scores) -> DecodingState:
    tokens = ops.slice_update(state.tokens, (0, state.index), token[:, None])
    finished = ops.logical_or(state.finished, ops.equal(token, END_ID))
    return DecodingState(state.index + 1, token, tokens, finished, cache, scores)


def _search(body, unfinished, start: DecodingState) -> DecodingState:
    return DecodingState(*ops.while_loop(unfinished, body, tuple(start)))
