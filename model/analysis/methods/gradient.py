"""Gradient times input embedding, summed over D. Positional encodings get no share."""

from model.analysis.method import AttributedRow, AttributionMethod, TokenScores


def say(row: AttributedRow) -> TokenScores:
    asked = row.contrast.row, row.contrast.written, row.contrast.instead
    found = row.network.laboratory.slopes(*row.ids, asked, [1.0])
    return TokenScores(found.source[0], found.target[0])


METHOD = AttributionMethod("gradient", 5, say, signed=True, by_gradients=True)
