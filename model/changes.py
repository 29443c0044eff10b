"""Where two versions of a sentence differ, as spans a person would point at."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from rapidfuzz.distance import Levenshtein


@dataclass(frozen=True)
class Change:
    """One place where the correction differs: ``source[source_start:source_end] == wrong`` and
    ``target[target_start:target_end] == right``. Either may be empty (an insertion, a deletion).

    A change that a network made carries two probabilities, both given the source and all of the target
    before the change: ``fix_probability`` of what it wrote (the product over its tokens; for a deletion,
    of the token that follows) and ``keep_probability`` of writing the next character of the source
    instead, which is how leaving the text alone would begin. They are None between any two texts.
    """

    source_start: int
    source_end: int
    target_start: int
    target_end: int
    wrong: str
    right: str
    fix_probability: float | None = field(default=None, compare=False)
    keep_probability: float | None = field(default=None, compare=False)

    @property
    def confidence(self) -> float:
        """How sure the network is that this change should be made, in 0..1: that it writes just this, and
        that it would not keep the source, ``fix_probability * (1 - keep_probability)``.

        Raises ValueError for a change without probabilities.
        """
        if self.fix_probability is None or self.keep_probability is None:
            raise ValueError(f"no network made this change, so it has no confidence: {self}")
        return self.fix_probability * (1.0 - self.keep_probability)

    def moved(self, source: int, target: int) -> "Change":
        """The same change with its offsets shifted by these numbers of characters."""
        return replace(
            self,
            source_start=self.source_start + source,
            source_end=self.source_end + source,
            target_start=self.target_start + target,
            target_end=self.target_end + target,
        )


def find_changes(source: str, target: str) -> tuple[Change, ...]:
    """The minimal edit between two texts (Levenshtein 1966), neighbouring operations merged."""
    changes = []
    for block in Levenshtein.opcodes(source, target):
        if block.tag == "equal":
            continue
        first = (block.src_start, block.dest_start)
        if changes and first == (changes[-1].source_end, changes[-1].target_end):
            first = (changes[-1].source_start, changes[-1].target_start)
            changes.pop()
        changes.append(
            Change(
                first[0],
                block.src_end,
                first[1],
                block.dest_end,
                source[first[0] : block.src_end],
                target[first[1] : block.dest_end],
            )
        )
    return tuple(changes)


def apply_changes(source: str, changes: Iterable[Change]) -> str:
    """The text that results from making only these changes."""
    parts, done = [], 0
    for change in changes:
        parts += [source[done : change.source_start], change.right]
        done = change.source_end
    return "".join([*parts, source[done:]])


def select_changes(changes: Iterable[Change], accepts: Callable[[Change], bool]) -> tuple[Change, ...]:
    """The changes that ``accepts`` holds true of, with the offsets they have once only they are made."""
    selected, drift = [], 0  # drift: how much longer the text with all changes is, up to here
    for change in changes:
        if accepts(change):
            selected.append(change.moved(0, -drift))
        else:
            drift += len(change.right) - len(change.wrong)
    return tuple(selected)
