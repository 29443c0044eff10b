"""Static site against Python: equal corrections, decisions, attention and figures.

They are computed in the browser, where they are used.
"""

import json
import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.sentences import right_sentence
from deploy.site import figures
from deploy.site.bundle import bundled
from deploy.site.rules import rules
from model import Correction
from model.activations.drafting import PASSES, longest_target, settle, settle_ahead
from model.analysis.kinds import reason_of
from model.correction.proposing import after_second_reading
from model.text.changes import apply_changes, find_changes
from model.text.passages import Passage, lost_anchors
from model.text.protected import verbatim_spans
from model.text.tokenizer import END_ID
from tests.browser.site_pages import answers
from tests.hostile_texts import hostile_texts
from tests.model.activations.test_drafting import Speller
from training.noise.everyday import everyday_sentence
from training.noise.pairs import make_pair
from viz.browser.document import FOLDER, TYPE, declared
from viz.browser.explore_data import explorer_data
from viz.browser.texts import table

COMPOSED, HOSTILE, LONGEST = 60, 12, 300


def composed(count: int, seed: int) -> list[str]:
    """Newly composed sentences, with errors such as people make."""
    rng = random.Random(seed)
    right = [everyday_sentence(rng) if i % 2 else right_sentence(rng, 12 + i % 40) for i in range(count)]
    return [make_pair(text, rng).wrong for text in right]


def hostile() -> list[str]:
    """As a browser reads them: two halves of a surrogate pair side by side are one character."""
    texts = (text[:LONGEST].encode("utf-16", "surrogatepass") for text in hostile_texts(4, HOSTILE))
    return [text.decode("utf-16", "surrogatepass") for text in texts]


@pytest.fixture(scope="module")
def asked(open_site):
    return partial(answers, open_site)


TEXTS = {
    "composed": lambda: composed(COMPOSED, seed=20),
    "hostile": hostile,
    "special": lambda: [
        "머리에 또아리를 얹고 개가 짖어된다.",  # known mistakes
        "뒷풀이에 케잌을 가져왔다. 궤념치 마세요. 가동율이 높다.",
        "dkssud 밥을 머거요",  # the English layout
        "* 않된다 {두 쪽}를 ㅋㅋ www.안되요.한국",  # anchors, and signs that are no prose
        "😀 안되요 𝒳 머거요 👨‍👩‍👧",  # characters of two units
        "좋아요 좋아요 좋아요 안되요",
        "나는 " * 80,  # longer than the network reads
        "뷁쀍쀏 안되요",
    ],
}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_browser_writes_what_python_writes(asked, light, kind):
    texts = TEXTS[kind]()
    found, expected = asked(texts), light.correct_batch(texts)
    others = [text for text, one, two in zip(texts, found, expected, strict=True) if one["text"] != two.text]
    assert len(others) <= (kind == "composed"), others  # where two letters are as probable, rounding decides


def test_the_browser_proposes_what_python_proposes(asked, light):
    texts, far = [*composed(40, seed=21), "우유값이 올랐다. 숫강아지가 왔다."], 0
    for one, other in zip(asked(texts), light.correct_batch(texts), strict=True):
        for sentence, wanted in zip(one["sentences"], other.sentences, strict=True):
            places = [(c["sourceStart"], c["sourceEnd"], c["right"]) for c in sentence["proposed"]]
            assert places == [(c.source_start, c.source_end, c.right) for c in wanted.proposed]
            assert [c.get("fromList", False) for c in sentence["proposed"]] == [
                c.from_list for c in wanted.proposed
            ]
            sure = [(c["knownConfidence"], c["fix"], c["keep"]) for c in sentence["proposed"]]
            wanted_sure = [
                (c.known_confidence, c.fix_probability, c.keep_probability) for c in wanted.proposed
            ]
            apart = np.abs(np.array(sure).reshape(-1, 3) - np.array(wanted_sure).reshape(-1, 3))
            assert (apart <= (2e-2, 2e-3, 2e-3)).all(), (sure, wanted_sure)
            far += int((apart[:, 0] > 1e-2).sum())
            assert sentence["text"] == apply_changes(sentence["source"], wanted.changes)
    # A tree asks whether the logarithm of a probability of almost 1 is above -0.000001; there rounding in 32
    # bits decides, and the known confidence differs by a leaf.
    assert far <= 2
    assert all(c.from_list for each in light.correct(texts[-1]).sentences for c in each.changes)


APART = 0.02  # of two confidences, since rounding may decide a question of a tree


def told(found: Correction) -> tuple[str, list[tuple], list[float]]:
    """The text of a correction, each change with its description, and their confidences."""
    changes, sure = [], []
    for sentence in found.sentences:
        target, made = apply_changes(sentence.source, sentence.proposed), places(sentence.changes)
        for change in sentence.proposed:
            kinds, article, of, is_same = reason_of(change, sentence.source, target)
            why = article and [*article.told("ko"), *article.told("en")]
            is_made = (change.source_start, change.source_end) in made
            changes.append((change.right, is_made, change.from_list, [*kinds], why, [*of], is_same))
            sure.append(change.confidence)
    return found.text, changes, sure


def places(changes) -> set[tuple[int, int]]:
    return {(change.source_start, change.source_end) for change in changes}


def told_there(one: dict) -> tuple[str, list[tuple], list[float]]:
    """The same of an answer of the browser."""
    changes, sure = [], []
    for sentence in one["sentences"]:
        made = {change["number"] for change in sentence["changes"]}
        for change in sentence["proposed"]:
            reason, from_list = change["reason"], change.get("fromList", False)
            why = [reason[name] for name in ("kinds", "article", "rules", "isSameSound")]
            changes.append((change["right"], change["number"] in made, from_list, *why))
            sure.append(change["knownConfidence"])
    return one["text"], changes, sure


def are_the_same(one: tuple, other: tuple) -> bool:
    return one[:2] == other[:2] and bool(np.allclose(one[2], other[2], rtol=0, atol=APART))


def test_the_page_tells_of_a_correction_what_the_app_tells(asked, light, corrector):
    """Its text, kinds, reasons and articles, whether the list decided, and the confidence."""
    listed = Path(__file__).with_name("site_corrections.txt").read_text("utf-8").splitlines()
    texts = [line for line in listed if line and line[0] not in "#["]
    sections = {name: listed.index(f"[{name}]") for name in ("confidence", "correction")}
    differing = []
    for text, one, *others in zip(
        texts, asked(texts), *(each.correct_batch(texts) for each in (light, corrector)), strict=True
    ):
        here, without_analyser, app = told_there(one), *map(told, others)
        assert are_the_same(here, without_analyser), text
        assert app[:2] == here[:2] or listed.index(text) > sections["correction"], (text, app, here)
        differing += [text] if not are_the_same(here, app) else []
    assert {text for text in differing if listed.index(text) < sections["confidence"]} == set()
    assert len(texts) - len(differing) > 60


def test_the_attention_is_that_of_python(asked, light):
    texts = ["내일 도서관에 가치 가자.", "손니미 완는데 방이 업쓰며 너떠캐요?"]
    for one, text in zip(asked(texts), texts, strict=True):
        trace = light.correct(text).sentences[one["place"]].trace
        for kind in trace.kinds:
            seen = one["trace"]["attention"][kind]
            np.testing.assert_allclose(
                np.array(seen["values"]).reshape(seen["shape"]), trace.attention(kind), atol=1e-4
            )


def test_a_decision_is_kept(asked, light):
    text = "밥을 머거요."
    found = light.correct(text)
    (one,) = asked([{"text": text, "rejected": [0]}])
    assert one["text"] == found.with_decisions(rejected={0}).text != found.text


def evaluated(browser, scripts: tuple[str, ...], code: str, given: object) -> Any:
    """The value of a JavaScript function in a page with these scripts of the site, each as site_NAME."""
    page = browser.new_page()
    page.add_script_tag(content="".join(bundled(f"{name}.js", f"site_{name}") for name in scripts))
    found = page.evaluate(code, given)
    page.close()
    return found


def test_a_change_of_two_readings_that_touches_none_of_its_parts(browser):
    """The syllable that goes occurs twice, and the second reading leaves out the other one."""
    source, once, twice = "먹던지 말던지 알아라라.", "먹든지 말든지 알아라라.", "먹든지 말든지 알아라."
    found = evaluated(
        browser,
        ("text", "proposing"),
        """([source, once, twice]) => {
          const known = (changes, all) =>
            changes.map((change, i) => ({ ...change, knownConfidence: all[i] }));
          const [first, second] = [known(site_text.findChanges(source, once), [0.98, 0.83]),
            known(site_text.findChanges(once, twice), [0.96])];
          return site_proposing.afterSecondReading(source, first, second, 0.8).at(-1);
        }""",
        [source, once, twice],
    )
    sure = zip(find_changes(source, once), (0.98, 0.83), strict=True)
    first = [replace(each, known_confidence=confidence) for each, confidence in sure]
    second = [replace(each, known_confidence=0.96) for each in find_changes(once, twice)]
    change = after_second_reading(source, first, second, 0.8)[-1]
    assert (found["sourceStart"], found["knownConfidence"]) == (change.source_start, change.confidence)


def test_an_anchor_is_lost_where_it_is_in_python(browser):
    """Tags beside a laugh, or beside each other, make one anchor."""
    pairs = [
        ("<b>ㅋㅋ</b>않되요", "<b>ㅋㅋ</b> 안 돼요"),
        ("조아ㅋㅋ<b>", "좋아 ㅋㅋ<b>"),
        ("* 않된다", "안 된다"),
    ]
    found = evaluated(
        browser,
        ("protected", "worker"),
        """([pairs, known]) => {
          const all = { ...site_protected, ...site_worker };
          const rules = all.withPatterns(known);
          const part = (text) => all.partOf(text, all.verbatimSpans(text, rules), [], rules);
          return pairs.map(([source, target]) => all.lostAnchors(part(source), target, rules));
        }""",
        [pairs, rules()],
    )
    parts = [Passage.of(source, verbatim_spans(source)) for source, _ in pairs]
    lost = [lost_anchors(part, target) for part, (_, target) in zip(parts, pairs, strict=True)]
    assert found == [list(map(list, each)) for each in lost]


# Passes of a network that knows its answers: after the right tokens it writes the next one, else the answer's
# token or ``lost``.
SPELL = """async (cases) => {
  const found = [];
  for (const { source, answer, lost } of cases) {
    const said = (draft, t) => {
      const token = answer[t] ?? 7;
      return draft.slice(0, t).every((id, place) => id === answer[place]) ? token : (lost ?? token);
    };
    let passes = 0;
    const passOver = async (draft) => {
      passes += 1;
      const logits = new Float32Array(draft.length * 12);
      draft.forEach((_, t) => (logits[t * 12 + said(draft, t)] = 1));
      const attention = (rows, columns) =>
        ({ values: new Float32Array(rows * columns), shape: [1, 1, rows, columns] });
      const [S, T] = [source.length, draft.length];
      return { ids: [...draft], size: 12, logits,
        attention: { decoder_attention: attention(T, T), cross_attention: attention(T, S) } };
    };
    const stepByStep = async (limit) => (answer.includes(3) && answer.length <= limit ? answer : null);
    const settled = await site_network.settle({ passOver, stepByStep }, source, 4);
    const rows = settled?.attention.decoder_attention.shape.slice(2);
    found.push(settled && { ids: settled.ids, rows, passes });
  }
  return found;
}"""


def test_drafts_settle_as_in_python(browser):
    rng = random.Random(0)
    cases = []
    for _ in range(120):
        source = [*rng.choices((4, 5, 6, 7), k=rng.randrange(100)), END_ID]
        answer = [token if rng.random() < 0.9 else rng.choice((4, 5, 6)) for token in source[:-1]]
        answer.insert(rng.randrange(len(answer) + 1), 4)
        answer += [END_ID] if rng.random() < 0.9 else [7] * longest_target(len(source))
        cases.append({"source": source, "answer": answer, "lost": rng.choice((None, 4, 5, END_ID))})
    found = evaluated(browser, ("network",), SPELL, cases)
    for case, one in zip(cases, found, strict=True):
        lost = lambda token, lost=case["lost"]: token if lost is None else lost
        spellers = [Speller([case["answer"]], lost) for _ in range(2)]
        (settled,) = settle(spellers[0], [case["source"]], 4)
        ahead = settle_ahead(spellers[1], case["source"], 4)
        ids = [each and each.ids for each in (settled, ahead)]
        assert ids == [one and one["ids"]] * 2
        if one is not None:
            assert one["rows"] == [len(one["ids"])] * 2
            # After PASSES drafts it goes step by step, and passes over the answer once more.
            assert one["passes"] == min(spellers[0].passes, PASSES + 1)


def differences(one, other, path: str = ""):
    """Where two JSON values differ, numbers by more than rounding.

    Values that the browser fills in at drawing are left out.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for name in (one.keys() | other.keys()) - {"weights", "values", "cross", "self", "revision"}:
            yield from differences(one.get(name), other.get(name), f"{path}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}[{place}]")
    elif isinstance(one, float) or isinstance(other, float):
        if None in (one, other) or abs(one - other) > 2e-7 * max(1, abs(one)):
            yield f"{path}: {one} is not {other}"
    elif one != other:
        yield f"{path}: {one!r} is not {other!r}"


def described(trace) -> dict:
    """A trace as ``js/corrector.js`` has it."""
    return {
        "sourceTokens": trace.source_tokens,
        "targetTokens": trace.target_tokens,
        "decoderInputTokens": trace.decoder_input_tokens,
        "logProbabilities": trace.log_probabilities.tolist(),
        "alternatives": trace.alternatives,
        "alternativeProbabilities": trace.alternative_probabilities.tolist(),
        "attention": {kind: {"values": [], "shape": trace.attention(kind).shape} for kind in trace.kinds},
    }


@pytest.fixture(scope="module")
def drawing(browser):
    """A page with ``figuresOf`` of the site, and ``drawn``: a figure as ``plot.js`` hands it to Plotly, in
    pixels.
    """
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    fitting = "".join(
        (FOLDER / name).read_text("utf-8") for name in ("dom.js", "type.js", "plot_fit.js", "plot_tiles.js")
    )
    page.add_script_tag(content=f"{declared(TYPE)}{fitting.replace('export ', '')}")
    page.add_script_tag(content=bundled("figures.js", "site"))
    page.evaluate(
        """() => {
          window.drawn = ({ data, layout }, width) => {
            const { figure } = fitted({ data, layout }, width, 500);
            if (!layout.title.text) delete figure.layout.title;
            figure.data.forEach((part) => part.showscale === false && delete part.colorbar);
            return figure;
          };
        }"""
    )
    yield page
    page.close()


FIGURED = (
    "가",
    "내일 학꾜에 가치 가자.",
    "뷁<b>$x$ 안되요 é\u0301 뷁" * 3,
    "나" * 100,
    "이 문장은 " * 12,
    "\u200b가\u200b나\u200b다",
)


@pytest.mark.parametrize("width", [342, 760])
def test_the_figures_are_those_of_python(drawing, light, width):
    """The data of the figures are equal; layouts in pixels are compared as they are drawn."""
    say = lambda key, /, **values: table("ko")[key].format(**values)
    template = figures.template(say, light.correct("밥을 머거요.").trace, "light", light.config.d_model)
    traces = [light.correct(text).sentences[0].trace for text in FIGURED]
    wanted = [json.loads(json.dumps(explorer_data(say, trace, "light"))) for trace in traces]
    found = drawing.evaluate(
        """([template, traces, wanted, width]) => {
          const laidOut = ({ kinds, ...rest }) => ({
            ...rest,
            kinds: kinds.map(({ overview, maps, ...kind }) => ({
              ...kind,
              figures: [overview, ...Object.values(maps)]
                .map(({ spec, ...more }) => ({ ...more, drawn: drawn(spec, width) })),
            })),
          });
          return traces.map((trace, i) => [site.figuresOf(template, trace, []), wanted[i]].map(laidOut));
        }""",
        [json.loads(json.dumps(template)), [described(trace) for trace in traces], wanted, width],
    )
    for text, (one, expected) in zip(FIGURED, found, strict=True):
        expected["words"]["note"] = say("site_note")  # nothing is rounded here
        one = {name: value for name, value in one.items() if name in expected}
        assert list(differences(expected, one)) == [], text
