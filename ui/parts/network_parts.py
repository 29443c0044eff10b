"""Boxes of the network diagram, with the shapes of one sentence and links to pages."""

from dataclasses import dataclass
from typing import Any

from engine import questions
from model.analysis import building_blocks as work
from model.analysis.building_blocks import attention_share, group_parameters, under
from model.stored.config import NetworkConfig, TransformerConfig
from model.trace.trace import ATTENTION_KINDS
from ui.asking.loaders import Asked, SentenceCorrection
from ui.components.diagram import Column, DiagramPart, Layer, Sublayer, diagram_data
from ui.shell import address
from ui.shell.settings import is_number
from ui.wording import about, language, percent, say
from viz.labels import visible_token

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


LONGEST_TEXT = 60  # characters of a typed text; the browser shows as many as fit into its box


@dataclass(frozen=True)
class Sketch:
    """The content of the drawing: a network's config, its parameters by part, and one sentence.

    ``layer`` is the one that is open, counted from 1.
    """

    config: NetworkConfig
    parts: dict[str, int]
    source: str
    target: str
    layer: int

    @property
    def source_tokens(self) -> int:
        """S, with the end mark."""
        return len(self.source) + 1

    @property
    def target_tokens(self) -> int:
        """T, with the end mark."""
        return len(self.target) + 1


def sketch_of(corrector: Asked, found: SentenceCorrection) -> Sketch:
    """The network with this sentence in it, and the layer of the address open. Raises EngineError."""
    config, limit = corrector.config, corrector.config.max_length
    assert isinstance(config, NetworkConfig), "``load_inside`` opens no other model"
    sizes: dict[str, int] = corrector.ask(questions.weight_sizes)
    parts = group_parameters(sizes)
    return Sketch(config, parts, found.source[:limit], found.text[:limit], _open_layer(config))


def drawing(sketch: Sketch, theme: str) -> dict:
    """The data of ``diagram``."""
    return diagram_data(*columns(sketch), label=say("network_picture"), theme=theme)


def _open_layer(config: NetworkConfig) -> int:
    numbers = [str(number + 1) for number in range(config.num_layers)]
    return int(address.get_option("layer", numbers, otherwise="1"))


def describe(sketch: Sketch) -> str:
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
        mixing=percent(multiplications[work.MIXING] / total, 1),
        parameters=about(language(), sum(sketch.parts.values())),
        share=percent(attention_share(sketch.parts)),
    )


def columns(sketch: Sketch) -> tuple[Column, Column]:
    """Encoder and decoder, for either kind of network."""
    is_transformer = sketch.config.architecture == "transformer"
    parts = _TransformerParts(sketch) if is_transformer else _RecurrentParts(sketch)
    return Column(say("network_encoder"), parts.encoder()), Column(say("network_decoder"), parts.decoder())


def shape(**sizes: int) -> str:
    """``shape(S=17, D=128)`` -> "(S, D) = (17, 128)". A name may repeat with underscores: S, S_."""
    names = ", ".join(name.rstrip("_") for name in sizes)
    return f"({names}) = ({', '.join(map(str, sizes.values()))})"


def visible_text(text: str) -> str:
    """The beginning of ``text``, invisible characters shown as signs.

    >>> visible_text("밥\\u200b을")
    '밥U+200B을'
    """
    return "".join(each if each == " " else visible_token(each) for each in text[:LONGEST_TEXT])


class _CommonParts:
    """The parts that both networks have."""

    def __init__(self, sketch: Sketch):
        self.sketch, self.config = sketch, sketch.config
        self.s, self.t, self.d = sketch.source_tokens, sketch.target_tokens, sketch.config.d_model

    def part(
        self, style: str, name: str, dims: str = "", *places: str, leads_to: str = "", **more: Any
    ) -> DiagramPart:
        """``places`` name its parameters."""
        count = under(self.sketch.parts, *places)
        detail = " · ".join(filter(None, [dims, f"{count:,}" if count else ""]))
        title = more.pop("title", None) or say(f"network_{name}")
        return DiagramPart(style, title, detail, leads_to, self.spoken(title, dims, count, leads_to), **more)

    def spoken(self, title: str, dims: str, count: int, leads_to: str) -> str:
        if not leads_to:
            return ""
        parameters = say("network_spoken_parameters", count=f"{count:,}") if count else ""
        leads = say(f"network_leads_{leads_to.partition(':')[0]}")
        return ". ".join(filter(None, [title, dims, parameters, leads]))

    def text(self, name: str, text: str, tokens: str, count: int) -> DiagramPart:
        title = say(f"network_{name}", text=visible_text(text))
        return self.part("text", name, shape(**{tokens: count}), leads_to="sentence", title=title)

    def embedding(self, name: str, dims: str, *places: str) -> DiagramPart:
        return self.part("embedding", name, dims, *places, leads_to="embedding")

    def encoder(self) -> tuple[DiagramPart | Layer, ...]:
        dims = shape(S=self.s, D=self.d)
        return (
            self.text("source", self.sketch.source, "S", self.s),
            self.embedding("embedding", dims, "embedding"),
            *self.layers("encoder", dims),
            self.part("memory", "memory", dims),
        )

    def decoder(self) -> tuple[DiagramPart | Layer, ...]:
        dims = shape(T=self.t, D=self.d)
        written = shape(T=self.t, V=self.config.vocab_size)
        return (
            self.text("prefix", self.sketch.target, "T", self.t),
            self.embedding("embedding_shared", dims),
            *self.layers("decoder", dims),
            self.part("output", "output", written, "output_bias", leads_to="output"),
            self.text("result", self.sketch.target, "T", self.t),
        )

    def layers(self, side: str, dims: str) -> tuple[DiagramPart | Layer, ...]:
        """Those of the "encoder" or the "decoder"."""
        raise NotImplementedError

    def numbers(self) -> range:
        return range(1, self.config.num_layers + 1)


class _TransformerParts(_CommonParts):
    config: TransformerConfig

    def layers(self, side: str, dims: str) -> tuple[DiagramPart | Layer, ...]:
        encoding = self.part("embedding", "encoding", dims, leads_to="encoding")
        found: tuple[DiagramPart | Layer, ...] = (
            encoding,
            *(self.layer(side, number, dims) for number in self.numbers()),
        )
        if not self.config.norm_first:  # each layer ends with its norm
            return found
        return (
            *found,
            self.part("norm", "norm_last", dims, f"{side}_norm"),
        )  # else their sum is unnormalised

    def layer(self, side: str, number: int, dims: str) -> Layer:
        is_open, place = number == self.sketch.layer, f"{side}_{number}"
        row = self.part(
            "layer",
            "layer",
            dims,
            place,
            leads_to=f"layer:{number}",
            title=say("network_layer", layer=number),
            asks_memory=side == "decoder" and not is_open,
        )
        if not is_open:
            return Layer(row)
        inside = self.feed_forward(place, dims), f"{place}/around_feed_forward"
        attentions = (self.own if side == "encoder" else self.own_and_cross)(number, place)
        return Layer(row, tuple(self.around(*each) for each in (*attentions, inside)))

    def own(self, number: int, place: str) -> tuple[tuple[DiagramPart, str], ...]:
        """Self-attention of an encoder's layer, and the place of the norm around it."""
        part = self.attention("encoder_attention", number, f"{place}/self_attention", S=self.s, S_=self.s)
        return ((part, f"{place}/around_attention"),)

    def own_and_cross(self, number: int, place: str) -> tuple[tuple[DiagramPart, str], ...]:
        own = self.attention("decoder_attention", number, f"{place}/self_attention", T=self.t, T_=self.t)
        cross = self.attention("cross_attention", number, f"{place}/cross_attention", T=self.t, S=self.s)
        return (own, f"{place}/around_self_attention"), (cross, f"{place}/around_cross_attention")

    def attention(self, kind: str, number: int, place: str, **sizes: int) -> DiagramPart:
        mask = "look_ahead" if kind == "decoder_attention" else "padding"
        title, name = say("network_mask"), say(f"network_mask_{mask}")
        leads = say("network_leads_mask")
        return self.part(
            "attention",
            kind,
            shape(H=self.config.num_heads, **sizes),
            place,
            leads_to=f"{kind}:{number}",
            asks_memory=kind == "cross_attention",
            chip=DiagramPart("mask", title, name, f"mask:{mask}", f"{title}: {name}. {leads}"),
        )

    def feed_forward(self, place: str, dims: str) -> DiagramPart:
        through = dims.replace("D)", "D→F→D)").replace(
            f" {self.d})", f" {self.d}→{self.config.dff}→{self.d})"
        )
        return self.part("feed_forward", "feed_forward", through, f"{place}/feed_forward")

    def around(self, core: DiagramPart, place: str) -> Sublayer:
        return Sublayer(core, self.part("norm", "norm", "", place), self.config.norm_first)


class _RecurrentParts(_CommonParts):
    def layers(self, side: str, dims: str) -> tuple[DiagramPart | Layer, ...]:
        if side == "encoder":
            return tuple(self.part("recurrence", "both_ways", dims, f"encoder_{n}") for n in self.numbers())
        attention = self.part(
            "attention",
            "only_attention",
            shape(T=self.t, S=self.s),
            *("query", "key", "value"),
            leads_to="cross_attention:1",
            asks_memory=True,
        )
        layers = (self.recurrence(number, dims) for number in self.numbers())
        return (*layers, attention, self.part("output", "join", dims, "join"))

    def recurrence(self, number: int, dims: str) -> DiagramPart:
        """One of the decoder's layers, with the part that makes its first state beside it."""
        first = self.part("recurrence", "bridge", "", f"bridge_{number}")
        return self.part("recurrence", "one_way", dims, f"decoder_{number}", asks_memory=True, chip=first)
