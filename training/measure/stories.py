"""``python -m training stories``: the effect of three heads on each correction of one sentence of our own.

The heads are those that ``heads.json`` of the model singles out: by the loss of the sentence without them, and by the effect of their
ablation at corrected characters.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from model import Corrector
from model.analysis.head_effects import ablate_heads, head_effects
from model.correction.correction import SentenceCorrection
from model.stored.folder import find_model_folder, of_weights
from model.survey.results import HeadSurvey, read_head_survey
from model.trace.interventions import Head
from training.documents.render import content
from training.documents.sources import Sources
from training.documents.tables import heads_of_stories
from training.measure.report import write_numbers

SENTENCE = "꼬치 활짝 피어서 아이드리 우서요."


def read_survey(model: str) -> HeadSurvey:
    """The survey of a model's heads. Raises click.ClickException where the model has none."""
    survey = read_head_survey(find_model_folder(model))
    if survey is None:
        raise click.ClickException(f"{model} has no heads.json: python -m model heads makes it")
    return survey


def measure_stories(
    corrector: Corrector, sentence: SentenceCorrection, stories: Mapping[str, Head]
) -> dict[str, Any]:
    """The effects of the heads of ``stories`` at each change of the sentence, in nats, and the text written without each of them."""
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


@click.command("stories")
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="The effects.")
def command(model: str, json_path: Path | None) -> None:
    """Print the survey's numbers of three heads, and their effects on one sentence."""
    survey, corrector = read_survey(model), Corrector.load(model)
    (sentence,) = corrector.correct(SENTENCE).sentences
    found = measure_stories(corrector, sentence, heads_of_stories(survey))
    sources = Sources(model=find_model_folder(model), given={"stories": found})
    for name in ("story-heads", "story-sentence", "story-pruning"):
        click.echo(f"{content(sources, name)}\n")
    if json_path:
        write_numbers(json_path, found)
