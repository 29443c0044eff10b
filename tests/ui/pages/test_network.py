"""Page of the network diagram: its parts, the sentence's shapes, links to pages."""

import re

import pytest

from model.stored.config import Seq2SeqConfig, TransformerConfig
from model.trace.trace import ATTENTION_KINDS
from tests.ui.fake_corrector import MAX_LENGTH
from tests.ui.screen import component, html, messages
from ui.components.diagram import diagram_data
from ui.parts import network_parts
from ui.parts.network_parts import Sketch, columns
from ui.shell.header import PAGES
from ui.wording import table

KO, EN = table("ko"), table("en")
D, F, V = 4, 8, 50


def say(key, **values) -> str:
    return EN[key].format(**values)


def transformer_sizes(layers: int = 2) -> dict[str, int]:
    """The paths of a Transformer's weights, with a distinct size for each kind of array."""
    sizes = {"t/embedding/token_embedding": 900, "t/embedding/output_bias": V}
    for side, attentions in (("encoder", ["self"]), ("decoder", ["self", "cross"])):
        for layer in range(1, layers + 1):
            for name in attentions:
                sizes[f"t/{side}_{layer}/{name}_attention/query/kernel"] = 1000
            sizes[f"t/{side}_{layer}/feed_forward/hidden/kernel"] = 300
            sizes[f"t/{side}_{layer}/around_feed_forward/norm/gamma"] = 7
        sizes[f"t/{side}_norm/gamma"] = 5
    return sizes


RECURRENT_SIZES = {
    "s/embedding/token_embedding": 900,
    "s/embedding/output_bias": V,
    "s/encoder_1/forward_gru/gru_cell/kernel": 60,
    "s/encoder_1/backward_gru/gru_cell/kernel": 60,
    "s/bridge_1/kernel": 20,
    "s/decoder_1/gru_cell/kernel": 90,
    "s/query/kernel": 16,
    "s/key/kernel": 16,
    "s/value/kernel": 16,
    "s/join/kernel": 32,
}


@pytest.fixture(autouse=True)
def networks(correctors):
    """The configs and weights of real networks, which this page draws."""
    shared = {"vocab_size": V, "d_model": D, "max_length": MAX_LENGTH}
    correctors["transformer"].config = TransformerConfig(
        num_layers=2, num_heads=2, dff=F, norm_first=True, **shared
    )
    correctors["transformer"].weight_sizes = transformer_sizes
    correctors["seq2seq"].config = Seq2SeqConfig(**shared)
    correctors["seq2seq"].weight_sizes = lambda: RECURRENT_SIZES
    return correctors


def boxes(app) -> list[dict]:
    """The boxes that travel to the browser to be drawn."""
    return component(app, "network_diagram")["forms"]["wide"]["boxes"]


def details(app, style: str) -> list[str]:
    return [box["detail"] for box in boxes(app) if box["style"] == style]


def test_every_stage_has_the_shape_of_this_sentence(open_app):
    app = open_app("network", sentence="고갱 왓다", lang="en")  # 5 characters and the end mark
    assert details(app, "attention") == [
        f"(H, {names}) = (2, 6, 6) · 1,000" for names in ("S, S", "T, T", "T, S")
    ]
    assert details(app, "feed_forward") == [f"({s}, D→F→D) = (6, 4→8→4) · 300" for s in "ST"]
    assert "(T, V) = (6, 50) · 50" in details(app, "output")


def test_the_layer_of_the_address_is_the_open_one_and_the_rows_count_all_of_a_layer(open_app):
    rows = [box for box in boxes(open_app("network", layer="2")) if box["style"] == "layer"]
    assert [(row["leads_to"], row["expanded"]) for row in rows] == [("layer:1", False), ("layer:2", True)] * 2
    assert [row["detail"].split(" · ")[1] for row in rows] == ["1,307", "1,307", "2,307", "2,307"]


def test_the_table_adds_up_to_the_network(open_app):
    app = open_app("network", sentence="고갱", lang="en", layer="mean")
    rows = [box for box in boxes(app) if box["style"] == "layer"]
    assert [row["expanded"] for row in rows] == [True, False] * 2  # a mean opens the first
    shown = html(app)
    assert "2 layers × 2 heads × (3² + 3² + 3×3) = 108 attention weights" in shown
    rows = re.findall(r'<th scope="row">(.*?)</th><td>([\d,]+)</td>', shown)
    counts = {name: int(count.replace(",", "")) for name, count in rows}
    assert counts.pop("All") == sum(counts.values()) == sum(transformer_sizes().values())
    assert counts["Decoder→encoder: attention ③"] == 2000


def test_the_recurrent_network_has_its_own_drawing(open_app):
    app = open_app("network", model="seq2seq", sentence="고갱", lang="en")
    assert details(app, "attention") == ["(T, S) = (3, 3) · 48"]
    assert [box["leads_to"] for box in boxes(app) if box["style"] == "attention"] == ["cross_attention:1"]
    assert "3×3 = 9 weights" in html(app)
    assert not [box for box in boxes(app) if box["style"] in ("layer", "norm", "mask")]


def test_a_network_that_normalises_afterwards_has_no_last_normalisation(open_app, networks):
    shared = {"vocab_size": V, "d_model": D, "max_length": MAX_LENGTH}
    networks["transformer"].config = TransformerConfig(num_layers=2, num_heads=2, dff=F, **shared)
    titles = [box["title"] for box in boxes(open_app("network", lang="en"))]
    assert EN["network_norm_last"] not in titles
    assert titles.index(EN["network_norm"]) > titles.index(EN["network_encoder_attention"])


def test_what_was_typed_travels_as_text_and_a_long_sentence_is_cut(open_app):
    app = open_app("network", sentence="<b>\t" + "가" * MAX_LENGTH, lang="en")
    assert boxes(app)[0]["title"].startswith("Typed: <b>⇥가")
    assert boxes(app)[0]["detail"] == f"(S) = ({MAX_LENGTH + 1})"
    assert messages(app) == [say("network_cut", length=MAX_LENGTH + 4, limit=MAX_LENGTH)]
    assert "<b>" not in html(app)
    assert messages(open_app("network", sentence=" ")) == [KO["sentence_none"]]


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_an_attention_leads_to_its_map(settings, kind):
    assert network_parts.follow(f"{kind}:2") == "attention"
    assert (settings["kind"], settings["layer"], settings["view"]) == (kind, "2", "heatmap")


def test_every_part_that_leads_somewhere_says_so_leads_to_a_page_and_has_its_looks(settings, networks):
    led = set()
    for network in networks.values():
        data = diagram_data(*columns(Sketch(network.config, {}, "가", "나", 1)), label="")
        for box in data["forms"]["narrow"]["boxes"]:
            assert bool(box["leads_to"]) == bool(box["spoken"]) and box["style"] in data["looks"], box
            led.add(network_parts.follow(box["leads_to"]))
    assert led == {"attention", "positions", "masks", None} and led - {None} <= set(PAGES)
