"""Layout of the network diagram: no overlaps, all inside, arrows between parts."""

from itertools import combinations

import pytest

from ui.components.diagram import FORMS, Column, DiagramPart, Drawing, Layer, PlacedPart, Sublayer, arrange


def part(name: str, **more) -> DiagramPart:
    return DiagramPart("embedding", name, **more)


def sublayer(name: str, norm_first: bool, **more) -> Sublayer:
    return Sublayer(part(name, **more), DiagramPart("norm", f"norm of {name}"), norm_first)


def drawn(form: str, norm_first: bool = True) -> Drawing:
    own, fed = sublayer("own", norm_first, chip=part("mask")), sublayer("fed", norm_first)
    cross = sublayer("cross", norm_first, asks_memory=True, chip=part("mask"))
    encoder = (part("source"), Layer(part("e1"), (own, fed)), Layer(part("e2")), part("memory"))
    decoder = (
        part("prefix"),
        Layer(part("d1", asks_memory=True)),
        Layer(part("d2"), (own, cross, fed)),
        part("result"),
    )
    return arrange(Column("Encoder", encoder), Column("Decoder", decoder), form)


def overlap(one: PlacedPart, other: PlacedPart) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def find(drawing: Drawing, title: str, number: int = 0) -> PlacedPart:
    return [box for box in drawing.boxes if box.part.title == title][number]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("norm_first", [True, False])
def test_no_two_parts_overlap_and_none_leaves_the_picture(form, norm_first):
    drawing = drawn(form, norm_first)
    assert not [pair for pair in combinations(drawing.boxes, 2) if overlap(*pair)]
    for box in (*drawing.boxes, *drawing.frames):
        assert 0 <= box.x < box.x + box.width <= drawing.width
        assert 0 <= box.y < box.y + box.height <= drawing.height
    for line in drawing.lines:
        assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in line.points)


@pytest.mark.parametrize("form", FORMS)
def test_the_encoders_result_reaches_all_that_ask_for_it(form):
    drawing = drawn(form)
    ends = {line.points[-1] for line in drawing.lines if line.style == "memory"}
    asking = [find(drawing, "d1"), find(drawing, "cross")]
    assert ends == {(box.x, box.y + box.height / 2) for box in asking}


def test_normalisation_comes_before_or_after_as_asked():
    before, after = drawn("narrow", norm_first=True), drawn("narrow", norm_first=False)
    assert find(before, "norm of own").y < find(before, "own").y < before.sums[0][1]
    assert find(after, "own").y < after.sums[0][1] < find(after, "norm of own").y
