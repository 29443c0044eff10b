"""Where each part of the drawn network leads: its settings, and the page that shows it."""

from model.trace.trace import ATTENTION_KINDS
from ui.shell import address
from ui.shell.settings import is_number

_PAGES = {
    "sentence": "attention",
    "output": "attention",
    "embedding": "positions",
    "encoding": "positions",
    "mask": "masks",
    **dict.fromkeys(ATTENTION_KINDS, "attention"),
}


def follow(part: str) -> str | None:
    """Keep the choice that ``part``, such as ``cross_attention:3``, means. Returns the page that shows it;
    None to stay. The browser may send anything; an unknown part changes nothing."""
    name, _, number = part.partition(":")
    if name not in _PAGES and name != "layer":
        return None
    if name in ATTENTION_KINDS:
        address.put("kind", name)
        address.put("view", "heatmap")
    if name == "output":  # where each token's probabilities are shown
        address.put("view", "steps")
    if is_number(number):
        address.put("layer", number)
    return _PAGES.get(name)
