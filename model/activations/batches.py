"""Rows of passes, and the replacements of activations in a batch of them.

B rows, S source and T target tokens, Q query and K key positions, D d_model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model.activations.replacements import At, Function, Replacement, Replacements
from model.text.tokenizer import PAD_ID
from model.trace.interventions import EVERYWHERE, Computed

INSIDE_ATTENTION = ("query", "key", "value", "attention")
ALL = -1.0  # a layer before the first: rows that join here are computed throughout


@dataclass(frozen=True)
class Rows:
    """B passes to be computed together.

    Attributes:
        sources: B rows of ids of one length, or one that all passes share; ``targets`` the same of written
            ids, the last of which is not read.
        changes: the replacements of each pass.
        common: replacements of all passes, which those in ``changes`` supersede.
        memory: (B, S, D), the encoder's output, where an earlier pass over the same sources computed it.
    """

    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]
    changes: Sequence[Replacements]
    common: Replacements
    memory: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        changes: Sequence[Replacements],
        memory: np.ndarray | None = None,
    ) -> "Rows":
        """Passes about sources and targets that may differ, padded to one length."""
        sources, targets = ([[*one] for one in rows] for rows in (sources, targets))
        if memory is None and all(one == rows[0] for rows in (sources, targets) for one in rows):
            return cls(sources[:1], targets[:1], changes, {})
        s, t = (max(map(len, rows)) for rows in (sources, targets))
        targets = [[*one[:-1], *[PAD_ID] * (t - len(one)), *one[-1:]] for one in targets]
        sources = [[*one, *[PAD_ID] * (s - len(one))] for one in sources]
        return cls(sources, targets, changes, {}, None if memory is None else memory[:, :s])

    @property
    def share(self) -> bool:
        """Whether all passes are about one source and one target."""
        return self.memory is None and len(self.sources) == len(self.targets) == 1


class Batch:
    """The replacements of the rows of one batch, by the names of activations.

    ``starts``: in which layer each row joins, in ascending order; decoder layers count after those of the
    encoder.
    """

    def __init__(self, common: Replacements, changes: Sequence[Replacements], starts: Sequence[float]):
        self.count, self._starts, self._common = len(changes), np.array(starts), common
        # Whether most activations of its rows are near those of row 0.
        self.alike = self.count > 1 and starts[-1] > ALL
        self._length: int | None = None  # how many positions there are, if arrays hold only the last one
        self._own: dict[str, list[tuple[int, Replacement]]] = {}
        for row, replacements in enumerate(changes):
            for name, replacement in replacements.items():
                self._own.setdefault(name, []).append((row, replacement))
        names = [(name, *name.rpartition(".")[::2]) for name in {**common, **self._own}]
        self._heads = {of.removesuffix(".head") for _, of, _ in names if of.endswith(".head")}
        # By sub-layer: rows whose attention is computed in another way.
        self._inside: dict[str, set[int]] = {}
        for name, of, part in names:
            if part in INSIDE_ATTENTION or of.endswith(".attention"):
                rows = self._inside.setdefault(of.removesuffix(".attention"), set())
                rows.update(row for row, _ in self._own.get(name, ()))

    def joined(self, layer: float) -> int:
        """How many rows the batch has in this layer."""
        return max(1, int((self._starts <= layer).sum()))

    def narrow(self, length: int) -> None:
        """From now on arrays hold the last of ``length`` positions alone."""
        self._length = length

    def replaces(self, name: str) -> bool:
        return name in self._common or name in self._own

    def replaces_heads(self, sublayer: str) -> bool:
        return sublayer in self._heads

    def functions(self, name: str, count: int) -> Iterator[tuple[int, Function]]:
        """(row, function) of the first ``count`` rows that have a function under this name."""
        own = dict(self._own.get(name, ()))
        for row in range(count):
            function = own.get(row, self._common.get(name))
            if callable(function):
                yield row, function

    def inside(self, sublayer: str) -> set[int] | None:
        """The rows in which queries, keys, values or weights of this attention are replaced.

        None where no row and no common replacement has any.
        """
        return self._inside.get(sublayer)

    def put(self, name: str, array: np.ndarray, rows: np.ndarray | None = None, first: int = 0) -> None:
        """Replace the activation in place.

        ``array`` (B, ...): of all rows, or of ``rows``, whose first ones have it already.
        """
        own = [
            (row if rows is None else int(np.searchsorted(rows, row)), replacement)
            for row, replacement in self._own.get(name, ())
        ]
        common = self._common.get(name)
        if not (common is None or isinstance(common, Computed) or first):
            spared = [at for at, replacement in own if isinstance(replacement, Computed) and at < len(array)]
            computed = array[spared]
            for at in range(len(array)) if callable(common) else (slice(None),):
                self._replace(array, at, common)
            array[spared] = computed
        for at, replacement in own:
            if first <= at < len(array) and not isinstance(replacement, Computed):
                self._replace(array, at, replacement)

    def _replace(
        self, array: np.ndarray, at: int | slice, replacement: np.ndarray | float | Function | At
    ) -> None:
        if callable(replacement):
            array[at] = replacement(array[at])
            return
        value, positions = replacement if isinstance(replacement, At) else (replacement, EVERYWHERE)
        if self._length is None:
            array[at, positions] = value
            return
        places = np.arange(self._length)[positions]
        if places.size and np.max(places) == self._length - 1:
            values = np.broadcast_to(value, (places.size, *array.shape[2:]))
            array[at, -1] = values[int(np.argmax(places))]

    def whole(self, array: np.ndarray) -> np.ndarray:
        """All rows: those that have not joined equal row 0."""
        rows = np.arange(self.count)
        return array if len(array) == self.count else array[np.where(rows < len(array), rows, 0)]

    def join(self, x: np.ndarray, layer: float) -> np.ndarray:
        """The stream (B, Q, D) before a layer, with the rows that join here.

        So far they equal row 0.
        """
        count = self.joined(layer)
        return x if count <= len(x) else np.concatenate([x, np.repeat(x[:1], count - len(x), axis=0)])

    def masked(self, name: str, seen: np.ndarray) -> np.ndarray:
        """A mask (B, K), or (1, K) of all rows, with its replacements, for all rows."""
        mask = np.repeat(seen, self.count // len(seen), axis=0)
        self.put(name, mask)
        return mask

    def free(self, name: str, count: int) -> np.ndarray:
        """The numbers of the rows to compute, because no replacement covers all their positions."""
        covered = np.full(count, _covers(self._common.get(name)))
        for row, replacement in self._own.get(name, ()):
            if row < count:
                covered[row] = not isinstance(replacement, Computed) and (
                    covered[row] or _covers(replacement)
                )
        return np.flatnonzero(~covered)


def _covers(replacement: Replacement | None) -> bool:
    return not (replacement is None or callable(replacement) or isinstance(replacement, At | Computed))
