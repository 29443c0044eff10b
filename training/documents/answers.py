"""The tables of *looked, wrote, mattered*: ``answers.json`` of the model, which ``python -m model heads --answers`` writes."""

import json
from functools import cache

import numpy as np

from model.analysis.roles import COPIED
from model.stored.folder import ASSETS
from model.survey.answer_file import AnswerSurvey, Mean
from model.survey.answer_sums import CODA, LOOKED, MATTERED, RULE, WROTE
from model.trace.interventions import Head
from model.trace.patches import Node
from training.documents.answer_words import WORDS
from training.documents.attention import KINDS
from training.documents.block import block
from training.documents.sources import Sources
from training.documents.stories import SIDES, head_name
from training.documents.wording import NOTHING, interval, number, percent, table

ALL = "all"
PARTS = 12  # rows in the table of parts
WRITERS = 3  # named for each rule
FEWEST = 10  # edits of a group that has a row
KINDS_OF_PARTS = ("decoder_attention", "cross_attention", "decoder_feed_forward")


def node_name(node: Node, language: str) -> str:
    """A head, or a feed-forward network, in words; layers and heads count from 1.

    >>> node_name(Node("cross_attention", 3, 0), "en"), node_name(Node("decoder_feed_forward", 3), "en")
    ('decoder→encoder 4·1', 'decoder feed-forward 4')
    """
    if node.head is not None:
        return head_name(Head(node.kind, node.layer, node.head), language)
    return WORDS[language]["feed_forward"].format(SIDES[language][node.side], node.layer + 1)


@cache
def _texts(language: str) -> dict[str, str]:
    return json.loads((ASSETS / "texts" / language / "kinds.json").read_text("utf-8"))


def group_name(group: str, language: str) -> str:
    """A group of edits in words.

    >>> group_name("rule:liaison", "ko"), group_name("coda:ㄱ", "en"), group_name("all", "en")
    ('연음', 'coda ㄱ put back', 'all')
    """
    if group.startswith(RULE):
        return _texts(language)[f"rule_{group.removeprefix(RULE)}"]
    if group.startswith(CODA):
        return WORDS[language]["coda"].format(group.removeprefix(CODA))
    return WORDS[language]["all"] if group == ALL else KINDS[group][0 if language == "ko" else 1]


def _cell(found: Mean | None, digits: int = 2) -> str:
    if found is None:
        return NOTHING
    if not np.isfinite(found.margin):
        return number(float(found.mean), digits)
    return interval((float(found.mean), float(found.margin)), digits)


def _kinds(survey: AnswerSurvey) -> list[str]:
    """All edits together, then the kinds of mistakes that there are."""
    return [ALL, *(kind for kind in KINDS if survey.edits(kind))]


@block("answers-size")
def size(sources: Sources, language: str) -> str:
    """How many edits were asked about, and of which weights."""
    survey, say = sources.answers, WORDS[language]
    numbers = f"{survey.edits(ALL):,}", f"{survey.sentences:,}", f"{survey.circuits:,}"
    return table(
        [say["edits"], say["sentences"], say["found_in"], say["fingerprint"]],
        [[*numbers, f"`{survey.fingerprint}`"]],
    )


@block("answers-characters")
def characters(sources: Sources, language: str) -> str:
    """How often looking and writing name the source character without which most is lost."""
    survey, say = sources.answers, WORDS[language]
    header = [say["kind"], say["edits"], say[LOOKED], say[WROTE]]
    header += [say["order"].format(say[name]) for name in (LOOKED, WROTE)]
    rows = [
        [
            group_name(kind, language),
            f"{survey.edits(kind):,}",
            *(
                _cell(survey.of(kind, f"{how}_{name}"))
                for how in ("first", "order")
                for name in (LOOKED, WROTE)
            ),
        ]
        for kind in _kinds(survey)
    ]
    return table(header, rows)


@block("answers-liaison")
def liaison(sources: Sources, language: str) -> str:
    """Where a consonant moved to the next syllable: which character looking, writing and mattering name first."""
    survey, say = sources.answers, WORDS[language]
    rows = [
        [say[name], *(_cell(survey.of("liaison", f"{place}_{name}")) for place in ("own", "next"))]
        for name in (LOOKED, WROTE, MATTERED)
    ]
    return table([say["first"], say["own"], say["next"]], rows)


@block("answers-heads")
def heads(sources: Sources, language: str) -> str:
    """Whether the heads that look, or write, are those that matter. Heads of the decoder."""
    survey, say = sources.answers, WORDS[language]
    rows = [
        [say[f"by_{name}"], _cell(survey.of(ALL, f"rank_{name}"), 1), _cell(survey.of(ALL, f"heads_{name}"))]
        for name in (LOOKED, WROTE)
    ]
    return table([say["by"], say["most"], say["heads"]], rows)


@block("answers-parts")
def parts(sources: Sources, language: str) -> str:
    """The parts that matter most: how much they look, write and matter, and how much of that directly."""
    survey, say = sources.answers, WORDS[language]
    total = survey.of(ALL, "mattered")
    if total is None:
        return NOTHING
    rows = []
    for place in np.argsort(-np.abs(total.mean), kind="stable")[:PARTS]:
        node = survey.acting[place]
        rows.append(
            [
                node_name(node, language),
                _at(survey, ALL, "looked", survey.looking, node),
                _at(survey, ALL, "wrote", survey.writing, node),
                _at(survey, COPIED, "wrote", survey.writing, node),
                _at(survey, ALL, "mattered", survey.acting, node),
                _at(survey, ALL, "direct", survey.acting, node) if node.side == "decoder" else NOTHING,
            ]
        )
    return table([say[name] for name in ("part", "share", "fixes", "copied", "total", "direct")], rows)


def _at(survey: AnswerSurvey, group: str, quantity: str, order: tuple, node: Node) -> str:
    """What was measured of one part; a dash if that part was not measured."""
    found = survey.of(group, quantity)
    if found is None or node not in order:
        return NOTHING
    place = order.index(node)
    return _cell(Mean(found.mean[place], found.margin[place], found.rows))


@block("answers-layers")
def layers(sources: Sources, language: str) -> str:
    """What each layer's heads and feed-forward network write together, for fixes and for copies; and how much of what matters is direct."""
    survey, say = sources.answers, WORDS[language]
    rows = []
    for kind in KINDS_OF_PARTS:
        for layer in range(survey.layers):
            here = [node for node in survey.acting if (node.kind, node.layer) == (kind, layer)]
            rows.append(
                [
                    f"{say[kind]} {layer + 1}",
                    *(
                        _sum(survey, group, quantity, order, here)
                        for group, quantity, order in (
                            (ALL, "wrote", survey.writing),
                            (COPIED, "wrote", survey.writing),
                            (ALL, "mattered", survey.acting),
                            (ALL, "direct", survey.acting),
                        )
                    ),
                ]
            )
    return table([say[name] for name in ("layer", "fixes", "copied", "total", "direct")], rows)


def _sum(survey: AnswerSurvey, group: str, quantity: str, order: tuple, nodes: list[Node]) -> str:
    found = survey.of(group, quantity)
    if found is None:
        return NOTHING
    return number(float(sum(found.mean[order.index(node)] for node in nodes)), 2)


@block("answers-rules")
def rules(sources: Sources, language: str) -> str:
    """For each kind of mistake, rule of pronunciation and final consonant: which parts wrote most for the fix."""
    survey, say = sources.answers, WORDS[language]
    others = [name for name in survey.groups if name.startswith((RULE, CODA))]
    groups = [group for group in [*_kinds(survey), *others] if survey.edits(group) >= FEWEST]
    rows = []
    for group in groups:
        found = survey.of(group, "wrote")
        assert found is not None, "a group with edits has this"
        named = [
            (part, float(nats))
            for part, nats in zip(survey.writing, found.mean, strict=True)
            if isinstance(part, Node)
        ]
        first = sorted(named, key=lambda each: -each[1])[:WRITERS]
        writers = (f"{node_name(part, language)} {nats:+.1f}" for part, nats in first)
        rows.append([group_name(group, language), f"{survey.edits(group):,}", ", ".join(writers)])
    return table([say["groups"], say["edits"], say["writers"]], rows)


@block("answers-circuits")
def circuits(sources: Sources, language: str) -> str:
    """How large circuits are by kind of mistake, and how much of the score they keep."""
    survey, say = sources.answers, WORDS[language]
    rows = []
    for kind in _kinds(survey):
        if (found := survey.of(kind, "circuit_found")) is None:
            continue
        numbers = [_cell(survey.of(kind, "circuit_size"), 1)]
        numbers += [_cell(survey.of(kind, f"circuit_{name}")) for name in ("kept", "left")]
        share = percent(float(found.mean), 0)
        rows.append([group_name(kind, language), f"{found.rows:,}", share, *numbers])
    return table([say[name] for name in ("kind", "edits", "exists", "size", "kept", "left")], rows)
