"""Page of attention masks: those of a small batch, before and after the softmax."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
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
from ui.components.figures import MOST_COLUMNS_ON_A_PHONE
from ui.shell import address, controls, header, markup
from ui.shell.runs import spinner
from ui.wording import percent, say
from viz.labels import visible_token

FEWEST, MOST = 2, 5  # sentences of a batch
LONGEST = 30  # characters of each, so that every cell can still be seen
HALF, THIRD = 440, 260  # pixels of a map beside one other, or two
PADDING = "∅"  # as narrow as a character, unlike <pad>
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
        _show_masks(sentences[number], padding)
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
    lines = unicodedata.normalize("NFC", address.get("batch")).splitlines()
    return [line.strip() for line in lines if line.strip()]


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
    shortest = min(range(len(sentences)), key=lambda number: len(sentences[number]))
    chosen = controls.pick(
        "batch_row",
        numbers,
        lambda number: f"{number}. {sentences[int(number) - 1]}",
        otherwise=numbers[shortest],
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
            share=percent(say, count / hidden.size),
        ),
        "reading",
    )
    names = [say("masks_sentence_number", number=number + 1) for number in range(len(sentences))]
    columns = [str(position + 1) for position in range(length)]
    _show_map("padding_batch", _named_hidden()(padded=hidden), names, columns, None)
    tokens = [_source_tokens(sentence, length - len(sentence) - 1) for sentence in sentences]
    rows = {}
    for number, (row, numbers) in enumerate(zip(tokens, ids.tolist(), strict=True), start=1):
        rows[say("masks_row_tokens", number=number)] = row
        rows[say("masks_row_ids", number=number)] = tuple(map(str, numbers))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    markup.table(table, say("masks_ids_label"))
    markup.paragraph(say("masks_ids_note"), "note")


def _source_tokens(sentence: str, padding: int) -> tuple[str, ...]:
    return (*map(visible_token, sentence), "</s>", *[PADDING] * padding)


def _named_hidden() -> Callable[..., viz.Hidden]:
    """``viz.Hidden`` with the words of the page's legend."""
    return partial(viz.Hidden, masked_name=say("masks_masked"), padded_name=say("masks_padded"))


def _show_map(
    name: str, hidden: viz.Hidden, rows: Sequence[str], columns: Sequence[str], design_width: float | None
) -> None:
    """A mask: 1 where a row may look, hatched or dotted where it may not."""
    shape = (len(rows), len(columns))
    figure = viz.number_heatmap(
        np.where(hidden.cells(shape), np.nan, 1.0),
        rows,
        columns,
        scale=viz.WEIGHT,
        largest=4.0,
        hidden=hidden,
        numbers=True,
        titles=("", ""),
        hover=(say("hover_query"), say("hover_key"), say("masks_allowed")),
        design_width=design_width,
        legend_lines=2 if design_width else 1,
        theme=controls.theme(),
    )
    _draw(name, figure, len(columns), f"masks-{name.replace('_', '-')}")


def _draw(name: str, figure: go.Figure, columns: int, file_name: str) -> None:
    with st.container(key=f"wide_figure_{name}" if columns > MOST_COLUMNS_ON_A_PHONE else f"figure_{name}"):
        figures.draw(figure, f"masks_{name}", file_name)


def _show_masks(sentence: str, padding: int) -> None:
    rows, columns = _axes("decoder_attention", sentence, padding)
    padded, later = _padded_cells(len(rows), padding), hidden_by_look_ahead(len(rows))
    hide = _named_hidden()
    masks = {
        "padding": hide(padded=padded),
        "look_ahead": hide(masked=later),
        "both_map": hide(masked=later, padded=padded),
    }
    for place, (name, hidden) in zip(st.columns(3, gap="medium"), masks.items(), strict=True):
        with place:
            st.subheader(say(f"masks_{name}_heading"))
            _show_map(name, hidden, rows, columns, THIRD)
    markup.paragraph(
        say(
            "masks_both_reading" if padding else "masks_both_reading_no_padding",
            cells=padded.size,
            later=int(later.sum()),
            added=int((padded & ~later).sum()),
        ),
        "reading",
    )


def _axes(kind: str, sentence: str, padding: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(row tokens, column tokens) of a sentence that is written as it was read, with its padding."""
    read = _source_tokens(sentence, padding)
    if kind != "decoder_attention":
        return read, read
    return read, ("<s>", *read[: len(sentence)], *read[len(sentence) + 1 :])


def _padded_cells(length: int, padding: int) -> np.ndarray:
    """(Q, K) bool with Q = K = ``length``, True in the columns of the padding, which ends each row."""
    return np.broadcast_to(np.arange(length) >= length - padding, (length, length))


def _show_logits(sentence: str, padding: int, corrector: loaders.EngineCorrector) -> None:
    """The logits of one head for the padded sentence, and their softmax, without the mask and with it."""
    st.header(say("masks_logits_heading"))
    with spinner(say("working")):
        found = corrector.ask(questions.projections, sentence, sentence, padding)
    kind, layer, head = _choose_head(found)
    projections = found[kind]
    query, key, value = (getattr(projections, name)[layer, head] for name in ("query", "key", "value"))
    padded = _padded_cells(len(key), padding)
    later = hidden_by_look_ahead(len(key)) if kind == "decoder_attention" else None
    hidden = _named_hidden()(masked=later, padded=padded)
    cells = hidden.cells(padded.shape)
    without, with_mask = (dot_product_attention(query, key, value, mask) for mask in (None, ~cells))
    rows, columns = _axes(kind, sentence, padding)
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
        share=percent(say, leaks[row]),
        mean=percent(say, leaks.mean()),
    )


main()
