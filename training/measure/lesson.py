"""Command ``python -m training lesson``: sentence of the lesson plans, and its facts.

A good sentence for a lesson is one in which something happens: the network is not too sure of the correction,
ablating a head undoes it, other attention changes the text, another token leads elsewhere. The candidates are
our own (``training/documents/templates/lessons/sentences.csv``). Each one that the network corrects is judged
by these four questions; the answers are part of the result, so that a reader sees why a sentence was chosen.
``python -m training documents`` writes the plans.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from model import Corrector
from model.analysis import attention_maps as of_heads
from model.analysis.contrasts import Edit
from model.analysis.counterfactuals import UNIFORM, alternative_continuation, replaced_for_change
from model.analysis.edits import attention_to_edit, copy_positions
from model.analysis.head_effects import ablate_heads, ablated_fix_probability, head_effects
from model.analysis.residual_stream import direct_logit_attribution
from model.correction.correction import SentenceCorrection
from model.norm import Article, article_of
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import AttentionTrace
from training.documents import lessons
from training.measure.report import Numbers, write_numbers
from training.options import command
from viz.labels import log_odds, probability, visible_token

SENTENCES = Path(lessons.__file__).parent / "templates" / "lessons" / "sentences.csv"
# Articles that a lesson can state in a sentence: the base form of a word is written, however it sounds.
BASE_FORM = ("제6항", "제14항", "제15항", "제19항")
ASKED = 8  # candidates that are asked the four questions: those that it is least sure of
# Nats between fixing and keeping: surer, and nothing that one does changes a number on the screen.
MARGIN = (1.0, 9.0)
CROSS = "cross_attention"


@dataclass(frozen=True)
class Judged:
    """The network's answers about one candidate, at the change that it is least sure of."""

    typed: str
    right: str
    change: int  # its number in the sentence, from 0
    margin: float  # log p(fix) - log p(keep), in nats
    undone_by: list[str]  # heads of which one alone, switched off, changes the text
    replaced: list[str]  # heads of which uniform weights change the text
    fork: str | None  # the text once the typed character is forced
    score: int  # of four questions, how many have a visible answer


def _judge_all(corrector: Corrector, pairs: Sequence[tuple[str, str]]) -> Iterator[Judged]:
    """Of pairs of a typed and a right sentence, those that are corrected as they should be by an article of
    BASE_FORM; of these the ASKED least sure ones.
    """
    sure = []
    corrections = corrector.correct_batch([typed for typed, _ in pairs])
    for (_, right), found in zip(pairs, corrections, strict=True):
        if found.text == right and len(found.sentences) == 1:
            (sentence,) = found.sentences
            margins = [_margin_of(change) for change in sentence.changes]
            number = int(np.argmin(margins))
            if (article := _article_of(sentence, number)) and article.article.endswith(BASE_FORM):
                sure.append((abs(margins[number] - np.mean(MARGIN)), number, sentence))
    for _, number, sentence in sorted(sure, key=lambda each: each[0])[:ASKED]:
        yield _judge(corrector, sentence, number)


def _article_of(sentence: SentenceCorrection, number: int) -> Article | None:
    """The article of the norm by which a change is right."""
    change, text = sentence.changes[number], sentence.text
    return article_of(change.wrong, change.right, text[: change.target_start], text[change.target_end :])


def _margin_of(change: Change) -> float:
    fix, keep = (max(each or 0.0, 1e-12) for each in (change.fix_probability, change.keep_probability))
    return float(np.log(fix) - np.log(keep))


def _judge(corrector: Corrector, sentence: SentenceCorrection, number: int) -> Judged:
    source, text, change = sentence.source, sentence.text, sentence.changes[number]
    effects = head_effects(corrector, Edit(source, text, change))
    alone = ablate_heads(corrector, source, [[head] for head in effects.heads])
    undone = [head for head, each in zip(effects.heads, alone, strict=True) if each.text != text]
    replaced = []
    for head in effects.strongest():
        _, versions = replaced_for_change(corrector, Edit(source, text, change), head)
        if any(each.how == UNIFORM and each.text != text for each in versions):
            replaced.append(head)
    contrast = effects.contrast
    fork = alternative_continuation(corrector, source, text, contrast.row, contrast.instead_token)
    is_unsure, parts = MARGIN[0] <= effects.observed <= MARGIN[1], fork.text not in (None, text)
    undone_by, replaced_by = (list(map(_name_of, heads)) for heads in (undone, replaced))
    score = sum((is_unsure, bool(undone), bool(replaced), parts))
    return Judged(source, text, number, float(effects.observed), undone_by, replaced_by, fork.text, score)


def _name_of(head: Head) -> str:
    """As the address has it, counted from 1."""
    return f"{head.kind}.{head.layer + 1}.{head.head + 1}"


def _facts_of(corrector: Corrector, chosen: Judged) -> dict[str, Any]:
    """All that the plans say of the chosen sentence; numbers are texts, written as the pages write them."""
    (sentence,) = corrector.correct(chosen.typed).sentences
    change, trace = sentence.changes[chosen.change], sentence.trace
    row = change.target_start + change.mistake[1]
    article, confidence = _article_of(sentence, chosen.change), corrector.confidence
    assert article is not None, "only sentences with an article are candidates"
    return {
        "article": article.article,
        "rule": {"ko": article.ko, "en": article.en},
        "writer": _writer_facts(corrector, sentence, change),
        "sentence": sentence.source,
        "right": sentence.text,
        "fingerprint": corrector.fingerprint,
        "edit": chosen.change + 1,
        "wrong": change.wrong,
        "fixed": change.right,
        # As typed, in another sentence.
        "is_word": confidence is not None and change.wrong in confidence.words.counts,
        "others": [[each.wrong, each.right] for each in sentence.changes if each is not change],
        "confidence": probability(change.confidence, sentence.minimum_confidence),
        "character": sentence.text[row],
        "step": row + 1,
        "steps": len(trace.target_tokens),
        **_map_facts(trace, sentence.changes, row),
        **_line_facts(trace, row),
        **_step_facts(trace, change, row),
        "head": _head_facts(trace, change, sentence.changes, row),
        "weights": sum(int(trace.attention(kind).size) for kind in trace.kinds),
        "shape": [trace.num_layers, trace.num_heads, len(trace.source_tokens), len(trace.target_tokens)],
        "laboratory": _laboratory_facts(corrector, sentence, change, chosen),
    }


def _map_facts(trace: AttentionTrace, changes: Sequence[Change], row: int) -> dict[str, Any]:
    """The row of the fix in the mean of all layers and heads: where it looks most, and most beyond a copy."""
    mean = trace.attention(CROSS).mean((0, 1))[row]
    beyond = mean.copy()
    home = copy_positions(changes, len(trace.source_tokens), len(trace.target_tokens))[row]
    if home >= 0:
        beyond[home] -= 1
    entropies = of_heads.entropy(trace.attention(CROSS))
    narrow, wide = (np.unravel_index(pick(entropies), entropies.shape) for pick in (np.argmin, np.argmax))
    return {
        "most": _cell(trace, mean, int(mean.argmax())),
        "beyond": _cell(trace, beyond, int(beyond.argmax()), sign=True),
        "narrow": [int(each) + 1 for each in narrow],
        "wide": [int(each) + 1 for each in wide],
        "narrow_tokens": f"{2 ** float(entropies[narrow]):.1f}",
        "wide_tokens": f"{2 ** float(entropies[wide]):.1f}",
    }


def _cell(trace: AttentionTrace, row: np.ndarray, key: int, sign: bool = False) -> dict[str, Any]:
    weight = f"{row[key]:{'+' if sign else ''}.3f}".replace("-", "−")
    return {"token": visible_token(trace.source_tokens[key]), "position": key + 1, "weight": weight}


def _line_facts(trace: AttentionTrace, row: int) -> dict[str, Any]:
    """The layer whose heads look at most different places in the row of the fix, and where each looks."""
    strongest = trace.attention(CROSS)[:, :, row].argmax(-1)  # (L, H)
    layer = int(np.argmax([len(set(each)) for each in strongest.tolist()]))
    looked = [
        _cell(trace, trace.attention(CROSS)[layer, head, row], int(key))
        for head, key in enumerate(strongest[layer])
    ]
    return {"lines_layer": layer + 1, "lines": looked}


def _step_facts(trace: AttentionTrace, change: Change, row: int) -> dict[str, Any]:
    """The candidates of the step that writes the fix, with the numbers that the page shows beside them."""
    assert trace.alternative_probabilities is not None and trace.log_probabilities is not None
    shares = [
        (visible_token(token), probability(float(share)))
        for token, share in zip(trace.alternatives[row], trace.alternative_probabilities[row], strict=True)
    ]
    return {
        "candidates_of_step": shares[:3],
        "fix": probability(change.fix_probability or 0.0),
        "keep": probability(change.keep_probability or 0.0),
        "odds": log_odds(float(np.exp(np.float64(trace.log_probabilities[row])))),
    }


def _head_facts(trace: AttentionTrace, change: Change, changes: Sequence[Change], row: int) -> dict[str, Any]:
    """The head that looks most at the change, and the key with the highest weight in its row."""
    share = attention_to_edit(trace, CROSS, change, changes).share
    layer, head = (int(each) for each in np.unravel_index(share.argmax(), share.shape))
    weights = trace.attention(CROSS)[layer, head, row]
    looked = _cell(trace, weights, int(weights.argmax()))
    return {"layer": layer + 1, "head": head + 1, "share": f"{share.max():.3f}", **looked}


def _writer_facts(corrector: Corrector, sentence: SentenceCorrection, change: Change) -> dict[str, Any]:
    """The head of the cross-attention that adds most to the fix, and where it looks meanwhile."""
    found = direct_logit_attribution(corrector, sentence.source, sentence.text, [change])
    number = found.changes[0]
    assert number is not None, "the fix and the typed text differ"
    parts = [part for part in found.parts(number) if part.name == CROSS and part.head is not None]
    most = max(parts, key=lambda part: part.nats)
    assert most.layer is not None and most.head is not None
    row = sentence.trace.attention(CROSS)[most.layer, most.head, found.questions[number].row]
    looked = _cell(sentence.trace, row, int(row.argmax()))
    name = _name_of(Head(CROSS, most.layer, most.head))
    place = {"kind": CROSS, "layer": most.layer + 1, "head": most.head + 1}
    return {"name": name, **place, "nats": f"{most.nats:+.2f}".replace("-", "−"), **looked}


def _laboratory_facts(
    corrector: Corrector, sentence: SentenceCorrection, change: Change, chosen: Judged
) -> dict[str, Any]:
    """Effects on the change of ablated heads, of other attention, and of another token."""
    source, text = sentence.source, sentence.text
    effects = head_effects(corrector, Edit(source, text, change))
    strongest = effects.supporters()
    alone = [chosen.undone_by[0]] if chosen.undone_by else []
    sets = ((), tuple(map(_head_of, alone)), strongest)
    texts = [each.text for each in ablate_heads(corrector, source, sets)]
    shares = ablated_fix_probability(corrector, Edit(source, text, change), sets)
    looker, rank = effects.rank_of_looker()
    swapped = _head_of(chosen.replaced[0]) if chosen.replaced else strongest[0]
    _, versions = replaced_for_change(corrector, Edit(source, text, change), swapped)
    replaced = {each.how: (probability(each.written_probability), each.text) for each in versions}
    return {
        "strongest": list(map(_name_of, strongest)),
        "undone_by": chosen.undone_by,
        "before": probability(shares[0]),
        "alone": [alone[0], probability(shares[1]), texts[1]] if alone else None,
        "all_five": [probability(shares[2]), texts[2]],
        "looker": _name_of(looker),
        "looker_rank": rank,
        "heads": len(effects.heads),
        "replaced_head": _name_of(swapped),
        "replaced": replaced,
        "forced": effects.contrast.instead_token,
        "fork": chosen.fork,
        "fork_step": effects.contrast.row + 1,
    }


def _head_of(name: str) -> Head:
    kind, layer, head = name.split(".")
    return Head(kind, int(layer) - 1, int(head) - 1)


@command("lesson", asked=Numbers)
def lesson_command(asked: Numbers) -> None:
    """Choose the sentence of the lesson plans, print why, and measure the facts the plans state of it."""
    corrector = Corrector.load(asked.model)
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        pairs = [(row["typed"], row["right"]) for row in csv.DictReader(file)]
    found = _judge_all(corrector, pairs)
    judged = sorted(found, key=lambda each: (-each.score, abs(each.margin - np.mean(MARGIN))))
    if not judged:
        raise click.ClickException("the network corrects none of the sentences")
    for each in judged:
        undone = f"undone by {len(each.undone_by)} heads"
        click.echo(f"{each.score} of 4: {each.typed} · margin {each.margin:.1f} nats · {undone}")
    candidates = {"candidates": [asdict(each) for each in judged], "asked_of": len(pairs)}
    write_numbers(asked.json, candidates | _facts_of(corrector, judged[0]))
