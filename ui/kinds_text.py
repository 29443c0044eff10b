"""What kind of mistake a change repairs, in words."""

from model.analysis.kinds import kind_of, sound_rules
from model.changes import Change
from ui.reading import Say

MOST_RULES = 2


def kind_name(say: Say, change: Change, source: str, target: str) -> str:
    """The rule of pronunciation where one decides it (구개음화), at most MOST_RULES of them; else the kind."""
    rules = sound_rules(change, source, target)[:MOST_RULES]
    if rules:
        return ", ".join(say(f"rule_{rule}") for rule in rules)
    return say(f"edits_kind_{kind_of(change, source, target)}")
