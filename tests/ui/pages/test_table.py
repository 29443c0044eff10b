"""Page of a class's texts: background job, counts, downloads, refused files."""

import csv
import io
import time
from types import SimpleNamespace

import pytest

from engine.records import EngineBusyError
from model.tables.columns import HEADERS
from model.tables.rows import FILE_PROBLEMS, PROBLEMS, TableError
from tests.model.tables.made_documents import docx, p
from tests.ui.fake_corrector import FakeCorrector
from tests.ui.screen import html, open_popover, send, told
from tests.waiting import wait_until
from ui.asking import files
from ui.asking.files import MOST_TEXTS, TableJob, TooManyRowsError, tables
from viz.browser.texts import LANGUAGES, table

KO = table("ko")
CSV = "text\n고갱이 왔다\n비가 온다\n=1+고갱\n".encode()


def finished(job: TableJob) -> TableJob:
    wait_until(lambda: job.is_over)
    return job


class Network(FakeCorrector):
    """Answers as a worker does; ``failing`` times it does not."""

    def __init__(self, failing: int = 0):
        super().__init__()
        self.failing = failing

    def ask(self, question, *arguments):
        if self.failing:
            self.failing -= 1
            raise EngineBusyError("busy")
        return super().ask(question, *arguments)

    def correct_batch(self, texts):
        return [self.correct(text) for text in texts]

    def with_words(self, words):
        network = Network()
        network.correct_batch = lambda texts: [self.correct("비가 온다") for text in texts]
        return network


def test_a_busy_network_is_asked_again_and_a_lost_one_told(monkeypatch):
    # The clock of this module alone: other threads of the tests sleep, too.
    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: None))
    assert finished(tables().job(CSV, "a.csv", Network(failing=2))).error is None
    found, network = tables(), Network(failing=99)
    failed = TableJob([], network)
    assert failed.is_over
    job = found.job(CSV, "a.csv", network)
    job._thread.join(30)
    assert isinstance(job.error, EngineBusyError) and job.is_over
    network.failing = 0
    assert finished(found.job(CSV, "a.csv", network)).error is None  # requested again, it begins again


def test_what_is_no_table_and_what_is_too_much_is_named():
    with pytest.raises(TableError):
        tables().job(b"PK\x03\x04", "a.xlsx", Network())
    with pytest.raises(TooManyRowsError):
        tables().job("가\n".encode() * (MOST_TEXTS + 1), "a.txt", Network())
    job = finished(tables().job("가\n".encode() + "나".encode() * 3000, "a.txt", Network()))
    assert job.counts.problems == [(2, "too_long")]


@pytest.fixture
def open_file(open_app, correctors):
    def open_at(content: bytes, name: str = "class.csv", **settings):
        correctors["transformer"] = Network()
        app = open_app("table", **settings)
        app.file_uploader[0].set_value((name, content, "text/csv")).run()
        wait_until(
            lambda: app.dataframe or app.error or any(each.value is None for each in app.selectbox), app.run
        )
        return app

    return open_at


def test_the_page_shows_counts_rows_and_downloads_until_the_file_is_taken_away(open_file):
    app = open_file(CSV)
    assert KO["table_reading"].format(rows=3, changed=2, unit="줄") in told(app)
    assert len(app.get("download_button")) == 2
    app.switch_page("ui/pages/model.py").run()
    app.switch_page("ui/pages/table.py").run()
    assert KO["upload_kept"].format(name="class.csv") in html(app)
    rows = app.dataframe[0].value
    assert list(rows["줄"]) == [2, 3, 4]
    assert list(rows[KO["table_corrected"]]) == ["고객이 왔다", "비가 온다", "=1+고객"]
    app.button(key="table_file_forget").click().run()
    assert not app.dataframe and KO["table_how"][:20] in html(app)


def test_a_visitors_words_are_left_alone_in_files_too(open_file):
    app = open_file(CSV)
    send(app, "own_words", "words", ["고갱"])
    wait_until(lambda: app.dataframe, app.run)
    assert set(app.dataframe[0].value[KO["table_corrected"]]) == {"비가 온다"}
    assert open_popover(app, "settings").text_area(key="own_words_field").value == "고갱"


NAMED = "번호,이름,소감\n1,고갱,고갱이 왔다\n2,지우,다음에 또 오고 싶다\n".encode()


def test_nothing_is_corrected_before_a_column_is_chosen_and_the_others_are_kept(open_file, downloads):
    app = open_file(NAMED)
    assert not app.dataframe and not downloads
    (choice,) = app.selectbox
    assert choice.value is None and choice.options == [
        KO["table_column_name"].format(name=name, number=number)
        for number, name in enumerate(["번호", "이름", "소감"], start=1)
    ]
    choice.set_value(2).run()
    wait_until(lambda: app.dataframe, app.run)
    assert list(app.dataframe[0].value[KO["table_corrected"]]) == ["고객이 왔다", "다음에 또 오고 싶다"]
    made = downloads[KO["table_download_csv"]]()
    head, first, _ = csv.reader(io.StringIO(made.decode("utf-8-sig")))
    assert head[:4] == [KO["table_row"], "번호", "이름", "소감"]
    assert first[:5] == ["2", "1", "고갱", "고갱이 왔다", "고객이 왔다"]


def test_a_column_that_is_called_text_is_chosen_and_can_be_changed(open_file):
    app = open_file("이름,text\n고갱,비가 온다\n".encode())
    assert list(app.dataframe[0].value[KO["table_corrected"]]) == ["비가 온다"]
    app.selectbox[0].set_value(0).run()
    wait_until(lambda: list(app.dataframe[0].value[KO["table_corrected"]]) == ["고객"], app.run)


def test_a_downloaded_file_is_in_the_language_of_the_page(open_file, downloads):
    english = table("en")
    open_file("text\n고갱이 왔다\n".encode() + b"\xff\n", lang="en")
    made = downloads[english["table_download_csv"]]()  # as Streamlit makes it, outside of the session
    head, first, second = csv.reader(io.StringIO(made.decode("utf-8-sig")))
    columns = ("row", "text", "corrected", "changes", "kinds", "problem")
    assert head == [column if column == "text" else english[f"table_{column}"] for column in columns]
    assert first == ["2", "고갱이 왔다", "고객이 왔다", "1", english["mistake_alike"], ""]
    assert second[-1] == english["table_problem_encoding"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("class.xlsx", b"PK\x03\x04", "no_xlsx"),
        ("글.doc", b"HWP Document File V3.00", "old_document"),
    ],
)
def test_the_page_names_what_is_no_table(open_file, name, content, problem):
    assert open_file(content, name).error[0].value == KO["table_wrong"] + " " + KO[f"table_wrong_{problem}"]


def test_a_document_comes_back_with_its_corrections_and_a_list_of_them(open_file, downloads):
    app = open_file(docx(p("고갱이 왔다") + p("") + p("비가 온다")), "반 글.docx")
    assert list(app.dataframe[0].value["문단"]) == [1, 3]
    assert "2문단 가운데 1문단에" in told(app)
    made = downloads[KO["table_download_document"].format(format="DOCX")]()
    assert made == docx(p("고객이 왔다") + p("") + p("비가 온다"))
    listed = downloads[KO["table_download_csv"]]().decode("utf-8-sig")
    assert "고객이 왔다" in listed and "비가 온다" not in listed


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_a_text_file_comes_back_with_its_lines_corrected(open_file, downloads, encoding):
    open_file("고갱이 왔다\r\n\r\n비가 온다".encode(encoding), "반 글.txt")
    made = downloads[KO["table_download_document"].format(format="TXT")]()
    assert made == "고객이 왔다\r\n\r\n비가 온다".encode(encoding)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_can_be_wrong_has_a_text_and_a_file_that_was_downloaded_can_be_dropped_again(language):
    texts = table(language)
    wrong = [f"wrong_{each}" for each in FILE_PROBLEMS] + [f"problem_{each}" for each in PROBLEMS]
    assert {f"table_{each}" for each in wrong} <= texts.keys()
    assert texts["table_text"].casefold() in HEADERS
