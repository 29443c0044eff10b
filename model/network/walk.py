"""``walk``: the one function that goes through a stack of blocks. Every pass uses it.

Encoding, decoding, step-by-step decoding, projections, interventions and gradients are all this walk with other arguments. ``taps``
names what it shall hand out (``model/trace/taps.py`` lists the names and shapes). ``altered`` holds what an intervention changes.
No layer stores anything. A pass without taps and without interventions compiles to a graph that has neither. In step-by-step
decoding self-attention looks at the cache, and its keys and values become the next cache.

To add a tap: one line in ``TAPS``, and one ``found.add`` or ``found.put`` where it is computed, here and in ``model/plain`` (``walk.py``, ``halves.py``, ``patched_rows.py``).

B batch, Q query and K key positions, D d_model, H heads.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from model.network.attention import altered_attention, look_ahead_mask
from model.network.blocks import Block
from model.plain.alterations import AlteredAttention
from model.trace.taps import Found


def own_keys_values(attention, entered, _layer: int):
    """Self-attention: the rows that ask are the rows that are looked at."""
    return attention.keys_values(entered)


class Scope(NamedTuple):
    """What the queries of one kind of attention may look at."""

    mask: Any  # broadcastable to (B, H, Q, K) bool, True where a query may look
    # (attention, its input (B, Q, D), number of the layer) -> keys and values (B, H, K, D/H)
    keys_values: Callable = own_keys_values


def decoder_scopes(length, states, mask) -> dict[str, Scope]:
    """The scopes for a whole target of ``length`` tokens: each token sees itself, the tokens before it, and the real source tokens.

    Of the source the encoder left ``states`` (B, S, D) and ``mask`` (B, 1, 1, S).
    """
    return {
        "decoder_attention": Scope(look_ahead_mask(length)),
        "cross_attention": Scope(mask, lambda attention, *_: attention.keys_values(states)),
    }


def walk(
    blocks: Sequence[Block],
    x,
    scopes: Mapping[str, Scope],
    found: Found,
    training: bool = False,
    altered: Mapping[str, AlteredAttention] | None = None,
):
    """Send the residual stream x (B, Q, D) through all ``blocks`` -> (B, Q, D). ``found`` collects the taps on the way.

    ``scopes``: one for each kind of attention of a block, in their order. ``altered``: what an intervention makes of some kinds,
    stacked over these blocks.
    """
    side = "encoder" if "encoder_attention" in scopes else "decoder"

    def through(x, around, sublayer):
        output = sublayer(around.enter(x))
        x = around.leave(x, output, training)
        found.add(side, output=output, residual=x)
        return x

    found.add(side, residual=x)
    for layer, block in enumerate(blocks):
        for kind, scope in scopes.items():
            changed = (altered or {}).get(kind, AlteredAttention()).layer(layer)
            attend = partial(_attend, block.attentions[kind], kind, layer, scope, changed, found)
            x = through(x, block.arounds[kind], attend)
        x = through(x, block.around_feed_forward, block.feed_forward)
    return x


def _attend(attention, kind: str, layer: int, scope: Scope, altered: AlteredAttention, found: Found, entered):
    """The output (B, Q, D) of one attention for its input (B, Q, D)."""
    query = attention.queries(entered)
    key, value = scope.keys_values(attention, entered, layer)
    heads, weights = altered_attention(query, key, value, scope.mask, altered)
    found.add(kind, attention=weights, query=query, key=key, value=value, heads=heads)
    return attention.join(heads)
