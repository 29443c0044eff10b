"""A short name for a change of a text. A change has ``wrong`` and ``right``; one of them may be empty."""

from viz.browser.texts import Say
from viz.browser.traces import DrawnChange


def visible(text: str) -> str:
    """Blanks and line ends as signs."""
    return text.replace(" ", "␣").replace("\n", "↵")


def what_happened(change: DrawnChange) -> str:
    """ "replaced", "inserted" or "deleted", as the names of texts end."""
    return "replaced" if change.wrong and change.right else "inserted" if change.right else "deleted"


def change_label(say: Say, change: DrawnChange) -> str:
    """What a change does, in a few characters."""
    name = f"steps_change_{what_happened(change)}"
    return say(name, wrong=visible(change.wrong), right=visible(change.right))
