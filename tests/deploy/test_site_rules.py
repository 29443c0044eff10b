"""Rules of the browser's page against those of Python, in Node."""

import json
import shutil
import subprocess
from pathlib import Path

from deploy.site import bundle
from deploy.site.rules import rules
from model.analysis.kinds import reason_of
from model.correction.counts import Words
from model.correction.mending import find_known_mistakes
from model.norm.articles import explained
from model.text.changes import Change, find_changes
from model.text.protected import is_dialect, kept_spans, verbatim_spans
from model.text.readings import find_particles, find_stand_ins
from model.text.tokenizer import split_sentences
from tests.browser.missing import missing
from tests.examples import examples
from tests.model.correction.test_kinds import PAIRS

SCRIPT = """
import { findKnownMistakes, findParticles, findStandIns } from "./corrector.js";
import { isDialect, keptSpans, verbatimSpans } from "./protected.js";
const told = ({ sourceStart, sourceEnd, right }) => [sourceStart, sourceEnd, right];
const answers = given.texts.map((text) => {
  const verbatim = verbatimSpans(text, rules);
  const changed = (i) => ({ sourceStart: i, sourceEnd: i + 1, wrong: text[i], right: "가" });
  const dialect = [...text].map((_, i) => isDialect(changed(i), text, rules));
  const changes = [findParticles, findStandIns].map((find) => find(text, verbatim, rules).map(told));
  const mistakes = findKnownMistakes(text, { count: (word) => given.counts[word] ?? 0 }, rules).map(
    ({ changes, least }) => [changes.map(told), least]
  );
  return [...changes, keptSpans(text, rules), dialect, mistakes];
});
console.log(JSON.stringify(answers));
"""


READ = """
const given = JSON.parse(require("fs").readFileSync(0, "utf-8")), { rules } = given;
for (const [name, { source, flags }] of Object.entries(rules.patterns))
  rules.patterns[name] = new RegExp(source, flags);
"""


def in_node(script: str, given: dict) -> list:
    """What a script of the page's modules prints about ``given``."""
    if shutil.which("node") is None:
        missing("needs Node")
    require = f'const require = createRequire("file://{bundle.SCRIPTS}/");'
    answers = subprocess.run(
        [
            "node",
            "--input-type=module",
            "--eval",
            f'import {{ createRequire }} from "module";\n{require}\n{READ}\n{script}',
        ],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        cwd=bundle.SCRIPTS,
    )
    return json.loads(answers.stdout)


COUNTS = {"뒷풀이": 3, "메시지": 4, "디렉터리": 2}
MISSPELT = [
    "뒷풀이에 케잌을 가져왔다.",
    "메세지와 디렉토리로 가거든 악세사리도 뱃지를",
    "온세상이 대가족의 댓가, 댓가를 치뤄",
    "내일 뵈요. 이따 뵈요!",
    "사생활 치매 짖어된다. 이래라 저래라 마나님",
]


def test_particles_placeholders_kept_words_and_known_mistakes_are_those_of_python():
    texts = [*MISSPELT, *(text for _, *both in PAIRS for text in dict.fromkeys(both))]
    answers = in_node(SCRIPT, {"rules": rules(), "texts": texts, "counts": COUNTS})
    for text, found in zip(texts, answers, strict=True):
        assert found == expected(text), text


def expected(text: str) -> list:
    def told(changes):
        return [[change.source_start, change.source_end, change.right] for change in changes]

    verbatim = verbatim_spans(text)
    dialect = [is_dialect(Change(i, i + 1, i, i + 1, text[i], "가"), text) for i in range(len(text))]
    changes = told(find_particles(text, verbatim)), told(find_stand_ins(text, verbatim))
    mistakes = [[told(each.changes), each.least] for each in find_known_mistakes(text, Words(COUNTS))]
    return [*changes, [list(span) for span in kept_spans(text)], dialect, mistakes]


OF_SENTENCES = """
import { splitSentences } from "./text.js";
console.log(JSON.stringify(given.texts.map((text) => splitSentences(text, 40, rules))));
"""


def test_a_text_is_cut_where_python_cuts_it():
    texts = [typed for section, typed, _ in PAIRS if section in ("quoted", "right", "letters")]
    texts += [" ".join(texts), "1. 일시: 2026. 12. 5.(토) 10:00\n가. 나. 다(5.) 라. 마"]
    assert in_node(OF_SENTENCES, {"rules": rules(), "texts": texts}) == [
        [list(span) for span in split_sentences(text, 40)] for text in texts
    ]


OF_ARTICLES = """
import { articleOf } from "./corrector.js";
const told = ([source, change]) => articleOf(change, source, rules) ?? null;
console.log(JSON.stringify(given.changes.map(told)));
"""
WITH_ARTICLE = [
    ("몇일 뒤에 만나요.", "며칠 뒤에 만나요."),
    ("역활을 맡았다.", "역할을 맡았다."),
    ("소홀이 했다.", "소홀히 했다."),
    ("내일 뵈요.", "내일 봬요."),
    ("그러면 안되.", "그러면 안 돼."),
    ("메세지를 보냈다.", "메시지를 보냈다."),
    ("어의없는 일이다.", "어이없는 일이다."),
    ("그러면 않되요.", "그러면 안 돼요."),
    ("주신데로 했다.", "주신 대로 했다."),
]

SCHOOL = list(examples(Path(__file__).parents[1] / "model/analysis/reasons.txt"))
REASONS = {each.article.kind for each in explained()}


def test_kinds_and_articles_of_changes_are_those_of_python():
    """Those of the norm's rows; its rules with patterns are in the app alone."""
    asked = [
        (one, other, c)
        for one, other in [*WITH_ARTICLE, *(p[1:] for p in [*SCHOOL, *PAIRS])]
        for c in find_changes(one, other)
    ]
    changes = [
        (one, {"wrong": c.wrong, "right": c.right, "sourceStart": c.source_start, "sourceEnd": c.source_end})
        for one, _, c in asked
    ]
    found = in_node(OF_ARTICLES, {"rules": rules(), "changes": changes})
    for (one, other, change), article in zip(asked, found, strict=True):
        expected = reason_of(change, one, other)
        is_reason = expected.article is not None and expected.article.kind in REASONS
        if article is not None or is_reason or (one, other) in WITH_ARTICLE:
            assert article is not None and expected.article is not None, (one, other)
            assert article[1:] == [*expected.article.told("ko"), *expected.article.told("en")[::-1]], one
            kind = expected.kinds[0]  # the page says less often that both spellings sound the same
            assert article[0].split("+")[0] == kind or kind == "sound", (one, article, kind)
