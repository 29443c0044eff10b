"""What is written in and around an attention map: the same words wherever one is drawn."""

import viz
from ui.reading import Say


def map_texts(
    say: Say, kind: str, *, difference: bool = False, by_words: bool = False, masked: str = "masked"
) -> viz.MapTexts:
    """Of a map of ``kind``; ``masked`` is the text that says why a cell holds nothing."""
    of = "words_" if by_words else ""
    return viz.MapTexts(
        query_axis=say(f"query_{of}{kind}"),
        key_axis=say(f"key_{kind}"),
        query=say("hover_query"),
        key=say("hover_key"),
        weight=say("heatmap_hover_difference" if difference else "hover_weight"),
        masked=say(masked),
        faint=say("heatmap_faint_difference" if difference else "heatmap_faint", floor=viz.FAINT),
        selected=say("heatmap_selected"),
    )
