"""Numbers of the heads page: the roles of each head, and the effect of its ablation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import viz
from model.analysis.roles import BREADTH, OWN, ROLES
from model.survey.results import HeadSurvey, Mean
from model.trace.interventions import Head
from ui.wording import head_name, percent, say
from viz.labels import decimal

LEADING, WROTE, EFFECT, LOSS = "leading", "wrote", "effect", "loss"
QUANTITIES = (LEADING, *ROLES, WROTE, EFFECT, LOSS)
INTERVENED = (EFFECT, LOSS)
SIGNS = dict(zip(ROLES, "=←→↷␣.⊣~", strict=True))  # one for each role, for the map of leading roles


@dataclass(frozen=True)
class ChosenNumber:
    """One quantity of a survey, any of QUANTITIES but LEADING, at one of CLASSES of characters."""

    survey: HeadSurvey
    name: str
    at: str

    @property
    def is_intervened(self) -> bool:
        return self.name in INTERVENED

    @property
    def is_signed(self) -> bool:
        """Whether its unit is nats. These have a sign: for the right character or against it."""
        return self.name in (WROTE, *INTERVENED)

    def of(self, kind: str) -> Mean | None:
        """The numbers (L, H) of one kind of attention; None if not measured."""
        if self.name == WROTE:
            return self.survey.written(kind, self.at)
        if self.name == LOSS:
            return self.survey.effect(kind, LOSS)
        if self.name == EFFECT:
            return self.survey.effect(kind, self.at)
        return self.survey.role(kind, self.name, self.at)

    def grids(self, field: str) -> dict[str, np.ndarray]:
        """(L, H) of every kind, ``field`` being "mean" or "margin"; nan where not measured."""
        found = {kind: self.of(kind) for kind in self.survey.kinds}
        nothing = np.full(self.survey.shape, np.nan)
        return {kind: nothing if each is None else getattr(each, field) for kind, each in found.items()}

    def values(self, field: str = "mean") -> np.ndarray:
        """(N,) in the order of the survey's heads."""
        return np.concatenate([grid.ravel() for grid in self.grids(field).values()])

    def ranked(self) -> list[Head]:
        """The heads, the largest share or the largest change first; those without a number last."""
        sizes = np.abs(self.values())
        order = np.argsort(-np.where(np.isnan(sizes), -1, sizes), kind="stable")
        return [self.survey.heads[place] for place in order]

    @property
    def title(self) -> str:
        return say(f"heads_by_{self.name}")

    @property
    def unit(self) -> str:
        """The word for nats, bits or a share."""
        return say(f"heads_unit_{'nats' if self.is_signed else 'bits' if self.name == BREADTH else 'share'}")

    @property
    def column(self) -> str:
        """Its name in a table; shares have no unit."""
        return f"{self.title} ({self.unit})" if self.is_signed or self.name == BREADTH else self.title


def told(survey: HeadSurvey, name: str, at: str) -> str:
    """The sentence above the map: the first head, its number, and whether that was observed or measured by
    switching heads off. Effects are in nats."""
    if name == LEADING:
        playing = [role for head in survey.heads if (role := survey.leading(head, at)) != BREADTH]
        counts = {role: playing.count(role) for role in ROLES if role in playing}
        roles = ", ".join(f"{say(f'heads_by_{role}')} {count}" for role, count in counts.items())
        return say(
            "heads_reading_leading",
            playing=len(playing),
            count=len(survey.heads),
            roles=roles or "–",
            sentences=f"{survey.sentences:,}",
        )
    chosen = ChosenNumber(survey, name, at)
    if not np.isfinite(chosen.values()).any():
        return say("heads_reading_nothing", name=chosen.title, at=say(f"heads_at_{at}"))
    head = chosen.ranked()[0]
    found = chosen.of(head.kind)
    assert found is not None, "the head has a number"
    share = name in ROLES and name != BREADTH
    mean, margin = (float(grid[head.layer, head.head]) for grid in (found.mean, found.margin))
    sentences = survey.sentences
    if chosen.is_signed:
        sentences = survey.answer_sentences if name == WROTE else survey.effect_sentences
    return say(
        f"heads_reading_{'role' if share else name}",
        name=chosen.title,
        head=head_name(head),
        mean=percent(mean) if share else decimal(mean),
        margin=f"{100 * margin:.1f}" if share else decimal(margin),
        chance="–" if found.chance is None else percent(found.chance) if share else f"{found.chance:.2f}",
        at=say(f"heads_at_{at}"),
        sentences=f"{sentences:,}",
    )


def table(survey: HeadSurvey, name: str, at: str) -> tuple[pd.DataFrame, list[Head], list[str]]:
    """(frame, heads, columns): a row for each head, the heads of the rows, and the columns whose numbers are
    intervened.

    The chosen quantity comes first, with its interval beside it, and orders the rows. The map shows the
    intervals of the others. The frame's ``attrs["names"]`` say which of QUANTITIES a column has.
    """
    others = [each for each in (*ROLES, WROTE, EFFECT, LOSS) if each != name]
    columns = [ChosenNumber(survey, each, at) for each in ([] if name == LEADING else [name]) + others]
    columns = [each for each in columns if np.isfinite(each.values()).any() or each.name == name]
    heads = survey.heads if name == LEADING else columns[0].ranked()
    places = [survey.heads.index(head) for head in heads]
    frame: dict[str, list[str] | np.ndarray] = {say("heads_head"): [head_name(head) for head in heads]}
    frame[say("heads_by_leading")] = [say(f"heads_by_{survey.leading(head, at)}") for head in heads]
    for each in columns:
        frame[each.column] = each.values()[places]
        if each.name == name:
            frame[f"± {each.column}"] = each.values("margin")[places]
    found = pd.DataFrame(frame)
    found.attrs["names"] = {each.column: each.name for each in columns}
    intervened = {each.column for each in columns if each.is_intervened}
    return found, heads, [column for column in found.columns if column.removeprefix("± ") in intervened]


def role_of_example(survey: HeadSurvey, head: Head, name: str, at: str) -> str:
    """The role whose best example is shown: the chosen one, else the head's leading one, else copying."""
    for role in (name, survey.leading(head, at)):
        if role in ROLES and role != BREADTH and survey.example(head, role):
            return role
    return OWN


def pruning_curve(survey: HeadSurvey, theme: str = "light") -> go.Figure:
    """The share of sentences still corrected as heads are ablated."""
    return viz.pruning_curve(
        survey.pruning,
        main="effect",
        captions=viz.Captions(
            titles=tuple(say(f"heads_pruning_{name}") for name in ("removed", "exact", "untouched")),
            names=(say("heads_pruning_main"), say("heads_pruning_random")),
            theme=theme,
        ),
    )
