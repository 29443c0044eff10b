"""``Node`` and ``Patch``: the parts of a network that can be replaced, and what is put in their place.

L layers, H heads, Q positions, D d_model.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from model.trace.taps import tap

ATTENTIONS = {"encoder": ("encoder_attention",), "decoder": ("decoder_attention", "cross_attention")}
FEED_FORWARDS = {"encoder": "encoder_feed_forward", "decoder": "decoder_feed_forward"}
SUBLAYERS = {side: (*kinds, FEED_FORWARDS[side]) for side, kinds in ATTENTIONS.items()}
EVERYWHERE = slice(None)


class Node(NamedTuple):
    """A head of attention, or a feed-forward network, which has no ``head``. Layers and heads are counted from 0.

    >>> Node("cross_attention", 3, 0).place, Node("decoder_feed_forward", 3).sublayer
    ((3, 0), 11)
    """

    kind: str  # a kind of attention, or one of FEED_FORWARDS
    layer: int
    head: int | None = None

    @property
    def side(self) -> str:
        return "encoder" if self.kind.startswith("encoder") else "decoder"

    @property
    def sublayer(self) -> int:
        """Its number among the sub-layers of its side, in which ``decoder_output`` and ``encoder_output`` count."""
        kinds = SUBLAYERS[self.side]
        return self.layer * len(kinds) + kinds.index(self.kind)

    @property
    def tap(self) -> str:
        """The name of what it puts out."""
        return tap(self.side, "output") if self.head is None else tap(self.kind, "heads")

    @property
    def place(self) -> int | tuple[int, int]:
        """Where it stands in its tap."""
        return self.sublayer if self.head is None else (self.layer, self.head)


class Patch(NamedTuple):
    """What stands in the place of something that a pass computes, before anything reads it.

    >>> Patch.of(Node("cross_attention", 3, 0), np.zeros(32)).tap
    'cross_heads'
    """

    tap: str  # "..._heads", "..._output" or "..._residual", see ``model.trace.taps``
    place: int | tuple[int, int]  # of the tap: a sub-layer, a place of the stream, or (layer, head)
    value: np.ndarray  # of one position, or of each of ``positions``
    positions: int | slice = EVERYWHERE

    @classmethod
    def of(cls, node: Node, value: np.ndarray, positions: int | slice = EVERYWHERE) -> "Patch":
        return cls(node.tap, node.place, value, positions)


Patches = tuple[Patch, ...]  # of one pass


def every_node(layers: int, heads: int) -> tuple[Node, ...]:
    """All nodes of a Transformer in the order in which data passes them.

    >>> len(every_node(layers=4, heads=4))
    56
    """
    kinds = [kind for some in ATTENTIONS.values() for kind in some]
    return nodes_of(dict.fromkeys(ATTENTIONS, layers), dict.fromkeys(kinds, heads))


def nodes_of(layers: Mapping[str, int], heads: Mapping[str, int]) -> tuple[Node, ...]:
    """``every_node`` of a network whose sides have different ``layers``, or whose kinds of attention have different ``heads``.

    >>> kinds = ("encoder_attention", "decoder_attention", "cross_attention")
    >>> len(nodes_of({"encoder": 1, "decoder": 2}, dict.fromkeys(kinds, 4)))
    23
    """
    return tuple(
        node
        for side, kinds in ATTENTIONS.items()
        for layer in range(layers[side])
        for node in (
            *(Node(kind, layer, head) for kind in kinds for head in range(heads[kind])),
            Node(FEED_FORWARDS[side], layer),
        )
    )
