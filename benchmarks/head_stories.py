"""Three heads in one sentence of our own, and what is left without more and more heads: the numbers and the pictures of
docs/does-attention-matter.md.

    python benchmarks/head_stories.py [--pictures docs/images]

The heads are those that `assets/transformer/heads.json` singles out: by the loss of the sentence without them, and by the effect
at corrected characters. Prints Markdown. Pictures need a Chromium: $CHROMIUM, or /usr/bin/chromium.
"""

import json
import os
import sys
from pathlib import Path

import click
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import viz
from model import Corrector
from model.analysis.edits import changed_rows
from model.analysis.head_effects import head_effects, written_without
from model.analysis.roles import COPIED, EDITED, LIAISON, NEXT, OWN, PREVIOUS
from model.stored.folder import ASSETS
from model.survey.head_survey import HeadSurvey, read_head_survey
from model.trace.interventions import Head
from ui.parts.head_numbers import SIGNS, pruning_curve
from viz.lens.map_texts import map_texts
from viz.lens.texts import LANGUAGES, table

SENTENCE = "꼬치 활짝 피어서 아이드리 우서요."
PLOTLY = next((ROOT / "static").glob("plotly-cartesian-*.js"))
FONT = ROOT / "static" / "NotoSansKR-subset.woff2"


@click.command()
@click.option("--pictures", type=click.Path(file_okay=False, path_type=Path), help="A folder.")
def main(pictures):
    """Print what the survey and the sentence say of three heads; draw them into the folder PICTURES."""
    survey, corrector = read_head_survey(ASSETS / "transformer"), Corrector.load()
    stories = heads_of_stories(survey)
    (sentence,) = corrector.correct(SENTENCE).sentences
    print(report(survey, corrector, sentence, stories))
    if pictures:
        draw(pictures, survey, sentence, stories)


def heads_of_stories(survey: HeadSurvey) -> dict[str, Head]:
    """The head without which most is lost; the one that speaks most for fixes, and the one that does against them."""

    def best(name: str, sign: int) -> Head:
        values = np.concatenate([survey.effect(kind, name).mean.ravel() for kind in survey.kinds])
        return survey.heads[int((sign * values).argmax())]

    return {"loss": best("loss", 1), "for": best(EDITED, -1), "against": best(EDITED, 1)}


def report(survey: HeadSurvey, corrector: Corrector, sentence, stories: dict[str, Head]) -> str:
    """All numbers of the stories, as Markdown."""
    lines = [f"{survey.sentences} sentences for roles, {survey.effect_sentences} for effects (nats).", ""]
    lines += ["| head | " + " | ".join(map(_name, stories.values())) + " |", "|---" * 4 + "|"]
    for role, name in [
        *((role, name) for role in (OWN, PREVIOUS, NEXT) for name in (COPIED, EDITED)),
        (LIAISON, EDITED),
    ]:
        cells = [_cell(survey.role(head.kind, role, name), head) for head in stories.values()]
        lines.append(f"| share at: {role}, {name} | {' | '.join(cells)} |")
    for name in (EDITED, COPIED, "loss"):
        cells = [_cell(survey.effect(head.kind, name), head) for head in stories.values()]
        lines.append(f"| effect: {name} | {' | '.join(cells)} |")
    losses = {head: survey.effect(head.kind, "loss").mean[head.layer, head.head] for head in survey.heads}
    second = sorted(losses, key=losses.get)[-2]
    lines += ["", f"Second largest loss: {losses[second]:.2f} without {_name(second)}.", ""]
    lines += [f"`{sentence.source}` → `{sentence.text}`", ""]
    lines += ["| change | looks most | " + " | ".join(map(_name, stories.values())) + " |", "|---" * 5 + "|"]
    for change in sentence.changes:
        found = head_effects(corrector, sentence.source, sentence.text, change)
        effects = [found.effect[found.heads.index(head)] for head in stories.values()]
        looker, rank = found.rank_of_looker()
        cells = " | ".join(f"{effect:+.2f}" for effect in effects)
        lines.append(
            f"| {change.wrong} → {change.right} | {_name(looker)}, in effect {rank} of {len(found.heads)} | {cells} |"
        )
    lines += [""]
    for without in written_without(corrector, sentence.source, [[head] for head in stories.values()]):
        (head,) = without.heads
        lines.append(f"Written without {_name(head)}: {without.text or 'no end'}")
    return "\n".join([*lines, "", *_curves(survey)])


def _curves(survey: HeadSurvey) -> list[str]:
    """The pruning curve as a table: the least effective heads first, and the mean of the random orders."""
    random = np.mean([rows for name, rows in survey.pruning.items() if name != "effect"], axis=0)
    head = "heads removed | exact, least effective first | exact, random | untouched, least effective first | untouched, random"
    told = [
        f"{survey.judged} pairs and {survey.judged_right} right sentences; {survey.overlap} pairs also ordered the heads."
    ]
    told += ["", f"| {head} |", "|---" * 5 + "|"]
    for (removed, exact, untouched), (_, by_chance, left) in zip(
        survey.pruning["effect"], random, strict=True
    ):
        told.append(f"| {removed} | {exact:.3f} | {by_chance:.3f} | {untouched:.3f} | {left:.3f} |")
    return told


def _cell(found, head: Head) -> str:
    if found is None:
        return "–"
    return f"{found.mean[head.layer, head.head]:.3f} ± {found.margin[head.layer, head.head]:.3f}"


def _name(head: Head) -> str:
    return f"{head.kind.removesuffix('_attention')} {head.layer + 1}·{head.head + 1}"


def draw(folder: Path, survey: HeadSurvey, sentence, stories: dict[str, Head]) -> None:
    """A map of the sentence for each story, the roles, the effects, and the pruning curve, in each language."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        page = browser.new_page(device_scale_factor=2)
        page.set_content(
            f"<style>@font-face {{ font-family: 'Noto Sans KR'; src: url({_font()}); }}</style><div></div>"
        )
        page.evaluate("document.fonts.load(\"13px 'Noto Sans KR'\", '가')")
        page.add_script_tag(path=PLOTLY)
        for language in LANGUAGES:
            for name, (figure, width) in figures(language, survey, sentence, stories).items():
                figure.update_layout(paper_bgcolor="white", width=width)
                page.evaluate(
                    "figure => Plotly.newPlot(document.querySelector('div'), figure.data, figure.layout, {staticPlot: true})",
                    json.loads(figure.to_json()),
                )
                page.locator(".svg-container").screenshot(path=folder / f"{name}.{language}.png")
        browser.close()


def _font() -> str:
    from base64 import b64encode

    return f"data:font/woff2;base64,{b64encode(FONT.read_bytes()).decode()}"


def figures(language: str, survey: HeadSurvey, sentence, stories: dict[str, Head]) -> dict:
    """(figure, pixels) by the name of its file."""

    def say(key: str, /, **values: object) -> str:
        return table(language)[key].format(**values)

    names = {"names": {kind: say(f"kind_{kind}") for kind in survey.kinds}}
    names |= {"layer_title": say("layer_label"), "head_title": say("head_label")}
    labels = {role: (sign, say(f"heads_by_{role}")) for role, sign in SIGNS.items()}
    effects = {kind: survey.effect(kind, EDITED).mean for kind in survey.kinds}
    found = {
        "heads-roles": (viz.role_mosaic(survey.leading_roles(), labels, **names), 640),
        "heads-effects": (viz.head_mosaic(effects, value_title=say("heads_unit_nats"), **names), 640),
        "heads-pruning": (pruning_curve(say, survey), 640),
    }
    for name, head in stories.items():
        queries, keys = sentence.trace.axes(head.kind)
        map_ = viz.attention_heatmap(
            sentence.trace.attention(head.kind)[head.layer, head.head],
            queries,
            keys,
            texts=map_texts(say, head.kind),
            emphasis_rows=changed_rows(sentence.changes, len(queries)).nonzero()[0].tolist(),
        )
        found[f"head-{name}"] = map_, 560
    return found


if __name__ == "__main__":
    main()
