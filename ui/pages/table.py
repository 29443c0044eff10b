"""Page of a class's texts: correct a table or a document, count kinds of mistakes, open a row's attention."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from model.analysis.kinds import AND
from model.tables.columns import Columns
from model.tables.correcting import COLUMNS, CorrectedRow, Wording, as_bytes
from model.tables.rows import TableError
from ui.asking import models
from ui.asking.files import (
    MOST_TEXTS,
    DroppedFile,
    Jobs,
    TableJob,
    columns_of,
    corrected_document,
    is_document,
    job_of,
    kept_upload,
    show_file_problem,
    tables,
)
from ui.components.component import chosen_row
from ui.components.live_text import replace
from ui.export.take_away import say_in
from ui.sentence.page import keep_typed
from ui.shell import header, markup
from ui.wording import language, say
from viz.browser.texts import Say

SECONDS_BETWEEN_LOOKS = 1.0
MEGABYTES = 20
MOST_NAMED = 20  # rows that could not be read, by number


@st.cache_resource(show_spinner=False)
def _shared_jobs() -> Jobs[TableJob]:
    return tables()


def main() -> None:
    header.begin("table")
    header.tools()
    markup.paragraph(say("table_lead", rows=f"{MOST_TEXTS:,}"), "lead")
    given = kept_upload(say("table_label"), ["csv", "txt", "xlsx", "docx", "hwpx"], MEGABYTES, "table_file")
    corrector = models.load_corrector(models.chosen())
    if given is None:
        for how in ("table_how", "table_how_document"):
            markup.paragraph(say(how), "note")
        return
    if corrector is None:
        return
    try:
        columns = columns_of(given.content, given.name)
    except TableError as error:
        show_file_problem(error.problem)
        return
    place = None if columns is None else _choose_column(columns)
    if columns is not None and place is None and columns.places:
        return  # no column is chosen
    column = None if place is None else str(place + 1)
    job = job_of(_shared_jobs(), given, MOST_TEXTS, corrector, column)
    if job is None:
        return
    if not job.rows:
        st.info(say("table_empty"))
        return
    _show(job, _other_names(columns, place), given)


def _choose_column(columns: Columns) -> int | None:
    """Which column is corrected: its header says so, it is the only one, or the visitor chooses it."""
    if len(columns.places) < 2:
        return columns.chosen
    start = None if columns.chosen is None else columns.places.index(columns.chosen)
    return st.selectbox(
        say("table_column"),
        columns.places,
        index=start,
        format_func=lambda place: say("table_column_name", name=columns.name(place), number=place + 1),
        placeholder=say("table_column_ask"),
        key=f"table_column_{columns.names}_{columns.places}",
    )


def _other_names(columns: Columns | None, place: int | None) -> tuple[str, ...]:
    if columns is None:
        return ()
    return tuple(columns.name(other) for other in columns.places if other != place)


def _show(job: TableJob, others: tuple[str, ...], given: DroppedFile) -> None:
    """How far the job is, kept up to date, with everything that is corrected so far."""

    @st.fragment(run_every=None if job.is_over else SECONDS_BETWEEN_LOOKS)
    def progress() -> None:
        _show_progress(job)
        if job.is_over:
            st.rerun()

    if not job.is_over:
        progress()
        return
    if job.error is not None:
        models.show_error(job.error)
    counts, rows = st.columns([1, 3], gap="medium")
    with counts:
        _show_counts(job)
        if is_document(given.name):
            _show_document(job, given)
            _show_downloads([each for each in job.done if each.kinds], others)
        else:
            _show_downloads(job.done, others)
    with rows:
        _show_rows(job)


def _show_progress(job: TableJob) -> None:
    """The share that is done, the time left, and the counts so far."""
    left = job.seconds_left
    told = say("table_progress", done=f"{len(job.done):,}", all=f"{len(job.rows):,}")
    if left is not None:
        told += " " + say("table_left", seconds=f"{left:,.0f}")
    st.progress(len(job.done) / len(job.rows), told)
    _show_counts(job)


def _show_counts(job: TableJob) -> None:
    """How many rows were changed, by kind of mistake; bad rows by number."""
    counts = job.counts
    markup.told(say("table_reading", rows=f"{counts.rows:,}", changed=f"{counts.changed:,}"))
    found = {kind: number for kind, number in counts.by_kind().items() if number}
    if found:
        rows = sorted(found.items(), key=lambda item: -item[1])
        shown = pd.DataFrame(
            {say("table_changes"): [f"{number:,}" for _, number in rows]},
            index=[say(f"mistake_{kind}") for kind, _ in rows],
        )
        markup.table(shown, say("table_changes"))
    if counts.problems:
        told = ", ".join(
            f"{number} ({say(f'table_problem_{problem}')})"
            for number, problem in counts.problems[:MOST_NAMED]
        )
        more = say("table_more", count=counts.bad - MOST_NAMED) if counts.bad > MOST_NAMED else ""
        markup.paragraph(say("table_bad", rows=told) + more, "note")


def _show_rows(job: TableJob) -> None:
    """Every row; choosing one leads to its attention."""
    done = job.done
    shown = pd.DataFrame(
        {
            say("table_row"): [each.row.number for each in done],
            say("table_text"): [each.row.text for each in done],
            say("table_corrected"): [each.corrected for each in done],
            say("table_changes"): [_all_kinds(say, each.kinds) for each in done],
        }
    )

    def choose() -> None:
        row = chosen_row("table_rows", len(done))
        if row is not None and done[row].row.text:
            keep_typed(done[row].row.text)
            replace()
            header.turn_to("attention")

    st.dataframe(
        shown, hide_index=True, height=420, key="table_rows", on_select=choose, selection_mode="single-row"
    )
    markup.paragraph(say("table_click"), "note")


def _all_kinds(say: Say, kinds: tuple[str, ...]) -> str:
    """The kinds of all changes of a row in words."""
    return ", ".join(" + ".join(say(f"mistake_{kind}") for kind in each.split(AND)) for each in kinds)


def _wording(of_page: str) -> Wording:
    """The words of a downloaded file in the language ``of_page``. The file is made outside of the session
    that knows the language."""
    say = partial(say_in, of_page)
    return Wording(
        tuple(say(f"table_{column}") for column in COLUMNS),
        partial(_all_kinds, say),
        lambda problem: say(f"table_problem_{problem}"),
    )


def _show_document(job: TableJob, given: DroppedFile) -> None:
    """The download of the dropped document with its corrections."""
    stem, _, suffix = given.name.rpartition(".")
    st.download_button(
        say("table_download_document", format=suffix.upper()),
        partial(corrected_document, given.content, job.done),
        file_name=f"{stem}_{say('table_corrected_name')}.{suffix}",
        key="table_download_document",
        on_click="ignore",
        type="primary",
    )


def _show_downloads(rows: Sequence[CorrectedRow], others: tuple[str, ...]) -> None:
    with st.container(horizontal=True, gap="small"):
        for suffix in (".csv", ".xlsx"):
            st.download_button(
                say(f"table_download_{suffix[1:]}"),
                partial(as_bytes, rows, suffix, _wording(language()), others),
                file_name=f"corrected{suffix}",
                key=f"table_download_{suffix[1:]}",
                on_click="ignore",
            )


main()
