"""Page of the positional encoding: matrix, similarity of positions, effect on a sentence."""

import numpy as np
import streamlit as st

import viz
from engine import questions
from model.analysis import building_blocks as analysis
from ui.asking import loaders, models
from ui.components.figures import box, draw
from ui.parts import page_pictures
from ui.sentence import decisions
from ui.shell import controls, header, markup
from ui.shell.settings import DIMENSIONS, POSITIONS
from ui.wording import percent, say
from viz.browser.texts import visible

_MARKS = {"␣": "token_space", "</s>": "token_end"}
FORMULA = (
    r"\mathrm{PE}(pos, 2i) = \sin\left(\frac{pos}{10000^{2i/d}}\right)"
    r"\qquad \mathrm{PE}(pos, 2i+1) = \cos\left(\frac{pos}{10000^{2i/d}}\right)"
)
SIMILARITY_FORMULA = (
    r"\mathrm{PE}(p) \cdot \mathrm{PE}(q) = \sum_{i=0}^{d/2-1} \cos\left(\frac{p - q}{10000^{2i/d}}\right)"
)
SUM_FORMULA = (
    r"x_p = \sqrt{d}\, e + \mathrm{PE}(p) \qquad \lVert x_p - x_q \rVert = "
    r"\lVert \mathrm{PE}(p) - \mathrm{PE}(q) \rVert"
)


def main() -> None:
    header.show("positions")
    for_positions, for_dimensions = st.columns(2, gap="medium")
    with for_positions:
        positions = controls.slide(POSITIONS)
    with for_dimensions:
        dimensions = controls.slide(DIMENSIONS)
    matrix = loaders.positional_encoding(positions, dimensions)
    _show_matrix(matrix)
    _show_curves(matrix)
    controls.explain("formula_text", FORMULA)
    _show_similarity(matrix)
    _show_sentence()


def _show_matrix(matrix: np.ndarray) -> None:
    """(P, D) as a red-blue picture."""
    told, made = page_pictures.encoding(controls.theme())
    draw(made["matrix"][0], "matrix", f"positions-matrix-{len(matrix)}x{matrix.shape[1]}")
    markup.paragraph(told, "reading")


def _show_curves(matrix: np.ndarray) -> None:
    """Chosen columns of (P, D) over the positions."""
    st.header(say("curves_heading"))
    chosen = controls.pick_numbers("curves", matrix.shape[1] - 1)
    names = (say("position_axis"), say("value_axis"))
    figure = viz.positional_encoding_curves(
        matrix,
        chosen,
        captions=viz.Captions(
            titles=names,
            hover=names,
            names=(f"{{dimension}}: {say('sine')}", f"{{dimension}}: {say('cosine')}"),
            theme=controls.theme(),
        ),
    )
    draw(figure, "curves", "positions-curves")
    markup.paragraph(say("curves_reading"), "reading")


def _show_similarity(matrix: np.ndarray) -> None:
    """(P, D) against itself: every two positions, and the curve over their distance."""
    st.header(say("positions_similarity_heading"))
    similarities = analysis.similarity(matrix)
    curve = analysis.by_distance(similarities)
    below_half = np.flatnonzero(curve < curve[0] / 2)
    values = {"one": f"{curve[1]:.1f}", "most": f"{curve[0]:.1f}", "share": percent(curve[1] / curve[0])}
    if below_half.size:
        text = say("positions_similarity_reading", half=int(below_half[0]), **values)
    else:
        text = say(
            "positions_similarity_reading_high", last=len(curve) - 1, lowest=f"{curve.min():.1f}", **values
        )
    title, theme = say("positions_similarity_axis"), controls.theme()
    for_pairs, for_distances = st.columns(2, gap="medium")
    with for_pairs:
        figure = viz.position_similarity_heatmap(
            similarities, captions=viz.Captions(titles=(say("position_axis"), title), theme=theme)
        )
        draw(figure, "similarity", "positions-similarity")
    with for_distances:
        titles = (say("positions_distance_axis"), title)
        figure = viz.position_similarity_curve(curve, captions=viz.Captions(titles=titles, theme=theme))
        draw(figure, "similarity_curve", "positions-similarity-by-distance")
    markup.paragraph(text, "reading")
    controls.explain("positions_similarity_text", SIMILARITY_FORMULA)


def _show_sentence() -> None:
    """The positional encoding of the typed sentence in the chosen network, beside its embeddings."""
    st.header(say("positions_sentence_heading"))
    entry = models.choose()
    corrector = models.load_inside(entry)
    if corrector is None:
        return
    if not corrector.config.has_positions:
        st.info(say("positions_recurrent"))
        return
    found = decisions.show_sentence(corrector)
    if found is None:
        return
    limit = corrector.config.max_length
    if found.too_long:
        st.info(say("positions_cut", length=f"{len(found.source):,}", limit=limit))
    text = found.source[:limit]
    tokens = (*visible(text), "</s>")
    embeddings = corrector.ask(questions.embeddings, text)
    encoding = loaders.positional_encoding(len(tokens) + limit, embeddings.shape[1])
    _show_sizes(tokens, analysis.sizes(embeddings, encoding), embeddings.shape[1])
    first_change = found.changes[0].source_start if found.changes else 0
    _show_move(tokens, embeddings, encoding, first_change, limit)
    controls.explain("positions_sum_text", SUM_FORMULA)


def _show_sizes(tokens: tuple[str, ...], sizes: analysis.VectorLengths, width: int) -> None:
    """Lengths (S,) of the embeddings of ``tokens`` and of their encoding; ``width`` is D."""
    st.header(say("positions_sizes_heading"))
    plain, scaled, encoding = (float(each.mean()) for each in (sizes.embedding, sizes.scaled, sizes.encoding))
    larger = "token" if scaled > encoding else "position"
    text = say(
        "positions_sizes_reading",
        embedding=f"{plain:.1f}",
        encoding=f"{encoding:.1f}",
        factor=f"{width**0.5:.1f}",
        scaled=f"{encoding / max(scaled, 1e-9):.2f}",
    )
    figure = viz.embedding_sizes(
        tokens,
        sizes.embedding,
        sizes.scaled,
        sizes.encoding,
        captions=viz.Captions(
            titles=(say("positions_token_axis"), say("positions_length_axis")),
            names=(say("positions_embedding"), say("positions_embedding_scaled"), say("positions_encoding")),
            theme=controls.theme(),
        ),
    )
    # On a phone, a figure of many tokens scrolls inside its box, so that the tokens stay apart.
    with box("sizes", len(tokens)):
        draw(figure, "sizes", "positions-and-embeddings")
    markup.paragraph(f"{text} {say(f'positions_sizes_{larger}')}", "reading")


def _show_move(
    tokens: tuple[str, ...], embeddings: np.ndarray, encoding: np.ndarray, first: int, farthest: int
) -> None:
    """How far a token's vector moves 0 to ``farthest`` positions later, beside the nearest other tokens at
    its place."""
    st.header(say("positions_move_heading"))
    places = [str(place) for place in range(len(tokens))]
    chosen = controls.pick(
        "moved", places, lambda place: f"{int(place) + 1}: {tokens[int(place)]}", otherwise=str(first)
    )
    place = int(chosen)
    move = analysis.move(embeddings[place], encoding[: place + farthest + 1], place)
    others = analysis.nearest_others(tokens, embeddings, encoding, place)
    for measure, column in zip(("distance", "cosine"), st.columns(2, gap="medium"), strict=True):
        figure = viz.position_shift(
            getattr(move, measure),
            [viz.ShiftReference(other.token, getattr(other, measure)) for other in others],
            captions=viz.Captions(
                titles=(say("positions_shift_axis"), say(f"positions_{measure}_measure")),
                names=(say("positions_moved_name"), say("positions_other_name", token="{token}")),
                theme=controls.theme(),
            ),
        )
        with column:
            draw(figure, f"move_{measure}", f"positions-move-{measure}")
    markup.paragraph(_describe_move(tokens[place], move, others), "reading")


def _describe_move(token: str, move: analysis.Move, others: list[analysis.OtherToken]) -> str:
    """Whether the position or the token itself changes the vector of ``token`` more."""
    values = {
        "token": _name_of(token),
        "one": f"{move.distance[1]:.1f}",
        "most": f"{move.distance.max():.1f}",
        "shift": int(move.distance.argmax()),
    }
    if not others:
        return say("positions_move_alone", **values)
    nearest = others[0]
    values |= {"other": _name_of(nearest.token), "distance": f"{nearest.distance:.1f}"}
    farther = np.flatnonzero(move.distance > nearest.distance)
    if not farther.size:
        return say("positions_move_identity", **values, times=f"{nearest.distance / move.distance.max():.1f}")
    return say("positions_move_position", **values, from_=int(farther[0]))


def _name_of(token: str) -> str:
    return say(_MARKS[token]) if token in _MARKS else say("token", token=token)


main()
