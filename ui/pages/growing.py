"""Page of training snapshots: the correction and attention of each for the typed sentence.

The film is a fragment that runs by itself, so that the rest of the page is not run for each picture.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

import viz
from engine import questions
from model.analysis.roles import OWN, Growth, growth
from model.trace.trace import Grown, Selection
from ui.asking import loaders, models
from ui.components import figures
from ui.parts import model_card
from ui.sentence import stage
from ui.sentence.decisions import show_sentence
from ui.shell import address, controls, header, markup
from ui.wording import say
from viz.browser.texts import map_texts

MODEL = "growing-up"
SECONDS_A_PICTURE = 0.9
_FILM = "film_at"
_OPENED = "growing_opened"  # the head whose tile has just been pressed


def main() -> None:
    header.begin("growing")
    header.tools()
    entry = next((each for each in loaders.list_entries() if each.name == MODEL), None)
    corrector, chosen = models.load_corrector(entry), models.load_corrector(models.chosen())
    if entry is None or corrector is None or chosen is None:
        return
    with models.error_shown():
        sentence = show_sentence(chosen)  # of several the one that is open on the other pages, too
        if sentence is None:
            return
        with st.spinner(say("growing_working")):
            found = corrector.ask(questions.grown, sentence.source)
        if not found:
            st.info(say("sentence_none"))
            return
        _show(entry, found)


def _show(entry: loaders.ModelEntry, found: tuple) -> None:
    """The slider and the film; below them the pictures of one snapshot."""
    steps = [str(each.step) for each in found]
    choosing, following, playing = st.columns([5, 3, 2], vertical_alignment="bottom")
    with choosing:
        step = controls.slide_through("snapshot", steps, steps[-1], lambda step: f"{int(step):,}")
    with playing:
        film = controls.switch("film")
    if head := st.session_state.pop(_OPENED, None):
        address.put_head(*head)
    with controls.line(key="map"):
        selection = stage.choose_map(found[0].trace)
    card = model_card.read_card(Path(entry.path))
    if card is None or card.snapshots is None:
        st.error(say("model_folder_error"))
        return
    measured = card.snapshots.set_index("step").reindex([each.step for each in found])
    grown = growth(
        selection.kind,
        [each.source for each in found],
        [each.text for each in found],
        [each.trace for each in found],
    )
    with following:
        role = controls.pick("grown_role", list(grown.shares), _role, OWN)
    at = steps.index(step)
    if not film:
        st.session_state[_FILM] = at

    @st.fragment(run_every=SECONDS_A_PICTURE if film else None)
    def pictures() -> None:
        if _OPENED in st.session_state:
            st.rerun()  # the choice of heads lies outside of the fragment
        now = at
        if film:  # each run of the fragment alone is the next picture
            now = st.session_state[_FILM] = (st.session_state.get(_FILM, -1) + 1) % len(found)
        _show_told(found[now])
        heads, map_, curves = st.columns([27, 42, 31], gap="small")  # so that one look takes in all three
        with heads:
            trace = found[now].trace
            tiles = figures.heads_figure(trace, selection)
            figures.draw(tiles, "growing_heads", "growing-up-heads", _open_tile, label=say("overview_label"))
        with map_:
            _show_map(found[now], selection)
        with curves:
            _show_growth(found, measured, grown.shares[role], _role(role), now)

    pictures()
    _show_roles(found, grown, selection)
    _show_texts(found)
    with st.expander(say("explanation")):
        st.markdown(say("growing_idea", count=len(found)))


def _open_tile(point: dict) -> None:
    """From a callback: keep the head of a tile for the next run of the page, because a run of the fragment
    may not change settings."""
    if head := figures.head_of(point):
        st.session_state[_OPENED] = head


def _show_told(grown: Grown) -> None:
    same = "growing_unfinished" if grown.is_unfinished else "growing_reading_same"
    told = "growing_reading" if grown.text != grown.source else same
    markup.told(say(told, step=f"{grown.step:,}", text=grown.text))


def _show_map(grown: Grown, selection: Selection) -> None:
    trace = grown.trace
    queries, keys = trace.axes(selection.kind)
    figures.draw(
        viz.attention_heatmap(
            selection.weights(trace),
            queries,
            keys,
            texts=map_texts(say, selection.kind),
            extent=max(len(trace.source_tokens), len(trace.target_tokens)),
            theme=controls.theme(),
        ),
        "growing_map",
        f"growing-up-step{grown.step}",
        label=say("growing_map"),
    )


def _show_growth(
    found: tuple[Grown, ...], measured: pd.DataFrame, shares: np.ndarray, role: str, now: int
) -> None:
    """The loss, the share of unseen sentences written without a mistake and, for each head, how much of its
    attention the chosen role takes."""
    names = [
        f"{layer + 1}·{head + 1}" for layer, head in np.ndindex(shares.shape[1:])
    ]  # as the tiles have them
    label = say("growing_share", role=role)
    figures.draw(
        viz.growth_curves(
            [each.step for each in found],
            measured["loss"].to_numpy(),
            measured["exact_match"].to_numpy(),
            shares.reshape(len(found), -1),
            names,
            at=now,
            step_title=say("history_step"),
            loss_title=say("history_loss"),
            score_title=say("growing_score"),
            share_title=label,
            theme=controls.theme(),
        ),
        "growing_curves",
        "growing-up-curves",
        label=label,
    )


def _show_roles(found: tuple, grown: Growth, selection: Selection) -> None:
    """Which role each head has in the end, and since when."""
    told = []
    for layer, head in np.ndindex(grown.leading.shape[1:]):
        role, number = grown.settled(layer, head)
        step = f"{found[number].step:,}"
        told.append(say("growing_found", head=f"{layer + 1}·{head + 1}", role=_role(role), step=step))
    kind = say(f"kind_{selection.kind}")
    markup.paragraph(say("growing_roles", kind=kind, found=", ".join(told)), "note")


def _role(role: str) -> str:
    return say(f"heads_by_{role}")


def _show_texts(found: tuple) -> None:
    title, unfinished = say("growing_text"), say("without_no_end")
    rows = [(f"{each.step:,}", [unfinished if each.is_unfinished else each.text]) for each in found]
    with st.container(key="growing_texts"):  # sentences, not numbers
        markup.table([title], rows, title, corner=say("history_step"))


main()
