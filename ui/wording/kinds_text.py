"""What kinds of mistakes a change repairs, in words."""

from model.analysis.kinds import kinds_of, sound_rules
from model.text.changes import Change
from ui.wording.reading import Say

MOST_RULES = 2


def kind_name(say: Say, change: Change, source: str, target: str) -> str:
    """The kind of mistake in words, after "spacing" if that changes, too. Where rules of pronunciation decide (구개음화), the first
    MOST_RULES of them stand in place of the kind."""
    *spacing, kind = (f"edits_kind_{kind}" for kind in kinds_of(change, source, target))
    rules = [f"rule_{rule}" for rule in sound_rules(change, source, target)[:MOST_RULES]]
    return ", ".join(map(say, [*spacing, *(rules or [kind])]))
