"""Survey of heads over a corpus: sums, planted roles and effects, resumed runs, files."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from model import Corrector
from model.__main__ import main
from model.analysis.contrasts import Edit
from model.analysis.head_effects import pair_effects, pruning_curve
from model.analysis.roles import (
    BREADTH,
    LIAISON,
    MARKS,
    NEXT,
    OWN,
    PREVIOUS,
    ROLES,
    SPACES,
    Growth,
    chance,
    growth,
    measure,
    rows_of,
)
from model.analysis.statistics import Z_95, Tally
from model.survey.results import ANSWERS_FILE, AnswerSurvey
from model.survey.survey import Survey, SurveyPlan, read_given, read_pairs
from model.survey.survey_files import result, table
from model.tables.rows import TableError
from model.trace.interventions import Head
from tests.planted import CODA, COPY, DECOY, RIGHT, WRONG

PAIRS = (
    (WRONG, RIGHT),
    ("머거어요가나.", "먹거어요가나."),
    ("가나다라가나머거.", "가나다라가나먹거."),
    ("가나다라어요.", "가나다라어요."),
    ("라머거머거어.", "라먹거먹거어."),
)


@pytest.fixture(scope="module")
def survey(planted):
    survey = Survey(planted, SurveyPlan(PAIRS, effects=4, pruning=5, pruning_step=1, random_orders=2))
    assert {part for part, _ in survey.run()} == {"roles", "effects", "pruning"}
    return survey


def test_a_tally_knows_the_mean_and_which_rows_belong_together():
    tally = Tally.empty((2,))
    groups = [np.array([[1.0, 0], [3, 0]]), np.array([[5.0, 0]]), np.array([[2.0, 0], [2, 0], [2, 0]])]
    for rows in groups:
        tally.add(rows)
    tally.add(np.zeros((0, 2)))
    found = tally.estimate()
    assert (found.rows, found.sentences) == (6, 3)
    np.testing.assert_allclose(found.mean, [2.5, 0])
    differences = [sum(rows[:, 0]) - 2.5 * len(rows) for rows in groups]
    expected = Z_95 * np.sqrt(np.square(differences).sum() * 3 / 2) / 6
    np.testing.assert_allclose(found.margin, [expected, 0])
    assert np.isnan(Tally.empty(()).estimate().mean)


def test_rows_stand_where_a_copy_would_and_know_edits_and_moved_codas():
    source, target = "밥 머거 바", "밥 먹어 다바"
    cross = rows_of("cross_attention", source, target)
    assert cross.own.tolist() == [0, 1, 2, 3, 4, 5, 5]
    assert cross.edited.tolist() == [False, False, True, True, False, True, False]
    assert cross.liaison[2] == 3  # the ㄱ of 먹 is the onset of 거
    assert (cross.liaison[[0, 1, 4, 5, 6]] == -1).all()
    encoder = rows_of("encoder_attention", source, target)
    assert encoder.own.tolist() == list(range(6))
    assert encoder.edited.tolist() == [False, False, True, True, False, False]
    decoder = rows_of("decoder_attention", source, target)
    assert decoder.keys == "\0" + target
    assert decoder.own.tolist() == list(range(7))


def test_shares_of_a_row_by_hand():
    rows = rows_of("cross_attention", "가 나.", "가 나.")
    weights = np.tile(np.array([0.1, 0.2, 0.3, 0.15, 0.25]), (1, 1, 5, 1))
    found = measure("cross_attention", weights, rows)
    assert found[OWN][1][:, 0, 0].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.15])
    assert found[PREVIOUS][0].tolist() == [1, 2, 3]
    assert found[PREVIOUS][1][:, 0, 0].tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert found[NEXT][1][:, 0, 0].tolist() == pytest.approx([0.2, 0.3, 0.15, 0.25])
    assert found[SPACES][1][:, 0, 0].tolist() == pytest.approx([0.2] * 4)
    assert found[MARKS][1][:, 0, 0].tolist() == pytest.approx([0.25] * 4)
    assert found[LIAISON][0].size == 0
    entropy = -sum(w * np.log2(w) for w in (0.1, 0.2, 0.3, 0.15, 0.25))
    assert found[BREADTH][1][:, 0, 0].tolist() == pytest.approx([entropy] * 4)


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_chance_is_what_uniform_weights_measure(kind):
    rows = rows_of(kind, "밥 머거 바.", "밥 먹어 다바.")
    visible = rows.visible(kind).astype(float)
    uniform = visible / visible.sum(axis=1, keepdims=True)
    uniform = np.vstack([uniform, uniform[-1]])[None, None]  # a row for the end mark
    expected = chance(kind, rows)
    for role, (_, values) in measure(kind, uniform, rows).items():
        np.testing.assert_allclose(values[:, 0, 0], expected[role], atol=1e-6)


def test_the_planted_roles_are_found(survey):
    found = result(survey)
    cross = found["roles"]["cross_attention"]
    assert cross[OWN]["copied"]["mean"][COPY.layer][COPY.head] > 0.95
    for ahead in (CODA, DECOY):
        assert cross[NEXT]["copied"]["mean"][ahead.layer][ahead.head] > 0.9
        assert cross[NEXT]["edited"]["mean"][ahead.layer][ahead.head] > 0.9
    roles = {
        (row["kind"], row["layer"] - 1, row["head"] - 1): row["role"] for row in table(survey, result(survey))
    }
    assert roles[COPY] == OWN
    assert roles[CODA] == roles[DECOY] == NEXT
    assert roles[Head("encoder_attention", 1, 0)] == OWN
    assert roles[Head("encoder_attention", 1, 1)] == BREADTH  # it looks at all places alike
    even = found["roles"]["encoder_attention"][BREADTH]["copied"]
    assert even["mean"][1][1] == pytest.approx(even["chance"], abs=0.1)


def test_the_planted_effects_are_found_with_their_signs(survey):
    effects = result(survey)["effects"]
    cross = effects["cross_attention"]
    assert cross["edited"]["mean"][CODA.layer][CODA.head] < -3
    assert cross["edited"]["mean"][COPY.layer][COPY.head] > 3
    assert cross["copied"]["mean"][COPY.layer][COPY.head] < -1
    assert cross["loss"]["mean"][COPY.layer][COPY.head] > cross["loss"]["mean"][CODA.layer][CODA.head] > 1
    for kind in ("encoder_attention", "decoder_attention"):
        assert np.abs(effects[kind]["edited"]["mean"]).max() < 1e-3
    assert abs(cross["edited"]["mean"][DECOY.layer][DECOY.head]) < 1e-3
    assert cross["edited"]["rows"] == 5


def test_heads_that_do_nothing_are_removed_first_and_cost_nothing(survey):
    curve = np.array(result(survey)["pruning"]["effect"])
    assert curve[:, 0].tolist() == list(range(13))
    np.testing.assert_allclose(curve[:11, 1:], 1)
    assert curve[11].tolist() == [11, 0, 1]  # without the coda's head nothing is corrected, all is copied
    assert curve[12].tolist() == [12, 0, 0]
    order = [Head(*each) for each in result(survey)["pruning_order"]]
    assert order[-2:] == [CODA, COPY]
    random = np.array(result(survey)["pruning"]["random 1"])
    assert random[6:11, 1].mean() < 1


def test_a_pairs_effects_are_those_of_each_edit(planted):
    from model.analysis.head_effects import head_effects
    from model.text.changes import find_changes

    source, target = PAIRS[-1]
    found = pair_effects(planted, source, target)
    assert found.changes == find_changes(source, target)
    assert found.written.all()
    for change, effect, looked in zip(found.changes, found.edits, found.attention, strict=True):
        alone = head_effects(planted, Edit(source, target, change))
        np.testing.assert_allclose(effect, alone.effect, atol=1e-3)
        np.testing.assert_allclose(looked, alone.attention, atol=1e-5)
    assert found.copied.shape == (5, 12)


@pytest.mark.parametrize("count", [-1, 2])
def test_no_more_heads_are_removed_than_there_are(planted, count):
    with pytest.raises(ValueError, match=rf"0\.\.1, the length of order, received {count}"):
        list(pruning_curve(planted, PAIRS, [CODA], [0, count]))


def test_a_sentence_that_the_network_cannot_read_has_no_effects(planted):
    with pytest.raises(ValueError, match="a sentence may have .* characters, received 200"):
        pair_effects(planted, "가" * 200, "나" * 200)


def test_a_stopped_survey_goes_on_with_the_same_numbers(planted, survey, tmp_path):
    plan = survey.plan
    stopped = Survey(planted, plan)
    for count, _ in enumerate(stopped.run()):
        stopped.save(tmp_path)
        if count == 3:
            break
    going_on = Survey(planted, plan)
    assert going_on.restore(tmp_path)
    assert going_on.done == stopped.done != {"roles": 0, "effects": 0}
    list(going_on.run())
    assert result(going_on) == result(survey)
    assert not Survey(planted, SurveyPlan(PAIRS[:2], 4, 5)).restore(tmp_path)
    assert not Survey(planted, plan).restore(tmp_path / "nowhere")


@pytest.fixture
def command(planted, monkeypatch):
    monkeypatch.setattr(Corrector, "load", lambda *_, **__: planted)
    return lambda *arguments: CliRunner().invoke(main, ["heads", *map(str, arguments)])


def test_the_command_writes_its_results_and_goes_on(command, tmp_path):
    file, out = tmp_path / "pairs.csv", tmp_path / "out"
    file.write_text(
        "src,tgt\n" + "".join(f"{a},{b}\n" for a, b in (*PAIRS, ("가" * 999, "가"))), encoding="utf-8"
    )
    options = file, "--out", out, "--effects", 2, "--pruning", 2, "--answers", 1
    ran = command(*options)
    assert ran.exit_code == 0, ran.output
    assert "1 sentences were left out" in ran.stderr
    found = json.loads((out / "heads.json").read_text(encoding="utf-8"))
    assert (found["sentences"], found["effect_sentences"]) == (5, 2)
    with (out / "heads.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 12
    assert float(rows[8]["own_copied"]) > 0.95
    assert AnswerSurvey(json.loads((out / ANSWERS_FILE).read_text(encoding="utf-8"))).sentences == 1
    again = command(*options)
    assert "going on" in again.stderr
    assert json.loads((out / "heads.json").read_text(encoding="utf-8")) == found


def test_a_file_of_sentences_is_corrected_first(planted, tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text(f"{WRONG}\n\n가나다라.\n", encoding="utf-8")
    assert read_pairs(file, planted) == (((WRONG, RIGHT), ("가나다라.", "가나다라.")), 0)
    assert read_pairs(file, planted, limit=1) == (((WRONG, RIGHT),), 0)


def test_a_line_ends_where_a_line_ends(planted, tmp_path):
    text = f"{WRONG}\u2028\n{WRONG}\n"
    (tmp_path / "lines.txt").write_text(text, encoding="utf-8")
    assert len(read_pairs(tmp_path / "lines.txt", planted)[0]) == 2
    cells = 'src,tgt\n"가\n나","가\n다"\n가\u2028나,가\u2028다\n'
    (tmp_path / "pairs.csv").write_text(cells, encoding="utf-8")
    expected = (("가\n나", "가\n다"), ("가\u2028나", "가\u2028다"))
    assert read_pairs(tmp_path / "pairs.csv", planted) == (expected, 0)


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("a.txt", "가나.\n\n다\n", [("가나.", None), ("다", None)]),
        ("a.csv", "src,tgt\n가,나\n다,\n", [("가", "나")]),
        ("a.csv", "text\n가\n다\n", [("가", None), ("다", None)]),
    ],
)
def test_a_visitors_file_holds_texts_or_pairs(name, content, given):
    assert list(read_given(io.BytesIO(content.encode()), name)) == given


def test_a_file_without_sentences_is_refused_and_bad_rows_are_counted(planted, tmp_path, command):
    file = tmp_path / "pairs.csv"
    file.write_text("wrong,right\na,b\n", encoding="utf-8")
    with pytest.raises(TableError, match="there are several columns, say which one"):
        read_pairs(file, planted)
    assert command(file, "--out", tmp_path).exit_code == 1
    lines = tmp_path / "lines"
    lines.write_bytes(f"{WRONG}\n".encode() + b"\xff\n")
    assert read_pairs(lines, planted) == (((WRONG, RIGHT),), 1)
    lines.write_bytes(f"{WRONG}\n".encode("cp949"))
    assert read_pairs(lines, planted) == (((WRONG, RIGHT),), 0)


def test_surveys_of_two_halves_are_the_survey_of_the_whole(planted):
    def surveyed(pairs):
        survey = Survey(planted, SurveyPlan(pairs, effects=len(pairs), pruning=0))
        assert [part for part, _ in survey.run()][-1] == "effects"
        return survey

    whole, joined = surveyed(PAIRS), Survey(planted, SurveyPlan((), effects=0, pruning=0))
    for pairs in (PAIRS[:2], PAIRS[2:]):
        half = Survey(planted, SurveyPlan(pairs, effects=len(pairs), pruning=0))
        assert half.unpack(surveyed(pairs).packed())
        joined.join(half)
    assert joined.done == whole.done
    assert joined.sums.tallies.keys() == whole.sums.tallies.keys()
    for name, tally in whole.sums.tallies.items():
        assert joined.sums.tallies[name].sentences == tally.sentences
        np.testing.assert_allclose(joined.sums.tallies[name].sums, tally.sums, atol=1e-5)
    for name, best in whole.sums.best.items():
        np.testing.assert_allclose(joined.sums.best[name][[0, 2]], best[[0, 2]], atol=1e-5)
        for mine, theirs in zip(joined.sums.best[name][1].flat, best[1].flat, strict=True):
            assert joined.plan.pairs[int(mine)] == PAIRS[int(theirs)]
    assert set(joined.plan.pairs) <= set(PAIRS)


KIND = "cross_attention"


def test_the_planted_copy_looks_where_a_copy_would_and_the_decoy_does_not(planted):
    found = growth(KIND, [WRONG], [RIGHT], [planted.trace(WRONG, RIGHT)])
    assert found.shares[OWN][0, COPY.layer, COPY.head] > 0.99
    assert found.shares[OWN][0, DECOY.layer, DECOY.head] < 0.01
    assert found.settled(COPY.layer, COPY.head) == (OWN, 0)
    assert found.settled(DECOY.layer, DECOY.head)[0] != OWN


def test_a_decoder_has_no_role_ahead_and_shares_are_shares(planted):
    trace = planted.trace(WRONG, RIGHT)
    for kind in trace.kinds:
        found = growth(kind, [WRONG], [RIGHT], [trace])
        assert ("next" in found.shares) == (kind != "decoder_attention")
        for shares in found.shares.values():
            assert shares.shape == (1, *trace.shape(kind))
            assert ((shares >= 0) & (shares <= 1 + 1e-5)).all()
        assert set(found.leading.ravel()) <= set(ROLES)
    with pytest.raises(ValueError, match="received none"):
        growth(KIND, [], [], [])


def test_a_role_is_found_when_it_is_kept_from_then_on():
    def since(*roles: str) -> tuple[str, int]:
        return Growth({}, np.array(roles, object).reshape(-1, 1, 1)).settled(0, 0)

    assert since(BREADTH, OWN, BREADTH, OWN, OWN) == (OWN, 3)
    assert since(OWN, OWN) == (OWN, 0)
    assert since(OWN, BREADTH) == (BREADTH, 1)
