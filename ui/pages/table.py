"""Page of a class's texts: correct a table or a document, count mistakes, open a row."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from model.analysis.kinds import AND
from model.tables.columns import Columns
from model.tables.correcting import COLUMNS, Wording, as_bytes
from model.tables.rows import TableError
from ui.asking import models
from ui.asking.files import (
    MOST_TEXTS,
    DroppedFile,
    Settings,
    TableJob,
    columns_of,
    corrected_file,
    is_document,
    is_done,
    job_of,
    kept_upload,
    show_file_problem,
    tables,
)
from ui.components.component import chosen_row
from ui.components.live_text import replace as replace_text
from ui.sentence.page import keep_typed
from ui.shell import controls, header, markup, own_words
from ui.wording import language, say, spoken
from viz.labels import capital

SECONDS_BETWEEN_LOOKS = 1.0
MEGABYTES = 20
MOST_NAMED = 20  # rows that could not be read, by number


_shared_jobs = st.cache_resource(show_spinner=False)(tables)


def main() -> None:
    header.begin("table")
    _, settings = header.tools()
    if settings.open:
        with settings:
            own_words.edit()
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
    column = None
    if columns is not None:
        columns = replace(columns, chosen=_choose_column(columns))
        if columns.chosen is None and columns.places:
            return
        column = None if columns.chosen is None else str(columns.chosen + 1)
    job = job_of(_shared_jobs(), given, MOST_TEXTS, corrector, Settings(column, own_words.listed()))
    if job is None:
        return
    if not job.rows:
        st.info(say("table_empty"))
        return
    _show(job, columns, given)


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


def _show(job: TableJob, columns: Columns | None, given: DroppedFile) -> None:
    """How far the job is, kept up to date, with everything that is corrected so far."""

    unit = say("table_paragraph" if is_document(given.name) else "table_line")

    if not is_done(job, SECONDS_BETWEEN_LOOKS, partial(_show_progress, job, unit)):
        return
    counts, rows = st.columns([1, 3], gap="medium")
    with counts:
        _show_counts(job, unit)
        _show_downloads(job, columns, given)
    with rows:
        _show_rows(job, unit)


def _show_progress(job: TableJob, unit: str) -> None:
    """The share that is done, the time left, and the counts so far."""
    left = job.seconds_left
    told = say("table_progress", done=f"{len(job.done):,}", all=f"{len(job.rows):,}", unit=unit)
    if left is not None:
        told += " " + say("table_left", seconds=f"{left:,.0f}")
    st.progress(len(job.done) / len(job.rows), told)
    _show_counts(job, unit)


def _show_counts(job: TableJob, unit: str) -> None:
    """How many rows were changed, by kind of mistake; bad rows by number. ``unit``: lines or paragraphs."""
    counts = job.counts
    markup.told(say("table_reading", rows=f"{counts.rows:,}", changed=f"{counts.changed:,}", unit=unit))
    found = {kind: number for kind, number in counts.by_kind().items() if number}
    if found:
        ordered = sorted(found.items(), key=lambda item: -item[1])
        rows = [(say(f"mistake_{kind}"), [f"{number:,}"]) for kind, number in ordered]
        markup.table([say("table_changes")], rows, say("table_changes"))
    if counts.problems:
        told = ", ".join(
            f"{number} ({say(f'table_problem_{problem}')})"
            for number, problem in counts.problems[:MOST_NAMED]
        )
        more = say("table_more", count=counts.bad - MOST_NAMED) if counts.bad > MOST_NAMED else ""
        markup.paragraph(say("table_bad", rows=told, unit=unit) + more, "note")


def _show_rows(job: TableJob, unit: str) -> None:
    """Every row; choosing one leads to its attention."""
    done = job.done
    shown = pd.DataFrame(
        {
            capital(unit): [each.row.number for each in done],
            say("table_text"): [each.row.text for each in done],
            say("table_corrected"): [each.corrected for each in done],
            say("table_changes"): [_all_kinds(each.kinds) for each in done],
        }
    )

    def choose() -> None:
        row = chosen_row("table_rows", len(done))
        if row is not None and done[row].row.text:
            keep_typed(done[row].row.text)
            replace_text()
            header.turn_to("attention")

    markup.paragraph(say("table_click", unit=unit), "note")
    st.dataframe(shown, hide_index=True, key="table_rows", on_select=choose, selection_mode="single-row")


def _all_kinds(kinds: tuple[str, ...]) -> str:
    """The kinds of all changes of a row in words."""
    return ", ".join(" + ".join(say(f"mistake_{kind}") for kind in each.split(AND)) for each in kinds)


def _wording(name: str) -> Wording:
    """The words of a downloaded file. ``name``: of the column with the texts, if it has one."""
    return Wording(
        tuple(name if name and column == "text" else say(f"table_{column}") for column in COLUMNS),
        _all_kinds,
        lambda problem: say(f"table_problem_{problem}"),
    )


def _show_downloads(job: TableJob, columns: Columns | None, given: DroppedFile) -> None:
    """A document or a TXT file with its corrections; a list of all rows, or of a document's changes."""
    stem, _, suffix = given.name.rpartition(".")
    name = f"{stem}_{say('table_corrected_name')}"
    if columns is None:
        text = say("table_download_document", format=suffix.upper())
        make = partial(corrected_file, given.content, given.name, job.done)
        controls.offer(text, "table_download_document", f"{name}.{suffix}", make, type="primary")
    rows = [each for each in job.done if each.kinds or not is_document(given.name)]
    others = () if columns is None else tuple(map(columns.name, columns.others))
    of_texts = "" if columns is None or columns.chosen is None else columns.names[columns.chosen]
    wording = _wording(of_texts)
    with st.container(horizontal=True, gap="small"):
        for ending in ("csv", "xlsx"):
            key, make = f"table_download_{ending}", partial(as_bytes, rows, f".{ending}", wording, others)
            controls.offer(say(key), key, f"{name}.{ending}", spoken(language())(make))


main()
