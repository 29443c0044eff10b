"""Page of the model card: a model's size, scores, calibration and training."""

from pathlib import Path

import pandas as pd
import streamlit as st

import viz
from ui.asking import loaders, models
from ui.components import figures
from ui.parts import model_card
from ui.shell import controls, header, markup
from ui.wording import about, language, percent, say

SIZES = ("num_layers", "num_heads", "d_model", "dff", "vocab_size", "max_length")
COMPARED = ("transformer", "seq2seq")
LOSS_HEIGHT = 330  # pixels of the first curve, so that it ends in the first screen
NUMBERS = ("count", "parameters", "pairs")  # columns of a table of scores that hold no shares


def main() -> None:
    header.show("model")
    for_choice, for_words = st.columns([1, 2], gap="medium")
    with for_choice:
        entry = models.choose()
    if models.has_no_inside(entry):
        return
    card = model_card.read_card(Path(entry.path)) if entry is not None else None
    if card is None:
        st.info(say("model_missing"))
        return
    with for_words:
        markup.paragraph(_describe(card), "reading")
    for_curve, for_table = st.columns([3, 2], gap="medium")
    with for_curve:
        if card.history is not None:
            _show_losses(card.history)
    with for_table:
        if card.evaluation:
            _show_families(card.evaluation, ["count", "exact_match", "f0.5"])
    if card.snapshots is not None:
        markup.paragraph(say("model_snapshots", count=len(card.snapshots)), "note")
    _show_details(card)


def _describe(card: model_card.ModelCard) -> str:
    parameters = about(language(), card.parameters)
    if not (card.learned and card.evaluation):
        return say("model_reading_parameters", parameters=parameters)
    pairs, seconds = card.learned
    total = card.evaluation["total"]
    return say(
        "model_reading",
        parameters=parameters,
        pairs=about(language(), pairs),
        hours=about(language(), seconds / 3600),
        count=f"{total['count']:,}",
        exact=percent(total["exact_match"]),
    )


def _show_details(card: model_card.ModelCard) -> None:
    """Everything else, one click away."""
    with st.expander(say("config_heading")):
        _show_sizes(card)
    if card.evaluation:
        with st.expander(say("evaluation_heading")):
            _show_evaluation(card.evaluation)
            _compare_shipped()
        if _calibration_error(card.evaluation) is not None or "thresholds" in card.evaluation:
            with st.expander(say("reliability_heading")):
                markup.paragraph(
                    say("confidence_origin_words" if card.knows_words else "confidence_origin"), "reading"
                )
                _show_confidence(card.evaluation)
    if card.snapshots is not None:
        with st.expander(say("snapshots_heading")):
            _show_snapshots(card.snapshots)
    if card.history is not None or card.runs:
        with st.expander(say("training_heading")):
            _show_training(card)


def _show_sizes(card: model_card.ModelCard) -> None:
    """A few large numbers side by side."""
    with st.container(horizontal=True, gap="medium"):
        st.metric(say("size_parameters"), f"{card.parameters:,}", width="content")
        for name in SIZES:
            if name in card.config:
                st.metric(say(f"size_{name}"), f"{card.config[name]:,}", width="content")


def _show_families(evaluation: dict, scores: list[str] | None = None) -> None:
    """One row for each family of errors; all scores, or some."""
    table = model_card.family_table(evaluation)
    shown = (table if scores is None else table[scores]).rename(index=lambda name: say(f"family_{name}"))
    _show_scores(shown, say("evaluation_heading"), strong=say("family_all"))


def _show_evaluation(evaluation: dict) -> None:
    """All scores of each family of errors, and where they come from."""
    _show_families(evaluation)
    generated = evaluation.get("mix") is not None
    caption = say("evaluation_generated" if generated else "evaluation_given", **_origin(evaluation))
    markup.paragraph(caption, "note")


def _origin(evaluation: dict) -> dict:
    return {"file": evaluation["file"], "seed": evaluation["seed"]}


def _compare_shipped() -> None:
    entries = [entry for entry in loaders.list_entries() if loaders.model_id(entry) in COMPARED]
    found = {models.name_of(entry): model_card.read_card(Path(entry.path)) for entry in entries}
    cards = {name: card for name, card in found.items() if card is not None}
    evaluations = [card.evaluation for card in cards.values()]
    if len(cards) < len(found) or not model_card.were_asked_the_same(evaluations):
        return
    st.subheader(say("comparison_heading"))
    _show_scores(model_card.comparison_table(cards), say("comparison_heading"))
    markup.paragraph(say("comparison_caption"), "note")


def _calibration_error(evaluation: dict) -> float | None:
    """None if it was not measured, or if the network proposed nothing."""
    return evaluation.get("reliability", {}).get("expected_calibration_error")


def _show_confidence(evaluation: dict) -> None:
    error = _calibration_error(evaluation)
    if error is not None:
        figure = viz.reliability_curve(
            model_card.reliability_bins(evaluation),
            captions=viz.Captions(
                titles=(say("reliability_confidence"), say("reliability_right"), say("reliability_changes")),
                names=(say("reliability_measured"), say("reliability_diagonal")),
                theme=controls.theme(),
            ),
        )
        figures.draw(figure, "reliability", "model-reliability")
        markup.paragraph(say("reliability_reading", error=f"{error * 100:.1f}"), "reading")
        markup.paragraph(say("reliability_caption"), "note")
    if "thresholds" in evaluation:
        st.subheader(say("thresholds_heading"))
        table = model_card.threshold_table(evaluation).rename(index="{:.2f}".format)
        own = f"{evaluation['minimum_confidence']:.2f}"
        _show_scores(table, say("thresholds_heading"), strong=own, corner=say("confidence_label"))
        markup.paragraph(say("thresholds_caption", own=own), "note")


def _show_scores(table: pd.DataFrame, label: str, strong: str | None = None, corner: str = "") -> None:
    """Scores as a visitor reads them, with the names of the columns."""
    columns = [say(f"score_{name}") for name in table.columns]
    texts = [table[name].map(_number if name in NUMBERS else _share) for name in table.columns]
    rows = zip(table.index, zip(*texts, strict=True), strict=True)
    markup.table(columns, rows, label, strong, corner)


def _number(value: float | None) -> str:
    return "–" if pd.isna(value) else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "–" if value is None or pd.isna(value) else percent(value, 1)


def _show_losses(history: pd.DataFrame) -> None:
    """The loss on sentences it learned from and on unseen ones."""
    figure = viz.history_curves(
        history,
        losses={"loss": say("history_training"), "dev_loss": say("history_scores")},
        scores={},
        panel_height=LOSS_HEIGHT,
        captions=viz.Captions(
            titles=(say("history_step"), say("history_loss"), "Development score", ""),
            names=(say("history_cooling"),),
            theme=controls.theme(),
        ),
    )
    figures.draw(figure, "history", "model-training-loss")
    markup.paragraph(say("history_reading"), "note")


def _show_snapshots(snapshots: pd.DataFrame) -> None:
    """How the network grew up: a row for each of its snapshots."""
    table = model_card.snapshot_table(snapshots).rename(index="{:,}".format)
    _show_scores(table, say("snapshots_heading"), corner=say("history_step"))
    markup.paragraph(say("snapshots_caption"), "note")


def _show_training(card: model_card.ModelCard) -> None:
    if card.history is not None:
        figure = viz.history_curves(
            card.history,
            losses={},
            scores={"dev_token_accuracy": say("history_scores")},
            captions=viz.Captions(
                titles=(
                    say("history_step"),
                    "Loss",
                    say("history_dev_token_accuracy"),
                    say("history_learning_rate"),
                ),
                theme=controls.theme(),
            ),
        )
        figures.draw(figure, "training", "model-training-rate")
        if card.learned:
            pairs, seconds = card.learned
            caption = say("history_caption", pairs=f"{pairs:,}", hours=f"{seconds / 3600:,.1f}")
            markup.paragraph(caption, "note")
    if card.losses is not None:
        _show_runs(card.losses)
    for run in card.runs:
        st.code(run["command"], language=None, wrap_lines=True)
        machine = " · ".join(f"{name} {value}" for name, value in run.get("hardware", {}).items())
        markup.paragraph(machine, "note")


def _show_runs(losses: pd.DataFrame) -> None:
    """How far each run, and each average of weights, brought the loss on unseen sentences."""
    figure = viz.history_curves(
        losses.rename(columns={"run": "step"}).assign(loss=None, learning_rate=None),
        losses={"dev_loss": say("history_scores")},
        scores={},
        captions=viz.Captions(
            titles=(say("runs_run"), say("history_loss"), "Development score", ""), theme=controls.theme()
        ),
    )
    figures.draw(figure, "runs", "model-runs")
    markup.paragraph(say("runs_reading", count=len(losses)), "note")


main()
