"""Scores without each head: its output patched to zero, and the head ablated.

For all networks whose residual stream NumPy computes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.trace.interventions import Contrast, Head, Intervention, Patch


def silent_and_off(
    lab: Any, texts: tuple[str, str], ids: tuple[Sequence[int], Sequence[int]], contrast: Contrast
) -> tuple[np.ndarray, np.ndarray]:
    """(heads,) the score with zeros in place of each head's output, and with that head off in the network
    itself.

    ``texts`` and ``ids``: of source and target; of the target's ids those up to the row of ``contrast`` are
    read.
    """
    source, target = ids[0], ids[1][: contrast.row + 1]
    heads = [node for node in lab.patched.nodes if node.head is not None]
    found = lab.patched.taps(source, target, [node.tap for node in heads])
    silent = [(Patch.of(node, np.zeros_like(found[node.tap][node.place])),) for node in heads]
    walked = lab.patched.passes(source, target, silent).score(contrast.written, contrast.instead)
    off = [Intervention(off=frozenset([Head(*node)])) for node in heads]
    return walked, lab.logit_differences(*texts, contrast, off).differences
