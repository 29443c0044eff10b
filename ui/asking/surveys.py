"""Surveys the sentences of a visitor's file: what each head does in them."""

from __future__ import annotations

import io
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, cast

from model.survey.head_survey import HeadSurvey
from model.survey.pairs import GivenText, read_given
from model.survey.survey import Survey, SurveyPlan
from model.survey.survey_files import result
from ui.asking.jobs import MOST_CHARACTERS, Job, Jobs, at_most

if TYPE_CHECKING:
    from model import Network
    from ui.asking.loaders import EngineCorrector

MOST_ROWS = 500  # of one file; the command takes any number
MOST_EFFECTS = 100  # changed sentences that are read again without each head
ROLES_TOGETHER, EFFECTS_TOGETHER = 16, 1  # sentences of one question: well below a second


class SurveyJob(Job):
    """One file, of which rows that are too long are left out. A thread adds to the survey; ``found`` is what it has so far."""

    def __init__(self, rows: list[GivenText], corrector: EngineCorrector):
        self.given = [row for row in rows if all(len(text or "") <= MOST_CHARACTERS for text in row)]
        self.read, self.left_out, self.is_finished = 0, len(rows) - len(self.given), False
        # The engine computes the sums, so the survey needs no more of the corrector than config and fingerprint.
        self._survey = Survey(cast("Network", corrector), SurveyPlan((), MOST_EFFECTS, 0))
        self._lock = Lock()
        super().__init__(corrector)

    @property
    def is_over(self) -> bool:
        return self.is_finished or self.error is not None

    @property
    def progress(self) -> tuple[str, int, int]:
        """("roles" or "effects", how many are done, of how many)."""
        if self.read < len(self.given):
            return "roles", self.read, len(self.given)
        return "effects", self._survey.done["effects"], len(self._survey.plan.edited)

    def found(self) -> HeadSurvey:
        with self._lock:
            return HeadSurvey(result(self._survey))

    def work(self) -> None:
        survey = self._survey
        for first in range(0, len(self.given), ROLES_TOGETHER):
            rows = tuple(self.given[first : first + ROLES_TOGETHER])
            pairs, left_out, sums = self.ask("head_roles", rows, len(survey.plan.pairs))
            with self._lock:
                survey.plan = replace(survey.plan, pairs=survey.plan.pairs + pairs)
                survey.add("roles", sums, len(pairs))
                self.read, self.left_out = self.read + len(rows), self.left_out + left_out
        edited = survey.plan.edited
        for first in range(0, len(edited), EFFECTS_TOGETHER):
            some = edited[first : first + EFFECTS_TOGETHER]
            sums = self.ask("head_losses", some)
            with self._lock:
                survey.add("effects", sums, len(some))
        self.is_finished = True


def surveys() -> Jobs[SurveyJob]:
    """Jobs that raise model.tables.TableError for a file that is no table, and TooManyRowsError."""
    return Jobs(lambda content, name, corrector, column: SurveyJob(_rows(content, name), corrector))


def _rows(content: bytes, name: str) -> list[GivenText]:
    return list(at_most(read_given(io.BytesIO(content), name), MOST_ROWS))
