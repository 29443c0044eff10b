"""Three heads in one sentence of our own, and what is left without more and more heads: the numbers and the pictures of
docs/does-attention-matter.md.

    python benchmarks/head_stories.py [--json docs/numbers/stories.json] [--pictures docs/images]

The heads are those that `assets/transformer/heads.json` singles out: by the loss of the sentence without them, and by the effect
at corrected characters. Prints Markdown. Pictures need a Chromium: $CHROMIUM, or /usr/bin/chromium.
"""

import json
import sys
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import viz
from model import Corrector
from model.analysis.edits import changed_rows
from model.analysis.head_effects import ablate_heads, head_effects
from model.analysis.roles import EDITED
from model.stored.folder import find_model_folder, of_weights
from model.survey.head_survey import HeadSurvey, read_head_survey
from model.trace.interventions import Head
from training.documents.stories import heads_of_stories, heads_table, pruning_table, sentence_table
from ui.parts.head_numbers import SIGNS, pruning_curve
from viz.browser.texts import LANGUAGES, map_texts, table

SENTENCE = "꼬치 활짝 피어서 아이드리 우서요."
PLOTLY = next((ROOT / "static").glob("plotly-cartesian-*.js"))
FONT = ROOT / "static" / "NotoSansKR-subset.woff2"


@click.command()
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="What was asked.")
@click.option("--pictures", type=click.Path(file_okay=False, path_type=Path), help="A folder.")
def main(model, json_path, pictures):
    """Print what the survey and the sentence say of three heads; draw them into the folder PICTURES."""
    survey, corrector = read_head_survey(find_model_folder(model)), Corrector.load(model)
    if survey is None:
        raise click.ClickException(f"{model} has no heads.json: python -m model heads makes it")
    stories = heads_of_stories(survey)
    (sentence,) = corrector.correct(SENTENCE).sentences
    found = ask(corrector, sentence, stories)
    tables = heads_table(survey, "en"), sentence_table(found, "en"), pruning_table(survey, "en")
    print("\n\n".join(tables))
    if json_path:
        json_path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if pictures:
        draw(pictures, survey, sentence, stories)


def ask(corrector: Corrector, sentence, stories: dict[str, Head]) -> dict:
    """What the heads of the stories do for each change of the sentence, and what is written without each of them."""
    changes = []
    for change in sentence.changes:
        found = head_effects(corrector, sentence.source, sentence.text, change)
        looker, rank = found.rank_of_looker()
        effects = {
            story: round(float(found.effect[found.heads.index(head)]), 4) for story, head in stories.items()
        }
        changes.append(
            {"wrong": change.wrong, "right": change.right, "looker": list(looker), "rank": int(rank)}
            | {"of": len(found.heads), "effects": effects}
        )
    written = ablate_heads(corrector, sentence.source, [[head] for head in stories.values()])
    return {
        "fingerprint": of_weights(corrector.fingerprint),
        "heads": {story: list(head) for story, head in stories.items()},
        "source": sentence.source,
        "target": sentence.text,
        "changes": changes,
        "without": {story: each.text for story, each in zip(stories, written, strict=True)},
    }


def draw(folder: Path, survey: HeadSurvey, sentence, stories: dict[str, Head]) -> None:
    """A map of the sentence for each story, the roles, the effects, and the pruning curve, in each language."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launched

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launched(playwright)
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
