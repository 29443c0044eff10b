"""Rules of the static site in Node against Python's: particles, sentences, kinds."""

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from deploy.site import bundle
from deploy.site.rules import rules
from model.analysis.kinds import reason_of
from model.correction.counts import Words
from model.correction.mending import find_known_mistakes
from model.norm.kinds import Rule, kinds, rows
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
    """The values that a script of the page's modules prints for ``given``."""
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


OF_REASONS = """
import { reasonOf } from "./kinds.js";
console.log(JSON.stringify(given.asked.map((each) => reasonOf(...each, rules))));
"""
REASONED = [
    ("학꾜에 갓는데 비가 왔다.", "학교에 갔는데 비가 왔다."),
    ("볼수있음", "볼 수 있음"),
    ("그러면 안되.", "그러면 안 돼."),
    ("메세지를 보냈다.", "메시지를 보냈다."),
    ("오 탄벌을 샀다.", "옷 한 벌을 샀다."),
    ("강기에 걸렷어.", "감기에 걸렸어."),
    ("설지거를 햇다ㅏ.", "설거지를 했다."),
]
FOLDER = Path(__file__).parents[1] / "model"
BY_EXAMPLE = ("analysis/reasons", "analysis/kinds", "analysis/school_kinds", "norm/articles")
SCHOOL = [each[1:] for name in BY_EXAMPLE for each in examples(FOLDER / f"{name}.txt")]


def test_kinds_reasons_and_articles_of_changes_are_those_of_python():
    texts = [*REASONED, *SCHOOL, *(each[1:] for each in PAIRS)]
    texts += [*spoilt_by_rows(), *spoilt_by_rules({right for _, right in texts})]
    asked = [(change, one, other) for one, other in texts for change in find_changes(one, other)]
    found = in_node(OF_REASONS, {"rules": rules(), "asked": [(_named(c), *both) for c, *both in asked]})
    differing = [(*each, one) for each, one in zip(asked, found, strict=True) if one != told(*each)]
    assert not differing, (len(differing), len(asked), differing[:9])


def spoilt_by_rows() -> list[tuple[str, str]]:
    """Some rows of each kind of the norm, alone and before other letters."""
    rng, pairs = random.Random(3), []
    for name in kinds():
        written = [(row.wrong, row.right) for row in rows() if row.name == name]
        pairs += rng.sample(written, min(3, len(written)))
    return [(f"{one}{end}", f"{other}{end}") for one, other in pairs for end in ("", "어요.")]


def spoilt_by_rules(rights: set[str]) -> list[tuple[str, str]]:
    """Some texts that each rule of the norm spoils."""
    found = (islice(_spoilt(rule, sorted(rights)), 4) for kind in kinds().values() for rule in kind.rules)
    return [*chain.from_iterable(found)]


def _spoilt(rule: Rule, rights: list[str]) -> Iterator[tuple[str, str]]:
    for right in rights:
        for match in rule.pattern.finditer(right):
            for wrong in rule.spellings(match):
                yield right[: match.start()] + wrong + right[match.end() :], right


def told(change: Change, source: str, target: str) -> dict:
    reason = reason_of(change, source, target)
    article = reason.article and [*reason.article.told("ko"), *reason.article.told("en")]
    return {
        "kinds": list(reason.kinds),
        "article": article,
        "rules": list(reason.rules),
        "isSameSound": reason.is_same_sound,
    }


def _named(change: Change) -> dict:
    """A change as ``js/text.js`` has it."""
    names = {"source_start": "sourceStart", "source_end": "sourceEnd"}
    names |= {"target_start": "targetStart", "target_end": "targetEnd", "wrong": "wrong", "right": "right"}
    return {other: getattr(change, name) for name, other in names.items()}
