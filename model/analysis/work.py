"""How many multiplications a network needs for one sentence, computed from its config.

L layers, H heads, S source and T target tokens (marks included), D d_model, F feed-forward width, V vocabulary.
"""

from model.stored.config import NetworkConfig, TransformerConfig

MIXING = "mixing"  # query times key, and weight times value: what grows with the square of a sentence


def attention_weights(config: NetworkConfig, source: int, target: int) -> dict[str, int]:
    """How many weights one pass has, by kind of attention: L * H * Q * K, the masked ones included."""
    maps = config.attention_layers * config.num_heads
    sizes = {
        "encoder_attention": source * source,
        "decoder_attention": target * target,
        "cross_attention": target * source,
    }
    return {kind: maps * sizes[kind] for kind in config.attention_kinds}


def multiplications(config: NetworkConfig, source: int, target: int) -> dict[str, int]:
    """Multiplications of numbers in one pass, by purpose: ``attention`` (its four projections), MIXING,
    ``feed_forward`` or ``recurrence``, ``output``.

    Only matrix products count; normalisation, softmax and the embedding's sums are small beside them.
    """
    if isinstance(config, TransformerConfig):
        return _transformer(config, source, target)
    return _recurrent(config, source, target)


def _transformer(config: TransformerConfig, s: int, t: int) -> dict[str, int]:
    d, layers = config.d_model, config.num_layers
    # Encoder, decoder: query, key, value and output of each token. Between them: query and output of the
    # target's tokens, key and value of the source's.
    projections = 4 * s + 4 * t + 2 * t + 2 * s
    return {
        "attention": layers * projections * d * d,
        MIXING: layers * 2 * (s * s + t * t + t * s) * d,
        "feed_forward": layers * 2 * (s + t) * d * config.dff,
        "output": t * d * config.vocab_size,
    }


def _recurrent(config: NetworkConfig, s: int, t: int) -> dict[str, int]:
    d, layers = config.d_model, config.num_layers
    one_way = 3 * (d * (d // 2) + (d // 2) ** 2)  # three gates, each of an input and of the state before
    return {
        "attention": (t + 2 * s) * d * d,
        MIXING: 2 * t * s * d,
        "recurrence": layers * (2 * s * one_way + d * d + t * 6 * d * d),
        "output": t * 2 * d * d
        + t * d * config.vocab_size,  # joining what was found to the state, then words
    }
