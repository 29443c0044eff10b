"""Where two versions of a sentence differ, as spans a person would point at."""

from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein


@dataclass(frozen=True)
class Change:
    """One place where the correction differs: ``source[source_start:source_end] == wrong`` and
    ``target[target_start:target_end] == right``. Either may be empty (an insertion, a deletion)."""

    source_start: int
    source_end: int
    target_start: int
    target_end: int
    wrong: str
    right: str


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


def apply_changes(source: str, changes: tuple[Change, ...]) -> str:
    """The text that results from making only these changes."""
    parts, done = [], 0
    for change in changes:
        parts += [source[done : change.source_start], change.right]
        done = change.source_end
    return "".join([*parts, source[done:]])
