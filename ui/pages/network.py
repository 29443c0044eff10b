"""Page of the network diagram: its parts, and the shapes of the typed sentence in them."""

import streamlit as st

from model.analysis.building_blocks import by_role
from model.stored.config import TracedConfig
from ui.asking import models
from ui.components.diagram import diagram
from ui.parts import network_parts
from ui.sentence import decisions
from ui.shell import controls, header, markup
from ui.wording import percent, say

_KEY = "network_diagram"


def main() -> None:
    header.show("network")
    for_model, for_sentence = st.columns([1, 2], gap="medium", vertical_alignment="bottom")
    with for_model:
        entry = models.choose()
    with for_sentence:
        corrector, found = decisions.open_sentence(entry)
    if corrector is None or found is None:
        return
    config = corrector.config
    assert not isinstance(config, TracedConfig), "``load_inside`` opens no other model"
    markup.paragraph(say("network_lead"), "lead")
    limit = config.max_length
    if found.too_long:
        st.info(say("network_cut", length=f"{len(found.source):,}", limit=limit))
    sketch = network_parts.sketch_of(corrector, found)
    diagram(network_parts.drawing(sketch, controls.theme()), _KEY, _follow)
    markup.paragraph(network_parts.describe(sketch), "reading")
    markup.paragraph(say(f"network_legend_{config.architecture}"), "note")
    _show_parameters(sketch.parts)
    controls.explain(f"network_idea_{config.architecture}")


def _follow(part: str) -> None:
    """Go where a chosen part leads, if it leads to another page."""
    if page := network_parts.follow(part):
        header.turn_to(page)


def _show_parameters(parts: dict[str, int]) -> None:
    """A row for each role, all layers together, and their sum."""
    st.header(say("network_parameters_heading"))
    total = sum(parts.values())
    sizes = by_role(parts) | {"all": total}
    rows = {
        say(f"network_role_{role}"): (f"{size:,}", percent(size / total, 1)) for role, size in sizes.items()
    }
    columns, strong = [say("network_parameters"), say("network_share")], say("network_role_all")
    markup.table(columns, rows, say("network_parameters_heading"), strong=strong)


main()
