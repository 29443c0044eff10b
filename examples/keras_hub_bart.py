"""Traces of KerasHub's encoder-decoder, BART.

KerasHub 0.32 computes its attention scores, but neither its decoder layers nor its models return them. So every attention
layer is asked for them during one pass. Which tokens were written, ``Seq2SeqLM.generate`` says.
"""

from collections.abc import Callable, Sequence
from unittest.mock import patch

import keras
import numpy as np

from model import AttentionTrace

ATTENTION = keras.layers.MultiHeadAttention


def trace_bart(
    backbone, source: Sequence[int], target: Sequence[int], token: Callable[[int], str]
) -> AttentionTrace:
    """One pass of a ``keras_hub.models.BartBackbone`` over S ids of ``source`` and 1 + T of ``target``, whose first one is
    the start mark. ``token`` names an id, as ``tokenizer.id_to_token`` does."""
    plain, seen = ATTENTION._compute_attention, []

    def listening(self, query, key, value, attention_mask=None, training=None, return_attention_scores=False):
        output, scores = plain(
            self, query, key, value, attention_mask, training, return_attention_scores=True
        )
        seen.append(keras.ops.convert_to_numpy(scores))  # (1, H, Q, K)
        return output, scores

    ids = {"encoder": np.array([source]), "decoder": np.array([target[:-1]])}
    inputs = {f"{side}_token_ids": each for side, each in ids.items()}
    inputs |= {f"{side}_padding_mask": np.ones_like(each) for side, each in ids.items()}
    with patch.object(ATTENTION, "_compute_attention", listening):
        out = backbone(inputs, training=False)["decoder_sequence_output"]
    logs = keras.ops.log_softmax(backbone.token_embedding(out, reverse=True)[0])  # (T, V)
    encoder, decoder = seen[: backbone.num_layers], seen[backbone.num_layers :]
    return AttentionTrace(
        source_tokens=tuple(map(token, source)),
        target_tokens=tuple(map(token, target[1:])),
        decoder_input_tokens=tuple(map(token, target[:-1])),
        encoder_attention=np.concatenate(encoder),
        decoder_attention=np.concatenate(decoder[::2]),
        cross_attention=np.concatenate(decoder[1::2]),
        log_probabilities=keras.ops.convert_to_numpy(logs)[range(len(target) - 1), target[1:]],
    )
