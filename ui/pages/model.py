"""A model in numbers: its size, its results, what its confidence is worth, how training went."""

import pandas as pd
import streamlit as st

import viz
from ui import controls, figures, header, loaders, markup, model_card, models
from ui.texts import say

SIZES = ("num_layers", "num_heads", "d_model", "dff", "vocab_size", "max_length")
COMPARED = ("transformer", "seq2seq")
NUMBERS = ("count", "parameters", "pairs")  # columns of a table of scores that hold no shares


def main() -> None:
    header.show("model")
    st.title(say("model_title"))
    markup.paragraph(say("model_lead"), "lead")
    entry = models.choose()
    card = entry and model_card.read_card(entry.path)
    if card is None:
        st.info(say("model_missing"))
        return
    st.header(say("config_heading"))
    show_sizes(card)
    if card.evaluation:
        show_evaluation(card.evaluation)
        compare_shipped()
        show_confidence(card.evaluation)
    if card.history is not None:
        st.header(say("history_heading"))
        show_history(card)
    if card.runs:
        show_training(card.runs)


def show_sizes(card: model_card.ModelCard) -> None:
    """A few large numbers side by side."""
    with st.container(horizontal=True, gap="medium"):
        st.metric(say("size_parameters"), f"{card.parameters:,}", width="content")
        for name in SIZES:
            if name in card.config:
                st.metric(say(f"size_{name}"), f"{card.config[name]:,}", width="content")


def show_evaluation(evaluation: dict) -> None:
    """One row for each family of errors."""
    st.header(say("evaluation_heading"))
    shown = as_texts(model_card.family_table(evaluation)).rename(index=lambda name: say(f"family_{name}"))
    markup.table(shown, say("evaluation_heading"), strong=say("family_all"))
    generated = evaluation.get("mix") is not None
    caption = say("evaluation_generated" if generated else "evaluation_given", **origin(evaluation))
    markup.paragraph(caption, "note")


def origin(evaluation: dict) -> dict:
    return {"file": evaluation["file"], "seed": evaluation["seed"]}


def compare_shipped() -> None:
    """The total of each shipped network beside the others', where they were asked the same."""
    entries = [entry for entry in loaders.list_entries() if loaders.model_id(entry) in COMPARED]
    cards = {models.name_of(entry): model_card.read_card(entry.path) for entry in entries}
    evaluations = [card and card.evaluation for card in cards.values()]
    if not model_card.were_asked_the_same(evaluations):
        return
    st.header(say("comparison_heading"))
    markup.table(as_texts(model_card.comparison_table(cards)), say("comparison_heading"))
    markup.paragraph(say("comparison_caption"), "note")


def show_confidence(evaluation: dict) -> None:
    """Whether a confidence of 0.9 is right nine times of ten, and what asking for more costs."""
    error = evaluation.get("reliability", {}).get("expected_calibration_error")
    if error is not None:  # None: the network wanted to change nothing
        st.header(say("reliability_heading"))
        markup.paragraph(say("reliability_reading", error=f"{error * 100:.1f}"), "reading")
        figure = viz.reliability_curve(
            model_card.reliability_bins(evaluation),
            titles=(say("reliability_confidence"), say("reliability_right"), say("reliability_changes")),
            curve_name=say("reliability_measured"),
            diagonal_name=say("reliability_diagonal"),
            theme=controls.theme(),
        )
        figures.draw(figure, "reliability", "reliability")
        markup.paragraph(say("reliability_caption"), "note")
    if "thresholds" in evaluation:
        st.header(say("thresholds_heading"))
        table = as_texts(model_card.threshold_table(evaluation)).rename(index="{:.2f}".format)
        table = table.rename_axis(say("confidence_label"))
        own = f"{evaluation['minimum_confidence']:.2f}"
        markup.table(table, say("thresholds_heading"), strong=own)
        markup.paragraph(say("thresholds_caption", own=own), "note")


def as_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Scores as a visitor reads them, with the names of the columns."""
    texts = pd.DataFrame(
        {name: column.map(number if name in NUMBERS else share) for name, column in table.items()}
    )
    return texts.rename(columns=lambda name: say(f"score_{name}"))


def number(value: float | None) -> str:
    return "–" if pd.isna(value) else f"{value:,.0f}"


def share(value: float | None) -> str:
    return "–" if pd.isna(value) else f"{value:.1%}"


def show_history(card: model_card.ModelCard) -> None:
    """Loss, scores on unseen sentences, and learning rate over the steps."""
    markup.paragraph(say("history_reading"), "reading")
    figure = viz.history_curves(
        card.history,
        losses={"loss": say("history_training"), "dev_loss": say("history_scores")},
        scores={"dev_token_accuracy": say("history_scores")},
        step_title=say("history_step"),
        loss_title=say("history_loss"),
        score_title=say("history_dev_token_accuracy"),
        learning_rate_title=say("history_learning_rate"),
        theme=controls.theme(),
    )
    figures.draw(figure, "history", "history")
    if card.learned:
        pairs, seconds = card.learned
        caption = say("history_caption", pairs=f"{pairs:,}", hours=f"{seconds / 3600:,.1f}")
        markup.paragraph(caption, "note")


def show_training(runs: tuple[dict, ...]) -> None:
    """The command of each training the model went through, and what it ran on."""
    st.header(say("training_heading"))
    for run in runs:
        st.code(run["command"], language=None, wrap_lines=True)
        machine = " · ".join(f"{name} {value}" for name, value in run.get("hardware", {}).items())
        markup.paragraph(machine, "note")


main()
