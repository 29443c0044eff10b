"""Page of the heads over the planted network: map, table, links, a visitor's file."""

import json

import numpy as np
import pyarrow as pa
import pytest

from model import ModelFolderError
from model.survey.results import HeadSurvey
from model.survey.survey import Survey, SurveyPlan
from model.survey.survey_files import result
from tests.model.survey.test_survey import PAIRS
from tests.planted import CODA, COPY
from tests.ui.screen import chosen, decode, figure, figures, html, messages, send, setting, told
from tests.waiting import wait_until
from ui.asking import files, loaders
from ui.asking.files import MOST_CHARACTERS
from ui.parts.head_numbers import SIGNS
from ui.wording import table

KO = table("ko")
CSV = "src,tgt\n" + "".join(f"{source},{target}\n" for source, target in PAIRS)


@pytest.fixture(scope="module")
def surveyed(planted):
    survey = Survey(planted, SurveyPlan(PAIRS, effects=4, pruning=1, pruning_step=6, random_orders=1))
    list(survey.run())
    return result(survey)


@pytest.fixture
def open_heads(open_app, correctors, planted, surveyed, monkeypatch):
    def open_at(found: dict | None = surveyed, **settings: str):
        correctors["transformer"] = planted
        survey = None if found is None else HeadSurvey(found)
        monkeypatch.setattr(loaders, "head_survey", lambda path, corrector: survey)
        return open_app("heads", **settings)

    return open_at


@pytest.mark.parametrize(("by", "at"), [("leading", "copied"), ("effect", "edited"), ("own", "edited")])
def test_everything_that_can_be_chosen_is_drawn_and_told(open_heads, by, at):
    app = open_heads(heads_by=by, heads_at=at)
    assert figures(app) == ["heads_map", "heads_pruning"]
    assert ("intervened" in told(app)) == (by == "effect")
    rows = app.dataframe[0].value
    assert rows.shape[0] == 12
    has_margin = any(column.startswith("±") for column in rows.columns)
    assert has_margin == (KO["heads_margin"] in html(app))
    assert by == "own" or has_margin == (by == "effect")


def test_roles_stand_as_signs_in_squares_that_lead_to_a_head_and_its_best_example(open_heads, surveyed):
    app = open_heads()
    traces = figure(app, "heads_map")["data"]
    own = next(trace for trace in traces if trace.get("name") == f"{SIGNS['own']} {KO['heads_by_own']}")
    markers = next(trace for trace in traces if trace.get("customdata"))
    place = markers["customdata"].index(list(COPY))
    assert (markers["x"][place], markers["y"][place]) in zip(own["x"], own["y"], strict=True)
    app = send(app, "heads_map", "click", {"custom": ["cross_attention", 9, 9]})  # no head
    assert "heads_map" in figures(app) and setting(app, "head") == "mean"
    app = send(app, "heads_map", "click", {"custom": list(CODA)})
    expected, _ = HeadSurvey(surveyed).example(CODA, "next")
    assert setting(app, "sentence") == expected
    assert chosen(app, "kind", "layer", "head", "view") == (CODA.kind, "2", "2", "heatmap")
    assert "heatmap" in figures(app)  # of the main page


def test_numbers_of_the_table_have_our_minus_and_heads_stay_in_sight_while_they_are_scrolled(open_heads):
    app = open_heads()
    table_ = app.dataframe[0].proto
    columns = json.loads(table_.columns)
    assert [name for name, column in columns.items() if column.get("pinned")] == [KO["heads_head"]]
    assert not columns[KO["heads_head"]].get("width")  # as wide as the longest name
    least = app.dataframe[0].value.select_dtypes("number").min()
    # Signs are not cut off.
    assert all((columns[name]["width"] > 55) == (value < 0) for name, value in least.items())
    shown = table_.arrow_data.styler.display_values
    cells = pa.ipc.open_stream(shown).read_pandas().to_numpy().ravel().tolist()
    numbers = [cell for cell in map(str, cells) if "." in cell]
    assert not any("-" in cell or cell == "−0.00" for cell in numbers)
    assert any(cell.startswith("−") for cell in numbers)


def test_a_role_that_a_kind_or_a_character_cannot_have_is_a_dash_or_not_offered(open_heads):
    kinds = [trace for trace in figure(open_heads(heads_by="next"), "heads_map")["data"] if "z" in trace]
    values = [np.array(decode(trace["z"])) for trace in kinds]
    assert [np.isnan(grid).all() for grid in values] == [False, True, False]  # the decoder cannot look ahead
    app = open_heads(heads_by="liaison")
    assert app.segmented_control(key="control_heads_at").options == [KO["heads_at_edited"]]


def test_a_damaged_survey_and_a_network_that_takes_no_interventions_are_named(
    open_app, correctors, planted, monkeypatch
):
    def damaged(path, corrector):
        raise ModelFolderError("heads.json is no survey")

    monkeypatch.setattr(loaders, "head_survey", damaged)
    correctors["transformer"] = planted
    app = open_app("heads")
    assert "heads.json is no survey" in html(app) and KO["heads_none"] in messages(app)
    assert KO["heads_cannot"] in messages(open_app("heads", model="seq2seq"))


def finished(job):
    wait_until(lambda: job.is_over)
    assert job.error is None
    return job


def test_a_file_in_small_bits_finds_what_one_run_finds(planted, monkeypatch):
    monkeypatch.setattr(files, "ROLES_TOGETHER", 2)
    job = finished(files.surveys().job(CSV.encode(), "a.csv", planted))
    survey = Survey(planted, SurveyPlan(PAIRS, effects=100, pruning=0))
    list(survey.run())
    one, other = (result(each) for each in (job._survey, survey))
    assert one.keys() == other.keys()
    for kind in one["kinds"]:
        for role, classes in one["roles"][kind].items():
            for name, found in classes.items():
                for value in ("mean", "margin"):
                    expected = np.array(other["roles"][kind][role][name][value], float)
                    np.testing.assert_allclose(np.array(found[value], float), expected, atol=2e-4)
    assert one["effects"].keys() == other["effects"].keys()
    assert (job.read, job.left_out) == (5, 0)
    assert job.progress == ("effects", 4, 4)


def test_what_is_no_table_is_named_and_a_visitors_file_is_shown_once_it_is_dropped(open_heads):
    app = open_heads(None)
    assert KO["heads_none"] in messages(app)
    app.file_uploader[0].set_value(("class.xlsx", b"PK\x03\x04", "text/csv")).run()
    assert KO["table_wrong"] + " " + KO["table_wrong_no_xlsx"] in messages(app)
    app.file_uploader[0].set_value(("class.csv", CSV.encode(), "text/csv")).run()
    wait_until(lambda: not app.get("progress"), app.run)
    assert KO["heads_made_file"].format(sentences=5, effects=4, left_out=0) in html(app)
    assert figures(app) == ["heads_map"]  # a file is too small for a pruning curve


def test_texts_without_targets_are_corrected_first_and_one_that_is_too_long_is_counted(planted):
    long = "가" * (MOST_CHARACTERS + 1)
    job = finished(files.surveys().job(f"나머거요.\n{long}\n가나다라.\n".encode(), "a.txt", planted))
    assert (job.read, job.left_out) == (2, 1)
    assert job._survey.plan.pairs == (("나머거요.", "나먹거요."), ("가나다라.", "가나다라."))
    alone = finished(files.surveys().job(long.encode(), "a.txt", planted))
    assert (alone.read, alone.left_out) == (0, 1)
