"""Pictures of does-attention-matter.md: ``python docs/head_pictures.py [FOLDER]``.

Three heads in one sentence, the roles and effects of all heads, and the curve of pruning, in each language.
Needs a Chromium: $CHROMIUM, or /usr/bin/chromium.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

import click
import plotly.graph_objects as go

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import viz
from model import Corrector
from model.analysis.edits import changed_rows
from model.analysis.roles import EDITED
from model.survey.results import HeadSurvey
from model.trace.interventions import Head
from training.documents.tables import heads_of_stories
from training.measure.studies import SENTENCE, read_survey
from ui.parts.head_numbers import SIGNS, pruning_curve
from ui.wording import say, spoken
from viz.browser.texts import LANGUAGES, kind_names, map_texts

PLOTLY = next((ROOT / "static").glob("plotly-cartesian-*.js"))
FONT = ROOT / "static" / "NotoSansKR-subset.woff2"


def draw(pictures: Iterable[tuple[go.Figure, Path]]) -> None:
    """Write each figure as a PNG file, in the type of the app."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launched

    font = f"data:font/woff2;base64,{b64encode(FONT.read_bytes()).decode()}"
    with sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(device_scale_factor=2)
        page.set_content(
            f"<style>@font-face {{ font-family: 'Noto Sans KR'; src: url({font}); }}</style><div></div>"
        )
        page.evaluate("document.fonts.load(\"13px 'Noto Sans KR'\", '가')")
        page.add_script_tag(path=PLOTLY)
        for figure, path in pictures:
            page.evaluate(
                "figure => Plotly.newPlot("
                "document.querySelector('div'), figure.data, figure.layout, {staticPlot: true})",
                json.loads(figure.update_layout(paper_bgcolor="white").to_json()),
            )
            page.locator(".svg-container").screenshot(path=path)
        browser.close()


def figures(survey: HeadSurvey, sentence, stories: dict[str, Head]) -> dict:
    """(figure, pixels) by the name of its file."""
    names, layers = kind_names(say, survey.kinds), say("layer_label")
    shared = {"names": names, "captions": viz.Captions(titles=(layers,))}
    labels = {role: (sign, say(f"heads_by_{role}")) for role, sign in SIGNS.items()}
    effects = {kind: survey.effect(kind, EDITED).mean for kind in survey.kinds}
    key = {"key": say("without_key"), "helps_below": True, "names": names, "layer_title": layers}
    found = {
        "heads-roles": (viz.role_mosaic(survey.leading_roles(), labels, **shared), 640),
        "heads-effects": (viz.head_mosaic(effects, value_title=say("heads_unit_nats"), **key), 640),
        "heads-pruning": (pruning_curve(survey), 640),
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


@click.command()
@click.argument("folder", default=ROOT / "docs" / "images", type=click.Path(file_okay=False, path_type=Path))
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
def main(folder, model):
    """Write each picture as a PNG file into FOLDER."""
    survey = read_survey(model)
    (sentence,) = Corrector.load(model).correct(SENTENCE).sentences
    folder.mkdir(parents=True, exist_ok=True)
    stories = heads_of_stories(survey)
    draw(
        (figure.update_layout(width=width), folder / f"{name}.{language}.png")
        for language in LANGUAGES
        for name, (figure, width) in spoken(language)(figures)(survey, sentence, stories).items()
    )


if __name__ == "__main__":
    main()
