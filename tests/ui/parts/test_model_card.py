"""What a model's folder tells, as tables."""

from ui.parts.model_card import ModelCard, comparison_table


def card(evaluation: dict | None) -> ModelCard:
    return ModelCard({}, 1_000, evaluation, None, (), None, None, False)


def test_only_models_with_an_evaluation_are_compared():
    cards = {"one": card({"total": {"exact_match": 0.5}}), "other": card(None)}
    table = comparison_table(cards)
    assert list(table.index) == ["one"]
    assert (table.loc["one", "parameters"], table.loc["one", "exact_match"]) == (1_000, 0.5)
