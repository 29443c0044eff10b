"""Upload control, and background jobs over an uploaded file: correction, survey of heads.

A ``Job`` works in a thread, a few rows at a time, so that other visitors are answered in between.
``TableJob`` corrects the texts of a file row by row. ``SurveyJob`` measures the roles of each head and the
effect of its ablation. Files stay in memory and are never written to a disk: all that are being worked on,
and the last few that are done. A visitor who drops the same file again, in another tab or after a break, gets
the rows that are done.

``upload`` is the place where a file is dropped. Streamlit's control speaks English alone; its words are
replaced by the page's own.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from threading import Lock, Thread
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

import streamlit as st

from engine import questions
from engine.question import P, Question, R
from engine.records import EngineError
from model.survey.results import HeadSurvey
from model.survey.sums import GivenText
from model.survey.survey import Survey, SurveyPlan, read_given
from model.survey.survey_files import result
from model.tables.columns import Columns
from model.tables.correcting import CorrectedRow, TableCounts
from model.tables.documents import DOCUMENTS, OLD_DOCUMENTS, Document
from model.tables.reading import read_columns, read_rows
from model.tables.rewriting import SameTable
from model.tables.rows import TableError, TableRow
from ui.asking import models
from ui.shell import controls, markup
from ui.wording import say

if TYPE_CHECKING:
    from model import Network
    from ui.asking.loaders import EngineCorrector

MOST_CHARACTERS = 2_000  # of one row, as of a text that is typed
MOST_OF_PARAGRAPH = 10_000  # characters, in a document
KEPT = 4  # files that are done, besides those under way
_PATIENCE = 5  # attempts, a second apart, where the network is busy or has been lost


class TooManyRowsError(ValueError):
    """The file has more rows than a page takes."""


Item = TypeVar("Item")


def _at_most(rows: Iterable[Item], most: int) -> Iterator[Item]:
    """The rows of a file. Raises TooManyRowsError if there are more than ``most``; the rest is not read."""
    for number, row in enumerate(rows):
        if number == most:
            raise TooManyRowsError(f"a file should have at most {most:,} rows, received more")
        yield row


class Job:
    """Works on one file in a thread. A subclass says how in ``work``, and has its own fields ready before
    that begins.

    ``work`` asks for a little at a time, so that other visitors are answered in between.
    """

    def __init__(self, corrector: EngineCorrector):
        self.error: Exception | None = None
        self._corrector = corrector
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether everything is done, or an ``error`` has ended the job."""
        raise NotImplementedError

    def work(self) -> None:
        """The work, in the job's thread. Any error, such as EngineError, ends it and becomes ``error``."""
        raise NotImplementedError

    def ask(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """The engine's answer. Raises EngineError after several attempts without one."""
        for _ in range(_PATIENCE - 1):
            try:
                return self._corrector.ask(question, *arguments, **named)
            except EngineError:
                time.sleep(1)
        return self._corrector.ask(question, *arguments, **named)

    def _run(self) -> None:
        try:
            self.work()
        except Exception as error:  # noqa: BLE001  the page shows it
            self.error = error


AnyJob = TypeVar("AnyJob", bound=Job)


class Settings(NamedTuple):
    """Which column of a table is corrected, by its name or from 1; a person's words that are left alone."""

    column: str | None = None
    words: tuple[str, ...] = ()


USUAL = Settings()


class Jobs(Generic[AnyJob]):
    """The files that were dropped lately, by their content and the model.

    Unfinished jobs stay, because a visitor waits for them. Of the finished ones, the last ``kept`` stay.
    """

    def __init__(self, begin: Callable[[bytes, str, EngineCorrector, Settings], AnyJob], kept: int = KEPT):
        self._begin, self._kept = begin, kept
        # A Future is done when its file has been read.
        self._jobs: OrderedDict[tuple, Future[AnyJob]] = OrderedDict()
        self._lock = Lock()

    def job(
        self, content: bytes, name: str, corrector: EngineCorrector, settings: Settings = USUAL
    ) -> AnyJob:
        """The job of this file with these settings; it is started if it is new or has failed. Raises the
        errors of ``begin``."""
        suffix = name.rpartition(".")[2].lower()
        key = hashlib.sha256(content).hexdigest(), suffix, corrector.fingerprint, settings
        mine: Future[AnyJob] = Future()
        with self._lock:
            found = self._jobs.setdefault(key, mine)
            if found.done() and found.result().error is not None:
                found = self._jobs[key] = mine
            self._jobs.move_to_end(key)
        if found is mine:
            try:  # without the lock, for reading a large file takes seconds
                mine.set_result(self._begin(content, name, corrector, settings))
            except BaseException as error:
                with self._lock:
                    del self._jobs[key]
                mine.set_exception(error)  # for a visitor who dropped the same file meanwhile
                raise
            self._make_room()
        return found.result()

    def _make_room(self) -> None:
        with self._lock:
            over = [key for key, each in self._jobs.items() if each.done() and each.result().is_over]
            for key in over[: max(len(over) - self._kept, 0)]:
                del self._jobs[key]


MOST_TEXTS = 10_000  # of one file; the command takes any number
TEXTS_TOGETHER = 48  # rows of one question; other visitors' questions are answered between two of these


class TableJob(Job):
    """One file. ``done`` grows while a thread corrects it; reading it needs no lock."""

    def __init__(self, rows: list[TableRow], corrector: EngineCorrector, words: tuple[str, ...] = ()):
        self.rows, self.counts, self._words = rows, TableCounts(), words
        self.done: list[CorrectedRow] = []
        self.started = time.monotonic()
        super().__init__(corrector)

    @property
    def is_over(self) -> bool:
        return len(self.done) == len(self.rows) or self.error is not None

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the pace so far; None at the beginning. In seconds."""
        count = len(self.done)
        return (time.monotonic() - self.started) / count * (len(self.rows) - count) if count else None

    def work(self) -> None:
        """Correct the rows, some together, and keep each as it is done. Raises EngineError."""
        for first in range(0, len(self.rows), TEXTS_TOGETHER):
            batch = self.rows[first : first + TEXTS_TOGETHER]
            texts = tuple(row.text for row in batch if row.problem is None)
            found = self.ask(questions.table, texts, self._words) if texts else ()
            answers = iter(found)
            for row in batch:
                done = CorrectedRow(row, "", ()) if row.problem else CorrectedRow(row, *next(answers))
                self.counts.add(done)
                self.done.append(done)


def tables() -> Jobs[TableJob]:
    """Jobs that raise model.tables.TableError for a file that is no table, and TooManyRowsError."""
    return Jobs(
        lambda content, name, corrector, settings: TableJob(
            _texts_of(content, name, settings.column), corrector, settings.words
        )
    )


def is_document(name: str) -> bool:
    """Whether a file is one of a word processor, by its name.

    >>> is_document("글.HWPX"), is_document("글.csv")
    (True, False)
    """
    return name.lower().endswith(DOCUMENTS)


def corrected_file(content: bytes, name: str, done: Iterable[CorrectedRow]) -> bytes:
    """The same document, or TXT file, with its changed paragraphs, or lines, corrected. Returns bytes. Raises
    TableError for other content."""
    if is_document(name):
        texts = {each.row.number: each.corrected for each in done if each.kinds}
        return Document(io.BytesIO(content)).corrected(texts)
    result = io.BytesIO()
    SameTable(io.BytesIO(content), name, None, in_place=True).write(result, done)
    return result.getvalue()


def columns_of(content: bytes, name: str) -> Columns | None:
    """The columns of a file that a visitor has dropped; None for a TXT file or a document. Raises TableError
    for other content."""
    return read_columns(io.BytesIO(content), name)


def _texts_of(content: bytes, name: str, column: str | None) -> list[TableRow]:
    most = MOST_OF_PARAGRAPH if is_document(name) else MOST_CHARACTERS
    return [
        row if len(row.text) <= most else TableRow(row.number, "", "too_long", row.others)
        for row in _at_most(read_rows(io.BytesIO(content), name, column), MOST_TEXTS)
    ]


MOST_SENTENCES = 500  # of one file; the command takes any number
MOST_EFFECTS = 100  # changed sentences that are read again without each head
ROLES_TOGETHER, EFFECTS_TOGETHER = 16, 1  # sentences of one question: well below a second


class SurveyJob(Job):
    """One file, of which rows that are too long are left out. A thread adds to the survey; ``found`` returns
    the rows so far."""

    def __init__(self, rows: list[GivenText], corrector: EngineCorrector):
        self.given = [row for row in rows if all(len(text or "") <= MOST_CHARACTERS for text in row)]
        self.read, self.left_out, self.is_finished = 0, len(rows) - len(self.given), False
        # The engine computes the sums, so the survey needs no more of the corrector than config and
        # fingerprint.
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
        """The survey of the rows so far; of each kind the numbers are (L, H), effects in nats."""
        with self._lock:
            return HeadSurvey(result(self._survey))

    def work(self) -> None:
        """Measure roles, effects and pruning, a few sentences at a time. Raises EngineError."""
        survey = self._survey
        for first in range(0, len(self.given), ROLES_TOGETHER):
            rows = tuple(self.given[first : first + ROLES_TOGETHER])
            pairs, left_out, sums = self.ask(questions.head_roles, rows, len(survey.plan.pairs))
            with self._lock:
                survey.plan = replace(survey.plan, pairs=survey.plan.pairs + pairs)
                survey.add("roles", sums, len(pairs))
                self.read, self.left_out = self.read + len(rows), self.left_out + left_out
        edited = survey.plan.edited
        for first in range(0, len(edited), EFFECTS_TOGETHER):
            some = edited[first : first + EFFECTS_TOGETHER]
            sums = self.ask(questions.head_losses, some)
            with self._lock:
                survey.add("effects", sums, len(some))
        self.is_finished = True


def surveys() -> Jobs[SurveyJob]:
    """Jobs that raise model.tables.TableError for a file that is no table, and TooManyRowsError."""
    return Jobs(lambda content, name, corrector, settings: SurveyJob(_sentences_of(content, name), corrector))


def _sentences_of(content: bytes, name: str) -> list[GivenText]:
    return list(_at_most(read_given(io.BytesIO(content), name), MOST_SENTENCES))


class DroppedFile(NamedTuple):
    """A file that was dropped."""

    name: str
    content: bytes


def kept_upload(label: str, types: Sequence[str], megabytes: int, key: str) -> DroppedFile | None:
    """The control of ``upload``; its file stays with the session while the visitor is on other pages, until
    it is taken away. The browser refuses a file of more than ``megabytes``."""
    kept = f"{key}_kept"

    def forget() -> None:
        st.session_state.pop(kept, None)

    file = upload(label, types, megabytes, key, forget)
    if file is not None:
        st.session_state[kept] = file
    given: DroppedFile | None = st.session_state.get(kept)
    if file is None and given is not None:
        with controls.line():
            markup.paragraph(say("upload_kept", name=given.name), "note")
            st.button(say("upload_forget"), key=f"{key}_forget", on_click=forget)
    return given


def upload(
    label: str,
    types: Sequence[str],
    megabytes: int,
    key: str,
    on_change: Callable[[], None] | None = None,
) -> DroppedFile | None:
    """Draw the control and return the file, or None before one is dropped. Larger files than ``megabytes``
    raise no error: the browser refuses them."""
    name_control(types, megabytes, key)
    # Old documents are taken so that the page can say what they are.
    taken = [*types, *(end[1:] for end in OLD_DOCUMENTS if set(types) & {end[1:] for end in DOCUMENTS})]
    file = st.file_uploader(label, type=taken, max_upload_size=megabytes, key=key, on_change=on_change)
    return None if file is None else DroppedFile(file.name, file.getvalue())


def name_control(types: Sequence[str], megabytes: int, key: str) -> None:
    """Give the control for files with this ``key`` its words in the visitor's language."""
    taken = {"megabytes": megabytes, "types": ", ".join(map(str.upper, types))}
    words = {
        "choose": say("upload_choose"),
        "limits": say("upload_limits", **taken),
        "refused": say("upload_refused", **taken),
    }
    # A JSON string of plain letters is a string of CSS, too.
    markup.variables(
        f".st-key-{key}", {name: json.dumps(word, ensure_ascii=False) for name, word in words.items()}
    )


def job_of(
    jobs: Jobs[AnyJob],
    given: DroppedFile,
    most_rows: int,
    corrector: EngineCorrector,
    settings: Settings = USUAL,
) -> AnyJob | None:
    """The job of the file ``given`` that a visitor has dropped; None, and a message, where it cannot be read.
    Shows TooManyRowsError and TableError as messages."""
    try:
        return jobs.job(given.content, given.name, corrector, settings)
    except TooManyRowsError:
        st.error(say("table_too_many", rows=f"{most_rows:,}"))
    except TableError as error:
        show_file_problem(error.problem)
    return None


def is_done(job: Job, seconds: float, show_progress: Callable[[], object]) -> bool:
    """Whether ``job`` is over; until then ``show_progress`` says every few ``seconds`` how far it is. Shows
    the error that ended the job."""

    @st.fragment(run_every=None if job.is_over else seconds)
    def progress() -> None:
        show_progress()
        if job.is_over:
            st.rerun()

    if not job.is_over:
        progress()
        return False
    if job.error is not None:
        models.show_error(job.error)
    return True


def show_file_problem(problem: str) -> None:
    """Show the problem of a whole file: one of ``model.tables.rows.FILE_PROBLEMS``. Raises KeyError for
    others."""
    st.error(say("table_wrong") + " " + say(f"table_wrong_{problem}"))
