"""The shipped model in numbers: its size, its results, how training went."""

import pandas as pd
import streamlit as st

import viz
from ui import controls, markup, model_card
from ui.texts import say

SIZES = ("num_layers", "num_heads", "d_model", "dff", "vocab_size", "max_length")


def main() -> None:
    st.title(say("model_title"))
    markup.paragraph(say("model_lead"), "lead")
    card = model_card.read_card(model_card.FOLDER)
    if card is None:
        st.info(say("model_missing"))
        return
    st.header(say("config_heading"))
    show_sizes(card)
    if card.evaluation:
        st.header(say("evaluation_heading"))
        show_evaluation(card.evaluation)
    if card.history is not None:
        st.header(say("history_heading"))
        show_history(card.history)


def show_sizes(card: model_card.ModelCard) -> None:
    """A few large numbers side by side."""
    with st.container(horizontal=True, gap="medium"):
        st.metric(say("size_parameters"), f"{card.parameters:,}", width="content")
        for name in SIZES:
            st.metric(say(f"size_{name}"), f"{card.config[name]:,}", width="content")


def show_evaluation(evaluation: dict) -> None:
    """One row for each family of errors."""
    table = model_card.evaluation_table(evaluation)
    share = table.drop(columns="count").map(lambda value: "–" if pd.isna(value) else f"{value:.1%}")
    shown = pd.concat([table["count"].map("{:,.0f}".format), share], axis=1)
    shown.index = [say(f"family_{name}") for name in table.index]
    markup.table(shown.rename(columns=lambda name: say(f"score_{name}")), say("evaluation_heading"))
    markup.paragraph(say("evaluation_caption", file=evaluation["file"], seed=evaluation["seed"]), "note")


def show_history(history: pd.DataFrame) -> None:
    """Loss, scores on unseen sentences, and learning rate over the steps."""
    figure = viz.history_curves(
        history,
        scores={"dev_loss": say("history_dev_loss"), "dev_token_accuracy": say("history_dev_token_accuracy")},
        step_title=say("history_step"),
        loss_title=say("history_loss"),
        score_title=say("history_scores"),
        learning_rate_title=say("history_learning_rate"),
        theme=controls.theme(),
    )
    st.plotly_chart(figure, key="history", theme=None, config=viz.config(file_name="history"))


main()
