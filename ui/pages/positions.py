"""The positional encoding: its matrix, and single dimensions of it as curves."""

import math

import streamlit as st

import viz
from ui import controls, loaders, markup
from ui.texts import say

LARGEST = 512
FORMULA = (
    r"\mathrm{PE}(pos, 2i) = \sin\left(\frac{pos}{10000^{2i/d}}\right)"
    r"\qquad \mathrm{PE}(pos, 2i+1) = \cos\left(\frac{pos}{10000^{2i/d}}\right)"
)


def main() -> None:
    st.title(say("positions_title"))
    markup.paragraph(say("positions_lead"), "lead")
    for_positions, for_dimensions = st.columns(2, gap="medium")
    with for_positions:
        positions = controls.slide("positions", 2, LARGEST)
    with for_dimensions:
        dimensions = controls.slide("dimensions", 2, LARGEST, step=2)
    matrix = loaders.positional_encoding(positions, dimensions)
    show_matrix(matrix)
    show_curves(matrix)
    with st.expander(say("formula_heading")):
        st.latex(FORMULA)
        st.markdown(say("formula_text"))


def show_matrix(matrix) -> None:
    """(P, D) as a red-blue picture, and how fast its slowest pair of dimensions turns."""
    st.header(say("matrix_heading"))
    last = matrix.shape[1] - 2  # the sine of the slowest pair
    period = 2 * math.pi * 10000 ** (last / matrix.shape[1])
    markup.paragraph(say("matrix_reading", last=last, period=f"{period:,.1f}"), "reading")
    names = (say("dimension_axis"), say("position_axis"), say("value_axis"))
    figure = viz.positional_encoding_heatmap(matrix, titles=names, hover=names, theme=controls.theme())
    st.plotly_chart(figure, key="matrix", theme=None, config=viz.config(file_name="positional-encoding"))


def show_curves(matrix) -> None:
    """Chosen columns of (P, D) over the positions."""
    st.header(say("curves_heading"))
    chosen = controls.pick_numbers("curves", matrix.shape[1] - 1)
    markup.paragraph(say("curves_reading"), "reading")
    names = (say("position_axis"), say("value_axis"))
    figure = viz.positional_encoding_curves(
        matrix,
        chosen,
        titles=names,
        hover=names,
        curve_names=(f"{{dimension}}: {say('sine')}", f"{{dimension}}: {say('cosine')}"),
        theme=controls.theme(),
    )
    st.plotly_chart(figure, key="curves", theme=None, config=viz.config(file_name="curves"))


main()
