"""Page of the network diagram: its parts, and the shapes of the typed sentence in them."""

import pandas as pd
import streamlit as st

from engine import questions
from model.analysis import building_blocks as work
from model.analysis.building_blocks import attention_share, by_role, group_parameters
from model.stored.config import NetworkConfig, TracedConfig
from ui.asking import models
from ui.components.diagram import diagram, diagram_data
from ui.parts import network_parts
from ui.parts.network_parts import Sketch, columns
from ui.sentence import decisions
from ui.shell import address, controls, header, markup
from ui.wording import about, language, percent, say

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
    sizes = corrector.ask(questions.weight_sizes)
    parts = group_parameters(sizes)
    sketch = Sketch(config, parts, found.source[:limit], found.text[:limit], _open_layer(config))
    data = diagram_data(say, *columns(say, sketch), label=say("network_picture"), theme=controls.theme())
    diagram(data, _KEY, _follow)
    markup.paragraph(_describe(sketch), "reading")
    markup.paragraph(say(f"network_legend_{config.architecture}"), "note")
    _show_parameters(parts)
    controls.explain(f"network_idea_{config.architecture}")


def _open_layer(config: NetworkConfig) -> int:
    numbers = [str(number + 1) for number in range(config.num_layers)]
    return int(address.get_option("layer", numbers, otherwise="1"))


def _follow(part: str) -> None:
    """Go where a chosen part leads, if it leads to another page."""
    if page := network_parts.follow(part):
        header.turn_to(page)


def _describe(sketch: Sketch) -> str:
    """How much is computed for this sentence, and which share of it is attention's."""
    source, target, config = sketch.source_tokens, sketch.target_tokens, sketch.config
    multiplications = work.multiplications(config, source, target)
    total = sum(multiplications.values())
    return say(
        f"network_reading_{config.architecture}",
        source=source,
        target=target,
        layers=config.attention_layers,
        heads=config.num_heads,
        weights=f"{sum(work.attention_weights(config, source, target).values()):,}",
        multiplications=about(language(), total),
        mixing=percent(say, multiplications[work.MIXING] / total, 1),
        parameters=about(language(), sum(sketch.parts.values())),
        share=percent(say, attention_share(sketch.parts)),
    )


def _show_parameters(parts: dict[str, int]) -> None:
    """A row for each role, all layers together, and their sum."""
    st.header(say("network_parameters_heading"))
    total = sum(parts.values())
    rows = {say(f"network_role_{role}"): size for role, size in by_role(parts).items()}
    rows[say("network_role_all")] = total
    cells = [(f"{size:,}", percent(say, size / total, 1)) for size in rows.values()]
    names = [say("network_parameters"), say("network_share")]
    shown = pd.DataFrame(cells, index=list(rows), columns=names)
    markup.table(shown, say("network_parameters_heading"), strong=say("network_role_all"))


main()
