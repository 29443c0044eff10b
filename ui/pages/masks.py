"""Page of attention masks: those of a small batch, before and after the softmax."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from engine import questions
from model.analysis.building_blocks import (
    DotProduct,
    dot_product_attention,
    hidden_by_look_ahead,
    hidden_by_padding,
)
from model.text.tokenizer import pad
from ui.asking import loaders, models
from ui.components import figures
from ui.parts import page_pictures
from ui.shell import address, controls, header, markup
from ui.shell.runs import spinner
from ui.wording import percent, say

FEWEST, MOST = 2, 5  # sentences of a batch
LONGEST = 30  # characters of each, so that every cell can still be seen
HALF = 440  # pixels of a map beside another one
FORMULAS = {
    ("logits", "without"): "S",
    ("weights", "without"): r"\mathrm{softmax}(S)",
    ("logits", "with"): "S + M",
    ("weights", "with"): r"\mathrm{softmax}(S + M)",
}
FORMULA = (
    r"S = \frac{QK^\top}{\sqrt{d_k}} \qquad A = \mathrm{softmax}(S + M) \qquad M_{ij} \in \{0, -\infty\}"
)


def main() -> None:
    header.show("masks")
    typed, seen = st.columns([1, 3], gap="medium")
    with typed:
        sentences = _type_batch()
        if not _is_usable(sentences, LONGEST):
            return
        number = _choose_sentence(sentences)
        entry = models.choose()
    padding = max(map(len, sentences)) - len(sentences[number])
    with seen:
        _show_masks(sentences, number)
    corrector = models.load_inside(entry)
    if corrector is None or not _is_usable(sentences, corrector.config.max_length):
        return
    _show_logits(sentences[number], padding, corrector)
    _show_batch(sentences, pad([corrector.tokenizer.encode_source(sentence) for sentence in sentences]))
    controls.explain("masks_idea", FORMULA)


def _type_batch() -> list[str]:
    """The sentences, one a line; blank lines do not count."""
    key, start = controls.seed("control_batch", address.get("batch"))
    st.text_area(
        say("batch_label"),
        start or "",
        key=key,
        on_change=lambda: address.put("batch", st.session_state[key]),
        height=130,
    )
    return page_pictures.batch()


def _is_usable(sentences: list[str], longest: int) -> bool:
    if not FEWEST <= len(sentences) <= MOST:
        st.warning(say("masks_how_many", count=len(sentences), fewest=FEWEST, most=MOST))
        return False
    too_long = [n for n, sentence in enumerate(sentences, start=1) if len(sentence) > longest]
    for number in too_long:
        st.warning(say("masks_too_long", number=number, length=len(sentences[number - 1]), limit=longest))
    return not too_long


def _choose_sentence(sentences: list[str]) -> int:
    """Which sentence to look into, counted from 0; the shortest has the most padding and is offered first."""
    numbers = [str(number + 1) for number in range(len(sentences))]
    chosen = controls.pick(
        "batch_row",
        numbers,
        lambda number: f"{number}. {sentences[int(number) - 1]}",
        otherwise=numbers[page_pictures.shortest(sentences)],
    )
    return int(chosen) - 1


def _show_batch(sentences: list[str], ids: np.ndarray) -> None:
    """The ids (B, K) as the network gets them, one row a sentence, and the mask that follows from their
    padding."""
    st.header(say("masks_batch_heading"))
    hidden = hidden_by_padding(ids)
    length = ids.shape[1]
    count = int(hidden.sum())
    longest = int((~hidden).sum(1).argmax()) + 1
    markup.paragraph(
        say(
            "masks_batch_reading" if count else "masks_batch_reading_none",
            sentences=len(sentences),
            length=length,
            longest=longest,
            count=count,
            share=percent(count / hidden.size),
        ),
        "reading",
    )
    names = [say("masks_sentence_number", number=number + 1) for number in range(len(sentences))]
    columns = [str(position + 1) for position in range(length)]
    figure = page_pictures.mask_map(
        page_pictures.named_hidden()(padded=hidden), names, columns, None, controls.theme()
    )
    _draw("padding_batch", figure, len(columns), "masks-padding-batch")
    tokens = [page_pictures.source_tokens(sentence, length - len(sentence) - 1) for sentence in sentences]
    rows = {}
    for number, (row, numbers) in enumerate(zip(tokens, ids.tolist(), strict=True), start=1):
        rows[say("masks_row_tokens", number=number)] = row
        rows[say("masks_row_ids", number=number)] = tuple(map(str, numbers))
    markup.table(columns, rows, say("masks_ids_label"))
    markup.paragraph(say("masks_ids_note"), "note")


def _draw(name: str, figure: go.Figure, columns: int, file_name: str) -> None:
    with figures.box(name, columns):
        figures.draw(figure, f"masks_{name}", file_name)


def _show_masks(sentences: Sequence[str], number: int) -> None:
    told, made = page_pictures.masks(sentences, number, controls.theme())
    for place, (name, (figure, heading)) in zip(st.columns(3, gap="medium"), made.items(), strict=True):
        with place:
            st.subheader(heading)
            _draw(name, figure, len(sentences[number]) + 1, f"masks-{name.replace('_', '-')}")
    markup.paragraph(told, "reading")


def _show_logits(sentence: str, padding: int, corrector: loaders.EngineCorrector) -> None:
    """The logits of one head for the padded sentence, and their softmax, without the mask and with it."""
    st.header(say("masks_logits_heading"))
    with spinner(say("working")):
        found = corrector.ask(questions.projections, sentence, sentence, padding)
    kind, layer, head = _choose_head(found)
    projections = found[kind]
    query, key, value = (getattr(projections, name)[layer, head] for name in ("query", "key", "value"))
    padded = page_pictures.padded_cells(len(key), padding)
    later = hidden_by_look_ahead(len(key)) if kind == "decoder_attention" else None
    hidden = page_pictures.named_hidden()(masked=later, padded=padded)
    cells = hidden.cells(padded.shape)
    without, with_mask = (dot_product_attention(query, key, value, mask) for mask in (None, ~cells))
    rows, columns = page_pictures.axes(kind, sentence, padding)
    markup.paragraph(_describe(without, cells, rows, len(sentence) + 1), "reading")
    largest = float(np.abs(without.scaled).max())
    file_end = f"{kind.replace('_', '-')}-layer{layer + 1}-head{head + 1}"
    for name, steps, mask in (("without", without, None), ("with", with_mask, hidden)):
        for place, stage in zip(st.columns(2, gap="medium"), ("logits", "weights"), strict=True):
            with place:
                st.subheader(f"{say(f'masks_{stage}_{name}_heading')} ${FORMULAS[stage, name]}$")
                figure = _figure_of(
                    kind, getattr(steps, stage), (rows, columns), mask, largest if stage == "logits" else None
                )
                _draw(f"{stage}_{name}", figure, len(columns), f"masks-{stage}-{name}-{file_end}")
    markup.paragraph(say("masks_logits_note"), "note")


def _figure_of(
    kind: str,
    values: np.ndarray,
    tokens: tuple[tuple[str, ...], tuple[str, ...]],
    mask: viz.Hidden | None,
    largest: float | None,
) -> go.Figure:
    """``values`` (Q, K) of one ``stage``: "logits" in two colours up to ``largest``, or "weights" from 0 to
    1."""
    is_logit, stage = (False, "weights") if largest is None else (True, "logits")
    return viz.number_heatmap(
        values,
        *tokens,
        scale=viz.SIGNED if is_logit else viz.WEIGHT,
        largest=1.0 if largest is None else largest,
        hidden=mask,
        small_name="" if is_logit else say("masks_small"),
        titles=(say(f"query_{kind}"), say(f"key_{kind}")),
        hover=(say("hover_query"), say("hover_key"), say(f"masks_{stage}")),
        design_width=HALF,
        legend_lines=2 if mask else 1,
        theme=controls.theme(),
    )


def _choose_head(found: dict[str, loaders.Projections]) -> tuple[str, int, int]:
    kinds = list(found)
    layers, heads, *_ = found[kinds[0]].query.shape
    kind, layer, head = kinds[0], "1", "1"
    with st.container(horizontal=True, gap="medium"):
        if len(kinds) > 1:
            kind = controls.choose("masks_kind", kinds, lambda kind: say(f"kind_{kind}"))
        if layers > 1:
            layer = controls.choose("layer", [str(n + 1) for n in range(layers)], str)
        if heads > 1:
            head = controls.choose("head", [str(n + 1) for n in range(heads)], str)
    if len(kinds) == 1:
        markup.paragraph(say("one_kind"), "note")
    return kind, int(layer) - 1, int(head) - 1


def _describe(without: DotProduct, cells: np.ndarray, rows: tuple[str, ...], real: int) -> str:
    leaks = np.where(cells, without.weights, 0.0).sum(axis=1)[:real]
    row = int(leaks.argmax())
    if not cells[row].any():
        return say("masks_reading_nothing")
    return say(
        "masks_reading",
        query=rows[row],
        position=row + 1,
        count=int(cells[row].sum()),
        share=percent(leaks[row]),
        mean=percent(leaks.mean()),
    )


main()
