"""The words in and around an attention map: the same on every page, in files and in notebooks."""

from viz.attention import MapTexts
from viz.browser.texts import Say
from viz.weight_colours import FAINT


def map_texts(
    say: Say, kind: str, *, difference: bool = False, by_words: bool = False, masked: str = "masked"
) -> MapTexts:
    """Of a map of ``kind``; ``masked`` is the text that says why a cell holds nothing."""
    of = "words_" if by_words else ""
    return MapTexts(
        query_axis=say(f"query_{of}{kind}"),
        key_axis=say(f"key_{kind}"),
        query=say("hover_query"),
        key=say("hover_key"),
        weight=say("heatmap_hover_difference" if difference else "hover_weight"),
        masked=say(masked),
        padded=say("padded"),
        faint=say("heatmap_faint_difference" if difference else "heatmap_faint", floor=FAINT),
        selected=say("heatmap_selected"),
    )
