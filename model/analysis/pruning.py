"""How well a network still corrects as more and more heads are taken away (Michel et al. 2019, section 4)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from model.correction.answers import Network
from model.trace.interventions import Head, Intervention

TextPair = tuple[str, str]


class PruningPoint(NamedTuple):
    """What is left of a network without ``removed`` heads; shares in 0..1, nan where there was nothing to judge."""

    removed: int
    exact: float  # sentences with errors that come out as they should
    untouched: float  # correct sentences that come out as they went in


def pruning_curve(
    corrector: Network,
    pairs: Sequence[TextPair],
    order: Sequence[Head],
    counts: Sequence[int],
    batch: int = 64,
) -> Iterator[PruningPoint]:
    """Remove the first heads of ``order``, as many as each of ``counts`` says.

    ``pairs`` are (wrong, right). Judged is the network's own text, before a ``Corrector`` leaves unsure changes
    undone: greedy decoding writes a text just where each of its tokens is the most probable one after those
    before it, so that one teacher-forced pass decides. Correct sentences are the right sides, each judged once.

    Raises ValueError, as soon as the first result is asked for, for a count outside 0..``len(order)``.

    >>> order = [Head("cross_attention", 3, head) for head in range(4)]
    >>> [point.removed for point in pruning_curve(corrector, [("머거요", "먹어요")], order, [0, 4])]
    [0, 4]
    """
    if strange := [count for count in counts if not 0 <= count <= len(order)]:
        raise ValueError(f"a count should lie in 0..{len(order)}, the length of order, received {strange[0]}")
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    clean = [(right, right) for right in dict.fromkeys(right for _, right in pairs)]
    for count in counts:
        off = Intervention(off=frozenset(order[:count]))
        shares = (_share_written(corrector, some, off, batch) for some in (wrong, clean))
        yield PruningPoint(count, *shares)


def _share_written(corrector: Network, pairs: Sequence[TextPair], off: Intervention, batch: int) -> float:
    tokenizer, written = corrector.tokenizer, 0
    ids = sorted(
        ((tokenizer.encode_source(one), tokenizer.encode_target(other)) for one, other in pairs),
        key=lambda both: len(both[0]),
    )
    for first in range(0, len(ids), batch):
        sources, targets = zip(*ids[first : first + batch], strict=True)
        looked = corrector.laboratory.pass_over(sources, targets, [off] * len(sources))
        said = looked.logits.argmax(axis=-1)  # (B, T)
        written += sum(
            said[row, : len(target)].tolist() == list(target) for row, target in enumerate(targets)
        )
    return written / len(ids) if ids else float("nan")


def random_order(heads: Sequence[Head], seed: int) -> tuple[Head, ...]:
    """The same heads in an order that only ``seed`` decides."""
    return tuple(heads[place] for place in np.random.default_rng(seed).permutation(len(heads)))
