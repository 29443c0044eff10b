"""Gradient times input embedding, summed over D. Positional encodings get no share."""

from model.analysis.method import AskedRow, Method, Said


def say(row: AskedRow) -> Said:
    asked = row.contrast.row, row.contrast.written, row.contrast.instead
    found = row.network.laboratory.slopes(*row.ids, asked, [1.0])
    return Said(found.source[0], found.target[0])


METHOD = Method("gradient", 5, say, signed=True, by_gradients=True)
